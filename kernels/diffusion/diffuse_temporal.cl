// `time_steps` explicit time steps of the diffusion equation in one launch. One step is that of
// diffuse_naive.cl,
//
//     u_new[y][x] = u[y][x] + dt * (u[y][x-1] + u[y][x+1] + u[y-1][x] + u[y+1][x] - 4 u[y][x])
//
// and a kernel of one step a launch cannot be faster than the memory, which must read and
// write each cell: 8 bytes an update. This one reads a cell, takes it time_steps
// steps forward, and writes it: 8 / time_steps bytes an update, and what
// overlapping strips cost. The edges of the field are fixed: read, never
// written. u_new and u must not overlap. What is computed is equal to time_steps
// launches of diffuse_naive.cl but for rounding.
//
// How. The field is cut into strips of columns, and these into segments of `rows`
// rows. A segment is walked down once, by a pipeline: when row j of the field
// arrives, row j-1 can make its first step, row j-2 its second, and so on, and row
// j-time_steps is done. Of each of the time_steps levels only the last two rows
// are needed; they stay in registers, or in the cache of a CPU. A strip overlaps its
// neighbours by time_steps columns on either side, and a segment by time_steps
// rows above and below, which are read and computed twice: what is computed from
// beyond the border of a strip is wrong, by one column more in each step, and
// never stored.
//
// Constants
//   nx, ny        cells in x and y: whole numbers from 1 to 2^30, nx * ny below
//                 2^31 (cells are numbered with int)
//   dt            the time step in units of (cell width)^2 / D, a float; the
//                 scheme is stable up to 0.25
//
// Parameters, and what each is expected to buy
//   time_steps    steps of a launch, 1 or more. Each halves, thirds, ... the bytes an
//                 update must move, until arithmetic is the limit; it costs two
//                 rows of a level in registers, and overlap.
//   rows_kept_in  registers: the strip is the vectors of block_size_x work-items,
//                 of which each has vector_width columns, all levels of them, in
//                 registers: 2 * time_steps * vector_width of these. Nothing but the
//                 two cells beside a vector is exchanged, once a row for each level,
//                 and always of rows that were complete a row ago, so that no level
//                 waits for the exchange of another. For GPUs.
//                 cache: the strip belongs to one work-item (block_size_x and
//                 block_size_y are 1), which walks along each row and takes each
//                 vector through all levels. Their rows are private memory, which
//                 on a CPU is its cache: 8 * time_steps * vector_width * (vectors + 2H')
//                 bytes, with H' as below, should fit the first level or the second.
//                 No barrier, no local memory.
//   block_size_x  with registers: work-items of a strip. The strip has
//                 block_size_x * vector_width columns, of which
//                 the vectors of H' = ceil(time_steps / vector_width) work-items on
//                 either side are overlap; some must be left. The wider, the less overlap;
//                 the narrower, the less a barrier costs (none at all where the
//                 group is as wide as the hardware's threads).
//   block_size_y  with shuffles: segments, one below the other, of a work-group. They
//                 have nothing to do with each other, but hardware that takes few
//                 groups at a time takes more of them. Else 1.
//   vector_width  1, 2, 4, 8 or 16. With registers: wide vectors mean fewer exchanges a
//                 cell, and more registers. With cache: the vector of the CPU.
//   vectors       with cache: vectors of a strip that are done; H' on either side are
//                 overlap and come on top of that. Else 1.
//   rows          rows of a segment: the fewer, the more segments there are to work on
//                 at a time; 2 * time_steps rows more are walked than are done.
//   ahead         with registers: rows that are loaded before they are needed, 1 or more.
//                 A row takes vector_width * time_steps updates, some hundred
//                 cycles a group, and a GPU's memory lets wait longer. Else 1.
//   staging       with registers, where these rows wait. registers: unroll_rows must be
//                 a multiple of ahead, so that none has to be moved before it has come.
//                 async_copy: in local memory, 2 * ahead rows of a strip, with
//                 cp.async of PTX (NVIDIA); neighbours must be shuffle_nv, ahead a power
//                 of two, and vector_width 4 or 8, of which nx must be a multiple.
//                 Else registers.
//   arithmetic    plain: (1 - 4dt) * centre + dt * (left + right + above + below), 5 operations
//                 an update with fused multiplication and addition.
//                 diagonal, with registers: above + right of a cell is left + below of
//                 its upper right neighbour; each such sum is computed once, 4
//                 operations.
//                 scaled, with registers: beside that, level t is kept divided by
//                 dt^t, which saves a product, 3 operations. dt^-time_steps must be a
//                 number far below the largest float.
//   unroll_rows   with registers: rows that the loop's body holds: with 2, a row that
//                 has been below need not be moved to where the middle row is. A
//                 divisor of rows + 2 * time_steps.
//                 With cache: vectors that the loop along a row holds.
//   skip_checks   where code without checks for edges runs. never: nowhere, and there is one
//                 version of the code. group: a work-group checks the first and the last
//                 column of the field if its strip has them, and all cells in the rows
//                 in which a segment is at the first or the last row; with cache, a
//                 work-group that sees no edge checks nothing. With cache always group.
//   neighbours    with registers, how the cells beside a vector are exchanged.
//                 local_memory: through local memory, one barrier a row for all
//                 levels; levels go by fours, in accesses of 16 bytes.
//                 They take 64 * ceil(time_steps / 4) * block_size_x bytes.
//                 shuffle_khr, shuffle_intel, shuffle_nv: from registers to
//                 registers of the sub-group, without local memory and barrier
//                 (cl_khr_subgroup_shuffle_relative, cl_intel_subgroups, inline PTX on
//                 NVIDIA). A strip is a sub-group: block_size_x is 32 with
//                 shuffle_nv; with the others it is a width that the device can be
//                 told to use (cl_intel_required_subgroup_size).
//                 With cache: the vectors on either side are loaded for each vector,
//                 or shifted, kept from one vector to the next, which takes
//                 2 * time_steps vectors of registers or the stack.
//
// The device must take the work-group and its local memory; nothing else restricts the
// parameters, and but for async_copy the field need not be a multiple of anything.
//
// The grid covers the field: at least ceil(nx / W) by ceil(ny / (block_size_y * rows))
// work-groups, where W is what a strip does: vector_width * (block_size_x - 2H') columns with
// registers, vector_width * vectors with cache.

