// OpenCL C by CUDA C++, for the kernels of ndtune itself. It stands before their macros and their source, which prologue.go has
// translated where macros do not suffice.

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
#ifdef _WIN32
typedef unsigned long long ulong;
#else
typedef unsigned long ulong;
#endif

#define ndtune_inline static __device__ __forceinline__

// Halves, without a header of the toolkit. Additions and products may become one operation, as those of floats.
struct half {
    ushort bits;
    half() = default;
    __device__ half(float f) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(f)); }
    __device__ operator float() const { float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(bits)); return f; }
};
#define ndtune_half(op, instruction) \
    ndtune_inline half operator op(half a, half b) { \
        half r; \
        asm(instruction ".f16 %0, %1, %2;" : "=h"(r.bits) : "h"(a.bits), "h"(b.bits)); \
        return r; \
    }
ndtune_half(+, "add")
ndtune_half(-, "sub")
ndtune_half(*, "mul")
ndtune_inline half fma(half a, half b, half c)
{
    half r;
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
    return r;
}
ndtune_inline float vload_half(size_t i, const half *p) { return p[i]; }
ndtune_inline void vstore_half(float v, size_t i, half *p) { p[i] = v; }
#define vstore_half_rte vstore_half

// Vectors. Those of CUDA have no operators.
template <class T, int N> struct ndtune_lanes;
template <class T> struct ndtune_lanes<T, 2> {
    union { T x, s0; };
    union { T y, s1; };
};
template <class T> struct ndtune_lanes<T, 4> : ndtune_lanes<T, 2> {
    union { T z, s2; };
    union { T w, s3; };
};
template <class T> struct ndtune_lanes<T, 8> : ndtune_lanes<T, 4> { T s4, s5, s6, s7; };
template <class T> struct ndtune_lanes<T, 16> : ndtune_lanes<T, 8> { T s8, s9, sa, sb, sc, sd, se, sf; };

template <class T, int N> struct alignas(N * sizeof(T)) ndtune_vector : ndtune_lanes<T, N> {
    ndtune_vector() = default;
    __device__ ndtune_vector(T a) {
        for (int i = 0; i < N; i++) (*this)[i] = a;
    }
    template <class... More> __device__ ndtune_vector(T a, T b, More... more) {
        const T all[N] = {a, b, T(more)...};
        for (int i = 0; i < N; i++) (*this)[i] = all[i];
    }
    __device__ T &operator[](int i) { return (&this->s0)[i]; }
    __device__ const T &operator[](int i) const { return (&this->s0)[i]; }
};

// A fused multiply-add of all lanes: halves go in pairs.
template <class T> ndtune_inline void ndtune_fma(int n, T *r, const T *a, const T *b, const T *c)
{
    for (int i = 0; i < n; i++) r[i] = fma(a[i], b[i], c[i]);
}
#define ndtune_operator(op, name, instruction) \
    template <class T> ndtune_inline void name(int n, T *r, const T *a, const T *b) { \
        for (int i = 0; i < n; i++) r[i] = a[i] op b[i]; \
    } \
    ndtune_inline void name(int n, half *r, const half *a, const half *b) { \
        for (int i = 0; i < n / 2; i++) \
            asm(instruction ".f16x2 %0, %1, %2;" : "=r"(((uint *)r)[i]) : "r"(((const uint *)a)[i]), "r"(((const uint *)b)[i])); \
    } \
    template <class T, int N> ndtune_inline ndtune_vector<T, N> operator op(ndtune_vector<T, N> a, ndtune_vector<T, N> b) { \
        ndtune_vector<T, N> r; \
        name(N, &r[0], &a[0], &b[0]); \
        return r; \
    } \
    template <class T, int N> ndtune_inline ndtune_vector<T, N> operator op(ndtune_vector<T, N> a, T b) { \
        return a op ndtune_vector<T, N>(b); \
    } \
    template <class T, int N> ndtune_inline ndtune_vector<T, N> &operator op##=(ndtune_vector<T, N> &a, ndtune_vector<T, N> b) { \
        return a = a op b; \
    }
