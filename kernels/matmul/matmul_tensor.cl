// Matrix multiplication C = A B on the tensor cores of NVIDIA, from compute capability 8.0
// on. A is m x k, B is k x n, C is m x n, all row-major, of any shape. C must not overlap
// A or B.
//
// The precision is that of tensor cores, not of float:
//   element=float  tf32. Each number of A and B is rounded to 11 significant bits (it
//                  keeps the range of float), products are exact and summed as floats. An
//                  element of C is off by up to 2^-10 of the sum of its terms' magnitudes,
//                  a thousand times as much as with floats.
//   element=half   Products of halves are exact and summed as floats, C is rounded to half
//                  once.
// Of element=float, two macros choose another precision:
//   products=3     Each number is the sum of two in tf32, and of the four products of these
//                  the three largest are summed: nearly as accurate as floats. With 2, the
//                  rest of A counts, and that of B does not.
//   as_halves      Numbers are rounded to half in place of tf32: as many bits, the range of
//                  half, and twice the terms in an instruction.
//
// A work-group computes tile_m x tile_n elements of C in steps of tile_k terms. The tiles
// of A and B for the next steps are on their way to local memory (cp.async) while one is
// computed with. Each 32 work-items, a warp, sum warp_m x warp_n elements with
// mma.sync.m16n8k8 (tf32) or m16n8k16 (half); which register of which work-item
// holds which element is defined in the PTX ISA, sections 9.7.14 and following.
//
// Constants
//   m, n, k       rows of A and C; columns of B and C; columns of A, rows of B: whole
//                 numbers from 1 to 2^30, of which each product of two is below 2^31
//   element       float or half, see above
//
// Parameters
//   tile_m        rows and columns of a work-group's tile: larger ones read A and B less
//   tile_n        often, smaller ones keep more of the device busy.
//   tile_k        terms of a step, a multiple of 8 (tf32) or 16 (half). Larger: fewer
//                 barriers, more local memory.
//   warp_m        rows and columns of a warp's patch, multiples of 16: per step
//   warp_n        it reads (warp_m + warp_n) * tile_k numbers from local memory, and
//                 keeps warp_m * warp_n / 32 sums in registers of each work-item.
//   stages        tiles in local memory, 2 or more, of which all but one are on their
//                 way.
//   swizzle       as in matmul_fast.cl.
//
// Local memory holds stages * (tile_m * (tile_k + pad) + tile_k * (tile_n + pad)) elements
// and must fit the device. The grid covers C: at least ceil(n / tile_n) by
// ceil(m / tile_m) work-groups.

#if m < 1 || n < 1 || k < 1 || m > 1 << 30 || n > 1 << 30 || k > 1 << 30
#error "matmul_kernel: m, n and k must be 1 to 2^30 each"
#elif m > 2147483647 / n || m > 2147483647 / k || k > 2147483647 / n
#error "matmul_kernel: m * n, m * k and k * n must be below 2^31"
#endif

#include "matmul_element.h"
#include "matmul_tiles.h"
#include "matmul_async.h"
#include "matmul_mma.h"

// Elements of 16 bytes, which are copied at once; terms of an instruction.
#if bits == 16
#define chunk 8
#define depth 16
typedef ushort stored;
#elif bits == 32
#define chunk 4
#ifdef as_halves
#define depth 16
#else
#define depth 8
#endif
typedef uint stored;
#else
#error "matmul_kernel: tensor cores take float (as tf32) and half"
#endif

#ifndef products
#define products 1
#endif

#define warps_m (tile_m / warp_m)
#define warps_n (tile_n / warp_n)
#define items (32 * warps_m * warps_n)
#define blocks_m (warp_m / 16)
#define blocks_n (warp_n / 8)
#include "matmul_patch.h"

