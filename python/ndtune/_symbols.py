"""Values that are not known yet: what Python computes with them becomes an expression of specifications.

A symbol has the text of an expression in the language of specifications, and the same in Python, by which a translation
is checked. Operators make symbols of symbols. Where Python asks for the truth of one, its path decides.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from ndtune._binary import NdtuneError

LONGEST = 10_000  # characters of an expression that the program takes
_DEPTH = 300  # decisions of one path: a loop over symbols has no end
_EXACT = 2**53  # integers below are floats without loss
_INFINITE = (-math.inf, math.inf)
CHOICE, OR, AND, COMPARE, ADD, MULTIPLY, SIGN, ATOM = range(8)  # how strongly parts of an expression bind


class Untranslatable(NdtuneError):
    """A Python expression or function has no form in the language of specifications: the message says why."""


class Path:
    """One way through a function: the conditions that it asked for, and their answers, the first of them given."""

    def __init__(self) -> None:
        self.begin([])

    def begin(self, given: list[bool]) -> None:
        """Begin anew, with other answers."""
        self.given = given
        self.taken: dict[str, tuple[Symbol, bool]] = {}

    def decide(self, condition: Symbol) -> bool:
        """Return the answer to a condition, the same each time that it is asked."""
        count = len(self.taken)
        if condition.text not in self.taken:
            if count == _DEPTH:
                raise Untranslatable("it asks for too many conditions: a loop may depend on parameters")
            self.taken[condition.text] = condition, self.given[count] if count < len(self.given) else True
        return self.taken[condition.text][1]


class Symbol:
    """A value that depends on parameters.

    The kind is int, float, bool or str, or complex for a number of which only the computation tells whether it is an
    int or a float. The bounds of a number decide whether an operation needs a check against overflow.
    """

    __hash__ = None  # type: ignore[assignment]  # as a key it would be found by identity
    __array_ufunc__ = None  # numpy's scalars leave the operation to the symbol

    def __init__(
        self,
        text: str,
        python: str,
        kind: type,
        path: Path,
        bounds: tuple[float, float] = _INFINITE,
        level: int = ATOM,
        parts: tuple[Symbol, Any, Any] | None = None,
    ) -> None:
        if len(text) > LONGEST:
            raise Untranslatable(f"the expression has more than {LONGEST} characters")
        self.text, self.python, self.kind, self.path, self.level = text, python, kind, path, level
        self.low, self.high = bounds
        self.parts = parts  # of a choice: the condition and its two values

    def at(self, level: int) -> str:
        """Return the text, in parentheses if it binds less than the level."""
        return self.text if self.level >= level else f"({self.text})"

    def exact(self) -> bool:
        """Say whether the number is a float, or an int that a float holds for certain."""
        return self.kind is float or self.kind is int and -_EXACT < self.low and self.high < _EXACT

    def number(self) -> Symbol:
        """Return the symbol as a number, 1 for true."""
        if self.kind is str:
            raise Untranslatable(f"the text {self.text} is no number")
        if self.kind is not bool:
            return self
        if self.text in ("true", "false"):
            return symbol(int(self.text == "true"), self.path)
        return Symbol(f"{self.at(OR)} ? 1 : 0", f"(1 if {self.python} else 0)", int, self.path, (0, 1), CHOICE)

    def condition(self) -> Symbol:
        """Return the truth of the symbol."""
        if self.parts and self.kind is not bool:
            return choose(self.parts[0], *(p.condition() if isinstance(p, Symbol) else bool(p) for p in self.parts[1:]))
        return self if self.kind is bool else compare("!=", self, "" if self.kind is str else 0)

    def __bool__(self) -> bool:
        return self.path.decide(self.condition())

    def __contains__(self, item: object) -> bool:
        return bool(among(item, self))

    def __eq__(self, other: object) -> Any:
        return compare("==", self, other)

    def __ne__(self, other: object) -> Any:
        return compare("!=", self, other)

    def __pos__(self) -> Symbol:
        return self.number()

    def __neg__(self) -> Symbol:
        n = self.number()
        if not n.exact():
            return binary("-", 0, n)
        return Symbol(f"-{n.at(ATOM)}", f"(-{n.python})", n.kind, n.path, (-n.high, -n.low), SIGN)

    def __invert__(self) -> Symbol:
        return binary("^", self, -1)

    def __abs__(self) -> Symbol:
        n = self.number()
        if n.low >= 0:
            return n
        if not n.exact():
            return choose(compare("<", n, 0), -n, n)
        return call("abs", n.kind, n, bounds=(0, max(-n.low, n.high)))

    def __round__(self, digits: None = None) -> Symbol:
        return self.whole("round_even") if digits is None else self.impossible()

    def whole(self, function: str) -> Symbol:
        """Return the number as an integer, rounded by a function of the language."""
        n = self.number()
        return n if n.kind is int else call(function, int, n, bounds=(n.low - 1, n.high + 1))

    def impossible(self, *_: object) -> Any:
        raise Untranslatable("a value that depends on parameters is converted, iterated over or used as an index")

    __int__ = __float__ = __complex__ = __index__ = __iter__ = __len__ = __getitem__ = __call__ = impossible
    __str__ = __format__ = impossible
    __repr__ = object.__repr__


COMPUTE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift,
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_FUNCTIONS = {
    "+": "checked_add", "-": "checked_sub", "*": "checked_mul", "/": "true_div", "//": "floor_div", "%": "floor_mod",
    "**": "power", "&": "bit_and", "|": "bit_or", "^": "bit_xor", "<<": "shift_left", ">>": "shift_right",
}  # fmt: skip


def _define_operators() -> None:
    for sign, compute in COMPUTE.items():
        name = compute.__name__.strip("_")
        if sign in _FUNCTIONS:
            setattr(Symbol, f"__{name}__", lambda a, b, sign=sign: binary(sign, a, b))
            setattr(Symbol, f"__r{name}__", lambda a, b, sign=sign: binary(sign, b, a))
        elif name not in ("eq", "ne"):
            setattr(Symbol, f"__{name}__", lambda a, b, sign=sign: compare(sign, a, b))
    for name, function in {"ceil": "round_up", "floor": "round_down", "trunc": "truncate"}.items():
        setattr(Symbol, f"__{name}__", lambda s, function=function: s.whole(function))


_define_operators()


def _within(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return an operator that fails where the program's would: beyond 64 bits, and where there is no real number."""

    def computed(a: Any, b: Any) -> Any:
        result = compute(a, b)
        if isinstance(result, complex) or isinstance(result, int) and not -(2**63) <= result < 2**63:
            raise OverflowError("the result is beyond the integers of 64 bits")
        return result

    return computed


