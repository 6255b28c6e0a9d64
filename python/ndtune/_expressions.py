"""Python expressions and functions of the tunable parameters, as expressions of specifications.

A text is parsed by `ast` and computed on symbols, a function is run on symbols, once for each path through it. Each
translation is compared with the function: for all combinations of the parameters that it reads, or for 2,000 of them.
What cannot be translated becomes a table of the function's values.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import itertools
import json
import math
import operator
import random
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path as File
from typing import Any

from ndtune._binary import NdtuneError
from ndtune._symbols import PYTHON, Path, Symbol, Untranslatable, alike, call, choose, every, plain, some, symbol, truth
from ndtune.util import NAMES

BLOCK_SIZE_NAMES = ("block_size_x", "block_size_y", "block_size_z")
_SAMPLES = 2_000  # combinations for which a translation is compared with its function
_RUNS = 10_000  # of a function on symbols: one for each path through it
_ROWS = 4_000_000  # combinations of a table
_LARGEST = 1_000_000  # items of the ranges and lists that a text of a stranger makes

Values = Mapping[str, Sequence[Any]]

# --- builtin functions that take symbols ---


def _taking(native: Callable[..., Any], symbolic: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a builtin function that computes otherwise where its argument is a symbol."""

    def function(*values: Any, **options: Any) -> Any:
        return (symbolic if len(values) == 1 and isinstance(values[0], Symbol) else native)(*values, **options)

    return function


