"""Python expressions and functions of the tunable parameters, as expressions of specifications.

A text is parsed by `ast`; only what computes is allowed in it. A function is run on symbols, which record what is done
with them. Where Python asks for the truth of a symbol, the function runs once for each answer, and the two outcomes
become `c ? a : b`. So that `a and b`, `x in [1, 2]` and conditional expressions stay what they are, the syntax tree of
a text, and of a function whose source is known, is compiled with calls in their place.

Each translation is compared with the function: for all combinations of the parameters that it reads, or for 2,000 of
them. What cannot be translated so becomes a table of the function's values.
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import inspect
import itertools
import json
import math
import operator
import random
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy

from ndtune._binary import NdtuneError

BLOCK_SIZE_NAMES = ("block_size_x", "block_size_y", "block_size_z")

_LONGEST = 10_000  # characters of an expression that the program takes
_SAMPLES = 2_000  # combinations for which a translation is compared with its function
_RUNS = 3_000  # of a function on symbols: one for each path through it
_DEPTH = 300  # decisions of one path: a loop over symbols has no end
_ROWS = 4_000_000  # combinations of a table
_EXACT = 2**53  # integers below are floats without loss
_INFINITY = math.inf


class Untranslatable(NdtuneError):
    """A Python expression or function has no form in the language of specifications: the message says why."""


# --- symbols ---

_CHOICE, _OR, _AND, _COMPARE, _ADD, _MULTIPLY, _SIGN, _ATOM = range(8)  # how strongly parts of an expression bind


class Symbol:
    """A value that is not known yet: an expression in the language of specifications, and the same in Python.

    The kind is int, float, bool or str, or complex for a number of which only the computation tells whether it is an
    int or a float. A number has bounds; they decide where an operation needs a check against overflow.
    """

    __slots__ = ("text", "python", "kind", "low", "high", "level", "path")
    __hash__ = None  # type: ignore[assignment]  # as a key it would be found by identity
    __array_ufunc__ = None  # numpy's scalars leave the operation to the symbol

    def __init__(
        self,
        text: str,
        python: str,
        kind: type,
        path: _Path,
        bounds: tuple[float, float] = (-_INFINITY, _INFINITY),
        level: int = _ATOM,
    ) -> None:
        if len(text) > _LONGEST:
            raise Untranslatable(f"the expression has more than {_LONGEST} characters")
        self.text, self.python, self.kind, self.path, self.level = text, python, kind, path, level
        self.low, self.high = bounds

    def at(self, level: int) -> str:
        """Return the text, in parentheses if it binds less than the level."""
        return self.text if self.level >= level else f"({self.text})"

    def exact(self) -> bool:
        """Say whether the number is a float, or an int that a float holds for certain."""
        return self.kind is float or self.kind is int and -_EXACT < self.low and self.high < _EXACT

    def number(self) -> Symbol:
        """Return the symbol as a number, 1 for true."""
        if self.python in ("True", "False"):
            return _symbol(int(self.python == "True"), self.path)
        if self.kind is bool:
            text = f"{self.at(_OR)} ? 1 : 0"
            return Symbol(text, f"(1 if {self.python} else 0)", int, self.path, (0, 1), _CHOICE)
        if self.kind is str:
            raise Untranslatable(f"the text {self.text} is no number")
        return self

    def condition(self) -> Symbol:
        """Return the truth of the symbol."""
        if self.kind is bool:
            return self
        none = '""' if self.kind is str else "0"
        return Symbol(f"{self.at(_ADD)} != {none}", f"({self.python} != {none})", bool, self.path, level=_COMPARE)

    def __bool__(self) -> bool:
        return self.path.decide(self.condition())

    def __contains__(self, item: object) -> bool:
        return bool(_among(item, self))

    def __neg__(self) -> Symbol:
        n = self.number()
        if n.kind is complex or not n.exact():
            return _binary("-", 0, n)
        return Symbol(f"-{n.at(_ATOM)}", f"(-{n.python})", n.kind, n.path, (-n.high, -n.low), _SIGN)

    def __pos__(self) -> Symbol:
        return self.number()

    def __invert__(self) -> Symbol:
        return _binary("^", self, -1)

    def __abs__(self) -> Symbol:
        n = self.number()
        if n.low >= 0:
            return n
        if n.kind is complex or not n.exact():
            return _choose(_compare("<", n, 0), -n, n)
        high = max(-n.low, n.high)
        return _call("abs", n.kind, n, bounds=(0 if n.high >= 0 else -n.high, high))

    def __round__(self, digits: None = None) -> Symbol:
        if digits is not None:
            raise Untranslatable("round to a number of digits is not translated")
        return self._whole("round_even")

    def __ceil__(self) -> Symbol:
        return self._whole("round_up")

    def __floor__(self) -> Symbol:
        return self._whole("round_down")

    def __trunc__(self) -> Symbol:
        return self._whole("truncate")

    def _whole(self, function: str) -> Symbol:
        n = self.number()
        if n.kind is int:
            return n
        return _call(function, int, n, bounds=(n.low - 1, n.high + 1))

    def startswith(self, prefix: object) -> Symbol:
        """Say whether the text begins so, as str.startswith does."""
        return self._with("startsWith", prefix)

    def endswith(self, suffix: object) -> Symbol:
        """Say whether the text ends so, as str.endswith does."""
        return self._with("endsWith", suffix)

    def _with(self, word: str, other: object) -> Symbol:
        if self.kind is not str or not isinstance(other, str):
            raise Untranslatable(f"{word} needs a text")
        python = f"{self.python}.{word.lower()}({other!r})"
        return Symbol(f"{self.at(_ADD)} {word} {_literal(other)}", python, bool, self.path, level=_COMPARE)

    def _impossible(self, *_: object, **__: object) -> Any:
        raise Untranslatable("a value that depends on parameters is converted, iterated over or used as an index")

    __int__ = __float__ = __complex__ = __index__ = __iter__ = __len__ = __getitem__ = __call__ = _impossible
    __str__ = __format__ = _impossible
    __repr__ = object.__repr__

    # what differs between values and symbols would go unseen
    def __eq__(self, other: object) -> Any:
        return _compare("==", self, other)

    def __ne__(self, other: object) -> Any:
        return _compare("!=", self, other)


def _define_operators() -> None:
    """Give Symbol the methods of the operators, also those for a value on the left."""
    names = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow"}
    names |= {"&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift"}
    for sign, name in names.items():
        setattr(Symbol, f"__{name}__", lambda a, b, sign=sign: _binary(sign, a, b))
        setattr(Symbol, f"__r{name}__", lambda a, b, sign=sign: _binary(sign, b, a))
    for sign, name in {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}.items():
        setattr(Symbol, f"__{name}__", lambda a, b, sign=sign: _compare(sign, a, b))


_define_operators()


class _Path:
    """One way through a function: the conditions that it asked for, and their answers, the first of them given."""

    def __init__(self, given: list[bool]) -> None:
        self.given = given
        self.taken: list[tuple[Symbol, bool]] = []

    def decide(self, condition: Symbol) -> bool:
        for known, answer in self.taken:
            if known.text == condition.text:
                return answer
        count = len(self.taken)
        if count == _DEPTH:
            raise Untranslatable("it asks for too many conditions: a loop may depend on parameters")
        answer = self.given[count] if count < len(self.given) else True
        self.taken.append((condition, answer))
        return answer


def plain(value: Any) -> Any:
    """Return a value without numpy's types: a scalar as an int, float, bool or str of Python."""
    return value.item() if isinstance(value, numpy.generic | numpy.ndarray) and value.ndim == 0 else value


