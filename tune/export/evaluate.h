/* The fixed part of exported kernels, which is the same for all: it computes the rules of a kernel, which are tables of data.
   C99 and C++.

   A rule is a list of codes in postfix order, up to ND_END: the arguments of an operation come before it. Integers have 64
   bits and wrap around; a float is a double; a condition is 0 or 1. An operation that has no value, such as a division by
   zero, sets failed. The functions below set *failed to 1, which they never reset, and return any value. Products are
   volatile, so that no compiler fuses them with a sum. */
#ifndef NDTUNE_EVALUATE_H
#define NDTUNE_EVALUATE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline int64_t nd_fail(int *failed) { *failed = 1; return 0; }
static inline int64_t nd_wrap(uint64_t a) {
    return a <= (uint64_t)INT64_MAX ? (int64_t)a : -(int64_t)(UINT64_MAX - a) - 1;
}
static inline int64_t nd_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t nd_div(int64_t a, int64_t b, int *failed) {
    if (b == 0 || (a == INT64_MIN && b == -1)) return nd_fail(failed);
    return a / b;
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
static inline int64_t nd_float_compare(double a, double b, int *failed) {
    if (a != a || b != b) return nd_fail(failed);
    return (a > b) - (a < b);
}
static inline int64_t nd_int_float_compare(int64_t a, double b, int *failed) {
    int64_t whole;
    if (b != b) return nd_fail(failed);
    if (b >= 9223372036854775808.0) return -1;
    if (b < -9223372036854775808.0) return 1;
    whole = (int64_t)b;
    return a != whole ? nd_compare(a, whole) : nd_float_compare(0, b - (double)whole, failed);
}

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

static inline double nd_float_mul(double a, double b) { volatile double p = a * b; return p; }
static inline double nd_float_min(double a, double b) { /* an infinity is less than NaN, which is less than all else */
    if (a == -HUGE_VAL || b == -HUGE_VAL) return -HUGE_VAL;
    if (a != a || b != b) return a + b;
    return a < b || (a == b && signbit(a)) ? a : b;
}
static inline int64_t nd_to_int(double a) { /* beyond 64 bits, the least integer */
    return a >= -9223372036854775808.0 && a < 9223372036854775808.0 ? (int64_t)a : INT64_MIN;
}
static inline int64_t nd_checked_int(double a, int *failed) {
    return a >= -9223372036854775808.0 && a < 9223372036854775808.0 ? (int64_t)a : nd_fail(failed);
}
static inline int64_t nd_float_round_even(double a, int *failed) {
    double down = floor(a), half = a - down;
    return nd_checked_int(half > 0.5 || (half == 0.5 && fmod(down, 2) != 0) ? down + 1 : down, failed);
}
static inline double nd_float_true_div(double a, double b, int *failed) {
    return b == 0 ? (double)nd_fail(failed) : a / b;
}
static inline double nd_float_floor_mod(double a, double b, int *failed) {
    double m;
    if (b == 0) return (double)nd_fail(failed);
    m = fmod(a, b);
    if (m == 0) return copysign(0.0, b);
    return (m < 0) != (b < 0) ? m + b : m;
}
static inline double nd_float_floor_div(double a, double b, int *failed) {
    double m, q, down;
    if (b == 0) return (double)nd_fail(failed);
    m = fmod(a, b);
    q = (a - m) / b;
    if (m != 0 && (m < 0) != (b < 0)) q -= 1;
    if (q == 0) return copysign(0.0, a / b);
    down = floor(q);
    return q - down > 0.5 ? down + 1 : down;
}
/* nd_float_log2 is 2/ln 2 times the series of artanh, after the exponent has been taken out. */
static inline double nd_float_log2(double a, int *failed) {
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
    for (k = 25; k > 0; k -= 2) series = 1.0 / k + nd_float_mul(nd_float_mul(s, s), series);
    return exponent + nd_float_mul(nd_float_mul(2.8853900817779268, s), series);
}
/* nd_float_pow takes a whole number or a half as exponent. It squares the fraction of a apart from its exponent. */
static inline double nd_float_pow(double a, double b) {
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
            result = nd_float_mul(result, fraction);
            total += exponent;
        }
        fraction = nd_float_mul(fraction, fraction);
        exponent *= 2;
        if (fraction < 0.5) {
            fraction += fraction;
            exponent--;
        }
    }
    return b < 0 ? ldexp(1 / result, -total) : ldexp(result, total);
}
static inline double nd_float_power(double a, double b, int *failed) {
    double p;
    if ((a == 0 && b < 0) || (a < 0 && b != floor(b) && a != -HUGE_VAL)) return (double)nd_fail(failed);
    p = nd_float_pow(a, b);
    return fabs(p) == HUGE_VAL && fabs(a) != HUGE_VAL && fabs(b) != HUGE_VAL ? (double)nd_fail(failed) : p;
}
/* nd_power_float is a power of integers, as a float. */
static inline double nd_power_float(int64_t a, int64_t b, int *failed) {
    return b < 0 ? nd_float_power((double)a, (double)b, failed) : (double)nd_power(a, b, failed);
}
/* nd_size is a float as an integer, which it must be. */
static inline int64_t nd_size(double a, int *failed) {
    return fabs(a) < 9007199254740992.0 && a == floor(a) ? (int64_t)a : nd_fail(failed);
}
static inline int64_t nd_positive(int64_t a, int *failed) {
    if (a > 0) return a;
    *failed = 1;
    return 1;
}