def _extreme(native: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(*values: Any, **options: Any) -> Any:
        items = list(values[0]) if len(values) == 1 else values
        if options or not any(isinstance(i, Symbol) for i in items):
            return native(items, **options)
        known = [i for i in items if not isinstance(i, Symbol)]
        others = [i for i in items if isinstance(i, Symbol)]
        return functools.reduce(functools.partial(call, native.__name__), [native(known), *others] if known else others)

    return extreme


_BUILTINS: dict[Any, Any] = {f: _taking(f, functools.partial(call, f.__name__)) for f in (len, math.sqrt, math.log2)}
_BUILTINS[float] = _taking(float, functools.partial(call, "float"))
_BUILTINS |= {min: _extreme(min), max: _extreme(max), int: _taking(int, math.trunc), bool: _taking(bool, truth)}
_BUILTINS |= {any: lambda items: some(*items), all: lambda items: every(*items)}
_MATH = types.SimpleNamespace(**{n: _BUILTINS.get(f, f) if callable(f) else f for n, f in vars(math).items()})
_CALLS = {f.__name__: f for f in (*_BUILTINS, sum, list, tuple, sorted, abs, round, range, math.ceil, math.floor)}
_CALLS = {("math." if f.__module__ == "math" else "") + n: _BUILTINS.get(f, f) for n, f in _CALLS.items()}


def _symbolic(function: Any) -> Any:
    """Return a function of Python with other builtins, which take symbols."""
    if not isinstance(function, types.FunctionType):
        return function
    scope = vars(builtins) | function.__globals__
    for name, value in scope.items():
        if isinstance(value, type | types.BuiltinFunctionType):
            scope[name] = _BUILTINS.get(value, value)
        elif value is math:
            scope[name] = _MATH
    made = types.FunctionType(function.__code__, scope, None, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


# --- texts of strangers ---

_NODES = (
    ast.Constant, ast.Name, ast.Load, ast.Store, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator, ast.BoolOp,
    ast.boolop, ast.Compare, ast.cmpop, ast.IfExp, ast.Call, ast.List, ast.Tuple, ast.Set, ast.Subscript, ast.ListComp,
    ast.GeneratorExp, ast.comprehension,
)  # fmt: skip


class _Computing(ast.NodeTransformer):
    """Refuses in an expression what does more than compute, and bounds what it makes; p["tile"] becomes tile."""

    def __init__(self, text: str, names: Iterable[str]) -> None:
        self.text, self.names = text, set(names)

    def refuse(self, node: ast.AST, why: str) -> Untranslatable:
        return Untranslatable(f"in {self.text!r}, column {getattr(node, 'col_offset', 0) + 1}: {why}")

    def visit(self, node: ast.AST) -> Any:
        if not isinstance(node, _NODES) or isinstance(node, ast.Is | ast.IsNot | ast.MatMult):
            raise self.refuse(node, f"{type(node).__name__} is not allowed: an expression only computes")
        if isinstance(node, ast.Constant) and not isinstance(node.value, int | float | str):
            raise self.refuse(node, f"{node.value!r} is no number, bool or text")
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.names:
            raise self.refuse(node, f"nothing is named {node.id}; the names are {', '.join(sorted(self.names))}")
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        index = getattr(node.slice, "value", None)
        if isinstance(node.value, ast.Name) and isinstance(index, str):
            return self.visit_Name(ast.copy_location(ast.Name(index, ast.Load()), node))
        return self.generic_visit(node)

    def visit_ListComp(self, node: Any) -> Any:
        self.names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        return self.generic_visit(node)

    visit_GeneratorExp = visit_ListComp

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = ast.unparse(node.func)
        if name not in _CALLS or node.keywords:
            raise self.refuse(node, f"the call of {name} is not known; known are {', '.join(_CALLS)}, without names")
        return ast.Call(ast.Name(name, ast.Load()), [self.visit(a) for a in node.args], [])

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        name = type(node.op).__name__
        return ast.Call(ast.Name(name, ast.Load()), [node.left, node.right], []) if name in _SCOPE else node


def _times(a: Any, b: Any) -> Any:
    for x, y in ((a, b), (b, a)):
        if isinstance(x, str | list | tuple) and isinstance(y, int) and len(x) * y > _LARGEST:
            raise Untranslatable("a list or a text is too long")
    return a * b


def _modulo(a: Any, b: Any) -> Any:
    if isinstance(a, str):
        raise Untranslatable("formatting a text with % is not allowed")
    return a % b


def _power(a: Any, b: Any, compute: Callable[[Any, Any], Any] = operator.pow) -> Any:
    if isinstance(a, int) and isinstance(b, int) and max(a.bit_length(), 1) * b > 4096:
        raise Untranslatable("the result is beyond the integers of 64 bits")
    return compute(a, b)


def _range(*bounds: int) -> range:
    made = range(*bounds)
    _budget[0] -= len(made)
    if _budget[0] < 0:
        raise Untranslatable(f"ranges have more than {_LARGEST} items")
    return made


_budget = [0]  # items that ranges may still have
_CALLS["range"] = _range
_SCOPE = {"__builtins__": {}, "Mult": _times, "Mod": _modulo, "Pow": _power} | _CALLS
_SCOPE["LShift"] = functools.partial(_power, compute=operator.lshift)


# --- functions of a configuration ---


class _Configuration(dict[str, Any]):
    """A configuration that notes which parameters are read."""

    def __init__(self, values: Mapping[str, Any], reads: set[str]) -> None:
        super().__init__(values)
        self.reads = reads

    def __getitem__(self, name: str) -> Any:
        self.reads.add(name)
        if name not in self:
            raise KeyError(f"{name} is no parameter; there are {', '.join(map(str, dict.keys(self)))}")
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
    """A function of a configuration, in one form: `call` computes its value, `symbolic` that of symbols.

    `pure` says that it has no state. `reads` are the parameters that calls so far have read.
    """

    def __init__(self, name: str, call: Callable[..., Any], symbolic: Callable[..., Any], pure: bool = False) -> None:
        self.name, self.call, self.symbolic, self.pure = name, call, symbolic, pure
        self.reads: set[str] = set()

    def answer(self, configuration: Mapping[str, Any], changes: Iterable[Any] = (), boolean: bool = True) -> Any:
        """Return the value for a configuration with changes, or the exception that the function raises."""
        own = _Configuration(configuration, self.reads)
        own.update(changes)
        try:
            return bool(self.call(own)) if boolean else plain(self.call(own))
        except Exception as error:
            return error


def of_text(text: str, names: Iterable[str], trusted: bool = True) -> Function:
    """Return the function of a Python expression. One that is not trusted, such as a file's, can only compute."""
    names = list(names)
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if trusted:
            raise
        raise Untranslatable(f"in {text!r}: {error}") from None
    if not trusted:
        body = tree.body.body if isinstance(tree.body, ast.Lambda) else tree.body
        tree = ast.Expression(_Computing(text, names).visit(body))
    reads = sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} & set(names))
    tree.body = ast.Lambda(ast.arguments([], [ast.arg(n) for n in reads], None, [], [], None, []), tree.body)
    scope = NAMES if trusted else _SCOPE
    native = eval(compile(ast.fix_missing_locations(tree), "<expression>", "eval"), dict(scope))

    def applied(f: Callable[..., Any]) -> Callable[..., Any]:
        def computed(c: Mapping[str, Any]) -> Any:
            _budget[0] = _LARGEST
            return f(*[c[n] for n in reads])

        return computed

    return Function(repr(text), applied(native), applied(_symbolic(native) if trusted else native), pure=True)