#if tile_m % warp_m != 0 || tile_n % warp_n != 0 || warp_m % 16 != 0 || warp_n % 16 != 0
#error "matmul_kernel: tiles must be multiples of a warp's patch, and that of 16"
#elif tile_k % depth != 0 || stages < 2
#error "matmul_kernel: tile_k must be a multiple of 8 (float) or 16 (half), and stages at least 2"
#elif tile_m * tile_k % (items * chunk) != 0 || tile_k * tile_n % (items * chunk) != 0
#error "matmul_kernel: each work-item must bring the same number of 16 bytes of A and of B"
#endif

// Rows of local memory are longer by as much as lets the eight rows that are read at once,
// and the four rows of B in tf32, lie in different banks.
#define pitch_a (tile_k + chunk)
#define pitch_b (tile_n + 8)
#define count_a (tile_m * tile_k / (items * chunk))
#define count_b (tile_k * tile_n / (items * chunk))
#define steps ((k + tile_k - 1) / tile_k)

// A work-item's 16 bytes: the v-th of a tile of A stand in row row_a, those of B in row_b.
#define row_a(v) ((v) / (tile_k / chunk))
#define column_a(v) ((v) % (tile_k / chunk) * chunk)
#define row_b(v) ((v) / (tile_n / chunk))
#define column_b(v) ((v) % (tile_n / chunk) * chunk)

// bring_a sends this work-item's part of a tile of A on its way. Rows beyond the last are
// read from the last, what is computed with them is not stored; terms beyond the last are
// zero. Where rows are no multiple of 16 bytes they are copied one element after the other.
void bring_a(__local stored *a, __global const stored *A, int top, int step)
{
    const int id = get_local_id(0);
    #pragma unroll
    for (int i = 0; i < count_a; i++) {
        const int v = id + i * items;
        const int row = min(top + row_a(v), m - 1);
        const int term = step * tile_k + column_a(v);
        __local stored *to = a + row_a(v) * pitch_a + column_a(v);
#if k % chunk == 0
        copy_async(16, to, A + (term < k ? row * k + term : 0), term < k ? 16 : 0);
#else
        for (int j = 0; j < chunk; j++) {
            to[j] = term + j < k ? A[row * k + term + j] : 0;
        }
#endif
    }
}

// bring_b does so with B.
void bring_b(__local stored *b, __global const stored *B, int left, int step)
{
    const int id = get_local_id(0);
    #pragma unroll
    for (int i = 0; i < count_b; i++) {
        const int v = id + i * items;
        const int term = step * tile_k + row_b(v);
        const int column = left + column_b(v);
        __local stored *to = b + row_b(v) * pitch_b + column_b(v);
#if n % chunk == 0
        copy_async(16, to, B + (term < k ? term * n + min(column, n - chunk) : 0), term < k ? 16 : 0);
#else
        for (int j = 0; j < chunk; j++) {
            to[j] = term < k ? B[term * n + min(column + j, n - 1)] : 0;
        }
#endif
    }
}

