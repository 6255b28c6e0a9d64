"""Translations against Python: each text and function is enumerated in Python, and its translation by the program."""

import functools
import itertools
import json
import math
import random
import subprocess

import numpy
import pytest

from ndtune import NdtuneError, _binary
from ndtune import _expressions as expressions

PARAMETERS = {"x": [-7, -1, 0, 3, 8], "y": [1, 2, -3], "f": [0.5, -2.5, 3.0], "b": [True, False]}
PARAMETERS["s"] = ["float", "float4"]
TEXTS = """x // y == -4
x % y
-x % 3 == 1
x ** 2 > 9 and not b
2 ** y < 1
x >> 1 == -1
x << 2 > 4
x & 3 | y
x ^ y != 0
~x > 0
x and y
x or f
(x and y) == 1
(x or y or f) > 2
(x and s) == "float"
not x or not s
-8 < x <= y < 9
x in (1, 3, 8)
x in [y, 3] or x not in range(0, 9)
x in range(-7, 100, 5)
f in (3, 0.5, "float")
b in [1, "float"]
s in ["float", "double"]
"4" in s
s + "4" == "float4"
s == "float" and b
b == True
b == 1
x == True
b + b + 1 > x
(y if b else f) > 1
(1 if x else f) * 2 == 2
x if x > f else s
min(x, y) < max(x, f)
abs(x) * y <= 7
abs(f) > 1
-f > x
len([x, y]) == 2
len(s) == 6
sum([x, y, f]) > 1
sum(i for i in [x, y] if i > 0) > 2
sum(i * f for i in range(4) if i > x) > 1
any(x % i == 0 for i in (2, 3))
all(i > x for i in [y, f])
math.ceil(f) == 3 or math.floor(f) == -3
math.sqrt(x * x) == 8.0
math.log2(x * x + 1) > 2
int(f) == 0
round(f) == 0
float(x) / 2 == 4
x / 2 == 4.0
x // 2.5 == 3
f // 1 == 0
f % 2 == 0.5
bool(x) == b
sorted([x, y])[0] == x
max([x, y, 3]) == 3
(b and x > 0) | (s == "float")
b & (x > 0)
b ^ (x > 0)
s
((x + y) * (x - y)) % 4 == 0
(((x)) * x * (x * y)) < (100)
[x, y][0] == 3
"a" == s
x == "a"
x < y < f
not (x < y or b)
s > "float"
s != "float" != b
1 if x > 0 else 0
x != 0 and 8 % x == 0
x == 0 or 8 % x == 0 or f > 1
9223372036854775807 - x > 0
x * 4611686018427387904 / 4611686018427387904 == x
""".strip().splitlines()


@pytest.fixture(scope="session")
def count(tmp_path_factory):
    """How many configurations the program finds, or with --json all of them."""
    try:
        program = _binary.find()
    except NdtuneError:
        pytest.skip("there is no program ndtune: build it, and name it in the environment variable NDTUNE")
    folder = tmp_path_factory.mktemp("space")
    (folder / "k.cl").write_text("kernel void k(global int *a) {}")

    def counted(parameters, restrictions, flag="--count"):
        specification = {
            "kernel": {"name": "k", "file": "k.cl"}, "problem_size": 1, "block_size": {"x": "1"},
            "arguments": [{"name": "a", "type": "int32", "size": 1}],
            "parameters": parameters, "restrictions": restrictions,
        }  # fmt: skip
        (folder / "k.json").write_text(json.dumps(specification))
        done = subprocess.run([program, "space", folder / "k.json", flag], capture_output=True, text=True)
        empty = "the space is empty" in done.stderr
        assert empty or done.returncode == 0, done.stderr
        if flag == "--count":
            return 0 if empty else int(done.stdout)
        return [json.loads(line) for line in done.stdout.splitlines()[1:]]

    return counted


def combinations(parameters):
    return [dict(zip(parameters, c, strict=True)) for c in itertools.product(*parameters.values())]


@pytest.mark.parametrize("text", TEXTS)
def test_texts_hold_where_python_says_so(text, count, tmp_path):
    wanted = [list(c.values()) for c in combinations(PARAMETERS) if eval(text, {"math": math, **c})]
    translated = expressions.restrictions([text], PARAMETERS, tmp_path)
    assert count(PARAMETERS, translated, "--json") == wanted, translated


