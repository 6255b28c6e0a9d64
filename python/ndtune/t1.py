"""T1 files, the JSON format of the auto-tuning hub, as specifications: `python -m ndtune t1 FILE [-o SPEC]`.

Their expressions are Python's. They are checked and translated; what does more than compute is refused.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import importlib.util
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
from ndtune.file_utils import get_t4_metadata, get_t4_results
from ndtune.searchspace import Searchspace
from ndtune.strategies.wrapper import OptAlgWrapper

_IGNORED = "$schema Parameters AccessType MemType TypeSize Default RandomSeed".split()
_REMARKED = "General Search Budget BenchmarkConfig Device Profiling BenchmarkName Misc SimulationInput Stream".split()
_SETTINGS = {"nvml_mem_clock": "memory_clock", "nvml_gr_clock": "clock", "nvml_pwr_limit": "power_limit"}
_C = {"char": "int8", "short": "int16", "int": "int32", "long": "int64"}
_C |= {"u" + c: "u" + name for c, name in _C.items()} | {"half": "float16", "float": "float32", "double": "float64"}
_REFUSED = {"custom": "give the type of its numbers, and as many of them", "bool": "give uint8"}


class _Field:
    """A value of the file and its place there; a key that is missing has the value null."""

    def __init__(self, value: Any, place: str) -> None:
        self.value, self.place = value, place

    def __getitem__(self, key: str) -> _Field:
        return _Field(self.value.get(key), f"{self.place}{': ' if self.place.endswith('.json') else '.'}{key}")

    def __iter__(self) -> Iterator[_Field]:
        """Yield the items of a list: none of null, and another value as the one item."""
        if isinstance(self.value, list):
            yield from (_Field(value, f"{self.place}[{i}]") for i, value in enumerate(self.value))
        elif self.value is not None:
            yield self

    def refuse(self, why: Any, wrong: Any = True) -> None:
        """Raise an error that names the place, if something is wrong."""
        if wrong:
            raise NdtuneError(f"{self.place}: {why}" + "".join(f" ({n})" for n in getattr(why, "__notes__", ())))

    def expect(self, what: str, right: Any) -> None:
        self.refuse(f"expected {what}, found {json.dumps(self.value)[:80]}", not right)

    @contextlib.contextmanager
    def blamed(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.refuse(error)

    def keys(self, known: str, required: str = "") -> _Field:
        """Refuse unknown and missing keys."""
        self.expect("a mapping", isinstance(self.value, dict))
        for key in self.value:
            near = "".join(f"; did you mean {n}?" for n in difflib.get_close_matches(key, known.split(), 1))
            self.refuse(f"the key {key} is unknown{near}", key not in known.split() + _IGNORED + _REMARKED)
        for key in required.split():
            self.refuse(f"the key {key} is missing", self.value.get(key) is None)
        return self

    def text(self, *choices: str) -> str:
        right = isinstance(self.value, str) and self.value and (not choices or self.value in choices)
        self.expect(" or ".join(choices) or "a text", right)
        return str(self.value)

    def function(self, names: Mapping[str, Any]) -> Any:
        """Return a number, or the text of an expression, as a function of the names."""
        self.expect("a number, a text, true or false", isinstance(self.value, str | int | float))
        with self.blamed():
            return _expressions.of_text(str(self.value), names, trusted=False)

    def compute(self, names: Mapping[str, Any], number: bool = True) -> Any:
        function = self.function(names)
        with self.blamed():
            value = function.call(names)
        why = "expected a number; in a size a parameter is the list of its values, as in max(filter_width)"
        self.refuse(why, number and (isinstance(value, bool) or not isinstance(value, int | float)))
        return value

    def expression(self, parameters: Mapping[str, list[Any]]) -> Any:
        """Return a number of the configuration as an expression."""
        function = self.function(parameters)
        with self.blamed():
            text = _expressions.expression(function, parameters)
        return int(text) if text.isdecimal() else text


class T1:
    """A T1 file. parameters are its values by name.

    Raises NdtuneError, which names the file and the key, for what is wrong. The kernel is read with the specification.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
        except OSError as error:
            raise NdtuneError(f"{self.path}: {error.strerror}") from None
        except ValueError as error:
            raise NdtuneError(f"{self.path}: this is no JSON file: {error}") from None
        self._root = _Field(content, str(self.path))
        self._root.keys("ConfigurationSpace KernelSpecification", "ConfigurationSpace")
        space = self._root["ConfigurationSpace"].keys("TuningParameters Conditions", "TuningParameters")
        self.parameters: dict[str, list[Any]] = {}
        for field in space["TuningParameters"]:
            field.keys("Name Type Values", "Name Values")
            self.parameters[field["Name"].text()] = _values(field)
        fields = [f.keys("Expression", "Expression")["Expression"] for f in space["Conditions"]]
        self._conditions = [field.function(self.parameters) for field in fields]

    def restrictions(self, folder: str | os.PathLike[str]) -> list[Any]:
        """Return the conditions as restrictions of a specification; a table of one is written into the folder."""
        with self._root["ConfigurationSpace"]["Conditions"].blamed():
            return _expressions.restrictions(self._conditions, self.parameters, Path(folder))

    def specification(self, folder: str | os.PathLike[str]) -> dict[str, Any]:
        """Return the specification; its data files are written into the folder, and named in it by absolute paths."""
        k = self._root["KernelSpecification"]
        k.refuse("the key is missing; without it the file has a search space only", k.value is None)
        k.keys(
            "Language KernelName KernelFile Arguments GlobalSizeType CompilerOptions ProblemSize GlobalSize LocalSize "
            "GridDivX GridDivY GridDivZ SharedMemory KernelTypeNames ReferenceArguments",
            "Language KernelName KernelFile Arguments",
        )
        language, shared, of_template = k["Language"].text(), k["SharedMemory"], k["KernelTypeNames"]
        why = f"the kernel is written in {language}; OpenCL and CUDA can be tuned"
        k["Language"].refuse(why, language not in ("OpenCL", "CUDA"))
        in_opencl = language == "OpenCL"
        why = "an OpenCL kernel has no dynamic shared memory; give it a Local argument"
        shared.refuse(why, in_opencl and shared.value)
        of_template.refuse("an OpenCL kernel has no template arguments", in_opencl and of_template.value)
        base, options = self.path.parent.absolute(), [o.text() for o in k["CompilerOptions"] if o.value != ""]
        for o in options:
            why = f"{o} is no option of OpenCL compilers; they have -cl-std=CL3.0"
            k["CompilerOptions"].refuse(why, in_opencl and o.startswith("-std="))
        made: dict[str, Any] = {"kernel": {"name": k["KernelName"].text(), "file": self._beside(k["KernelFile"])}}
        if options:
            made["kernel"]["build_options"] = [re.sub(r"^-I\s*(.+)", lambda m: f"-I{base / m[1]}", o) for o in options]
        made |= self._sizes(k)
        names = {**self.parameters, "ProblemSize": made["problem_size"]}
        made["arguments"] = [self._argument(f, i, names, Path(folder).absolute()) for i, f in enumerate(k["Arguments"])]
        if not in_opencl:
            made["kernel"]["language"] = "cuda"
            words = [re.split(r"(\w+)", name.text()) for name in of_template]
            filled = ["".join(f"{{{w}}}" if w in self.parameters else w for w in text) for text in words]
            made["kernel"]["name"] += f"<{', '.join(filled)}>" if filled else ""
            for i, field in enumerate(k["Arguments"]):
                if field["MemType"].value == "Constant":  # a variable in constant memory, besides the argument
                    symbol = {key: v for key, v in made["arguments"][i].items() if key != "output"} | {"symbol": True}
                    made["arguments"].append(symbol)
                    made["arguments"][i]["name"] = f"argument {i + 1}"
            if shared.value:
                local = {"name": "shared memory", "type": "uint8", "local_size": shared.expression(self.parameters)}
                made["arguments"].append(local)
        made |= {"parameters": self.parameters, "restrictions": self.restrictions(folder)}
        settings = {name: parameter for parameter, name in _SETTINGS.items() if parameter in self.parameters}
        made["measure"] = {"settings": settings} if settings else {}
        return {key: value for key, value in made.items() if value}

    def _beside(self, field: _Field) -> str:
        path = (self.path.parent / field.text()).absolute()
        field.refuse(f"there is no file {path}", not path.is_file())
        return str(path)

    def _sizes(self, k: _Field) -> dict[str, Any]:
        """Return the NDRange: a problem size and divisors (Kernel Tuner), or a global size (KTT)."""

        def extent(field: _Field) -> dict[str, Any]:
            given = {} if field.value is None else field.keys("X Y Z", "X").value
            return {axis.lower(): field[axis].expression(self.parameters) for axis in "XYZ" if axis in given}

        divisors = {axis: k["GridDiv" + axis.upper()] for axis in "xyz"}
        sizes = [size.expression(self.parameters) for size in k["ProblemSize"]]
        grid = {axis: [d.expression(self.parameters) for d in of] for axis, of in divisors.items() if of.value}
        if not sizes:
            k["ProblemSize"].refuse("the key is missing: give ProblemSize or GlobalSize", k["GlobalSize"].value is None)
            for field in divisors.values():
                why = "it divides a ProblemSize, which is missing; GlobalSize is divided by LocalSize"
                field.refuse(why, field.value is not None)
            sizes = [extent(k["GlobalSize"]).get(axis, 1) for axis in "xyz"]
            if k["GlobalSizeType"].value and k["GlobalSizeType"].text("OpenCL", "CUDA", "Vulkan") != "OpenCL":
                grid = {axis: [] for axis in "xyz"}  # it counts work-groups
        return {"problem_size": sizes, "block_size": extent(k["LocalSize"]), "grid_div": grid}

    def _argument(self, f: _Field, index: int, names: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        f.keys("Name Type MemoryType Size FillType FillValue DataSource Output", "Type MemoryType")
        kind, memory = f["Type"].text(), f["MemoryType"].text("Scalar", "Vector", "Local")
        f["Type"].refuse(f"a {kind} type is not supported; {_REFUSED.get(kind)}", kind in _REFUSED)
        fills = ("Constant",) if memory == "Scalar" else ("Constant", "Random", "BinaryRaw", "Uninitialized")
        fill = f["FillType"].text(*fills) if f["FillType"].value is not None else ""
        made: dict[str, Any] = {"name": f.value.get("Name") or f"argument {index + 1}"}
        made["type"] = "float32x16" if kind == "float16" else kind  # a vector, in T1 files
        if memory == "Scalar":
            f.refuse("the scalar has no FillValue", f["FillValue"].value is None)
            return made | {"value": f["FillValue"].compute({}, number=False)}
        if fill != "BinaryRaw" or f["Size"].value is not None:
            size = f["Size"].compute(names)
            f["Size"].refuse(f"{size} is not a whole number", size != int(size))
            made["local_size" if memory == "Local" else "size"] = int(size)
        number = 0 if f["FillValue"].value is None else f["FillValue"].compute({})
        if fill == "Constant" and memory == "Vector":
            made["fill"] = {"constant": number}
        elif fill == "Random":
            made["fill"] = {"random": [min(0, number), max(0, number)]} if number else "random"
        elif fill == "BinaryRaw":
            array = _raw(f, Path(self._beside(f["DataSource"])), made["type"])
            path = folder / f"{self.path.stem}.{index + 1}.npy"
            numpy.save(path, array)
            made = {"size": len(array), "fill": {"file": str(path)}} | made
        f["Output"].expect("true or false", f["Output"].value in (None, True, False))  # 1 and 0 are equal to these
        return made | ({"output": True} if f["Output"].value else {})

    def yaml(self, folder: str | os.PathLike[str]) -> str:
        """Return the text of the specification for a file in the folder, into which its data are written."""
        made, base = f"# Converted from {self.path.name}.\n", Path(folder).absolute()
        for key, value in self.specification(folder).items():
            items = [("  - ", v) for v in value] if isinstance(value, list) else [(f"  {k}: ", value[k]) for k in value]
            made += f"{key}:\n" + "".join(f"{head}{json.dumps(item)}\n" for head, item in items)
        made = re.sub(r'(file"?: "|"-I)(/[^"]+)', lambda m: m[1] + os.path.relpath(m[2], base), made)
        made += "# The output is not verified: a T1 file says nothing of it. Give verify, docs/spec.md#verify.\n"
        remarked, kernel = [*_REMARKED, "ReferenceArguments"], self._root["KernelSpecification"]
        fields = (of[key] for of in (self._root, kernel) for key in remarked)
        lost = [f"{f.place.removeprefix(f'{self.path}: ')}: {json.dumps(f.value)}" for f in fields if f.value]
        return made + "".join(f"# not converted: {line}\n" for line in lost)

    def tune(
        self, *options: str, quiet: bool = False, strategy: Any = "auto", strategy_options: Any = None,
        objectives: Mapping[str, bool] | None = None, cache: Any = None, iterations: int = 7,
    ) -> tuple[Any, dict[str, Any]]:  # fmt: skip
        """Tune the kernel; return results and environment as tune_kernel does. options are those of `ndtune tune`."""
        from ndtune import strategies
        from ndtune._cache import Cache
        from ndtune._outcome import Task
        from ndtune._search import Search
        from ndtune._space import Space

        with tempfile.TemporaryDirectory(prefix="ndtune-", ignore_cleanup_errors=True) as folder:
            specification: Any = Space(self.parameters)
            specification.content = {"measure": {}} | self.specification(folder)
            specification.arguments, specification.handlers = [], {}
            nothing = lambda *_: None  # noqa: E731 - the data are written
            specification.restrict = specification.write = specification.add_other_language = nothing
            plan = strategies.plan(strategy, strategy_options, specification, None, lambda: self._space().size)
            more = {"strategy_options": strategy_options, "iterations": iterations, "quiet": quiet}
            more |= {"flags": ["--prior", "none", *options], "restrictions": self._conditions}
            task = Task(space=specification, plan=plan, objectives=objectives or {"time": False}, **more)
            task.cache = Cache(cache, self.name, self.problem_size, self.parameters) if cache else None
            task.begun = time.perf_counter()
            search = Search(task, specification)
            search.run()
        return search.results, search.env

    def _space(self) -> Searchspace:
        return Searchspace(self.parameters, self._conditions, None)

    def simulate(self, cache: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Search in a cache file of Kernel Tuner; options are those of tune_kernel."""
        from ndtune.interface import tune_kernel

        more = {"restrictions": self._conditions, "cache": cache, "simulation_mode": True}
        return tune_kernel(self.name, "", self.problem_size, [], self.parameters, **more | options)

    @property
    def is_cuda(self) -> bool:
        """Whether the kernel is in CUDA C."""
        return self._root["KernelSpecification"]["Language"].value == "CUDA"

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return self._root["KernelSpecification"]["KernelName"].text()

    @property
    def problem_size(self) -> Any:
        """The problem size, as the file has it."""
        return self._root["KernelSpecification"]["ProblemSize"].value

    def search(self, strategy: str | None) -> tuple[str | None, dict[str, Any]]:
        """Return a strategy, or the one that the file names with its options, and the budget of the file."""
        attributes: Any = () if strategy else self._root["Search"]["Attributes"]
        options = {a["Name"].text(): a["Value"].value for a in attributes}
        for budget in self._root["Budget"]:
            count = budget["Type"].text("ConfigurationCount", "TuningDuration") == "ConfigurationCount"
            options["max_fevals" if count else "time_limit"] = budget["BudgetValue"].value
        return strategy or self._root["Search"]["Name"].value, options


def tune_kernel_T1(
    input_filepath: str | os.PathLike[str], cache_filepath: str | os.PathLike[str] | None = None,
    objective: str = "time", objective_higher_is_better: bool = False, simulation_mode: bool = False,
    output_T4: bool = True, iterations: int = 7, device: Any = None, strategy: str | None = None,
    strategy_options: Mapping[str, Any] | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Tune the task of a T1 file, or simulate that by a cache file, with the search that the file names by default.

    The option custom_search_method_path names a Python file with a class OptAlg, whose name is the strategy. Returns
    metadata and results in the format T4, or results and environment as tune_kernel does.
    """
    task = T1(input_filepath)
    named, options = task.search(strategy)
    options |= strategy_options or {}
    search: Any = named
    if path := options.pop("custom_search_method_path", None):
        own = {k: v for k, v in options.items() if k not in ("max_fevals", "time_limit", "constraint_aware")}
        search = OptAlgWrapper(_class(Path(path), str(named))(**own))
    given: dict[str, Any] = {"strategy": search, "strategy_options": options, "quiet": True, "iterations": iterations}
    if simulation_mode:
        goal = {"objective": objective, "objective_higher_is_better": objective_higher_is_better}
        results, env = task.simulate(cache_filepath, **given | goal)
    else:
        goal = {"objectives": {objective: objective_higher_is_better}, "cache": cache_filepath}
        number = f"{'cuda' if task.is_cuda else 0}:{device}"
        place = [] if device is None else ["--device", device if isinstance(device, str) else number]
        results, env = task.tune(*place, **given | goal)
    if output_T4:
        return get_t4_metadata(), get_t4_results(results, task.parameters, objective)
    return results, env


def _class(path: Path, name: str) -> Any:
    """Return a class of a Python file."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.stem}.{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise NdtuneError(f"custom_search_method_path: there is no Python file {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise NdtuneError(f"custom_search_method_path: {path} has no class {name}")
    return getattr(module, name)


def _values(field: _Field) -> list[Any]:
    """Return the values of a parameter, converted to its type."""
    kind = field["Type"].text("int", "uint", "float", "bool", "string") if field["Type"].value is not None else ""
    values, made = field["Values"], list[Any]()
    for item in values if isinstance(values.value, list) else ():
        item.expect("a number, a text, true or false", isinstance(item.value, str | int | float))
    given = values.value if isinstance(values.value, list) else values.compute({}, number=False)
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
    numpys = re.fullmatch(r"(u?int(?:8|16|32|64)|float(?:16|32|64))(?:x(\d+))?", kind)
    name, lanes = (numpys or re.match(r"([a-z]*)(\d*)$", kind) or re.match("(.*)()", kind)).groups()  # type: ignore
    field["Type"].refuse(f"unknown type {kind}", name not in [*_C, *_C.values()])
    width = 4 if lanes == "3" else int(lanes or 1)
    array = numpy.fromfile(path, numpy.dtype(_C.get(name, name)).newbyteorder("<"))
    size = path.stat().st_size
    why = f"{path} has {size} bytes, which are no whole number of elements of {kind}"
    field["DataSource"].refuse(why, array.nbytes != size or len(array) % width)
    return array.reshape(-1, width) if lanes else array


from_t1 = T1


def main(arguments: list[str]) -> int:
    """Write the specification of a T1 file, to standard output or to a file, beside which its data are written."""
    parser = argparse.ArgumentParser(prog="python -m ndtune t1", description="Make a specification of a T1 file.")
    parser.add_argument("file", metavar="FILE", help="a T1 file (JSON)")
    parser.add_argument("-o", metavar="SPEC", help="the YAML file to write, with data beside it; default: stdout")
    options = parser.parse_args(arguments)
    try:
        text = T1(options.file).yaml(os.path.dirname(options.o or "") or ".")
        if options.o:
            Path(options.o).write_text(text, encoding="utf-8")
        else:
            sys.stdout.write(text)
    except (NdtuneError, OSError) as error:
        print(f"ndtune: {error}", file=sys.stderr)
        return 2
    return 0
