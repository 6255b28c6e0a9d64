// Matrix multiplication C = A B of matrices of any shape, one element of C a
// work-item, read straight from global memory. A is m x k, B is k x n, C is m x n,
// all row-major. C must not overlap A or B.
//
// Constants
//   m             rows of A and C
//   n             columns of B and C
//   k             columns of A, rows of B
//                 Whole numbers from 1 to 2^30, of which each product of two is
//                 below 2^31 (elements are numbered with int).
//
// Parameters
//   block_size_x  work-items of a work-group in x and y: columns and rows of C.
//   block_size_y  Neighbours in x read neighbouring elements of B, so a multiple of
//                 the width in which the device executes work-items gives whole
//                 memory transactions. A group of X columns and Y rows
//                 needs X + Y elements for X * Y products, and shares them through
//                 the cache: the squarer the better. Any sizes whose product the
//                 device takes are right; no matrix need be a multiple of them.
//
// The grid covers C: at least ceil(n / block_size_x) by ceil(m / block_size_y)
// work-groups. The bound is checked once, not in the loop: it costs nothing.

#if m < 1 || n < 1 || k < 1 || m > 1 << 30 || n > 1 << 30 || k > 1 << 30
#error "matmul_kernel: m, n and k must be 1 to 2^30 each"
#elif m > 2147483647 / n || m > 2147483647 / k || k > 2147483647 / n
#error "matmul_kernel: m * n, m * k and k * n must be below 2^31"
#endif

__kernel __attribute__((reqd_work_group_size(block_size_x, block_size_y, 1)))
void matmul_kernel(__global float *restrict C, __global const float *restrict A, __global const float *restrict B)
{
    const int column = (int)get_group_id(0) * block_size_x + (int)get_local_id(0);
    const int row = (int)get_group_id(1) * block_size_y + (int)get_local_id(1);

    if (row < m && column < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++) {
            sum += A[row * k + i] * B[i * n + column];
        }
        C[row * n + column] = sum;
    }
}
