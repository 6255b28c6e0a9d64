// One explicit time step of the diffusion equation, as in diffuse_naive.cl,
//
//     u_new[y][x] = u[y][x] + dt * (u[y][x-1] + u[y][x+1] + u[y-1][x] + u[y+1][x] - 4 u[y][x])
//
// with several cells a work-item: a work-group copies the patch of cells that
// it updates, and a rim of one cell around it, into local memory, and updates
// the patch from there. The edges of the field are fixed: read, never written.
// u_new and u must not overlap.
//
// Constants
//   nx, ny        cells in x and y: whole numbers from 1 to 2^30, nx * ny below
//                 2^31 (cells are numbered with int)
//   dt            the time step in units of (cell width)^2 / D, a float; the
//                 scheme is stable up to 0.25
//
// Parameters
//   block_size_x  work-items of a work-group in x and y. Neighbours in x read
//   block_size_y  neighbouring cells; see diffuse_naive.cl.
//   tile_size_x   cells that a work-item updates in x, block_size_x apart, so
//                 that every access stays contiguous over the work-items: fewer
//                 work-groups and less rim for each cell, more loads in flight.
//   tile_size_y   rows that a work-item updates, one below the other: each row
//                 is read from local memory once and serves as the one below,
//                 the middle and the one above in turn; and less rim.
//                 Large tiles cost registers and local memory, and with them
//                 the number of work-groups that a compute unit holds at once.
//
// Local memory is (block_size_x * tile_size_x + 2) * (block_size_y * tile_size_y + 2)
// floats and must fit the device, as must the work-group; nothing else restricts
// the parameters, and the field need not be a multiple of the patch.
//
// The grid covers the field: at least ceil(nx / (block_size_x * tile_size_x))
// by ceil(ny / (block_size_y * tile_size_y)) work-groups.

#if nx < 1 || ny < 1 || nx > 1 << 30 || ny > 1 << 30 || nx > 2147483647 / ny
#error "diffuse_kernel: nx and ny must be 1 to 2^30 each, and nx * ny below 2^31"
#endif

#define patch_x (block_size_x * tile_size_x)
#define patch_y (block_size_y * tile_size_y)

__kernel __attribute__((reqd_work_group_size(block_size_x, block_size_y, 1)))
void diffuse_kernel(__global float *restrict u_new, __global const float *restrict u)
{
    // patch[i][j] is the cell (left + j - 1, top + i - 1).
    __local float patch[patch_y + 2][patch_x + 2];

    const int tx = get_local_id(0);
    const int ty = get_local_id(1);
    const int left = (int)get_group_id(0) * patch_x;
    const int top = (int)get_group_id(1) * patch_y;

    // Most groups lie wholly inside of the field, rim included, and need not ask
    // for each cell. The answer is the same for all work-items of a group.
    const bool inside = left > 0 && left + patch_x < nx && top > 0 && top + patch_y < ny;

    // Cells outside of the field stay undefined. No result depends on them: their
    // neighbours in the field are edges, which are not updated.
    if (inside) {
        __global const float *corner = u + ((top - 1) * nx + left - 1);
        // Counted with constants, so that all passes but the last are known to be
        // whole: they have no branch, and their loads are in flight together.
        #pragma unroll
        for (int row = 0; row < patch_y + 2; row += block_size_y) {
            const int i = row + ty;
            if (row + block_size_y <= patch_y + 2 || i < patch_y + 2) {
                #pragma unroll
                for (int column = 0; column < patch_x + 2; column += block_size_x) {
                    const int j = column + tx;
                    if (column + block_size_x <= patch_x + 2 || j < patch_x + 2) {
                        patch[i][j] = corner[i * nx + j];
                    }
                }
            }
        }
    } else {
        for (int i = ty; i < patch_y + 2; i += block_size_y) {
            for (int j = tx; j < patch_x + 2; j += block_size_x) {
                const int x = left + j - 1;
                const int y = top + i - 1;
                if (x >= 0 && x < nx && y >= 0 && y < ny) {
                    patch[i][j] = u[y * nx + x];
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const int first = ty * tile_size_y;
    #pragma unroll
    for (int tile = 0; tile < tile_size_x; tile++) {
        const int j = tx + tile * block_size_x + 1;
        const int x = left + j - 1;
        float above = patch[first][j];
        float centre = patch[first + 1][j];
        #pragma unroll
        for (int k = 0; k < tile_size_y; k++) {
            const int i = first + k + 1;
            const int y = top + i - 1;
            const float below = patch[i + 1][j];
            if (inside || (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)) {
                const float around = patch[i][j - 1] + patch[i][j + 1] + above + below;
                u_new[y * nx + x] = centre + dt * (around - 4.0f * centre);
            }
            above = centre;
            centre = below;
        }
    }
}
