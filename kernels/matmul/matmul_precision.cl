// Matrix multiplication C = A B of floats in several precisions, of which the parameter `precision`
// chooses one:
//
//   fp32      floats, as matmul_fast.cl multiplies them with async_copy
//   tf32      numbers rounded to 11 significant bits, on tensor cores
//   tf32x2    the same, with the rest of A in a second product
//   tf32x3    with the rests of A and B in two further products
//   fp16      numbers rounded to half, on tensor cores
//
// matmul_fast.cl explains the parameters of fp32, matmul_tensor.cl those of all others. NVIDIA, from
// compute capability 8.0 on.

#define fp32 32
#define tf32x1 1
#define tf32x2 2
#define tf32x3 3
#define fp16 16

#if precision == fp32
#define staging async_copy
#define width 4
#define pack 0
#include "matmul_fast.cl"
#else
#if precision == fp16
#define as_halves
#else
#define products precision
#endif
#include "matmul_tensor.cl"
#endif
