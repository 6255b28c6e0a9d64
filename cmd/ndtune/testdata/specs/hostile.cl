// out = a + b, right where fault is none; else one work-item never ends, or all write far out of
// bounds.
// standin: add is add(out, a, b); add hangs when fault == endless; add crashes apart when fault == wild
#define none 0
#define endless 1
#define wild 2

__kernel void add(__global float *out, __global const float *a, __global const float *b)
{
    const int i = get_global_id(0);
#if fault == endless
    volatile __global float *seen = out;
    while (i == 0 && seen[0] != 12345.0f) {
        seen[1] = seen[0];
    }
#elif fault == wild
    out[((long)i + 1) << 40] = 1.0f;
#endif
    if (i < n) {
        out[i] = a[i] + b[i];
    }
}