REFUSED = """f'{x}' == '3'
x.real
[x for x in 3
x is 3
(z := x) > 1
open('x')
max(x, key=3)
__import__('os')
'%d' % 3 == s
3 ** 10 ** 9 > x
(((2 ** 60) ** 60) ** 60) ** 60 > x
1 << 10 ** 9 > x
[0] * 10 ** 9
z > 1
x + 1j
sum(1 for i in range(10 ** 4) for j in range(10 ** 5))
{x: 1}
x @ y""".splitlines()


@pytest.mark.parametrize("text", REFUSED)
def test_texts_that_are_not_trusted_only_compute(text):
    with pytest.raises(expressions.Untranslatable):
        expressions.expression(expressions.of_text(text, PARAMETERS, trusted=False), PARAMETERS)


BLOCKS = {
    "block_size_x": [16, 32, 48, 64, 128], "block_size_y": [1, 2, 4, 8], "tile": [1, 2, 3, 4], "pad": [0, 1],
    "real": ["float", "double"], "vector": [True, False], "scale": [0.5, 1.0, 2.5],
}  # fmt: skip
LIMIT = 256
SIZES = {"float": 4, "double": 8}


def early_returns(p):
    if p["block_size_x"] * p["block_size_y"] > LIMIT:
        return False
    if p["pad"] == 1 and p["block_size_x"] % 32 != 0:
        return False
    if p["vector"] and (p["tile"] == 3 or p["real"] == "double"):
        return False
    return p["block_size_y"] >= p["tile"]


def assignments(p):
    width = p["block_size_x"] * p["tile"]
    if p["vector"]:
        width //= 4
    else:
        width += p["pad"]
    return width % 16 == 0


def by_arguments(block_size_x, block_size_y, tile):
    return block_size_x % (block_size_y * tile) == 0


def loops(p):
    total = 0
    for name in ("block_size_x", "block_size_y", "tile"):
        total += p[name]
    return total % 3 == 0


def divides_down(p):
    n = p["block_size_x"]
    while n % 2 == 0:
        n //= 2
    return n == 1


def looks_at_types(p):
    return isinstance(p["block_size_x"], int) and p["tile"] > 1


def helped(p):
    return _fits(p["block_size_x"], p["block_size_y"]) or p["pad"]


def _fits(x, y, most=LIMIT):
    return x * y <= most


def returns_none(p):
    if p["tile"] == 3:
        return False


@functools.lru_cache
def cached(block_size_x, tile):
    return block_size_x / tile == block_size_x // tile


class Rule:
    def __init__(self, most):
        self.most = most

    def __call__(self, p):
        return p["block_size_x"] <= self.most

    def method(self, p):
        return p["block_size_y"] * p["tile"] <= self.most


CALLABLES = [
    early_returns,
    assignments,
    by_arguments,
    loops,
    divides_down,
    looks_at_types,
    helped,
    cached,
    Rule(48),
    Rule(4).method,
    functools.partial(lambda most, p: p["tile"] <= most, 2),
    lambda p: p["block_size_x"] * p["block_size_y"] >= 64,
    lambda p: 32 <= p["block_size_x"] * p["block_size_y"] <= LIMIT,
    lambda p: p["block_size_x"] % p["tile"] == 0 and p["pad"] or p["vector"],
    lambda p: p["real"] in ("float", "half") and not p["vector"],
    lambda p: SIZES[p["real"]] * p["tile"] <= 8,
    lambda p: p["block_size_x"] * SIZES[p["real"]] * p["scale"] < 500,
    lambda p: math.ceil(p["block_size_x"] / 48) * p["tile"] <= 4,
    lambda p: np_prod([p["block_size_x"], p["block_size_y"]]) <= LIMIT,
    lambda p: any(p["block_size_x"] == p["block_size_y"] * n for n in (8, 16)),
    lambda p: min(p["block_size_x"], p["block_size_y"] * 16) == p["block_size_x"],
    lambda p: (p["block_size_x"] & (p["block_size_x"] - 1)) == 0,
    lambda p: p["block_size_x"] // 7 % 3 - p["tile"] < -1,
    lambda p: p.get("tile", 0) > 1 and p.get("nothing", 0) == 0,
    lambda p: sum(v for v in p.values() if isinstance(v, int)) % 2 == 0,
    lambda p: int(p["block_size_x"] * p["scale"]) % 16 == 0,
    lambda p: str(p["block_size_x"]).endswith("8"),
    lambda p: p["real"].startswith("d") or p["tile"] == 1,
    lambda p: (p["tile"] if p["vector"] else p["pad"]) == 1,
    lambda p: 2 ** p["tile"] <= p["block_size_y"],
    lambda p: numpy.log2(p["block_size_x"]) % 1 == 0,
    lambda *values: values[0] * values[1] < 100,
    lambda a, b, c, d, e, f, g: a > b * c,
    lambda block_size_x, pad, **_: block_size_x % 32 != 0 or pad == 0,
    lambda p: len(p["real"]) == 5 or abs(p["tile"] - 3) <= 1,
    lambda p: p["vector"] == (p["tile"] % 2 == 0),
    lambda p: {**p}["block_size_x"] != 48 and not (p["pad"] and p["vector"]),
    lambda p: (p["block_size_x"], p["tile"]) in [(16, 1), (32, 2), (64, 4)],
]


