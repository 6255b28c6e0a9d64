// Multiplication of doubles by 32 work-items together on NVIDIA's tensor cores, as instructions
// of PTX: d (16 x 8) += a b. All 32 must come here.
//
//   multiply_m8n8k4(d, a, b)      a (16 x 4) b (4 x 8), by two instructions of 8 rows
//   multiply_m16n8k4(d, a, b)     a (16 x 4) b (4 x 8): from compute capability 9.0 on, as
//   multiply_m16n8k8(d, a, b)     a (16 x 8) b (8 x 8) and
//   multiply_m16n8k16(d, a, b)    a (16 x 16) b (16 x 8)
//
// Work-item i has, of d, columns 2 (i % 4) and 2 (i % 4) + 1 in rows i / 4 (d[0], d[1]) and
// i / 4 + 8 (d[2], d[3]); of a, term i % 4 in these rows (a[0], a[1]), and every fourth further
// term (a[2], a[3] and so on); of b, the same terms in column i / 4 (b[0] and so on).
//
// share_registers() stands at the beginning of a kernel, for what replaces these in tests.

#ifndef share_registers
#define share_registers()

#define multiply_m8n8k4(d, a, b) \
    do { \
        multiply_8_rows((d), (a)[0], (b)[0]); \
        multiply_8_rows((d) + 2, (a)[1], (b)[0]); \
    } while (0)
#define multiply_8_rows(d, a, b) \
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" \
                 : "+d"((d)[0]), "+d"((d)[1]) : "d"(a), "d"(b))
#define multiply_m16n8k4(d, a, b) \
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" \
                 : "+d"((d)[0]), "+d"((d)[1]), "+d"((d)[2]), "+d"((d)[3]) : "d"((a)[0]), "d"((a)[1]), "d"((b)[0]))
#define multiply_m16n8k8(d, a, b) \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                 : "+d"((d)[0]), "+d"((d)[1]), "+d"((d)[2]), "+d"((d)[3]) \
                 : "d"((a)[0]), "d"((a)[1]), "d"((a)[2]), "d"((a)[3]), "d"((b)[0]), "d"((b)[1]))
#define multiply_m16n8k16(d, a, b) \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, " \
                 "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};" \
                 : "+d"((d)[0]), "+d"((d)[1]), "+d"((d)[2]), "+d"((d)[3]) \
                 : "d"((a)[0]), "d"((a)[1]), "d"((a)[2]), "d"((a)[3]), "d"((a)[4]), "d"((a)[5]), "d"((a)[6]), "d"((a)[7]), \
                   "d"((b)[0]), "d"((b)[1]), "d"((b)[2]), "d"((b)[3]))
#endif
