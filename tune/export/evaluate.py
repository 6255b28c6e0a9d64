# The fixed part of exported kernels, which is the same for all: it computes the rules of a kernel, which are tables of data.
# An operation that has no value, or an integer beyond 64 bits, raises ValueError.
import collections
import math
import struct

_INT_MIN, _INT_MAX = -2**63, 2**63 - 1


def _fail(reason):
    raise ValueError(reason)


def _checked(a):
    return a if _INT_MIN <= a <= _INT_MAX else _fail("the result is beyond the integers of 64 bits")


def _nonzero(b):
    return b if b != 0 else _fail("division by zero")


def _div(a, b):
    q = abs(a) // abs(_nonzero(b))
    return _checked(q if (a < 0) == (b < 0) else -q)


def _mod(a, b):
    m = abs(a) % abs(_nonzero(b))
    return -m if a < 0 else m


def _power(a, b):
    if b > 63 and abs(a) > 1:
        _fail("the result is beyond the integers of 64 bits")
    return _checked(a ** (b if abs(a) > 1 else min(b, 2 - b % 2)))


def _shift_left(a, n):
    if n < 0:
        _fail("the shift is negative")
    return _checked(a << min(n, 64))


def _shift_right(a, n):
    if n < 0:
        _fail("the shift is negative")
    return a >> min(n, 63)


def _compare(a, b):
    if a != a or b != b:
        _fail("nothing compares with NaN")
    return (a > b) - (a < b)


def _float_divide(a, b):
    if b != 0:
        return a / b
    return a * math.copysign(math.inf, b) if a != 0 else math.nan


def _float_min(a, b):  # an infinity is less than NaN, which is less than all else
    if a == -math.inf or b == -math.inf:
        return -math.inf
    if a != a or b != b:
        return math.nan
    return a if a < b or a == b and math.copysign(1, a) < 0 else b


def _rounded(round, a):
    return math.copysign(round(a), a) if abs(a) < 2**52 else a


def _float_ceil(a): return _rounded(math.ceil, a)


def _float_floor(a): return _rounded(math.floor, a)


def _float_round(a):  # a half, away from zero
    return _rounded(lambda a: math.trunc(a) + (abs(a - math.trunc(a)) >= 0.5) * math.copysign(1, a), a)


def _to_int(a):  # beyond 64 bits, the least integer
    return int(a) if -2.0**63 <= a < 2.0**63 else _INT_MIN


def _checked_int(a):
    return int(a) if -2.0**63 <= a < 2.0**63 else _checked(2**63)


def _fmod(a, b):
    return math.nan if a != a or b != b or abs(a) == math.inf else math.fmod(a, b)


def _float_floor_mod(a, b):
    m = _fmod(a, _nonzero(b))
    if m == 0:
        return math.copysign(0.0, b)
    return m + b if (m < 0) != (b < 0) else m


def _float_floor_div(a, b):
    m = _fmod(a, _nonzero(b))
    q = (a - m) / b
    if m != 0 and (m < 0) != (b < 0):
        q -= 1
    if q == 0:
        return math.copysign(0.0, a / b)
    down = _float_floor(q)
    return down + 1 if q - down > 0.5 else down


def _float_sqrt(a):
    return math.sqrt(a) if a >= 0 else _fail("the result is no real number")


def _float_log2(a):  # 2/ln 2 times the series of artanh, after the exponent has been taken out
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


def _float_pow(a, b):  # b is a whole number or a half; the fraction of a is squared apart from its exponent
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


def _float_power(a, b):
    if a == 0 and b < 0:
        _fail("division by zero")
    if a < 0 and a != -math.inf and (b != b or abs(b) != math.inf and b != _float_floor(b)):
        _fail("the result is no real number")
    p = _float_pow(a, b)
    if abs(p) == math.inf and abs(a) != math.inf and abs(b) != math.inf:
        _fail("the result is beyond the floats")
    return p


def _power_float(a, b):  # a power of integers, as a float
    return _float_power(float(a), float(b)) if b < 0 else float(_power(a, b))


def _size(a):  # a float as an integer, which it must be
    return int(a) if abs(a) < 2**53 and a == int(a) else _fail("%r is not a whole number" % a)


def _positive(a):
    return a if a > 0 else _fail("a size is %d; it must be positive" % a)


def _float_divisor(a):
    return (1, a) if 0 < a < math.inf and a % 1 else (_positive(_size(a)), 1)


