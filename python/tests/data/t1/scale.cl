// standin: scale is scale(out, in, by) over n
__kernel void scale(__global float *out, __global const real *in, const float by, const int n)
{
    const int first = get_group_id(0) * block_size_x * per_item + get_local_id(0);
    for (int k = 0; k < per_item; k++) {
        const int i = first + k * block_size_x;
        if (i < n) {
            out[i] = by * in[i];
        }
    }
}
