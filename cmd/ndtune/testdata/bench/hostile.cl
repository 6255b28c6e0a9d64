// A kernel that doubles x, and in some modes does what no kernel should, on a GPU: a loop that
// takes minutes but ends, a store to an address that is none, a store 4 TiB behind the buffer,
// a megabyte of printing, printing without end, 300 KiB of local memory, a name that nothing has.
__kernel void hostile(__global float *y, __global const float *x)
{
    int i = get_global_id(0);
    if (i < n) y[i] = 2 * x[i];
#if mode == 1
    uint v = i;
    for (long k = 0; k < 1000000000L; k++) {
        v ^= v << 13; // a sequence that no compiler shortens
        v ^= v >> 17;
        v ^= v << 5;
    }
    if (v == 12345) y[0] = 3;
#elif mode == 2
    if (i == 0) *(volatile __global int *)(ulong)0x10 = 1;
#elif mode == 3
    y[(long)i + (1L << 40)] = 3;
#elif mode == 4
    if (i < 20000) printf("line %d of very much text that is printed by a kernel, to nobody's use\n", i);
#elif mode == 5
    while (1) printf("%d prints without end\n", i);
#elif mode == 6
    __local float much[75 << 10];
    much[get_local_id(0) * 300] = x[i % n];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (much[(get_local_id(0) * 300 + 1) % (75 << 10)] == 12345) y[0] = 3;
#elif mode == 7
    y[0] = nothing;
#endif
}
