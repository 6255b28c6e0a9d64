"""T1 files, the JSON format of the auto-tuning hub, as specifications: `python -m ndtune t1 FILE [-o SPEC]`.

Their expressions are Python's. They are parsed and translated; nothing of a file is executed.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy

from ndtune import _expressions
from ndtune._binary import NdtuneError

_IGNORED = "$schema Parameters AccessType MemType TypeSize Default RandomSeed".split()
_REMARKED = "General Search Budget BenchmarkConfig Device Profiling BenchmarkName Misc SimulationInput Stream".split()
_SETTINGS = {"nvml_mem_clock": "memory_clock", "nvml_gr_clock": "clock", "nvml_pwr_limit": "power_limit"}
_C = {"char": "int8", "short": "int16", "int": "int32", "long": "int64"}
_C |= {"u" + c: "u" + name for c, name in _C.items()} | {"half": "float16", "float": "float32", "double": "float64"}


class _Field:
    """A value of the file and its place there; a key that is missing has the value null."""

    def __init__(self, value: Any, place: str) -> None:
        self.value, self.place = value, place

    def __getitem__(self, key: str) -> _Field:
        return _Field(self.value.get(key), f"{self.place}{': ' if self.place.endswith('.json') else '.'}{key}")

    def __iter__(self) -> Iterator[_Field]:
        """Yield the items of a list: none of null, and another value as the one item."""
        if not isinstance(self.value, list):
            yield from [] if self.value is None else [self]
            return
        yield from (_Field(value, f"{self.place}[{i}]") for i, value in enumerate(self.value))

    def refuse(self, why: Any, wrong: Any = True) -> None:
        """Raise an error that names the place, if something is wrong."""
        if wrong:
            raise NdtuneError(f"{self.place}: {why}" + "".join(f" ({n})" for n in getattr(why, "__notes__", ())))

    def keys(self, known: str, required: str = "") -> _Field:
        """Refuse unknown and missing keys."""
        self.refuse(f"expected a mapping, found {json.dumps(self.value)[:80]}", not isinstance(self.value, dict))
        for key in self.value:
            near = difflib.get_close_matches(key, known.split(), 1)
            why = f"the key {key} is unknown" + (f"; did you mean {near[0]}?" if near else "")
            self.refuse(why, key not in known.split() + _IGNORED + _REMARKED)
        for key in required.split():
            self.refuse(f"the key {key} is missing", self.value.get(key) is None)
        return self

    def text(self, *choices: str) -> str:
        wrong = not isinstance(self.value, str) or self.value == "" or choices and self.value not in choices
        self.refuse(f"expected {' or '.join(choices) or 'a text'}, found {json.dumps(self.value)[:80]}", wrong)
        return str(self.value)

    def compute(self, names: Mapping[str, Any], as_function: bool = False) -> Any:
        """Return the value of a number, or of the text of an expression, or the function that it is of the names."""
        known = isinstance(self.value, str | int | float)
        self.refuse(f"expected a number, a text, true or false, found {json.dumps(self.value)[:80]}", not known)
        try:
            function = _expressions.of_text(str(self.value), names, trusted=False)
            return function if as_function else function.call(names)
        except Exception as error:
            self.refuse(error)

    def expression(self, parameters: Mapping[str, list[Any]]) -> int | str:
        """Return a number of the configuration as an expression."""
        try:
            text = _expressions.expression(self.compute(parameters, as_function=True), parameters)
            return int(text) if text.isdecimal() else text
        except Exception as error:
            self.refuse(error)
            raise

    def number(self, names: Mapping[str, Any], default: Any = None) -> Any:
        """Return the value of an expression, a number; a whole one as an integer."""
        value = default if self.value is None else self.compute(names)
        why = "expected a number; in a size a parameter is the list of its values, as in max(filter_width)"
        self.refuse(why, isinstance(value, bool) or not isinstance(value, int | float))
        return value


class T1:
    """A T1 file. parameters are its values by name.

    Raises NdtuneError, which names the file and the key, for what is wrong. The kernel is read with the specification.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise NdtuneError(f"{self.path}: {error}") from None
        keys = "ConfigurationSpace KernelSpecification"
        self._root = _Field(content, str(self.path)).keys(keys, "ConfigurationSpace")
        space = self._root["ConfigurationSpace"].keys("TuningParameters Conditions", "TuningParameters")
        self.parameters: dict[str, list[Any]] = {}
        for field in space["TuningParameters"]:
            field.keys("Name Type Values", "Name Values")
            self.parameters[field["Name"].text()] = _values(field)
        fields = [f.keys("Expression", "Expression")["Expression"] for f in space["Conditions"]]
        self._conditions = [field.compute(self.parameters, as_function=True) for field in fields]

    def restrictions(self, folder: str | os.PathLike[str]) -> list[Any]:
        """Return the conditions as restrictions of a specification; a table of one is written into the folder."""
        try:
            return _expressions.restrictions(self._conditions, self.parameters, Path(folder))
        except Exception as error:
            self._root["ConfigurationSpace"]["Conditions"].refuse(error)
            raise

    def specification(self, folder: str | os.PathLike[str]) -> dict[str, Any]:
        """Return the specification; its data files are written into the folder, and named in it by absolute paths."""
        k = self._root["KernelSpecification"]
        k.refuse("the key is missing; without it the file has a search space only", k.value is None)
        k.keys(
            "Language KernelName KernelFile Arguments GlobalSizeType CompilerOptions ProblemSize GlobalSize LocalSize "
            "GridDivX GridDivY GridDivZ SharedMemory KernelTypeNames ReferenceArguments",
            "Language KernelName KernelFile Arguments",
        )
        language = k["Language"].text()
        k["Language"].refuse(f"the kernel is written in {language}; only OpenCL can be tuned", language != "OpenCL")
        shared = k["SharedMemory"]
        shared.refuse("an OpenCL kernel has no dynamic shared memory; give it a Local argument", shared.value)
        k["KernelTypeNames"].refuse("an OpenCL kernel has no template arguments", k["KernelTypeNames"].value)
        options = [o.text() for o in k["CompilerOptions"] if o.value != ""]
        for o in options:
            why = f"{o} is no option of OpenCL compilers; they have -cl-std=CL3.0"
            k["CompilerOptions"].refuse(why, o.startswith("-std="))
        base = self.path.parent.absolute()
        options = [re.sub(r"^-I\s*(.+)", lambda m: f"-I{base / m[1]}", o) for o in options]
        made: dict[str, Any] = {"kernel": {"name": k["KernelName"].text(), "file": str(self._beside(k["KernelFile"]))}}
        made["kernel"] |= {"build_options": options} if options else {}
        made |= self._sizes(k)
        names = {**self.parameters, "ProblemSize": made["problem_size"]}
        made["arguments"] = [self._argument(f, i, names, Path(folder).absolute()) for i, f in enumerate(k["Arguments"])]
        made["parameters"] = self.parameters
        if restrictions := self.restrictions(folder):
            made["restrictions"] = restrictions
        settings = {name: parameter for parameter, name in _SETTINGS.items() if parameter in self.parameters}
        return made | ({"measure": {"settings": settings}} if settings else {})

    def _beside(self, field: _Field) -> Path:
        path = (self.path.parent / field.text()).absolute()
        field.refuse(f"there is no file {path}", not path.is_file())
        return path

    def _sizes(self, k: _Field) -> dict[str, Any]:
        """Return the NDRange: a problem size and divisors (Kernel Tuner), or a global size (KTT)."""

        def extent(field: _Field) -> dict[str, Any]:
            given = {} if field.value is None else field.keys("X Y Z", "X").value
            return {axis.lower(): field[axis].expression(self.parameters) for axis in "XYZ" if axis in given}

        divisors = {axis: k["GridDiv" + axis.upper()] for axis in "xyz"}
        made: dict[str, Any] = {"problem_size": [size.expression(self.parameters) for size in k["ProblemSize"]]}
        grid = {axis: [d.expression(self.parameters) for d in of] for axis, of in divisors.items() if of.value}
        if k["ProblemSize"].value is None:
            k["ProblemSize"].refuse("the key is missing: give ProblemSize or GlobalSize", k["GlobalSize"].value is None)
            for field in divisors.values():
                why = "it divides a ProblemSize, which is missing; GlobalSize is divided by LocalSize"
                field.refuse(why, field.value is not None)
            made["problem_size"] = [extent(k["GlobalSize"]).get(axis, 1) for axis in "xyz"]
            if k["GlobalSizeType"].value and k["GlobalSizeType"].text("OpenCL", "CUDA", "Vulkan") != "OpenCL":
                grid = {axis: [] for axis in "xyz"}  # it counts work-groups
        made |= {"block_size": extent(k["LocalSize"]), "grid_div": grid}
        return {key: value for key, value in made.items() if value}

    def _argument(self, f: _Field, index: int, names: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        f.keys("Name Type MemoryType Size FillType FillValue DataSource Output", "Type MemoryType")
        kind, memory = f["Type"].text(), f["MemoryType"].text("Scalar", "Vector", "Local")
        f["Type"].refuse("a custom type is not supported; give that of its numbers, as many of them", kind == "custom")
        f["Type"].refuse("an OpenCL kernel has no arguments of bools; give uint8", kind == "bool")
        fills = ("Constant",) if memory == "Scalar" else ("Constant", "Random", "BinaryRaw", "Uninitialized")
        fill = f["FillType"].text(*fills) if f["FillType"].value is not None else ""
        made: dict[str, Any] = {"name": f.value.get("Name") or f"argument {index + 1}"}
        made["type"] = "float32x16" if kind == "float16" else kind  # a vector, in T1 files
        if memory == "Scalar":
            f.refuse("the scalar has no FillValue", f["FillValue"].value is None)
            return made | {"value": f["FillValue"].compute({})}
        if fill != "BinaryRaw" or f["Size"].value is not None:
            size = f["Size"].number(names)
            f["Size"].refuse(f"{size} is not a whole number", size != int(size))
            made["local_size" if memory == "Local" else "size"] = int(size)
        number = f["FillValue"].number({}, 0)
        if fill == "Constant" and memory == "Vector":
            made["fill"] = {"constant": number}
        elif fill == "Random":
            made["fill"] = {"random": [min(0, number), max(0, number)]} if number else "random"
        elif fill == "BinaryRaw":
            path = folder / f"{self.path.stem}.{index + 1}.npy"
            array = _raw(f, self._beside(f["DataSource"]), made["type"])
            numpy.save(path, array)
            made |= {"size": made.get("size", len(array)), "fill": {"file": str(path)}}
        output = f["Output"]
        known = output.value in (None, True, False)  # 1 and 0 are equal to these
        output.refuse(f"expected true or false, found {json.dumps(output.value)}", not known)
        return made | ({"output": True} if output.value else {})

    def yaml(self, folder: str | os.PathLike[str]) -> str:
        """Return the text of the specification for a file in the folder, into which its data are written."""
        made = f"# Converted from {self.path.name}.\n"
        for key, value in self.specification(folder).items():
            if key in ("arguments", "restrictions"):
                made += f"{key}:" + "".join(f"\n  - {json.dumps(item)}" for item in value) + "\n"
            elif key == "parameters":
                made += f"{key}:" + "".join(f"\n  {n}: {json.dumps(v)}" for n, v in value.items()) + "\n"
            else:
                made += f"{key}: {json.dumps(value)}\n"
        base = Path(folder).absolute()
        made = re.sub(r'"(-I)?(/[^"]+)"', lambda m: f'"{m[1] or ""}{os.path.relpath(m[2], base)}"', made)
        made += "# The output is not verified: a T1 file says nothing of it. Give verify, docs/spec.md#verify.\n"
        for field in (self._root, self._root["KernelSpecification"]):
            for lost in (field[key] for key in [*_REMARKED, "ReferenceArguments"]):
                if lost.value:
                    made += f"# not converted: {lost.place.removeprefix(f'{self.path}: ')}: {json.dumps(lost.value)}\n"
        return made

    def tune(self, *options: str, quiet: bool = False) -> tuple[Any, dict[str, Any]]:
        """Tune the kernel; return results and environment as tune_kernel does. options are those of `ndtune tune`."""
        from ndtune._outcome import Task
        from ndtune._search import Search
        from ndtune._space import Space
        from ndtune.strategies import Plan

        with tempfile.TemporaryDirectory(prefix="ndtune-", ignore_cleanup_errors=True) as folder:
            specification: Any = Space(self.parameters)
            specification.content = {"measure": {}} | self.specification(folder)
            specification.arguments, specification.handlers = [], {}
            specification.restrict = specification.write = lambda *_: None  # the data are written
            plan, flags = Plan("auto", "auto"), ["--prior", "none", *options]
            task = Task(space=specification, plan=plan, objectives={"time": False}, quiet=quiet, flags=flags)
            task.begun = time.perf_counter()
            search = Search(task, specification)
            search.run()
        return search.results, search.env


def _values(field: _Field) -> list[Any]:
    """Return the values of a parameter, converted to its type."""
    kind = field["Type"].text("int", "uint", "float", "bool", "string") if field["Type"].value is not None else ""
    values = field["Values"]
    for item in values if isinstance(values.value, list) else ():
        known = isinstance(item.value, str | int | float)
        item.refuse(f"expected a number, a text, true or false, found {json.dumps(item.value)}", not known)
    given = values.value if isinstance(values.value, list) else values.compute({})
    made: list[Any] = []
    for i, value in enumerate(given if isinstance(given, list | tuple | range) else [given]):
        number = isinstance(value, int | float)
        whole = number and value == int(value)
        fits = {
            "int": whole, "uint": whole and value >= 0, "float": number and not isinstance(value, bool),
            "bool": whole and value in (0, 1), "string": isinstance(value, str), "": number or isinstance(value, str),
        }  # fmt: skip
        values.refuse(f"value {i + 1}: {value!r} is not of the type {kind or 'of a parameter'}", not fits[kind])
        made.append({"int": int, "uint": int, "float": float, "bool": bool}.get(kind, lambda v: v)(value))
        values.refuse(f"the value {value!r} stands twice", made[-1] in made[:-1])
    return made


def _raw(field: _Field, path: Path, kind: str) -> numpy.ndarray:
    """Return the numbers of a raw file, little-endian: of a vector type, a row for each element."""
    match = re.fullmatch(r"(u?int(?:8|16|32|64)|float(?:16|32|64))(?:x(\d+))?", kind)
    match = match or re.fullmatch(r"([a-z]+)(\d*)", kind)
    if not match or match[1] not in [*_C, *_C.values()]:
        field["Type"].refuse(f"unknown type {kind}")
        raise AssertionError
    lanes = int(match[2] or 1)
    shape = (-1,) if lanes == 1 else (-1, 4 if lanes == 3 else lanes)
    array = numpy.fromfile(path, numpy.dtype(_C.get(match[1], match[1])).newbyteorder("<"))
    wrong = array.nbytes != path.stat().st_size or len(array) % abs(shape[-1])
    why = f"{path} has {path.stat().st_size} bytes, which are no whole number of elements of {kind}"
    field["DataSource"].refuse(why, wrong)
    return array.reshape(shape)


def from_t1(path: str | os.PathLike[str]) -> T1:
    """Read a T1 file: `specification` and `yaml` make a specification of it, and `tune` tunes its kernel."""
    return T1(path)


def main(arguments: list[str]) -> int:
    """Write the specification of a T1 file, to standard output or to a file, beside which its data are written."""
    parser = argparse.ArgumentParser(prog="python -m ndtune t1", description="Make a specification of a T1 file.")
    parser.add_argument("file", metavar="FILE", help="a T1 file (JSON)")
    parser.add_argument("-o", metavar="SPEC", help="the specification to write, YAML; default: standard output")
    options = parser.parse_args(arguments)
    try:
        text = T1(options.file).yaml(Path(options.o or ".").absolute().parent if options.o else ".")
        if options.o:
            Path(options.o).write_text(text, encoding="utf-8")
        else:
            sys.stdout.write(text)
    except (NdtuneError, OSError) as error:
        print(f"ndtune: {error}", file=sys.stderr)
        return 2
    return 0
