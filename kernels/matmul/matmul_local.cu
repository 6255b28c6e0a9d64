// matmul_local.cl in CUDA C: C = A B of square matrices, row-major, one element of C a
// thread, both operands through shared memory. C must not overlap A or B.
//
// A block computes a square block of C. It walks along its rows of A and down its
// columns of B, a block of each at a time: every thread copies one element of each to
// shared memory, and all of the block use them from there.
//
// Constants
//   size          rows and columns of each matrix: 1 to 46340
//
// Parameters, which matmul_local.cl explains
//   block_size_x  threads of a block in x and y, which must be equal
//   block_size_y
//
// Shared memory is 2 * block_size_x * block_size_y floats and must fit the device, as
// must the block; size need not be a multiple of the block.
//
// The grid covers C: at least ceil(size / block_size_x) by
// ceil(size / block_size_y) blocks.

#if size < 1 || size > 46340
#error "matmul_kernel: size must be 1 to 46340"
#endif
#if block_size_x != block_size_y
#error "matmul_kernel: block_size_x and block_size_y must be equal"
#endif

#define block block_size_x

extern "C" __global__ __launch_bounds__(block_size_x * block_size_y)
void matmul_kernel(float *__restrict__ C, const float *__restrict__ A, const float *__restrict__ B)
{
    // Aligned, so that several elements can be read at once.
    __shared__ __align__(16) float a[block][block];
    __shared__ __align__(16) float b[block][block];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int left = blockIdx.x * block;
    const int top = blockIdx.y * block;
    const int row = top + ty;
    const int column = left + tx;

    // Most blocks lie wholly inside of their matrices and need not ask for each
    // element. The answer is the same for all threads of a block.
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
        __syncthreads();
        for (int i = 0; i < block; i++) {
            sum += a[ty][i] * b[i][tx];
        }
        // Nobody may copy the next blocks while others still use these.
        __syncthreads();
    }
    if (row < size && column < size) {
        C[row * size + column] = sum;
    }
}