/* The operations of rules. The operand of those that are no constant and no name is the number of arguments. */
enum {
    ND_CODE_END, ND_CODE_INT, ND_CODE_FLOAT, ND_CODE_TEXT, ND_CODE_NAME,
    ND_CODE_NOT, ND_CODE_AND, ND_CODE_OR, ND_CODE_IF,
    ND_CODE_ADD, ND_CODE_SUB, ND_CODE_MUL, ND_CODE_NEG, ND_CODE_ABS, ND_CODE_MIN, ND_CODE_MAX, ND_CODE_EQUAL,
    ND_CODE_LESS, ND_CODE_LESS_EQUAL, ND_CODE_TEXT_EQUAL, ND_CODE_DIV, ND_CODE_MOD, ND_CODE_FLOOR_DIV,
    ND_CODE_FLOOR_MOD, ND_CODE_POWER,
    ND_CODE_BIT_AND, ND_CODE_BIT_OR, ND_CODE_BIT_XOR, ND_CODE_SHIFT_LEFT, ND_CODE_SHIFT_RIGHT,
    ND_CODE_COMPARE, ND_CODE_FLOAT_COMPARE, ND_CODE_INT_FLOAT_COMPARE, ND_CODE_FLOAT_INT_COMPARE,
    ND_CODE_TO_FLOAT, ND_CODE_TRUE_DIV, ND_CODE_POWER_FLOAT, ND_CODE_FLOAT_ADD, ND_CODE_FLOAT_SUB,
    ND_CODE_FLOAT_MUL, ND_CODE_FLOAT_DIVIDE, ND_CODE_FLOAT_NEG, ND_CODE_FLOAT_ABS, ND_CODE_FLOAT_MIN,
    ND_CODE_FLOAT_MAX, ND_CODE_FLOAT_CEIL, ND_CODE_FLOAT_FLOOR, ND_CODE_FLOAT_ROUND, ND_CODE_FLOAT_POW,
    ND_CODE_FLOAT_POWER, ND_CODE_FLOAT_SQRT, ND_CODE_FLOAT_LOG2, ND_CODE_FLOAT_TRUE_DIV,
    ND_CODE_FLOAT_FLOOR_DIV, ND_CODE_FLOAT_FLOOR_MOD, ND_CODE_FLOAT_EQUAL, ND_CODE_FLOAT_LESS,
    ND_CODE_FLOAT_LESS_EQUAL, ND_CODE_TO_INT, ND_CODE_FLOAT_ROUND_DOWN, ND_CODE_FLOAT_ROUND_UP,
    ND_CODE_FLOAT_ROUND_EVEN, ND_CODE_FLOAT_TRUNCATE, ND_CODE_SIZE, ND_CODE_POSITIVE, ND_CODE_DIVISOR,
    ND_CODE_FLOAT_DIVISOR
};

typedef struct nd_code {
    int operation;
    int64_t operand;  /* a constant, the number of a name or the number of arguments */
    double f;         /* a constant */
    const char *text; /* a constant */
} nd_code;

