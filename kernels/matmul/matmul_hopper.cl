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
// Infinities and NaN come out as in a multiplication of floats, but with products=3 an infinity can become NaN, unless infinities is 1;
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
//   infinities    1: products=3 takes infinities, which costs a tenth of the speed; 0: they can become NaN
//   multiprocessors  of the device
//   maps_bytes, shares_bytes, counters_bytes  of global memory, numbers: 384 for each work-group; if split_k is above 1, 4 for each
//                 element of all tiles split_k times; 16 for each tile. All launches of a built program use the same, so there must
//                 be one at a time.
//
// Parameters
//   tile_m        rows and columns of a tile of C: 64 to 256; of floats also 32 rows. Larger ones read A and B less often; sums fill the registers.
//   tile_n
//   stages        tiles of A and B in local memory, 2 or more
//   swizzle       rows of tiles that are computed before the next column, so that what they share stays in the cache
//   looping       1: as many work-groups as multiprocessors, which compute one tile after the other: the first copies
//                 of a tile come while the tile before is stored
//   outgoing      parts of C of a warpgroup, 8 KiB each, that are on their way from local memory to C, by copies that run on their own:
//                 1 or more, if C has such rows as these copies need; 0: work-items write C from their registers
//   split_k       work-groups that share the sums of a tile, if there are few tiles: each has a part of the terms. See matmul_split.h
//   blocks        halves: groups of 64 rows of each warpgroup
//
// The grid covers C split_k times: ceil(n / tile_n) by ceil(m / tile_m) by split_k work-groups.

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
#define make_map_b(at, slot) make_map(at, slot, B, type_half, 2, n, k, 64, 64, 3)
#define make_map_c(at, slot) make_map(at, slot, C, type_half, 2, n, m, 64, 64, 3)
#define parts_of_c (blocks * (tile_n / 64))
#define sums (blocks * tile_n / 2) // of a work-item
#define sum_at(i) sum[(i) / (tile_n / 2)][(i) % (tile_n / 2)]
#define round_up 1
#define taking_turns 0
#define kind type_half
#define producer_registers (any_pieces ? 80 : 40)
typedef ushort stored;
#else
#define warpgroups (tile_n / 64)
#define pitch (tile_n + 8) // so that the reads of a warp are of different banks
#define bytes_b (terms * pitch * 4)
#define make_map_b(at, slot) make_map(at, slot, B, kind, 4, n, k, pitch, terms, 0)
#define make_map_c(at, slot) make_map(at, slot, C, type_float, 4, n, m, 32, 32, 3)
#define parts_of_c (tile_m / 32)
#define sums (tile_m / 2)
#define sum_at(i) sum[i]
#if products == 3
#define round_up 1
#define taking_turns (warpgroups > 1)
#define kind type_float
#define producer_registers (any_pieces ? 80 : 56)
#else
#define round_up 2
#define taking_turns 0
#define kind type_tf32
#define producer_registers (any_pieces ? 80 : 40)
#endif
typedef float stored;
#endif

#define items (128 * (warpgroups + 1))
#define bytes_a (tile_m * 128)
#define bytes_whole_a (bytes_a * (products == 3 ? 2 : 1))
#define bytes_stage ((bytes_whole_a + bytes_b + 1023) / 1024 * 1024)
#define steps ((k + terms * round_up * split_k - 1) / (terms * round_up * split_k) * round_up) // of a share of the terms
#define columns ((n + tile_n - 1) / tile_n)
#define rows ((m + tile_m - 1) / tile_m)
#define shares_of_tiles (columns * rows * split_k)

// A warpgroup begins with an equal share of the registers, a multiple of 8. Those that multiply get what the first one gives.
#define equal_share (65536 / items / 8 * 8)
#define more_(each) ((each) > 240 ? 240 : (each))
#define consumer_registers more_((equal_share * (warpgroups + 1) - producer_registers) / warpgroups / 8 * 8)

