// What 32 work-items do together on NVIDIA, as instructions of PTX (its ISA describes
// them in «Matrix multiply-accumulate operation using mma instruction» and «Warp-level
// matrix load»). All 32 must come here.
//
//   read_matrices(r, base, at)    four matrices of 8 rows of 16 bytes: work-item i names, by
//                                 an index to base, row i % 8 of matrix i / 8; r[q] gets
//                                 bytes 4 (i % 4) to 4 (i % 4) + 3 of row i / 4 of matrix q
//   read_transposed(r, base, at)  the same of matrices of 8 x 8 halves, transposed: r[q] gets
//                                 column i / 4 of rows 2 (i % 4) and 2 (i % 4) + 1
//   tf32(v)                       v rounded to 11 significant bits, as the bits of a float
//   two_halves(a, b)              a and b rounded to half, a in the lower bits
//   multiply_tf32(d, a, b)        d (16 x 8 floats) += a (16 x 8) b (8 x 8)
//   multiply_half(d, a, b)        d (16 x 8 floats) += a (16 x 16) b (16 x 8)
//
// share_registers() stands at the beginning of a kernel, for what replaces these in tests.

#ifndef read_matrices
#define share_registers()

#define read_matrices(r, base, at) read_matrices_as("", r, (base) + (at))
#define read_transposed(r, base, at) read_matrices_as(".trans", r, (base) + (at))
#define read_matrices_as(how, r, from) \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" how ".shared.b16 {%0, %1, %2, %3}, [%4];" \
                 : "=r"((r)[0]), "=r"((r)[1]), "=r"((r)[2]), "=r"((r)[3]) : "r"((uint)(size_t)(from)) : "memory")

uint tf32(float v)
{
    uint r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(v));
    return r;
}

uint two_halves(float a, float b)
{
    uint r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a));
    return r;
}

#define multiply_tf32(d, a, b) multiply_as("m16n8k8.row.col.f32.tf32.tf32.f32", d, a, b)
#define multiply_half(d, a, b) multiply_as("m16n8k16.row.col.f32.f16.f16.f32", d, a, b)
#define multiply_as(what, d, a, b) \
    asm volatile("mma.sync.aligned." what " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                 : "+f"((d)[0]), "+f"((d)[1]), "+f"((d)[2]), "+f"((d)[3]) \
                 : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))
#endif