#define ND_INT(value) {ND_CODE_INT, value, 0, NULL}
#define ND_FLOAT(value) {ND_CODE_FLOAT, 0, value, NULL}
#define ND_TEXT(value) {ND_CODE_TEXT, 0, 0, value}
#define ND_NAME(number) {ND_CODE_NAME, number, 0, NULL}
#define ND_DO(operation, arguments) {ND_CODE_##operation, arguments, 0, NULL}
#define ND_END {ND_CODE_END, 0, 0, NULL}

/* A value is an integer or a condition in i, a float in f, or a text. A divisor of a size has both: a whole number in i, or
   another number in f, and 1 in the other one. */
typedef struct nd_value {
    int64_t i;
    double f;
    const char *text;
    int failed;
} nd_value;

/* A part of a scalar: a value of a type, at an offset in its bytes. */
typedef struct nd_part {
    size_t offset;
    char type;     /* as in nd_type_number; 's': bytes that are fixed */
    int rule;      /* of the value; of fixed bytes, their number */
    int is_float;  /* the value is a float */
    const char *fixed;
} nd_part;

typedef struct nd_argument_rules {
    const char *name;
    int buffer;       /* the number of a buffer, an image or a sampler; -1: it is none of these */
    int bytes;        /* a rule; -1: of an image or a sampler */
    int first, parts; /* the parts of a scalar; it has at least one */
} nd_argument_rules;

/* A step is the launch of a kernel, or a list of the steps that follow it. -1 is no rule, no list and no number. */
typedef struct nd_step {
    int kernel;                       /* its number; -1: the steps within this one */
    int within;                       /* how many steps that follow are within this one */
    int repeat;                       /* a rule */
    int index;                        /* the name that has the number of the repetition */
    int swap[2];                      /* buffers that change places between repetitions */
    int size[3], block[3], offset[3]; /* rules; the driver chooses the work-groups if the block size in x is 0 */
    int divisors[3];                  /* lists of rules; ND_BLOCK_SIZE is the block size */
    int arguments;                    /* a list */
} nd_step;

#define ND_LIST_END -1
#define ND_BLOCK_SIZE -2

/* The rules of a kernel. The parts of a table refer to those of others by their numbers. */
typedef struct nd_rules {
    const nd_code *const *codes; /* of each rule */
    const nd_argument_rules *arguments;
    const nd_part *parts;
    const nd_step *steps;
    const int *const *lists;
    const char *const *kernels;
    int arguments_count, steps_count, buffers_count;
} nd_rules;

