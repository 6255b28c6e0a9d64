"""Python expressions and functions of the tunable parameters, as expressions of specifications.

A text is parsed by `ast`; only what computes is allowed in it. A function is run on symbols, once for each path through
it. Each translation is compared with the function: for all combinations of the parameters that it reads, or for 2,000
of them. What cannot be translated becomes a table of the function's values.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import inspect
import itertools
import json
import math
import random
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path as File
from typing import Any

import numpy

from ndtune._binary import NdtuneError
from ndtune._symbols import (
    COMPUTE,
    PYTHON,
    Path,
    Symbol,
    Untranslatable,
    alike,
    among,
    call,
    choose,
    compare,
    every,
    literal,
    negate,
    plain,
    some,
    symbol,
)  # fmt: skip

BLOCK_SIZE_NAMES = ("block_size_x", "block_size_y", "block_size_z")
_SAMPLES = 2_000  # combinations for which a translation is compared with its function
_RUNS = 10_000  # of a function on symbols: one for each path through it
_ROWS = 4_000_000  # combinations of a table
_LARGEST = 1_000_000  # items of a list in a text

Values = Mapping[str, Sequence[Any]]

# --- what texts and functions call ---


def _extreme(sign: str, native: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(*values: Any, **options: Any) -> Any:
        items = list(values[0]) if len(values) == 1 else list(values)
        if options or not any(isinstance(i, Symbol) for i in items):
            return native(items, **options)
        best = items[0]
        for item in items[1:]:
            path = next((i.path for i in (best, item) if isinstance(i, Symbol)), Path())
            a, b = symbol(best, path), symbol(item, path)
            if a.kind is b.kind is int:
                best = call(native.__name__, int, a, b, bounds=(native(a.low, b.low), native(a.high, b.high)))
            else:
                best = choose(compare(sign, b, a), item, best)
        return best

    return extreme


def _one(native: Callable[..., Any], symbolic: Callable[[Symbol], Any]) -> Callable[..., Any]:
    """Return a function of one value that computes a symbol's in its own way."""

    def function(*values: Any, **options: Any) -> Any:
        if len(values) == 1 and isinstance(values[0], Symbol):
            return symbolic(values[0])
        return native(*values, **options)

    return function


def _float(s: Symbol) -> Symbol:
    n = s.number()
    return n if n.kind is float else call("float", float, n, bounds=(n.low, n.high))


_SYMBOLIC: dict[Any, Any] = {
    min: _extreme("<", min),
    max: _extreme(">", max),
    any: lambda items: some(*items),
    all: lambda items: every(*items),
    len: _one(len, lambda s: call("len", int, s, bounds=(0, 2**31)) if s.kind is str else s.impossible()),
    bool: _one(bool, Symbol.condition),
    int: _one(int, lambda s: s.whole("truncate")),
    float: _one(float, _float),
    math.sqrt: _one(math.sqrt, lambda s: call("sqrt", float, s.number(), bounds=(0, math.inf))),
    math.log2: _one(math.log2, lambda s: call("log2", float, s.number())),
}
_SYMBOLIC[range] = lambda *bounds: _range(*bounds)
_MATH = types.SimpleNamespace(**{n: _SYMBOLIC.get(f, f) if callable(f) else f for n, f in vars(math).items()})


def _replaced(value: Any) -> Any:
    """Return the form for symbols of a builtin function or of the module math; another value as it is."""
    if isinstance(value, type | types.BuiltinFunctionType):
        return _SYMBOLIC.get(value, value)
    return _MATH if value is math else value