def of_callable(function: Any, names: Sequence[str] | None = None) -> Function:
    """Return the function of a configuration that a Python function is.

    Without names it takes a dictionary. A restriction (names are the parameters that it may take) can also take values:
    by the names of its arguments if these are parameters, else one for each parameter, in their order.
    """
    code = getattr(function, "__code__", None)
    place = f" ({File(code.co_filename).name}:{code.co_firstlineno})" if code else ""
    name = f"the function {getattr(function, '__qualname__', type(function).__name__)}{place}"
    order = None if names is None else _order(function, list(names))

    def applied(f: Callable[..., Any]) -> Callable[..., Any]:
        return f if order is None else lambda c: f(*[c[n] for n in order])

    return Function(name, applied(function), applied(_symbolic(function)))


def _order(function: Any, names: list[str]) -> list[str] | None:
    """Return the parameters that a restriction takes, in the order of its arguments; None for a dictionary."""
    try:
        arguments = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    needed = [a.name for a in arguments if a.default is a.empty and a.kind is a.POSITIONAL_OR_KEYWORD]
    if needed and set(needed) <= set(names):
        return list(itertools.takewhile(names.__contains__, (a.name for a in arguments)))
    several = any(a.kind is a.VAR_POSITIONAL for a in arguments) or len(needed) == len(names) > 1
    return names if several else None


def of_restriction(restriction: Any, names: Sequence[str]) -> Function:
    """Return the function of a restriction in one of the forms that Kernel Tuner takes; ValueError for what is none."""
    if isinstance(restriction, Function):
        return restriction
    if isinstance(restriction, str):
        return of_text(restriction, names)
    if isinstance(restriction, tuple) and len(restriction) in (2, 3) and isinstance(restriction[1], list | tuple):
        return of_restriction(restriction[0], list(restriction[1]))
    constraints = sys.modules.get("constraint")
    if constraints and isinstance(restriction, constraints.Constraint):

        def holds(c: Mapping[str, Any]) -> Any:
            values = {n: c[n] for n in names}
            if kind == "FunctionConstraint":
                return symbolic(*values.values())
            if kind in ("InSetConstraint", "NotInSetConstraint"):  # they work on domains
                return all((v in list(restriction._set)) is (kind[0] == "I") for v in values.values())
            return restriction(list(values), {n: [v] for n, v in values.items()}, values)

        kind, symbolic = type(restriction).__name__, _symbolic(getattr(restriction, "_func", None))
        return Function(f"the {kind}", holds, holds)
    if callable(restriction):
        return of_callable(restriction, names)
    raise ValueError(f"Unrecognized restriction type {type(restriction)} ({restriction})")


# --- translation, checked against the function ---