PYTHON: dict[str, Any] = {  # the functions of the language, for the Python of symbols
    **{name: _within(COMPUTE[sign]) for sign, name in _FUNCTIONS.items()},
    "div": operator.floordiv, "round_up": math.ceil, "round_down": math.floor, "round_even": round,
    "truncate": math.trunc, "sqrt": math.sqrt, "log2": math.log2, "abs": abs, "min": min, "max": max, "len": len,
    "float": float, "__builtins__": {},
}  # fmt: skip


def plain(value: Any) -> Any:
    """Return a value without numpy's types: a scalar as an int, float, bool or str of Python."""
    return value.item() if isinstance(value, numpy.generic | numpy.ndarray) and value.ndim == 0 else value


def literal(value: Any) -> str:
    """Return a constant in the language of specifications."""
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and -(2**63) < value < 2**63 or isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    raise Untranslatable(f"the value {value!r} is no number that the program can hold, no bool and no text")


def symbol(value: Any, path: Path) -> Symbol:
    """Return a value as a symbol: a symbol as it is."""
    if isinstance(value, Symbol):
        return value
    text, value = literal(value), plain(value)
    kind = next(k for k in (bool, int, float, str) if isinstance(value, k))
    bounds = (value, value) if kind in (int, float) else _INFINITE
    return Symbol(text, repr(value), kind, path, bounds, SIGN if text.startswith("-") else ATOM)


def _pair(a: Any, b: Any) -> tuple[Symbol, Symbol]:
    path = a.path if isinstance(a, Symbol) else b.path
    return symbol(a, path), symbol(b, path)


def call(function: str, kind: type, *arguments: Symbol, bounds: tuple[float, float] = _INFINITE) -> Symbol:
    """Return the call of a function of the language."""
    text, python = (", ".join(t) for t in zip(*((a.text, a.python) for a in arguments), strict=True))
    return Symbol(f"{function}({text})", f"{function}({python})", kind, arguments[0].path, bounds)


