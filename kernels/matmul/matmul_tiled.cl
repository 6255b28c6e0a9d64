// Matrix multiplication C = A B of square matrices, row-major, both operands
// through local memory as in matmul_local.cl, several elements of C a work-item.
// C must not overlap A or B.
//
// A work-group computes a patch of C, block_size_x rows high and
// block_size_x * tile_size_x columns wide. It walks along its rows of A and down its
// columns of B, block_size_x at a time: a square of A and a patch of B are copied
// to local memory and used from there.
//
// Constants
//   size          rows and columns of each matrix: 1 to 46340, so that size * size
//                 is below 2^31 (elements are numbered with int)
//
// Parameters
//   block_size_x  work-items of a work-group in x, the height of its patch, and the
//                 depth of a step. The larger, the less global memory is read and
//                 the fewer barriers are met; local memory grows with its square.
//   block_size_y  work-items of a work-group in y. The square of A must be as high as
//                 it is wide: block_size_x == block_size_y * tile_size_y.
//   tile_size_x   columns that a work-item computes, block_size_x apart. The patch
//                 grows wider with it, so that there are fewer work-groups, and what
//                 was read of A from local memory serves for all of the columns.
//   tile_size_y   rows that a work-item computes, block_size_y apart. The patch stays
//                 as high as it is and the work-group has fewer work-items, so that
//                 more groups fit a compute unit; and what was read of B from local
//                 memory serves for all of the rows.
//                 For tile_size_x * tile_size_y multiplications and additions, a
//                 work-item reads tile_size_x + tile_size_y elements of local
//                 memory. That is what large tiles buy, up to where the sums, which
//                 are as many, fill the registers.
//
// Local memory is block_size_x * block_size_x * (1 + tile_size_x) floats and must fit
// the device, as must the work-group; size need not be a multiple of the patch.
//
// The grid covers C: at least ceil(size / (block_size_x * tile_size_x)) by
// ceil(size / (block_size_y * tile_size_y)) work-groups.

#if size < 1 || size > 46340
#error "matmul_kernel: size must be 1 to 46340"
#endif
#if block_size_x != block_size_y * tile_size_y
#error "matmul_kernel: block_size_x must be block_size_y * tile_size_y"
#endif

#define patch_x (block_size_x * tile_size_x)
#define patch_y (block_size_y * tile_size_y)
#define depth block_size_x

__kernel __attribute__((reqd_work_group_size(block_size_x, block_size_y, 1)))
void matmul_kernel(__global float *restrict C, __global const float *restrict A, __global const float *restrict B)
{
    // Aligned, so that several elements can be read at once.
    __local float a[patch_y][depth] __attribute__((aligned(16)));
    __local float b[depth][patch_x] __attribute__((aligned(16)));

    const int tx = get_local_id(0);
    const int ty = get_local_id(1);
    const int left = (int)get_group_id(0) * patch_x;
    const int top = (int)get_group_id(1) * patch_y;

    // Most patches lie wholly inside of their matrices and need not ask for each
    // element. The answer is the same for all work-items of a group.
    const bool inside = left + patch_x <= size && top + patch_y <= size;

    float sum[tile_size_y][tile_size_x];
    #pragma unroll
    for (int y = 0; y < tile_size_y; y++) {
        #pragma unroll
        for (int x = 0; x < tile_size_x; x++) {
            sum[y][x] = 0.0f;
        }
    }

    for (int first = 0; first < size; first += depth) {
        if (inside && first + depth <= size) {
            #pragma unroll
            for (int y = 0; y < tile_size_y; y++) {
                const int i = ty + y * block_size_y;
                a[i][tx] = A[(top + i) * size + first + tx];
                #pragma unroll
                for (int x = 0; x < tile_size_x; x++) {
                    const int j = tx + x * block_size_x;
                    b[i][j] = B[(first + i) * size + left + j];
                }
            }
        } else {
            // Zeros stand for what is outside. They add nothing to the sums.
            for (int i = ty; i < patch_y; i += block_size_y) {
                a[i][tx] = top + i < size && first + tx < size ? A[(top + i) * size + first + tx] : 0.0f;
                for (int j = tx; j < patch_x; j += block_size_x) {
                    b[i][j] = first + i < size && left + j < size ? B[(first + i) * size + left + j] : 0.0f;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll 4
        for (int i = 0; i < depth; i++) {
            float above[tile_size_x];
            #pragma unroll
            for (int x = 0; x < tile_size_x; x++) {
                above[x] = b[i][tx + x * block_size_x];
            }
            #pragma unroll
            for (int y = 0; y < tile_size_y; y++) {
                const float beside = a[ty + y * block_size_y][i];
                #pragma unroll
                for (int x = 0; x < tile_size_x; x++) {
                    sum[y][x] += beside * above[x];
                }
            }
        }
        // Nobody may copy the next step while others still use this one.
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    #pragma unroll
    for (int y = 0; y < tile_size_y; y++) {
        const int row = top + ty + y * block_size_y;
        #pragma unroll
        for (int x = 0; x < tile_size_x; x++) {
            const int column = left + tx + x * block_size_x;
            if (inside || (row < size && column < size)) {
                C[row * size + column] = sum[y][x];
            }
        }
    }
}