def _translate(function: Function, values: Values, boolean: bool, rename: Mapping[str, str]) -> Any:
    """Return what a function computes, as a symbol or a constant: of all paths through it."""
    runs = 0

    def explore(given: list[bool]) -> Any:
        nonlocal runs
        runs += 1
        if runs > _RUNS:
            raise Untranslatable(f"it has more than {_RUNS} paths")
        path = Path(given)
        symbols = {name: _parameter(name, values[name], path, rename) for name in values}
        try:
            result = plain(function.symbolic(_Configuration(symbols, function.reads)))
        except Untranslatable:
            raise
        except Exception as error:  # with values it may compute: the table will tell
            raise Untranslatable(f"with symbols it fails: {type(error).__name__}: {error}") from error
        taken = list(path.taken.values())
        result = truth(result) if boolean else result
        result = next((answer for c, answer in taken if alike(c, result)), result)
        for i in reversed(range(len(given), len(taken))):
            result = choose(taken[i][0], result, explore([*(answer for _, answer in taken[:i]), False]))
        return result

    return symbol(explore([]), Path())


def _parameter(name: str, values: Sequence[Any], path: Path, rename: Mapping[str, str]) -> Symbol:
    kinds = {type(plain(v)) for v in values}
    kind = float if kinds <= {int, float} else kinds.pop() if kinds in ({bool}, {str}) else object
    return Symbol(rename.get(name, name), name, kind, path)


