package kernels_test

import (
	"fmt"
	"maps"
	"testing"
)

// hopperInstructions stands for the instructions of matmul_wgmma.h, matmul_tma.h and matmul_async.h. It follows the PTX ISA in an
// order that is as bad for the kernel as the ISA allows:
//
//   - A multiplication reads local memory when it is issued, which the simulator checks, and again when the kernel waits for
//     it, which counts.
//   - A copy of a tile arrives some turns after it began, each after another number of turns, and a copy of a piece when the kernel
//     waits for it.
//   - A store of a tile reads local memory when it is issued, which the simulator checks, and again when the kernel waits for
//     it, which counts.
//   - Local memory holds NaN at the beginning.
//
// Work-items that wait for an mbarrier take turns: a turn is a barrier of the work-group, all in the same place of the source. So the
// simulator finds races between accesses of the same turn; others show in the result. After many turns, which a
// deadlock takes, nothing waits any more, and the result is wrong.
//
// It does not show: missing fences between the kinds of access (proxy_fence, barriers_ready, wgmma_fence, use_map); the order of accesses
// to what work-groups share; registers that are
// written while a multiplication reads them; the numbers of registers; copies whose addresses have too little alignment;
// the rounding of the sums in tensor cores.
const hopperInstructions = `
typedef size_t address;
#define local_address(p) ((address)(p))

struct multiplication { float *d; int count; uint a[4]; address tile_a, tile_b; int lead, stride, add, series; };
struct tile_copy { address to, map, b; int x, y, due; };
struct tile_store { address from, map; int x, y, series; };
struct piece_copy { __local uchar *to; __global const uchar *from; int bytes, there, series; };
struct instructions {
    int turns, series, done, multiplications, first_multiplication;
    struct multiplication multiply[64];
    int copies;
    struct tile_copy copy[24];
    int store_series, stores, first_store, meetings, turns_taken;
    struct tile_store stored[16];
    int piece_series, pieces, first_piece;
    struct piece_copy piece[1024];
    __local uint (*fragments)[4];
    __local int *leaving; // how many leave, and the turn of the last
    __local int *meeting; // how many work-items of a warpgroup came to its barriers
};
#define instructions_parameter struct instructions *state,
#define instructions_argument &instructions,
#define instructions_state() \
    __local uint fragments[items][4]; \
    __local int leaving[2], meeting[16]; \
    struct instructions instructions; \
    struct instructions *state = &instructions; \
    state->turns = state->series = state->done = state->multiplications = state->first_multiplication = state->copies = 0; \
    state->store_series = state->stores = state->first_store = state->meetings = state->turns_taken = 0; \
    state->piece_series = state->pieces = state->first_piece = 0; \
    state->fragments = fragments; \
    state->leaving = leaving; \
    state->meeting = meeting; \
    if (get_local_id(0) == 0) { leaving[0] = 0; leaving[1] = 1 << 30; } \
    if (get_local_id(0) < 16) meeting[get_local_id(0)] = 0; \
    for (int i = get_local_id(0); i < (stages * bytes_stage + bytes_parts) / 4; i += items) memory[i] = 0x7fff7fff

// mbarriers: in the first word how many arrive in all and are still missing; in the second twice the bytes that
// are missing, and the parity of the phase.
void barrier_change(address b, int arrivals, int bytes)
{
    volatile __local int *word = (volatile __local int *)b;
    const int counts = atomic_or(word, 0), rest = atomic_or(word + 1, 0);
    int missing = (counts & 0xffff) - arrivals, phase = rest & 1;
    bytes += rest >> 1;
    if (missing == 0 && bytes == 0) {
        missing = counts >> 16;
        phase ^= 1;
    }
    atomic_xchg(word, (counts >> 16) << 16 | missing);
    atomic_xchg(word + 1, bytes * 2 + phase);
}
void barrier_start(address b, int count)
{
    atomic_xchg((volatile __local int *)b, count << 16 | count);
    atomic_xchg((volatile __local int *)b + 1, 0);
}
#define barrier_init(b, count) barrier_start(b, count)
#define barriers_ready()
#define barrier_arrive(b) barrier_change(b, 1, 0)
#define barrier_expect(b, bytes) (barrier_change(b, 0, bytes), barrier_change(b, 1, 0))
#define proxy_fence()
#define fewer_registers(count)
#define more_registers(count)

// Maps of tensors: eight numbers in local memory.
#define type_half 6
#define type_float 7
#define type_tf32 11
#define declare_maps(bytes)
#define slot_of_maps(group) local_address(maps)
#define make_map(at, slot, pointer, type, bytes, width, height, box_x, box_y, mode) do { \
    if (get_local_id(0) % 32 == 0) { \
        __local ulong *map = (__local ulong *)(slot); \
        map[0] = (ulong)(pointer); map[1] = bytes; map[2] = width; map[3] = height; \
        map[4] = box_x; map[5] = box_y; map[6] = mode; map[7] = type; \
    } \
} while (0)

#define use_map(slot)

#define chunk_at(a) ((a) ^ ((a) >> 7 & 7) << 4)
void deliver(struct tile_copy c)
{
    __local ulong *map = (__local ulong *)c.map;
    const int bytes = map[1], width = map[2], height = map[3], box_x = map[4], box_y = map[5];
    for (int y = 0; y < box_y; y++) {
        for (int x = 0; x < box_x; x++) {
            const int inside = c.x + x < width && c.y + y < height;
            const ulong at = (ulong)(c.y + y) * width + c.x + x;
            address to = c.to + (y * box_x + x) * bytes;
            if (map[6] == 3)
                to = chunk_at(to);
            if (bytes == 2)
                *(__local ushort *)to = inside ? ((__global const ushort *)map[0])[at] : 0;
            else {
                uint v = inside ? ((__global const uint *)map[0])[at] : 0;
                *(__local uint *)to = map[7] == type_tf32 ? tf32(as_float(v)) : v;
            }
        }
    }
    barrier_change(c.b, 0, -box_x * box_y * bytes);
}

__attribute__((noinline)) void turn(struct instructions *state)
{
    if (state->turns > 1000)
        return;
    int kept = 0;
    for (int i = 0; i < state->copies; i++) {
        if (state->copy[i].due <= state->turns)
            deliver(state->copy[i]);
        else
            state->copy[kept++] = state->copy[i];
    }
    state->copies = kept;
    state->turns++;
    barrier(CLK_LOCAL_MEM_FENCE);
}

void load_later(struct instructions *state, address to, address map, int x, int y, address b)
{
    const int delays[7] = {0, 9, 1, 30, 3, 0, 100};
    struct tile_copy c = {to, map, b, x, y, state->turns + delays[(state->series + x + y) % 7]};
    state->series++;
    state->copy[state->copies++] = c;
}
#define load_tile(to, map, x, y, b) load_later(state, to, map, x, y, b)

void wait_turns(struct instructions *state, address b, int parity)
{
    int ended;
    do {
        ended = (atomic_or((volatile __local int *)b + 1, 0) & 1) != parity;
        turn(state); // also after the end, which may be of this turn
    } while (!ended && state->turns <= 1000);
}
#define barrier_wait(b, parity) wait_turns(state, b, parity)

void meet(struct instructions *state, int i, int count)
{
    volatile __local int *came = state->meeting + i;
    atomic_inc(came);
    turn(state); // so that all who come in one turn also leave in one
    int all;
    do {
        all = atomic_or(came, 0) >= count;
        turn(state);
    } while (!all && state->turns <= 1000);
}
#define warpgroup_barrier(i) meet(state, i, ++state->meetings * 128)
#define pass_turn(i) atomic_inc(state->meeting + 8 + (i))
#define wait_for_turn(i) meet(state, 8 + (i), ++state->turns_taken * 256)

// What is stored is read when the work-item waits. It may be read at once: the simulator has to know.
void store_later(struct instructions *state, address from, address map, int x, int y)
{
    struct tile_store c = {from, map, x, y, state->store_series};
    state->stored[state->stores++ % 16] = c;
    for (int i = 0; i < 1024; i++)
        *(volatile __local uint *)(from + i * 4);
}
void store_now(struct instructions *state, int left)
{
    for (; state->first_store < state->stores && state->stored[state->first_store % 16].series < state->store_series - left; state->first_store++) {
        struct tile_store c = state->stored[state->first_store % 16];
        __local ulong *map = (__local ulong *)c.map;
        const int bytes = map[1], width = map[2], height = map[3], box_x = map[4], box_y = map[5];
        for (int y = 0; y < box_y && c.y + y < height; y++) {
            for (int x = 0; x < box_x && c.x + x < width; x++) {
                const ulong at = (ulong)(c.y + y) * width + c.x + x;
                const address from = chunk_at(c.from + (y * box_x + x) * bytes);
                if (bytes == 2)
                    ((__global ushort *)map[0])[at] = *(__local ushort *)from;
                else
                    ((__global uint *)map[0])[at] = *(__local uint *)from;
            }
        }
    }
}
#define store_tile(from, map, x, y) store_later(state, from, map, x, y)
#define close_stores() state->store_series++
#define wait_for_stores(groups) store_now(state, groups)

void leave(struct instructions *state)
{
    if (atomic_inc(state->leaving) == items_ - 1)
        atomic_xchg(state->leaving + 1, state->turns + 2);
    while (atomic_or(state->leaving + 1, 0) > state->turns && state->turns <= 1000)
        turn(state);
}
#define all_done() leave(state)

void copy_later(struct instructions *state, int bytes, __local uchar *to, __global const uchar *from, int there)
{
    struct piece_copy c = {to, from, bytes, there, state->piece_series};
    state->piece[state->pieces++ % 1024] = c;
}
#define copy_async(bytes, to, from, there) copy_later(state, bytes, (__local uchar *)(to), (__global const uchar *)(from), there)
#define close_group() state->piece_series++
void copy_now(struct instructions *state, int left)
{
    for (; state->first_piece < state->pieces && state->piece[state->first_piece % 1024].series < state->piece_series - left; state->first_piece++) {
        struct piece_copy c = state->piece[state->first_piece % 1024];
        for (int i = 0; i < c.bytes; i++)
            c.to[i] = i < c.there ? c.from[i] : 0;
    }
}
#define wait_for(groups) copy_now(state, groups)

// Tiles of matmul_wgmma.h.
struct tile { address at; int lead, stride; };
struct tile tile_of(address at, int lead, int stride) { struct tile t = {at, lead, stride}; return t; }
#define tile_descriptor(at, lead, stride) tile_of(at, lead, stride)

#define wgmma_fence()
void multiply_later(struct instructions *state, int count, float *d, uint *a, struct tile tile_a, struct tile tile_b, int add)
{
    struct multiplication one = {d, count, {0, 0, 0, 0}, tile_a.at, tile_b.at, tile_b.lead, tile_b.stride, add, state->done};
    if (a)
        for (int i = 0; i < 4; i++)
            one.a[i] = a[i];
    state->multiply[state->multiplications++ % 64] = one;
    // It may read now: the simulator has to know.
    for (int i = get_local_id(0) % 128; i < count * 8; i += 128) {
#if bits_of_element == 32
        *(volatile __local uint *)chunk_at(tile_b.at + i / 64 * tile_b.stride + i / 8 % 8 * 128 + i % 8 * 4);
#else
        *(volatile __local uint *)chunk_at(tile_b.at + i / 512 * tile_b.lead + i % 512 / 256 * tile_b.stride + i % 256 * 4);
        if (i < 512)
            *(volatile __local uint *)chunk_at(tile_a.at + i / 64 * 1024 + i / 8 % 8 * 128 + i % 8 * 4);
#endif
    }
}
#define wgmma_tf32(N, d, a, b, add) multiply_later(state, N, d, a, b, b, add)
#define wgmma_half(N, d, a, b, add) multiply_later(state, N, d, 0, a, b, add)
#define wgmma_commit() state->done++
#define wgmma_wait(count) multiply_now(state, count)

float4 truncated(uint4 v) { return as_float4(v & 0xffffe000); }

void multiply_now(struct instructions *state, int left)
{
    const int id = get_local_id(0), lane = id % 32, warp = id / 32 % 4;
    for (; state->first_multiplication < state->multiplications && state->multiply[state->first_multiplication % 64].series < state->done - left;
         state->first_multiplication++) {
        struct multiplication one = state->multiply[state->first_multiplication % 64];
        if (!one.add)
            for (int i = 0; i < one.count / 2; i++)
                one.d[i] = 0;
#if bits_of_element == 32
        for (int i = 0; i < 4; i++)
            state->fragments[id][i] = one.a[i];
        turn(state);
        float4 a[2][2]; // by row and half of the terms
        for (int h = 0; h < 2; h++)
            for (int part = 0; part < 2; part++) {
                __local uint (*f)[4] = state->fragments + id / 4 * 4;
                const int r = h + 2 * part;
                a[h][part] = truncated((uint4)(f[0][r], f[1][r], f[2][r], f[3][r]));
            }
        for (int j = 0; j < one.count / 8; j++)
            for (int i = 0; i < 2; i++) {
                const int row = 8 * j + 2 * (lane % 4) + i;
                const address b = one.tile_b + row / 8 * one.stride + row % 8 * 128;
                const float4 b0 = truncated(*(__local uint4 *)chunk_at(b)), b1 = truncated(*(__local uint4 *)chunk_at(b + 16));
                for (int h = 0; h < 2; h++)
                    one.d[4 * j + 2 * h + i] += dot(a[h][0], b0) + dot(a[h][1], b1);
            }
        turn(state);
#else
        float a[2][16];
        for (int h = 0; h < 2; h++) {
            const int row = 16 * warp + lane / 4 + 8 * h;
            const address at = one.tile_a + row / 8 * 1024 + row % 8 * 128;
            for (int part = 0; part < 2; part++)
                vstore8(vload_half8(0, (__local half *)chunk_at(at + part * 16)), part, a[h]);
        }
        for (int j = 0; j < one.count / 8; j++) {
            const int column = 8 * j + 2 * (lane % 4);
            for (int t = 0; t < 16; t++) {
                const address at = one.tile_b + column / 64 * one.lead + t / 8 * one.stride + t % 8 * 128 + column % 64 * 2;
                const float2 b = vload_half2(0, (__local half *)chunk_at(at));
                for (int h = 0; h < 2; h++) {
                    one.d[4 * j + 2 * h] += a[h][t] * b.x;
                    one.d[4 * j + 2 * h + 1] += a[h][t] * b.y;
                }
            }
        }
#endif
    }
}
#line 1
`

