"""Values that are not known yet: what Python computes with them becomes an expression of specifications.

A symbol has the text of an expression in the language of specifications, and the same in Python, by which a translation
is checked. Operators make symbols of symbols. Where Python asks for the truth of one, its path decides.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy

from ndtune._binary import NdtuneError

_LONGEST = 10_000  # characters of an expression that the program takes
_DEPTH = 300  # decisions of one path: a loop over symbols has no end
_EXACT = 2**53  # up to here floats hold each integer, and so the program compares as Python does
CHOICE, OR, AND, COMPARE, ADD, MULTIPLY, SIGN, ATOM = range(8)  # how strongly parts of an expression bind


class Untranslatable(NdtuneError):
    """A Python expression or function has no form in the language of specifications: the message says why."""


class Path:
    """One way through a function: the conditions that it asked for, and their answers, the first of them given."""

    def __init__(self, given: list[bool] | None = None) -> None:
        self.given = given or []
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
    """A value that depends on parameters, of the kind float (any number), bool or str; object if it has several."""

    __hash__ = None  # type: ignore[assignment]  # as a key it would be found by identity
    __array_ufunc__ = None  # numpy's scalars leave the operation to the symbol

    def __init__(self, text: str, python: str, kind: type, path: Path, level: int = ATOM, choice: Any = None) -> None:
        if len(text) > _LONGEST:
            raise Untranslatable(f"the expression has more than {_LONGEST} characters")
        self.text, self.python, self.kind, self.path, self.level = text, python, kind, path, level
        self.choice: tuple[Symbol, Any, Any] | None = choice  # a condition and two values

    def at(self, level: int) -> str:
        """Return the text, in parentheses if it binds less than the level."""
        return self.text if self.level >= level else f"({self.text})"

    def number(self) -> Symbol:
        """Return the symbol as a number, 1 for true."""
        if self.kind is str:
            raise Untranslatable(f"the text {self.text} is no number")
        return self if self.kind is float else choose(self, 1, 0)

    def condition(self) -> Symbol:
        """Return the truth of the symbol."""
        if self.kind is bool:
            return self
        if self.choice:
            return choose(self.choice[0], *(truth(value) for value in self.choice[1:]))
        return compare("!=", self, "" if self.kind is str else 0)

    def __bool__(self) -> bool:
        return self.path.decide(self.condition())

    def __contains__(self, item: object) -> bool:
        part, whole = _pair(item, self)
        if part.kind is not str or whole.kind is not str:
            raise Untranslatable("`in` needs a list on its right, or two texts")
        return bool(_infix(whole, "contains", part, bool, COMPARE, f"({part.python} in {whole.python})"))

    def __neg__(self) -> Any:
        n = self.number()
        return Symbol(f"-{n.at(ATOM)}", f"(-{n.python})", float, n.path, SIGN)

    def __invert__(self) -> Any:
        return binary("^", self, -1)

    def __round__(self, digits: None = None) -> Symbol:
        return call("round_even", self) if digits is None else self.refuse()

    def refuse(self, *_: object) -> Any:
        raise Untranslatable("a value that depends on parameters is converted, an index, or not always of one kind")

    __int__ = __float__ = __complex__ = __index__ = __iter__ = __len__ = __getitem__ = __str__ = __format__ = refuse
    __repr__ = object.__repr__
    __pos__ = number


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift,
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_FUNCTIONS = {
    "/": "true_div", "//": "floor_div", "%": "floor_mod", "**": "power", "&": "bit_and", "|": "bit_or", "^": "bit_xor",
    "<<": "shift_left", ">>": "shift_right",
}  # fmt: skip


def _exact(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that fails where the program might compute something else: beyond exact and real numbers."""

    def computed(*arguments: Any) -> Any:
        result = compute(*arguments)
        if isinstance(result, complex) or isinstance(result, int) and not -_EXACT < result < _EXACT:
            raise OverflowError("the result is no real number, or a large integer")
        return result

    return computed


