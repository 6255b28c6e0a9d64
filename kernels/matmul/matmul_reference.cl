// Matrix multiplication C = A B as what the other kernels are compared with: one
// element of C a work-item, and a sum that is as good as one in twice the
// precision, rounded once at the end. A is m x k, B is k x n, C is m x n, all
// row-major. C must not overlap A or B.
//
// The sum is Dot2 of Ogita, Rump and Oishi (Accurate Sum and Dot Product, SIAM J.
// Sci. Comput. 26, 2005): what each product and each addition loses by rounding is
// itself computed without error and summed beside. With u = 2^-24, for floats, the
// result is off by at most u |c| + (k u)^2 sum |a b|, which is the rounding to float
// and, at k = 4096, 2e-4 of what a plain sum would be allowed. It costs some ten
// operations a term, all of them in float: double precision would be simpler, but many
// GPUs have none, or run it at 1/64 of the rate of float.
//
// Constants
//   m, n, k       whole numbers from 1 to 2^30, of which each product of two is
//                 below 2^31 (elements are numbered with int). Or
//   size          for square matrices, in their place
//   element       half, float (the default) or double; halves are summed as floats
//
// Parameters
//   block_size_x  work-items of a work-group in x and y: as in
//   block_size_y  matmul_bounds_naive.cl; nothing is to be gained here.
//
// The grid covers C: at least ceil(n / block_size_x) by ceil(m / block_size_y)
// work-groups. It must not be built with -cl-fast-relaxed-math or
// -cl-unsafe-math-optimizations, which may take the errors for zero.

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

#ifdef __FAST_RELAXED_MATH__
#error "matmul_kernel: the reference needs arithmetic that keeps to its order"
#endif

#ifndef element
#define element float
#endif
#include "matmul_element.h"

// The sum of a product and another number must not become one operation: its
// rounding would not be the one that is taken account of.
#pragma OPENCL FP_CONTRACT OFF

__kernel __attribute__((reqd_work_group_size(block_size_x, block_size_y, 1)))
void matmul_kernel(__global element *restrict C, __global const element *restrict A, __global const element *restrict B)
{
    const int column = (int)get_group_id(0) * block_size_x + (int)get_local_id(0);
    const int row = (int)get_group_id(1) * block_size_y + (int)get_local_id(1);

    if (row < m && column < n) {
        real sum = 0;
        real lost = 0;
        for (int i = 0; i < k; i++) {
            const real a = load(1, A + row * k + i);
            const real b = load(1, B + i * n + column);
            const real product = a * b;
            const real next = sum + product;
            const real added = next - sum;
            lost += fma(a, b, -product) + ((sum - (next - added)) + (product - added));
            sum = next;
        }
        store(1, sum + lost, C + row * n + column);
    }
}
