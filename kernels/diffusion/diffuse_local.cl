// One explicit time step of the diffusion equation, as in diffuse_naive.cl,
//
//     u_new[y][x] = u[y][x] + dt * (u[y][x-1] + u[y][x+1] + u[y-1][x] + u[y+1][x] - 4 u[y][x])
//
// one cell a work-item, through local memory: a work-group copies the patch of
// cells that it updates, and a rim of one cell around it, and updates the patch
// from the copy. The edges of the field are fixed: read, never written. u_new
// and u must not overlap.
//
// By itself this seldom pays: each cell is read once by a group instead of five
// times, but the cache has served those reads well, and the copy costs
// instructions and a barrier. It is the step before diffuse_tiled.cl, in which a
// work-item updates several cells of the copy.
//
// Constants
//   nx, ny        cells in x and y: whole numbers from 1 to 2^30, nx * ny below
//                 2^31 (cells are numbered with int)
//   dt            the time step in units of (cell width)^2 / D, a float; the
//                 scheme is stable up to 0.25
//
// Parameters
//   block_size_x  work-items of a work-group in x and y, and cells of its patch.
//   block_size_y  The larger and the squarer the patch, the fewer cells of a rim,
//                 2 * (block_size_x + block_size_y) + 4, there are for each cell of
//                 it. In x, a multiple of the width in which the device executes
//                 work-items gives whole memory transactions. A large group
//                 waits longer at its barrier, and fewer of them fit a compute unit.
//
// Local memory is (block_size_x + 2) * (block_size_y + 2) floats and must fit
// the device, as must the work-group; nothing else restricts the parameters, and
// the field need not be a multiple of the block.
//
// The grid covers the field: at least ceil(nx / block_size_x) by
// ceil(ny / block_size_y) work-groups.

#if nx < 1 || ny < 1 || nx > 1 << 30 || ny > 1 << 30 || nx > 2147483647 / ny
#error "diffuse_kernel: nx and ny must be 1 to 2^30 each, and nx * ny below 2^31"
#endif

__kernel __attribute__((reqd_work_group_size(block_size_x, block_size_y, 1)))
void diffuse_kernel(__global float *restrict u_new, __global const float *restrict u)
{
    // copy[i][j] is the cell (left + j - 1, top + i - 1).
    __local float copy[block_size_y + 2][block_size_x + 2];

    const int tx = get_local_id(0);
    const int ty = get_local_id(1);
    const int left = (int)get_group_id(0) * block_size_x;
    const int top = (int)get_group_id(1) * block_size_y;

    // Most groups lie wholly inside of the field, rim included, and need not ask
    // for each cell. The answer is the same for all work-items of a group.
    const bool inside = left > 0 && left + block_size_x < nx && top > 0 && top + block_size_y < ny;

    // Cells outside of the field stay undefined. No result depends on them: their
    // neighbours in the field are edges, which are not updated.
    if (inside) {
        __global const float *corner = u + ((top - 1) * nx + left - 1);
        // Counted with constants: the first pass is known to be whole and has no
        // branch, the others fetch the two rows and columns that are left.
        #pragma unroll
        for (int row = 0; row < block_size_y + 2; row += block_size_y) {
            const int i = row + ty;
            if (row + block_size_y <= block_size_y + 2 || i < block_size_y + 2) {
                #pragma unroll
                for (int column = 0; column < block_size_x + 2; column += block_size_x) {
                    const int j = column + tx;
                    if (column + block_size_x <= block_size_x + 2 || j < block_size_x + 2) {
                        copy[i][j] = corner[i * nx + j];
                    }
                }
            }
        }
    } else {
        for (int i = ty; i < block_size_y + 2; i += block_size_y) {
            for (int j = tx; j < block_size_x + 2; j += block_size_x) {
                const int x = left + j - 1;
                const int y = top + i - 1;
                if (x >= 0 && x < nx && y >= 0 && y < ny) {
                    copy[i][j] = u[y * nx + x];
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const int x = left + tx;
    const int y = top + ty;
    if (inside || (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)) {
        const int i = ty + 1;
        const int j = tx + 1;
        const float centre = copy[i][j];
        const float around = copy[i][j - 1] + copy[i][j + 1] + copy[i - 1][j] + copy[i + 1][j];
        u_new[y * nx + x] = centre + dt * (around - 4.0f * centre);
    }
}
