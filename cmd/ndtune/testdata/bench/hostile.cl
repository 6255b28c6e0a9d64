// A kernel that doubles x, and in some modes does what no kernel should, on a GPU: a loop that
// takes minutes but ends, a store to an address that is none, a store far behind the buffer,
// a megabyte of printing.
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
    y[(long)i + 40000000000L] = 3;
#elif mode == 4
    if (i < 20000) printf("line %d of very much text that is printed by a kernel, to nobody's use\n", i);
#endif
}
