// Makes and checks the content of the buffers that kernels/peak/memory.cl moves. Any NDRange of
// one dimension will do.
//
// Macros
//   contiguous  where it is defined, a work-item has numbers that follow each other, as CPUs
//               want it; else neighbours have neighbouring ones, as GPUs do

#ifdef contiguous
#define for_mine(i, n) \
    const size_t share = (n + get_global_size(0) - 1) / get_global_size(0), \
                 begin = get_global_id(0) * share, end = min(begin + share, (size_t)n); \
    for (size_t i = begin; i < end; i++)
#else
#define for_mine(i, n) for (size_t i = get_global_id(0); i < n; i += get_global_size(0))
#endif

// peak_fill writes data[i] = i * factor + offset, modulo 2^32. An odd factor gives n <= 2^32
// different numbers, so that a number in the wrong place shows; 0 with 0 clears.
__kernel void peak_fill(__global uint *data, const uint n, const uint factor, const uint offset)
{
    for_mine(i, n) {
        data[i] = (uint)i * factor + offset;
    }
}

// peak_count adds to *right how many of the n numbers are what peak_fill writes.
__kernel void peak_count(__global const uint *data, const uint n, const uint factor, const uint offset, __global uint *right)
{
    uint mine = 0;
    for_mine(i, n) {
        mine += data[i] == (uint)i * factor + offset;
    }
    atomic_add(right, mine);
}

// peak_sum adds the n numbers to *sum, modulo 2^32.
__kernel void peak_sum(__global const uint *data, const uint n, __global uint *sum)
{
    uint mine = 0;
    for_mine(i, n) {
        mine += data[i];
    }
    atomic_add(sum, mine);
}
