// Vectors of neighbouring cells of a row, for kernels that have a row, or a part of it, in
// registers: diffuse_stencil.cl and diffuse_temporal.cl include it behind their checks of nx, ny.
//
//   vector_width  cells of a vector: 1, 2, 4, 8 or 16
//   neighbours    how the two cells beside a vector come from the neighbouring work-items: see
//                 the kernels. shuffle_khr, shuffle_intel and shuffle_nv are macros with
//                 different numbers.

// Functions are for each place that calls them: most get constants, which decide what is left of them.
#define ALWAYS_INLINE static inline __attribute__((always_inline))

// LOAD_ANYWHERE and STORE_ANYWHERE access a vector at any float.
// SHIFTED_RIGHT is the cells to the left of a vector's, SHIFTED_LEFT those to the right.
#if vector_width == 1
typedef float vector;
#define FIRST(v) (v)
#define LAST(v) (v)
#define SHIFTED_RIGHT(left, v) (left)
#define SHIFTED_LEFT(v, right) (right)
#define LOAD_ANYWHERE(p) (*(p))
#define STORE_ANYWHERE(v, p) (*(p) = (v))
#elif vector_width == 2
typedef float2 vector;
#define FIRST(v) ((v).s0)
#define LAST(v) ((v).s1)
#define SHIFTED_RIGHT(left, v) ((float2)(left, (v).s0))
#define SHIFTED_LEFT(v, right) ((float2)((v).s1, right))
#define LOAD_ANYWHERE(p) vload2(0, p)
#define STORE_ANYWHERE(v, p) vstore2(v, 0, p)
#elif vector_width == 4
typedef float4 vector;
#define FIRST(v) ((v).s0)
#define LAST(v) ((v).s3)
#define SHIFTED_RIGHT(left, v) ((float4)(left, (v).s012))
#define SHIFTED_LEFT(v, right) ((float4)((v).s123, right))
#define LOAD_ANYWHERE(p) vload4(0, p)
#define STORE_ANYWHERE(v, p) vstore4(v, 0, p)
#elif vector_width == 8
typedef float8 vector;
#define FIRST(v) ((v).s0)
#define LAST(v) ((v).s7)
#define SHIFTED_RIGHT(left, v) ((float8)(left, (v).s0123, (v).s456))
#define SHIFTED_LEFT(v, right) ((float8)((v).s1234, (v).s567, right))
#define LOAD_ANYWHERE(p) vload8(0, p)
#define STORE_ANYWHERE(v, p) vstore8(v, 0, p)
#elif vector_width == 16
typedef float16 vector;
#define FIRST(v) ((v).s0)
#define LAST(v) ((v).sf)
#define SHIFTED_RIGHT(left, v) ((float16)(left, (v).s01234567, (v).s89ab, (v).scde))
#define SHIFTED_LEFT(v, right) ((float16)((v).s12345678, (v).s9abc, (v).sdef, right))
#define LOAD_ANYWHERE(p) vload16(0, p)
#define STORE_ANYWHERE(v, p) vstore16(v, 0, p)
#else
#error "diffuse_kernel: vector_width must be 1, 2, 4, 8 or 16"
#endif

// Where every row begins at a multiple of the vector, its accesses are aligned, which a
// compiler cannot know.
#if nx % vector_width == 0
#define LOAD(p) (*(__global const vector *)(p))
#define STORE(v, p) (*(__global vector *)(p) = (v))
#else
#define LOAD(p) LOAD_ANYWHERE(p)
#define STORE(v, p) STORE_ANYWHERE(v, p)
#endif

// load_row loads the vector at (x, y); x is a multiple of vector_width. Cells outside of the field are 0: nothing depends
// on them, because their neighbours in the field are edges, which are not updated.
ALWAYS_INLINE vector load_row(__global const float *u, const int x, const int y, const bool checked)
{
    if (!checked || (x >= 0 && x + vector_width <= nx && y >= 0 && y < ny)) {
        return LOAD(u + (y * nx + x));
    }
#if nx % vector_width == 0
    return (vector)0.0f;
#else
    vector v;
    __private float *cells = (__private float *)&v;
    #pragma unroll
    for (int i = 0; i < vector_width; i++) {
        cells[i] = x + i >= 0 && x + i < nx && y >= 0 && y < ny ? u[y * nx + x + i] : 0.0f;
    }
    return v;
#endif
}

// store_row stores the vector at (x, y), but for cells that are no inner ones.
ALWAYS_INLINE void store_row(__global float *u_new, const vector v, const int x, const int y, const bool checked)
{
    if (!checked || (x > 0 && x + vector_width < nx && y > 0 && y < ny - 1)) {
        STORE(v, u_new + (y * nx + x));
    } else if (y > 0 && y < ny - 1) {
        const __private float *cells = (const __private float *)&v;
        #pragma unroll
        for (int i = 0; i < vector_width; i++) {
            if (x + i > 0 && x + i < nx - 1) {
                u_new[y * nx + x + i] = cells[i];
            }
        }
    }
}

// SHUFFLE_UP(v) is v of the work-item before, SHUFFLE_DOWN(v) of the one behind it in the
// sub-group; whether there is one, LANE and LANES tell. SUB_GROUPS_OF(width) is the attribute of a
// kernel that needs sub-groups of that width.
#if defined(SHUFFLE_UP)
// A test defines shuffles for devices that have none, and what they need.
#elif neighbours == shuffle_khr
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle_relative : enable
#define SUB_GROUPS_OF(width) __attribute__((intel_reqd_sub_group_size(width)))
#define SHUFFLE_UP(v) sub_group_shuffle_up(v, 1u)
#define SHUFFLE_DOWN(v) sub_group_shuffle_down(v, 1u)
#define LANE (int)get_sub_group_local_id()
#define LANES (int)get_sub_group_size()
#elif neighbours == shuffle_intel
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#define SUB_GROUPS_OF(width) __attribute__((intel_reqd_sub_group_size(width)))
#define SHUFFLE_UP(v) intel_sub_group_shuffle_up(v, v, 1u)
#define SHUFFLE_DOWN(v) intel_sub_group_shuffle_down(v, v, 1u)
#define LANE (int)get_sub_group_local_id()
#define LANES (int)get_sub_group_size()
#elif neighbours == shuffle_nv
ALWAYS_INLINE float warp_shuffle_up(const float v)
{
    float from;
    asm volatile("shfl.sync.up.b32 %0, %1, 1, 0, 0xffffffff;" : "=f"(from) : "f"(v));
    return from;
}
ALWAYS_INLINE float warp_shuffle_down(const float v)
{
    float from;
    asm volatile("shfl.sync.down.b32 %0, %1, 1, 31, 0xffffffff;" : "=f"(from) : "f"(v));
    return from;
}
#define SHUFFLE_UP(v) warp_shuffle_up(v)
#define SHUFFLE_DOWN(v) warp_shuffle_down(v)
#define LANE (((int)get_local_id(1) * block_size_x + (int)get_local_id(0)) % 32)
#define LANES 32
#endif
#ifndef SUB_GROUPS_OF
#define SUB_GROUPS_OF(width)
#endif
#ifndef SHUFFLE_MEMORY
#define SHUFFLE_MEMORY    // what shuffles declare in the kernel
#define SHUFFLE_PARAMETER // and how functions get it
#define SHUFFLE_ARGUMENT
#endif