declare_maps(maps_bytes) // three for each work-group
#if split_k > 1
#include "matmul_split.h"
declare_shares(shares_bytes, counters_bytes)
#endif

// The column and row of a tile, and the first term of this share of the terms: tiles come one after the other with the first share, then
// with the next.
int4 share_at(int share)
{
    const int tile = share % (columns * rows);
    const int band = tile / (swizzle * columns);
    const int within = tile % (swizzle * columns);
    const int high = min(swizzle, rows - band * swizzle);
    return (int4)(within / high, band * swizzle + within % high, share / (columns * rows) * steps * terms, tile);
}

#if products == 3
// The part of a number that the tensor core leaves out, since it truncates. With infinities, all of an infinity is there.
float low(float v)
{
    const float rest = v - as_float(as_uint(v) & 0xffffe000);
#if infinities
    if (rest != rest)
        return v;
#endif
    return as_float(as_uint(rest) + 0x1000); // truncated, this is rounded
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

// C goes to local memory in parts of 64 rows of 64 halves, or 32 rows of 64 floats: 8 KiB. Each warpgroup has room for `outgoing` of them.
#if outgoing && piece(n) == 16
#define parts parts_of_c
#else
#define parts 0
#endif
#define bytes_parts (parts > 0 ? warpgroups * outgoing * 8192 : 0)

// If work-groups share the sums of a tile, only the last one goes on. Each of its warpgroups adds its own part of the shares.
#if split_k > 1
#define share_index(i) ((((t.w * split_k + (i)) * warpgroups + warpgroup - 1) * (sums / 4)) * 128 + id % 128)
#define add_shares() \
    const int own = share_index(share / (columns * rows)); \
    _Pragma("unroll") \
    for (int i = 0; i < sums; i += 4) \
        write_share(own + i * 32, sum_at(i), sum_at(i + 1), sum_at(i + 2), sum_at(i + 3)); \
    warpgroup_barrier(warpgroup); \
    if (id % 128 == 0) \
        last[warpgroup] = comes_last(t.w * warpgroups + warpgroup - 1, split_k); \
    warpgroup_barrier(warpgroup); \
    if (!last[warpgroup]) \
        continue; \
    _Pragma("unroll") \
    for (int i = 0; i < sums; i += 4) { \
        float4 all = read_share(share_index(0) + i * 32); \
        for (int j = 1; j < split_k; j++) \
            all += read_share(share_index(j) + i * 32); \
        sum_at(i) = all.x; \
        sum_at(i + 1) = all.y; \
        sum_at(i + 2) = all.z; \
        sum_at(i + 3) = all.w; \
    }
#else
#define add_shares()
#endif

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
    __local uint memory[(stages * bytes_stage + bytes_parts) / 4] __attribute__((aligned(1024)));
    __local ulong maps[48] __attribute__((aligned(128)));
    __local ulong barriers[3 * stages];
#if split_k > 1
    __local int last[5]; // for each warpgroup
#endif
    instructions_state();
    const address base = local_address(memory), full = local_address(barriers), empty = full + 8 * stages;
    const address split = full + 16 * stages; // the low parts of A are there
    const int id = get_local_id(0), warpgroup = id / 128;
    const int first = ((int)get_group_id(2) * (int)get_num_groups(1) + (int)get_group_id(1)) * (int)get_num_groups(0) + (int)get_group_id(0);
    const int count_groups = looping ? min(multiprocessors, shares_of_tiles) : shares_of_tiles;
    if (first >= count_groups)
        return;
    const ulong slot = slot_of_maps(first), slot_b = slot + 128, slot_c = slot + 256;
    if (id / 32 == 3) {
        if (id % 32 == 0) {
            for (int s = 0; s < stages; s++) {
                barrier_init(full + 8 * s, fills);
                barrier_init(empty + 8 * s, 4 * warpgroups);
                barrier_init(split + 8 * s, 128);
            }
            barriers_ready();
        }
    } else if (id / 32 == 0 && tma_a)
        make_map(local_address(maps), slot, A, kind, bits / 8, k, m, terms, tile_m, 3);
    else if (id / 32 == 1 && tma_b)
        make_map_b(local_address(maps) + 128, slot_b);
#if parts > 0
    else if (id / 32 == 2)
        make_map_c(local_address(maps) + 256, slot_c);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);

    if (warpgroup == 0) {
        fewer_registers(producer_registers);
        if (id == 0 && tma_b)
            use_map(slot_b);
        // The steps of all tiles of this work-group, one after the other.
        const int all = (shares_of_tiles - first + count_groups - 1) / count_groups * steps;
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
                const int4 t = share_at(first + next / steps * count_groups);
                const int s = next % stages, term = t.z + next % steps * terms;
                __local uchar *stage = (__local uchar *)memory + s * bytes_stage;
                const address to = base + s * bytes_stage, b = full + 8 * s;
                if (next >= stages)
                    barrier_wait(empty + 8 * s, (next / stages - 1) & 1);
                if (!tma_a)
                    copy_pieces_of_a(instructions_argument stage, A, term, t.y * tile_m);
                if (!tma_b)
                    copy_pieces_of_b(instructions_argument stage + bytes_whole_a, B, t.x * tile_n, term);
                if ((tma_a | tma_b) && id == 0) {
                    barrier_expect(b, (tma_a ? bytes_a : 0) + (tma_b ? bytes_b : 0));
                    if (tma_a)
                        load_tile(to, slot, term, t.y * tile_m, b);
                    if (tma_b) {
#if bits == 16
                        #pragma unroll
                        for (int i = 0; i < tile_n / 64; i++)
                            load_tile(to + bytes_a + i * 8192, slot_b, t.x * tile_n + i * 64, term, b);
#else
                        load_tile(to + bytes_whole_a, slot_b, t.x * tile_n, term, b);
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
    if (taking_turns && warpgroup == warpgroups)
        pass_turn(1);
    int now = 0; // step, of all tiles
#if parts > 0
    const int storing = id % 128 == 0;
    const int room = stages * bytes_stage + (warpgroup - 1) * outgoing * 8192;
    int part_of_c = 0;
    if (storing)
        use_map(slot_c);
#endif
#if bits == 16
    float sum[blocks][tile_n / 2];
    #pragma unroll
    for (int y = 0; y < blocks; y++) {
        #pragma unroll
        for (int i = 0; i < tile_n / 2; i++)
            sum[y][i] = 0.0f;
    }
#else
    float sum[tile_m / 2];
#if products == 1
    #pragma unroll
    for (int i = 0; i < tile_m / 2; i++)
        sum[i] = 0.0f;
#else
    float part[tile_m / 2];
    #pragma unroll
    for (int i = 0; i < tile_m / 2; i++)
        part[i] = 0.0f;
#endif
#endif
    for (int share = first; share < shares_of_tiles; share += count_groups) {
        const int4 t = share_at(share);
#if bits == 16
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
                               tile_descriptor(at + bytes_a + u * 2048, 8192, 1024), step + u > 0);
            }
            wgmma_commit();
            wgmma_wait(1);
            if (lane == 0 && step > 0)
                barrier_arrive(empty + 8 * ((now + stages - 1) % stages));
        }
        wgmma_wait(0);
        if (lane == 0)
            barrier_arrive(empty + 8 * ((now + stages - 1) % stages));
        add_shares();
#if parts > 0
        #pragma unroll
        for (int i = 0; i < parts; i++, part_of_c++) {
            const int y = i / (tile_n / 64), from = i % (tile_n / 64) * 64;
            const int to = room + part_of_c % outgoing * 8192;
            if (storing)
                wait_for_stores(outgoing - 1);
            warpgroup_barrier(warpgroup);
            #pragma unroll
            for (int j = 0; j < 8; j++) {
                #pragma unroll
                for (int h = 0; h < 2; h++) {
                    const int row = warp * 16 + lane / 4 + h * 8, p = (from / 8 + j) * 4 + h * 2;
                    memory[(to + row * 128 + (j ^ row % 8) * 16) / 4 + lane % 4] = two_halves(sum[y][p], sum[y][p + 1]);
                }
            }
            proxy_fence();
            warpgroup_barrier(warpgroup);
            if (storing) {
                store_tile(base + to, slot_c, t.x * tile_n + from, t.y * tile_m + ((warpgroup - 1) * blocks + y) * 64);
                close_stores();
            }
        }
#else
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
#endif
#else
        const int mine = bytes_whole_a / 4 + lane % 4 * pitch + (warpgroup - 1) * 64 + warp * 16 + lane / 4;
#if products == 3
        #pragma unroll
        for (int i = 0; i < tile_m / 2; i++)
            sum[i] = 0.0f;
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
                        // Rounded to 11 significant bits. The lower part needs no rounding: what the tensor core leaves out of it has any sign.
                        f[u][i] = (as_uint(v) + 0x1000) & 0xffffe000;
#if infinities
                        if (!(fabs(as_float(f[u][i])) < INFINITY))
                            f[u][i] = 0;
#endif
                        g[u][i] = as_uint(v - as_float(f[u][i]));
#else
                        f[u][i] = tma_b ? as_uint(v) : tf32(v);
#endif
                    }
                }