/* nd_compute is an operation on two values, or on one, which is in a and b. */
static inline nd_value nd_compute(int operation, nd_value a, nd_value b) {
    nd_value r = {0, 0, NULL, a.failed || b.failed};
    int *failed = &r.failed;
    switch (operation) {
    case ND_CODE_NOT: r.i = !a.i; break;
    case ND_CODE_AND: r.i = a.i && b.i; r.failed = a.failed || (a.i && b.failed); break;
    case ND_CODE_OR: r.i = a.i || b.i; r.failed = a.failed || (!a.i && b.failed); break;
    case ND_CODE_ADD: r.i = nd_checked_add(a.i, b.i, failed); break;
    case ND_CODE_SUB: r.i = nd_checked_sub(a.i, b.i, failed); break;
    case ND_CODE_MUL: r.i = nd_checked_mul(a.i, b.i, failed); break;
    case ND_CODE_NEG: r.i = nd_checked_sub(0, a.i, failed); break;
    case ND_CODE_ABS: r.i = a.i < 0 ? nd_checked_sub(0, a.i, failed) : a.i; break;
    case ND_CODE_MIN: r.i = nd_min(a.i, b.i); break;
    case ND_CODE_MAX: r.i = a.i > b.i ? a.i : b.i; break;
    case ND_CODE_EQUAL: r.i = a.i == b.i; break;
    case ND_CODE_LESS: r.i = a.i < b.i; break;
    case ND_CODE_LESS_EQUAL: r.i = a.i <= b.i; break;
    case ND_CODE_TEXT_EQUAL: r.i = strcmp(a.text, b.text) == 0; break;
    case ND_CODE_DIV: r.i = nd_div(a.i, b.i, failed); break;
    case ND_CODE_MOD: r.i = nd_mod(a.i, b.i, failed); break;
    case ND_CODE_FLOOR_DIV: r.i = nd_floor_div(a.i, b.i, failed); break;
    case ND_CODE_FLOOR_MOD: r.i = nd_floor_mod(a.i, b.i, failed); break;
    case ND_CODE_POWER: r.i = nd_power(a.i, b.i, failed); break;
    case ND_CODE_BIT_AND: r.i = nd_wrap((uint64_t)a.i & (uint64_t)b.i); break;
    case ND_CODE_BIT_OR: r.i = nd_wrap((uint64_t)a.i | (uint64_t)b.i); break;
    case ND_CODE_BIT_XOR: r.i = nd_wrap((uint64_t)a.i ^ (uint64_t)b.i); break;
    case ND_CODE_SHIFT_LEFT: r.i = nd_shift_left(a.i, b.i, failed); break;
    case ND_CODE_SHIFT_RIGHT: r.i = nd_shift_right(a.i, b.i, failed); break;
    case ND_CODE_COMPARE: r.i = nd_compare(a.i, b.i); break;
    case ND_CODE_FLOAT_COMPARE: r.i = nd_float_compare(a.f, b.f, failed); break;
    case ND_CODE_INT_FLOAT_COMPARE: r.i = nd_int_float_compare(a.i, b.f, failed); break;
    case ND_CODE_FLOAT_INT_COMPARE: r.i = -nd_int_float_compare(b.i, a.f, failed); break;
    case ND_CODE_TO_FLOAT: r.f = (double)a.i; break;
    case ND_CODE_TRUE_DIV: r.f = nd_true_div(a.i, b.i, failed); break;
    case ND_CODE_POWER_FLOAT: r.f = nd_power_float(a.i, b.i, failed); break;
    case ND_CODE_FLOAT_ADD: r.f = a.f + b.f; break;
    case ND_CODE_FLOAT_SUB: r.f = a.f - b.f; break;
    case ND_CODE_FLOAT_MUL: r.f = nd_float_mul(a.f, b.f); break;
    case ND_CODE_FLOAT_DIVIDE: r.f = a.f / b.f; break;
    case ND_CODE_FLOAT_NEG: r.f = -a.f; break;
    case ND_CODE_FLOAT_ABS: r.f = fabs(a.f); break;
    case ND_CODE_FLOAT_MIN: r.f = nd_float_min(a.f, b.f); break;
    case ND_CODE_FLOAT_MAX: r.f = -nd_float_min(-a.f, -b.f); break;
    case ND_CODE_FLOAT_CEIL: r.f = ceil(a.f); break;
    case ND_CODE_FLOAT_FLOOR: r.f = floor(a.f); break;
    case ND_CODE_FLOAT_ROUND: r.f = round(a.f); break;
    case ND_CODE_FLOAT_POW: r.f = nd_float_pow(a.f, b.f); break;
    case ND_CODE_FLOAT_POWER: r.f = nd_float_power(a.f, b.f, failed); break;
    case ND_CODE_FLOAT_SQRT: r.f = a.f >= 0 ? sqrt(a.f) : (double)nd_fail(failed); break;
    case ND_CODE_FLOAT_LOG2: r.f = nd_float_log2(a.f, failed); break;
    case ND_CODE_FLOAT_TRUE_DIV: r.f = nd_float_true_div(a.f, b.f, failed); break;
    case ND_CODE_FLOAT_FLOOR_DIV: r.f = nd_float_floor_div(a.f, b.f, failed); break;
    case ND_CODE_FLOAT_FLOOR_MOD: r.f = nd_float_floor_mod(a.f, b.f, failed); break;
    case ND_CODE_FLOAT_EQUAL: r.i = a.f == b.f; break;
    case ND_CODE_FLOAT_LESS: r.i = a.f < b.f; break;
    case ND_CODE_FLOAT_LESS_EQUAL: r.i = a.f <= b.f; break;
    case ND_CODE_TO_INT: r.i = nd_to_int(a.f); break;
    case ND_CODE_FLOAT_ROUND_DOWN: r.i = nd_checked_int(floor(a.f), failed); break;
    case ND_CODE_FLOAT_ROUND_UP: r.i = nd_checked_int(ceil(a.f), failed); break;
    case ND_CODE_FLOAT_ROUND_EVEN: r.i = nd_float_round_even(a.f, failed); break;
    case ND_CODE_FLOAT_TRUNCATE: r.i = nd_checked_int(a.f, failed); break;
    case ND_CODE_SIZE: r.i = nd_size(a.f, failed); break;
    case ND_CODE_POSITIVE: r.i = nd_positive(a.i, failed); break;
    case ND_CODE_DIVISOR: r.i = nd_positive(a.i, failed); r.f = 1; break;
    case ND_CODE_FLOAT_DIVISOR:
        r.i = 1;
        r.f = 1;
        if (a.f != floor(a.f) && a.f > 0) r.f = a.f;
        else r.i = nd_positive(nd_size(a.f, failed), failed);
        break;
    default: r.failed = 1;
    }
    return r;
}

