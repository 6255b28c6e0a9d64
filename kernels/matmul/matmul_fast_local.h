// Matrix multiplication through local memory, with two levels of tiles: included by
// matmul_fast.cl, where the parameters are explained.
//
// A work-group computes tile_m rows and tile_n columns of C, tile_k terms at a time. Of
// these, the elements of A and B are brought into local memory, A transposed, in `stages`
// buffers: while one is computed with, the next ones are on their way, either through
// registers (staging=local_memory) or past them (staging=async_copy). A work-item sums
// item_m x item_n elements, in fragments of 16 bytes: one access of local memory
// brings one fragment.
//
// Rows and columns beyond the edges of C are computed from the last ones inside, which
// costs nothing in the loop, and are not stored. Only the last, partial tile of
// k is filled up with zeros, by code of its own.

// Numbers in 16 bytes.
#if bits == 64
#define fragment 2
#else
#define fragment 4
#endif
#define frag vector(fragment)

#define items_x (tile_n / item_n)
#define items_y (tile_m / item_m)
#define items (items_x * items_y)
#define patch_y (32 / patch_x)
#define fragments_m (item_m / fragment)
#define fragments_n (item_n / fragment)

#if tile_m % item_m != 0 || tile_n % item_n != 0 || item_m % fragment != 0 || item_n % fragment != 0
#error "matmul_kernel: tiles must be multiples of what a work-item computes, and that of 16 bytes"
#elif 32 % patch_x != 0 || items_x % patch_x != 0 || items_y % patch_y != 0
#error "matmul_kernel: work-items must make up whole patches of 32"
#elif tile_k % width != 0 || tile_n % width != 0 || (tile_m * tile_k) % (items * width) != 0 || (tile_k * tile_n) % (items * width) != 0
#error "matmul_kernel: each work-item must bring the same number of vectors of A and of B"
#elif pad % fragment != 0
#error "matmul_kernel: pad must keep rows of local memory aligned to 16 bytes"
#endif

// Vectors are read where rows are made of whole ones. Then a vector is wholly inside
// of its matrix or wholly outside, and aligned. cp.async cannot scatter one.
#if k % width == 0 && staging != async_copy
#define width_a width
#else
#define width_a 1
#endif
#if n % width == 0
#define width_b width
#else
#define width_b 1
#endif

// Vectors that a work-item brings of each tile.
#define count_a (tile_m * tile_k / (items * width_a))
#define count_b (tile_k * tile_n / (items * width_b))

#define pitch_a (tile_m + pad)
#define pitch_b (tile_n + pad)
#define whole (k / tile_k)
#define tail (k % tile_k)
#define steps (whole + (tail > 0))

// part is the i-th number of a fragment; after unrolling i is a constant.
#if fragment == 2
#define part(v, i) ((i) == 0 ? (v).s0 : (v).s1)
#else
#define part(v, i) ((i) == 0 ? (v).s0 : (i) == 1 ? (v).s1 : (i) == 2 ? (v).s2 : (v).s3)
#endif

// A work-item's vectors: the v-th of a tile of A stands in row row_a, those of B in row
// row_b, and so on.
#define row_a(v) ((v) / (tile_k / width_a))
#define column_a(v) ((v) % (tile_k / width_a) * width_a)
#define row_b(v) ((v) / (tile_n / width_b))
#define column_b(v) ((v) % (tile_n / width_b) * width_b)

#if staging == local_memory

#define vec_a vector(width_a)
#define vec_b vector(width_b)

#define store_local(w, v, p) paste(store_local, w)(v, p)
#define store_local1(v, p) (*(p) = (v))
#define store_local2(v, p) (*(__local vector2 *)(p) = (v))
#define store_local4(v, p) (*(__local vector4 *)(p) = (v))

// scatter stores a vector of a row of A into a column of the transposed tile.
#define scatter(w, v, p) paste(scatter, w)(v, p)
#define scatter1(v, p) ((p)[0] = (v))
#define scatter2(v, p) ((p)[0] = (v).s0, (p)[pitch_a] = (v).s1)
#define scatter4(v, p) ((p)[0] = (v).s0, (p)[pitch_a] = (v).s1, (p)[2 * pitch_a] = (v).s2, (p)[3 * pitch_a] = (v).s3)