class _Answers:
    """The answers of a function: `names` of parameters, and `rows` of their values with the function's value there.

    The rows are all combinations of the parameters that the function reads; if there are more than `most`, 2,000 random
    ones of all parameters, and those of the first and of the last values. Raises NdtuneError if the function does not
    give the same value twice.
    """

    def __init__(self, function: Function, values: Values, boolean: bool, most: int = _SAMPLES) -> None:
        self.function, self.values, self.boolean = function, values, boolean
        self.first = {n: v[0] for n, v in values.items()}  # of the parameters that are not read
        while True:
            reads = len(function.reads)
            self.names = [n for n in values if n in function.reads]
            self.count = math.prod(len(values[n]) for n in self.names)
            combinations: Any = itertools.product(*(values[n] for n in self.names))
            if self.count > most:
                self.names, chance = list(values), random.Random(1)
                combinations = [[v[i] for v in values.values()] for i in (0, -1)]
                combinations += [[chance.choice(v) for v in values.values()] for _ in range(_SAMPLES)]
            self.rows: list[tuple[Sequence[Any], Any]] = []
            for row in combinations:
                self.rows.append((row, self.ask(row)))
                if len(function.reads) != reads:
                    break
            else:
                break
        again_too = [] if function.pure else self.rows[:: -max(1, len(self.rows) // _SAMPLES)]
        for row, first in again_too * (1 + 100 // max(1, len(self.rows))):
            again = self.ask(row)
            if not alike(first, again) and not (isinstance(first, Exception) and type(first) is type(again)):
                raise NdtuneError(
                    f"{function.name} gave {first!r} and then {again!r} for {self.configuration(row)}: it depends on "
                    "something else than the parameters, such as a counter or random numbers, and so describes no space"
                )

    def ask(self, row: Sequence[Any]) -> Any:
        return self.function.answer(self.first, zip(self.names, row, strict=True), self.boolean)

    def configuration(self, row: Sequence[Any]) -> dict[str, Any]:
        return self.first | dict(zip(self.names, row, strict=True))

    def raise_failures(self, others: Iterable[Function] = ()) -> None:
        """Raise what the function raised, with a note of the configuration, unless another restriction excludes it."""
        for row, error in ((row, value) for row, value in self.rows if isinstance(value, Exception)):
            configuration = self.configuration(row)
            if all(o.answer(configuration) is not False for o in others):
                note = f"{self.function.name} raised this for the configuration {configuration}"
                if sys.version_info >= (3, 11):
                    error.add_note(note)
                else:
                    error.args = (f"{error} ({note})",)
                raise error

    def check(self, translation: Symbol, failing: bool = True) -> None:
        """Raise Untranslatable if a translation has another value than the function (failing: even where it fails)."""
        code = compile(translation.python, "<translation>", "eval")
        for row, wanted in self.rows:
            if not failing and isinstance(wanted, Exception):
                continue
            try:
                value = eval(code, PYTHON, {n: plain(v) for n, v in zip(self.names, row, strict=True)})
            except Exception as error:
                value = error
            if not alike(value, wanted):
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


def expression(
    f: Any,
    tune_params: Mapping[str, Iterable[Any]],
    *,
    names: Iterable[str] = (),
    rename: Mapping[str, str] | None = None,
) -> str:
    """Return a text, or a function of a dictionary of the parameters, as an expression.

    names are quantities that it may also read, floats such as time. rename has the parameters with another name in the
    specification. Raises Untranslatable for a function of quantities that has no translation, NdtuneError for one that
    is not a function of the parameters, and what the function raises.
    """
    values = {n: list(v) for n, v in tune_params.items()}
    known = values | {n: [0.25, 1.5, 40.0] for n in names}
    function = f if isinstance(f, Function) else of_text(f, known) if isinstance(f, str) else of_callable(f)
    answers = _Answers(function, known, False)
    if all(isinstance(answer, Exception) for _, answer in answers.rows):
        answers.raise_failures()
    try:
        result = _translate(function, known, False, rename or {})
        answers.check(result, failing=False)  # a restriction may exclude these
    except Untranslatable as why:
        if function.reads & known.keys() - values.keys():
            raise Untranslatable(f"{function.name} cannot be translated: {why}") from why
        table = answers.table(why)
        table.raise_failures()
        result = _cases([_parameter(n, values[n], Path(), rename or {}) for n in table.names], table.rows)
    return symbol(result, Path()).text


def _cases(names: list[Symbol], rows: list[tuple[Sequence[Any], Any]]) -> Any:
    """Return the answers of rows as conditions of the first name, and within them of the others."""
    if all(alike(value, rows[0][1]) for _, value in rows):
        return rows[0][1]
    branches: list[tuple[Any, list[Any]]] = []
    for key, group in itertools.groupby(rows, lambda row: plain(row[0][0])):
        branch = _cases(names[1:], [(row[1:], value) for row, value in group])
        known = next((keys for other, keys in branches if alike(other, branch)), None)
        branches.append((branch, [key])) if known is None else known.append(key)
    branches.sort(key=lambda b: len(b[1]))
    result = branches[-1][0]
    for branch, keys in reversed(branches[:-1]):
        result = choose(some(*(names[0] == key for key in keys)), branch, result)
    return result


def evaluate(f: Any, params: Mapping[str, Any]) -> Any:
    """Return the value of a Python text, or of a restriction in any of its forms, for one configuration."""
    return of_restriction(f, list(params)).call(dict(params))


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
        answers = _Answers(function, values, True)
        others = functions[:i] + functions[i + 1 :]
        answers.raise_failures(others)
        try:
            result = _translate(function, values, True, rename)
            answers.check(result)
            if result.text != "true":
                made.append(result.text)
        except Untranslatable as why:
            table = answers.table(why)
            table.raise_failures(others)
            file = File(folder).absolute() / f"restriction-{i + 1}.jsonl"
            with file.open("w", encoding="utf-8") as lines:  # the names, then the values of each allowed combination
                lines.write(json.dumps([rename.get(n, n) for n in table.names]) + "\n")
                for row in (row for row, value in table.rows if value is True):
                    written = (v if isinstance(v, bool | int | float | str) else str(v) for v in map(plain, row))
                    lines.write(json.dumps(list(written)) + "\n")
            made.append({"file": str(file)})
    sizes = [rename.get(n, n) for n in block_size_names if n in values]
    if sizes and max_threads is not None and f"{' * '.join(sizes)} <= {max_threads}" not in made:
        made.append(f"{' * '.join(sizes)} <= {max_threads}")
    return made