/* Computes a rule from the values of the names. Both values of a condition are computed; only the chosen one can fail. */
static inline nd_value nd_evaluate(const nd_rules *of, int rule, const nd_value *names) {
    nd_value stack[128], *top = stack; /* where the next value goes */
    const nd_code *c;
    int failed;
    for (c = of->codes[rule]; c->operation != ND_CODE_END; c++) {
        switch (c->operation) {
        case ND_CODE_INT:
        case ND_CODE_FLOAT:
        case ND_CODE_TEXT:
            top->i = c->operand;
            top->f = c->f;
            top->text = c->text;
            top->failed = 0;
            top++;
            break;
        case ND_CODE_NAME: *top++ = names[c->operand]; break;
        case ND_CODE_IF:
            top -= 2;
            failed = top[-1].failed;
            top[-1] = top[-1].i ? top[0] : top[1];
            top[-1].failed |= failed;
            break;
        default:
            top -= c->operand - 1;
            top[-1] = nd_compute(c->operation, top[-1], top[c->operand - 2]);
        }
    }
    return stack[0];
}

static inline int64_t nd_evaluate_int(const nd_rules *of, int rule, const nd_value *names, int *failed) {
    nd_value v = nd_evaluate(of, rule, names);
    *failed |= v.failed;
    return v.i;
}

/* An nd_range is the launch of a kernel: its dimensions, 1 to 3, and what clEnqueueNDRangeKernel takes. If
   local[0] is 0, the driver chooses the work-groups: pass NULL instead of local. */
typedef struct nd_range {
    int dimensions;
    size_t offset[3], global[3], local[3];
} nd_range;

/* nd_groups is ceil(size / whole / fraction). */
static inline int64_t nd_groups(int64_t size, int64_t whole, double fraction, int *failed) {
    if (fraction == 1) return (nd_positive(size, failed) - 1) / whole + 1;
    return nd_size(ceil((double)nd_positive(size, failed) / nd_float_mul((double)whole, fraction)), failed);
}

/* Computes the launch of a step: in each dimension ceil(size / product of the divisors) work-groups of the block size.
   Returns 0, or 1 if it has no sizes. */
static inline int nd_ndrange(const nd_rules *of, const nd_step *s, const nd_value *names, nd_range *r) {
    int64_t items = 1, groups = 1;
    int i, failed = 0, driver = s->block[0] >= 0 && nd_evaluate_int(of, s->block[0], names, &failed) == 0;
    r->dimensions = 1;
    for (i = 0; i < 3; i++) {
        int64_t size = 1, whole = 1, offset = 0, local = 1, grid;
        double fraction = 1;
        const int *divisor;
        if (s->block[i] >= 0 && !driver) {
            local = nd_positive(nd_evaluate_int(of, s->block[i], names, &failed), &failed);
            r->dimensions = i + 1;
        }
        if (s->size[i] >= 0) {
            size = nd_evaluate_int(of, s->size[i], names, &failed);
            if (r->dimensions < i + 1) r->dimensions = i + 1;
        }
        if (s->offset[i] >= 0) offset = nd_evaluate_int(of, s->offset[i], names, &failed);
        for (divisor = s->divisors[i] < 0 ? NULL : of->lists[s->divisors[i]]; divisor != NULL && *divisor != ND_LIST_END; divisor++) {
            nd_value by = {local, 1, NULL, 0};
            if (*divisor != ND_BLOCK_SIZE) by = nd_evaluate(of, *divisor, names);
            failed |= by.failed;
            whole = by.failed || whole > INT64_MAX / by.i ? INT64_MAX : whole * by.i; /* beyond the integers: one work-group */
            fraction *= by.f;
        }
        grid = nd_groups(size, whole, fraction, &failed);
        items = nd_checked_mul(items, local, &failed);
        groups = nd_checked_mul(groups, grid, &failed);
        size = nd_checked_mul(grid, local, &failed);
        r->local[i] = driver ? 0 : (size_t)local;
        r->global[i] = (size_t)size;
        r->offset[i] = (size_t)offset;
        if (offset < 0 || (int64_t)r->global[i] != size || (int64_t)r->offset[i] != offset) failed = 1;
    }
    nd_checked_mul(groups, items, &failed);
    return failed;
}

