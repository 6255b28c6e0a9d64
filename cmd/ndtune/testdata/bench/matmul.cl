// C = A·B of square matrices of float32, row-major, as the benchmark of the engine tunes it:
// a work-group computes rows × columns of C, a work-item rows/block_size_y × columns/block_size_x
// of them in registers, with depth terms at a time in local memory. All loops over registers
// are unrolled, so that the compiler has something to do.
//
// size must be a multiple of rows, columns and depth.
#define per_y (rows / block_size_y)
#define per_x (columns / block_size_x)

__kernel __attribute__((reqd_work_group_size(block_size_x, block_size_y, 1)))
void matmul_registers(__global float *C, __global const float *A, __global const float *B)
{
    __local float a[rows][depth + 1];
    __local float b[depth][columns];
    const int x = get_local_id(0), y = get_local_id(1);
    const int at = y * block_size_x + x;
    const int left = get_group_id(0) * columns, top = get_group_id(1) * rows;
    float sum[per_y][per_x];
    for (int i = 0; i < per_y; i++)
        for (int j = 0; j < per_x; j++)
            sum[i][j] = 0.0f;
    for (int k = 0; k < size; k += depth) {
        for (int i = at; i < rows * depth; i += block_size_x * block_size_y)
            a[i / depth][i % depth] = A[(top + i / depth) * size + k + i % depth];
        for (int i = at; i < depth * columns; i += block_size_x * block_size_y)
            b[i / columns][i % columns] = B[(k + i / columns) * size + left + i % columns];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int d = 0; d < depth; d++) {
            float column[per_y];
#pragma unroll
            for (int i = 0; i < per_y; i++)
                column[i] = a[y + i * block_size_y][d];
#pragma unroll
            for (int j = 0; j < per_x; j++) {
                const float value = b[d][x + j * block_size_x];
#pragma unroll
                for (int i = 0; i < per_y; i++)
                    sum[i][j] += column[i] * value;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (int i = 0; i < per_y; i++)
#pragma unroll
        for (int j = 0; j < per_x; j++)
            C[(top + y + i * block_size_y) * size + left + x + j * block_size_x] = sum[i][j];
}