PYTHON: dict[str, Any] = {
    "round_up": math.ceil, "round_down": math.floor, "round_even": round, "truncate": math.trunc, "sqrt": math.sqrt,
    "log2": math.log2, "abs": abs, "float": float, "len": len, "min": min, "max": max, "__builtins__": {},
}  # fmt: skip
PYTHON |= {f"_{_OPERATORS[sign].__name__}": _exact(_OPERATORS[sign]) for sign in "+ - * / // % ** & | ^ << >>".split()}

for _sign, _compute in _OPERATORS.items():
    _name = _compute.__name__.strip("_")
    if _name in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(Symbol, f"__{_name}__", lambda a, b, sign=_sign: compare(sign, a, b))
    else:
        setattr(Symbol, f"__{_name}__", lambda a, b, sign=_sign: binary(sign, a, b))
        setattr(Symbol, f"__r{_name}__", lambda a, b, sign=_sign: binary(sign, b, a))
for _name, _function in {"abs": "abs", "ceil": "round_up", "floor": "round_down", "trunc": "truncate"}.items():
    setattr(Symbol, f"__{_name}__", lambda s, function=_function: call(function, s))


def plain(value: Any) -> Any:
    """Return a value without numpy's types: a scalar as an int, float, bool or str of Python."""
    return value.item() if isinstance(value, numpy.generic | numpy.ndarray) and value.ndim == 0 else value


def symbol(value: Any, path: Path) -> Symbol:
    """Return a value as a symbol: a symbol as it is."""
    if isinstance(value, Symbol):
        return value if value.kind is not object else value.refuse()
    value = plain(value)
    if not isinstance(value, bool | str | int | float) or isinstance(value, int | float) and not abs(value) < _EXACT:
        raise Untranslatable(f"the value {value!r} is no number that the program can hold, no bool and no text")
    kind = type(value) if isinstance(value, bool | str) else float
    text = repr(value) if kind is float else json.dumps(value, ensure_ascii=False)
    return Symbol(text, repr(value), kind, path, SIGN if text.startswith("-") else ATOM)


def _pair(a: Any, b: Any) -> tuple[Symbol, Symbol]:
    """Return two values, of which one is a symbol, as symbols."""
    path = a.path if isinstance(a, Symbol) else b.path
    return symbol(a, path), symbol(b, path)


def truth(value: Any) -> Any:
    """Return the truth of a value, which may be a symbol."""
    return value.condition() if isinstance(value, Symbol) else bool(value)


def call(function: str, *arguments: Any) -> Symbol:
    """Return the call of a function of the language that takes and gives numbers; len takes a text."""
    path = next(a.path for a in arguments if isinstance(a, Symbol))
    of = [a if function == "len" and a.kind is str else a.number() for a in (symbol(a, path) for a in arguments)]
    text, python = (", ".join(t) for t in zip(*((a.text, a.python) for a in of), strict=True))
    return Symbol(f"{function}({text})", f"{function}({python})", float, path)


def _infix(a: Symbol, sign: str, b: Symbol, kind: type, level: int, python: str = "") -> Symbol:
    text = f"{a.at(level + (level == COMPARE))} {sign} {b.at(level + 1)}"
    return Symbol(text, python or f"({a.python} {sign} {b.python})", kind, a.path, level)


def binary(sign: str, left: Any, right: Any) -> Any:
    """Return left and right under an operator that computes."""
    a, b = _pair(left, right)
    if a.kind is b.kind is bool and sign in "&|^":
        return every(a, b) if sign == "&" else some(a, b) if sign == "|" else compare("!=", a, b)
    if not (a.kind is b.kind is str and sign == "+"):
        a, b = a.number(), b.number()
    for one, other in ((a, b), (b, a)):
        if (sign, one.text) in (("+", "0"), ("*", "1")):  # of sum() and prod()
            return other
    python = f"_{_OPERATORS[sign].__name__}({a.python}, {b.python})"
    if sign in "+-*" or sign == "/" and not isinstance(right, Symbol) and right:
        return _infix(a, sign, b, a.kind, ADD if sign in "+-" else MULTIPLY, python)
    return Symbol(f"{_FUNCTIONS[sign]}({a.text}, {b.text})", python, float, a.path)


