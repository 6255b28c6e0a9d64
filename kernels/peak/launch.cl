// What a launch costs: a kernel of one work-item that does nothing but count itself, so that
// one that was never run shows.

__kernel void peak_launch(__global uint *count)
{
    count[0] += 1;
}