// hopperKernel is a kernel of matmul_hopper.yaml in one precision, with the smallest values of its parameters but for some.
func hopperKernel(element, products string, others map[string]string) matmulKernel {
	narrow := map[string][]string{}
	infinities := "1"
	if others["looping"] == "0" { // one of the kernels is without
		infinities = "0"
	}
	values := map[string]string{"tile_m": "64", "tile_n": "64", "stages": "2", "swizzle": "2", "looping": "1", "outgoing": "0", "split_k": "1", "blocks": "1"}
	maps.Copy(values, others)
	for name, value := range values {
		narrow[name] = []string{value}
	}
	k := matmulKernel{name: "hopper", element: element, set: map[string]string{"products": products, "infinities": infinities}, tf32: element == "float" && products == "1", close: true, narrow: narrow}
	k.prelude = fmt.Sprintf("#define bits_of_element %d\n#define items_ get_local_size(0)\n", 8*elements[element].bytes) + warpsInLocalMemory + sharesInConstantMemory + hopperInstructions
	return k
}

// hopperProduct is a launch of the only configuration of a kernel, with infinities if A and B are small.
func hopperProduct(t *testing.T, k matmulKernel, s shape) product {
	t.Helper()
	all := sampled(t, load(t, k.spec(), k.constants(s), k.narrow), 1, 0)
	if len(all) != 1 {
		t.Fatalf("%v: %d configurations", k, len(all))
	}
	p := k.product(t, s, all[0], 1)
	p.infinite = s.m < 9 && k.set["infinities"] == "1"
	return p
}

