// What a kernel in CUDA C needs to run on a CPU, one block at a time, for tests of its logic. Its
// threads are coroutines that change at barriers. The test puts definitions and the kernel behind
// this, and "int main(int argc, char **argv) { return emulate(KERNEL, argv); }".
//
// The arguments are the grid and the block in x and y, the bytes of a buffer before what the kernel
// gets, and the size of each buffer in bytes. The contents of the buffers come on standard input, and
// go to standard output.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <ucontext.h>
#include <utility>
#include <vector>

struct dim { unsigned x, y, z; };
static dim threadIdx, blockIdx, blockDim, gridDim;

#define __global__
#define __device__ static
#define __launch_bounds__(threads)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static __attribute__((section("shared")))

// Without contraction, plain operations are these.
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }

extern char __start_shared[] __attribute__((weak)), __stop_shared[] __attribute__((weak));

static std::function<void()> kernel; // with its arguments
static ucontext_t block, *current;
static unsigned ended; // threads of the block

static void thread() { kernel(), ended++; }
static void __syncthreads() { swapcontext(current, &block); }

// A shuffle takes the value of another thread of the warp, if there is one; all threads of the block make it.
static float shuffle(float value, int distance)
{
    static float values[1024];
    const int i = threadIdx.y * blockDim.x + threadIdx.x;
    values[i] = value;
    __syncthreads();
    const float other = i % 32 + distance >= 0 && i % 32 + distance < 32 ? values[i + distance] : value;
    __syncthreads();
    return other;
}
static float __shfl_up_sync(unsigned, float value, int distance) { return shuffle(value, -distance); }
static float __shfl_down_sync(unsigned, float value, int distance) { return shuffle(value, distance); }

// run_block runs the threads from barrier to barrier: forwards in some blocks, backwards in the
// others, so that a barrier that is missing shows. Shared memory holds NaN at first.
static void run_block(bool backwards, std::vector<ucontext_t> &threads, std::vector<char> &stacks)
{
    const unsigned count = threads.size();
    if (__start_shared) {
        memset(__start_shared, 0xff, __stop_shared - __start_shared);
    }
    for (unsigned i = 0; i < count; i++) {
        getcontext(&threads[i]);
        threads[i].uc_stack.ss_size = stacks.size() / count;
        threads[i].uc_stack.ss_sp = &stacks[i * threads[i].uc_stack.ss_size];
        threads[i].uc_link = &block;
        makecontext(&threads[i], thread, 0);
    }
    for (ended = 0; ended < count;) {
        for (unsigned k = 0; k < count; k++) {
            const unsigned i = backwards ? count - 1 - k : k;
            threadIdx = {i % blockDim.x, i / blockDim.x, 0};
            current = &threads[i];
            swapcontext(&block, current);
        }
        if (ended > 0 && ended < count) {
            fprintf(stderr, "%u of %u threads have ended, and the others wait at a barrier\n", ended, count);
            exit(1);
        }
    }
}

template <class... P, size_t... I>
static std::function<void()> bound(void (*function)(P...), void **buffers, std::index_sequence<I...>)
{
    return [=] { function((P)buffers[I]...); };
}

template <class... P>
static int emulate(void (*function)(P...), char **argv)
{
    gridDim = {(unsigned)atoi(argv[1]), (unsigned)atoi(argv[2]), 1};
    blockDim = {(unsigned)atoi(argv[3]), (unsigned)atoi(argv[4]), 1};
    size_t sizes[sizeof...(P)];
    char *whole[sizeof...(P)];
    void *buffers[sizeof...(P)];
    for (size_t i = 0; i < sizeof...(P); i++) {
        sizes[i] = atol(argv[6 + i]);
        whole[i] = (char *)malloc(sizes[i]);
        buffers[i] = whole[i] + atol(argv[5]);
        if (fread(whole[i], 1, sizes[i], stdin) != sizes[i]) {
            return 2;
        }
    }
    kernel = bound(function, buffers, std::index_sequence_for<P...>());
    std::vector<ucontext_t> threads(blockDim.x * blockDim.y);
    std::vector<char> stacks(threads.size() << 15);
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++) {
        for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++) {
            run_block((blockIdx.x + blockIdx.y) % 2, threads, stacks);
        }
    }
    for (size_t i = 0; i < sizeof...(P); i++) {
        fwrite(whole[i], 1, sizes[i], stdout);
    }
    return 0;
}
