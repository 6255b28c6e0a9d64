// Copies of tiles by the 128 work-items of a warpgroup, for matrices whose rows begin at no multiple of 16 bytes. Included by
// matmul_hopper.cl, whose constants it uses.
//
//   piece(columns)   the bytes of a piece: as many of 16, 8, 4 and 2 as all rows of so many elements are a multiple of
//   tma_a, tma_b     1 if TMA brings the matrix, 0 if it is brought in pieces
//   any_pieces       1 if one of the two is brought in pieces, else 0
//   copy_pieces_of_a(to, from, x, y)   copies the tile from column x, row y of a matrix to local memory, as load_tile of matmul_tma.h
//   copy_pieces_of_b                   does, with cp.async, or at once if the pieces have 2 bytes. Beyond the matrix is zero.
//   complete_pieces_of_a(to)   floats: rounds the pieces to tf32, or writes the low parts beside them. Each work-item does so with
//                              its own pieces, when they have come.

#include "matmul_async.h"

#define piece(columns) ((columns) % (128 / bits) == 0 ? 16 : (columns) % (64 / bits) == 0 ? 8 : (columns) % (32 / bits) == 0 ? 4 : 2)
#if piece(k) == 16
#define tma_a 1
#else
#define tma_a 0
#endif
#if piece(n) == 16
#define tma_b 1
#else
#define tma_b 0
#endif
#define any_pieces (1 - (tma_a & tma_b))

// The loops are unrolled, and distances between the pieces of a work-item are constants: each of the four warps is alone on its
// scheduler, and nothing hides the latency of longer chains of instructions.

// Rows of 128 bytes: a work-item has the same column in rows `bytes` apart. The i-th piece stands at place(bytes, i), swizzled as
// matmul_wgmma.h says.
#define piece_row(bytes) ((int)get_local_id(0) / (128 / (bytes)))
#define piece_column(bytes) ((int)get_local_id(0) % (128 / (bytes)) * (bytes))
#define place(bytes, i) ((piece_row(bytes) * 128 + (piece_column(bytes) ^ piece_row(bytes) * 16) ^ (i) * (bytes) % 8 * 16) + (i) * (bytes) * 128)
#define at_once 32 // pieces of 2 bytes that are on their way, in registers

#define copy_rows(bytes, count, to, from, x, y, across, down) do { \
    const int left = (x) + piece_column(bytes) * 8 / bits < (across) ? (down) - (y) - piece_row(bytes) : 0; \
    __global const stored *first_piece = (from) + (long)((y) + piece_row(bytes)) * (across) + (x) + piece_column(bytes) * 8 / bits; \
    if (bytes > 2) { \
        _Pragma("unroll") \
        for (int i = 0; i < (count) / (bytes); i++) \
            copy_async(bytes > 2 ? bytes : 4, (to) + place(bytes, i), first_piece + i * (bytes) * (across), i * (bytes) < left ? (bytes) : 0); \
    } else { \
        for (int begin = 0; begin < (count) / (bytes); begin += at_once) { \
            stored some[at_once]; \
            _Pragma("unroll") \
            for (int i = 0; i < at_once; i++) \
                some[i] = (begin + i) * (bytes) < left ? first_piece[(begin + i) * (bytes) * (across)] : 0; \
            _Pragma("unroll") \
            for (int i = 0; i < at_once; i++) \
                *(__local stored *)((to) + begin * (bytes) * 128 + place(bytes, i)) = some[i]; \
        } \
    } \
} while (0)

__attribute__((always_inline)) void copy_pieces_of_a(instructions_parameter __local uchar *to, __global const stored *from, int x, int y)
{
    copy_rows(piece(k), tile_m, to, from, x, y, k, m);
}

#if bits == 16
__attribute__((always_inline)) void copy_pieces_of_b(instructions_parameter __local uchar *to, __global const stored *from, int x, int y)
{
    for (int j = 0; j < tile_n / 64; j++)
        copy_rows(piece(n), 64, to + j * 8192, from, x + j * 64, y, n, k);
}
#else
// Each warp has every fourth row, and its work-items neighbouring columns.
__attribute__((always_inline)) void copy_pieces_of_b(instructions_parameter __local uchar *to, __global const stored *from, int x, int y)
{
    const int row = get_local_id(0) / 32, column = get_local_id(0) % 32 * (piece(n) / 4);
    const int rows_left = k - y - row, columns_left = n - x - column;
    __global const stored *first_piece = from + (long)(y + row) * n + x + column;
    #pragma unroll
    for (int i = 0; i < terms / 4; i++) {
        #pragma unroll
        for (int j = 0; j < tile_n / (8 * piece(n)); j++) {
            const int inside = i * 4 < rows_left && j * 8 * piece(n) < columns_left;
            copy_async(piece(n), to + ((row + i * 4) * pitch + column + j * 8 * piece(n)) * 4, first_piece + i * 4 * n + j * 8 * piece(n), inside ? piece(n) : 0);
        }
    }
}

// The numbers of a work-item that are in registers at once, and the j-th of those from piece i on.
#define own_at_once (tile_m % 64 == 0 ? 16 : 8)
#define number(to, i, j) (((__local float *)((to) + place(piece(k), (i) + (j) / (piece(k) / 4))))[(j) % (piece(k) / 4)])

__attribute__((always_inline)) void complete_pieces_of_a(__local uchar *to)
{
    #pragma unroll
    for (int i = 0; i < tile_m / piece(k); i += own_at_once * 4 / piece(k)) {
        float v[own_at_once];
        #pragma unroll
        for (int j = 0; j < own_at_once; j++)
            v[j] = number(to, i, j);
#if products == 3
        float zero = 0;
        #pragma unroll
        for (int j = 0; j < own_at_once; j++) {
            number(to + bytes_a, i, j) = low(v[j]);
            zero += v[j] - v[j];
        }
#if infinities
        if (zero != zero) { // one is infinite or NaN
            #pragma unroll
            for (int j = 0; j < own_at_once; j++)
                number(to, i, j) = high(v[j]);
        }
#endif
#else
        #pragma unroll
        for (int j = 0; j < own_at_once; j++)
            number(to, i, j) = as_float(tf32(v[j]));
#endif
    }
}
#endif