def _infix(a: Symbol, sign: str, b: Symbol, kind: type, level: int, bounds: tuple[float, float] = _INFINITE) -> Symbol:
    left, right = a.at(level + (level == COMPARE)), b.at(level + 1)
    return Symbol(f"{left} {sign} {right}", f"({a.python} {sign} {b.python})", kind, a.path, bounds, level)


def binary(sign: str, left: Any, right: Any) -> Any:
    """Return left and right under an operator that computes."""
    a, b = _pair(left, right)
    if a.kind is b.kind is bool and sign in "&|^":
        return every(a, b) if sign == "&" else some(a, b) if sign == "|" else compare("!=", a, b)
    if a.kind is b.kind is str and sign == "+":
        return _infix(a, sign, b, str, ADD)
    a, b = a.number(), b.number()
    for one, other in ((a, b), (b, a)):
        if (sign, one.text) in (("+", "0"), ("*", "1")):  # of sum() and prod()
            return other
    kinds = {a.kind, b.kind}
    if sign in ("&", "|", "^", "<<", ">>") and kinds != {int}:
        raise Untranslatable(f"the operator {sign} takes integers")
    integral = kinds == {int} and sign != "/" and (sign != "**" or b.low >= 0)
    kind = int if integral else float if sign == "/" or float in kinds else complex
    bounds = _bounds(sign, a, b)
    exact = a.exact() and b.exact()
    natural = kind is int and a.low >= 0 and b.low > 0
    if (
        sign in "+-*" and exact and (kind is float or -_EXACT < bounds[0] and bounds[1] < _EXACT)
        or sign == "/" and exact and (b.low > 0 or b.high < 0)
        or sign == "%" and natural
    ):  # fmt: skip
        return _infix(a, sign, b, kind, ADD if sign in "+-" else MULTIPLY, bounds)
    return call("div" if sign == "//" and natural else _FUNCTIONS[sign], kind, a, b, bounds=bounds)


def _bounds(sign: str, a: Symbol, b: Symbol) -> tuple[float, float]:
    """Return the bounds of a result, from those of its operands where it is monotonic in each."""
    ends = (a.low, a.high, b.low, b.high)
    if sign == "%" and b.low > 0:
        return 0, b.high
    if sign in ("**", "<<") and not (a.low >= 0 and 0 <= b.low and b.high <= 64) or sign in "/&|^>>%" and b.low <= 0:
        return _INFINITE
    if not all(map(math.isfinite, ends)) or sign in ("&", "|", "^", ">>", "%"):
        return _INFINITE
    try:
        corners = [COMPUTE[sign](x, y) for x in ends[:2] for y in ends[2:]]
    except OverflowError:
        return _INFINITE
    return min(corners), max(corners)


def compare(sign: str, left: Any, right: Any) -> Any:
    """Return the comparison of two values, of which one is a symbol."""
    other = plain(left if isinstance(right, Symbol) else right)
    if sign in ("==", "!=") and (other is None or isinstance(other, list | tuple | dict | set)):
        return sign == "!="
    a, b = _pair(left, right)
    if not (a.kind is b.kind and (a.kind is str or a.kind is bool and sign in ("==", "!="))):
        if str in (a.kind, b.kind):
            if sign in ("==", "!="):
                return sign == "!="
            raise Untranslatable(f"a text and a number are compared by {sign}")
        a, b = a.number(), b.number()
        if sign in ("<", ">=") and (a.high < b.low or a.low >= b.high):
            return (sign == "<") is (a.high < b.low)
        if sign in (">", "<=") and (a.low > b.high or a.high <= b.low):
            return (sign == ">") is (a.low > b.high)
        if not (a.exact() and b.exact() or a.kind is b.kind is int):
            text = f"compare({a.text}, {b.text}) {sign} 0"
            return Symbol(text, f"({a.python} {sign} {b.python})", bool, a.path, level=COMPARE)
    return _infix(a, sign, b, bool, COMPARE)