#if products == 3
                if (tma_a)
                    barrier_wait(split + 8 * s, now / stages & 1);
                if (taking_turns)
                    wait_for_turn(warpgroup);
                wgmma_fence();
                #pragma unroll
                for (int u = 0; u < 4; u++) {
                    wgmma_tf32(tile_m, part, g[u], tile_descriptor(at + u * 32, 16, 1024), u > 0);
                    wgmma_tf32(tile_m, part, f[u], tile_descriptor(at + bytes_a + u * 32, 16, 1024), 1);
                    wgmma_tf32(tile_m, part, f[u], tile_descriptor(at + u * 32, 16, 1024), 1);
                }
                wgmma_commit();
                if (taking_turns)
                    pass_turn(warpgroup % warpgroups + 1);
                wgmma_wait(0);
                if (lane == 0)
                    barrier_arrive(empty + 8 * s);
#else
                wgmma_fence();
                #pragma unroll
                for (int u = 0; u < 4; u++)
                    wgmma_tf32(tile_m, sum, f[u], tile_descriptor(at + u * 32, 16, 1024), some + one + u > 0);
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
        add_shares();
#if parts > 0
        #pragma unroll
        for (int i = 0; i < parts; i++, part_of_c++) {
            const int to = room + part_of_c % outgoing * 8192;
            if (storing)
                wait_for_stores(outgoing - 1);
            warpgroup_barrier(warpgroup);
            #pragma unroll
            for (int j = 0; j < 16; j++) {
                const int row = j / 4 * 8 + lane % 4 * 2 + j % 2, column = warp * 16 + j / 2 % 2 * 8 + lane / 4;
                memory[(to + column / 32 * 4096 + row * 128 + (column % 32 / 4 ^ row % 8) * 16) / 4 + column % 4] = as_uint(sum[i * 16 + j]);
            }
            proxy_fence();
            warpgroup_barrier(warpgroup);
            if (storing) {
                const int x = t.x * tile_n + (warpgroup - 1) * 64, y = t.y * tile_m + i * 32;
                store_tile(base + to, slot_c, x, y);
                store_tile(base + to + 4096, slot_c, x + 32, y);
                close_stores();
            }
        }
#else
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
#endif
    }
#if parts > 0
    if (storing)
        wait_for_stores(0);
#endif
    all_done();
}
