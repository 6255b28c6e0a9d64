// ndtune_verify looks for scalars of an output that are not certainly right. What it passes
// is right by the rule of package array, |out - want| <= absolute + relative * |want|, which
// the host computes in double precision. What it does not pass may still be right: the host
// looks again.
//
// The host sets before the source:
//
//   FLOAT       16, 32 or 64: the scalars are floats of so many bits, or else
//   INTEGER     their type, with
//   UNSIGNED    the unsigned type of that width
//   VECTOR3     defined: every fourth scalar is the unused lane of a 3-vector
//   CONTIGUOUS  defined, for CPUs: each work-item takes scalars that lie side by side, which
//               the compiler turns into vector code. Undefined, for GPUs: neighbouring
//               work-items take neighbouring scalars, so that their reads coalesce.
//
// Any NDRange of one dimension will do.

#pragma OPENCL FP_CONTRACT OFF

#ifdef FLOAT

#if FLOAT == 16
typedef ushort scalar;
typedef float real;
#define INFINITE 0x7c00
#define SLACK 0x1p-123f

// By its bits: not every compiler has half, and a device may flush its denormals.
real value(scalar h) {
    uint magnitude = h & 0x7fff, exponent = magnitude >> 10;
    real v = exponent == 0 ? magnitude * 0x1p-24f : as_float((magnitude << 13) + (112u << 23));
    return h >> 15 ? -v : v;
}

#elif FLOAT == 32
typedef uint scalar;
typedef float real;
#define INFINITE 0x7f800000u
#define SLACK 0x1p-123f
#define value as_float

#else
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
typedef ulong scalar;
typedef double real;
#define INFINITE 0x7ff0000000000000ul
#define SLACK 0x1p-1019
#define value as_double
#endif

typedef real tolerance;

#define MAGNITUDE (((scalar)1 << (FLOAT - 1)) - 1)

// Two things keep rounding here from passing what is too far off. The host has made the
// tolerances smaller by a factor of 1 - 2^-18, and the five roundings are within 2^-20. And
// SLACK is eight times the smallest normal number, where a device that flushes denormals
// (out, want, their difference) is off by three at most.
//
// Infinities and NaNs are told by their bits and never reach the arithmetic, so that the
// answer does not depend on how a compiler treats them.
int certain(scalar out, scalar want, tolerance absolute, tolerance relative) {
    const scalar a = out & MAGNITUDE, b = want & MAGNITUDE;
    const int same = (out == want) | ((a | b) == 0); // zeros of either sign are the same
    const int finite = (a < INFINITE) & (b < INFINITE);
    return (same & (a <= INFINITE)) |
           (finite && fabs(value(out) - value(want)) + SLACK < absolute + relative * value(b));
}

#else

typedef INTEGER scalar;
typedef ulong tolerance;

// The relative part of the tolerance is left to the host: it does not take part here, which
// makes the bound smaller. The difference is exact, also where INTEGER would overflow.
int certain(scalar out, scalar want, tolerance absolute, tolerance relative) {
    const UNSIGNED most = min(absolute, (ulong)(UNSIGNED)~(UNSIGNED)0);
    const UNSIGNED difference = out > want ? (UNSIGNED)out - (UNSIGNED)want : (UNSIGNED)want - (UNSIGNED)out;
    return difference <= most;
}

#endif

// doubts counts the work-items that found a scalar in doubt: unlike a count of scalars it
// cannot wrap around to 0.
__kernel void ndtune_verify(__global const scalar *out, __global const scalar *want, const ulong n,
                            const tolerance absolute, const tolerance relative, __global uint *doubts) {
    const ulong item = get_global_id(0), items = get_global_size(0);
#ifdef CONTIGUOUS
    const ulong each = n / items + 1, first = min(n, item * each), end = min(n, first + each), step = 1;
#else
    const ulong first = item, end = n, step = items;
#endif
    int doubt = 0;
    for (ulong i = first; i < end; i += step) {
        int fine = certain(out[i], want[i], absolute, relative);
#ifdef VECTOR3
        fine |= (i & 3) == 3;
#endif
        doubt |= !fine;
    }
    if (doubt) atomic_inc(doubts);
}
