// Matrix multiplication without local memory on devices that can hand registers around in
// a sub-group: included by matmul_fast.cl, where the parameters are explained.
//
// A sub-group of tile_k work-items sums item_m rows and tile_k * item_n columns of C. For
// tile_k terms at a time, each of its work-items reads one element of each row of A, and
// they are broadcast one after the other, while rows of B are read in vectors of `width`
// that lie side by side. A work-group is (tile_n / item_n) * (tile_m / item_m) work-items,
// whose sub-groups share what they read through the cache.

#define items_x (tile_n / item_n)
#define items_y (tile_m / item_m)
#define items (items_x * items_y)
#define across (items_x / tile_k) // sub-groups side by side

#if tile_m % item_m != 0 || tile_n % (tile_k * item_n) != 0 || item_n % width != 0
#error "matmul_kernel: staging=sub_group needs tile_m % item_m == 0, tile_n % (tile_k * item_n) == 0 and item_n % width == 0"
#endif

#if n % width == 0
#define width_b width
#else
#define width_b 1
#endif
#define vec vector(width_b)
#define vectors (item_n / width_b)

#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif

__kernel __attribute__((reqd_work_group_size(items, 1, 1))) __attribute__((intel_reqd_sub_group_size(tile_k)))
void matmul_kernel(__global element *restrict C, __global const element *restrict A, __global const element *restrict B)
{
    const int2 tile = tile_of_group();
    if (tile.x < 0) {
        return;
    }
    const int group = get_sub_group_id();
    const int lane = get_sub_group_local_id();
    const int top = tile.y * tile_m + group / across * item_m;
    const int left = tile.x * tile_n + group % across * (tile_k * item_n) + lane * width_b;

    // Rows and columns beyond the edges are computed from the last ones inside.
    int from_a[item_m], from_b[vectors];
    #pragma unroll
    for (int y = 0; y < item_m; y++) {
        from_a[y] = min(top + y, m - 1) * k;
    }
    #pragma unroll
    for (int v = 0; v < vectors; v++) {
        from_b[v] = min(left + v * (tile_k * width_b), n - width_b);
    }

    vec sum[item_m][vectors];
    #pragma unroll
    for (int y = 0; y < item_m; y++) {
        #pragma unroll
        for (int v = 0; v < vectors; v++) {
            sum[y][v] = (vec)(0);
        }
    }

    for (int first = 0; first < k; first += tile_k) {
        real beside[item_m];
        #pragma unroll
        for (int y = 0; y < item_m; y++) {
            beside[y] = load(1, A + from_a[y] + min(first + lane, k - 1));
        }
        #pragma unroll
        for (int i = 0; i < tile_k; i++) {
            if (k % tile_k == 0 || first + i < k) {
                vec above[vectors];
                #pragma unroll
                for (int v = 0; v < vectors; v++) {
                    above[v] = load_aligned(width_b, B + (first + i) * n + from_b[v]);
                }
                #pragma unroll
                for (int y = 0; y < item_m; y++) {
                    const real one = sub_group_broadcast(beside[y], i);
                    #pragma unroll
                    for (int v = 0; v < vectors; v++) {
                        sum[y][v] += one * above[v];
                    }
                }
            }
        }
    }

    #pragma unroll
    for (int y = 0; y < item_m; y++) {
        #pragma unroll
        for (int v = 0; v < vectors; v++) {
            const int column = left + v * (tile_k * width_b);
            if (top + y < m && column < n) {
                store_aligned(width_b, sum[y][v], C + (top + y) * n + column);
            }
        }
    }
}