def np_prod(values):
    return numpy.prod(values)


def called(function, c):
    """The function's answer as Kernel Tuner gets it, told apart by hand."""
    if function is by_arguments:
        return function(c["block_size_x"], c["block_size_y"], c["tile"])
    if function is cached:
        return function(c["block_size_x"], c["tile"])
    names = getattr(getattr(function, "__code__", None), "co_varnames", ())
    if names[:1] in [("values",), ("a",)]:
        return function(*c.values())
    return function(**c) if names[:1] == ("block_size_x",) else function(dict(c))


@pytest.mark.parametrize("function", CALLABLES, ids=range(len(CALLABLES)))
def test_functions_hold_where_python_says_so(function, count, tmp_path):
    wanted = [list(c.values()) for c in combinations(BLOCKS) if called(function, c)]
    translated = expressions.restrictions(function, BLOCKS, tmp_path)
    assert count(BLOCKS, translated, "--json") == wanted, translated


def test_what_a_function_raises_is_raised_with_its_configuration(tmp_path):
    with pytest.raises(ZeroDivisionError) as raised:
        expressions.restrictions([lambda p: 8 % p["x"] == 0], PARAMETERS, tmp_path)
    notes = getattr(raised.value, "__notes__", [str(raised.value)])
    assert "test_expressions.py" in notes[0] and "'x': 0" in notes[0]
    with pytest.raises(KeyError):
        expressions.restrictions(lambda p: p["nothing"], PARAMETERS, tmp_path)
    with pytest.raises(NameError):
        expressions.restrictions(["nothing > 1"], PARAMETERS, tmp_path)
    with pytest.raises(SyntaxError):
        expressions.restrictions(["x >"], PARAMETERS, tmp_path)
    with pytest.raises(ValueError, match="Unrecognized restriction type"):
        expressions.restrictions([5], PARAMETERS, tmp_path)


def test_an_exception_where_another_restriction_is_false_is_none(count, tmp_path):
    rules = ["x != 0", lambda p: 8 % p["x"] == 0]
    wanted = sum(c["x"] != 0 and 8 % c["x"] == 0 for c in combinations(PARAMETERS))
    assert count(PARAMETERS, expressions.restrictions(rules, PARAMETERS, tmp_path)) == wanted


def counting():
    calls: list[int] = []

    def first_calls_only(p):
        calls.append(p["x"])
        return len(calls) < 20

    return first_calls_only


@pytest.mark.parametrize("function", [lambda p: random.random() < 0.5 + p["x"] / 100, counting()])
def test_functions_of_more_than_the_parameters_are_refused(function, tmp_path):
    with pytest.raises(NdtuneError, match="depends on something else than the parameters"):
        expressions.restrictions(function, PARAMETERS, tmp_path)


def test_a_table_that_would_be_too_large_is_refused(tmp_path):
    many = {name: list(range(100)) for name in "abcd"}
    with pytest.raises(NdtuneError, match="reads a, b, c, d, which have 100000000 combinations"):
        expressions.restrictions(lambda p: str(sum(p.values())).isdigit(), many, tmp_path)


def test_many_conditions_stay_short(tmp_path):
    names = [f"n{i}" for i in range(20)]

    def rule(p):
        for a, b in zip(names[::2], names[1::2], strict=True):
            if p[a] == 1 and p[b] == 2:
                return False
        return True

    (text,) = expressions.restrictions(rule, {name: [1, 2, 3] for name in names}, tmp_path)
    assert text == " and ".join(f"not ({a} == 1 and {b} == 2)" for a, b in zip(names[::2], names[1::2], strict=True))


