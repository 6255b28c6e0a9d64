// One explicit time step of the diffusion equation, as in diffuse_naive.cl,
//
//     u_new[y][x] = u[y][x] + dt * (u[y][x-1] + u[y][x+1] + u[y-1][x] + u[y+1][x] - 4 u[y][x])
//
// at the speed of a copy: a work-item has vector_width neighbouring columns and
// walks down `rows` rows of them, with the row above, the row itself and the one
// below in registers. Each row is loaded once, as a vector; only the two cells
// beside the vector are loaded again, and these the cache has, because they
// belong to the vectors of the neighbours. There is no local memory and no
// barrier. The edges of the field are fixed: read, never written. u_new and u
// must not overlap.
//
// Constants
//   nx, ny        cells in x and y: whole numbers from 1 to 2^30, nx * ny below
//                 2^31 (cells are numbered with int)
//   dt            the time step in units of (cell width)^2 / D, a float; the
//                 scheme is stable up to 0.25
//
// Parameters
//   block_size_x  work-items of a work-group in x and y; see diffuse_naive.cl.
//   block_size_y
//   vector_width  columns of a work-item: 1, 2, 4, 8 or 16. Four floats are the
//                 widest access of most GPUs, wider vectors are several of them,
//                 which means more loads in flight; to a CPU 8 or 16 floats are a
//                 register. Vectors are aligned where vector_width divides nx;
//                 elsewhere a compiler may split their accesses.
//   rows          rows of a work-item, 1 or more. There are rows + 2 loads for
//                 `rows` stores: the more, the fewer are loaded twice (the second
//                 time from the cache), and the fewer work-items there are to
//                 hide latencies.
//   walk          streaming: the rows of a work-item lie one below the other.
//                 strided: they are block_size_y apart, so that a work-group
//                 works on neighbouring rows at a time; each row is then loaded
//                 three times, twice from the cache, and all loads are independent.
//   unroll_rows   steps of the loop over rows that are one piece of code, a
//                 divisor of `rows`: their loads are in flight together.
//   skip_checks   where code without checks for edges runs. never: each row and
//                 each vector is checked; item: a work-item whose patch lies
//                 inside of the field skips all checks, which lets the
//                 work-items of a warp diverge at the edges; group: a work-group
//                 does so as a whole.
//   neighbours    where the cells beside a vector come from. cached: from memory,
//                 that is the cache. shuffle_khr, shuffle_intel, shuffle_nv: from
//                 the neighbour's registers, where it is in the same sub-group
//                 (cl_khr_subgroup_shuffle_relative, cl_intel_subgroups, inline PTX
//                 on NVIDIA), which saves two loads a row. All work-items
//                 must then run the same code (skip_checks is not item), and with
//                 shuffle_nv the size of the work-group is a multiple of 32.
//
// The device must take the work-group; nothing else restricts the parameters, and
// the field need not be a multiple of anything.
//
// The grid covers the field: at least ceil(nx / (block_size_x * vector_width))
// by ceil(ny / (block_size_y * rows)) work-groups.

#if nx < 1 || ny < 1 || nx > 1 << 30 || ny > 1 << 30 || nx > 2147483647 / ny
#error "diffuse_kernel: nx and ny must be 1 to 2^30 each, and nx * ny below 2^31"
#endif

// The values of parameters, as numbers.
#define streaming 1
#define strided 2
#define never 3
#define item 4
#define group 5
#define cached 6
#define shuffle_khr 7
#define shuffle_intel 8
#define shuffle_nv 9

#if neighbours != cached && skip_checks == item
#error "diffuse_kernel: shuffles need all work-items in the same code: skip_checks must not be item"
#endif

#include "diffuse_vector.h"

#if walk == streaming
#define row_distance 1
#elif walk == strided
#define row_distance block_size_y
#else
#error "diffuse_kernel: walk must be streaming or strided"
#endif

// load_cell loads one cell, or gives 0 for one outside of the field.
ALWAYS_INLINE float load_cell(__global const float *u, const int x, const int y, const bool checked)
{
    return !checked || (x >= 0 && x < nx && y >= 0 && y < ny) ? u[y * nx + x] : 0.0f;
}

// update takes the rows of a work-item one step forward. Its first vector is at (x, top).
ALWAYS_INLINE void update(__global float *u_new, __global const float *u,
                   const int x, const int top, const bool checked SHUFFLE_PARAMETER)
{
#if neighbours != cached
    // The neighbour in the sub-group is that in the row, where numbers say so.
    const int tx = get_local_id(0);
    const float id = (int)get_local_id(1) * block_size_x + tx;
    const float before = SHUFFLE_UP(id);
    const float behind = SHUFFLE_DOWN(id);
    const bool has_left = tx > 0 && LANE > 0 && before == id - 1.0f;
    const bool has_right = tx < block_size_x - 1 && LANE < LANES - 1 && behind == id + 1.0f;
#endif
#if walk == streaming
    vector above = load_row(u, x, top - 1, checked);
    vector centre = load_row(u, x, top, checked);
#endif
    #pragma unroll unroll_rows
    for (int k = 0; k < rows; k++) {
        const int y = top + k * row_distance;
#if walk == strided
        const vector above = load_row(u, x, y - 1, checked);
        const vector centre = load_row(u, x, y, checked);
#endif
        const vector below = load_row(u, x, y + 1, checked);
#if neighbours == cached
        const float left = load_cell(u, x - 1, y, checked);
        const float right = load_cell(u, x + vector_width, y, checked);
#else
        float left = SHUFFLE_UP(LAST(centre));
        float right = SHUFFLE_DOWN(FIRST(centre));
        if (!has_left) {
            left = load_cell(u, x - 1, y, checked);
        }
        if (!has_right) {
            right = load_cell(u, x + vector_width, y, checked);
        }
#endif
        const vector around = SHIFTED_RIGHT(left, centre) + SHIFTED_LEFT(centre, right) + above + below;
        store_row(u_new, centre + dt * (around - 4.0f * centre), x, y, checked);
#if walk == streaming
        above = centre;
        centre = below;
#endif
    }
}

__kernel __attribute__((reqd_work_group_size(block_size_x, block_size_y, 1)))
void diffuse_kernel(__global float *restrict u_new, __global const float *restrict u)
{
    SHUFFLE_MEMORY
    const int left = (int)get_group_id(0) * (block_size_x * vector_width);
    const int high = (int)get_group_id(1) * (block_size_y * rows);
    const int x = left + (int)get_local_id(0) * vector_width;
#if walk == streaming
    const int top = high + (int)get_local_id(1) * rows;
#else
    const int top = high + (int)get_local_id(1);
#endif

#if skip_checks == never
    const bool inside = false;
#elif skip_checks == item
    const bool inside = x > 0 && x + vector_width < nx && top > 0 && top + (rows - 1) * row_distance < ny - 1;
#elif skip_checks == group
    const bool inside = left > 0 && left + block_size_x * vector_width < nx && high > 0 && high + block_size_y * rows < ny;
#else
#error "diffuse_kernel: skip_checks must be never, item or group"
#endif
    if (inside) {
        update(u_new, u, x, top, false SHUFFLE_ARGUMENT);
    } else {
        update(u_new, u, x, top, true SHUFFLE_ARGUMENT);
    }
}