// fetch reads this work-item's vectors of one step into registers.
void fetch(vec_a *next_a, vec_b *next_b, __global const element *A, __global const element *B,
           const int *from_a, const int *from_b, int step)
{
    const int id = get_local_id(0);
#if tail > 0
    if (step == whole) {
        #pragma unroll
        for (int i = 0; i < count_a; i++) {
            next_a[i] = (vec_a)(0);
            if (column_a(id + i * items) < tail) {
                next_a[i] = load_aligned(width_a, A + from_a[i] + step * tile_k);
            }
        }
        #pragma unroll
        for (int i = 0; i < count_b; i++) {
            next_b[i] = (vec_b)(0);
            if (row_b(id + i * items) < tail) {
                next_b[i] = load_aligned(width_b, B + from_b[i] + step * (tile_k * n));
            }
        }
        return;
    }
#endif
    #pragma unroll
    for (int i = 0; i < count_a; i++) {
        next_a[i] = load_aligned(width_a, A + from_a[i] + step * tile_k);
    }
    #pragma unroll
    for (int i = 0; i < count_b; i++) {
        next_b[i] = load_aligned(width_b, B + from_b[i] + step * (tile_k * n));
    }
}

// put moves what was fetched into a buffer of local memory.
void put(__local real *a, __local real *b, const vec_a *next_a, const vec_b *next_b)
{
    const int id = get_local_id(0);
    #pragma unroll
    for (int i = 0; i < count_a; i++) {
        const int v = id + i * items;
        scatter(width_a, next_a[i], a + column_a(v) * pitch_a + row_a(v));
    }
    #pragma unroll
    for (int i = 0; i < count_b; i++) {
        const int v = id + i * items;
        store_local(width_b, next_b[i], b + row_b(v) * pitch_b + column_b(v));
    }
}

#else

#include "matmul_async.h"

// bring sends this work-item's vectors of one step on their way into a buffer of local
// memory. Beyond the last step nothing is sent, and the group is empty.
void bring(__local real *a, __local real *b, __global const element *A, __global const element *B,
           const int *from_a, const int *from_b, int step)
{
    const int id = get_local_id(0);
    if (step < steps) {
        const int left = k - step * tile_k;
        #pragma unroll
        for (int i = 0; i < count_a; i++) {
            const int v = id + i * items;
            const bool there = tail == 0 || column_a(v) < left;
            copy_async(sizeof(element), a + column_a(v) * pitch_a + row_a(v),
                       A + (there ? from_a[i] + step * tile_k : 0), there ? sizeof(element) : 0);
        }
        #pragma unroll
        for (int i = 0; i < count_b; i++) {
            const int v = id + i * items;
            const bool there = tail == 0 || row_b(v) < left;
            copy_async(width_b * sizeof(element), b + row_b(v) * pitch_b + column_b(v),
                       B + (there ? from_b[i] + step * (tile_k * n) : 0), there ? width_b * sizeof(element) : 0);
        }
    }
    close_group();
}

#endif

// read_terms reads the fragments of one term of the sums from local memory.
void read_terms(frag *beside, frag *above, __local const frag *a, __local const frag *b)
{
    #pragma unroll
    for (int f = 0; f < fragments_m; f++) {
        beside[f] = a[f * items_y];
    }
    #pragma unroll
    for (int f = 0; f < fragments_n; f++) {
        above[f] = b[f * items_x];
    }
}

// add_terms adds a term to each sum.
void add_terms(frag sum[item_m][fragments_n], const frag *beside, const frag *above)
{
    #pragma unroll
    for (int y = 0; y < item_m; y++) {
        #pragma unroll
        for (int f = 0; f < fragments_n; f++) {
            sum[y][f] += part(beside[y / fragment], y % fragment) * above[f];
        }
    }
}

// multiply adds the terms of one step. With lookahead the fragments of the next term are
// read before those of this one are used.
void multiply(frag sum[item_m][fragments_n], __local const frag *a, __local const frag *b)
{
    frag beside[1 + lookahead][fragments_m], above[1 + lookahead][fragments_n];
#if lookahead
    read_terms(beside[0], above[0], a, b);
#endif
    #pragma unroll
    for (int i = 0; i < tile_k; i++) {
        const int next = i + lookahead;
        if (next < tile_k) {
            read_terms(beside[next % (1 + lookahead)], above[next % (1 + lookahead)], a + next * (pitch_a / fragment),
                       b + next * (pitch_b / fragment));
        }
        add_terms(sum, beside[i % (1 + lookahead)], above[i % (1 + lookahead)]);
    }
}