def _literal(value: Any) -> str:
    """Return a constant in the language of specifications."""
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and -(2**63) < value < 2**63:
        return str(int(value))
    if isinstance(value, float) and math.isfinite(value):
        return repr(float(value))
    if isinstance(value, str):
        return json.dumps(str(value), ensure_ascii=False)
    raise Untranslatable(f"the value {value!r} is no number that the program can hold, no bool and no text")


def _symbol(value: Any, path: _Path) -> Symbol:
    """Return a value as a symbol: a symbol as it is."""
    if isinstance(value, Symbol):
        return value
    text, value = _literal(value), plain(value)
    kind = next(k for k in (bool, int, float, str) if isinstance(value, k))
    bounds = (value, value) if kind in (int, float) else (-_INFINITY, _INFINITY)
    return Symbol(text, repr(value), kind, path, bounds, _SIGN if text.startswith("-") else _ATOM)


def _pair(a: Any, b: Any) -> tuple[Symbol, Symbol]:
    path = a.path if isinstance(a, Symbol) else b.path
    return _symbol(a, path), _symbol(b, path)


def _call(function: str, kind: type, *arguments: Symbol, bounds: tuple[float, float] | None = None) -> Symbol:
    """Return the call of a function of the language, which `_PYTHON` defines for Python."""
    text = f"{function}({', '.join(a.text for a in arguments)})"
    python = f"{function}({', '.join(a.python for a in arguments)})"
    return Symbol(text, python, kind, arguments[0].path, bounds or (-_INFINITY, _INFINITY))


