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
#define shorter (item_m <= item_n ? item_m : item_n)
#define ahead (lookahead > 0)

#if tile_m % item_m != 0 || tile_n % item_n != 0 || item_m % fragment != 0 || item_n % fragment != 0
#error "matmul_kernel: tiles must be multiples of what a work-item computes, and that of 16 bytes"
#elif 32 % patch_x != 0 || items_x % patch_x != 0 || items_y % patch_y != 0
#error "matmul_kernel: work-items must make up whole patches of 32"
#elif tile_k % width != 0 || tile_n % width != 0 || (tile_m * tile_k) % (items * width) != 0 || (tile_k * tile_n) % (items * width) != 0
#error "matmul_kernel: each work-item must bring the same number of vectors of A and of B"
#elif lookahead && tile_k % 2 != 0
#error "matmul_kernel: lookahead needs an even tile_k"
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

// part is the i-th number of a fragment; after unrolling i is a constant. fragment_of is the
// fragment of the sums from s on. It adds 0, which gives it registers of its own: 16 bytes are
// stored from neighbouring registers, where a sum is often in the bank of its factor.
#if fragment == 2
#define part(v, i) ((i) == 0 ? (v).s0 : (v).s1)
#define fragment_of(s) ((frag)((s)[0] + 0, (s)[1] + 0))
#else
#define part(v, i) ((i) == 0 ? (v).s0 : (i) == 1 ? (v).s1 : (i) == 2 ? (v).s2 : (v).s3)
#define fragment_of(s) ((frag)((s)[0] + 0, (s)[1] + 0, (s)[2] + 0, (s)[3] + 0))
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

// NVIDIA's compiler puts a read off until its number is needed, but not a volatile read.
#if lookahead == 2
#define promptly volatile
#else
#define promptly
#endif

// read_terms reads the fragments of one term of the sums from local memory.
void read_terms(frag *beside, frag *above, promptly __local const frag *a, promptly __local const frag *b)
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

// add_terms adds a term to each sum, along the shorter side of the patch, forth and back in
// turn, so that each multiplication shares a factor with the one before it. NVIDIA's
// registers are in two banks, and each bank is read once a cycle. The shared factor is kept;
// the compiler can put the other factor and the sum into different banks.
void add_terms(real sum[item_m][item_n], const frag *beside, const frag *above)
{
    #pragma unroll
    for (int i = 0; i < item_m * item_n; i++) {
        const int along = i / shorter % 2 == 0 ? i % shorter : shorter - 1 - i % shorter;
        const int y = item_m <= item_n ? along : i / shorter;
        const int x = item_m <= item_n ? i / shorter : along;
        sum[y][x] += part(beside[y / fragment], y % fragment) * part(above[x / fragment], x % fragment);
    }
}

// keep stores the sums that lie inside of C.
void keep(__global element *C, real sum[item_m][item_n], int top, int left)
{
    #pragma unroll
    for (int y = 0; y < item_m; y++) {
        const int row = top + y / fragment * (items_y * fragment) + y % fragment;
        #pragma unroll
        for (int f = 0; f < fragments_n; f++) {
            const int column = left + f * (items_x * fragment);
#if n % fragment == 0
            if ((m % tile_m == 0 || row < m) && (n % tile_n == 0 || column < n)) {
                store_aligned(fragment, fragment_of(sum[y] + f * fragment), C + row * n + column);
            }
#else
            #pragma unroll
            for (int i = 0; i < fragment; i++) {
                if (row < m && column + i < n) {
                    store(1, sum[y][f * fragment + i], C + row * n + column + i);
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

    real sum[item_m][item_n];
    #pragma unroll
    for (int i = 0; i < item_m * item_n; i++) {
        sum[i / item_n][i % item_n] = 0;
    }

    // With lookahead each term is added after the next one is read, the last term of a step
    // after the first one of the next step. Before the first step it is zero.
    frag beside[1 + ahead][fragments_m], above[1 + ahead][fragments_n];
    #pragma unroll
    for (int f = 0; f < fragments_m; f++) {
        beside[ahead][f] = (frag)(0);
    }
    #pragma unroll
    for (int f = 0; f < fragments_n; f++) {
        above[ahead][f] = (frag)(0);
    }

#if staging == local_memory
    vec_a next_a[count_a];
    vec_b next_b[count_b];
    fetch(next_a, next_b, A, B, from_a, from_b, 0);
    put((__local real *)a[0], (__local real *)b[0], next_a, next_b);
#else
    #pragma unroll
    for (int step = 0; step < stages - 1; step++) {
        bring((__local real *)a[step], (__local real *)b[step], A, B, from_a, from_b, step);
    }
#endif
    for (int step = 0; step < steps; step++) {
        const int now = step % stages;
#if staging == local_memory
        const int then = (step + 1) % stages;
        if (step + 1 < steps) {
            fetch(next_a, next_b, A, B, from_a, from_b, step + 1);
        }
#else
        const int then = (step + stages - 1) % stages;
        wait_for(stages - 2);
#endif
        // All have what they need, and nobody reads any more what is replaced now.
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (int i = 0; i < tile_k; i++) {
            read_terms(beside[i % (1 + ahead)], above[i % (1 + ahead)], &a[now][i][ty], &b[now][i][tx]);
#if staging == async_copy
            if (i == 0) {
                bring((__local real *)a[then], (__local real *)b[then], A, B, from_a, from_b, step + stages - 1);
            }
#endif
            add_terms(sum, beside[(i + ahead) % (1 + ahead)], above[(i + ahead) % (1 + ahead)]);
        }
#if staging == local_memory
#if stages == 1
        barrier(CLK_LOCAL_MEM_FENCE); // others still read what is replaced now
#endif
        if (step + 1 < steps) {
            put((__local real *)a[then], (__local real *)b[then], next_a, next_b);
        }
#endif
    }
#if lookahead
    add_terms(sum, beside[1], above[1]);
#endif

    keep(C, sum, top + ty * fragment, left + tx * fragment);
}