// keep stores the sums that lie inside of C.
void keep(__global element *C, frag sum[item_m][fragments_n], int top, int left)
{
    #pragma unroll
    for (int y = 0; y < item_m; y++) {
        const int row = top + y / fragment * (items_y * fragment) + y % fragment;
        #pragma unroll
        for (int f = 0; f < fragments_n; f++) {
            const int column = left + f * (items_x * fragment);
#if n % fragment == 0
            if ((m % tile_m == 0 || row < m) && (n % tile_n == 0 || column < n)) {
                store_aligned(fragment, sum[y][f], C + row * n + column);
            }
#else
            #pragma unroll
            for (int i = 0; i < fragment; i++) {
                if (row < m && column + i < n) {
                    store(1, part(sum[y][f], i), C + row * n + column + i);
                }
            }
#endif
        }
    }
}

__kernel __attribute__((reqd_work_group_size(items, 1, 1)))
void matmul_kernel(__global element *restrict C, __global const element *restrict A, __global const element *restrict B)
{
    // Arrays of fragments, and not of numbers: from that the compiler knows the alignment.
    __local frag a[stages][tile_k][pitch_a / fragment];
    __local frag b[stages][tile_k][pitch_b / fragment];

    const int2 tile = tile_of_group();
    if (tile.x < 0) {
        return;
    }
    const int left = tile.x * tile_n;
    const int top = tile.y * tile_m;
    const int id = get_local_id(0);

    // Each patch of 32 work-items is patch_x wide.
    const int patch = id / 32;
    const int tx = patch % (items_x / patch_x) * patch_x + id % patch_x;
    const int ty = patch / (items_x / patch_x) * patch_y + id % 32 / patch_x;

    // Where this work-item's vectors of A and B stand in the first step.
    int from_a[count_a], from_b[count_b];
    #pragma unroll
    for (int i = 0; i < count_a; i++) {
        const int v = id + i * items;
        from_a[i] = min(top + row_a(v), m - 1) * k + column_a(v);
    }
    #pragma unroll
    for (int i = 0; i < count_b; i++) {
        const int v = id + i * items;
        from_b[i] = row_b(v) * n + min(left + column_b(v), n - width_b);
    }

    frag sum[item_m][fragments_n];
    #pragma unroll
    for (int y = 0; y < item_m; y++) {
        #pragma unroll
        for (int f = 0; f < fragments_n; f++) {
            sum[y][f] = (frag)(0);
        }
    }

#if staging == local_memory
    vec_a next_a[count_a];
    vec_b next_b[count_b];
    fetch(next_a, next_b, A, B, from_a, from_b, 0);
    put((__local real *)a[0], (__local real *)b[0], next_a, next_b);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 0; step < steps; step++) {
        const int now = step % stages;
        const int then = (step + 1) % stages;
        if (step + 1 < steps) {
            fetch(next_a, next_b, A, B, from_a, from_b, step + 1);
        }
        multiply(sum, &a[now][0][ty], &b[now][0][tx]);
        if (step + 1 < steps) {
#if stages == 1
            barrier(CLK_LOCAL_MEM_FENCE); // others still read what is replaced now
#endif
            put((__local real *)a[then], (__local real *)b[then], next_a, next_b);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
#else
    #pragma unroll
    for (int step = 0; step < stages - 1; step++) {
        bring((__local real *)a[step], (__local real *)b[step], A, B, from_a, from_b, step);
    }
    for (int step = 0; step < steps; step++) {
        const int now = step % stages;
        const int then = (step + stages - 1) % stages;
        wait_for(stages - 2);
        // All have what they need, and nobody reads any more what is replaced now.
        barrier(CLK_LOCAL_MEM_FENCE);
        bring((__local real *)a[then], (__local real *)b[then], A, B, from_a, from_b, step + stages - 1);
        multiply(sum, &a[now][0][ty], &b[now][0][tx]);
    }
#endif

    keep(C, sum, top + ty * fragment, left + tx * fragment);
}
