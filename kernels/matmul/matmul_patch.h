// The sums of a warp's patch of C, blocks_m x blocks_n blocks of 16 x 8 elements, as mma.sync leaves them in the registers of 32
// work-items: lane i has columns 2 (i % 4) and 2 (i % 4) + 1 of row i / 4 of each block, and of row i / 4 + 8. Included where
// m, n, blocks_m, blocks_n and what matmul_element.h defines are known.

void clear_patch(real sum[blocks_m][blocks_n][4])
{
    #pragma unroll
    for (int y = 0; y < blocks_m; y++) {
        #pragma unroll
        for (int x = 0; x < blocks_n; x++) {
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                sum[y][x][i] = 0;
            }
        }
    }
}

// keep stores two sums that lie side by side, as far as they are inside of C.
void keep(__global element *C, real first, real second, int row, int column)
{
#if n % 2 == 0
    if (row < m && column < n) {
        store_aligned(2, (vector2)(first, second), C + row * n + column);
    }
#else
    if (row < m && column < n) {
        store(1, first, C + row * n + column);
    }
    if (row < m && column + 1 < n) {
        store(1, second, C + row * n + column + 1);
    }
#endif
}

// keep_patch stores the patch whose first element is in row top and column left.
void keep_patch(__global element *C, real sum[blocks_m][blocks_n][4], int top, int left)
{
    const int lane = get_local_id(0) % 32;
    #pragma unroll
    for (int y = 0; y < blocks_m; y++) {
        #pragma unroll
        for (int x = 0; x < blocks_n; x++) {
            const int row = top + y * 16 + lane / 4;
            const int column = left + x * 8 + lane % 4 * 2;
            keep(C, sum[y][x][0], sum[y][x][1], row, column);
            keep(C, sum[y][x][2], sum[y][x][3], row + 8, column);
        }
    }
}