# The operations of rules. A divisor of a size is a pair of a whole number and another one, of which one is 1.
_OPERATIONS = {
    "not": lambda a: not a, "and": lambda a, b: a and b, "or": lambda a, b: a or b, "if": lambda c, a, b: a if c else b,
    "add": lambda a, b: _checked(a + b), "sub": lambda a, b: _checked(a - b), "mul": lambda a, b: _checked(a * b),
    "neg": lambda a: _checked(-a), "abs": lambda a: _checked(abs(a)), "min": min, "max": max,
    "equal": lambda a, b: a == b, "less": lambda a, b: a < b, "less_equal": lambda a, b: a <= b,
    "text_equal": lambda a, b: a == b,
    "div": _div, "mod": _mod,
    "floor_div": lambda a, b: _checked(a // _nonzero(b)), "floor_mod": lambda a, b: a % _nonzero(b),
    "power": _power,
    "bit_and": lambda a, b: a & b, "bit_or": lambda a, b: a | b, "bit_xor": lambda a, b: a ^ b,
    "shift_left": _shift_left, "shift_right": _shift_right,
    "compare": _compare, "float_compare": _compare, "int_float_compare": _compare, "float_int_compare": _compare,
    "to_float": float, "true_div": lambda a, b: a / _nonzero(b), "power_float": _power_float,
    "float_add": lambda a, b: a + b, "float_sub": lambda a, b: a - b, "float_mul": lambda a, b: a * b,
    "float_divide": _float_divide, "float_neg": lambda a: -a, "float_abs": abs,
    "float_min": _float_min, "float_max": lambda a, b: -_float_min(-a, -b),
    "float_ceil": _float_ceil, "float_floor": _float_floor, "float_round": _float_round,
    "float_pow": _float_pow, "float_power": _float_power, "float_sqrt": _float_sqrt, "float_log2": _float_log2,
    "float_true_div": lambda a, b: a / _nonzero(b), "float_floor_div": _float_floor_div, "float_floor_mod": _float_floor_mod,
    "float_equal": lambda a, b: a == b, "float_less": lambda a, b: a < b, "float_less_equal": lambda a, b: a <= b,
    "to_int": _to_int, "float_round_down": lambda a: _checked_int(_float_floor(a)),
    "float_round_up": lambda a: _checked_int(_float_ceil(a)), "float_round_even": lambda a: _checked_int(_rounded(round, a)),
    "float_truncate": _checked_int,
    "size": _size, "positive": _positive, "divisor": lambda a: (_positive(a), 1), "float_divisor": _float_divisor,
}


def _apply(operation, arguments):
    """The value of an operation. One that has none is a ValueError. Of a condition, only the chosen value can fail."""
    for i, a in enumerate(arguments):
        if isinstance(a, ValueError) and (i == 0 or operation not in ("and", "or", "if")):
            return a
    try:
        return _OPERATIONS[operation](*arguments)
    except (ValueError, ArithmeticError) as error:
        return ValueError(str(error))


def nd_evaluate(rules, rule, names):
    """Compute a rule, whose code is in postfix order: the arguments of an operation come before it."""
    stack = []
    for operation, operand in rules.codes[rule]:
        if operation == "name":
            stack.append(names[operand])
        elif operation in ("int", "bool", "float", "text"):
            stack.append(operand)
        else:  # the operand is the number of arguments
            stack[-operand:] = [_apply(operation, stack[-operand:])]
    if isinstance(stack[0], ValueError):
        raise stack[0]
    return stack[0]


# The rules of a kernel. The parts of a table refer to those of others by their index; -1 is none.
Rules = collections.namedtuple("Rules", "codes lists parts arguments steps kernels buffers")

# A part of a scalar: a value of a type of struct, at an offset in its bytes. The value is a rule or fixed bytes.
Part = collections.namedtuple("Part", "offset type value")

# The buffer is the index of a buffer, an image or a sampler; bytes is a rule. A scalar has at least one part.
ArgumentRules = collections.namedtuple("ArgumentRules", "name buffer bytes first parts")

# A step is the launch of a kernel, or a list of the steps that follow it: so many are within. Index is the name of the number
# of the repetition, swap the indices of buffers; divisors and arguments are lists, all others rules.
Step = collections.namedtuple("Step", "kernel within repeat index swap size block offset divisors arguments")

_BLOCK_SIZE = -2  # in a list of divisors

# A Launch is a launch of a kernel: its number and its name, its sizes, and its arguments.
Launch = collections.namedtuple("Launch", "kernel name global_size local_size offset arguments")

# An Argument is an argument of a kernel. Its value is a buffer, an image or a sampler, as it was given; the bytes of
# a scalar; or LocalMemory.
Argument = collections.namedtuple("Argument", "name value")
LocalMemory = collections.namedtuple("LocalMemory", "bytes")

_MAX_LAUNCHES = 65536


def _groups(size, whole, fraction):
    return (size - 1) // whole + 1 if fraction == 1 else _size(_float_ceil(_float_divide(float(size), whole * fraction)))


def nd_ndrange(rules, step, names):
    """Return the global size, the local size and the offset of a launch: in each dimension ceil(size / product of the divisors)
    work-groups of the block size.

    The local size is None if the driver chooses it, the offset None if it is 0.
    """
    def value(rule, otherwise):
        return nd_evaluate(rules, rule, names) if rule >= 0 else otherwise

    driver = value(step.block[0], 1) == 0
    dimensions, local, grid = 1, [], []
    for i in range(3):
        local.append(1 if driver else _positive(value(step.block[i], 1)))
        size, whole, fraction = _positive(value(step.size[i], 1)), 1, 1
        if step.size[i] >= 0 or step.block[i] >= 0 and not driver:
            dimensions = i + 1
        for by in rules.lists[step.divisors[i]] if step.divisors[i] >= 0 else []:
            n, f = (local[i], 1) if by == _BLOCK_SIZE else value(by, None)
            whole, fraction = min(whole * n, _INT_MAX), fraction * f  # beyond the integers: one work-group
        grid.append(_groups(size, whole, fraction))
    _checked(math.prod(local) * math.prod(grid))
    offset = [value(rule, 0) for rule in step.offset]
    if min(offset) < 0:
        _fail("an offset is %d; it must not be negative" % min(offset))
    return ([g * n for g, n in zip(grid, local)][:dimensions], None if driver else local[:dimensions],
            offset[:dimensions] if any(offset) else None)


def nd_buffers_bytes(rules, names):
    """Return the sizes of the buffers in bytes, without images and samplers."""
    return {a.name: nd_evaluate(rules, a.bytes, names) for a in rules.arguments if a.buffer >= 0 and a.bytes >= 0}


def _scalar(rules, argument, names):
    """Return the bytes of a scalar. Each value must fit in its type."""
    result = bytearray(nd_evaluate(rules, argument.bytes, names))
    for part in rules.parts[argument.first:argument.first + argument.parts]:
        value = part.value if isinstance(part.value, bytes) else nd_evaluate(rules, part.value, names)
        try:
            if part.type in "bhiqBHIQ":
                if value != value or int(value) != value:
                    _fail("%s is no whole number" % value)
                value = int(value)
            struct.pack_into("=" + part.type, result, part.offset, value)
        except (OverflowError, struct.error) as error:
            raise ValueError(str(error)) from None
    return bytes(result)


def _argument(rules, argument, names, held):
    if argument.buffer >= 0:
        return Argument(argument.name, held[argument.buffer])
    if argument.parts > 0:
        return Argument(argument.name, _scalar(rules, argument, names))
    return Argument(argument.name, LocalMemory(nd_evaluate(rules, argument.bytes, names)))


def _run_steps(rules, first, end, names, held, launches):
    """Add the launches of some steps."""
    while first < end:
        step = rules.steps[first]
        repeat = nd_evaluate(rules, step.repeat, names) if step.repeat >= 0 else 1
        if repeat < 0:
            _fail("a number of repetitions is %d; it must not be negative" % repeat)
        for k in range(repeat):
            if step.index >= 0:
                names[step.index] = k
            if k > 0 and step.swap[0] >= 0:
                a, b = step.swap
                held[a], held[b] = held[b], held[a]
            if step.kernel < 0:
                _run_steps(rules, first + 1, first + 1 + step.within, names, held, launches)
                continue
            if len(launches) == _MAX_LAUNCHES:
                _fail("there are more than %d launches" % _MAX_LAUNCHES)
            arguments = [_argument(rules, rules.arguments[i], names, held) for i in rules.lists[step.arguments]]
            launches.append(Launch(step.kernel, rules.kernels[step.kernel], *nd_ndrange(rules, step, names), arguments))
        first += 1 + step.within


def nd_launches(rules, names, buffers):
    """Return all launches, and put the buffers into the order that they have afterwards."""
    missing = [name for name in rules.buffers if name not in buffers]
    if missing:
        _fail("the buffers lack " + ", ".join(missing))
    held, launches = [buffers[name] for name in rules.buffers], []
    _run_steps(rules, 0, len(rules.steps), names, held, launches)
    if not launches:
        _fail("no kernel is launched: every repeat is 0")
    buffers.update(zip(rules.buffers, held))
    return launches