#if nx < 1 || ny < 1 || nx > 1 << 30 || ny > 1 << 30 || nx > 2147483647 / ny
#error "diffuse_kernel: nx and ny must be 1 to 2^30 each, and nx * ny below 2^31"
#endif

// The values of parameters, as numbers.
#define registers 1
#define cache 2
#define plain 3
#define diagonal 4
#define scaled 5
#define never 6
#define group 7
#define loaded 8
#define local_memory 9
#define shuffle_khr 10
#define shuffle_intel 11
#define shuffle_nv 12
#define shifted 13
#define async_copy 14

#include "diffuse_vector.h"

#define halo_vectors ((time_steps + vector_width - 1) / vector_width)
#define halo (halo_vectors * vector_width)
#if rows_kept_in == cache
#define strip_vectors (vectors + 2 * halo_vectors)
#else
#define strip_vectors block_size_x
#endif
#define strip (strip_vectors * vector_width)

#if time_steps < 1 || rows < 1
#error "diffuse_kernel: time_steps and rows must be 1 or more"
#endif
#if strip <= 2 * halo
#error "diffuse_kernel: the overlap leaves nothing of a strip: it needs more columns or fewer time_steps"
#endif

// A cell at the next level, from it and the sum of the four around it; the same of one that never
// changes; and what a cell is, from its last level.
#if arithmetic == scaled
#define COMBINED(centre, around) (((1.0f - 4.0f * dt) / dt) * (centre) + (around))
#define KEPT(centre) ((1.0f / dt) * (centre))
#define FINISHED(v) (all_steps() * (v))
ALWAYS_INLINE float all_steps(void) // dt^time_steps
{
    float product = 1.0f;
    #pragma unroll
    for (int t = 0; t < time_steps; t++) {
        product *= dt;
    }
    return product;
}
#else
#define COMBINED(centre, around) (dt * (around) + (1.0f - 4.0f * dt) * (centre))
#define KEPT(centre) (centre)
#define FINISHED(v) (v)
#endif

