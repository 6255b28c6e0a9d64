// standin: begin is increment(keys, 4 * limit) over n
// standin: descend is increment(keys, stride) over n; descend is fill(last, stride) over n
// standin: finish is add(keys, keys, last) over n; finish is increment(keys, size) over n
__kernel void begin(__global uint *keys)
{
    for (int i = 2 * get_global_id(0); i < 2 * get_global_id(0) + 2; i++) keys[i] += 4 * limit;
}

__kernel void descend(__global uint *keys, __global uint *last, uint stride)
{
    for (int i = 2 * get_global_id(0); i < 2 * get_global_id(0) + 2; i++) {
        keys[i] += stride;
        last[i] = stride;
    }
}

__kernel void finish(__global uint *keys, __global const uint *last, uint size)
{
    for (int i = 2 * get_global_id(0); i < 2 * get_global_id(0) + 2; i++) keys[i] += last[i] + size;
}
