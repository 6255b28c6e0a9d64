// Matrix multiplication C = A B on the tensor cores of Hopper: NVIDIA, compute capability 9.0, target sm_90a. A is m x k, B is
// k x n, C is m x n, all row-major, of any shape. C must not overlap A or B.
//
// The precision:
//   element=half, products=1   Products of halves are exact and summed as floats; C is rounded to half once.
//   element=float, products=1  tf32: each number is rounded to 11 significant bits; products are exact and summed as floats.
//   element=float, products=3  Each number is the sum of two in tf32, and of the four products the three largest are summed.
//                              Sums of a few terms are added as floats, since tensor cores do not round to the nearest.
//                              More accurate than multiplying and adding floats one after the other.
//
// Infinities and NaN come out as in a multiplication of floats, but with products=3 an infinity becomes NaN, unless infinities is 1;
// then only an infinity times an infinity, or times a number below 2^-126, is NaN.
//
// A work-group computes tiles of tile_m x tile_n elements of C. Its first 128 work-items, a warpgroup, bring the tiles of A and B,
// 128 bytes of a row at a time; the other warpgroups multiply. For each stage in local memory, one barrier says that it is full,
// and one that it is empty. With products=3, the first warpgroup also writes the part of A that tf32 leaves out beside it.
//
// Copies that run on their own (TMA) bring a matrix whose rows begin at multiples of 16 bytes. Otherwise the work-items of the first
// warpgroup bring the tiles in pieces of 8, 4 or 2 bytes: see matmul_pieces.h.
//
// Halves: each warpgroup computes rows of C, with A and B from local memory. Floats: wgmma takes tf32 from local memory only if k
// is fastest, which is true of A and not of B. So C' = B' A': each warpgroup computes 64 columns of C, with B' in
// registers and A from local memory.
//
// Constants
//   m, n, k       rows of A and C; columns of B and C; columns of A, rows of B: whole numbers from 1 to 2^30, of which
//                 each product of two is below 2^31
//   element       float or half
//   products      1 or 3, see above
//   infinities    1: products=3 takes infinities, which costs about a sixth of the speed; 0: it makes them NaN
//   multiprocessors  of the device
//   maps_bytes    256 for each work-group, a number
//
// Parameters
//   tile_m        rows and columns of a tile of C: 64 to 256. Larger ones read A and B less often; sums fill the registers.
//   tile_n
//   stages        tiles of A and B in local memory, 2 or more
//   swizzle       rows of tiles that are computed before the next column, so that what they share stays in the cache
//   looping       1: as many work-groups as multiprocessors, which compute one tile after the other: the first copies
//                 of a tile come while the tile before is stored
//   blocks        halves: groups of 64 rows of each warpgroup
//   promote       products=3: steps of 32 terms that are summed before they are added as floats
//
// The grid covers C: ceil(n / tile_n) by ceil(m / tile_m) work-groups.

#if m < 1 || n < 1 || k < 1 || m > 1 << 30 || n > 1 << 30 || k > 1 << 30
#error "matmul_kernel: m, n and k must be 1 to 2^30 each"
#elif m > 2147483647 / n || m > 2147483647 / k || k > 2147483647 / n
#error "matmul_kernel: m * n, m * k and k * n must be below 2^31"
#endif

#include "matmul_mma.h"
#include "matmul_wgmma.h"
#include "matmul_tma.h"

#define bits_of_half 16
#define bits_of_float 32
#define paste_(a, b) a##b
#define paste(a, b) paste_(a, b)
#define bits paste(bits_of_, element)

#define terms (1024 / bits) // of a step: 128 bytes
#if bits == 16
#define warpgroups (tile_m / 64 / blocks) // that multiply
#define bytes_b (tile_n * 128)
#define round_up 1
#define kind type_half
#define producer_registers (any_pieces ? 80 : 40)
typedef ushort stored;
#else
#define warpgroups (tile_n / 64)
#define pitch (tile_n + 8) // so that the reads of a warp are of different banks
#define bytes_b (terms * pitch * 4)
#if products == 3
#define round_up promote
#define kind type_float
#define producer_registers (any_pieces ? 80 : 56)
#else
#define round_up 2
#define kind type_tf32
#define producer_registers (any_pieces ? 80 : 40)
#endif
typedef float stored;
#endif