def among(item: Any, items: Any) -> Any:
    """Return whether an item is one of several, or a text a part of another."""
    if not isinstance(items, Symbol) and not any(isinstance(i, Symbol) for i in (item, *items)):
        return item in items
    if isinstance(items, Symbol | str):
        part, items = _pair(item, items)
        if items.kind is not str or part.kind is not str:
            raise Untranslatable("`in` needs a list on its right, or two texts")
        python = f"({part.python} in {items.python})"
        return Symbol(f"{items.at(ADD)} contains {part.at(ADD)}", python, bool, items.path, level=COMPARE)
    if isinstance(item, Symbol) and isinstance(items, range) and len(items) > 16 and item.kind is int:
        first, last = min(items[0], items[-1]), max(items[0], items[-1])
        stepped = compare("==", binary("%", binary("-", item, first), abs(items.step)), 0)
        return every(compare(">=", item, first), compare("<=", item, last), stepped if abs(items.step) > 1 else True)
    listed = list(items)
    if isinstance(item, Symbol) and listed and all(type(plain(i)) is item.kind for i in listed):
        if item.kind in (int, str) and len(listed) > 1:  # the language looks for these
            texts = ", ".join(literal(i) for i in listed)
            python = f"({item.python} in {[plain(i) for i in listed]!r})"
            return Symbol(f"{item.at(ADD)} in [{texts}]", python, bool, item.path, level=COMPARE)
    return some(*(item == i if isinstance(item, Symbol) else i == item for i in listed))


def _join(decides: bool, word: str, level: int, operands: Iterable[Any]) -> Any:
    """Return the conditions joined by and, or or: the operand `decides` settles it."""
    parts: dict[str, Symbol] = {}
    for value in operands:
        if isinstance(value, Symbol):
            condition = value.condition()
            parts[condition.text] = condition
        elif bool(value) is decides:
            return decides
    if len(parts) < 2:
        return next(iter(parts.values()), not decides)
    text = f" {word} ".join(p.at(level) for p in parts.values())
    python = f" {word} ".join(p.python for p in parts.values())
    return Symbol(text, f"({python})", bool, next(iter(parts.values())).path, level=level)


def every(*operands: Any) -> Any:
    """Return whether all operands are true."""
    return _join(False, "and", AND, operands)


def some(*operands: Any) -> Any:
    """Return whether one of the operands is true."""
    return _join(True, "or", OR, operands)


def negate(value: Any) -> Any:
    """Return whether the value is false."""
    if not isinstance(value, Symbol):
        return not value
    c = value.condition()
    return Symbol(f"not ({c.text})", f"(not {c.python})", bool, c.path, level=COMPARE)


def alike(a: Any, b: Any) -> bool:
    """Say whether two values, constants or symbols, are the same."""
    if isinstance(a, Symbol) or isinstance(b, Symbol):
        return isinstance(a, Symbol) and isinstance(b, Symbol) and a.text == b.text and a.kind is b.kind
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    a, b = plain(a), plain(b)
    return a is b or type(a) is type(b) and (a == b or a != a and b != b)


def choose(condition: Any, then: Any, otherwise: Any) -> Any:
    """Return one of two values by a condition."""
    if not isinstance(condition, Symbol):
        return then if condition else otherwise
    if alike(then, otherwise):
        return then
    if isinstance(then, list | tuple) and isinstance(otherwise, list | tuple) and len(then) == len(otherwise):
        return [choose(condition, *pair) for pair in zip(then, otherwise, strict=True)]
    c = condition.condition()
    then, otherwise = alike(then, c) or then, not alike(otherwise, c) and otherwise
    if isinstance(then, Symbol) and then.parts:  # if c: if d: x; y stands in two places
        d, x, y = then.parts
        if alike(y, otherwise):
            return choose(every(c, d), x, otherwise)
        if alike(x, otherwise):
            return choose(every(c, negate(d)), y, otherwise)
    if isinstance(otherwise, Symbol) and otherwise.parts and alike(otherwise.parts[1], then):
        return choose(some(c, otherwise.parts[0]), then, otherwise.parts[2])
    a, b = symbol(then, c.path), symbol(otherwise, c.path)
    parts = (c, then, otherwise)
    if a.kind is b.kind is bool and not (isinstance(then, Symbol) and isinstance(otherwise, Symbol)):
        if isinstance(otherwise, Symbol):
            made = some(c, b) if then else every(negate(c), b)
        else:
            made = some(negate(c), then) if otherwise else every(c, then)
        if isinstance(made, Symbol):
            made = Symbol(made.text, made.python, bool, c.path, level=made.level, parts=parts)
        return made
    if a.kind is not b.kind:
        a, b = a.number(), b.number()
    text, python = f"{c.at(OR)} ? {a.at(OR)} : {b.text}", f"({a.python} if {c.python} else {b.python})"
    kind = a.kind if a.kind is b.kind else complex
    return Symbol(text, python, kind, c.path, (min(a.low, b.low), max(a.high, b.high)), CHOICE, parts)
