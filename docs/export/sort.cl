// A bitonic sort of 2^n keys, in steps of one comparison a work-item.
//
// Parameters
//   limit   keys that a work-group sorts or merges in local memory, with limit / 2 work-items: a power of two. The more, the
//           fewer launches there are that read all keys from global memory.
//
// sort_local sorts blocks of limit keys, in alternating directions. After it, each level doubles the length of the
// sorted sequences: merge_global compares keys at one distance of at least limit, merge_local at all smaller ones. Of two
// sequences of `size` keys, the first becomes ascending and the second descending.

void order(__local uint *tile, uint a, uint b, bool ascending)
{
    const uint x = tile[a], y = tile[b];
    if ((x > y) == ascending) {
        tile[a] = y;
        tile[b] = x;
    }
}

// merge_tile merges a tile for one size, with the distances from stride down to 1.
void merge_tile(__local uint *tile, uint first, uint size, uint stride)
{
    const uint i = get_local_id(0);
    for (; stride > 0; stride /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint a = 2 * i - (i & (stride - 1));
        order(tile, a, a + stride, ((first + a) & size) == 0);
    }
}

__kernel void sort_local(__global uint *keys)
{
    __local uint tile[limit];
    const uint i = get_local_id(0), first = get_group_id(0) * limit;
    tile[i] = keys[first + i];
    tile[i + limit / 2] = keys[first + i + limit / 2];
    for (uint size = 2; size <= limit; size *= 2)
        merge_tile(tile, first, size, size / 2);
    barrier(CLK_LOCAL_MEM_FENCE);
    keys[first + i] = tile[i];
    keys[first + i + limit / 2] = tile[i + limit / 2];
}

__kernel void merge_global(__global uint *keys, uint size, uint stride)
{
    const uint i = get_global_id(0), a = 2 * i - (i & (stride - 1)), b = a + stride;
    const uint x = keys[a], y = keys[b];
    if ((x > y) == ((a & size) == 0)) {
        keys[a] = y;
        keys[b] = x;
    }
}

__kernel void merge_local(__global uint *keys, uint size)
{
    __local uint tile[limit];
    const uint i = get_local_id(0), first = get_group_id(0) * limit;
    tile[i] = keys[first + i];
    tile[i + limit / 2] = keys[first + i + limit / 2];
    merge_tile(tile, first, size, limit / 2);
    barrier(CLK_LOCAL_MEM_FENCE);
    keys[first + i] = tile[i];
    keys[first + i + limit / 2] = tile[i + limit / 2];
}
