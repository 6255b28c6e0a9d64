/* The operations of exported ndtune expressions. Integers have 64 bits and wrap around; a float is a
   double; a condition is an int, 0 or 1. An operation that has no value sets *failed to 1, which nothing
   resets, and returns any value. Products are volatile, so that no compiler fuses them with a sum. */
#ifndef NDTUNE_EXPRESSION_H
#define NDTUNE_EXPRESSION_H

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline int64_t nd_fail(int *failed) { *failed = 1; return 0; }

static inline int64_t nd_wrap(uint64_t a) {
    return a <= (uint64_t)INT64_MAX ? (int64_t)a : -(int64_t)(UINT64_MAX - a) - 1;
}
static inline int64_t nd_add(int64_t a, int64_t b) { return nd_wrap((uint64_t)a + (uint64_t)b); }
static inline int64_t nd_sub(int64_t a, int64_t b) { return nd_wrap((uint64_t)a - (uint64_t)b); }
static inline int64_t nd_mul(int64_t a, int64_t b) { return nd_wrap((uint64_t)a * (uint64_t)b); }
static inline int64_t nd_neg(int64_t a) { return nd_sub(0, a); }
static inline int64_t nd_abs(int64_t a) { return a < 0 ? nd_neg(a) : a; }
static inline int64_t nd_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t nd_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int nd_equal(int64_t a, int64_t b) { return a == b; }
static inline int nd_less(int64_t a, int64_t b) { return a < b; }
static inline int nd_less_equal(int64_t a, int64_t b) { return a <= b; }
static inline int nd_truth_equal(int a, int b) { return a == b; }
static inline int nd_text_equal(const char *a, const char *b) { return strcmp(a, b) == 0; }
static inline int nd_in(int64_t a, int count, ...) { /* the others are int64_t */
    int found = 0;
    va_list list;
    va_start(list, count);
    while (count-- > 0) found |= va_arg(list, int64_t) == a;
    va_end(list);
    return found;
}
static inline int nd_text_in(const char *a, int count, ...) {
    int found = 0;
    va_list list;
    va_start(list, count);
    while (count-- > 0) found |= strcmp(va_arg(list, const char *), a) == 0;
    va_end(list);
    return found;
}
static inline int64_t nd_div(int64_t a, int64_t b, int *failed) {
    if (b == 0) return nd_fail(failed);
    return b == -1 ? nd_neg(a) : a / b;
}
static inline int64_t nd_mod(int64_t a, int64_t b, int *failed) {
    if (b == 0) return nd_fail(failed);
    return b == -1 ? 0 : a % b;
}
static inline int64_t nd_floor_div(int64_t a, int64_t b, int *failed) {
    if (b == 0 || (a == INT64_MIN && b == -1)) return nd_fail(failed);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static inline int64_t nd_floor_mod(int64_t a, int64_t b, int *failed) {
    int64_t m = nd_mod(a, b, failed);
    return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}
static inline int64_t nd_checked_add(int64_t a, int64_t b, int *failed) {
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) return nd_fail(failed);
    return a + b;
}
static inline int64_t nd_checked_sub(int64_t a, int64_t b, int *failed) {
    if (b > 0 ? a < INT64_MIN + b : a > INT64_MAX + b) return nd_fail(failed);
    return a - b;
}
static inline int64_t nd_checked_mul(int64_t a, int64_t b, int *failed) {
    int overflow = 0;
    if (a > 0) overflow = b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a;
    else if (a < 0) overflow = b > 0 ? a < INT64_MIN / b : b < INT64_MAX / a;
    return overflow ? nd_fail(failed) : a * b;
}
static inline int64_t nd_power(int64_t a, int64_t b, int *failed) { /* b is not negative */
    int64_t result = 1;
    for (; b > 0; b >>= 1) {
        if (b & 1) result = nd_checked_mul(result, a, failed);
        if (b > 1) a = nd_checked_mul(a, a, failed);
    }
    return result;
}
static inline int64_t nd_bit_and(int64_t a, int64_t b) { return nd_wrap((uint64_t)a & (uint64_t)b); }
static inline int64_t nd_bit_or(int64_t a, int64_t b) { return nd_wrap((uint64_t)a | (uint64_t)b); }
static inline int64_t nd_bit_xor(int64_t a, int64_t b) { return nd_wrap((uint64_t)a ^ (uint64_t)b); }
static inline int64_t nd_shift_right(int64_t a, int64_t n, int *failed) {
    if (n < 0) return nd_fail(failed);
    n = nd_min(n, 63);
    return a < 0 ? ~(~a >> n) : a >> n;
}
static inline int64_t nd_shift_left(int64_t a, int64_t n, int *failed) {
    int64_t shifted;
    if (n < 0) return nd_fail(failed);
    if (a == 0) return 0;
    if (n > 63) return nd_fail(failed);
    shifted = nd_wrap((uint64_t)a << n);
    return nd_shift_right(shifted, n, failed) == a ? shifted : nd_fail(failed);
}
static inline int64_t nd_compare(int64_t a, int64_t b) { return (a > b) - (a < b); }
static inline int64_t nd_real_compare(double a, double b, int *failed) {
    if (a != a || b != b) return nd_fail(failed);
    return (a > b) - (a < b);
}
static inline int64_t nd_int_real_compare(int64_t a, double b, int *failed) {
    int64_t whole;
    if (b != b) return nd_fail(failed);
    if (b >= 9223372036854775808.0) return -1;
    if (b < -9223372036854775808.0) return 1;
    whole = (int64_t)b;
    return a != whole ? nd_compare(a, whole) : nd_real_compare(0, b - (double)whole, failed);
}
static inline int64_t nd_real_int_compare(double a, int64_t b, int *failed) { return -nd_int_real_compare(b, a, failed); }

