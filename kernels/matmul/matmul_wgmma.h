// Instructions of PTX for the tensor cores of Hopper (NVIDIA, compute capability 9.0, target sm_90a): PTX ISA, «Asynchronous
// Warpgroup Level Matrix Instructions». The 128 work-items of a warpgroup, of which the first is a multiple of 128,
// multiply together, while other instructions go on. What is not in registers they read from local memory, by a
// descriptor.
//
//   address                             the type of an address in local memory
//   local_address(p)                    the address of a pointer to local memory, for all macros here
//   tile_descriptor(at, lead, stride)   of a tile whose rows have 128 bytes, swizzled: chunk c of 16 bytes of row r stands
//                                       at c ^ r % 8. Eight rows after eight rows lie stride bytes apart, columns of
//                                       128 bytes lead bytes.
//   wgmma_tf32(N, d, a, b, add)         d (64 x N floats) = (add ? d : 0) + a b: a (64 x 8) in registers, b (8 x N) by a
//                                       descriptor, k fastest
//   wgmma_half(N, d, a, b, add)         a (64 x 16) and b (16 x N) by descriptors, of a k fastest, of b n
//   wgmma_fence()                       before the first of a series that uses registers anew
//   wgmma_commit(), wgmma_wait(count)   ends a series; waits until at most count series are not done
//
// d has N / 2 numbers in each work-item: d[4 j + 2 h + i] is in row 16 * warp + lane / 4 + 8 h of the 64, column
// 8 j + 2 * (lane % 4) + i. A fragment of tf32: a[i] is in row 16 * warp + lane / 4 + 8 * (i % 2), column lane % 4 + 4 * (i / 2).

// Tests replace the instructions by stand-ins in OpenCL C. For these, instructions_state() stands at the beginning of a kernel and
// all_done() at its ends, and functions that copy have instructions_parameter and instructions_argument.

#ifndef wgmma_fence
#define instructions_state()
#define all_done()
#define instructions_parameter
#define instructions_argument
typedef uint address;
#define local_address(p) ((address)(size_t)(p))
#define tile_descriptor(at, lead, stride) \
    ((ulong)(((at) & 0x3ffff) >> 4) | (ulong)((lead) >> 4) << 16 | (ulong)((stride) >> 4) << 32 | 1UL << 62)

#define wgmma_fence() __asm__ volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define wgmma_commit() __asm__ volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define wgmma_wait(count) __asm__ volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(count) : "memory")

// The operands of the sums, and the numbers of the operands after them.
#define numbers_0 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define numbers_1 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define numbers_2 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define numbers_3 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define numbers_4 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define numbers_5 ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define numbers_6 ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define numbers_7 ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define numbers_of_32 numbers_0
#define numbers_of_64 numbers_0 numbers_1
#define numbers_of_96 numbers_0 numbers_1 numbers_2
#define numbers_of_128 numbers_0 numbers_1 numbers_2 numbers_3
#define numbers_of_192 numbers_0 numbers_1 numbers_2 numbers_3 numbers_4 numbers_5
#define numbers_of_256 numbers_0 numbers_1 numbers_2 numbers_3 numbers_4 numbers_5 numbers_6 numbers_7
#define four(d, i) "+f"((d)[i]), "+f"((d)[(i) + 1]), "+f"((d)[(i) + 2]), "+f"((d)[(i) + 3])
#define sixteen(d, i) four(d, i), four(d, (i) + 4), four(d, (i) + 8), four(d, (i) + 12)
#define sums_of_32(d) sixteen(d, 0)
#define sums_of_64(d) sixteen(d, 0), sixteen(d, 16)
#define sums_of_96(d) sixteen(d, 0), sixteen(d, 16), sixteen(d, 32)
#define sums_of_128(d) sixteen(d, 0), sixteen(d, 16), sixteen(d, 32), sixteen(d, 48)
#define sums_of_192(d) sixteen(d, 0), sixteen(d, 16), sixteen(d, 32), sixteen(d, 48), sixteen(d, 64), sixteen(d, 80)
#define sums_of_256(d) sixteen(d, 0), sixteen(d, 16), sixteen(d, 32), sixteen(d, 48), sixteen(d, 64), sixteen(d, 80), sixteen(d, 96), sixteen(d, 112)
#define after_32_0 "%16"
#define after_32_1 "%17"
#define after_32_2 "%18"
#define after_32_3 "%19"
#define after_32_4 "%20"
#define after_32_5 "%21"
#define after_64_0 "%32"
#define after_64_1 "%33"
#define after_64_2 "%34"
#define after_64_3 "%35"
#define after_64_4 "%36"
#define after_64_5 "%37"
#define after_96_0 "%48"
#define after_96_1 "%49"
#define after_96_2 "%50"
#define after_96_3 "%51"
#define after_96_4 "%52"
#define after_96_5 "%53"
#define after_128_0 "%64"
#define after_128_1 "%65"
#define after_128_2 "%66"
#define after_128_3 "%67"
#define after_128_4 "%68"
#define after_128_5 "%69"
#define after_192_0 "%96"
#define after_192_1 "%97"
#define after_192_2 "%98"
#define after_192_3 "%99"
#define after_192_4 "%100"
#define after_192_5 "%101"
#define after_256_0 "%128"
#define after_256_1 "%129"
#define after_256_2 "%130"
#define after_256_3 "%131"
#define after_256_4 "%132"
#define after_256_5 "%133"

#define wgmma_tf32(N, d, a, b, add) wgmma_tf32_(N, d, a, b, add)
#define wgmma_tf32_(N, d, a, b, add) \
    __asm__ volatile("{ .reg .pred p; setp.ne.b32 p, " after_##N##_5 ", 0; wgmma.mma_async.sync.aligned.m64n" #N \
        "k8.f32.tf32.tf32 {" numbers_of_##N "}, {" after_##N##_0 ", " after_##N##_1 ", " after_##N##_2 ", " after_##N##_3 \
        "}, " after_##N##_4 ", p, 1, 1; }" \
        : sums_of_##N(d) : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "l"(b), "r"((int)(add)) : "memory")
#define wgmma_half(N, d, a, b, add) wgmma_half_(N, d, a, b, add)
#define wgmma_half_(N, d, a, b, add) \
    __asm__ volatile("{ .reg .pred p; setp.ne.b32 p, " after_##N##_2 ", 0; wgmma.mma_async.sync.aligned.m64n" #N \
        "k16.f32.f16.f16 {" numbers_of_##N "}, " after_##N##_0 ", " after_##N##_1 ", p, 1, 1, 0, 1; }" \
        : sums_of_##N(d) : "l"(a), "l"(b), "r"((int)(add)) : "memory")
#endif
