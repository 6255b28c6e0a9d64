// matmul_bounds_naive.cl in CUDA C: C = A B of matrices of any shape, one element of C a
// thread, read straight from global memory. A is m x k, B is k x n, C is m x n, all
// row-major. C must not overlap A or B.
//
// Constants
//   m, n, k       1 to 2^30, of which each product of two is below 2^31
//
// Parameters, which matmul_bounds_naive.cl explains
//   block_size_x  threads of a block in x and y: columns and rows of C. Any sizes that
//   block_size_y  the device takes are right; no matrix need be a multiple of them.
//
// The grid covers C: at least ceil(n / block_size_x) by ceil(m / block_size_y) blocks.

#if m < 1 || n < 1 || k < 1 || m > 1 << 30 || n > 1 << 30 || k > 1 << 30
#error "matmul_kernel: m, n and k must be 1 to 2^30 each"
#elif m > 2147483647 / n || m > 2147483647 / k || k > 2147483647 / n
#error "matmul_kernel: m * n, m * k and k * n must be below 2^31"
#endif

extern "C" __global__ __launch_bounds__(block_size_x * block_size_y)
void matmul_kernel(float *__restrict__ C, const float *__restrict__ A, const float *__restrict__ B)
{
    const int column = blockIdx.x * block_size_x + threadIdx.x;
    const int row = blockIdx.y * block_size_y + threadIdx.y;

    if (row < m && column < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++) {
            sum += A[row * k + i] * B[i * n + column];
        }
        C[row * n + column] = sum;
    }
}