/* nd_true_div is the double nearest to a quotient of integers. */
static inline double nd_true_div(int64_t a, int64_t b, int *failed) {
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b, q, rest;
    int exponent = 0;
    if (b == 0) return (double)nd_fail(failed);
    if (a == 0) return b < 0 ? -0.0 : 0;
    q = x / y;
    for (rest = x % y; q < (uint64_t)1 << 54; exponent--) { /* 55 bits, the last of which is rounded away */
        int carry = rest >= y - rest;
        rest = carry ? rest - (y - rest) : rest * 2;
        q = q * 2 + (uint64_t)carry;
    }
    return ldexp((a < 0) != (b < 0) ? -(double)(q | (rest != 0)) : (double)(q | (rest != 0)), exponent);
}

static inline double nd_real_mul(double a, double b) { volatile double p = a * b; return p; }
static inline double nd_real_add(double a, double b) { return a + b; }
static inline double nd_real_sub(double a, double b) { return a - b; }
static inline double nd_real_divide(double a, double b) { return a / b; }
static inline double nd_real_neg(double a) { return -a; }
static inline double nd_real_abs(double a) { return fabs(a); }
static inline double nd_real_ceil(double a) { return ceil(a); }
static inline double nd_real_floor(double a) { return floor(a); }
static inline double nd_real_round(double a) { return round(a); }
static inline int nd_real_equal(double a, double b) { return a == b; }
static inline int nd_real_less(double a, double b) { return a < b; }
static inline int nd_real_less_equal(double a, double b) { return a <= b; }
static inline double nd_real_min(double a, double b) { /* an infinity is less than NaN, which is less than all else */
    if (a == -HUGE_VAL || b == -HUGE_VAL) return -HUGE_VAL;
    if (a != a || b != b) return a + b;
    return a < b || (a == b && signbit(a)) ? a : b;
}
static inline double nd_real_max(double a, double b) {
    return -nd_real_min(-a, -b);
}
static inline int64_t nd_int(double a) { /* beyond 64 bits, the least integer */
    return a >= -9223372036854775808.0 && a < 9223372036854775808.0 ? (int64_t)a : INT64_MIN;
}
static inline int64_t nd_checked_int(double a, int *failed) {
    return a >= -9223372036854775808.0 && a < 9223372036854775808.0 ? (int64_t)a : nd_fail(failed);
}
static inline int64_t nd_real_round_down(double a, int *failed) { return nd_checked_int(floor(a), failed); }
static inline int64_t nd_real_round_up(double a, int *failed) { return nd_checked_int(ceil(a), failed); }
static inline int64_t nd_real_truncate(double a, int *failed) { return nd_checked_int(a, failed); }
static inline int64_t nd_real_round_even(double a, int *failed) {
    double down = floor(a), half = a - down;
    return nd_checked_int(half > 0.5 || (half == 0.5 && fmod(down, 2) != 0) ? down + 1 : down, failed);
}
static inline double nd_real_true_div(double a, double b, int *failed) {
    return b == 0 ? (double)nd_fail(failed) : a / b;
}
static inline double nd_real_floor_mod(double a, double b, int *failed) {
    double m;
    if (b == 0) return (double)nd_fail(failed);
    m = fmod(a, b);
    if (m == 0) return copysign(0.0, b);
    return (m < 0) != (b < 0) ? m + b : m;
}
static inline double nd_real_floor_div(double a, double b, int *failed) {
    double m, q, down;
    if (b == 0) return (double)nd_fail(failed);
    m = fmod(a, b);
    q = (a - m) / b;
    if (m != 0 && (m < 0) != (b < 0)) q -= 1;
    if (q == 0) return copysign(0.0, a / b);
    down = floor(q);
    return q - down > 0.5 ? down + 1 : down;
}
static inline double nd_real_sqrt(double a, int *failed) {
    return a >= 0 ? sqrt(a) : (double)nd_fail(failed);
}
/* nd_real_log2 is 2/ln 2 times the series of artanh, after the exponent has been taken out. */
static inline double nd_real_log2(double a, int *failed) {
    int exponent, k;
    double m, s, series = 0;
    if (!(a > 0)) return (double)nd_fail(failed);
    if (a == HUGE_VAL) return a;
    m = frexp(a, &exponent);
    if (m < 0.7071067811865476) {
        m += m;
        exponent--;
    }
    s = (m - 1) / (m + 1);
    for (k = 25; k > 0; k -= 2) series = 1.0 / k + nd_real_mul(nd_real_mul(s, s), series);
    return exponent + nd_real_mul(nd_real_mul(2.8853900817779268, s), series);
}
/* nd_real_pow takes a whole number or a half as exponent. It squares the fraction of a apart from its exponent. */
static inline double nd_real_pow(double a, double b) {
    double fraction, result = 1, left = fabs(b);
    int exponent, total = 0;
    if (a == 0 || b == 0 || b == 1 || a - a != 0 || b - b != 0 || left >= 9223372036854775808.0) return pow(a, b);
    if (left == 0.5) return b > 0 ? sqrt(a) : 1 / sqrt(a);
    fraction = frexp(a, &exponent);
    for (; left > 0; left = floor(left / 2)) {
        if (exponent < -4096 || exponent > 4096) {
            total += exponent;
            break;
        }
        if (fmod(left, 2) != 0) {
            result = nd_real_mul(result, fraction);
            total += exponent;
        }
        fraction = nd_real_mul(fraction, fraction);
        exponent *= 2;
        if (fraction < 0.5) {
            fraction += fraction;
            exponent--;
        }
    }
    return b < 0 ? ldexp(1 / result, -total) : ldexp(result, total);
}
static inline double nd_real_power(double a, double b, int *failed) {
    double p;
    if ((a == 0 && b < 0) || (a < 0 && b != floor(b) && a != -HUGE_VAL)) return (double)nd_fail(failed);
    p = nd_real_pow(a, b);
    return fabs(p) == HUGE_VAL && fabs(a) != HUGE_VAL && fabs(b) != HUGE_VAL ? (double)nd_fail(failed) : p;
}
/* nd_power_real is a power of integers, as a float. */
static inline double nd_power_real(int64_t a, int64_t b, int *failed) {
    return b < 0 ? nd_real_power((double)a, (double)b, failed) : (double)nd_power(a, b, failed);
}
/* nd_size is a float as an integer, which it must be. */
static inline int64_t nd_size(double a, int *failed) {
    return fabs(a) < 9007199254740992.0 && a == floor(a) ? (int64_t)a : nd_fail(failed);
}

