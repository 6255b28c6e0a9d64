// diffuse_tiled.cl in CUDA C: one explicit time step of the diffusion equation, several
// cells a thread. A block copies the patch of cells that it updates, and a rim of one
// cell around it, into shared memory, and updates the patch from there. The edges of
// the field are read, never written; u_new and u must not overlap.
//
// Constants
//   nx, ny        cells in x and y: 1 to 2^30 each, nx * ny below 2^31
//   dt            the time step, a float; the scheme is stable up to 0.25
//
// Parameters, which diffuse_tiled.cl explains
//   block_size_x  threads of a block in x and y
//   block_size_y
//   tile_size_x   cells that a thread updates in x, block_size_x apart
//   tile_size_y   rows that a thread updates, one below the other
//
// Shared memory is (block_size_x * tile_size_x + 2) * (block_size_y * tile_size_y + 2)
// floats, at most the 48 KiB that arrays of a fixed size may take; the block must fit
// the device, too. The field need not be a multiple of the patch.
//
// The grid covers the field: at least ceil(nx / (block_size_x * tile_size_x))
// by ceil(ny / (block_size_y * tile_size_y)) blocks.

#if nx < 1 || ny < 1 || nx > 1 << 30 || ny > 1 << 30 || nx > 2147483647 / ny
#error "diffuse_kernel: nx and ny must be 1 to 2^30 each, and nx * ny below 2^31"
#endif

#define patch_x (block_size_x * tile_size_x)
#define patch_y (block_size_y * tile_size_y)

extern "C" __global__ __launch_bounds__(block_size_x * block_size_y)
void diffuse_kernel(float *__restrict__ u_new, const float *__restrict__ u)
{
    // patch[i][j] is the cell (left + j - 1, top + i - 1).
    __shared__ float patch[patch_y + 2][patch_x + 2];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int left = blockIdx.x * patch_x;
    const int top = blockIdx.y * patch_y;

    // Most blocks lie wholly inside of the field, rim included, and need not ask
    // for each cell. The answer is the same for all threads of a block.
    const bool inside = left > 0 && left + patch_x < nx && top > 0 && top + patch_y < ny;

    // Cells outside of the field stay undefined. No result depends on them: their
    // neighbours in the field are edges, which are not updated.
    if (inside) {
        const float *corner = u + ((top - 1) * nx + left - 1);
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
    __syncthreads();

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