static inline size_t nd_bytes(const nd_rules *of, int rule, const nd_value *names, int *failed) {
    int64_t bytes = nd_evaluate_int(of, rule, names, failed);
    return (int64_t)(size_t)bytes == bytes ? (size_t)bytes : (size_t)nd_fail(failed);
}

/* Computes the sizes of the buffers; of images and samplers it is 0. Returns 0, or 1 if one has no size. */
static inline int nd_buffers_bytes(const nd_rules *of, const nd_value *names, size_t *bytes) {
    int i, failed = 0;
    for (i = 0; i < of->arguments_count; i++) {
        const nd_argument_rules *a = &of->arguments[i];
        if (a->buffer >= 0) bytes[a->buffer] = a->bytes < 0 ? 0 : nd_bytes(of, a->bytes, names, &failed);
    }
    return failed;
}

/* nd_half is a half, to the nearest and of two to the even one. */
static inline uint64_t nd_half(double a, int *failed) {
    uint64_t sign = signbit(a) ? 0x8000 : 0, half;
    int exponent;
    if (a != a || fabs(a) == HUGE_VAL) return sign | (a != a ? 0x7e00 : 0x7c00);
    frexp(a, &exponent);
    if (a == 0 || exponent < -13) exponent = -13;
    half = (uint64_t)nd_float_round_even(ldexp(fabs(a), 11 - exponent), failed) + ((uint64_t)(exponent + 13) << 10);
    return half < 0x7c00 ? sign | half : (uint64_t)nd_fail(failed);
}
/* The types of values: integers of 8, 16, 32 and 64 bits, those without a sign, a half, a float and a double. The
   number of a type, modulo 4, is the logarithm of its bytes. */
