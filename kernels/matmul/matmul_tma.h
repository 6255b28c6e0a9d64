// Bulk copies of tiles (TMA) and barriers in local memory (mbarriers), PTX for compute capability 9.0: PTX ISA, «Data Movement
// and Conversion Instructions: Tensor Copy» and «Parallel Synchronization: mbarrier».
//
// A barrier is 8 bytes of local memory at an address b. It has phases; one ends when all have arrived and all bytes have.
//   barrier_init(b, count)      by one work-item, before all others use it: count arrive in each phase
//   barriers_ready()            by the same, after the last barrier_init
//   barrier_arrive(b)
//   barrier_expect(b, bytes)    arrives, and lets the phase wait for so many bytes of copies
//   barrier_wait(b, parity)     until the phase of this parity (0, 1, 0, …) has ended
//   proxy_fence()               makes what was written to local memory visible to wgmma and copies
//
// A map of 128 bytes tells the copies of a matrix in row-major order. Nothing but CUDA's host library makes them, so the kernel does.
//   declare_maps(bytes)     at the top of a file: global memory for the maps of all work-groups; bytes is a number, no expression
//   slot_of_maps(group)     where the 384 bytes of a work-group begin
//   make_map(at, slot, pointer, type, bytes, width, height, box_x, box_y, mode)
//       by all 32 of a warp: in local memory at at, published to global memory at slot. The box is the tile of a
//       copy. The mode is 0, or 3: rows of 128 bytes swizzled as matmul_wgmma.h says. Rows begin at multiples of 16
//       bytes.
//   use_map(slot)           by a work-item of another warp that copies with this map, after a barrier
//   load_tile(to, map, x, y, b)
//       copies the box at column x, row y to local memory. It arrives at b by its bytes. What lies beyond the
//       matrix is zero.
//   store_tile(from, map, x, y)
//       copies local memory to the box at column x, row y, without what lies beyond the matrix
//   close_stores()          what this work-item stored since the last one is a group
//   wait_for_stores(groups) until no more than so many groups of this work-item are still to be read from local memory
//   warpgroup_barrier(i)    a barrier of the work-items of the i-th warpgroup, 0 < i < 8
//   pass_turn(i), wait_for_turn(i)   the i-th warpgroup waits until another one has passed the turn to it
//
// fewer_registers(count) and more_registers(count) give registers of this warpgroup back, or take more.

#ifndef load_tile
#define barrier_init(b, count) __asm__ volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(b), "r"(count) : "memory")
#define barriers_ready() __asm__ volatile("fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;" ::: "memory")
#define barrier_arrive(b) __asm__ volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(b) : "memory")
#define barrier_expect(b, bytes) \
    __asm__ volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(b), "r"(bytes) : "memory")
#define proxy_fence() __asm__ volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define fewer_registers(count) __asm__ volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(count))
#define more_registers(count) __asm__ volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(count))

void barrier_wait(address b, int parity)
{
    uint done;
    do {
        __asm__ volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(b), "r"(parity) : "memory");
    } while (!done);
}

#define load_tile(to, map, x, y, b) \
    __asm__ volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" \
                     :: "r"(to), "l"(map), "r"(x), "r"(y), "r"(b) : "memory")

#define store_tile(from, map, x, y) \
    __asm__ volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" \
                     :: "l"(map), "r"(x), "r"(y), "r"(from) : "memory")
#define close_stores() __asm__ volatile("cp.async.bulk.commit_group;" ::: "memory")
#define wait_for_stores(groups) __asm__ volatile("cp.async.bulk.wait_group.read %0;" :: "n"(groups) : "memory")
#define warpgroup_barrier(i) __asm__ volatile("bar.sync %0, 128;" :: "r"(i) : "memory")
#define pass_turn(i) __asm__ volatile("bar.arrive %0, 256;" :: "r"(8 + (i)) : "memory")
#define wait_for_turn(i) __asm__ volatile("bar.sync %0, 256;" :: "r"(8 + (i)) : "memory")

#define type_half 6
#define type_float 7
#define type_tf32 11 // floats, rounded on the way

#define text_(s) #s
#define text(s) text_(s)
#define declare_maps(bytes) __asm__(".global .align 128 .b8 tensor_maps[" text(bytes) "];");
ulong slot_of_maps(int group)
{
    ulong slot;
    __asm__ volatile("mov.u64 %0, tensor_maps;" : "=l"(slot));
    return slot + (ulong)group * 384;
}

#define set_field(at, field, size, constraint, value) \
    __asm__ volatile("tensormap.replace.tile." field ".shared::cta.b1024." size " [%0], %1;" :: "r"(at), constraint(value) : "memory")
#define set_element(at, field, size, constraint, i, value) \
    __asm__ volatile("tensormap.replace.tile." field ".shared::cta.b1024." size " [%0], " #i ", %1;" :: "r"(at), constraint(value) : "memory")
#define make_map(at, slot, pointer, type, bytes, width, height, box_x, box_y, mode) do { \
    if (get_local_id(0) % 32 < 16) \
        __asm__ volatile("st.shared.u64 [%0], %1;" :: "r"((at) + (uint)get_local_id(0) % 32 * 8), "l"(0UL) : "memory"); \
    __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory"); \
    if (get_local_id(0) % 32 == 0) { \
        set_field(at, "global_address", "b64", "l", pointer); \
        set_field(at, "rank", "b32", "r", 1); \
        set_element(at, "box_dim", "b32", "r", 0, box_x); \
        set_element(at, "box_dim", "b32", "r", 1, box_y); \
        set_element(at, "global_dim", "b32", "r", 0, width); \
        set_element(at, "global_dim", "b32", "r", 1, height); \
        set_element(at, "global_stride", "b64", "l", 0, (ulong)(width) * (bytes)); \
        set_element(at, "element_stride", "b32", "r", 0, 1); \
        set_element(at, "element_stride", "b32", "r", 1, 1); \
        set_field(at, "elemtype", "b32", "n", type); \
        set_field(at, "interleave_layout", "b32", "n", 0); \
        set_field(at, "swizzle_mode", "b32", "n", mode); \
        set_field(at, "fill_mode", "b32", "n", 0); \
    } \
    __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory"); \
    __asm__ volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" \
                     :: "l"(slot), "r"(at) : "memory"); \
    use_map(slot); \
} while (0)
#define use_map(slot) __asm__ volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(slot) : "memory")
#endif