def compare(sign: str, left: Any, right: Any) -> Any:
    """Return the comparison of two values, of which one is a symbol."""
    other = plain(left if isinstance(right, Symbol) else right)
    if sign in ("==", "!=") and not isinstance(other, Symbol | bool | int | float | str):
        return sign == "!="
    a, b = _pair(left, right)
    if a.kind is not b.kind or a.kind is bool and sign not in ("==", "!="):
        if str in (a.kind, b.kind) and sign in ("==", "!="):
            return sign == "!="
        a, b = a.number(), b.number()
    return _infix(a, sign, b, bool, COMPARE)


def _join(decides: bool, operands: tuple[Any, ...]) -> Any:
    parts: dict[str, Symbol] = {}
    for value in map(truth, operands):
        if value is decides:
            return decides
        if isinstance(value, Symbol):
            parts[value.text] = value
    if len(parts) < 2:
        return next(iter(parts.values()), not decides)
    word, level = ("or", OR) if decides else ("and", AND)
    text = f" {word} ".join(p.at(level) for p in parts.values())
    python = f" {word} ".join(p.python for p in parts.values())
    return Symbol(text, f"({python})", bool, next(iter(parts.values())).path, level)


def every(*operands: Any) -> Any:
    """Return whether all operands are true."""
    return _join(False, operands)


def some(*operands: Any) -> Any:
    """Return whether one of the operands is true."""
    return _join(True, operands)


def negate(value: Any) -> Any:
    """Return whether the value is false."""
    c = truth(value)
    return Symbol(f"not ({c.text})", f"(not {c.python})", bool, c.path, COMPARE) if isinstance(c, Symbol) else not c


def alike(a: Any, b: Any) -> bool:
    """Say whether two values, constants or symbols, are the same."""
    if isinstance(a, Symbol) or isinstance(b, Symbol):
        return isinstance(a, Symbol) and isinstance(b, Symbol) and a.text == b.text and a.kind is b.kind
    a, b = plain(a), plain(b)
    return type(a) is type(b) and (a == b or a != a and b != b)


def choose(condition: Any, then: Any, otherwise: Any) -> Any:
    """Return one of two values by a condition."""
    if not isinstance(condition, Symbol):
        return then if condition else otherwise
    c = condition.condition()
    then, otherwise = alike(then, c) or then, not alike(otherwise, c) and otherwise
    if alike(then, otherwise):
        return then
    if isinstance(then, Symbol) and then.choice:  # if c: if d: x; y stands in two places
        d, x, y = then.choice
        if alike(y, otherwise):
            return choose(every(c, d), x, otherwise)
        if alike(x, otherwise):
            return choose(every(c, negate(d)), y, otherwise)
    if isinstance(then, Symbol) and isinstance(otherwise, Symbol) and otherwise.choice:
        d, x, y = otherwise.choice
        if alike(x, then):
            return choose(some(c, d), then, y)
    choice = (c, then, otherwise)
    if isinstance(then, bool) and symbol(otherwise, c.path).kind is bool:
        made = some(c, otherwise) if then else every(negate(c), otherwise)
    elif isinstance(otherwise, bool) and symbol(then, c.path).kind is bool:
        made = some(negate(c), then) if otherwise else every(c, then)
    else:
        a, b = symbol(then, c.path), symbol(otherwise, c.path)
        if a.kind is not b.kind:
            a, b = a.number(), b.number()
        text, python = f"{c.at(OR)} ? {a.at(OR)} : {b.text}", f"({a.python} if {c.python} else {b.python})"
        return Symbol(text, python, a.kind, c.path, CHOICE, choice)
    return Symbol(made.text, made.python, bool, c.path, made.level, choice) if isinstance(made, Symbol) else made
