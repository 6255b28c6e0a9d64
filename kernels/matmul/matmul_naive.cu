// matmul_naive.cl in CUDA C: C = A B of square matrices, row-major, one element of C a
// thread, read straight from global memory. C must not overlap A or B.
//
// Constants
//   size          rows and columns of each matrix: 1 to 46340
//
// Parameters, which matmul_naive.cl explains
//   block_size_x  threads of a block in x and y. Any sizes that the device takes are
//   block_size_y  right; size need not be a multiple of them.
//   coalesced     1: neighbours in x take neighbouring columns; 0: neighbouring rows,
//                 to show what reads cost that are a whole row apart
//
// The grid covers C: at least ceil(size / block_size_x) by
// ceil(size / block_size_y) blocks.

#if size < 1 || size > 46340
#error "matmul_kernel: size must be 1 to 46340"
#endif
#if coalesced != 0 && coalesced != 1
#error "matmul_kernel: coalesced must be 0 or 1"
#endif

extern "C" __global__ __launch_bounds__(block_size_x * block_size_y)
void matmul_kernel(float *__restrict__ C, const float *__restrict__ A, const float *__restrict__ B)
{
    const int x = blockIdx.x * block_size_x + threadIdx.x;
    const int y = blockIdx.y * block_size_y + threadIdx.y;
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