static inline int nd_type_number(char type) {
    static const char types[] = "bhiqBHIQ efd";
    return (int)(strchr(types, type) - types);
}
static inline void nd_store_bits(void *to, int number, uint64_t a) {
    uint8_t b = (uint8_t)a;
    uint16_t h = (uint16_t)a;
    uint32_t i = (uint32_t)a;
    const void *const from[] = {&b, &h, &i, &a};
    memcpy(to, from[number % 4], (size_t)1 << number % 4);
}
/* nd_store_float and nd_store write a value as a type, which must hold it. */
static inline void nd_store_float(void *to, char type, double a, int *failed) {
    int number = nd_type_number(type), bits = 8 << number % 4;
    float f = 0;
    if (type == 'd') {
        memcpy(to, &a, sizeof a);
    } else if (type == 'f') {
        if (fabs(a) >= 3.4028235677973366e38 && fabs(a) != HUGE_VAL) nd_fail(failed);
        else f = (float)a;
        memcpy(to, &f, sizeof f);
    } else if (type == 'e') {
        nd_store_bits(to, number, nd_half(a, failed));
    } else if (a != floor(a) || a < (number < 4 ? -ldexp(1, bits - 1) : 0) || a >= ldexp(1, number < 4 ? bits - 1 : bits)) {
        nd_fail(failed);
    } else {
        nd_store_bits(to, number, a < 0 ? (uint64_t)(int64_t)a : (uint64_t)a);
    }
}
static inline void nd_store(void *to, char type, int64_t a, int *failed) {
    int number = nd_type_number(type), bits = 8 << number % 4;
    int64_t high = nd_shift_right(a, number < 4 ? bits - 1 : bits, failed);
    if (number > 8) {
        nd_store_float(to, type, (double)a, failed);
    } else if (high != 0 && (number >= 4 || high != -1)) {
        nd_fail(failed);
    } else {
        nd_store_bits(to, number, (uint64_t)a);
    }
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

/* A run of all steps. */
typedef struct nd_run {
    const nd_rules *of;
    nd_value *names;
    cl_mem *held;         /* the buffers, which may have changed places */
    nd_argument *arguments;
    unsigned char *bytes; /* of the scalars of a launch */
    int launches;
    int (*launch)(void *data, const nd_kernel_launch *); /* NULL: nothing is launched */
    void *data;
} nd_run;

/* Stores the bytes of a scalar. */
static inline void nd_scalar(const nd_run *run, const nd_argument_rules *a, unsigned char *bytes, int *failed) {
    int i;
    for (i = a->first; i < a->first + a->parts; i++) {
        const nd_part *p = &run->of->parts[i];
        if (p->type == 's') {
            memcpy(bytes + p->offset, p->fixed, (size_t)p->rule);
        } else {
            nd_value v = nd_evaluate(run->of, p->rule, run->names);
            *failed |= v.failed;
            if (p->is_float) nd_store_float(bytes + p->offset, p->type, v.f, failed);
            else nd_store(bytes + p->offset, p->type, v.i, failed);
        }
    }
}

/* Makes one launch. Returns 0, the status of the function that launches, or 1. */
static inline int nd_launch_step(nd_run *run, const nd_step *s) {
    nd_kernel_launch next;
    const int *list = run->of->lists[s->arguments];
    unsigned char *bytes = run->bytes;
    int failed = nd_ndrange(run->of, s, run->names, &next.range);
    for (next.count = 0; list[next.count] != ND_LIST_END; next.count++) {
        const nd_argument_rules *from = &run->of->arguments[list[next.count]];
        nd_argument *a = &run->arguments[next.count];
        a->name = from->name;
        a->buffer = from->buffer;
        if (a->buffer >= 0) {
            a->bytes = sizeof *run->held;
            a->value = &run->held[a->buffer];
            continue;
        }
        a->bytes = nd_bytes(run->of, from->bytes, run->names, &failed);
        a->value = NULL;
        if (from->parts > 0) {
            a->value = bytes;
            nd_scalar(run, from, bytes, &failed);
            bytes += a->bytes;
        }
    }
    next.kernel = s->kernel;
    next.name = run->of->kernels[s->kernel];
    next.arguments = run->arguments;
    if (failed || run->launches++ == ND_MAX_LAUNCHES) return 1;
    return run->launch == NULL ? 0 : run->launch(run->data, &next);
}

/* Makes the launches of some steps. Returns 0, the status of the function that launches, or 1. */
static inline int nd_run_steps(nd_run *run, int from, int to) {
    for (; from < to; from += 1 + run->of->steps[from].within) {
        const nd_step *s = &run->of->steps[from];
        int64_t k, repeat = 1;
        int status, failed = 0;
        if (s->repeat >= 0) repeat = nd_evaluate_int(run->of, s->repeat, run->names, &failed);
        if (failed || repeat < 0) return 1;
        for (k = 0; k < repeat; k++) {
            if (s->index >= 0) run->names[s->index].i = k;
            if (k > 0 && s->swap[0] >= 0) {
                cl_mem other = run->held[s->swap[0]];
                run->held[s->swap[0]] = run->held[s->swap[1]];
                run->held[s->swap[1]] = other;
            }
            status = s->kernel >= 0 ? nd_launch_step(run, s) : nd_run_steps(run, from + 1, from + 1 + s->within);
            if (status != 0) return status;
        }
    }
    return 0;
}

/* Makes all launches. They are computed twice, so that none is made if one cannot be. Returns 0, the status of the function
   that launches if it is not 0, or 1 before any launch. */
static inline int nd_launches(const nd_rules *of, nd_value *names, cl_mem *held, nd_argument *arguments, unsigned char *bytes,
                              cl_mem *buffers, int (*launch)(void *, const nd_kernel_launch *), void *data) {
    nd_run run = {of, names, held, arguments, bytes, 0, NULL, data};
    int pass, status;
    for (pass = 0; pass < 2; pass++) {
        memcpy(held, buffers, (size_t)of->buffers_count * sizeof *buffers);
        run.launches = 0;
        run.launch = pass == 0 ? NULL : launch;
        status = nd_run_steps(&run, 0, of->steps_count);
        if (status != 0) return status;
        if (run.launches == 0) return 1;
    }
    memcpy(buffers, held, (size_t)of->buffers_count * sizeof *buffers);
    return 0;
}

#endif