/* An nd_range is the launch of a kernel: its dimensions, 1 to 3, and what clEnqueueNDRangeKernel takes. If
   local[0] is 0, the driver chooses the work-groups: pass NULL instead of local. */
typedef struct nd_range {
    int dimensions;
    size_t offset[3], global[3], local[3];
} nd_range;

static inline int64_t nd_positive(int64_t a, int *failed) {
    if (a > 0) return a;
    *failed = 1;
    return 1;
}
/* nd_divisor is a product of divisors. Beyond the integers it is the largest: one work-group. */
static inline int64_t nd_divisor(int64_t a, int64_t b, int *failed) {
    b = nd_positive(b, failed);
    return a > INT64_MAX / b ? INT64_MAX : a * b;
}
/* nd_fraction is a product of divisors that are no whole numbers. A whole number becomes a factor of *whole. */
static inline double nd_fraction(int64_t *whole, double fraction, double by, int *failed) {
    if (by != floor(by) && by > 0) return fraction * by;
    *whole = nd_divisor(*whole, nd_size(by, failed), failed);
    return fraction;
}
static inline int64_t nd_groups(int64_t size, int64_t divisor, double fraction, int *failed) {
    if (fraction == 1) return (nd_positive(size, failed) - 1) / divisor + 1;
    return nd_size(ceil((double)nd_positive(size, failed) / nd_real_mul((double)divisor, fraction)), failed);
}
/* nd_launch is the launch of ceil(size / divisor / fraction) work-groups of the block size in each dimension. block[0] is 0
   if the driver chooses; blocks is the number of dimensions that have a block size. It returns 0, or 1 if it failed. */
