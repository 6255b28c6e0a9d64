// What the arithmetic of a device gives: multiply-adds in registers, x = x * a + b, in chains
// that do not wait for each other.
//
// Macros
//   scalar        half, float or double
//   vector        scalar, or a vector of it: CPUs want their widest register, and GPUs pairs
//                 of halves
//   ramp          a vector of 0, 1, 2, … in its lanes: no two lanes compute the same
//   lanes         of a vector
//   chains        of a work-item: as many as it takes to hide that a result comes some cycles
//                 late; too many cost registers
//   multiply_add  (x, a, b): fma where the hardware has it, else what is nearest
//   block_size_x  work-items of a work-group
//   sum_lanes(v)  the sum of the lanes as a float
//
// steps is a multiple of 16. With a = b = 1, which no compiler can know, each x is counted up
// to start + its number + steps: small whole numbers, exact in any precision (up to 2048 in a
// half). out has the sum of all x of each work-item.

#ifdef use_half
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#ifdef use_double
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

__kernel __attribute__((reqd_work_group_size(block_size_x, 1, 1)))
void peak_arithmetic(__global float *out, const float multiplier, const float summand, const float start, const uint steps)
{
    const vector a = (vector)((scalar)multiplier), b = (vector)((scalar)summand);
    vector x[chains];
    #pragma unroll
    for (int c = 0; c < chains; c++) {
        x[c] = (vector)((scalar)start + (scalar)(c * lanes)) + ramp;
    }
    for (uint s = 0; s < steps; s += 16) {
        #pragma unroll
        for (int u = 0; u < 16; u++) {
            #pragma unroll
            for (int c = 0; c < chains; c++) {
                x[c] = multiply_add(x[c], a, b);
            }
        }
    }
    float sum = 0;
    #pragma unroll
    for (int c = 0; c < chains; c++) {
        sum += sum_lanes(x[c]);
    }
    out[get_global_id(0)] = sum;
}