ndtune_operator(+, ndtune_add, "add")
ndtune_operator(-, ndtune_sub, "sub")
ndtune_operator(*, ndtune_mul, "mul")
ndtune_inline void ndtune_fma(int n, half *r, const half *a, const half *b, const half *c)
{
    for (int i = 0; i < n / 2; i++)
        asm("fma.rn.f16x2 %0, %1, %2, %3;"
            : "=r"(((uint *)r)[i]) : "r"(((const uint *)a)[i]), "r"(((const uint *)b)[i]), "r"(((const uint *)c)[i]));
}
template <class T, int N> ndtune_inline ndtune_vector<T, N> fma(ndtune_vector<T, N> a, ndtune_vector<T, N> b, ndtune_vector<T, N> c)
{
    ndtune_vector<T, N> r;
    ndtune_fma(N, &r[0], &a[0], &b[0], &c[0]);
    return r;
}

#define ndtune_vectors(T) \
    typedef ndtune_vector<T, 2> ndtune_##T##2; \
    typedef ndtune_vector<T, 4> ndtune_##T##4; \
    typedef ndtune_vector<T, 8> ndtune_##T##8; \
    typedef ndtune_vector<T, 16> ndtune_##T##16;
ndtune_vectors(int)
ndtune_vectors(uint)
ndtune_vectors(float)
ndtune_vectors(double)
ndtune_vectors(half)
#define int2 ndtune_int2
#define int4 ndtune_int4
#define int8 ndtune_int8
#define int16 ndtune_int16
#define uint2 ndtune_uint2
#define uint4 ndtune_uint4
#define uint8 ndtune_uint8
#define uint16 ndtune_uint16
#define float2 ndtune_float2
#define float4 ndtune_float4
#define float8 ndtune_float8
#define float16 ndtune_float16
#define double2 ndtune_double2
#define double4 ndtune_double4
#define double8 ndtune_double8
#define double16 ndtune_double16
#define half2 ndtune_half2
#define half4 ndtune_half4
#define half8 ndtune_half8
#define half16 ndtune_half16

// The NDRange.
#define ndtune_in(of) (dimension == 0 ? of.x : dimension == 1 ? of.y : dimension == 2 ? of.z : 0)
ndtune_inline size_t get_local_id(uint dimension) { return ndtune_in(threadIdx); }
ndtune_inline size_t get_group_id(uint dimension) { return ndtune_in(blockIdx); }
ndtune_inline size_t get_local_size(uint dimension) { return dimension > 2 ? 1 : ndtune_in(blockDim); }
ndtune_inline size_t get_num_groups(uint dimension) { return dimension > 2 ? 1 : ndtune_in(gridDim); }
ndtune_inline size_t get_global_id(uint dimension) { return get_group_id(dimension) * get_local_size(dimension) + get_local_id(dimension); }
ndtune_inline size_t get_global_size(uint dimension) { return get_num_groups(dimension) * get_local_size(dimension); }
ndtune_inline size_t get_global_offset(uint) { return 0; }

// Functions.
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define barrier(flags) __syncthreads()
#define as_int(x) __float_as_int(x)
#define as_uint(x) __float_as_uint(x)
#define as_float(x) __uint_as_float(x)
#define as_long(x) __double_as_longlong(x)
#define as_ulong(x) ((ulong)__double_as_longlong(x))
#define as_double(x) __longlong_as_double((long long)(x))
#define mad(a, b, c) ((a) * (b) + (c))
#define atomic_inc(p) atomicAdd(p, 1)
#define atomic_dec(p) atomicSub(p, 1)
#define atomic_add atomicAdd
#define atomic_sub atomicSub
#define atomic_min atomicMin
#define atomic_max atomicMax
#define atomic_xchg atomicExch
#define atomic_cmpxchg atomicCAS

// Words. A group of a required size becomes the bound of a launch.
#define reqd_work_group_size(x, y, z) launch_bounds((x) * (y) * (z))
#define work_group_size_hint(x, y, z) unused
#define vec_type_hint(type) unused
#define __kernel extern "C" __global__
#define __global
#define __local
#define __private
#define __constant const
#define restrict __restrict__
#ifdef _WIN32
#define long long long
#endif
