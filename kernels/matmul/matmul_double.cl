// Matrix multiplication C = A B of doubles on the tensor cores of NVIDIA, from compute
// capability 8.0 on. A is m x k, B is k x n, C is m x n, all row-major, of any shape. C must
// not overlap A or B. Products and sums are those of doubles, each rounded to the nearest.
//
// A work-group computes tile_m x tile_n elements of C in steps of tile_k terms. The tiles
// of A and B for the next steps are on their way to local memory (cp.async) while one is
// computed with. Each 32 work-items, a warp, sum warp_m x warp_n elements with mma.sync. The
// numbers for the next instructions are read from local memory before these are multiplied,
// also across the barrier between two steps: the tensor cores do not wait for local memory.
//
// Constants
//   m, n, k       rows of A and C; columns of B and C; columns of A, rows of B: whole
//                 numbers from 1 to 2^30, of which each product of two is below 2^31
//   element       double
//   shares_bytes, counters_bytes  of global memory if split_k is above 1, numbers: 8 for each
//                 element of all tiles split_k times; 4 for each tile
//
// Parameters
//   tile_m        rows and columns of a work-group's tile: larger ones read A and B less
//   tile_n        often, smaller ones keep more of the device busy.
//   tile_k        terms of a step, a multiple of twice those of an instruction. Larger: fewer
//                 barriers, more local memory.
//   warp_m        rows and columns of a warp's patch, multiples of 16: per step it reads
//   warp_n        (warp_m + warp_n) * tile_k numbers from local memory, and keeps
//                 warp_m * warp_n / 32 sums in registers of each work-item.
//   instruction   m8n8k4; from compute capability 9.0 on also m16n8k4, m16n8k8 or m16n8k16,
//                 of 4, 8 or 16 terms: more keep more numbers in registers.
//   stages        tiles in local memory, 2 or more.
//   swizzle       as in matmul_fast.cl.
//   split_k       work-groups that share the sums of a tile, if there are few tiles: each has a
//                 part of the terms. See matmul_split.h. The launches of a built program then
//                 use the same memory, so there must be only one at a time.
//
// Local memory holds stages * (tile_m * (tile_k + 4) + tile_k * (tile_n + 4)) doubles and must fit
// the device. The grid covers C: at least ceil(n / tile_n) by ceil(m / tile_m) by split_k work-groups.

#if m < 1 || n < 1 || k < 1 || m > 1 << 30 || n > 1 << 30 || k > 1 << 30
#error "matmul_kernel: m, n and k must be 1 to 2^30 each"
#elif m > 2147483647 / n || m > 2147483647 / k || k > 2147483647 / n
#error "matmul_kernel: m * n, m * k and k * n must be below 2^31"
#endif

#include "matmul_element.h"
#include "matmul_tiles.h"
#include "matmul_async.h"
#include "matmul_dmma.h"

#define warps_m (tile_m / warp_m)
#define warps_n (tile_n / warp_n)
#define items (32 * warps_m * warps_n)
#define blocks_m (warp_m / 16)
#define blocks_n (warp_n / 8)
#include "matmul_patch.h"

// Terms of an instruction, and a work-item's of them.
#define terms_of_m8n8k4 4
#define terms_of_m16n8k4 4
#define terms_of_m16n8k8 8
#define terms_of_m16n8k16 16
#define depth paste(terms_of_, instruction)
#define slots (depth / 4)
#define parts (tile_k / depth)
// Rows that are copied at once.
#define rows_a (2 * items / tile_k)
#define rows_b (2 * items / tile_n)
#define steps ((k + tile_k - 1) / tile_k)
#define share ((steps + split_k - 1) / split_k) // steps of a work-group

#if bits != 64
#error "matmul_kernel: element must be double"
#elif depth != 4 && depth != 8 && depth != 16
#error "matmul_kernel: instruction must be m8n8k4, m16n8k4, m16n8k8 or m16n8k16"
#elif tile_m % warp_m != 0 || tile_n % warp_n != 0 || warp_m % 16 != 0 || warp_n % 16 != 0
#error "matmul_kernel: tiles must be multiples of a warp's patch, and that of 16"
#elif tile_k % (2 * depth) != 0 || stages < 2
#error "matmul_kernel: tile_k must be a multiple of twice the terms of an instruction, and stages at least 2"
#elif 2 * items % tile_k != 0 || 2 * items % tile_n != 0 || tile_m % rows_a != 0 || tile_k % rows_b != 0
#error "matmul_kernel: the work-items must bring whole rows of A and of B, of 16 bytes each"
#endif

// Sixteen work-items read local memory at the same time, four neighbours in each of four rows.
// Rows are longer by as much as lets all lie in different banks.
#define pitch_a (tile_k + 4)
#define pitch_b (tile_n + 4)

// Numbers that are copied at once: 16 bytes where all rows begin at a multiple of that.
#define width_a (2 - k % 2)
#define width_b (2 - n % 2)

