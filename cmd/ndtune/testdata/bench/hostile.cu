// hostile.cl in CUDA C.
extern "C" __global__ void hostile(float *y, const float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
#if mode == 1
    unsigned v = i;
    for (long long k = 0; k < 1000000000LL; k++) {
        v ^= v << 13; // a sequence that no compiler shortens
        v ^= v >> 17;
        v ^= v << 5;
    }
    if (v == 12345) y[0] = 3;
#elif mode == 2
    if (i == 0) *(volatile int *)0x10 = 1;
#elif mode == 3
    y[(long long)i + (1LL << 40)] = 3;
#elif mode == 4
    if (i < 20000) printf("line %d of very much text that is printed by a kernel, to nobody's use\n", i);
#elif mode == 5
    while (true) printf("%d prints without end\n", i);
#elif mode == 6
    __shared__ float much[75 << 10];
    much[threadIdx.x * 300] = x[i % n];
    __syncthreads();
    if (much[(threadIdx.x * 300 + 1) % (75 << 10)] == 12345) y[0] = 3;
#elif mode == 7
    y[0] = nothing;
#endif
}
