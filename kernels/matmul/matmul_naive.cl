// Matrix multiplication C = A B of square matrices, row-major, one element of C a
// work-item, read straight from global memory. C must not overlap A or B.
//
// Every work-item reads a whole row of A and a whole column of B: 8 bytes for each
// multiplication and addition, so that the kernel is as fast as the caches are.
//
// Constants
//   size          rows and columns of each matrix: 1 to 46340, so that size * size
//                 is below 2^31 (elements are numbered with int)
//
// Parameters
//   block_size_x  work-items of a work-group in x and y. They share what they read
//   block_size_y  through the cache: a group of X columns and Y rows needs X + Y
//                 elements for X * Y products, so the squarer the better, and a
//                 multiple of the width in which the device executes work-items in
//                 x. Any sizes whose product the device takes are right, and
//                 size need not be a multiple of them.
//   coalesced     1: neighbours in x take neighbouring columns. They read one
//                 element of A, the same for all, and neighbouring elements of B:
//                 one memory transaction for many work-items.
//                 0: neighbours in x take neighbouring rows. They read elements of
//                 A, and write elements of C, that are a whole row apart: one
//                 transaction each. It is there to show what this costs.
//
// The grid covers C: at least ceil(size / block_size_x) by
// ceil(size / block_size_y) work-groups.

#if size < 1 || size > 46340
#error "matmul_kernel: size must be 1 to 46340"
#endif
#if coalesced != 0 && coalesced != 1
#error "matmul_kernel: coalesced must be 0 or 1"
#endif

__kernel __attribute__((reqd_work_group_size(block_size_x, block_size_y, 1)))
void matmul_kernel(__global float *restrict C, __global const float *restrict A, __global const float *restrict B)
{
    const int x = (int)get_group_id(0) * block_size_x + (int)get_local_id(0);
    const int y = (int)get_group_id(1) * block_size_y + (int)get_local_id(1);
#if coalesced
    const int row = y;
    const int column = x;
#else
    const int row = x;
    const int column = y;
#endif

    if (row < size && column < size) {
        float sum = 0.0f;
        for (int i = 0; i < size; i++) {
            sum += A[row * size + i] * B[i * size + column];
        }
        C[row * size + column] = sum;
    }
}
