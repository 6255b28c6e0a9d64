// What the local memory of a device gives: every work-item reads it over and over, neighbours
// from neighbouring places, so that no bank has to serve two at once.
//
// Macros
//   vector        float, or a vector of it: what a work-item reads at once
//   items         vectors that a work-item reads in a round, block_size_x apart
//   block_size_x  work-items of a work-group: a power of two, 8 at least
//   sum_lanes(v)  the sum of the lanes of a vector
//
// The work-group holds block_size_x * items vectors. stride is odd and rounds a multiple of
// block_size_x: then each work-item reads each place of its rows rounds / block_size_x times.
// The places hold 0 to 7 in turn, 3.5 on the average, so that the sum in out is
// 3.5 * rounds * items * lanes, exactly.

__kernel __attribute__((reqd_work_group_size(block_size_x, 1, 1)))
void peak_local(__global float *out, const uint rounds, const uint stride)
{
    __local vector data[block_size_x * items];
    uint at = get_local_id(0);
    #pragma unroll
    for (int k = 0; k < items; k++) {
        data[k * block_size_x + at] = (vector)((float)(at & 7));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    vector sum[items];
    #pragma unroll
    for (int k = 0; k < items; k++) {
        sum[k] = (vector)(0.0f);
    }
    for (uint r = 0; r < rounds; r++) {
        #pragma unroll
        for (int k = 0; k < items; k++) {
            sum[k] += data[k * block_size_x + at];
        }
        at = (at + stride) & (block_size_x - 1);
    }
    float total = 0;
    #pragma unroll
    for (int k = 0; k < items; k++) {
        total += sum_lanes(sum[k]);
    }
    out[get_global_id(0)] = total;
}