def test_constraints_of_python_constraint(count, tmp_path):
    constraint = pytest.importorskip("constraint")
    values = {name: list(range(6)) for name in "abc"}
    rules = [
        constraint.ExactSumConstraint(7), (constraint.MaxProdConstraint(12), ["a", "b"]),
        constraint.AllDifferentConstraint(), (constraint.InSetConstraint([1, 2, 4]), ["c"]),
        constraint.FunctionConstraint(lambda a, b, c: a < b or c == 1),
    ]  # fmt: skip
    wanted = sum(
        sum(v) == 7 and v[0] * v[1] <= 12 and len(set(v)) == 3 and v[2] in (1, 2, 4) and (v[0] < v[1] or v[2] == 1)
        for v in itertools.product(*values.values())
    )
    assert count(values, expressions.restrictions(rules, values, tmp_path)) == wanted > 0


def test_the_limit_of_a_work_group_stands_last(tmp_path):
    sizes = {"block_size_x": [1, 2], "tile": [1], "block_size_y": [3]}
    made = expressions.restrictions("tile > 0 or tile < 1", sizes, tmp_path, 1024)
    assert made == ["tile > 0 or tile < 1", "block_size_x * block_size_y <= 1024"]
    names = {"block_size_y": "y", "tile": "t"}
    renamed = expressions.restrictions(["tile == 1"], sizes, tmp_path, "limit", rename=names)
    assert renamed == ["t == 1", "block_size_x * y <= limit"]


def test_values_are_expressions_or_conditional_ones():
    assert expressions.expression("x * 2", PARAMETERS) == "x * 2"
    assert expressions.expression(lambda p: p["x"] // 2 + 1, PARAMETERS) == "floor_div(x, 2) + 1"
    assert expressions.expression(lambda p: {"float": 4}.get(p["s"], 16), PARAMETERS) == 's == "float" ? 4 : 16'
    assert expressions.expression(lambda p: p["n"] / p["time"], {"n": [3]}, names=["time"]) == "true_div(n, time)"
    with pytest.raises(expressions.Untranslatable, match="cannot be translated"):
        expressions.expression(lambda p: float(str(p["time"])), {"n": [3]}, names=["time"])
    with pytest.raises(KeyError):
        expressions.expression(lambda p: {"float": 4}[p["s"]], PARAMETERS)
    assert expressions.evaluate("x * math.ceil(f)", {"x": 3, "f": 0.5}) == 3
    assert expressions.evaluate(lambda p: p["x"], {"x": 3}) == expressions.evaluate(lambda x: x, {"x": 3, "y": 4}) == 3


LAYERS = {f"gpu{i}": list(range(42)) for i in range(1, 5)}
MIXED = {"n": [1, 2, 3], "f": [1.0, 2.0, 3.0, -4.4], "s": ["Alpha", "Bravo", "Charlie"], "b": [True, False]}
STENCIL = {
    "block_size_x": [1, 2, 4, 8, 16] + [32 * i for i in range(1, 33)], "block_size_y": [2**i for i in range(6)],
    **{name: list(range(1, 11)) for name in ("tile_size_x", "tile_size_y", "temporal_tiling_factor")},
    "max_tfactor": [10], "loop_unroll_factor_t": list(range(1, 11)), "sh_power": [0, 1],
    "blocks_per_sm": [0, 1, 2, 3, 4],
}  # fmt: skip
MEMORY = (
    "(block_size_x*tile_size_x + temporal_tiling_factor * 2) * (block_size_y*tile_size_y + temporal_tiling_factor * 2)"
    " * (2+sh_power) * 4"
)
SPACES_OF_KERNEL_TUNER = [  # as its own tests have them, with the number of configurations
    ({"x": [1, 1.5, 2, 3], "y": [4, 5.5], "z": ["string_1", "string_2"]}, ["y % x == 1"], 6),
    (LAYERS, ["gpu1+gpu2+gpu3+gpu4 == 42", lambda gpu1, gpu2, gpu3, gpu4: min(gpu1, gpu2, gpu3, gpu4) > 0], 10660),
    (MIXED, ["n + f > 3", "b == False"], 18),
    (STENCIL, ["block_size_x*block_size_y >= 32", "temporal_tiling_factor % loop_unroll_factor_t == 0",
               "block_size_x*block_size_y <= 1024", f"{MEMORY} <= 49152",
               f"blocks_per_sm == 0 or (({MEMORY}) * blocks_per_sm <= 102400)"], 349853),
]  # fmt: skip


@pytest.mark.parametrize("parameters, rules, wanted", SPACES_OF_KERNEL_TUNER, ids=range(4))
def test_spaces_of_kernel_tuner(parameters, rules, wanted, count, tmp_path):
    assert count(parameters, expressions.restrictions(rules, parameters, tmp_path, 1024)) == wanted
