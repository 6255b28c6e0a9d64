// matmul_tiled.cl in CUDA C: C = A B of square matrices, row-major, both operands through
// shared memory, several elements of C a thread. C must not overlap A or B.
//
// A block computes a patch of C, block_size_x rows high and block_size_x * tile_size_x
// columns wide. It walks along its rows of A and down its columns of B, block_size_x at a
// time: a square of A and a patch of B are copied to shared memory and used from there.
//
// Constants
//   size          rows and columns of each matrix: 1 to 46340
//
// Parameters, which matmul_tiled.cl explains
//   block_size_x  threads of a block in x, the height of its patch, and the depth of a step
//   block_size_y  threads of a block in y: block_size_x == block_size_y * tile_size_y
//   tile_size_x   columns that a thread computes, block_size_x apart
//   tile_size_y   rows that a thread computes, block_size_y apart
//
// Shared memory is block_size_x * block_size_x * (1 + tile_size_x) floats, at most the
// 48 KiB that arrays of a fixed size may take; the block must fit the device, too. size
// need not be a multiple of the patch.
//
// The grid covers C: at least ceil(size / (block_size_x * tile_size_x)) by
// ceil(size / (block_size_y * tile_size_y)) blocks.

#if size < 1 || size > 46340
#error "matmul_kernel: size must be 1 to 46340"
#endif
#if block_size_x != block_size_y * tile_size_y
#error "matmul_kernel: block_size_x must be block_size_y * tile_size_y"
#endif

#define patch_x (block_size_x * tile_size_x)
#define patch_y (block_size_y * tile_size_y)
#define depth block_size_x

extern "C" __global__ __launch_bounds__(block_size_x * block_size_y)
void matmul_kernel(float *__restrict__ C, const float *__restrict__ A, const float *__restrict__ B)
{
    // Aligned, so that several elements can be read at once.
    __shared__ __align__(16) float a[patch_y][depth];
    __shared__ __align__(16) float b[depth][patch_x];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int left = blockIdx.x * patch_x;
    const int top = blockIdx.y * patch_y;

    // Most patches lie wholly inside of their matrices and need not ask for each
    // element. The answer is the same for all threads of a block.
    const bool inside = left + patch_x <= size && top + patch_y <= size;

    float sum[tile_size_y][tile_size_x] = {};

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
        __syncthreads();
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
        __syncthreads();
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
