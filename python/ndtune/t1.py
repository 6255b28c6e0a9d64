"""T1 files, the JSON format of the auto-tuning hub, as specifications: `python -m ndtune t1 FILE [-o SPEC]`.

Their expressions are Python's. They are parsed and translated, and what does more than compute is refused.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import sys
import tempfile
import time
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy

from ndtune import _expressions
from ndtune._binary import NdtuneError

_AXES = ("X", "Y", "Z")
_REDUNDANT = ("$schema", "Parameters", "AccessType", "MemType", "TypeSize")  # say nothing that other keys do not say
_SETTINGS = {"nvml_mem_clock": "memory_clock", "nvml_gr_clock": "clock", "nvml_pwr_limit": "power_limit"}
_C = {"char": "int8", "short": "int16", "int": "int32", "long": "int64"}
_C |= {"u" + c: "u" + name for c, name in _C.items()} | {"half": "float16", "float": "float32", "double": "float64"}


class _Field:
    """A value of the file and its place there; null is as good as missing."""

    def __init__(self, value: Any, place: str, file: str, lost: list[str]) -> None:
        self.value, self.place, self.file, self.lost = value, place, file, lost

    def error(self, why: object) -> NdtuneError:
        return NdtuneError(f"{self.file}: {self.place + ': ' if self.place else ''}{why}")

    def keys(self, known: str, ignored: str = "", required: str = "") -> None:
        """Refuse other keys, and note those that have no meaning here."""
        if not isinstance(self.value, dict):
            raise self.error(f"expected a mapping, found {json.dumps(self.value)[:80]}")
        for key, value in self.value.items():
            if key not in known.split() + ignored.split():
                import difflib

                near = difflib.get_close_matches(key, known.split(), 1)
                raise self.error(f"the key {key} is unknown" + (f"; did you mean {near[0]}?" if near else ""))
            if key in ignored.split() and key not in _REDUNDANT and value is not None:
                self.lost.append(f"{self.at(key).place}: {json.dumps(value)[:200]}")
        for key in required.split():
            if self.value.get(key) is None:
                raise self.error(f"the key {key} is missing")

    def at(self, key: str | int) -> _Field:
        inner = self.value.get(key) if isinstance(key, str) else self.value[key]
        place = f"{self.place}[{key}]" if isinstance(key, int) else f"{self.place}.{key}".lstrip(".")
        return _Field(inner, place, self.file, self.lost)

    def items(self, single: bool = False) -> list[_Field]:
        """Return the items of a list; with single, another value is the one item."""
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            if single:
                return [self]
            raise self.error(f"expected a list, found {json.dumps(self.value)[:80]}")
        return [self.at(i) for i in range(len(self.value))]

    def text(self, *choices: str) -> str:
        if not isinstance(self.value, str) or not self.value or choices and self.value not in choices:
            wanted = " or ".join(choices) or "a text"
            raise self.error(f"expected {wanted}, found {json.dumps(self.value)[:80]}")
        return self.value

    @contextlib.contextmanager
    def blamed(self) -> Iterator[None]:
        """Name the place in errors of expressions."""
        try:
            yield
        except Exception as error:
            raise self.error(str(error) + "".join(f" ({n})" for n in getattr(error, "__notes__", ()))) from None

    def function(self, names: Mapping[str, Any]) -> _expressions.Function:
        """Return a number, or the text of a Python expression, as a function of the names."""
        if not isinstance(self.value, str | int | float):
            raise self.error(f"expected a number, a text, true or false, found {json.dumps(self.value)[:80]}")
        with self.blamed():
            return _expressions.of_text(str(self.value), names, trusted=False)

    def compute(self, names: Mapping[str, Any]) -> Any:
        """Return the value of a number or of the text of an expression."""
        function = self.function(names)
        with self.blamed():
            return function.call(names)

    def whole(self, names: Mapping[str, Any]) -> int:
        """Return a number of elements, the same for all configurations."""
        value = self.compute(names)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error("a size is a number; in it a parameter is the list of its values, as in max(filter_width)")
        if value != math.trunc(value):
            raise self.error(f"{value} is not a whole number")
        return int(value)

    def expression(self, parameters: Mapping[str, list[Any]]) -> int | str:
        """Return a number of the configuration as an expression."""
        function = self.function(parameters)
        with self.blamed():
            text = _expressions.expression(function, parameters)
        return int(text) if text.isdecimal() else text


class T1:
    """A T1 file. parameters are its values by name; remarks say what a specification cannot express.

    Raises NdtuneError, which names the file and the key, for what is wrong. The kernel is read with the specification.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise NdtuneError(f"{self.path}: {error}") from None
        self._root = _Field(content, "", str(self.path), [])
        ignored = "$schema General Search Budget BenchmarkConfig"
        self._root.keys("ConfigurationSpace KernelSpecification", ignored, "ConfigurationSpace")
        space = self._root.at("ConfigurationSpace")
        space.keys("TuningParameters Conditions", "", "TuningParameters")
        self.parameters: dict[str, list[Any]] = {}
        for field in space.at("TuningParameters").items():
            field.keys("Name Type Values", "Default", "Name Values")
            self.parameters[field.at("Name").text()] = _values(field)
        self._conditions: list[_expressions.Function] = []
        for field in space.at("Conditions").items():
            field.keys("Expression", "Parameters", "Expression")
            self._conditions.append(field.at("Expression").function(self.parameters))
        self.remarks = self._root.lost

    def restrictions(self, folder: str | os.PathLike[str]) -> list[Any]:
        """Return the conditions as restrictions of a specification; a table of one is written into the folder."""
        with self._root.at("ConfigurationSpace").at("Conditions").blamed():
            return _expressions.restrictions(self._conditions, self.parameters, Path(folder))

    def specification(self, folder: str | os.PathLike[str]) -> dict[str, Any]:
        """Return the specification; its data files are written into the folder, and named in it by absolute paths."""
        k = self._root.at("KernelSpecification")
        if k.value is None:
            raise k.error("the key is missing; without it the file has a search space only")
        k.lost = []
        k.keys(
            "Language KernelName KernelFile Arguments GlobalSizeType CompilerOptions ProblemSize GlobalSize LocalSize "
            "GridDivX GridDivY GridDivZ SharedMemory KernelTypeNames",
            "Device Profiling BenchmarkName Misc SimulationInput Stream ReferenceArguments",
            "Language KernelName KernelFile Arguments",
        )
        if k.at("Language").text() != "OpenCL":
            raise k.at("Language").error(f"the kernel is written in {k.value['Language']}; only OpenCL can be tuned")
        if k.at("SharedMemory").value:
            raise k.at("SharedMemory").error("an OpenCL kernel has no dynamic shared memory; give it a Local argument")
        if k.at("KernelTypeNames").value is not None:
            raise k.at("KernelTypeNames").error("an OpenCL kernel has no template arguments")
        options = [o.text() for o in k.at("CompilerOptions").items() if o.value != ""]
        if wrong := [o for o in options if o.startswith("-std=")]:
            raise k.at("CompilerOptions").error(f"{wrong[0]} is no option of OpenCL compilers; they have -cl-std=CL3.0")
        file = self._beside(k.at("KernelFile"))
        made: dict[str, Any] = {"kernel": {"name": k.at("KernelName").text(), "file": str(file)}}
        if options:
            made["kernel"]["build_options"] = [
                "-I" + str((self.path.parent / o[2:].strip()).absolute()) if o.startswith("-I") else o for o in options
            ]
        made |= self._sizes(k)
        made["arguments"] = self._arguments(k, made["problem_size"], Path(folder).absolute())
        made["parameters"] = self.parameters
        if restrictions := self.restrictions(folder):
            made["restrictions"] = restrictions
        self.remarks = self._root.lost + k.lost
        settings = {name: parameter for parameter, name in _SETTINGS.items() if parameter in self.parameters}
        return made | ({"measure": {"settings": settings}} if settings else {})

    def _beside(self, field: _Field) -> Path:
        path = (self.path.parent / field.text()).absolute()
        if not path.is_file():
            raise field.error(f"there is no file {path}")
        return path

    def _sizes(self, k: _Field) -> dict[str, Any]:
        """Return the NDRange: a problem size and divisors (Kernel Tuner), or a global size (KTT)."""
        sizes: dict[str, Any] = {}
        blocks = self._extent(k.at("LocalSize"))
        divisors = {axis: k.at(f"GridDiv{axis}") for axis in _AXES}
        if k.at("ProblemSize").value is not None:
            sizes["problem_size"] = [s.expression(self.parameters) for s in k.at("ProblemSize").items(single=True)]
            grid = {
                axis.lower(): [d.expression(self.parameters) for d in of.items(single=True)]
                for axis, of in divisors.items()
                if of.value  # an empty list is the default
            }
        else:
            if k.at("GlobalSize").value is None:
                raise k.at("ProblemSize").error("the key is missing: give ProblemSize or GlobalSize")
            if wrong := [d for d in divisors.values() if d.value is not None]:
                raise wrong[0].error("it divides a ProblemSize, which is missing; GlobalSize is divided by LocalSize")
            given = self._extent(k.at("GlobalSize"))
            sizes["problem_size"] = [given.get(axis, 1) for axis in "xyz"]
            counted = k.value.get("GlobalSizeType", "OpenCL") != "OpenCL"  # in work-groups
            grid = {axis: [] for axis in "xyz"} if counted else {}
        if k.at("GlobalSizeType").value is not None:
            k.at("GlobalSizeType").text("OpenCL", "CUDA", "Vulkan")
        return sizes | ({"block_size": blocks} if blocks else {}) | ({"grid_div": grid} if grid else {})

    def _extent(self, field: _Field) -> dict[str, int | str]:
        if field.value is None:
            return {}
        field.keys("X Y Z", "", "X")
        given = {axis: field.at(axis) for axis in _AXES}
        return {axis.lower(): s.expression(self.parameters) for axis, s in given.items() if s.value is not None}

    def _arguments(self, k: _Field, sizes: Sequence[int | str], folder: Path) -> list[dict[str, Any]]:
        constant = [s for s in sizes if isinstance(s, int)]
        names = {**self.parameters, "ProblemSize": constant if len(constant) == len(sizes) else []}
        return [self._argument(f, i, names, folder) for i, f in enumerate(k.at("Arguments").items())]

    def _argument(self, f: _Field, index: int, names: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        known = "Name Type MemoryType Size FillType FillValue DataSource Output"
        f.keys(known, "AccessType MemType TypeSize RandomSeed", "Type MemoryType")
        kind, memory = f.at("Type").text(), f.at("MemoryType").text("Scalar", "Vector", "Local")
        value, fill = f.at("FillValue"), f.at("FillType")
        if kind == "custom":
            raise f.at("Type").error("a custom type is not supported; give that of its numbers, and as many of them")
        if kind == "bool":
            raise f.at("Type").error("an OpenCL kernel has no arguments of bools; give uint8")
        kind = "float32x16" if kind == "float16" else kind  # a vector, in T1 files
        if fill.value is not None:
            fill.text("Constant", "Random", "BinaryRaw", "Uninitialized")
        made: dict[str, Any] = {"name": f.value.get("Name") or f"argument {index + 1}", "type": kind}
        if memory == "Scalar":
            if fill.value not in (None, "Constant"):
                raise fill.error(f"a scalar is constant; the fill {fill.value} is one of vectors")
            if value.value is None:
                raise f.error("the scalar has no FillValue")
            return made | {"value": value.compute({})}
        if f.value.get("Size") is None and not (memory == "Vector" and fill.value == "BinaryRaw"):
            raise f.error("the size is missing; give Size, the number of elements")
        if memory == "Local":
            return made | {"local_size": f.at("Size").whole(names)}
        if f.value.get("Size") is not None:
            made["size"] = f.at("Size").whole(names)
        number = 0 if value.value is None else value.compute({})
        if not isinstance(number, int | float):
            raise value.error("expected a number")
        if fill.value == "Constant":
            made["fill"] = {"constant": number}
        elif fill.value == "Random":
            made["fill"] = {"random": [min(0, number), max(0, number)]} if number else "random"
        elif fill.value == "BinaryRaw":
            array = _raw(f.at("DataSource"), self._beside(f.at("DataSource")), kind)
            made["size"] = made.get("size", len(array))
            path = folder / f"{self.path.stem}.{index + 1}.npy"
            numpy.save(path, array)
            made["fill"] = {"file": str(path)}
        output = f.value.get("Output")
        if output not in (None, True, False):  # 1 and 0 are equal to these
            raise f.at("Output").error(f"expected true or false, found {json.dumps(output)}")
        return made | ({"output": True} if output else {})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the specification to a file, and its data beside it."""
        folder = Path(path).absolute().parent
        Path(path).write_text(self.yaml(folder), encoding="utf-8")

    def yaml(self, folder: str | os.PathLike[str]) -> str:
        """Return the text of the specification for a file in the folder, into which its data are written."""
        content = self.specification(folder)
        lines = [f"# Converted from {self.path.name}."]
        for key, value in _relative(content, Path(folder).absolute()).items():
            if key in ("kernel", "parameters"):
                lines += [f"{key}:", *(f"  {_flow(k)}: {_flow(v)}" for k, v in value.items())]
            elif key in ("arguments", "restrictions"):
                lines += [f"{key}:", *(f"  - {_flow(v)}" for v in value)]
            else:
                lines.append(f"{key}: {_flow(value)}")
        lines.append("# The output is not verified: a T1 file says nothing of it. Give verify, docs/spec.md#verify.")
        return "\n".join([*lines, *(f"# not converted: {r}" for r in self.remarks)]) + "\n"

    def tune(self, *options: str, quiet: bool = False) -> tuple[Any, dict[str, Any]]:
        """Tune the kernel; return results and environment as tune_kernel does. options are those of `ndtune tune`."""
        from ndtune._outcome import Task
        from ndtune._search import Search
        from ndtune.strategies import Plan

        names = list(self.parameters)
        with tempfile.TemporaryDirectory(prefix="ndtune-", ignore_cleanup_errors=True) as folder:
            specification: Any = types.SimpleNamespace(  # its data are written, and Python has no part in the search
                content={"measure": {}} | self.specification(folder),
                tune_params=self.parameters,
                names=names,
                arguments=[],
                handlers={},
                configuration=dict,
                values=lambda c: tuple(c[n] for n in names),
                order=lambda c: tuple(self.parameters[n].index(c[n]) for n in names),
                restrict=lambda *_: None,
                write=lambda *_: None,
            )
            arguments = ["--prior", "none", *options]
            plan = Plan("auto", "auto")
            task = Task(time.perf_counter(), specification, plan, {"time": False}, quiet=quiet, arguments=arguments)
            search = Search(task, specification)
            search.run()
        return search.results, search.env


def _values(field: _Field) -> list[Any]:
    """Return the values of a parameter, converted to its type."""
    kind = field.at("Type").text("int", "uint", "float", "bool", "string") if field.at("Type").value is not None else ""
    values = field.at("Values")
    if isinstance(values.value, list):
        given = [v.value for v in values.items()]
        if wrong := next((v for v in values.items() if not isinstance(v.value, str | int | float)), None):
            raise wrong.error(f"expected a number, a text, true or false, found {json.dumps(wrong.value)}")
    else:
        computed = values.compute({})
        given = list(computed) if isinstance(computed, list | tuple | range | set) else [computed]
    made: list[Any] = []
    for i, value in enumerate(given):
        number = not isinstance(value, bool) and isinstance(value, int | float)
        whole = isinstance(value, bool) or number and value == math.trunc(value)
        if kind in ("int", "uint") and whole and (kind == "int" or value >= 0):
            made.append(int(value))
        elif kind == "float" and number:
            made.append(float(value))
        elif kind == "bool" and whole and value in (0, 1):
            made.append(bool(value))
        elif kind == "string" and isinstance(value, str) or not kind and isinstance(value, bool | int | float | str):
            made.append(value)
        else:
            raise values.error(f"value {i + 1}: {value!r} is not of the type {kind or 'of a parameter'}")
        if made[-1] in made[:-1]:
            raise values.error(f"the value {value!r} stands twice")
    return made


def _raw(field: _Field, path: Path, kind: str) -> numpy.ndarray:
    """Return the numbers of a raw file, little-endian: of a vector type, a row for each element."""
    match = re.fullmatch(r"(u?int(?:8|16|32|64)|float(?:16|32|64))(?:x(\d+))?", kind)
    match = match or re.fullmatch(r"([a-z]+)(\d*)", kind)
    if not match or match[1] not in [*_C, *_C.values()]:
        raise field.error(f"unknown type {kind}")
    lanes = int(match[2] or 1)
    numbers = numpy.dtype(_C.get(match[1], match[1])).newbyteorder("<")
    width = 4 if lanes == 3 else lanes
    if path.stat().st_size % (numbers.itemsize * width):
        raise field.error(f"{path} has {path.stat().st_size} bytes, which are no whole number of elements of {kind}")
    array = numpy.fromfile(path, numbers)
    return array if lanes == 1 else array.reshape(-1, width)


def _relative(value: Any, folder: Path) -> Any:
    """Return a value of a specification with paths relative to its folder."""
    if isinstance(value, dict):
        return {k: _relative(v, folder) for k, v in value.items()}
    if isinstance(value, list):
        return [_relative(v, folder) for v in value]
    option, path = ("-I", value[2:]) if isinstance(value, str) and value.startswith("-I") else ("", value)
    if isinstance(path, str) and os.path.isabs(path):
        return option + Path(os.path.relpath(path, folder)).as_posix()
    return value


def _flow(value: Any) -> str:
    """Return a value in YAML, on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z_.]([\w./ *+<>()=%-]*[\w)])?", value):
        if value not in ("true", "false", "null"):
            return value
    return json.dumps(value, ensure_ascii=False)


def from_t1(path: str | os.PathLike[str]) -> T1:
    """Read a T1 file: its `specification` and `save` make a specification of it, and `tune` tunes its kernel."""
    return T1(path)


def main(arguments: list[str]) -> int:
    """Write the specification of a T1 file, to standard output or to a file, beside which its data are written."""
    import argparse

    parser = argparse.ArgumentParser(prog="python -m ndtune t1", description="Make a specification of a T1 file.")
    parser.add_argument("file", metavar="FILE", help="a T1 file (JSON)")
    parser.add_argument("-o", metavar="SPEC", help="the specification to write, YAML; default: standard output")
    options = parser.parse_args(arguments)
    try:
        made = T1(options.file)
        if options.o:
            made.save(options.o)
        else:
            sys.stdout.write(made.yaml("."))
    except (NdtuneError, OSError) as error:
        print(f"ndtune: {error}", file=sys.stderr)
        return 2
    return 0
