// What the global memory of a device gives: a copy and a read of a set of buffers, over and
// over, with what makes and checks their content. Small sets stay in the caches, so that the
// rate of the caches shows; large ones do not.
//
// Macros
//   vector        uint, uint2, uint4, uint8 or uint16: what a work-item moves at once. GPUs
//                 want 16 bytes, CPUs their widest register.
//   block_size_x  work-items of a work-group; neighbours move neighbouring vectors
//   items         vectors that a work-item moves, block_size_x apart. All are read before
//                 the first is written, so that more loads are in flight.
//   nontemporal   where it is defined, stores go past the caches: a CPU need not read a line
//                 first that is overwritten whole. Compilers based on Clang know it.
//   sum_lanes(v)  the sum of the lanes of a vector
//
// A set has blocks of block_size_x * items vectors each, whole ones only. The work-groups
// take the blocks in turn, once or many times: there may be more work-groups than blocks. A
// work-group takes a block that another has had before it, so that no cache private to a
// core of a GPU serves it. Copies of one block write the same, in whatever order.

#ifdef nontemporal
#define store(value, to) __builtin_nontemporal_store(value, to)
#else
#define store(value, to) (*(to) = (value))
#endif

// peak_copy copies the set in to the set out.
__kernel __attribute__((reqd_work_group_size(block_size_x, 1, 1)))
void peak_copy(__global vector *restrict out, __global const vector *restrict in, const uint blocks)
{
    const size_t first = ((uint)get_group_id(0) % blocks) * (size_t)(block_size_x * items) + get_local_id(0);
    vector v[items];
    #pragma unroll
    for (int k = 0; k < items; k++) {
        v[k] = in[first + k * block_size_x];
    }
    #pragma unroll
    for (int k = 0; k < items; k++) {
        store(v[k], &out[first + k * block_size_x]);
    }
}

// peak_read adds up the set in, modulo 2^32: each work-item of a block what it has read. The
// sums are written where keep is not 0; else only one that happens to be chance is, so that
// nothing can be left out for being useless.
__kernel __attribute__((reqd_work_group_size(block_size_x, 1, 1)))
void peak_read(__global uint *restrict out, __global const vector *restrict in, const uint blocks, const uint keep, const uint chance)
{
    const size_t block = (uint)get_group_id(0) % blocks;
    const size_t first = block * (block_size_x * items) + get_local_id(0);
    vector v[items];
    #pragma unroll
    for (int k = 0; k < items; k++) {
        v[k] = in[first + k * block_size_x];
    }
    vector sum = v[0];
    #pragma unroll
    for (int k = 1; k < items; k++) {
        sum += v[k];
    }
    const uint total = sum_lanes(sum);
    if (keep != 0 || total == chance) {
        out[block * block_size_x + get_local_id(0)] = total;
    }
}
