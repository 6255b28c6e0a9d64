// Matrix multiplication C = A B of square matrices, row-major, one element of C a
// work-item, both operands through local memory. C must not overlap A or B.
//
// A work-group computes a square block of C. It walks along its rows of A and down
// its columns of B, a block of each at a time: every work-item copies one element
// of each to local memory, and all of the group use them from there. An element of
// A or B is thus read from global memory once for a row or column of the block,
// and not once for every element of C.
//
// Constants
//   size          rows and columns of each matrix: 1 to 46340, so that size * size
//                 is below 2^31 (elements are numbered with int)
//
// Parameters
//   block_size_x  work-items of a work-group in x and y, which must be equal: the
//   block_size_y  block of A is as wide as the block of B is high. The larger the
//                 block, the less global memory is read: 2 * size^3 / block_size_x
//                 elements in all. Large groups wait longer at their barriers.
//
// Local memory is 2 * block_size_x * block_size_y floats and must fit the device,
// as must the work-group; size need not be a multiple of the block.
//
// The grid covers C: at least ceil(size / block_size_x) by
// ceil(size / block_size_y) work-groups.

#if size < 1 || size > 46340
#error "matmul_kernel: size must be 1 to 46340"
#endif
#if block_size_x != block_size_y
#error "matmul_kernel: block_size_x and block_size_y must be equal"
#endif

#define block block_size_x

__kernel __attribute__((reqd_work_group_size(block_size_x, block_size_y, 1)))
void matmul_kernel(__global float *restrict C, __global const float *restrict A, __global const float *restrict B)
{
    // Aligned, so that several elements can be read at once.
    __local float a[block][block] __attribute__((aligned(16)));
    __local float b[block][block] __attribute__((aligned(16)));

    const int tx = get_local_id(0);
    const int ty = get_local_id(1);
    const int left = (int)get_group_id(0) * block;
    const int top = (int)get_group_id(1) * block;
    const int row = top + ty;
    const int column = left + tx;

    // Most blocks lie wholly inside of their matrices and need not ask for each
    // element. The answer is the same for all work-items of a group.
    const bool inside = left + block <= size && top + block <= size;

    float sum = 0.0f;
    for (int first = 0; first < size; first += block) {
        if (inside && first + block <= size) {
            a[ty][tx] = A[row * size + first + tx];
            b[ty][tx] = B[(first + ty) * size + column];
        } else {
            // Zeros stand for what is outside. They add nothing to the sums.
            a[ty][tx] = row < size && first + tx < size ? A[row * size + first + tx] : 0.0f;
            b[ty][tx] = first + ty < size && column < size ? B[(first + ty) * size + column] : 0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < block; i++) {
            sum += a[ty][i] * b[i][tx];
        }
        // Nobody may copy the next blocks while others still use these.
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < size && column < size) {
        C[row * size + column] = sum;
    }
}