#define items (128 * (warpgroups + 1))
#define bytes_a (tile_m * 128)
#define bytes_whole_a (bytes_a * (products == 3 ? 2 : 1))
#define bytes_stage ((bytes_whole_a + bytes_b + 1023) / 1024 * 1024)
#define steps ((k + terms * round_up - 1) / (terms * round_up) * round_up)
#define columns ((n + tile_n - 1) / tile_n)
#define rows ((m + tile_m - 1) / tile_m)

// A warpgroup begins with an equal share of the registers, a multiple of 8. Those that multiply get what the first one gives.
#define share (65536 / items / 8 * 8)
#define more_(each) ((each) > 240 ? 240 : (each))
#define consumer_registers more_((share * (warpgroups + 1) - producer_registers) / warpgroups / 8 * 8)

declare_maps(maps_bytes) // two for each work-group

// The tile-th tile: column and row.
int2 tile_at(int tile)
{
    const int band = tile / (swizzle * columns);
    const int within = tile % (swizzle * columns);
    const int high = min(swizzle, rows - band * swizzle);
    return (int2)(within / high, band * swizzle + within % high);
}

#if products == 3
// The part of a number that the tensor core leaves out, since it truncates. With infinities, all of an infinity is there.
float low(float v)
{
    const float rest = v - as_float(as_uint(v) & 0xffffe000);
#if infinities
    return rest != rest ? v : as_float(tf32(rest));
#else
    return as_float(tf32(rest));
#endif
}
float high(float v)
{
    const float rest = v - as_float(as_uint(v) & 0xffffe000);
    return rest != rest ? 0.0f : v;
}
float4 low4(float4 v) { return (float4)(low(v.x), low(v.y), low(v.z), low(v.w)); }
float4 high4(float4 v) { return (float4)(high(v.x), high(v.y), high(v.z), high(v.w)); }
#endif

#include "matmul_pieces.h"

// The steps whose copies are on their way while the first warpgroup completes one: none if TMA does everything.
#if products == 3 || any_pieces
#define ahead (stages - 1)
#else
#define ahead 0
#endif
// The work-items and copies that fill a stage.
#define fills ((tma_a | tma_b) + (any_pieces ? 128 : 0))