static inline int nd_launch(nd_range *r, int dimensions, int blocks, const int64_t *size, const int64_t *block,
                            const int64_t *divisor, const double *fraction, const int64_t *offset, int *failed) {
    int64_t items = 1, groups = 1;
    int i, driver = block[0] == 0;
    r->dimensions = driver || dimensions > blocks ? dimensions : blocks;
    for (i = 0; i < 3; i++) {
        int64_t local = driver ? 1 : nd_positive(block[i], failed);
        int64_t grid = nd_groups(size[i], divisor[i], fraction[i], failed);
        int64_t global = nd_checked_mul(grid, local, failed);
        items = nd_checked_mul(items, local, failed);
        groups = nd_checked_mul(groups, grid, failed);
        r->local[i] = driver ? 0 : (size_t)local;
        r->global[i] = (size_t)global;
        r->offset[i] = (size_t)offset[i];
        if (offset[i] < 0 || (int64_t)r->global[i] != global || (int64_t)r->offset[i] != offset[i]) *failed = 1;
    }
    nd_checked_mul(groups, items, failed);
    return *failed;
}

/* An nd_argument is an argument of a kernel, as clSetKernelArg takes it. */
typedef struct nd_argument {
    const char *name;
    int buffer;        /* the number of the buffer, the image or the sampler; -1: it is none of these */
    size_t bytes;
    const void *value; /* NULL: local memory */
} nd_argument;

