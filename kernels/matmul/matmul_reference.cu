// matmul_reference.cl in CUDA C, for floats: what the other kernels in CUDA C are compared
// with. One element of C a thread, and a sum (Dot2, see there) that is as good as one in
// twice the precision, rounded once at the end. A is m x k, B is k x n, C is m x n, all
// row-major. C must not overlap A or B.
//
// Constants
//   m, n, k       1 to 2^30, of which each product of two is below 2^31. Or
//   size          for square matrices, in their place
//   element       must be float, where it is given
//
// Parameters
//   block_size_x  threads of a block in x and y; nothing is to be gained here
//   block_size_y
//
// The grid covers C: at least ceil(n / block_size_x) by ceil(m / block_size_y) blocks.

#ifdef size
#define m size
#define n size
#define k size
#endif

#if m < 1 || n < 1 || k < 1 || m > 1 << 30 || n > 1 << 30 || k > 1 << 30
#error "matmul_kernel: m, n and k (or size) must be 1 to 2^30 each"
#elif m > 2147483647 / n || m > 2147483647 / k || k > 2147483647 / n
#error "matmul_kernel: m * n, m * k and k * n (or size * size) must be below 2^31"
#endif

#ifndef element
#define element float
#endif

extern "C" __global__ __launch_bounds__(block_size_x * block_size_y)
void matmul_kernel(element *__restrict__ C, const element *__restrict__ A, const element *__restrict__ B)
{
    const float *const a = A, *const b = B; // an error for another element
    const int column = blockIdx.x * block_size_x + threadIdx.x;
    const int row = blockIdx.y * block_size_y + threadIdx.y;

    if (row < m && column < n) {
        float sum = 0.0f;
        float lost = 0.0f;
        for (int i = 0; i < k; i++) {
            const float x = a[row * k + i];
            const float y = b[i * n + column];
            // Operations that the compiler fuses with no others, nor puts in another order.
            const float product = __fmul_rn(x, y);
            const float next = __fadd_rn(sum, product);
            const float added = __fsub_rn(next, sum);
            lost += fmaf(x, y, -product) + (__fsub_rn(sum, __fsub_rn(next, added)) + __fsub_rn(product, added));
            sum = next;
        }
        C[row * n + column] = sum + lost;
    }
}