_FUNCTIONS = {
    "+": "checked_add", "-": "checked_sub", "*": "checked_mul", "/": "true_div", "//": "floor_div", "%": "floor_mod",
    "**": "power", "&": "bit_and", "|": "bit_or", "^": "bit_xor", "<<": "shift_left", ">>": "shift_right",
}  # fmt: skip
_COMPUTE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift,
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def _within(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return an operator that fails where the program's would: beyond 64 bits, and where there is no real number."""

    def computed(a: Any, b: Any) -> Any:
        result = compute(a, b)
        if isinstance(result, complex) or isinstance(result, int) and not -(2**63) <= result < 2**63:
            raise OverflowError("the result is beyond the integers of 64 bits")
        return result

    return computed


_PYTHON: dict[str, Any] = {
    **{name: _within(_COMPUTE[sign]) for sign, name in _FUNCTIONS.items()},
    "div": operator.floordiv,
    "round_up": math.ceil, "round_down": math.floor, "round_even": round, "truncate": math.trunc,
    "sqrt": math.sqrt, "log2": math.log2, "abs": abs, "min": min, "max": max, "len": len, "float": float,
    "__builtins__": {},
}  # fmt: skip


def _binary(sign: str, left: Any, right: Any) -> Any:
    """Return left and right under an operator that computes."""
    if isinstance(left, list | tuple) or isinstance(right, list | tuple):
        raise Untranslatable("a list depends on parameters in its length")
    a, b = _pair(left, right)
    if a.kind is bool and b.kind is bool and sign in "&|^":
        return _and(a, b) if sign == "&" else _or(a, b) if sign == "|" else _compare("!=", a, b)
    if a.kind is str and b.kind is str and sign == "+":
        return Symbol(f"{a.at(_ADD)} + {b.at(_MULTIPLY)}", f"({a.python} + {b.python})", str, a.path, level=_ADD)
    a, b = a.number(), b.number()
    if sign == "+" and a.text == "0":  # of sum()
        return b
    kind = _kind(sign, a, b)
    bounds = _bounds(sign, a, b)
    exact = a.exact() and b.exact()
    python = f"({a.python} {sign} {b.python})"
    if sign in "+-*" and exact and (kind is float or max(-bounds[0], bounds[1]) < _EXACT) or (
        sign == "/" and exact and (b.low > 0 or b.high < 0)
    ) or sign == "%" and kind is int and a.low >= 0 and b.low > 0:
        level = _ADD if sign in "+-" else _MULTIPLY
        return Symbol(f"{a.at(level)} {sign} {b.at(level + 1)}", python, kind, a.path, bounds, level)
    function = "div" if sign == "//" and kind is int and a.low >= 0 and b.low > 0 else _FUNCTIONS[sign]
    return _call(function, kind, a, b, bounds=bounds)


def _kind(sign: str, a: Symbol, b: Symbol) -> type:
    """Return the kind of a result: int of ints, float where one is a float, else complex."""
    kinds = {a.kind, b.kind}
    if sign in ("&", "|", "^", "<<", ">>"):
        if kinds != {int}:
            raise Untranslatable(f"the operator {sign} takes integers")
        return int
    if sign == "/" or float in kinds:
        return float
    return int if kinds == {int} and (sign != "**" or b.low >= 0) else complex


def _bounds(sign: str, a: Symbol, b: Symbol) -> tuple[float, float]:
    """Return the bounds of a result: from those of its operands where it is monotonic in each."""
    unknown = (-_INFINITY, _INFINITY)
    ends = (a.low, a.high, b.low, b.high)
    if not all(math.isfinite(e) for e in ends):
        return (0, _INFINITY) if a.low >= 0 and b.low >= 0 and sign not in ("-", "**", "/") else unknown
    if sign == "%":
        return (0, b.high) if b.low > 0 else (b.low, 0) if b.high < 0 else unknown
    if sign in ("/", "//") and b.low <= 0 <= b.high:
        return unknown
    if sign in ("**", "<<", ">>", "&", "|", "^"):
        bits = math.log2(a.high + 2)
        if a.low < 0 or b.low < 0 or (bits * b.high if sign == "**" else bits + b.high) > 128 and sign in ("**", "<<"):
            return unknown
        if sign in ("&", "|", "^"):
            return 0, min(a.high, b.high) if sign == "&" else 2 ** (int(max(a.high, b.high)).bit_length()) - 1
        if sign == "**" and a.low < 1 and a.kind is float:
            return 0, max(1, a.high**b.high)
    corners = [_COMPUTE[sign](x, y) for x in ends[:2] for y in ends[2:]]
    return min(corners), max(corners)


def _compare(sign: str, left: Any, right: Any) -> Any:
    """Return the comparison of two values, of which one is a symbol."""
    right, left = plain(right), plain(left)
    try:
        a, b = _pair(left, right)
    except Untranslatable:
        if sign in ("==", "!="):  # a list, a big integer, None
            other = left if isinstance(right, Symbol) else right
            if other is None or isinstance(other, list | tuple | dict | set):
                return sign == "!="
        raise
    equality = sign in ("==", "!=")
    if not (a.kind is b.kind and (a.kind is str or a.kind is bool and equality)):
        if str in (a.kind, b.kind):
            if not equality:
                raise Untranslatable(f"a text and a number are compared by {sign}")
            return sign == "!="
        a, b = a.number(), b.number()
        if not (a.exact() and b.exact()) and not a.kind is b.kind is int:
            text = f"compare({a.text}, {b.text}) {sign} 0"
            return Symbol(text, f"({a.python} {sign} {b.python})", bool, a.path, level=_COMPARE)
    text = f"{a.at(_ADD)} {sign} {b.at(_ADD)}"
    return Symbol(text, f"({a.python} {sign} {b.python})", bool, a.path, level=_COMPARE)


def _among(item: Any, items: Any) -> Any:
    """Return whether an item is one of several, or a text a part of another."""
    if isinstance(items, Symbol):
        text, part = items, _symbol(item, items.path)
        if text.kind is not str or part.kind is not str:
            raise Untranslatable("`in` needs a list on its right, or two texts")
        python = f"({part.python} in {text.python})"
        return Symbol(f"{text.at(_ADD)} contains {part.at(_ADD)}", python, bool, text.path, level=_COMPARE)
    if not isinstance(item, Symbol) and not any(isinstance(i, Symbol) for i in _listed(items)):
        return item in items
    if isinstance(items, range) and isinstance(item, Symbol) and len(items) > 16 and item.kind is int:
        first, last = min(items[0], items[-1]), max(items[0], items[-1])
        steps = True if abs(items.step) == 1 else _binary("%", _binary("-", item, first), abs(items.step)) == 0
        return _and(_compare(">=", item, first), _compare("<=", item, last), steps)
    if isinstance(item, Symbol) and not any(isinstance(i, Symbol) for i in _listed(items)):
        kinds = (str,) if item.kind is str else (int, float)
        known = [plain(i) for i in _listed(items)]
        fitting = [i for i in dict.fromkeys(known) if isinstance(i, kinds)] if item.kind is not bool else []
        if fitting and (item.kind is str or item.kind is int and all(isinstance(i, int) for i in fitting)):
            fitting = [int(i) if item.kind is int else i for i in fitting]
            among = f"{item.at(_ADD)} in [{', '.join(map(_literal, fitting))}]"
            return Symbol(among, f"({item.python} in {fitting!r})", bool, item.path, level=_COMPARE)
    return _or(*(_compare("==", item, i) if isinstance(item, Symbol) else i == item for i in _listed(items)))


def _listed(items: Any) -> list[Any]:
    if isinstance(items, Symbol):
        items._impossible()
    return list(items)


def _join(decides: bool, word: str, level: int, operands: Iterable[Any]) -> Any:
    """Return the conditions joined by and, or or: the operand `decides` settles it."""
    parts: list[Symbol] = []
    for value in operands:
        if isinstance(value, Symbol):
            condition = value.condition()
            if all(condition.text != p.text for p in parts):
                parts.append(condition)
        elif bool(value) is decides:
            if not parts:
                return decides
            parts.append(_symbol(decides, parts[0].path))
            break
    if len(parts) < 2:
        return parts[0] if parts else not decides
    text = f" {word} ".join(p.at(level) for p in parts)
    python = f"({f' {word} '.join(p.python for p in parts)})"
    return Symbol(text, python, bool, parts[0].path, level=level)


def _and(*operands: Any) -> Any:
    return _join(False, "and", _AND, operands)


def _or(*operands: Any) -> Any:
    return _join(True, "or", _OR, operands)


def _not(value: Any) -> Any:
    if not isinstance(value, Symbol):
        return not value
    c = value.condition()
    return Symbol(f"not ({c.text})", f"(not {c.python})", bool, c.path, level=_COMPARE)


def _choose(condition: Any, then: Any, otherwise: Any) -> Any:
    """Return one of two values by a condition."""
    if not isinstance(condition, Symbol):
        return then if condition else otherwise
    if isinstance(then, list | tuple) and type(then) is type(otherwise) and len(then) == len(otherwise):
        return type(then)(_choose(condition, *pair) for pair in zip(then, otherwise, strict=True))
    c = condition.condition()
    a, b = _symbol(then, c.path), _symbol(otherwise, c.path)
    if a.text == b.text and a.kind is b.kind:
        return then
    if a.kind is b.kind is bool:
        if isinstance(then, bool):
            return _or(c, b) if then else _and(_not(c), b)
        if isinstance(otherwise, bool):
            return _or(_not(c), a) if otherwise else _and(c, a)
    elif a.kind is not b.kind:
        a, b = a.number(), b.number()
    kind = a.kind if a.kind is b.kind else complex
    text = f"{c.at(_OR)} ? {a.at(_OR)} : {b.text}"
    bounds = (min(a.low, b.low), max(a.high, b.high))
    return Symbol(text, f"({a.python} if {c.python} else {b.python})", kind, c.path, bounds, _CHOICE)


# --- Python with calls in place of what would ask for the truth of a symbol ---


def _all_of(*operands: Callable[[], Any]) -> Any:
    return _value_of(operands, False)


def _any_of(*operands: Callable[[], Any]) -> Any:
    return _value_of(operands, True)


def _value_of(operands: Sequence[Callable[[], Any]], decides: bool) -> Any:
    """Return the value of `a and b and …`, or of `a or b or …`: the operand that decides."""
    value = operands[0]()
    if len(operands) == 1 or not isinstance(value, Symbol) and bool(value) is decides:
        return value
    rest = _value_of(operands[1:], decides)
    if not isinstance(value, Symbol):
        return rest
    if value.kind is bool and (isinstance(rest, bool) or isinstance(rest, Symbol) and rest.kind is bool):
        return _or(value, rest) if decides else _and(value, rest)
    return _choose(value, value, rest) if decides else _choose(value, rest, value)


def _chain(left: Any, *links: tuple[str, Callable[[], Any]]) -> Any:
    """Return the value of a chain of comparisons: a < b < c is a < b and b < c."""
    result: Any = True
    for sign, operand in links:
        right = operand()
        if sign in ("in", "not in"):
            holds = _among(left, right)
            holds = _not(holds) if sign == "not in" else holds
        else:
            holds = _COMPUTE[sign](left, right)
        result = _and(result, holds) if isinstance(result, Symbol) or isinstance(holds, Symbol) else result and holds
        if not isinstance(result, Symbol) and not result:
            return result
        left = right
    return result


def _either(condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    if isinstance(condition, Symbol):
        return _choose(condition, then(), otherwise())
    return then() if condition else otherwise()


def _extreme(sign: str, native: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(*values: Any, **options: Any) -> Any:
        items = _listed(values[0]) if len(values) == 1 else list(values)
        if options or not any(isinstance(i, Symbol) for i in items):
            return native(items, **options)
        best = items[0]
        for item in items[1:]:
            if not isinstance(item, Symbol) and not isinstance(best, Symbol):
                best = native(best, item)
                continue
            a, b = _pair(best, item)
            if a.kind is b.kind is int:
                best = _call(native.__name__, int, a, b, bounds=(native(a.low, b.low), native(a.high, b.high)))
            else:
                best = _choose(_compare(sign, b, a), item, best)
        return best

    return extreme


def _wrapped(native: Callable[..., Any], symbolic: Callable[[Symbol], Any]) -> Callable[..., Any]:
    """Return a function of one value that computes a symbol's in its own way."""

    def function(*values: Any, **options: Any) -> Any:
        if len(values) == 1 and isinstance(values[0], Symbol):
            return symbolic(values[0])
        return native(*values, **options)

    return function


def _length(s: Symbol) -> Symbol:
    return _call("len", int, s, bounds=(0, _EXACT / 2)) if s.kind is str else s._impossible()


def _to_float(s: Symbol) -> Symbol:
    n = s.number()
    return n if n.kind is float else _call("float", float, n, bounds=(n.low, n.high))


def _listing(join: Callable[..., Any], native: Callable[..., Any]) -> Callable[[Any], Any]:
    def joined(items: Iterable[Any]) -> Any:
        items = _listed(items)
        return join(*items) if any(isinstance(i, Symbol) for i in items) else native(items)

    return joined


_SYMBOLIC: dict[Any, Any] = {
    min: _extreme("<", min),
    max: _extreme(">", max),
    any: _listing(_or, any),
    all: _listing(_and, all),
    len: _wrapped(len, _length),
    bool: _wrapped(bool, Symbol.condition),
    int: _wrapped(int, math.trunc),
    float: _wrapped(float, _to_float),
    math.sqrt: _wrapped(math.sqrt, lambda s: _call("sqrt", float, s.number(), bounds=(0, _INFINITY))),
    math.log2: _wrapped(math.log2, lambda s: _call("log2", float, s.number())),
}
_MATH = types.SimpleNamespace(
    **{name: _SYMBOLIC.get(f, f) if callable(f) else f for name, f in vars(math).items() if not name.startswith("_")}
)


def _replaced(value: Any) -> Any:
    """Return the form for symbols of a builtin function or of the module math; another value as it is."""
    if value is math:
        return _MATH
    return _SYMBOLIC.get(value, value) if isinstance(value, type | types.BuiltinFunctionType) else value


_HELPERS = {"_ndtune_and": _all_of, "_ndtune_or": _any_of, "_ndtune_not": _not, "_ndtune_if": _either}
_HELPERS |= {"_ndtune_chain": _chain}
_SIGNS: dict[type, str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in",
    ast.NotIn: "not in",
}  # fmt: skip


class _Calls(ast.NodeTransformer):
    """Puts calls of helpers in the place of and, or, not, chains of comparisons, `in` and conditional expressions."""

    def _later(self, node: ast.expr) -> ast.expr:
        if any(isinstance(n, ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Await) for n in ast.walk(node)):
            raise Untranslatable("an operand assigns a name")  # it would be one of the lambda
        return ast.Lambda(args=_arguments(()), body=self.visit(node))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        name = "and" if isinstance(node.op, ast.And) else "or"
        return _helper(name, [self._later(v) for v in node.values])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return _helper("not", [node.operand]) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return _helper("if", [self.visit(node.test), self._later(node.body), self._later(node.orelse)])

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if any(isinstance(o, ast.Is | ast.IsNot) for o in node.ops):
            return self.generic_visit(node)  # type: ignore[return-value]
        links: list[ast.expr] = []
        for sign, operand in zip(node.ops, node.comparators, strict=True):
            links.append(ast.Tuple([ast.Constant(_SIGNS[type(sign)]), self._later(operand)], ast.Load()))
        return _helper("chain", [self.visit(node.left), *links])


def _helper(name: str, arguments: list[ast.expr]) -> ast.expr:
    return ast.Call(ast.Name("_ndtune_" + name, ast.Load()), arguments, [])


def _arguments(names: Iterable[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])


@functools.lru_cache(maxsize=16)
def _functions_of(source: str) -> dict[int, list[ast.Lambda | ast.FunctionDef]]:
    """Return the functions of a source by the line on which they begin, without what their definition computes."""
    found: dict[int, list[ast.Lambda | ast.FunctionDef]] = {}
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Lambda | ast.FunctionDef):
            continue
        line = node.lineno
        if isinstance(node, ast.FunctionDef):
            line = min([line, *(d.lineno for d in node.decorator_list)])
            node.decorator_list, node.returns = [], None
        node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
        node.args.kw_defaults = [d and ast.Constant(None) for d in node.args.kw_defaults]
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        found.setdefault(line, []).append(node)
    return found


def _structured(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of Python with calls of helpers in it; as it is where its source is not found."""
    if not isinstance(f, types.FunctionType):
        return f
    code = f.__code__
    try:
        lines, _ = inspect.findsource(code)
        nodes = _functions_of("".join(lines)).get(code.co_firstlineno, [])
        node = next(n for n in nodes if _same_code(_inner(_compiled(n, code.co_freevars)), code))
        made = _compiled(_Calls().visit(copy.deepcopy(node)), code.co_freevars)
        cells = [_replaced(c.cell_contents) for c in f.__closure__ or ()]
    except (OSError, SyntaxError, TypeError, IndexError, StopIteration, ValueError, Untranslatable):
        return f
    scope = {name: _replaced(value) for name, value in {**vars(builtins), **f.__globals__}.items()} | _HELPERS
    exec(made, scope)
    function = scope["_ndtune_make"](*cells)
    function.__defaults__, function.__kwdefaults__ = f.__defaults__, f.__kwdefaults__
    return function


def _compiled(node: ast.Lambda | ast.FunctionDef, free: Sequence[str]) -> types.CodeType:
    """Compile a function as the result of another, whose arguments are its free names."""
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [ast.Return(node)]
    else:
        body = [node, ast.Return(ast.Name(node.name, ast.Load()))]
    maker = ast.FunctionDef("_ndtune_make", _arguments(free), body, [], None)
    maker.type_params = []  # type: ignore[attr-defined]  # of Python 3.12
    return compile(ast.fix_missing_locations(ast.Module([maker], [])), "<ndtune>", "exec")


def _inner(code: types.CodeType) -> types.CodeType:
    maker = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    return next(c for c in maker.co_consts if isinstance(c, types.CodeType) and c.co_name != "<annotations>")


def _same_code(a: types.CodeType, b: types.CodeType) -> bool:
    def constants(code: types.CodeType) -> list[Any]:
        return [c.co_code if isinstance(c, types.CodeType) else (type(c), c) for c in code.co_consts]

    return (a.co_code, a.co_names, a.co_varnames) == (b.co_code, b.co_names, b.co_varnames) and (
        constants(a) == constants(b)
    )


# --- functions of a configuration ---


class _Configuration(dict[str, Any]):
    """A configuration that notes which parameters are read."""

    def __init__(self, values: Mapping[str, Any], reads: set[str]) -> None:
        super().__init__(values)
        self.reads = reads

    def __getitem__(self, name: str) -> Any:
        self.reads.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default

    def pop(self, name: str, *default: Any) -> Any:
        self.reads.add(name)
        return super().pop(name, *default)

    def _everything(self) -> None:
        self.reads.update(super().keys())

    def __iter__(self) -> Iterator[str]:
        self._everything()
        return super().__iter__()

    def keys(self) -> Any:
        self._everything()
        return super().keys()

    def values(self) -> Any:
        self._everything()
        return super().values()

    def items(self) -> Any:
        self._everything()
        return super().items()

    def copy(self) -> _Configuration:
        return _Configuration(dict(self.items()), self.reads)


class Function:
    """A function of a configuration: what the user gave, in one form.

    `call` computes the value of a configuration, as Kernel Tuner does; `structured` that of one of symbols.
    `pure` says that calls of it need not be compared with each other.
    """

    def __init__(self, name: str, call: Callable[..., Any], structured: Callable[..., Any], pure: bool = False) -> None:
        self.name, self.call, self.structured, self.pure = name, call, structured, pure
        self.reads: set[str] = set()

    def value(self, configuration: Mapping[str, Any]) -> Any:
        """Return the value for a configuration, and note the parameters that are read."""
        return self.call(_Configuration(configuration, self.reads))


_NODES = (
    ast.Constant, ast.Name, ast.Load, ast.Store, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator, ast.BoolOp,
    ast.boolop, ast.Compare, ast.cmpop, ast.IfExp, ast.Call, ast.List, ast.Tuple, ast.Set, ast.Subscript, ast.ListComp,
    ast.GeneratorExp, ast.comprehension,
)  # fmt: skip
_LARGEST = 1_000_000  # items of a list in a text
_steps = 0  # items that the comprehensions of a text have gone through


def _items(values: Any) -> list[Any]:
    global _steps
    listed = _listed(values)
    _steps += len(listed)
    if _steps > 10 * _LARGEST:
        raise Untranslatable("the comprehensions go through too many items")
    return listed


def _range(*bounds: Any) -> range:
    made = range(*bounds)
    if len(made) > _LARGEST:
        raise Untranslatable(f"the range has {len(made)} items, more than {_LARGEST}")
    return made


_KNOWN: dict[str, Any] = {
    **{f.__name__: _SYMBOLIC[f] for f in (len, bool, int, float, min, max, any, all)},
    **{f.__name__: f for f in (sum, list, tuple, sorted, abs, round)},
    **{f"math.{f.__name__}": _replaced(f) for f in (math.ceil, math.floor, math.sqrt, math.log2)},
    "range": _range,
}
_OPERATORS = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod, "**": ast.Pow,
    "&": ast.BitAnd, "|": ast.BitOr, "^": ast.BitXor, "<<": ast.LShift, ">>": ast.RShift,
}  # fmt: skip


class _Allowed(_Calls):
    """Refuses what does more than compute, writes p["tile"] as tile, and bounds what operators make of constants."""

    def __init__(self, text: str, names: Iterable[str]) -> None:
        self.text, self.names = text, set(names)
        self.used: set[str] = set()
        self.local: set[str] = set()

    def refuse(self, node: ast.AST, why: str) -> Untranslatable:
        return Untranslatable(f"in {self.text!r}, column {getattr(node, 'col_offset', 0) + 1}: {why}")

    def visit(self, node: ast.AST) -> Any:
        if not isinstance(node, _NODES) or isinstance(node, ast.MatMult | ast.Is | ast.IsNot):
            raise self.refuse(node, f"{type(node).__name__} is not allowed: an expression only computes")
        return super().visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, int | float | str):
            raise self.refuse(node, f"{node.value!r} is no number, bool or text")
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.local:
            if node.id not in self.names:
                raise self.refuse(node, f"nothing is named {node.id}")
            self.used.add(node.id)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        index = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(node.value, ast.Name) and isinstance(index, str):
            return self.visit_Name(ast.copy_location(ast.Name(index, ast.Load()), node))
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_ListComp(self, node: Any) -> Any:
        outer = set(self.local)
        for clause in node.generators:
            clause.iter = _helper("items", [self.visit(clause.iter)])
            self.local |= {n.id for n in ast.walk(clause.target) if isinstance(n, ast.Name)}
            clause.ifs = [self.visit(condition) for condition in clause.ifs]
        node.elt = self.visit(node.elt)
        self.local = outer
        return node

    visit_GeneratorExp = visit_ListComp

    def visit_Call(self, node: ast.Call) -> ast.expr:
        function = ast.unparse(node.func)
        if function not in _KNOWN:
            raise self.refuse(node, f"the function {function} is not known; known are {', '.join(_KNOWN)}")
        if node.keywords:
            raise self.refuse(node, f"an argument of {function} is given by name, which is not allowed")
        return ast.Call(ast.Name(function, ast.Load()), [self.visit(a) for a in node.args], [])

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        sign = next((sign for sign, kind in _OPERATORS.items() if isinstance(node.op, kind)), "@")
        if sign == "@":
            raise self.refuse(node, "the operator @ is not allowed")
        return _helper("operate", [ast.Constant(sign), self.visit(node.left), self.visit(node.right)])


def _operate(sign: str, a: Any, b: Any) -> Any:
    """Compute as an operator does, unless constants make an integer, a list or a text of no sensible size."""
    if isinstance(a, int) and isinstance(b, int) and sign in ("**", "<<"):
        if b > 4096 or a.bit_length() * b > 4096 and sign == "**":
            raise Untranslatable(f"{a} {sign} {b} is beyond the integers of 64 bits")
    elif sign == "*" and any(
        isinstance(x, str | list | tuple) and isinstance(y, int) and len(x) * y > _LARGEST for x, y in ((a, b), (b, a))
    ):
        raise Untranslatable(f"a list or a text of more than {_LARGEST} items is not allowed")
    elif sign == "%" and isinstance(a, str):
        raise Untranslatable("formatting a text with % is not allowed")
    return _COMPUTE[sign](a, b)


_HELPERS |= {"_ndtune_operate": _operate, "_ndtune_items": _items}


def of_text(text: str, names: Iterable[str], trusted: bool = True) -> Function:
    """Return the function of a Python expression. One that is not trusted, such as a file's, can only compute.

    That may also be a lambda of one argument, with parameters as items: p["tile"].
    """
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if trusted:
            raise
        raise Untranslatable(f"in {text!r}: {error}") from None
    if isinstance(body, ast.Lambda) and not trusted:
        body = body.body
    allowed = _Allowed(text, names)
    reads = allowed.used
    try:
        computed = _compute(allowed.visit(copy.deepcopy(body)), reads, {"__builtins__": {}, **_KNOWN, **_HELPERS})
    except Untranslatable as error:
        if not trusted:
            raise
        reason = error
        reads = {n.id for n in ast.walk(body) if isinstance(n, ast.Name)} & allowed.names

        def computed(configuration: Mapping[str, Any]) -> Any:
            raise reason

    native = {"math": math, "np": numpy, "numpy": numpy}
    return Function(repr(text), _compute(body, reads, native) if trusted else computed, computed, pure=True)


def _compute(body: ast.expr, reads: Iterable[str], scope: dict[str, Any]) -> Callable[[Mapping[str, Any]], Any]:
    """Compile an expression as a function of the configuration whose parameters it reads."""
    reads = sorted(reads)
    tree = ast.fix_missing_locations(ast.Expression(ast.Lambda(_arguments(reads), body)))
    function = eval(compile(tree, "<expression>", "eval"), scope)

    def computed(configuration: Mapping[str, Any]) -> Any:
        global _steps
        _steps = 0
        return function(*[configuration[n] for n in reads])

    return computed


def of_callable(function: Any, names: Sequence[str] | None = None) -> Function:
    """Return the function of a configuration that a Python function is.

    Without names it takes a dictionary. A restriction (names are the parameters it may take) can also take values: by
    the names of its arguments if all are parameters, else one for each parameter, in their order.
    """
    code = getattr(function, "__code__", None)
    place = f" ({Path(code.co_filename).name}:{code.co_firstlineno})" if code else ""
    name = f"the function {getattr(function, '__qualname__', type(function).__name__)}{place}"
    taken = None if names is None else _taken(function, names)

    def applied(f: Callable[..., Any]) -> Callable[..., Any]:
        if taken is None:
            return f
        if isinstance(taken, list):
            order = taken
            return lambda c: f(*[c[n] for n in order])
        return lambda c: f(**{n: c[n] for n in taken})

    return Function(name, applied(function), applied(_structured(function)))


def _taken(function: Any, names: Sequence[str]) -> list[str] | set[str] | None:
    """Return the parameters that a restriction takes: by position (a list), by name (a set); None: a dictionary."""
    try:
        arguments = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(a.kind is a.VAR_KEYWORD for a in arguments):
        return set(names)
    if any(a.kind is a.VAR_POSITIONAL for a in arguments):
        return list(names)
    needed = {a.name for a in arguments if a.default is a.empty}
    if needed and needed <= set(names):
        return {a.name for a in arguments if a.name in names}
    return list(names) if len(needed) == len(names) > 1 else None


def of_restriction(restriction: Any, names: Sequence[str]) -> Function:
    """Return the function of a restriction in one of the forms that Kernel Tuner takes.

    Raises ValueError, as Kernel Tuner does, for what is none.
    """
    if isinstance(restriction, str):
        return of_text(restriction, names)
    if isinstance(restriction, tuple) and len(restriction) in (2, 3) and not isinstance(restriction[1], str):
        return of_restriction(restriction[0], list(restriction[1]))
    constraints = sys.modules.get("constraint")
    if constraints and isinstance(restriction, constraints.FunctionConstraint):
        function = of_callable(restriction._func, names)
        wrapped, traced = restriction._func, _structured(restriction._func)
        function.call, function.structured = (lambda c, f=f: f(*[c[n] for n in names]) for f in (wrapped, traced))
        return function
    if constraints and isinstance(restriction, constraints.Constraint):

        def call(c: Mapping[str, Any]) -> Any:
            values = {n: c[n] for n in names}
            return restriction(list(values), {n: [v] for n, v in values.items()}, values)

        return Function(f"the constraint {type(restriction).__name__}", call, call)
    if callable(restriction):
        return of_callable(restriction, names)
    raise ValueError(f"Unrecognized restriction type {type(restriction)} ({restriction})")


# --- translation, checked against the function ---


def translate(function: Function, values: Mapping[str, Sequence[Any]], boolean: bool) -> Any:
    """Return what a function computes, as a symbol or a constant: of all paths through it."""
    runs = 0

    def explore(given: list[bool]) -> Any:
        nonlocal runs
        runs += 1
        if runs > _RUNS:
            raise Untranslatable(f"it has more than {_RUNS} paths")
        path = _Path(given)
        symbols = {name: _parameter(name, of, path) for name, of in values.items()}
        try:
            result = plain(function.structured(_Configuration(symbols, function.reads)))
        except Untranslatable:
            raise
        except Exception as error:  # with values it may compute: the table will tell
            raise Untranslatable(f"with symbols it fails: {type(error).__name__}: {error}") from error
        if boolean:
            result = result.condition() if isinstance(result, Symbol) else bool(result)
        if isinstance(result, Symbol):
            result = next((answer for c, answer in path.taken if c.text == result.text), result)
        for i in reversed(range(len(given), len(path.taken))):
            other = explore([*(answer for _, answer in path.taken[:i]), False])
            result = _choose(path.taken[i][0], result, other)
        return result

    return explore([])


def _parameter(name: str, values: Sequence[Any], path: _Path) -> Symbol:
    kinds = {type(plain(v)) for v in values}
    kind = kinds.pop() if len(kinds) == 1 else complex if kinds == {int, float} else None
    if kind in (bool, str):
        return Symbol(name, name, kind, path)
    if kind in (int, float, complex):
        return Symbol(name, name, kind, path, (plain(min(values)), plain(max(values))))
    raise Untranslatable(f"the values of {name} are not of one kind")


_FAILED = object()


class _Answers:
    """The values of a function for the combinations with which its translation is compared.

    Raises NdtuneError if the function does not give the same value twice.
    """

    def __init__(self, function: Function, values: Mapping[str, Sequence[Any]], boolean: bool) -> None:
        self.failures: list[tuple[dict[str, Any], Exception]] = []
        reads: set[str] = set()
        while True:
            self.failures.clear()
            self.samples = _samples(values, reads)
            self.answers = [self._ask(function, c, boolean) for c in self.samples]
            if function.reads & values.keys() <= reads:
                break
            reads = function.reads & values.keys()
        self.failures, failures = [], self.failures
        if not function.pure:
            for c, first in reversed(list(zip(self.samples, self.answers, strict=True))):
                again = self._ask(function, c, boolean)
                if not _same(first, again):
                    raise NdtuneError(
                        f"{function.name} gave {first} and then {again} for {c}: it depends on something else than "
                        "the parameters, such as a counter or random numbers, and so describes no search space"
                    )
        self.failures = failures

    def _ask(self, function: Function, configuration: dict[str, Any], boolean: bool) -> Any:
        try:
            value = plain(function.value(configuration))
            return bool(value) if boolean else value
        except Exception as error:
            self.failures.append((configuration, error))
            return _FAILED

    def compare(self, function: Function, translation: Any) -> None:
        """Raise Untranslatable if a translation has another value than the function for one of the combinations."""
        code = compile(translation.python, "<translation>", "eval") if isinstance(translation, Symbol) else None
        for configuration, wanted in zip(self.samples, self.answers, strict=True):
            if wanted is _FAILED:
                continue
            try:
                value = eval(code, _PYTHON, {n: plain(v) for n, v in configuration.items()}) if code else translation
            except Exception as error:
                value = error
            if not _same(value, wanted):
                raise Untranslatable(f"it does something else with symbols than with values, as with {configuration}")


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    a, b = plain(a), plain(b)
    return a is b or type(a) is type(b) and (a == b or a != a and b != b)


def _samples(values: Mapping[str, Sequence[Any]], reads: set[str]) -> list[dict[str, Any]]:
    """Return all combinations of the parameters that are read, or 2,000 random ones."""
    if math.prod(len(values[n]) for n in reads) <= _SAMPLES:
        of = [v if n in reads else v[:1] for n, v in values.items()]
        return [dict(zip(values, c, strict=True)) for c in itertools.product(*of)]
    chance = random.Random(1)
    return [{n: chance.choice(v) for n, v in values.items()} for _ in range(_SAMPLES)]


def _named(error: Exception, function: Function, configuration: Mapping[str, Any]) -> Exception:
    """Return an exception of a user's function with a note of the configuration for which it was raised."""
    note = f"{function.name} raised this for the configuration {dict(configuration)}"
    if sys.version_info >= (3, 11):
        error.add_note(note)
    else:
        error.args = (f"{error} ({note})",)
    return error


def _rows(
    function: Function, values: Mapping[str, Sequence[Any]], why: Exception
) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield each combination of the parameters that a function reads, and its value there, or the exception.

    Raises NdtuneError if there are too many, and KeyError with the name if the function reads one more parameter.
    """
    names = [n for n in values if n in function.reads]
    count = math.prod(len(values[n]) for n in names)
    if count > _ROWS:
        raise NdtuneError(
            f"{function.name} cannot be translated ({why}), and it reads {', '.join(names)}, which have {count} "
            f"combinations, more than the {_ROWS} of a table: write it as a text, or as functions that read fewer"
        )
    rest = {n: v[0] for n, v in values.items()}
    for combination in itertools.product(*(values[n] for n in names)):
        row = dict(zip(names, combination, strict=True))
        try:
            value = function.value(rest | row)
        except Exception as error:
            value = error
        yield row, value


def _table(function: Function, values: Mapping[str, Sequence[Any]], why: Exception) -> list[tuple[dict[str, Any], Any]]:
    """Return the rows of a function; it is run anew where it turns out to read more parameters."""
    while True:
        reads, rows = set(function.reads), []
        for row in _rows(function, values, why):
            rows.append(row)
            if function.reads != reads:
                break
        else:
            return rows


def expressions(
    f: Any, tune_params: Mapping[str, Iterable[Any]], *, names: Iterable[str] = (), boolean: bool = False
) -> str | list[str]:
    """Return a text or a function of the parameters as an expression; a list of them for a list or a tuple.

    names are quantities that it may also read, floats such as time. A function takes a dictionary. boolean: only the
    truth of the value matters. Raises Untranslatable for a function of quantities that has no translation, NdtuneError
    for one that is not a function of the parameters, and what the function raises.
    """
    values = {n: list(v) for n, v in tune_params.items()}
    quantities = {n: [0.25, 1.5, 40.0] for n in names}
    function = of_text(f, {**values, **quantities}) if isinstance(f, str) else of_callable(f)
    answers = _Answers(function, values | quantities, boolean)
    if answers.failures and len(answers.failures) == len(answers.samples):
        raise _named(answers.failures[0][1], function, answers.failures[0][0])
    try:
        result = translate(function, values | quantities, boolean)
        answers.compare(function, result)
    except Untranslatable as why:
        if function.reads & quantities.keys():
            raise Untranslatable(f"{function.name} cannot be translated: {why}") from why
        rows = _table(function, values, why)
        for row, value in rows:
            if isinstance(value, Exception):
                raise _named(value, function, row) from None
        result = _cases([*rows[0][0]], values, [([*row.values()], bool(v) if boolean else plain(v)) for row, v in rows])
    return [_text(r) for r in result] if isinstance(result, list | tuple) else _text(result)


def expression(
    f: Any, tune_params: Mapping[str, Iterable[Any]], *, names: Iterable[str] = (), boolean: bool = False
) -> str:
    """Return a text or a function of the parameters as one expression: see expressions."""
    text = expressions(f, tune_params, names=names, boolean=boolean)
    if isinstance(text, list):
        raise Untranslatable(f"{f!r} gives {len(text)} values where one is wanted")
    return text


def _text(value: Any) -> str:
    return value.text if isinstance(value, Symbol) else _literal(value)


def _cases(names: list[str], values: Mapping[str, Sequence[Any]], rows: list[tuple[list[Any], Any]]) -> Any:
    """Return the values of rows as conditions of the first name, and within them of the others."""
    first = rows[0][1]
    if all(_same(value, first) for _, value in rows):
        return first
    groups: dict[Any, list[tuple[list[Any], Any]]] = {}
    for key, value in rows:
        groups.setdefault(plain(key[0]), []).append((key[1:], value))
    branches: list[tuple[Any, list[Any]]] = []
    for key, group in groups.items():
        branch = _cases(names[1:], values, group)
        known = next((b for b in branches if _like(b[0], branch)), None)
        branches.append((branch, [key])) if known is None else known[1].append(key)
    branches.sort(key=lambda b: len(b[1]))
    symbol = _parameter(names[0], values[names[0]], _Path([]))
    result = branches[-1][0]
    for branch, keys in reversed(branches[:-1]):
        result = _choose(_among(symbol, keys), branch, result)
    return result


def _like(a: Any, b: Any) -> bool:
    if isinstance(a, Symbol) and isinstance(b, Symbol):
        return a.text == b.text
    return not isinstance(a, Symbol) and not isinstance(b, Symbol) and _same(a, b)


def evaluate(f: Any, params: Mapping[str, Any]) -> Any:
    """Return the value of a Python text, or of a function of a dictionary, for one configuration."""
    return (of_text(f, params) if isinstance(f, str) else of_callable(f)).call(dict(params))


def restrictions(
    rs: Any,
    tune_params: Mapping[str, Iterable[Any]],
    folder: str | Path,
    max_threads: int | str | None = None,
    block_size_names: Sequence[str] = BLOCK_SIZE_NAMES,
) -> list[str | dict[str, str]]:
    """Return the restrictions of Kernel Tuner's user as those of a specification.

    rs is a restriction or a list: texts, functions of a dictionary or of the parameters that their arguments name,
    constraints of python-constraint, tuples of one of these with the parameters that it takes. What has no translation
    becomes a file of the combinations that it allows, in the folder. max_threads, a number or an expression such as
    device.max_work_group_size, bounds the product of the block sizes, as in Kernel Tuner.

    An exception of a function is raised if no other restriction excludes its configuration. Raises NdtuneError for a
    function that is none of the parameters alone, or that has no translation and too many combinations for a file.
    """
    values = {n: list(v) for n, v in tune_params.items()}
    single = isinstance(rs, tuple) and len(rs) in (2, 3) and isinstance(rs[1], list | tuple)
    given = [] if rs is None else list(rs) if isinstance(rs, list | tuple) and not single else [rs]
    functions = [of_restriction(r, list(values)) for r in given]
    made: list[str | dict[str, str]] = []
    for function in functions:
        item = _restriction(function, [f for f in functions if f is not function], values, Path(folder), len(made) + 1)
        if item != "true":
            made.append(item)
    sizes = [n for n in block_size_names if n in values]
    bound = f"{' * '.join(sizes)} <= {max_threads}"
    if sizes and max_threads is not None and bound not in made:
        made.append(bound)
    return made


def _restriction(
    function: Function, others: list[Function], values: Mapping[str, Sequence[Any]], folder: Path, number: int
) -> str | dict[str, str]:
    answers = _Answers(function, values, True)
    guards: list[Function] = []
    for configuration, error in answers.failures:
        guard = _excluding(others, configuration)
        if guard is None:
            raise _named(error, function, configuration)
        if guard not in guards:
            guards.append(guard)
    try:
        result = translate(function, values, True)
        answers.compare(function, result)
        # where a guard excludes a configuration, the program need not compute the rest
        return _text(_and(*(translate(g, values, True) for g in guards), result))
    except Untranslatable as why:
        for guard in guards:
            function.reads |= guard.reads
        rows = _table(function, values, why)
    allowed = []
    for row, value in rows:
        if isinstance(value, Exception):
            if _excluding(guards or others, {n: v[0] for n, v in values.items()} | row) is None:
                raise _named(value, function, row)
        elif value:
            allowed.append([*row.values()])
    path = folder / f"restriction-{number}.jsonl"
    write_table(path, [*rows[0][0]], allowed)
    return {"file": str(path)}


def _excluding(others: Iterable[Function], configuration: Mapping[str, Any]) -> Function | None:
    """Return the restriction that excludes a configuration, if there is one."""
    for other in others:
        try:
            if not other.value(configuration):
                return other
        except Exception:  # it excludes nothing; if it is to blame, it is asked itself
            continue
    return None


def write_table(path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a file of allowed combinations: a line of the names, then one of the values for each combination."""
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(list(names)) + "\n")
        file.writelines(json.dumps([plain(v) for v in row]) + "\n" for row in rows)
