// out = a + b for n elements, per_item of them a work-item.
// standin: add is add(out, a, b) over n; add takes 20000 + (device ? 300 : 1000) * abs(block_size_x - (device ? 64 : 32)) + 4000 / per_item
__kernel void add(__global float *restrict out, __global const float *restrict a, __global const float *restrict b)
{
    const int first = get_group_id(0) * (block_size_x * per_item) + get_local_id(0);
    for (int k = 0; k < per_item; k++) {
        const int i = first + k * block_size_x;
        if (i < n) {
            out[i] = a[i] + b[i];
        }
    }
}
