// diffuse_stencil.cl in CUDA C: one explicit time step of the diffusion equation, in which a
// thread has vector_width neighbouring columns and walks down `rows` rows of them, with the row
// above, the row itself and the one below in registers. There is no shared memory and no barrier.
// The edges of the field are read, never written; u_new and u must not overlap.
//
// Constants
//   nx, ny        cells in x and y: 1 to 2^30 each, nx * ny below 2^31
//   dt            the time step, a float; the scheme is stable up to 0.25
//
// Parameters, which diffuse_stencil.cl explains
//   block_size_x  threads of a block in x and y
//   block_size_y
//   vector_width  columns of a thread: 1, 2, 4, 8 or 16
//   rows          rows of a thread
//   walk          streaming: one below the other; strided: block_size_y apart
//   unroll_rows   steps of the loop over rows that are one piece of code
//   skip_checks   where code without checks for edges runs: never, item (a thread inside of the
//                 field) or group (a block inside)
//   neighbours    where the cells beside a vector come from: cached, or shuffle_nv, from the
//                 registers of the neighbours in the warp. block_size_x is then a multiple of 32,
//                 and skip_checks is not item.
//
// The grid covers the field: at least ceil(nx / (block_size_x * vector_width))
// by ceil(ny / (block_size_y * rows)) blocks.

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
#define shuffle_nv 7

#if neighbours != cached && neighbours != shuffle_nv
#error "diffuse_kernel: neighbours must be cached or shuffle_nv"
#elif neighbours == shuffle_nv && (skip_checks == item || block_size_x % 32 != 0)
#error "diffuse_kernel: shuffles need whole warps in the same code"
#endif

#if walk == streaming
#define row_distance 1
#elif walk == strided
#define row_distance block_size_y
#else
#error "diffuse_kernel: walk must be streaming or strided"
#endif

// A vector is loaded and stored at once where every row begins at a multiple of it, by 16 bytes at most.
struct __align__(vector_width < 4 ? 4 * vector_width : 16) vector {
    float cells[vector_width];
};

__device__ inline bool in_field(int x, int y) { return x >= 0 && x < nx && y >= 0 && y < ny; }
__device__ inline bool is_inner(int x, int y) { return x > 0 && x < nx - 1 && y > 0 && y < ny - 1; }

// load loads the vector at (x, y). Cells outside of the field are 0: nothing depends on them, because
// their neighbours in the field are edges, which are not updated.
template <bool checked>
__device__ inline vector load(const float *__restrict__ u, int x, int y)
{
    const float *from = u + (y * nx + x);
    vector v = {};
#if nx % vector_width == 0
    if (!checked || in_field(x, y)) {
        v = *(const vector *)from;
    }
#else
    #pragma unroll
    for (int i = 0; i < vector_width; i++) {
        if (!checked || in_field(x + i, y)) {
            v.cells[i] = from[i];
        }
    }
#endif
    return v;
}

// store stores the vector at (x, y), but for cells that are no inner ones.
template <bool checked>
__device__ inline void store(float *__restrict__ u_new, const vector &v, int x, int y)
{
    float *to = u_new + (y * nx + x);
    if (nx % vector_width == 0 && (!checked || (is_inner(x, y) && is_inner(x + vector_width - 1, y)))) {
        *(vector *)to = v;
    } else {
        #pragma unroll
        for (int i = 0; i < vector_width; i++) {
            if (!checked || is_inner(x + i, y)) {
                to[i] = v.cells[i];
            }
        }
    }
}

// load_beside loads one cell beside a vector, or gives 0 for one outside of the field.
template <bool checked>
__device__ inline float load_beside(const float *__restrict__ u, int x, int y)
{
    return !checked || in_field(x, y) ? u[y * nx + x] : 0.0f;
}

// update takes the rows of a thread one step forward. Its first vector is at (x, top).
template <bool checked>
__device__ inline void update(float *__restrict__ u_new, const float *__restrict__ u, int x, int top)
{
    vector above = load<checked>(u, x, top - 1);
    vector centre = load<checked>(u, x, top);
    #pragma unroll unroll_rows
    for (int k = 0; k < rows; k++) {
        const int y = top + k * row_distance;
#if walk == strided
        above = load<checked>(u, x, y - 1);
        centre = load<checked>(u, x, y);
#endif
        const vector below = load<checked>(u, x, y + 1);
#if neighbours == cached
        const float left = load_beside<checked>(u, x - 1, y);
        const float right = load_beside<checked>(u, x + vector_width, y);
#else
        // A row of the block is whole warps.
        float left = __shfl_up_sync(0xffffffff, centre.cells[vector_width - 1], 1);
        float right = __shfl_down_sync(0xffffffff, centre.cells[0], 1);
        if (threadIdx.x % 32 == 0) {
            left = load_beside<checked>(u, x - 1, y);
        }
        if (threadIdx.x % 32 == 31) {
            right = load_beside<checked>(u, x + vector_width, y);
        }
#endif
        vector next;
        #pragma unroll
        for (int i = 0; i < vector_width; i++) {
            const float before = i > 0 ? centre.cells[i - 1] : left;
            const float behind = i < vector_width - 1 ? centre.cells[i + 1] : right;
            const float around = before + behind + above.cells[i] + below.cells[i];
            next.cells[i] = centre.cells[i] + dt * (around - 4.0f * centre.cells[i]);
        }
        store<checked>(u_new, next, x, y);
        above = centre;
        centre = below;
    }
}

extern "C" __global__ __launch_bounds__(block_size_x * block_size_y)
void diffuse_kernel(float *__restrict__ u_new, const float *__restrict__ u)
{
    const int left = blockIdx.x * (block_size_x * vector_width);
    const int high = blockIdx.y * (block_size_y * rows);
    const int x = left + threadIdx.x * vector_width;
    const int top = high + threadIdx.y * (walk == streaming ? rows : 1);

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
        update<false>(u_new, u, x, top);
    } else {
        update<true>(u_new, u, x, top);
    }
}