// hopperSimulations are the three precisions, with copies of tiles and of pieces of all sizes, and kernels with a fault.
func hopperSimulations() map[string]simulation {
	all := map[string]simulation{}
	add := func(name, element, products string, others map[string]string, shapes ...shape) {
		k := hopperKernel(element, products, others)
		all["matmul_hopper "+name] = simulation{trials: func(t *testing.T) (trials []trial) {
			for _, s := range shapes {
				trials = append(trials, hopperProduct(t, k, s))
			}
			return trials
		}}
	}
	tiles, pieces, halves := shape{8, 8, 100}, shape{8, 7, 99}, shape{8, 8, 200} // of few work-items: copies of tiles, and of pieces
	add("float", "float", "3", nil, shape{65, 72, 36}, shape{3, 5, 33}, tiles, pieces)
	add("float, three stages", "float", "3", map[string]string{"stages": "3", "looping": "0"}, shape{65, 40, 132}, shape{7, 36, 66})
	add("tf32", "float", "1", map[string]string{"tile_m": "96"}, shape{65, 72, 36}, shape{66, 8, 65}, shape{9, 65, 40})
	add("tf32, small tiles", "float", "1", nil, tiles, pieces)
	add("tf32, 32 rows", "float", "1", map[string]string{"tile_m": "32", "outgoing": "2"}, shape{8, 8, 40}, pieces)
	add("half", "half", "1", map[string]string{"stages": "3"}, shape{65, 72, 72}, shape{33, 67, 65}, shape{9, 68, 130})
	add("float, stores of tiles", "float", "3", map[string]string{"outgoing": "2", "looping": "0"}, shape{40, 72, 36}, shape{70, 8, 40})
	add("float, taking turns", "float", "3", map[string]string{"tile_n": "128"}, shape{8, 72, 36})
	add("tf32, stores of tiles", "float", "1", map[string]string{"tile_m": "96", "outgoing": "2"}, shape{100, 72, 36})
	add("half, stores of tiles", "half", "1", map[string]string{"tile_n": "128", "outgoing": "2"}, shape{65, 136, 72})
	add("half, two blocks", "half", "1", map[string]string{"tile_n": "128", "tile_m": "128", "blocks": "2", "outgoing": "2"}, shape{65, 72, 72})
	add("float, shared sums", "float", "3", map[string]string{"tile_m": "32", "split_k": "2"}, tiles)
	add("tf32, shared sums", "float", "1", map[string]string{"split_k": "2", "tile_n": "128", "looping": "0"}, shape{65, 9, 66})
	add("half, shared sums", "half", "1", map[string]string{"split_k": "4", "outgoing": "2"}, shape{65, 8, 300})
	add("half, two stages", "half", "1", nil, halves, shape{8, 7, 64})

	mutant := func(name string, s shape, k matmulKernel, takeOut, putIn, report string) {
		all["matmul_hopper "+name] = simulation{
			trials:  func(t *testing.T) []trial { return []trial{hopperProduct(t, k, s)} },
			takeOut: takeOut, putIn: putIn, report: report, wrong: report == "",
		}
	}
	float, tf32, half := hopperKernel("float", "3", nil), hopperKernel("float", "1", nil), hopperKernel("half", "1", nil)
	mutant("that does not wait for a full stage", halves, half, "barrier_wait(full + 8 * s, now / stages & 1);\n            wgmma_fence();", "wgmma_fence();", "")
	mutant("that does not wait for an empty stage", tiles, tf32, "barrier_wait(empty + 8 * s, (next / stages - 1) & 1);", ";", "")
	mutant("that releases a stage which is still read", halves, half, "wgmma_wait(1);", "", "")
	mutant("that does not wait for the low parts of A", tiles, float, "barrier_wait(split + 8 * s, now / stages & 1);", ";", "")
	mutant("that does not wait for pieces", pieces, tf32, "wait_for(stages - 2);", "", "")
	mutant("that leaves infinities in the upper parts", pieces, float, "rest != rest ? 0.0f : v", "v", "")
	stores := hopperKernel("half", "1", map[string]string{"outgoing": "2", "tile_n": "256"})
	wide := shape{8, 256, 64}
	mutant("that passes no turn", shape{8, 72, 36}, hopperKernel("float", "3", map[string]string{"tile_n": "128"}), "pass_turn(warpgroup % warpgroups + 1);", ";", "")
	mutant("that does not wait for its stores", wide, stores, "wait_for_stores(outgoing - 1);", ";", "")
	mutant("that stores before all have written", wide, stores, "proxy_fence();\n            warpgroup_barrier(warpgroup);", "proxy_fence();", "")
	mutant("that writes before all is stored", wide, stores, "wait_for_stores(outgoing - 1);\n            warpgroup_barrier(warpgroup);", "wait_for_stores(outgoing - 1);", "")
	mutant("that does not wait for its last stores", wide, stores, "wait_for_stores(0);", ";", "")
	shared := hopperKernel("half", "1", map[string]string{"split_k": "2"})
	mutant("that leaves out the last share", halves, shared, "j < split_k;", "j < split_k - 1;", "")
	mutant("that begins all shares with the first term", halves, shared, "share / (columns * rows) * steps * terms", "0", "")
	mutant("without a bound of C", tiles, tf32, "row < m && column + i / 2 * 8 < n", "column + i / 2 * 8 < n", "Invalid write")
	mutant("without a bound of odd rows of C", shape{8, 7, 64}, half, "row + h * 8 < m && column + 1 < n", "row + h * 8 < m", "")
	mutant("without a bound of pieces", pieces, tf32, "i * (bytes) < left", "left > 0", "Invalid read")
	if !long { // those above fault the places where work-items meet
		return all
	}
	mutant("that waits for an empty stage a phase too early", halves, half, "(next / stages - 1) & 1", "next / stages & 1", "")
	mutant("that does not wait for its last products", tiles, tf32, "wgmma_wait(0);", "", "")
	mutant("that splits A before it is there", tiles, float, "barrier_wait(full + 8 * s, now / stages & 1);\n                    __local", "__local", "")
	mutant("that expects too few bytes", tiles, tf32, "(tma_b ? bytes_b : 0)", "0", "")
	mutant("that expects too many bytes", tiles, tf32, "(tma_b ? bytes_b : 0)", "bytes_b + 16", "")
	mutant("that lets too few arrive", shape{8, 8, 260}, tf32, "4 * warpgroups)", "4 * warpgroups - 1)", "")
	mutant("that does not round pieces of A", pieces, tf32, "= as_float(tf32(v[j]));", "= v[j];", "")
	mutant("that does not swizzle pieces", pieces, float, " ^ piece_row(bytes) * 16)", ")", "")
	mutant("that does not begin sums anew", tiles, float, "1024), u > 0);", "1024), 1);", "")
	mutant("that leaves out a product of low parts", tiles, float, "wgmma_tf32(tile_m, part, f[u], tile_descriptor(at + bytes_a + u * 32, 16, 1024), 1);", "", "")
	return all
}