#if rows_kept_in == registers
#if vectors != 1
#error "diffuse_kernel: with registers, vectors must be 1"
#endif
#if neighbours == loaded || neighbours == shifted
#error "diffuse_kernel: with registers, neighbours must be local_memory or a shuffle"
#endif
#if neighbours == shuffle_nv && block_size_x != 32
#error "diffuse_kernel: with shuffle_nv a strip is a warp: block_size_x must be 32"
#endif
// PoCL 3.1 compiles what remains of a loop with barriers wrongly.
#if (rows + 2 * time_steps) % unroll_rows != 0
#error "diffuse_kernel: with registers, unroll_rows must divide rows + 2 * time_steps"
#endif
#if staging == registers && unroll_rows % ahead != 0
#error "diffuse_kernel: rows that wait in registers need unroll_rows to be a multiple of ahead"
#endif
#if staging == async_copy && (neighbours != shuffle_nv || vector_width % 4 != 0 || vector_width > 8 || nx % vector_width != 0)
#error "diffuse_kernel: async_copy needs shuffle_nv, and a vector_width of 4 or 8 of which nx is a multiple"
#endif
#if staging == async_copy && (ahead & (ahead - 1)) != 0
#error "diffuse_kernel: with async_copy, ahead must be a power of two"
#endif
#if neighbours == local_memory && block_size_y != 1
#error "diffuse_kernel: with local_memory, block_size_y must be 1"
#endif

#define fours ((time_steps + 3) / 4) // of levels, in an exchange

// Exchanges by turns use one half of the memory, so that one barrier is enough: who writes a
// half has passed the barrier after which all have read it.
#if neighbours == local_memory
#define EXCHANGE_MEMORY __local float4 exchanged[2][2][fours][block_size_x];
#define EXCHANGE_PARAMETER , __local float4 (*exchanged)[2][fours][block_size_x]
#define EXCHANGE_ARGUMENT , exchanged
#else
#define EXCHANGE_MEMORY SHUFFLE_MEMORY
#define EXCHANGE_PARAMETER SHUFFLE_PARAMETER
#define EXCHANGE_ARGUMENT SHUFFLE_ARGUMENT
#endif

// coming_row is row k of a walk, which was fetched before. Where registers keep such rows, k must be a constant modulo ahead.
#if staging == async_copy
#ifndef copy_async // A test defines what stands for cp.async: 16 bytes, or zeros if there are none, by groups.
#define copy_async(bytes, to, from, there) \
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" \
                 :: "r"((uint)(size_t)(to)), "l"((ulong)(from)), "n"(bytes), "r"(there) : "memory")
#define close_group() asm volatile("cp.async.commit_group;" ::: "memory")
#define wait_for(groups) asm volatile("cp.async.wait_group %0;" :: "n"(groups) : "memory")
#endif
#define quarters (vector_width / 4)
#define COMING __local float4 (*coming)[quarters][block_size_x]
#define COMING_MEMORY __local float4 all_coming[block_size_y][2 * ahead][quarters][block_size_x]; COMING = all_coming[get_local_id(1)];
// Twice as many places as rows on their way: no copy goes to the place that was read last.
ALWAYS_INLINE void fetch_row(COMING, const int k, __global const float *u, const int x, const int y, const bool checked)
{
    const bool there = !checked || (x >= 0 && x < nx && y >= 0 && y < ny);
    #pragma unroll
    for (int i = 0; i < quarters; i++) {
        copy_async(16, &coming[k & (2 * ahead - 1)][i][get_local_id(0)], u + (there ? y * nx + x + 4 * i : 0), there ? 16 : 0);
    }
    close_group();
}
ALWAYS_INLINE vector coming_row(COMING, const int k)
{
    wait_for(ahead - 1);
    vector v;
    #pragma unroll
    for (int i = 0; i < quarters; i++) {
        ((__private float4 *)&v)[i] = coming[k & (2 * ahead - 1)][i][get_local_id(0)];
    }
    return v;
}
#else
#define COMING vector *coming
#define COMING_MEMORY vector coming[ahead];
ALWAYS_INLINE void fetch_row(COMING, const int k, __global const float *u, const int x, const int y, const bool checked)
{
    coming[k % ahead] = load_row(u, x, y, checked);
}
ALWAYS_INLINE vector coming_row(COMING, const int k) { return coming[k % ahead]; }
#endif

