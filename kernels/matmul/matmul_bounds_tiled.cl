// Matrix multiplication C = A B of matrices of any shape through square tiles in
// local memory. A is m x k, B is k x n, C is m x n, all row-major. C must not
// overlap A or B.
//
// A work-group computes a tile of C. It walks along its rows of A and down its
// columns of B: a tile of each is copied to local memory, with zeros for what is
// outside of the matrix, and used from there. The zeros add nothing to the sums, so
// that nothing needs to be checked where the work is done.
//
// Constants
//   m             rows of A and C
//   n             columns of B and C
//   k             columns of A, rows of B
//                 Whole numbers from 1 to 2^30, of which each product of two is
//                 below 2^31 (elements are numbered with int).
//
// Parameters
//   tile          rows and columns of a tile. An element is read from global memory
//                 once for each tile that it meets, so the larger the better, as
//                 far as local memory goes; but matrices are padded to multiples of
//                 it, and small ones make few work-groups.
//   block_size_x  work-items of a work-group in x and y; both must divide tile. Where
//   block_size_y  they equal it, a work-item computes one element of C. Where they
//                 are smaller, it computes (tile / block_size_x) columns and
//                 (tile / block_size_y) rows, block_size_x and block_size_y apart,
//                 and what it reads from local memory serves for several of them:
//                 fewer work-items, more registers each. A block_size_x of the
//                 width in which the device executes work-items gives whole
//                 memory transactions.
//
// Local memory is 2 * tile * tile floats and must fit the device, as must the
// work-group; no matrix need be a multiple of the tile.
//
// The grid covers C: at least ceil(n / tile) by ceil(m / tile) work-groups.

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

__kernel __attribute__((reqd_work_group_size(block_size_x, block_size_y, 1)))
void matmul_kernel(__global float *restrict C, __global const float *restrict A, __global const float *restrict B)
{
    // Aligned, so that several elements can be read at once.
    __local float a[tile][tile] __attribute__((aligned(16)));
    __local float b[tile][tile] __attribute__((aligned(16)));

    const int tx = get_local_id(0);
    const int ty = get_local_id(1);
    const int left = (int)get_group_id(0) * tile;
    const int top = (int)get_group_id(1) * tile;

    // Most tiles lie wholly inside of their matrices and need not ask for each
    // element. The answer is the same for all work-items of a group.
    const bool inside = left + tile <= n && top + tile <= m;

    float sum[rows_each][columns_each];
    #pragma unroll
    for (int y = 0; y < rows_each; y++) {
        #pragma unroll
        for (int x = 0; x < columns_each; x++) {
            sum[y][x] = 0.0f;
        }
    }

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
        barrier(CLK_LOCAL_MEM_FENCE);
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
        barrier(CLK_LOCAL_MEM_FENCE);
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
