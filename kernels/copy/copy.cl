// The copy of a buffer, out = in, four floats at a time: what the memory of a device gives a
// kernel that does nothing else. It is the limit that memory-bound kernels are held
// against.
//
// Constants
//   count         vectors of four floats, 16 bytes each: 1 to 2^40
//
// Parameters
//   block_size_x  work-items of a work-group. Neighbours copy neighbouring vectors.
//   per_item      vectors that a work-item copies, block_size_x apart. All are read before
//                 the first is written, so that more loads are in flight; too many cost
//                 registers.
//
// Any values are right whose work-group the device takes; count need not be a multiple of
// anything. The grid is at least ceil(count / (block_size_x * per_item)) work-groups.

__kernel __attribute__((reqd_work_group_size(block_size_x, 1, 1)))
void copy(__global float4 *restrict out, __global const float4 *restrict in)
{
    const size_t first = get_group_id(0) * (size_t)(block_size_x * per_item) + get_local_id(0);
    float4 v[per_item];
    #pragma unroll
    for (int k = 0; k < per_item; k++) {
        const size_t i = first + k * block_size_x;
        if (i < count) {
            v[k] = in[i];
        }
    }
    #pragma unroll
    for (int k = 0; k < per_item; k++) {
        const size_t i = first + k * block_size_x;
        if (i < count) {
            out[i] = v[k];
        }
    }
}