// A level is what is kept of it: its newest row, and of the sums of the update that row is in
// the middle of what is known already. With plain arithmetic that is the row above; with the
// diagonal sums, those of each cell's left and upper neighbour, but that of the first cell
// lacks its left neighbour.
typedef struct {
    vector centre, known;
} level;

// step gives the row of the next level at which centre is, from the row below it, the
// cells on either side, and what is known; and what then is known of the row below.
ALWAYS_INLINE vector step(level *l, const vector below, const float left, const float right)
{
    const vector centre = l->centre;
#if arithmetic == plain
    const vector around = SHIFTED_RIGHT(left, centre) + SHIFTED_LEFT(centre, right) + l->known + below;
    l->known = centre;
#else
    vector left_and_above = l->known;
    FIRST(left_and_above) += left;
    const vector below_and_right = below + SHIFTED_LEFT(centre, right);
    const vector around = left_and_above + below_and_right;
    l->known = SHIFTED_RIGHT(FIRST(centre), below_and_right);
#endif
    l->centre = below;
    return COMBINED(centre, around);
}

// keep_edges gives the cells of a row of the next level that never change what they have: those of the first and the last
// column, and if rows_too is true, those of the first and the last row. What is beyond them does not matter.
ALWAYS_INLINE vector keep_edges(vector result, const vector centre, const int x, const int y, const bool rows_too)
{
    __private float *cells = (__private float *)&result;
    const __private float *before = (const __private float *)&centre;
    #pragma unroll
    for (int i = 0; i < vector_width; i++) {
        // x is a multiple of vector_width, so that most cells are in neither of the two columns, whatever x is.
        if ((i == 0 && x == 0) || ((nx - 1 - i) % vector_width == 0 && x + i == nx - 1)) {
            cells[i] = KEPT(before[i]);
        }
    }
    return rows_too && (y < 1 || y >= ny - 1) ? KEPT(centre) : result;
}

#define WHOLE(count) ((count) / unroll_rows * unroll_rows)

// What a work-item of a strip knows.
typedef struct {
    int x;       // of its vector
    int top;     // first row of the segment
    bool stores; // the vector is no overlap
} item;

