// Matrix multiplication for devices whose local memory is memory like any other, CPUs
// above all: included by matmul_fast.cl, where the parameters are explained.
//
// A work-group is one work-item, and computes tile_m rows and tile_n columns of C. For
// each tile_k rows of B it copies its columns into a panel, so that what the innermost
// loop reads lies one behind the other and stays in the first or second cache; then it
// walks down its rows, item_m at a time. A patch of item_m x item_n elements is summed
// in vector registers: each element of A that is read serves item_n of them, each vector
// of B item_m. Between one panel and the next the sums rest in an array.
//
// Beyond the edges of A its last row is read again, beyond those of B there are zeros in
// the panel; what is computed there is not stored.

#if tile_m % item_m != 0 || tile_n % item_n != 0 || item_n % width != 0 || width < 2
#error "matmul_kernel: staging=registers needs tile_m % item_m == 0, tile_n % item_n == 0, item_n % width == 0 and width > 1"
#endif

#define vec vector(width)
#define vectors (item_n / width)
#define patches_m (tile_m / item_m)
#define patches_n (tile_n / item_n)

// columns_of is a vector of the elements of B at p, of which so many are there.
vec columns_of(__global const element *p, int there)
{
    if (there >= width) {
        return load(width, p);
    }
    real some[width];
    for (int j = 0; j < width; j++) {
        some[j] = j < there ? load(1, p + j) : 0;
    }
    return paste(vload, width)(0, some);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void matmul_kernel(__global element *restrict C, __global const element *restrict A, __global const element *restrict B)
{
    const int left = (int)get_group_id(0) * tile_n;
    const int top = (int)get_group_id(1) * tile_m;
    if (left >= n || top >= m) {
        return;
    }

    vec sums[patches_m][patches_n][item_m][vectors];
    vec panel[patches_n][tile_k][vectors];
#if pack
    real strip[tile_k][item_m];
#endif

    for (int first = 0; first < k; first += tile_k) {
        const int depth = min(tile_k, k - first);
        for (int i = 0; i < depth; i++) {
            for (int px = 0; px < patches_n; px++) {
                #pragma unroll
                for (int v = 0; v < vectors; v++) {
                    const int column = left + px * item_n + v * width;
                    panel[px][i][v] = columns_of(B + (first + i) * n + min(column, n - 1), n - column);
                }
            }
        }

        for (int py = 0; py < patches_m; py++) {
            __global const element *rows[item_m];
            #pragma unroll
            for (int y = 0; y < item_m; y++) {
                rows[y] = A + min(top + py * item_m + y, m - 1) * k + first;
            }
#if pack
            for (int i = 0; i < depth; i++) {
                #pragma unroll
                for (int y = 0; y < item_m; y++) {
                    strip[i][y] = load(1, rows[y] + i);
                }
            }
#endif
            for (int px = 0; px < patches_n; px++) {
                vec sum[item_m][vectors];
                #pragma unroll
                for (int y = 0; y < item_m; y++) {
                    #pragma unroll
                    for (int v = 0; v < vectors; v++) {
                        sum[y][v] = first == 0 ? (vec)(0) : sums[py][px][y][v];
                    }
                }
                for (int i = 0; i < depth; i++) {
                    vec above[vectors];
                    #pragma unroll
                    for (int v = 0; v < vectors; v++) {
                        above[v] = panel[px][i][v];
                    }
                    #pragma unroll
                    for (int y = 0; y < item_m; y++) {
#if pack
                        const real beside = strip[i][y];
#else
                        const real beside = load(1, rows[y] + i);
#endif
                        #pragma unroll
                        for (int v = 0; v < vectors; v++) {
                            sum[y][v] += beside * above[v];
                        }
                    }
                }
                #pragma unroll
                for (int y = 0; y < item_m; y++) {
                    #pragma unroll
                    for (int v = 0; v < vectors; v++) {
                        sums[py][px][y][v] = sum[y][v];
                    }
                }
            }
        }
    }

    for (int py = 0; py < patches_m; py++) {
        for (int y = 0; y < item_m; y++) {
            const int row = top + py * item_m + y;
            for (int px = 0; px < patches_n; px++) {
                for (int v = 0; v < vectors; v++) {
                    const int column = left + px * item_n + v * width;
                    if (row < m && column + width <= n) {
                        store(width, sums[py][px][y][v], C + row * n + column);
                    } else if (row < m) {
                        real some[width];
                        paste(vstore, width)(sums[py][px][y][v], 0, some);
                        for (int j = 0; j < width && column + j < n; j++) {
                            store(1, some[j], C + row * n + column + j);
                        }
                    }
                }
            }
        }
    }
}
