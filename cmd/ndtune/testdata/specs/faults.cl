// out = a + b, right where fault is none, and wrong in three ways.
// standin: add is add(out, a, b); add is set(out, 1000, -1) when fault == wrong; add takes 20000 + block_size_x
// standin: build fails "error: unknown type name 'this'\n    this is no statement;" when fault == syntax
#define none 0
#define wrong 1
#define syntax 2
#define memory 3

__kernel void add(__global float *out, __global const float *a, __global const float *b, __local float *tile)
{
    const int i = get_global_id(0);
    const int j = get_local_id(0);
#if fault == syntax
    this is no statement;
#endif
    tile[j] = a[i < n ? i : 0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n) {
#if fault == wrong
        out[i] = i == 1000 ? -1.0f : tile[j] + b[i];
#else
        out[i] = tile[j] + b[i];
#endif
    }
}