/* An nd_kernel_launch is the launch of a kernel with its arguments, which are valid until the next launch. */
typedef struct nd_kernel_launch {
    int kernel; /* its number */
    const char *name;
    nd_range range;
    int count; /* of arguments */
    const nd_argument *arguments;
} nd_kernel_launch;

#define ND_MAX_LAUNCHES 65536

static inline nd_argument nd_argument_of(const char *name, int buffer, size_t bytes, const void *value) {
    nd_argument a;
    a.name = name;
    a.buffer = buffer;
    a.bytes = bytes;
    a.value = value;
    return a;
}
static inline int64_t nd_natural(int64_t a, int *failed) {
    if (a < 0) nd_fail(failed);
    return *failed ? 0 : a;
}
/* nd_local is the size of elements of some bytes, in local memory or of a buffer. */
static inline size_t nd_local(int64_t elements, int64_t bytes, int *failed) {
    bytes = nd_checked_mul(nd_positive(elements, failed), bytes, failed);
    return (int64_t)(size_t)bytes == bytes ? (size_t)bytes : (size_t)nd_fail(failed);
}
/* nd_half is a half, to the nearest and of two to the even one. */
static inline uint64_t nd_half(double a, int *failed) {
    uint64_t sign = signbit(a) ? 0x8000 : 0, half;
    int exponent;
    if (a != a || fabs(a) == HUGE_VAL) return sign | (a != a ? 0x7e00 : 0x7c00);
    frexp(a, &exponent);
    if (a == 0 || exponent < -13) exponent = -13;
    half = (uint64_t)nd_real_round_even(ldexp(fabs(a), 11 - exponent), failed) + ((uint64_t)(exponent + 13) << 10);
    return half < 0x7c00 ? sign | half : (uint64_t)nd_fail(failed);
}
/* The types of values: integers of 8, 16, 32 and 64 bits, those without a sign, a half, a float and a double. The
   place of a type, modulo 4, is the logarithm of its bytes. */
static inline int nd_place(char type) {
    static const char types[] = "bhiqBHIQ efd";
    return (int)(strchr(types, type) - types);
}
static inline void nd_store_bits(void *to, int place, uint64_t a) {
    uint8_t b = (uint8_t)a;
    uint16_t h = (uint16_t)a;
    uint32_t i = (uint32_t)a;
    const void *const from[] = {&b, &h, &i, &a};
    memcpy(to, from[place % 4], (size_t)1 << place % 4);
}
/* nd_store_real and nd_store write a value as a type, which must hold it. */
static inline void nd_store_real(void *to, char type, double a, int *failed) {
    int place = nd_place(type), bits = 8 << place % 4;
    float f = 0;
    if (type == 'd') {
        memcpy(to, &a, sizeof a);
    } else if (type == 'f') {
        if (fabs(a) >= 3.4028235677973366e38 && fabs(a) != HUGE_VAL) nd_fail(failed);
        else f = (float)a;
        memcpy(to, &f, sizeof f);
    } else if (type == 'e') {
        nd_store_bits(to, place, nd_half(a, failed));
    } else if (a != floor(a) || a < (place < 4 ? -ldexp(1, bits - 1) : 0) || a >= ldexp(1, place < 4 ? bits - 1 : bits)) {
        nd_fail(failed);
    } else {
        nd_store_bits(to, place, a < 0 ? (uint64_t)(int64_t)a : (uint64_t)a);
    }
}
static inline void nd_store(void *to, char type, int64_t a, int *failed) {
    int place = nd_place(type), bits = 8 << place % 4;
    int64_t high = nd_shift_right(a, place < 4 ? bits - 1 : bits, failed);
    if (place > 8) {
        nd_store_real(to, type, (double)a, failed);
    } else if (high != 0 && (place >= 4 || high != -1)) {
        nd_fail(failed);
    } else {
        nd_store_bits(to, place, (uint64_t)a);
    }
}

#endif