// sharesInConstantMemory stands for matmul_split.h. The simulator has no constant memory of its own, so this is global memory that
// outlives the work-groups.
const sharesInConstantMemory = `
#if split_k > 1
#define declare_shares(bytes, counters) __constant uint constant_shares[(bytes) / 4] = {0}, constant_counters[(counters) / 4] = {0};
#define shares ((volatile __global uint *)(size_t)constant_shares)
#define counters_of_shares ((volatile __global uint *)(size_t)constant_counters)
void write_four(volatile __global uint *to, uint a, uint b, uint c, uint d)
{
    atomic_xchg(to, a);
    atomic_xchg(to + 1, b);
    atomic_xchg(to + 2, c);
    atomic_xchg(to + 3, d);
}
#define write_share(i, a, b, c, d) write_four(shares + (i) * 4, as_uint(a), as_uint(b), as_uint(c), as_uint(d))
#define four_at(p) as_float4((uint4)(atomic_or(p, 0), atomic_or((p) + 1, 0), atomic_or((p) + 2, 0), atomic_or((p) + 3, 0)))
#define read_share(i) four_at(shares + (i) * 4)
int last_of(volatile __global uint *counter, int count)
{
    const int last = atomic_inc(counter) == count - 1;
    if (last)
        atomic_xchg(counter, 0);
    return last;
}
#define comes_last(i, count) last_of(counters_of_shares + (i), count)
#else
#define write_share(i, a, b, c, d)
#endif
`
