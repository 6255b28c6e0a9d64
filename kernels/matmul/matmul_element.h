// The elements of matrices in memory, and the numbers that are computed with. Included
// by the kernels that take several precisions.
//
//   element             the type in memory, a constant: half, float or double. Halves are
//                       computed with as floats and rounded once, when they are
//                       stored; vload_half and vstore_half convert them, which
//                       needs no extension. Doubles need cl_khr_fp64.
//   bits                of an element
//   real                the type of the arithmetic
//   vector(w)           w numbers of real; vector(1) is real
//   load(w, p)          vector(w) from the elements at p, in whatever alignment
//   load_aligned(w, p)  the same, where p is aligned to w elements
//   store(w, v, p)      the other way
//   store_aligned(w, v, p)

// Arguments that are macros themselves are replaced by what they stand for first.
#define paste(a, b) paste_(a, b)
#define paste_(a, b) a##b

#define bits_of_half 16
#define bits_of_float 32
#define bits_of_double 64
#define bits paste(bits_of_, element)
#if bits != 16 && bits != 32 && bits != 64
#error "matmul_kernel: element must be half, float or double"
#endif

#if bits == 64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real, vector1;
typedef double2 vector2;
typedef double4 vector4;
typedef double8 vector8;
typedef double16 vector16;
#else
typedef float real, vector1;
typedef float2 vector2;
typedef float4 vector4;
typedef float8 vector8;
typedef float16 vector16;
#endif

#define vector(w) paste(vector, w)

#define load(w, p) paste(load, w)(p)
#define store(w, v, p) paste(store, w)(v, p)
#define load_aligned(w, p) paste(load_aligned, w)(p)
#define store_aligned(w, v, p) paste(store_aligned, w)(v, p)

#if bits == 16
#define load1(p) vload_half(0, p)
#define load2(p) vload_half2(0, p)
#define load4(p) vload_half4(0, p)
#define load8(p) vload_half8(0, p)
#define load16(p) vload_half16(0, p)
#define store1(v, p) vstore_half_rte(v, 0, p)
#define store2(v, p) vstore_half2_rte(v, 0, p)
#define store4(v, p) vstore_half4_rte(v, 0, p)
#define store8(v, p) vstore_half8_rte(v, 0, p)
#define store16(v, p) vstore_half16_rte(v, 0, p)
#define load_aligned1 load1
#define load_aligned2(p) vloada_half2(0, p)
#define load_aligned4(p) vloada_half4(0, p)
#define load_aligned8(p) vloada_half8(0, p)
#define load_aligned16(p) vloada_half16(0, p)
#define store_aligned1 store1
#define store_aligned2(v, p) vstorea_half2_rte(v, 0, p)
#define store_aligned4(v, p) vstorea_half4_rte(v, 0, p)
#define store_aligned8(v, p) vstorea_half8_rte(v, 0, p)
#define store_aligned16(v, p) vstorea_half16_rte(v, 0, p)
#else
#define load1(p) (*(p))
#define load2(p) vload2(0, p)
#define load4(p) vload4(0, p)
#define load8(p) vload8(0, p)
#define load16(p) vload16(0, p)
#define store1(v, p) (*(p) = (v))
#define store2(v, p) vstore2(v, 0, p)
#define store4(v, p) vstore4(v, 0, p)
#define store8(v, p) vstore8(v, 0, p)
#define store16(v, p) vstore16(v, 0, p)
// A compiler makes one access of these; of vload4, NVIDIA's makes four, because all
// that it knows is that the elements are aligned.
#define load_aligned1 load1
#define load_aligned2(p) (*(__global const vector2 *)(p))
#define load_aligned4(p) (*(__global const vector4 *)(p))
#define load_aligned8(p) (*(__global const vector8 *)(p))
#define load_aligned16(p) (*(__global const vector16 *)(p))
#define store_aligned1 store1
#define store_aligned2(v, p) (*(__global vector2 *)(p) = (v))
#define store_aligned4(v, p) (*(__global vector4 *)(p) = (v))
#define store_aligned8(v, p) (*(__global vector8 *)(p) = (v))
#define store_aligned16(v, p) (*(__global vector16 *)(p) = (v))
#endif