def _symbolic(function: Any) -> Any:
    """Return a function of Python with other builtins, which take symbols."""
    if not isinstance(function, types.FunctionType):
        return function
    scope = {n: _replaced(v) for n, v in {**vars(builtins), **function.__globals__}.items()}
    made = types.FunctionType(function.__code__, scope, None, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


# --- texts ---

_steps = 0  # items that the comprehensions of a text have gone through


def _items(values: Any) -> list[Any]:
    global _steps
    listed = list(values)
    _steps += len(listed)
    if _steps > 10 * _LARGEST:
        raise Untranslatable("the comprehensions go through too many items")
    return listed


def _range(*bounds: Any) -> Sequence[Any]:
    if any(isinstance(b, Symbol) for b in bounds):
        item, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        listed = []
        while item < stop if step > 0 else item > stop:  # each asks for one more condition of the path
            listed.append(item)
            item += step
        return listed
    made = range(*bounds)
    if len(made) > _LARGEST:
        raise Untranslatable(f"the range has {len(made)} items, more than {_LARGEST}")
    return made


def _operate(sign: str, a: Any, b: Any) -> Any:
    """Compute as an operator does, unless constants make an integer, a list or a text of no sensible size."""
    if isinstance(a, int) and isinstance(b, int) and (sign == "<<" and b > 64 or sign == "**" and b > 64 and a * a > 1):
        raise Untranslatable(f"{a} {sign} {b} is beyond the integers of 64 bits")
    for x, y in ((a, b), (b, a)):
        if isinstance(x, str | list | tuple) and isinstance(y, int) and sign == "*" and len(x) * y > _LARGEST:
            raise Untranslatable(f"a list or a text of more than {_LARGEST} items is not allowed")
    if sign == "%" and isinstance(a, str):
        raise Untranslatable("formatting a text with % is not allowed")
    return COMPUTE[sign](a, b)


def _boolean(decides: bool, *operands: Callable[[], Any]) -> Any:
    """Return the value of `a or b or …` (True decides), or of `a and b and …`: the operand that decides."""
    value = operands[0]()
    if len(operands) == 1 or not isinstance(value, Symbol) and bool(value) is decides:
        return value
    rest = _boolean(decides, *operands[1:])
    if not isinstance(value, Symbol):
        return rest
    if value.kind is bool and (isinstance(rest, bool) or isinstance(rest, Symbol) and rest.kind is bool):
        return some(value, rest) if decides else every(value, rest)
    return choose(value, value, rest) if decides else choose(value, rest, value)


def _chain(left: Any, *links: tuple[str, Callable[[], Any]]) -> Any:
    """Return the value of a chain of comparisons: a < b < c is a < b and b < c."""
    result: Any = True
    for sign, operand in links:
        right = operand()
        if sign in ("in", "not in"):
            holds = among(left, right) if sign == "in" else negate(among(left, right))
        else:
            holds = COMPUTE[sign](left, right)
        result = every(result, holds)
        if result is False:
            return result
        left = right
    return result


def _either(condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    if isinstance(condition, Symbol):
        return choose(condition, then(), otherwise())
    return then() if condition else otherwise()


_CALLS: dict[str, Any] = {
    **{f.__name__: _SYMBOLIC[f] for f in (len, bool, int, float, min, max, any, all)},
    **{f.__name__: f for f in (sum, list, tuple, sorted, abs, round)},
    **{f"math.{f.__name__}": _replaced(f) for f in (math.ceil, math.floor, math.sqrt, math.log2)},
    "range": _range,
}
_SCOPE = {"__builtins__": {}, "@boolean": _boolean, "@chain": _chain, "@if": _either, "@items": _items}
_SCOPE |= {"@operate": _operate, "@not": negate} | _CALLS
_SIGNS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in",
    ast.NotIn: "not in",
}  # fmt: skip
_NODES = (
    ast.Constant, ast.Name, ast.Load, ast.Store, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.BoolOp, ast.Compare,
    ast.IfExp, ast.Call, ast.List, ast.Tuple, ast.Set, ast.Subscript, ast.ListComp, ast.GeneratorExp, ast.comprehension,
)  # fmt: skip


def _call(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _function(body: ast.expr, names: Iterable[str] = ()) -> ast.expr:
    return ast.Lambda(ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, []), body)


class _Calls(ast.NodeTransformer):
    """Puts calls in the place of what would ask for the truth of a symbol, and refuses what does more than compute."""

    def __init__(self, text: str, names: Iterable[str]) -> None:
        self.text, self.names = text, set(names)
        self.used: set[str] = set()
        self.local: set[str] = set()

    def refuse(self, node: ast.AST, why: str) -> Untranslatable:
        return Untranslatable(f"in {self.text!r}, column {getattr(node, 'col_offset', 0) + 1}: {why}")

    def later(self, node: ast.expr) -> ast.expr:
        return _function(self.visit(node))

    def visit(self, node: ast.AST) -> Any:
        if not isinstance(node, _NODES):
            raise self.refuse(node, f"{type(node).__name__} is not allowed: an expression only computes")
        return super().visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, int | float | str):
            raise self.refuse(node, f"{node.value!r} is no number, bool or text")
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.local:
            if node.id not in self.names:
                raise self.refuse(node, f"nothing is named {node.id}; the names are {', '.join(sorted(self.names))}")
            self.used.add(node.id)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        index = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(node.value, ast.Name) and isinstance(index, str):  # p["tile"]
            return self.visit_Name(ast.copy_location(ast.Name(index, ast.Load()), node))
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        function = ast.unparse(node.func)
        if function not in _CALLS:
            raise self.refuse(node, f"the function {function} is not known; known are {', '.join(_CALLS)}")
        if node.keywords:
            raise self.refuse(node, f"an argument of {function} is given by name, which is not allowed")
        return _call(function, *[self.visit(a) for a in node.args])

    def visit_ListComp(self, node: Any) -> Any:
        outer = set(self.local)
        for clause in node.generators:
            clause.iter = _call("@items", self.visit(clause.iter))
            self.local |= {n.id for n in ast.walk(clause.target) if isinstance(n, ast.Name)}
            clause.ifs = [self.visit(condition) for condition in clause.ifs]
        node.elt = self.visit(node.elt)
        self.local = outer
        return node

    visit_GeneratorExp = visit_ListComp

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if type(node.op) not in _SIGNS:
            raise self.refuse(node, "the operator @ is not allowed")
        return _call("@operate", ast.Constant(_SIGNS[type(node.op)]), self.visit(node.left), self.visit(node.right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return _call("@not", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return _call("@boolean", ast.Constant(isinstance(node.op, ast.Or)), *[self.later(v) for v in node.values])

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return _call("@if", self.visit(node.test), self.later(node.body), self.later(node.orelse))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        links: list[ast.expr] = []
        for sign, operand in zip(node.ops, node.comparators, strict=True):
            if type(sign) not in _SIGNS:
                raise self.refuse(node, "`is` compares identities; write == or !=")
            links.append(ast.Tuple([ast.Constant(_SIGNS[type(sign)]), self.later(operand)], ast.Load()))
        return _call("@chain", self.visit(node.left), *links)


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


def _reading_all(method: Callable[..., Any]) -> Callable[..., Any]:
    def reading(self: _Configuration, *arguments: Any) -> Any:
        self.reads.update(dict.keys(self))
        return method(self, *arguments)

    return reading


for _name in ("__iter__", "keys", "values", "items", "copy", "pop", "__eq__", "__or__"):
    setattr(_Configuration, _name, _reading_all(getattr(dict, _name)))


class Function:
    """A function of a configuration: what the user gave, in one form.

    `call` computes the value of a configuration, as Kernel Tuner does; `symbolic` that of one of symbols. `pure` says
    that it has no state. `reads` are the parameters that calls so far have read.
    """

    def __init__(self, name: str, call: Callable[..., Any], symbolic: Callable[..., Any], pure: bool = False) -> None:
        self.name, self.call, self.symbolic, self.pure = name, call, symbolic, pure
        self.reads: set[str] = set()

    def value(self, configuration: Mapping[str, Any], changes: Iterable[tuple[str, Any]] = ()) -> Any:
        """Return the value for a configuration with some changes, and note the parameters that are read."""
        own = _Configuration(configuration, self.reads)
        own.update(changes)
        return plain(self.call(own))


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
    calls = _Calls(text, names)
    reads = calls.used
    try:
        symbolic = _compiled(calls.visit(copy.deepcopy(body)), reads, _SCOPE)
    except Untranslatable as error:
        if not trusted:
            raise
        reads = {n.id for n in ast.walk(body) if isinstance(n, ast.Name)} & calls.names
        reason = error

        def symbolic(configuration: Mapping[str, Any]) -> Any:
            raise reason

    native = {"math": math, "np": numpy, "numpy": numpy}
    return Function(repr(text), _compiled(body, reads, native) if trusted else symbolic, symbolic, pure=True)


def _compiled(body: ast.expr, reads: Iterable[str], scope: dict[str, Any]) -> Callable[[Mapping[str, Any]], Any]:
    """Compile an expression as a function of the configuration whose parameters it reads."""
    reads = sorted(reads)
    tree = ast.fix_missing_locations(ast.Expression(_function(body, reads)))
    function = eval(compile(tree, "<expression>", "eval"), scope)

    def computed(configuration: Mapping[str, Any]) -> Any:
        global _steps
        _steps = 0
        return function(*[configuration[n] for n in reads])

    return computed


def of_callable(function: Any, names: Sequence[str] | None = None) -> Function:
    """Return the function of a configuration that a Python function is.

    Without names it takes a dictionary. A restriction (names are the parameters that it may take) can also take values:
    by the names of its arguments if these are parameters, else one for each parameter, in their order.
    """
    code = getattr(function, "__code__", None)
    place = f" ({File(code.co_filename).name}:{code.co_firstlineno})" if code else ""
    taken = None if names is None else _taken(function, names)

    def applied(f: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(taken, list):
            return lambda c: f(*[c[n] for n in taken])
        return f if taken is None else lambda c: f(**{n: c[n] for n in taken})

    name = f"the function {getattr(function, '__qualname__', type(function).__name__)}{place}"
    return Function(name, applied(function), applied(_symbolic(function)))


def _taken(function: Any, names: Sequence[str]) -> list[str] | set[str] | None:
    """Return the parameters that a restriction takes: by position (a list), by name (a set); None: a dictionary."""
    try:
        arguments = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    kinds = {a.kind for a in arguments}
    needed = {a.name for a in arguments if a.default is a.empty and a.kind is not a.VAR_KEYWORD}
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return list(names)
    if needed <= set(names) and (needed or inspect.Parameter.VAR_KEYWORD in kinds):
        return set(names) if inspect.Parameter.VAR_KEYWORD in kinds else {a.name for a in arguments if a.name in names}
    return list(names) if len(needed) == len(names) > 1 else None


def of_restriction(restriction: Any, names: Sequence[str]) -> Function:
    """Return the function of a restriction in one of the forms that Kernel Tuner takes; ValueError for what is none."""
    if isinstance(restriction, Function):
        return restriction
    if isinstance(restriction, str):
        return of_text(restriction, names)
    if isinstance(restriction, tuple) and len(restriction) in (2, 3) and isinstance(restriction[1], list | tuple):
        return of_restriction(restriction[0], list(restriction[1]))
    constraints = sys.modules.get("constraint")
    if constraints and isinstance(restriction, constraints.FunctionConstraint):
        both = (restriction._func, _symbolic(restriction._func))
        call, symbolic = (lambda c, f=f: f(*[c[n] for n in names]) for f in both)
        return Function(of_callable(restriction._func).name, call, symbolic)
    if constraints and isinstance(restriction, constraints.Constraint):
        kind = type(restriction).__name__

        def holds(c: Mapping[str, Any]) -> Any:
            values = {n: c[n] for n in names}
            if kind in ("InSetConstraint", "NotInSetConstraint"):  # they work on domains
                return all((v in list(restriction._set)) is (kind == "InSetConstraint") for v in values.values())
            return restriction(list(values), {n: [v] for n, v in values.items()}, values)

        return Function(f"the constraint {kind}", holds, _symbolic(holds))
    if callable(restriction):
        return of_callable(restriction, names)
    raise ValueError(f"Unrecognized restriction type {type(restriction)} ({restriction})")


# --- translation, checked against the function ---


def _translate(function: Function, values: Values, boolean: bool, rename: Mapping[str, str]) -> Any:
    """Return what a function computes, as a symbol or a constant: of all paths through it."""
    path = Path()
    symbols = {name: _parameter(name, values[name], path, rename) for name in values}
    runs = 0

    def explore(given: list[bool]) -> Any:
        nonlocal runs
        runs += 1
        if runs > _RUNS:
            raise Untranslatable(f"it has more than {_RUNS} paths")
        path.begin(given)
        try:
            result = plain(function.symbolic(_Configuration(symbols, function.reads)))
        except Untranslatable:
            raise
        except Exception as error:  # with values it may compute: the table will tell
            raise Untranslatable(f"with symbols it fails: {type(error).__name__}: {error}") from error
        if boolean:
            result = result.condition() if isinstance(result, Symbol) else bool(result)
        taken = list(path.taken.values())
        result = next((answer for c, answer in taken if alike(c, result)), result)
        for i in reversed(range(len(given), len(taken))):
            other = explore([*(answer for _, answer in taken[:i]), False])
            result = choose(taken[i][0], result, other)
        return result

    return explore([])


def _parameter(name: str, values: Sequence[Any], path: Path, rename: Mapping[str, str]) -> Symbol:
    kinds = {type(plain(v)) for v in values}
    kind = kinds.pop() if len(kinds) == 1 else complex if kinds == {int, float} else object
    if kind in (bool, str):
        return Symbol(rename.get(name, name), name, kind, path)
    if kind in (int, float, complex):
        return Symbol(rename.get(name, name), name, kind, path, (plain(min(values)), plain(max(values))))
    return Symbol(rename.get(name, name), name, object, path)


class _Answers:
    """The answers of a function: `names` of parameters, and `rows` of their values with the function's value there.

    The rows are all combinations of the parameters that the function reads; if there are more than `most`, 2,000 random
    configurations. Raises NdtuneError if the function does not give the same value twice.
    """

    def __init__(self, function: Function, values: Values, boolean: bool, most: int = _SAMPLES) -> None:
        self.function, self.values, self.boolean = function, values, boolean
        self.first = {n: v[0] for n, v in values.items()}  # of the parameters that are not read
        self.rows: list[tuple[Sequence[Any], Any]] = []
        while True:
            reads = set(function.reads)
            self.names = [n for n in values if n in reads]
            self.count = math.prod(len(values[n]) for n in self.names)
            combinations: Iterable[Sequence[Any]] = itertools.product(*(values[n] for n in self.names))
            if self.count > most:
                chance, self.names = random.Random(1), list(values)
                combinations = ([chance.choice(v) for v in values.values()] for _ in range(_SAMPLES))
            self.rows.clear()
            for row in combinations:
                self.rows.append((row, self.ask(row)))
                if len(function.reads) != len(reads):  # it reads one more
                    break
            else:
                break
        for row, first in reversed(self.rows[-_SAMPLES:] if not function.pure else []):
            again = self.ask(row)
            if not alike(first, again) and not (isinstance(first, Exception) and type(first) is type(again)):
                raise NdtuneError(
                    f"{function.name} gave {first!r} and then {again!r} for {self.configuration(row)}: it depends on "
                    "something else than the parameters, such as a counter or random numbers, and so describes no space"
                )

    def ask(self, row: Sequence[Any]) -> Any:
        """Return the function's value for a row, or the exception that it raises."""
        try:
            value = self.function.value(self.first, zip(self.names, row, strict=True))
            return bool(value) if self.boolean else value
        except Exception as error:
            return error

    def configuration(self, row: Sequence[Any]) -> dict[str, Any]:
        """Return the whole configuration of a row."""
        return self.first | dict(zip(self.names, row, strict=True))

    def failures(self) -> Iterator[tuple[dict[str, Any], Exception]]:
        """Yield the configurations for which the function raises an exception, which gets a note of it."""
        for row, value in self.rows:
            if isinstance(value, Exception):
                configuration = self.configuration(row)
                note = f"{self.function.name} raised this for the configuration {configuration}"
                if sys.version_info >= (3, 11):
                    value.add_note(note)
                else:
                    value.args = (f"{value} ({note})",)
                yield configuration, value

    def compare(self, translation: Any) -> None:
        """Raise Untranslatable if a translation has another value than the function."""
        parts = translation if isinstance(translation, list | tuple) else [translation]
        python = ", ".join(symbol(p, Path()).python for p in parts)
        code = compile(f"[{python}]" if parts is translation else python, "<translation>", "eval")
        for row, wanted in self.rows:
            try:
                value = eval(code, PYTHON, {n: plain(v) for n, v in zip(self.names, row, strict=True)})
            except Exception as error:
                value = error
            if not isinstance(wanted, Exception) and not alike(value, wanted):
                configuration = self.configuration(row)
                raise Untranslatable(f"it does something else with symbols than with values, as with {configuration}")

    def table(self, why: Exception) -> _Answers:
        """Return the answers for all combinations; NdtuneError if these are too many."""
        full = _Answers(self.function, self.values, self.boolean, _ROWS) if self.count > _SAMPLES else self
        if full.count > _ROWS:
            names = ", ".join(n for n in self.values if n in self.function.reads)
            raise NdtuneError(
                f"{self.function.name} cannot be translated ({why}), and it reads {names}, which have {full.count} "
                f"combinations, more than the {_ROWS} of a table: write it as a text, or as functions that read fewer"
            )
        return full


# --- what the package calls ---


def expressions(
    f: Any,
    tune_params: Mapping[str, Iterable[Any]],
    *,
    names: Iterable[str] = (),
    boolean: bool = False,
    rename: Mapping[str, str] | None = None,
) -> str | list[str]:
    """Return a text or a function of the parameters as an expression; a list of them for a list or a tuple.

    A function takes a dictionary. names are quantities that it may also read, floats such as time. boolean: only the
    truth of the value matters. rename has the parameters with another name in the specification. Raises Untranslatable
    for a function of quantities that has no translation, NdtuneError for one that is not a function of the parameters,
    and what the function raises.
    """
    values = {n: list(v) for n, v in tune_params.items()}
    known = values | {n: [0.25, 1.5, 40.0] for n in names}
    function = f if isinstance(f, Function) else of_text(f, known) if isinstance(f, str) else of_callable(f)
    answers = _Answers(function, known, boolean)
    failures = list(answers.failures())
    if failures and len(failures) == len(answers.rows):
        raise failures[0][1]
    try:
        result = _translate(function, known, boolean, rename or {})
        answers.compare(result)
    except Untranslatable as why:
        if not function.reads <= values.keys():
            raise Untranslatable(f"{function.name} cannot be translated: {why}") from why
        table = answers.table(why)
        for _, error in table.failures():
            raise error from None
        result = _cases([_parameter(n, values[n], Path(), rename or {}) for n in table.names], table.rows)
    return [_text(r) for r in result] if isinstance(result, list | tuple) else _text(result)


def expression(f: Any, tune_params: Mapping[str, Iterable[Any]], **options: Any) -> str:
    """Return a text or a function of the parameters as one expression, with the options of `expressions`."""
    text = expressions(f, tune_params, **options)
    if isinstance(text, list):
        raise Untranslatable(f"{f!r} gives {len(text)} values where one is wanted")
    return text


def _text(value: Any) -> str:
    return value.text if isinstance(value, Symbol) else literal(value)


def _cases(names: list[Symbol], rows: list[tuple[Sequence[Any], Any]]) -> Any:
    """Return the answers of rows as conditions of the first name, and within them of the others."""
    if all(alike(value, rows[0][1]) for _, value in rows):
        return rows[0][1]
    groups: dict[Any, list[tuple[Sequence[Any], Any]]] = {}
    for key, value in rows:
        groups.setdefault(plain(key[0]), []).append((key[1:], value))
    branches: list[tuple[Any, list[Any]]] = []
    for key, group in groups.items():
        branch = _cases(names[1:], group)
        known = next((keys for other, keys in branches if alike(other, branch)), None)
        branches.append((branch, [key])) if known is None else known.append(key)
    branches.sort(key=lambda b: len(b[1]))
    result = branches[-1][0]
    for branch, keys in reversed(branches[:-1]):
        result = choose(among(names[0], keys), branch, result)
    return result


def evaluate(f: Any, params: Mapping[str, Any]) -> Any:
    """Return the value of a Python text, or of a function of a dictionary, for one configuration."""
    return (of_text(f, params) if isinstance(f, str) else of_callable(f)).call(dict(params))


def restrictions(
    rs: Any,
    tune_params: Mapping[str, Iterable[Any]],
    folder: str | File,
    max_threads: int | str | None = None,
    block_size_names: Sequence[str] = BLOCK_SIZE_NAMES,
    rename: Mapping[str, str] | None = None,
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
    rename = rename or {}
    single = isinstance(rs, tuple) and len(rs) in (2, 3) and isinstance(rs[1], list | tuple)
    given = [] if rs is None else list(rs) if isinstance(rs, list | tuple) and not single else [rs]
    functions = [of_restriction(r, list(values)) for r in given]
    made: list[str | dict[str, str]] = []
    for i, function in enumerate(functions):
        file = File(folder).absolute() / f"restriction-{i + 1}.jsonl"
        item = _restriction(function, functions[:i] + functions[i + 1 :], values, file, rename)
        if item != "true":
            made.append(item)
    sizes = [rename.get(n, n) for n in block_size_names if n in values]
    if sizes and max_threads is not None and f"{' * '.join(sizes)} <= {max_threads}" not in made:
        made.append(f"{' * '.join(sizes)} <= {max_threads}")
    return made


def _restriction(
    function: Function, others: list[Function], values: Values, file: File, rename: Mapping[str, str]
) -> str | dict[str, str]:
    def excluding(configuration: Mapping[str, Any], error: Exception) -> Function:
        """Return the restriction that excludes a configuration for which the function raises an exception."""
        for other in others:
            with contextlib.suppress(Exception):
                if not other.value(configuration):
                    return other
        raise error

    answers = _Answers(function, values, True)
    guards = {id(g): g for g in (excluding(*failure) for failure in answers.failures())}.values()
    try:
        result = _translate(function, values, True, rename)
        answers.compare(result)
        # where a guard is false, the program need not compute the rest, which may fail there
        return _text(every(*(_translate(g, values, True, rename) for g in guards), result))
    except Untranslatable as why:
        for guard in guards:
            function.reads |= guard.reads
        table = (_Answers(function, values, True) if guards else answers).table(why)
    for failure in table.failures():
        excluding(*failure)
    write_table(file, [rename.get(n, n) for n in table.names], (row for row, value in table.rows if value is True))
    return {"file": str(file)}


def write_table(file: File, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a file of allowed combinations: a line of the names, then one of the values for each combination."""
    with file.open("w", encoding="utf-8") as lines:
        lines.write(json.dumps(list(names)) + "\n")
        for row in rows:
            values = [v if isinstance(v, bool | int | float | str) else str(v) for v in map(plain, row)]
            lines.write(json.dumps(values) + "\n")