// bring sends this work-item's part of the tiles of a step on its way. Rows and columns beyond
// the last are read from the last: what is computed with them is not stored. Terms beyond the
// last are zero, and so are the steps beyond the last of this work-group.
void bring(__local double *a, __local double *b, __global const double *A, __global const double *B, int top, int left, int step)
{
    const int id = get_local_id(0);
    const int end = min(((int)get_group_id(2) + 1) * share, steps);
    const int first = min(step, end - 1) * tile_k;
    const int row_a = id / (tile_k / 2), column_a = id % (tile_k / 2) * 2;
    #pragma unroll
    for (int row = row_a; row < row_a + tile_m; row += rows_a) {
        const int from = m % tile_m == 0 ? top + row : min(top + row, m - 1);
        #pragma unroll
        for (int j = 0; j < 2; j += width_a) {
            const int term = first + column_a + j;
            const bool there = k % tile_k == 0 || term < k;
            copy_async(8 * width_a, a + row * pitch_a + column_a + j, A + (there ? from * k + term : 0),
                       there && step < end ? 8 * width_a : 0);
        }
    }
    const int row_b = id / (tile_n / 2), column_b = id % (tile_n / 2) * 2;
    #pragma unroll
    for (int row = row_b; row < row_b + tile_k; row += rows_b) {
        const int term = first + row;
        const bool there = k % tile_k == 0 || term < k;
        #pragma unroll
        for (int j = 0; j < 2; j += width_b) {
            const int column = n % tile_n == 0 ? left + column_b + j : min(left + column_b + j, n - width_b);
            copy_async(8 * width_b, b + row * pitch_b + column_b + j, B + (there ? term * n + column : 0),
                       there && step < end ? 8 * width_b : 0);
        }
    }
    close_group();
}

// read reads the numbers of an instruction's terms from local memory.
void read(double beside[blocks_m][2 * slots], double above[blocks_n][slots], __local const double *a, __local const double *b)
{
    #pragma unroll
    for (int i = 0; i < slots; i++) {
        #pragma unroll
        for (int y = 0; y < 2 * blocks_m; y++) {
            beside[y / 2][2 * i + y % 2] = a[y * 8 * pitch_a + i * 4];
        }
        #pragma unroll
        for (int x = 0; x < blocks_n; x++) {
            above[x][i] = b[i * 4 * pitch_b + x * 8];
        }
    }
}

#if split_k > 1
#include "matmul_split.h"
declare_shares(shares_bytes, counters_bytes)
// A work-item's sums in a row, and where the two from the i-th on stand in the j-th share of a tile.
#define sums (blocks_m * blocks_n * 4)
#define sum_at(i) sum[(i) / (blocks_n * 4)][(i) / 4 % blocks_n][(i) % 4]
#define share_index(tile, j, i) (((tile) * split_k + (j)) * (tile_m * tile_n / 2) + (i) / 2 * items + (int)get_local_id(0))
#endif

__kernel __attribute__((reqd_work_group_size(items, 1, 1)))
void matmul_kernel(__global double *restrict C, __global const double *restrict A, __global const double *restrict B)
{
    // Aligned, for copies of 16 bytes.
    __local double a[stages][tile_m * pitch_a] __attribute__((aligned(16)));
    __local double b[stages][tile_k * pitch_b] __attribute__((aligned(16)));
#if split_k > 1
    __local int last;
#endif
    share_registers();

    const int2 tile = tile_of_group();
    if (tile.x < 0 || (int)get_group_id(2) >= split_k) {
        return;
    }
    const int left = tile.x * tile_n;
    const int top = tile.y * tile_m;
    const int lane = get_local_id(0) % 32;
    const int warp = get_local_id(0) / 32;
    const int warp_top = warp / warps_n * warp_m;
    const int warp_left = warp % warps_n * warp_n;
    // This work-item's numbers of the first instruction.
    const int from_a = (warp_top + lane / 4) * pitch_a + lane % 4;
    const int from_b = lane % 4 * pitch_b + warp_left + lane / 4;

    double sum[blocks_m][blocks_n][4];
    clear_patch(sum);

    const int begin = get_group_id(2) * share;
    #pragma unroll
    for (int step = 0; step < stages; step++) {
        bring(a[step], b[step], A, B, top, left, begin + step);
    }
    wait_for(stages - 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    double beside[2][blocks_m][2 * slots], above[2][blocks_n][slots];
    read(beside[0], above[0], a[0] + from_a, b[0] + from_b);
    for (int step = 0; step < share; step++) {
        const int now = step % stages;
        const int then = (step + 1) % stages;
        #pragma unroll
        for (int part = 0; part < parts; part++) {
            const int next = part + 1;
            if (next < parts) {
                read(beside[next % 2], above[next % 2], a[now] + from_a + next * depth, b[now] + from_b + next * depth * pitch_b);
            } else {
                // Nobody reads the tiles of this step any more, and all see those of the next one.
                wait_for(stages - 2);
                barrier(CLK_LOCAL_MEM_FENCE);
                read(beside[0], above[0], a[then] + from_a, b[then] + from_b);
                bring(a[now], b[now], A, B, top, left, begin + step + stages);
            }
            #pragma unroll
            for (int y = 0; y < blocks_m; y++) {
                #pragma unroll
                for (int x = 0; x < blocks_n; x++) {
                    paste(multiply_, instruction)(sum[y][x], beside[part % 2][y], above[part % 2][x]);
                }
            }
        }
    }
    wait_for(0);

#if split_k > 1
    // The work-group that comes last of those which share a tile adds the sums of all.
    const int number = tile.y * ((n + tile_n - 1) / tile_n) + tile.x;
    #pragma unroll
    for (int i = 0; i < sums; i += 2) {
        const float4 two = as_float4((double2)(sum_at(i), sum_at(i + 1)));
        write_share(share_index(number, (int)get_group_id(2), i), two.x, two.y, two.z, two.w);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        last = comes_last(number, split_k);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!last) {
        return;
    }
    clear_patch(sum);
    #pragma unroll 1
    for (int j = 0; j < split_k; j++) {
        #pragma unroll
        for (int i = 0; i < sums; i += 2) {
            const double2 two = as_double2(read_share(share_index(number, j, i)));
            sum_at(i) += two.x;
            sum_at(i + 1) += two.y;
        }
    }
#endif

    keep_patch(C, sum, top + warp_top, left + warp_left);
}