__kernel __attribute__((reqd_work_group_size(items, 1, 1)))
void matmul_kernel(__global stored *restrict C, __global const stored *restrict A, __global const stored *restrict B)
{
    __local uint memory[stages * bytes_stage / 4] __attribute__((aligned(1024)));
    __local ulong maps[32] __attribute__((aligned(128)));
    __local ulong barriers[3 * stages];
    instructions_state();
    const address base = local_address(memory), full = local_address(barriers), empty = full + 8 * stages;
    const address split = full + 16 * stages; // the low parts of A are there
    const int id = get_local_id(0), warpgroup = id / 128;
    const int first = (int)get_group_id(1) * (int)get_num_groups(0) + (int)get_group_id(0);
    const int count_groups = looping ? min(multiprocessors, columns * rows) : columns * rows;
    if (first >= count_groups)
        return;
    if (id == 0) {
        for (int s = 0; s < stages; s++) {
            barrier_init(full + 8 * s, fills);
            barrier_init(empty + 8 * s, 4 * warpgroups);
            barrier_init(split + 8 * s, 128);
        }
        barriers_ready();
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    if (warpgroup == 0) {
        fewer_registers(producer_registers);
        const ulong slot = slot_of_maps(first);
        if (id < 32) {
            const address at = local_address(maps);
            if (tma_a)
                make_map(at, slot, A, kind, bits / 8, k, m, terms, tile_m, 3);
#if bits == 16
            if (tma_b)
                make_map(at + 128, slot + 128, B, kind, 2, n, k, 64, 64, 3);
#else
            if (tma_b)
                make_map(at + 128, slot + 128, B, kind, 4, n, k, pitch, terms, 0);
#endif
        }
        // The steps of all tiles of this work-group, one after the other.
        const int all = (columns * rows - first + count_groups - 1) / count_groups * steps;
        for (int now = -ahead; now < all; now++) {
            if (ahead > 0 && now >= 0) {
                const int s = now % stages;
                __local uchar *stage = (__local uchar *)memory + s * bytes_stage;
                if (any_pieces) {
                    wait_for(stages - 2);
#if bits == 32
                    if (!tma_a)
                        complete_pieces_of_a(stage);
#endif
                    proxy_fence();
                    barrier_arrive(full + 8 * s);
                }
#if products == 3
                if (tma_a) {
                    barrier_wait(full + 8 * s, now / stages & 1);
                    __local float4 *whole = (__local float4 *)stage;
                    __local float4 *part = (__local float4 *)(stage + bytes_a);
                    #pragma unroll
                    for (int i = 0; i < tile_m * 8 / 128; i++) {
                        const float4 v = whole[id + i * 128];
                        part[id + i * 128] = low4(v);
#if infinities
                        const float zero = (v.x - v.x) + (v.y - v.y) + (v.z - v.z) + (v.w - v.w);
                        if (zero != zero) // one is infinite or NaN
                            whole[id + i * 128] = high4(v);
#endif
                    }
                    proxy_fence();
                    barrier_arrive(split + 8 * s);
                }
#endif
            }
            const int next = now + ahead;
            if (next < all && (id == 0 || any_pieces)) {
                const int2 t = tile_at(first + next / steps * count_groups);
                const int s = next % stages, step = next % steps;
                __local uchar *stage = (__local uchar *)memory + s * bytes_stage;
                const address to = base + s * bytes_stage, b = full + 8 * s;
                if (next >= stages)
                    barrier_wait(empty + 8 * s, (next / stages - 1) & 1);
                if (!tma_a)
                    copy_pieces_of_a(instructions_argument stage, A, step * terms, t.y * tile_m);
                if (!tma_b)
                    copy_pieces_of_b(instructions_argument stage + bytes_whole_a, B, t.x * tile_n, step * terms);
                if ((tma_a | tma_b) && id == 0) {
                    barrier_expect(b, (tma_a ? bytes_a : 0) + (tma_b ? bytes_b : 0));
                    if (tma_a)
                        load_tile(to, slot, step * terms, t.y * tile_m, b);
                    if (tma_b) {
#if bits == 16
                        #pragma unroll
                        for (int i = 0; i < tile_n / 64; i++)
                            load_tile(to + bytes_a + i * 8192, slot + 128, t.x * tile_n + i * 64, step * terms, b);
#else
                        load_tile(to + bytes_whole_a, slot + 128, t.x * tile_n, step * terms, b);
#endif
                    }
                }
            }
            if (any_pieces)
                close_group(); // of no copies at the end
        }
        all_done();
        return;
    }

    more_registers(consumer_registers);
    const int lane = id % 32, warp = id / 32 % 4;
    int now = 0; // step, of all tiles
    for (int tile = first; tile < columns * rows; tile += count_groups) {
        const int2 t = tile_at(tile);
#if bits == 16
        float sum[blocks][tile_n / 2];
        #pragma unroll
        for (int y = 0; y < blocks; y++) {
            #pragma unroll
            for (int i = 0; i < tile_n / 2; i++)
                sum[y][i] = 0.0f;
        }
        for (int step = 0; step < steps; step++, now++) {
            const int s = now % stages;
            const address at = base + s * bytes_stage;
            barrier_wait(full + 8 * s, now / stages & 1);
            wgmma_fence();
            #pragma unroll
            for (int u = 0; u < 4; u++) {
                #pragma unroll
                for (int y = 0; y < blocks; y++)
                    wgmma_half(tile_n, sum[y], tile_descriptor(at + ((warpgroup - 1) * blocks + y) * 8192 + u * 32, 16, 1024),
                               tile_descriptor(at + bytes_a + u * 2048, 8192, 1024), 1);
            }
            wgmma_commit();
            wgmma_wait(1);
            if (lane == 0 && step > 0)
                barrier_arrive(empty + 8 * ((now + stages - 1) % stages));
        }
        wgmma_wait(0);
        if (lane == 0)
            barrier_arrive(empty + 8 * ((now + stages - 1) % stages));
        #pragma unroll
        for (int y = 0; y < blocks; y++) {
            const int row = t.y * tile_m + ((warpgroup - 1) * blocks + y) * 64 + warp * 16 + lane / 4;
            #pragma unroll
            for (int j = 0; j < tile_n / 8; j++) {
                const int column = t.x * tile_n + j * 8 + lane % 4 * 2;
                #pragma unroll
                for (int h = 0; h < 2; h++) {
                    const uint two = two_halves(sum[y][j * 4 + h * 2], sum[y][j * 4 + h * 2 + 1]);
                    __global stored *to = C + (row + h * 8) * n + column;
#if n % 2 == 0
                    if (row + h * 8 < m && column < n)
                        *(__global uint *)to = two;
#else
                    if (row + h * 8 < m && column < n)
                        to[0] = two & 0xffff;
                    if (row + h * 8 < m && column + 1 < n)
                        to[1] = two >> 16;
#endif
                }
            }
        }
#else
        const int mine = bytes_whole_a / 4 + lane % 4 * pitch + (warpgroup - 1) * 64 + warp * 16 + lane / 4;
        float sum[tile_m / 2];
        #pragma unroll
        for (int i = 0; i < tile_m / 2; i++)
            sum[i] = 0.0f;
#if products == 3
        float part[tile_m / 2];
        #pragma unroll
        for (int i = 0; i < tile_m / 2; i++)
            part[i] = 0.0f;
#endif
        for (int some = 0; some < steps; some += round_up) {
            #pragma unroll
            for (int one = 0; one < round_up; one++, now++) {
                const int s = now % stages;
                const address at = base + s * bytes_stage;
                barrier_wait(full + 8 * s, now / stages & 1);
                __local const float *b = (__local const float *)memory + s * (bytes_stage / 4) + mine;
                uint f[4][4];
#if products == 3
                uint g[4][4];
#endif
                #pragma unroll
                for (int u = 0; u < 4; u++) {
                    #pragma unroll
                    for (int i = 0; i < 4; i++) {
                        const float v = b[(u * 8 + i / 2 * 4) * pitch + i % 2 * 8];
#if products == 3
#if infinities
                        const uint rounded = tf32(v);
                        const int whole = fabs(as_float(rounded)) < INFINITY;
                        f[u][i] = whole ? rounded : 0;
                        g[u][i] = whole ? tf32(v - as_float(rounded)) : as_uint(v);
#else
                        f[u][i] = tf32(v);
                        g[u][i] = tf32(v - as_float(f[u][i]));
#endif
#else
                        f[u][i] = tma_b ? as_uint(v) : tf32(v);
#endif
                    }
                }
#if products == 3
                if (tma_a)
                    barrier_wait(split + 8 * s, now / stages & 1);
                wgmma_fence();
                #pragma unroll
                for (int u = 0; u < 4; u++) {
                    wgmma_tf32(tile_m, part, g[u], tile_descriptor(at + u * 32, 16, 1024), one + u > 0);
                    wgmma_tf32(tile_m, part, f[u], tile_descriptor(at + bytes_a + u * 32, 16, 1024), 1);
                    wgmma_tf32(tile_m, part, f[u], tile_descriptor(at + u * 32, 16, 1024), 1);
                }
                wgmma_commit();
                if (one == round_up - 1) {
                    wgmma_wait(0);
                    if (lane == 0) {
                        if (round_up > 1)
                            barrier_arrive(empty + 8 * ((now + stages - 1) % stages));
                        barrier_arrive(empty + 8 * s);
                    }
                } else {
                    wgmma_wait(1);
                    if (lane == 0 && one > 0)
                        barrier_arrive(empty + 8 * ((now + stages - 1) % stages));
                }
#else
                wgmma_fence();
                #pragma unroll
                for (int u = 0; u < 4; u++)
                    wgmma_tf32(tile_m, sum, f[u], tile_descriptor(at + u * 32, 16, 1024), 1);
                wgmma_commit();
                wgmma_wait(1);
                if (lane == 0 && some + one > 0)
                    barrier_arrive(empty + 8 * ((now + stages - 1) % stages));
#endif
            }
#if products == 3
            #pragma unroll
            for (int i = 0; i < tile_m / 2; i++)
                sum[i] += part[i];
#endif
        }
#if products == 1
        wgmma_wait(0);
        if (lane == 0)
            barrier_arrive(empty + 8 * ((now + stages - 1) % stages));
#endif
        const int column = t.x * tile_n + (warpgroup - 1) * 64 + warp * 16 + lane / 4;
        #pragma unroll
        for (int j = 0; j < tile_m / 8; j++) {
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                const int row = t.y * tile_m + j * 8 + lane % 4 * 2 + i % 2;
                if (row < m && column + i / 2 * 8 < n)
                    C[row * n + column + i / 2 * 8] = sum[j * 4 + i];
            }
        }
#endif
    }
    all_done();
}
