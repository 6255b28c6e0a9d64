// Matrix multiplication C = A B of matrices of any shape, as fast as the device allows.
// A is m x k, B is k x n, C is m x n, all row-major. C must not overlap A or B.
//
// The kernel has several shapes, of which `staging` chooses one by where the elements of
// A and B wait until they are used. All share the same tiles: a work-group computes a tile
// of tile_m x tile_n elements of C, in steps of tile_k terms of the sums, and a work-item
// sums patches of item_m x item_n elements in registers.
//
// Constants
//   m, n, k       rows of A and C; columns of B and C; columns of A, rows of B: whole
//                 numbers from 1 to 2^30, of which each product of two is below 2^31
//                 (elements are numbered with int)
//   element       half, float or double. Halves are summed as floats and rounded once, at
//                 the end.
//
// Parameters
//   staging       registers     no local memory: one work-item a work-group, with
//                               wide vectors and a panel of B in the caches. For CPUs.
//                 local_memory  tiles of A and B in local memory, brought there
//                               through registers. For GPUs of every vendor.
//                 async_copy    the same with cp.async of PTX, which writes local memory
//                               past the registers. NVIDIA from compute capability 8.0;
//                               float or double.
//                 sub_group     no local memory: elements of A are broadcast in a
//                               sub-group. Needs cl_intel_required_subgroup_size.
//   tile_m        rows and columns of a work-group's tile. An element of A is read
//   tile_n        from global memory n / tile_n times, one of B m / tile_m times; but
//                 large tiles make few work-groups, and fewer fit a compute unit.
//   tile_k        terms of a step. Larger: fewer barriers, more local memory. With
//                 registers it is the depth of the panel, tile_k * tile_n numbers; with
//                 sub_group the width of the sub-group.
//   item_m        rows and columns of a work-item's patch. item_m + item_n numbers that
//   item_n        are read serve item_m * item_n multiplications and additions; the
//                 sums must fit the registers (128 floats on NVIDIA).
//   width         elements that are read at once from global memory (1, 2, 4); with
//                 registers the width of the device's vectors (4, 8, 16). Where a
//                 matrix's rows are not made of whole vectors, single elements are read.
//   stages        tiles in local memory: with 2 the next ones are stored while these are
//                 used, and a step has one barrier instead of two; async_copy has up to
//                 4 on their way. 1 where there is no local memory.
//   pad           numbers added to the rows of local memory, so that what a
//                 transposed row of A is stored to lies in different banks.
//   patch_x       how 32 consecutive work-items, which execute together on many
//                 devices, cover the work-group: patch_x in x, 32 / patch_x in y. What
//                 several of them read from local memory is read once.
//   lookahead     1, 2: the numbers of the next term are read from local memory before
//                 those of this one are used, across steps, too; 2 keeps the compiler
//                 from putting the reads off.
//   swizzle       work-groups take tiles in columns of that many rows, so that those that
//                 run at the same time share rows of A and columns of B in the cache; 1
//                 goes row by row.
//   pack          with registers: 1 copies a strip of A, too, so that its rows,
//                 which are far apart, do not compete for the same lines of the cache.
//
// What they must satisfy stands in the files that are included below, as #error, and in
// matmul_fast.yaml. The grid covers C: at least ceil(n / tile_n) by ceil(m / tile_m)
// work-groups.

#if m < 1 || n < 1 || k < 1 || m > 1 << 30 || n > 1 << 30 || k > 1 << 30
#error "matmul_kernel: m, n and k must be 1 to 2^30 each"
#elif m > 2147483647 / n || m > 2147483647 / k || k > 2147483647 / n
#error "matmul_kernel: m * n, m * k and k * n must be below 2^31"
#endif

#include "matmul_element.h"
#include "matmul_tiles.h"

// The words of staging, for the preprocessor.
#define registers 1
#define local_memory 2
#define async_copy 3
#define sub_group 4

#if staging == registers
#include "matmul_fast_registers.h"
#elif staging == local_memory || staging == async_copy
#include "matmul_fast_local.h"
#elif staging == sub_group
#include "matmul_fast_sub_group.h"
#else
#error "matmul_kernel: staging must be registers, local_memory, async_copy or sub_group"
#endif
