# The operations of exported ndtune expressions. Integers wrap around at 64 bits, as in C and Go. An
# operation that has no value raises ValueError.
import collections
import math
import struct

_INT_MIN, _INT_MAX = -2**63, 2**63 - 1


def _fail(reason):
    raise ValueError(reason)


def nd_wrap(a):
    return (a - _INT_MIN) % 2**64 + _INT_MIN


def nd_checked(a):
    return a if _INT_MIN <= a <= _INT_MAX else _fail("the result is beyond the integers of 64 bits")


def nd_nonzero(b):
    return b if b != 0 else _fail("division by zero")


def nd_add(a, b): return nd_wrap(a + b)
def nd_sub(a, b): return nd_wrap(a - b)
def nd_mul(a, b): return nd_wrap(a * b)
def nd_neg(a): return nd_wrap(-a)
def nd_abs(a): return nd_wrap(abs(a))
def nd_min(a, b): return min(a, b)
def nd_max(a, b): return max(a, b)
def nd_equal(a, b): return a == b
def nd_less(a, b): return a < b
def nd_less_equal(a, b): return a <= b
def nd_in(a, count, *values): return a in values
def nd_floor_div(a, b): return nd_checked(a // nd_nonzero(b))
def nd_floor_mod(a, b): return a % nd_nonzero(b)
def nd_checked_add(a, b): return nd_checked(a + b)
def nd_checked_sub(a, b): return nd_checked(a - b)
def nd_checked_mul(a, b): return nd_checked(a * b)
def nd_bit_and(a, b): return a & b
def nd_bit_or(a, b): return a | b
def nd_bit_xor(a, b): return a ^ b
def nd_compare(a, b): return (a > b) - (a < b)
def nd_true_div(a, b): return a / nd_nonzero(b)


def nd_div(a, b):
    q = abs(a) // abs(nd_nonzero(b))
    return nd_wrap(q if (a < 0) == (b < 0) else -q)


def nd_mod(a, b):
    m = abs(a) % abs(nd_nonzero(b))
    return -m if a < 0 else m


def nd_power(a, b):
    if b > 63 and abs(a) > 1:
        _fail("the result is beyond the integers of 64 bits")
    return nd_checked(a ** (b if abs(a) > 1 else min(b, 2 - b % 2)))


def nd_shift_left(a, n):
    if n < 0:
        _fail("the shift is negative")
    return nd_checked(a << min(n, 64))


def nd_shift_right(a, n):
    if n < 0:
        _fail("the shift is negative")
    return a >> min(n, 63)


def nd_real_compare(a, b):
    if a != a or b != b:
        _fail("nothing compares with NaN")
    return nd_compare(a, b)


nd_int_real_compare = nd_real_int_compare = nd_real_compare
nd_truth_equal = nd_text_equal = nd_real_equal = nd_equal
nd_text_in, nd_real_less, nd_real_less_equal = nd_in, nd_less, nd_less_equal


def nd_real_add(a, b): return a + b
def nd_real_sub(a, b): return a - b
def nd_real_mul(a, b): return a * b
def nd_real_neg(a): return -a
def nd_real_abs(a): return abs(a)
def nd_real_max(a, b): return -nd_real_min(-a, -b)
def nd_real_true_div(a, b): return a / nd_nonzero(b)


def nd_real_divide(a, b):
    if b != 0:
        return a / b
    return a * math.copysign(math.inf, b) if a != 0 else math.nan


def nd_real_min(a, b):  # an infinity is less than NaN, which is less than all else
    if a == -math.inf or b == -math.inf:
        return -math.inf
    if a != a or b != b:
        return math.nan
    return a if a < b or a == b and math.copysign(1, a) < 0 else b


def nd_rounded(round, a):
    return math.copysign(round(a), a) if abs(a) < 2**52 else a


def nd_real_ceil(a): return nd_rounded(math.ceil, a)
def nd_real_floor(a): return nd_rounded(math.floor, a)


def nd_real_round(a):  # a half, away from zero
    return nd_rounded(lambda a: math.trunc(a) + (abs(a - math.trunc(a)) >= 0.5) * math.copysign(1, a), a)


def nd_int(a):  # beyond 64 bits, the least integer
    return int(a) if -2.0**63 <= a < 2.0**63 else _INT_MIN


def nd_checked_int(a):
    return int(a) if -2.0**63 <= a < 2.0**63 else nd_checked(2**63)


def nd_real_round_down(a): return nd_checked_int(nd_real_floor(a))
def nd_real_round_up(a): return nd_checked_int(nd_real_ceil(a))
def nd_real_truncate(a): return nd_checked_int(a)
def nd_real_round_even(a): return nd_checked_int(nd_rounded(round, a))


def nd_fmod(a, b):
    return math.nan if a != a or b != b or abs(a) == math.inf else math.fmod(a, b)


def nd_real_floor_mod(a, b):
    m = nd_fmod(a, nd_nonzero(b))
    if m == 0:
        return math.copysign(0.0, b)
    return m + b if (m < 0) != (b < 0) else m


def nd_real_floor_div(a, b):
    m = nd_fmod(a, nd_nonzero(b))
    q = (a - m) / b
    if m != 0 and (m < 0) != (b < 0):
        q -= 1
    if q == 0:
        return math.copysign(0.0, a / b)
    down = nd_real_floor(q)
    return down + 1 if q - down > 0.5 else down


def nd_real_sqrt(a):
    return math.sqrt(a) if a >= 0 else _fail("the result is no real number")


def nd_real_log2(a):  # 2/ln 2 times the series of artanh, after the exponent has been taken out
    if not a > 0:
        _fail("the result is no real number")
    if a == math.inf:
        return a
    m, exponent = math.frexp(a)
    if m < 0.7071067811865476:
        m, exponent = m + m, exponent - 1
    s, series = (m - 1) / (m + 1), 0.0
    for k in range(25, 0, -2):
        series = 1.0 / k + s * s * series
    return exponent + 2.8853900817779268 * s * series


def nd_real_pow(a, b):  # b is a whole number or a half; the fraction of a is squared apart from its exponent
    if b == 0 or a == 1:
        return 1.0
    if b == 1 or a != a or b != b:
        return b if b != b else a
    left = abs(b)
    odd = left < 2**53 and left % 2 == 1
    if a == 0 or abs(a) == math.inf or left >= 2.0**63:
        large = (abs(a) > 1) == (b > 0)
        size = 1.0 if a == -1 else math.inf if large else 0.0
        return math.copysign(size, a) if odd else size
    if left == 0.5:
        root = math.sqrt(a) if a >= 0 else math.nan
        return root if b > 0 else 1 / root
    left, (fraction, exponent), result, total = int(left), math.frexp(a), 1.0, 0
    while left > 0:
        if abs(exponent) > 4096:
            total += exponent
            break
        if left & 1:
            result, total = result * fraction, total + exponent
        fraction, exponent, left = fraction * fraction, exponent * 2, left >> 1
        if fraction < 0.5:
            fraction, exponent = fraction + fraction, exponent - 1
    if b < 0:
        result, total = 1 / result, -total
    try:
        return math.ldexp(result, total)
    except OverflowError:
        return math.copysign(math.inf, result)


def nd_real_power(a, b):
    if a == 0 and b < 0:
        _fail("division by zero")
    if a < 0 and a != -math.inf and (b != b or abs(b) != math.inf and b != nd_real_floor(b)):
        _fail("the result is no real number")
    p = nd_real_pow(a, b)
    if abs(p) == math.inf and abs(a) != math.inf and abs(b) != math.inf:
        _fail("the result is beyond the floats")
    return p


def nd_power_real(a, b):  # a power of integers, as a float
    return nd_real_power(float(a), float(b)) if b < 0 else float(nd_power(a, b))


def nd_size(a):  # a float as an integer, which it must be
    return int(a) if abs(a) < 2**53 and a == int(a) else _fail("%r is not a whole number" % a)


def nd_positive(a):
    return a if a > 0 else _fail("a size is %d; it must be positive" % a)


def nd_divisor(a, b):  # beyond the integers, the largest: one work-group
    return min(a * nd_positive(b), _INT_MAX)


def nd_fraction(whole, fraction, by):  # the products of divisors that are whole numbers, and of others
    return (whole, fraction * by) if 0 < by < math.inf and by % 1 else (nd_divisor(whole, nd_size(by)), fraction)


def nd_groups(size, divisor, fraction):
    nd_positive(size)
    return (size - 1) // divisor + 1 if fraction == 1 else nd_size(nd_real_ceil(nd_real_divide(float(size), divisor * fraction)))


def nd_launch(dimensions, blocks, size, block, divisor, fraction, offset):
    """Return the global size, the local size and the offset of the launch of ceil(size / divisor / fraction) work-groups.

    The local size is None if the driver chooses it, the offset None if it is 0.
    """
    driver = block[0] == 0
    local = [1 if driver else nd_positive(b) for b in block]
    grid = [nd_groups(*of) for of in zip(size, divisor, fraction)]
    nd_checked(math.prod(local) * math.prod(grid))
    used = dimensions if driver else max(dimensions, blocks)
    if min(offset) < 0:
        _fail("an offset is %d; it must not be negative" % min(offset))
    return ([g * n for g, n in zip(grid, local)][:used], None if driver else local[:used],
            offset[:used] if any(offset) else None)


# A Launch is a launch of a kernel: its number and its name, its sizes, and its arguments.
Launch = collections.namedtuple("Launch", "kernel name global_size local_size offset arguments")

# An Argument is an argument of a kernel. Its value is a buffer, an image or a sampler, as it was given; the bytes of
# a scalar; or LocalMemory.
Argument = collections.namedtuple("Argument", "name value")
LocalMemory = collections.namedtuple("LocalMemory", "bytes")

_MAX_LAUNCHES = 65536


def nd_natural(a):
    return a if a >= 0 else _fail("a number of repetitions is %d; it must not be negative" % a)


def nd_local(elements, size):
    return LocalMemory(nd_checked(nd_positive(elements) * size))


def nd_bytes(fixed, *values):
    """Return bytes with values as types of struct, which must hold them, at offsets."""
    result = bytearray(fixed)
    for offset, type, value in values:
        try:
            whole = value if type in "efd" else int(value)
            if whole != value and value == value:
                _fail("%s is no whole number" % value)
            struct.pack_into("=" + type, result, offset, whole)
        except (OverflowError, struct.error) as error:
            raise ValueError(str(error)) from None
    return bytes(result)


def nd_buffers(buffers, names):
    """Return the named buffers in the order of the names."""
    missing = [name for name in names if name not in buffers]
    return [buffers[name] for name in names] if not missing else _fail("the buffers lack " + ", ".join(missing))


def nd_add_launch(launches, kernel, name, sizes, *arguments):
    if len(launches) == _MAX_LAUNCHES:
        _fail("there are more than %d launches" % _MAX_LAUNCHES)
    launches.append(Launch(kernel, name, *sizes, [Argument(*a) for a in arguments]))


def nd_finish(launches, buffers, names, held):
    """Return the launches, and put the buffers into the order that they have afterwards."""
    if not launches:
        _fail("no kernel is launched: every repeat is 0")
    buffers.update(zip(names, held))
    return launches