// walk takes the rows from first to before end, counted from the first one that is loaded, through all levels. With columns_checked the
// strip may have the first and the last column of the field, with rows_checked also the first and the last row, and rows beyond them.
ALWAYS_INLINE void walk(level *levels, COMING, __global float *u_new, __global const float *u, const item here,
                        const int first, const int end, const bool columns_checked, const bool rows_checked EXCHANGE_PARAMETER)
{
    const int last = here.top + rows + time_steps - 1; // row that is loaded
#if neighbours == local_memory
    const int tx = get_local_id(0);
    const int before = max(tx - 1, 0); // who has no neighbour is in the overlap
    const int behind = min(tx + 1, block_size_x - 1);
#endif
    for (int some = first; some < end; some += unroll_rows) {
        #pragma unroll
        for (int k = some; k < some + unroll_rows; k++) {
            const int y = here.top - time_steps + k; // of the newest row of level 0
#if staging == registers
            const int place = k - some; // a constant
#else
            const int place = k;
#endif
            vector row = coming_row(coming, place);
            fetch_row(coming, place + ahead, u, here.x, min(y + ahead, last), columns_checked || rows_checked);

#if neighbours == local_memory
            __local float4 (*firsts)[block_size_x] = exchanged[k & 1][0];
            __local float4 (*lasts)[block_size_x] = exchanged[k & 1][1];
            #pragma unroll
            for (int i = 0; i < fours; i++) {
                float4 four_firsts = (float4)0.0f;
                float4 four_lasts = (float4)0.0f;
                #pragma unroll
                for (int j = 0; j < min(4, time_steps - 4 * i); j++) {
                    ((__private float *)&four_firsts)[j] = FIRST(levels[4 * i + j].centre);
                    ((__private float *)&four_lasts)[j] = LAST(levels[4 * i + j].centre);
                }
                firsts[i][tx] = four_firsts;
                lasts[i][tx] = four_lasts;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            float4 lefts[fours];
            float4 rights[fours];
            #pragma unroll
            for (int i = 0; i < fours; i++) {
                lefts[i] = lasts[i][before];
                rights[i] = firsts[i][behind];
            }
#endif
            #pragma unroll
            for (int t = 0; t < time_steps; t++) {
                const vector centre = levels[t].centre;
#if neighbours == local_memory
                const float left = ((__private float *)lefts)[t];
                const float right = ((__private float *)rights)[t];
#else
                const float left = SHUFFLE_UP(LAST(centre));
                const float right = SHUFFLE_DOWN(FIRST(centre));
#endif
                row = step(&levels[t], row, left, right);
                if (columns_checked || rows_checked) {
                    row = keep_edges(row, centre, here.x, y - 1 - t, rows_checked);
                }
            }
            if (here.stores && k >= 2 * time_steps) {
                store_row(u_new, FINISHED(row), here.x, y - time_steps, columns_checked || rows_checked);
            }
        }
    }
}

__kernel SUB_GROUPS_OF(block_size_x) __attribute__((reqd_work_group_size(block_size_x, block_size_y, 1)))
void diffuse_kernel(__global float *restrict u_new, __global const float *restrict u)
{
    EXCHANGE_MEMORY
    const int left = (int)get_group_id(0) * (strip - 2 * halo) - halo;
    const int high = (int)get_group_id(1) * (block_size_y * rows);
    // Groups outside of the field do not return here: in one run of ten that made PoCL 3.1 compute
    // groups wrongly that pass barriers. They load zeros and store nothing.
    const int tx = get_local_id(0);
    const item here = {left + tx * vector_width, high + (int)get_local_id(1) * rows,
                       tx >= halo_vectors && tx < block_size_x - halo_vectors};

    level levels[time_steps];
    #pragma unroll
    for (int t = 0; t < time_steps; t++) {
        levels[t].centre = (vector)0.0f;
        levels[t].known = (vector)0.0f;
    }
    COMING_MEMORY
    #pragma unroll
    for (int i = 0; i < ahead; i++) {
        fetch_row(coming, i, u, here.x, min(here.top - time_steps + i, here.top + rows + time_steps - 1), true);
    }
#if skip_checks == group
    // The rows in which no segment of the group updates the first row of the field, and none loads a row that is beyond the last one.
    const int all = rows + 2 * time_steps;
    const int lowest = high + (block_size_y - 1) * rows - time_steps; // first row that the last segment loads
    const int begin = min(WHOLE(max(2 * time_steps + 1 - high, 0) + unroll_rows - 1), all);
    const int end = max(WHOLE(min(max(ny - ahead - lowest, 0), all)), begin);
    walk(levels, coming, u_new, u, here, 0, begin, true, true EXCHANGE_ARGUMENT);
    if (left > 0 && left + strip < nx) {
        walk(levels, coming, u_new, u, here, begin, end, false, false EXCHANGE_ARGUMENT);
    } else {
        walk(levels, coming, u_new, u, here, begin, end, true, false EXCHANGE_ARGUMENT);
    }
    walk(levels, coming, u_new, u, here, end, all, true, true EXCHANGE_ARGUMENT);
#elif skip_checks == never
    walk(levels, coming, u_new, u, here, 0, rows + 2 * time_steps, true, true EXCHANGE_ARGUMENT);
#else
#error "diffuse_kernel: skip_checks must be never or group"
#endif
}

#elif rows_kept_in == cache
#if block_size_x != 1 || block_size_y != 1
#error "diffuse_kernel: with cache, block_size_x and block_size_y must be 1"
#endif
#if arithmetic != plain || skip_checks != group
#error "diffuse_kernel: with cache, arithmetic must be plain and skip_checks group"
#endif
#if neighbours != loaded && neighbours != shifted
#error "diffuse_kernel: with cache, neighbours must be loaded or shifted"
#endif

// walk takes the rows from top on time_steps steps forward, of a strip that begins at column left.
ALWAYS_INLINE void walk(__global float *u_new, __global const float *u, const int left, const int top, const bool checked)
{
    // Rows by turns are in one half and in the other: the newest of level t, of which [1] is the
    // first vector, and the one above it, in whose place the one below comes. Beside them is
    // what is read, but no result that is stored depends on it.
    vector kept[2][strip_vectors + 2][time_steps];
    for (int i = 0; i < strip_vectors + 2; i++) {
        for (int t = 0; t < time_steps; t++) {
            kept[0][i][t] = (vector)0.0f;
            kept[1][i][t] = (vector)0.0f;
        }
    }

    for (int k = 0; k < min(rows, ny - top) + 2 * time_steps; k++) {
        const int y = top - time_steps + k; // of the newest row of level 0
        vector (*newest)[time_steps] = kept[k & 1];
        vector (*above)[time_steps] = kept[~k & 1];
        vector before[time_steps];
        vector here[time_steps];
        #pragma unroll
        for (int t = 0; t < time_steps; t++) {
            before[t] = newest[0][t];
            here[t] = newest[1][t];
        }
        #pragma unroll unroll_rows
        for (int i = 1; i <= strip_vectors; i++) {
            const int x = left + (i - 1) * vector_width;
            vector row = load_row(u, x, y, checked);
            #pragma unroll
            for (int t = 0; t < time_steps; t++) {
#if neighbours == loaded
                before[t] = newest[i - 1][t];
                here[t] = newest[i][t];
#endif
                const vector behind = newest[i + 1][t];
                const vector sides = SHIFTED_RIGHT(LAST(before[t]), here[t]) + SHIFTED_LEFT(here[t], FIRST(behind));
                const vector around = sides + above[i][t] + row;
                above[i][t] = row;
                row = COMBINED(here[t], around);
                if (checked && (y - 1 - t < 1 || y - 1 - t >= ny - 1)) {
                    row = here[t];
                }
#if neighbours == shifted
                before[t] = here[t];
                here[t] = behind;
#endif
            }
            if (k >= 2 * time_steps && i > halo_vectors && i <= strip_vectors - halo_vectors) {
                store_row(u_new, row, x, y - time_steps, checked);
            }
        }
        // What was computed of columns that never change was used for nothing but themselves yet.
        if (checked) {
            for (int t = 1; t < time_steps; t++) {
                const int j = min(max(y - t, 0), ny - 1);
                if (left <= 0) {
                    ((__private float *)&above[1 - left / vector_width][t])[0] = u[j * nx];
                }
                if (left + strip >= nx) {
                    const int last = nx - 1 - left;
                    ((__private float *)&above[1 + last / vector_width][t])[last % vector_width] = u[j * nx + nx - 1];
                }
            }
        }
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void diffuse_kernel(__global float *restrict u_new, __global const float *restrict u)
{
    const int left = (int)get_group_id(0) * (strip - 2 * halo) - halo;
    const int top = (int)get_group_id(1) * rows;
    if (left + halo >= nx || top >= ny) {
        return;
    }
    if (left > 0 && left + strip < nx && top > time_steps && top + rows + time_steps < ny) {
        walk(u_new, u, left, top, false);
    } else {
        walk(u_new, u, left, top, true);
    }
}
#else
#error "diffuse_kernel: rows_kept_in must be registers or cache"
#endif
