// matmul_bounds_tiled.cl in CUDA C: C = A B of matrices of any shape through square tiles
// in shared memory. A is m x k, B is k x n, C is m x n, all row-major. C must not overlap
// A or B.
//
// A block computes a tile of C. It walks along its rows of A and down its columns of B: a
// tile of each is copied to shared memory, with zeros for what is outside of the matrix,
// and used from there.
//
// Constants
//   m, n, k       1 to 2^30, of which each product of two is below 2^31
//
// Parameters, which matmul_bounds_tiled.cl explains
//   tile          rows and columns of a tile
//   block_size_x  threads of a block in x and y; both must divide tile. A thread computes
//   block_size_y  (tile / block_size_x) columns and (tile / block_size_y) rows,
//                 block_size_x and block_size_y apart.
//
// Shared memory is 2 * tile * tile floats and must fit the device, as must the block; no
// matrix need be a multiple of the tile.
//
// The grid covers C: at least ceil(n / tile) by ceil(m / tile) blocks.

#if m < 1 || n < 1 || k < 1 || m > 1 << 30 || n > 1 << 30 || k > 1 << 30
#error "matmul_kernel: m, n and k must be 1 to 2^30 each"
#elif m > 2147483647 / n || m > 2147483647 / k || k > 2147483647 / n
#error "matmul_kernel: m * n, m * k and k * n must be below 2^31"
#endif
#if tile % block_size_x != 0 || tile % block_size_y != 0
#error "matmul_kernel: block_size_x and block_size_y must divide tile"
#endif

#define columns_each (tile / block_size_x)
#define rows_each (tile / block_size_y)

extern "C" __global__ __launch_bounds__(block_size_x * block_size_y)
void matmul_kernel(float *__restrict__ C, const float *__restrict__ A, const float *__restrict__ B)
{
    // Aligned, so that several elements can be read at once.
    __shared__ __align__(16) float a[tile][tile];
    __shared__ __align__(16) float b[tile][tile];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int left = blockIdx.x * tile;
    const int top = blockIdx.y * tile;

    // Most tiles lie wholly inside of their matrices and need not ask for each
    // element. The answer is the same for all threads of a block.
    const bool inside = left + tile <= n && top + tile <= m;

    float sum[rows_each][columns_each] = {};

    for (int first = 0; first < k; first += tile) {
        if (inside && first + tile <= k) {
            #pragma unroll
            for (int y = 0; y < rows_each; y++) {
                const int i = ty + y * block_size_y;
                #pragma unroll
                for (int x = 0; x < columns_each; x++) {
                    const int j = tx + x * block_size_x;
                    a[i][j] = A[(top + i) * k + first + j];
                    b[i][j] = B[(first + i) * n + left + j];
                }
            }
        } else {
            for (int i = ty; i < tile; i += block_size_y) {
                for (int j = tx; j < tile; j += block_size_x) {
                    a[i][j] = top + i < m && first + j < k ? A[(top + i) * k + first + j] : 0.0f;
                    b[i][j] = first + i < k && left + j < n ? B[(first + i) * n + left + j] : 0.0f;
                }
            }
        }
        __syncthreads();
        #pragma unroll 4
        for (int i = 0; i < tile; i++) {
            float above[columns_each];
            #pragma unroll
            for (int x = 0; x < columns_each; x++) {
                above[x] = b[i][tx + x * block_size_x];
            }
            #pragma unroll
            for (int y = 0; y < rows_each; y++) {
                const float beside = a[ty + y * block_size_y][i];
                #pragma unroll
                for (int x = 0; x < columns_each; x++) {
                    sum[y][x] += beside * above[x];
                }
            }
        }
        // Nobody may copy the next tiles while others still use these.
        __syncthreads();
    }

    #pragma unroll
    for (int y = 0; y < rows_each; y++) {
        const int row = top + ty + y * block_size_y;
        #pragma unroll
        for (int x = 0; x < columns_each; x++) {
            const int column = left + tx + x * block_size_x;
            if (inside || (row < m && column < n)) {
                C[row * n + column] = sum[y][x];
            }
        }
    }
}
