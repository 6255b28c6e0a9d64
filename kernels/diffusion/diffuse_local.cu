// diffuse_local.cl in CUDA C: one explicit time step of the diffusion equation, one
// cell a thread, through shared memory. A block copies the patch of cells that it
// updates, and a rim of one cell around it, and updates the patch from the copy. The
// edges of the field are read, never written; u_new and u must not overlap.
//
// Constants
//   nx, ny        cells in x and y: 1 to 2^30 each, nx * ny below 2^31
//   dt            the time step, a float; the scheme is stable up to 0.25
//
// Parameters, which diffuse_local.cl explains
//   block_size_x  threads of a block in x and y, and cells of its patch; the field
//   block_size_y  need not be a multiple of them.
//
// Shared memory is (block_size_x + 2) * (block_size_y + 2) floats and must fit the
// device, as must the block.
//
// The grid covers the field: at least ceil(nx / block_size_x) by
// ceil(ny / block_size_y) blocks.

#if nx < 1 || ny < 1 || nx > 1 << 30 || ny > 1 << 30 || nx > 2147483647 / ny
#error "diffuse_kernel: nx and ny must be 1 to 2^30 each, and nx * ny below 2^31"
#endif

extern "C" __global__ __launch_bounds__(block_size_x * block_size_y)
void diffuse_kernel(float *__restrict__ u_new, const float *__restrict__ u)
{
    // copy[i][j] is the cell (left + j - 1, top + i - 1).
    __shared__ float copy[block_size_y + 2][block_size_x + 2];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int left = blockIdx.x * block_size_x;
    const int top = blockIdx.y * block_size_y;

    // Most blocks lie wholly inside of the field, rim included, and need not ask
    // for each cell. The answer is the same for all threads of a block.
    const bool inside = left > 0 && left + block_size_x < nx && top > 0 && top + block_size_y < ny;

    // Cells outside of the field stay undefined. No result depends on them: their
    // neighbours in the field are edges, which are not updated.
    if (inside) {
        const float *corner = u + ((top - 1) * nx + left - 1);
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
    __syncthreads();

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