__kernel __attribute__((reqd_work_group_size(items, 1, 1)))
void matmul_kernel(__global element *restrict C, __global const element *restrict A, __global const element *restrict B)
{
    // Aligned, for copies of 16 bytes.
    __local stored a[stages][tile_m * pitch_a] __attribute__((aligned(16)));
    __local stored b[stages][tile_k * pitch_b] __attribute__((aligned(16)));
    share_registers();

    const int2 tile = tile_of_group();
    if (tile.x < 0) {
        return;
    }
    const int left = tile.x * tile_n;
    const int top = tile.y * tile_m;
    const int id = get_local_id(0);
    const int lane = id % 32;
    const int warp_top = id / 32 / warps_n * warp_m;
    const int warp_left = id / 32 % warps_n * warp_n;

    float sum[blocks_m][blocks_n][4];
    clear_patch(sum);

    #pragma unroll
    for (int step = 0; step < stages - 1; step++) {
        if (step < steps) {
            bring_a(a[step], (__global const stored *)A, top, step);
            bring_b(b[step], (__global const stored *)B, left, step);
        }
        close_group();
    }
    for (int step = 0; step < steps; step++) {
        const int now = step % stages;
        const int then = (step + stages - 1) % stages;
        wait_for(stages - 2);
        // All have what they need, and nobody reads any more what is replaced now.
        barrier(CLK_LOCAL_MEM_FENCE);
        if (step + stages - 1 < steps) {
            bring_a(a[then], (__global const stored *)A, top, step + stages - 1);
            bring_b(b[then], (__global const stored *)B, left, step + stages - 1);
        }
        close_group();

        #pragma unroll
        for (int term = 0; term < tile_k; term += depth) {
            uint beside[blocks_m][4], above[blocks_n][2];
#if bits == 32 && defined(as_halves)
            // A register has two numbers that lie side by side in A, one below the other in B.
            #pragma unroll
            for (int y = 0; y < blocks_m; y++) {
                #pragma unroll
                for (int i = 0; i < 4; i++) {
                    const __local stored *from = a[now] + (warp_top + y * 16 + i % 2 * 8 + lane / 4) * pitch_a + term + i / 2 * 8 + lane % 4 * 2;
                    beside[y][i] = two_halves(as_float(from[0]), as_float(from[1]));
                }
            }
            #pragma unroll
            for (int x = 0; x < blocks_n; x++) {
                #pragma unroll
                for (int i = 0; i < 2; i++) {
                    const __local stored *from = b[now] + (term + i * 8 + lane % 4 * 2) * pitch_b + warp_left + x * 8 + lane / 4;
                    above[x][i] = two_halves(as_float(from[0]), as_float(from[pitch_b]));
                }
            }
#else
            // Work-items 0 to 15 name the rows of a block, 16 to 31 the same rows 16 bytes on.
            #pragma unroll
            for (int y = 0; y < blocks_m; y++) {
                read_matrices(beside[y], a[now], (warp_top + y * 16 + lane % 16) * pitch_a + term + lane / 16 * chunk);
            }
#if bits == 32
#if products > 1
            uint rest[blocks_m][4];
#endif
#if products > 2
            uint rest_above[blocks_n][2];
#endif
            #pragma unroll
            for (int y = 0; y < blocks_m; y++) {
                #pragma unroll
                for (int i = 0; i < 4; i++) {
                    const float whole = as_float(beside[y][i]);
                    beside[y][i] = tf32(whole);
#if products > 1
                    rest[y][i] = tf32(whole - as_float(beside[y][i]));
#endif
                }
            }
            #pragma unroll
            for (int x = 0; x < blocks_n; x++) {
                #pragma unroll
                for (int i = 0; i < 2; i++) {
                    const float whole = as_float(b[now][(term + i * 4 + lane % 4) * pitch_b + warp_left + x * 8 + lane / 4]);
                    above[x][i] = tf32(whole);
#if products > 2
                    rest_above[x][i] = tf32(whole - as_float(above[x][i]));
#endif
                }
            }
#else
            // Two blocks at once: work-items 0 to 15 name the rows of the first.
            #pragma unroll
            for (int x = 0; x < blocks_n; x += 2) {
                uint two[4];
                read_transposed(two, b[now], (term + lane % 16) * pitch_b + warp_left + x * 8 + lane / 16 * 8);
                above[x][0] = two[0];
                above[x][1] = two[1];
                above[x + 1][0] = two[2];
                above[x + 1][1] = two[3];
            }
#endif
#endif
            #pragma unroll
            for (int y = 0; y < blocks_m; y++) {
                #pragma unroll
                for (int x = 0; x < blocks_n; x++) {
#if bits == 32 && !defined(as_halves)
#if products > 2
                    multiply_tf32(sum[y][x], beside[y], rest_above[x]);
#endif
#if products > 1
                    multiply_tf32(sum[y][x], rest[y], above[x]);
#endif
                    multiply_tf32(sum[y][x], beside[y], above[x]);
#else
                    multiply_half(sum[y][x], beside[y], above[x]);
#endif
                }
            }
        }
    }

    keep_patch(C, sum, top + warp_top, left + warp_left);
}
