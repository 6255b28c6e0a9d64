// Sums that several work-groups share: PTX of NVIDIA, from compute capability 7.0 on. Each group leaves its share in global memory, and
// the one that comes last adds the shares in their order. So it does not matter to the result which one that is.
//
//   declare_shares(bytes, counters)   at the top of a file: global memory for all shares, and 4 bytes for each counter, which are
//                                     numbers, no expressions
//   write_share(i, a, b, c, d)        writes the i-th four floats
//   read_share(i)                     these four as a float4
//   comes_last(i, count)              of the count calls for counter i of a launch, the last one returns 1, the others 0. Barriers stand
//                                     between write_share and comes_last, and between comes_last and read_share.

#ifndef write_share
#define text_(s) #s
#define text(s) text_(s)
#define declare_shares(bytes, counters) \
    __asm__(".global .align 16 .b8 shares[" text(bytes) "];\n.global .align 4 .b8 counters_of_shares[" text(counters) "];");

#define write_share(i, a, b, c, d) \
    __asm__ volatile("{ .reg .u64 p; mov.u64 p, shares; add.u64 p, p, %0; st.global.cg.v4.f32 [p], {%1, %2, %3, %4}; }" \
                     :: "l"((ulong)(i) * 16), "f"(a), "f"(b), "f"(c), "f"(d) : "memory")

float4 read_share(int i)
{
    float a, b, c, d;
    __asm__ volatile("{ .reg .u64 p; mov.u64 p, shares; add.u64 p, p, %4; ld.global.cg.v4.f32 {%0, %1, %2, %3}, [p]; }"
                     : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"((ulong)i * 16) : "memory");
    return (float4)(a, b, c, d);
}

// The counter returns to 0 with the last one.
int comes_last(int i, int count)
{
    uint before;
    __asm__ volatile("{ .reg .u64 p; mov.u64 p, counters_of_shares; add.u64 p, p, %1; atom.acq_rel.gpu.global.inc.u32 %0, [p], %2; }"
                     : "=r"(before) : "l"((ulong)i * 4), "r"(count - 1) : "memory");
    return before == count - 1;
}
#endif
