"""Small functions over results, metrics and objectives that scripts import from here."""

from __future__ import annotations

import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from inspect import signature
from typing import Any

import numpy as np

from ndtune import _caller

Result = dict[str, Any]

# What the texts of metrics, sizes and restrictions may use besides parameters.
NAMES = {"np": np, "numpy": np, "math": math, "ceil": math.ceil, "floor": math.floor}


class ErrorConfig(str):
    """What the key `__error__` of a failed result holds. Its text is the name of its class; `reason` says why."""

    reason: str = ""

    def __str__(self) -> str:
        return type(self).__name__

    __repr__ = __str__


class InvalidConfig(ErrorConfig):
    """The configuration violates a restriction, or a limit of the device."""


class CompilationFailedConfig(ErrorConfig):
    """The kernel does not compile."""


class RuntimeFailedConfig(ErrorConfig):
    """The kernel could not be launched, crashed, or took too long."""


class StopCriterionReached(Exception):
    """The budget of a search is spent."""


class Options(dict[str, Any]):
    """A dictionary whose keys are attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __deepcopy__(self, _: Any) -> Options:
        return self


class NpEncoder(json.JSONEncoder):
    """JSON with NumPy's scalars as numbers and its arrays as lists."""

    def default(self, o: Any) -> Any:
        return o.tolist() if isinstance(o, (np.generic, np.ndarray)) else super().default(o)


class TuningBudget:
    """What a search may spend: `time_limit` in seconds (or a timedelta), `max_fevals` evaluations; None is no limit."""

    def __init__(self, time_limit: float | timedelta | None = None, max_fevals: int | None = None) -> None:
        if time_limit is not None and not isinstance(time_limit, timedelta):
            time_limit = timedelta(seconds=time_limit)
        if max_fevals is not None and max_fevals <= 0:
            raise ValueError("max_fevals must be greater than zero")
        if time_limit is not None and time_limit <= timedelta(0):
            raise ValueError("time_limit must be greater than zero")
        self.time_limit, self.max_fevals = time_limit, max_fevals
        self.num_fevals, self._start = 0, time.perf_counter()

    def add_evaluations(self, n: int = 1) -> None:
        """Count n more evaluations."""
        self.num_fevals += n

    def add_time(self, seconds: float = 0, milliseconds: float = 0) -> None:
        """Count time that passed elsewhere, as in a simulated measurement."""
        self._start -= seconds + milliseconds / 1000

    def get_time_spent(self) -> timedelta:
        """The time since the beginning, with what `add_time` added."""
        return timedelta(seconds=time.perf_counter() - self._start)

    def get_time_remaining(self) -> timedelta:
        """The rest of the time, at least 0; without a limit `timedelta.max`."""
        return timedelta.max if self.time_limit is None else max(self.time_limit - self.get_time_spent(), timedelta(0))

    def get_evaluations_spent(self) -> int:
        """The number of evaluations so far."""
        return self.num_fevals

    def get_evaluations_remaining(self) -> float:
        """The rest of the evaluations, at least 0; without a limit infinity."""
        return math.inf if self.max_fevals is None else max(self.max_fevals - self.num_fevals, 0)

    def is_done(self) -> bool:
        """Whether a limit is reached."""
        return self._why() is not None

    def raise_exception_if_done(self) -> None:
        """Raise StopCriterionReached if a limit is reached."""
        if why := self._why():
            raise StopCriterionReached(why)

    def _why(self) -> str | None:
        if self.max_fevals is not None and self.num_fevals >= self.max_fevals:
            return f"max_fevals ({self.max_fevals}) reached"
        if self.time_limit is not None and self.get_time_spent() > self.time_limit:
            return "time limit exceeded"
        return None

    def get_fraction_consumed(self) -> float:
        """The spent share of the scarcer limit, 0 to 1."""
        evaluations = self.num_fevals / self.max_fevals if self.max_fevals else 0.0
        seconds = self.get_time_spent() / self.time_limit if self.time_limit else 0.0
        return min(1.0, max(evaluations, seconds))


objective_default_map = {
    **dict.fromkeys(("time", "energy", "cost", "loss"), False),
    "fitness": True,
    **{prefix + unit: True for prefix in "GT" for unit in ("FLOP/s", "B/s", "FLOPS/W", "FLOP/J")},
}


def get_objective_defaults(objective: Any, objective_higher_is_better: Any) -> tuple[Any, Any]:
    """The objective (default: time) and whether higher is better, which is known of some names; else ValueError."""
    objective = objective or "time"
    if objective_higher_is_better is None:
        if not isinstance(objective, str) or objective not in objective_default_map:
            raise ValueError(f"Please specify objective_higher_is_better for objective {objective}")
        objective_higher_is_better = objective_default_map[objective]
    return objective, objective_higher_is_better


def get_result_cost(result: Result, objectives: Sequence[str], objective_higher_is_better: Sequence[bool]) -> list[Any]:
    """The objectives of a result as costs, lower is better; those of a failure are the largest float."""
    if "__error__" in result:
        return [sys.float_info.max] * len(objectives)
    return [
        -result[o] if higher else result[o] for o, higher in zip(objectives, objective_higher_is_better, strict=True)
    ]


def get_best_config(results: Iterable[Result], objective: str, objective_higher_is_better: bool = False) -> Result:
    """The result with the best objective; failures, and objectives that are no number, come last."""
    sign = -1 if objective_higher_is_better else 1

    def cost(result: Result) -> float:
        value = None if "__error__" in result else result[objective]
        return sign * value if isinstance(value, (int, float, np.number)) and value == value else sys.float_info.max

    return min(results, key=cost)


def get_pareto_results(
    results: list[Result], objectives: list[str], objective_higher_is_better: list[bool], mark_optima: bool = True
) -> list[Result]:
    """The results that no other one dominates; `mark_optima` gives each of them `optimal: True`."""
    costs = np.array([get_result_cost(r, objectives, objective_higher_is_better) for r in results], dtype=float)
    dominated = [((costs <= c).all(axis=1) & (costs < c).any(axis=1)).any() for c in costs]
    front = [result for result, worse in zip(results, dominated, strict=True) if not worse]
    if mark_optima:
        for result in front:
            result["optimal"] = True
    return front


def get_config_string(params: Mapping[str, Any], keys: Any = None, units: Any = None) -> str:
    """`name=value` of all items, or of those in `keys`, joined by commas; floats have three decimals."""

    def text(key: str, value: Any) -> str:
        unit = units.get(key, "") if isinstance(units, dict) and not isinstance(value, ErrorConfig) else ""
        return f"{key}={value:.3f}{unit}" if isinstance(value, float) else f"{key}={value}{unit}"

    return ", ".join(text(k, v) for k, v in params.items() if not keys or k in keys)


def get_instance_string(params: Mapping[str, Any]) -> str:
    """The values of a configuration joined by underscores."""
    return "_".join(str(value) for value in params.values())


def check_metrics(metrics: Any) -> None:
    """ValueError unless metrics are None or a dictionary of expressions and functions."""
    if metrics is not None and not isinstance(metrics, dict):
        raise ValueError("metrics should be a dictionary to preserve order and support composability")
    if not all(isinstance(metric, str) or callable(metric) for metric in (metrics or {}).values()):
        raise ValueError("metric dicts values should be strings or callable")


def process_metrics(params: Result, metrics: Mapping[str, str | Callable[[Result], Any]] | None) -> Result:
    """Add the metrics to a result: each is a Python expression or a function of the result with all metrics before."""
    check_metrics(metrics)
    for name, metric in (metrics or {}).items():
        params[name] = metric(params) if callable(metric) else eval(metric, NAMES, params)
    return params


def copy_without_benchmark_timings(result: Result) -> Result:
    """A copy of a result as it counts when it is evaluated again: without any time for building and measuring."""
    return {**result, "compile_time": 0, "verification_time": 0, "benchmark_time": 0}


def looks_like_a_filename(kernel_source: Any) -> bool:
    """Whether a text is the name of a source file and not the source."""
    return (
        isinstance(kernel_source, str)
        and len(kernel_source) <= 250
        and not any(mark in kernel_source for mark in (*"();{}\\", "__global__ ", "__kernel ", "void ", "float "))
        and any(ending in kernel_source for ending in (".c", ".opencl", ".F", ".jl"))
    )


def read_file(filename: str | os.PathLike[str]) -> str:
    """The text of a file."""
    with open(filename, encoding="utf-8") as file:
        return file.read()


def write_file(filename: str | os.PathLike[str], string: str) -> None:
    """Write a text into a file."""
    with open(filename, "w", encoding="utf-8") as file:
        file.write(string)


def delete_temp_file(filename: str | os.PathLike[str]) -> None:
    """Delete a file if it exists."""
    if os.path.exists(filename):
        os.remove(filename)


class VerificationFailedConfig(RuntimeFailedConfig):
    """The kernel's output is wrong. Cache files say RuntimeFailedConfig, the class that Kernel Tuner knows."""


FAILURES = {c.__name__: c for c in (InvalidConfig, CompilationFailedConfig, RuntimeFailedConfig)}
_GRID = ("grid_size_x", "grid_size_y", "grid_size_z")
default_block_size_names = ["block_size_x", "block_size_y", "block_size_z"]

argument_types: dict[str, tuple[str, ...]] = {  # of NumPy, and what a declaration in C says for them
    **{"bool": ("bool",), "float16": ("half",), "float32": ("float",), "float64": ("double",)},
    **{"complex64": ("float2",), "complex128": ("double2",)},
}
for _word, _bits in (("char", 8), ("short", 16), ("int", 32), ("long", 64)):
    argument_types[f"int{_bits}"] = (_word, f"int{_bits}_t")
    argument_types[f"uint{_bits}"] = (f"u{_word}", f"unsigned {_word}", f"uint{_bits}_t")


def check_argument_type(dtype: str, kernel_argument: str) -> bool:
    """Whether a declaration of a kernel's argument names a type that NumPy's type `dtype` is passed as."""
    return any(name in kernel_argument for name in argument_types.get(dtype, ()))


def declarations(kernel_name: str, kernel_string: str) -> list[list[str]]:
    """The arguments of a kernel as its source declares them, for each place where the source names it with a `(`."""
    return [
        kernel_string[found.end() : kernel_string.find(")", found.end())].split(",")
        for found in re.finditer(re.escape(kernel_name) + r"[ \n\t]*\(", kernel_string)
    ]


def check_argument_list(kernel_name: str, kernel_string: str, args: Sequence[Any], lang: str | None = None) -> None:
    """Warn (UserWarning) if no declaration of the kernel fits its arguments; TypeError for what is no argument at all.

    Arguments are NumPy arrays and scalars, other arrays (is_array), Tunable, and pyopencl's LocalMemory.
    """
    faults = [_misfit(declared, args) for declared in declarations(kernel_name, kernel_string)]
    if all(faults):
        for fault in faults:
            _caller.warn(fault)


def _misfit(declared: list[str], args: Sequence[Any]) -> str:
    """The first reason why arguments do not fit a declaration, "" if they do."""
    if len(declared) != len(args):
        return f"Kernel ({len(declared)}) and host argument ({len(args)}) lists do not match in size."
    faults = []
    for i, (arg, text) in enumerate(zip(args, declared, strict=True)):
        if hasattr(arg, "param_key") or type(arg).__name__ == "LocalMemory":
            continue
        if not isinstance(arg, np.generic) and not is_array(arg):
            raise TypeError(
                f"Argument at position {i} of type: {type(arg)} should be of type np.ndarray, numpy scalar, "
                "or HIP Python DeviceArray type"
            )
        dtype = str(arg.dtype if hasattr(arg, "dtype") else on_host(arg).dtype).removeprefix("torch.")
        if (isinstance(arg, np.ndarray) and "*" not in text) or not check_argument_type(dtype, text):
            faults.append(f"Argument at position {i} of dtype: {dtype} does not match {text}.")
    return faults[0] if faults else ""


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor of torch, which need not be installed."""
    return "torch" in sys.modules and isinstance(value, sys.modules["torch"].Tensor)


def is_array(value: Any) -> bool:
    """Whether a value is an array of NumPy, torch, CuPy or another library that tells its memory as these do."""
    marks = ("__array_interface__", "__cuda_array_interface__", "__array__")
    return not isinstance(value, (np.generic, type)) and (is_tensor(value) or any(hasattr(value, m) for m in marks))


def on_device(value: Any) -> bool:
    """Whether a value is an array in the memory of a GPU: what a kernel writes is to be seen there, too."""
    return hasattr(value, "__cuda_array_interface__")


def on_host(value: Any) -> np.ndarray:
    """An array or a scalar as NumPy has it; those of a GPU (torch, CuPy, Numba, or with __array__) are copied."""
    if is_tensor(value):
        return np.asarray(value.detach().cpu())
    fetch = next((name for name in ("get", "copy_to_host") if on_device(value) and hasattr(value, name)), None)
    return np.asarray(getattr(value, fetch)() if fetch else value)


def write_back(value: Any, content: np.ndarray) -> None:
    """Give an array on a GPU another content, if its library can do so."""
    if is_tensor(value):
        value.detach().copy_(sys.modules["torch"].from_numpy(content))
    elif store := getattr(value, "set", getattr(value, "copy_to_device", None)):
        store(content)


def check_tune_params_list(tune_params: Mapping[str, Any], observers: Any, simulation_mode: Any = False) -> None:
    """ValueError for a parameter with a name that results need, or one of NVML's without an NVMLObserver."""
    for name, values in tune_params.items():
        if name in (*_GRID, "time"):
            raise ValueError(f"Tune parameter {name} with value {values} has a forbidden name!")
    if any("nvml_" in name for name in tune_params) and not simulation_mode:
        if not any("NVMLObserver" in (base.__name__ for base in type(o).__mro__) for o in observers or ()):
            raise ValueError("Tune parameters starting with nvml_ require an NVMLObserver!")


def check_block_size_names(block_size_names: Any) -> None:
    """ValueError unless the names are None or a list of at most three texts."""
    if block_size_names is None:
        return
    if not isinstance(block_size_names, list):
        raise ValueError("block_size_names should be a list of strings!")
    if len(block_size_names) > 3:
        raise ValueError("block_size_names should not contain more than 3 names!")
    if not all(isinstance(name, str) for name in block_size_names):
        raise ValueError("block_size_names should contain only strings!")


def check_block_size_params_names_list(block_size_names: list[str] | None, tune_params: Mapping[str, Any]) -> Any:
    """The names of the parameters of the work-group; a warning for those that are none.

    Without names, those that differ from the default ones in upper and lower case only are found.
    """
    if block_size_names is not None:
        for name in block_size_names:
            if name not in tune_params:
                _caller.warn(f"Block size name {name} is not specified in the tunable parameters list!")
        return block_size_names
    found = [name for name in tune_params if name.lower() in default_block_size_names]
    if not found:
        _caller.warn("None of the tunable parameters specify thread block dimensions!")
        return None
    return sorted((name for name in found if name not in default_block_size_names), key=str.casefold)


def detect_language(kernel_string: str) -> str:
    """The language of a source by its words: CUDA, OpenCL, Julia or C."""
    words = {"__global__": "CUDA", "__kernel": "OpenCL", "@cuda": "Julia", "@kernel": "Julia", "@device_code": "Julia"}
    return next((language for word, language in words.items() if word in kernel_string.lower()), "C")


def get_kernel_string(kernel_source: Any, params: Mapping[str, Any] | None = None) -> str:
    """The text of a source: of a file if it is a path or looks like a file's name, or what a function returns."""
    if callable(kernel_source):
        return kernel_source(params)
    if isinstance(kernel_source, os.PathLike) or looks_like_a_filename(kernel_source):
        return read_file(kernel_source)
    if isinstance(kernel_source, str):
        return kernel_source
    raise TypeError("Error kernel_source is not a string nor a callable function")


def get_problem_size(problem_size: Any, params: Mapping[str, Any]) -> list[int]:
    """The problem size of a configuration in three dimensions; TypeError for what is neither a text nor an integer."""
    size = problem_size(params) if callable(problem_size) else problem_size
    size = (size,) if isinstance(size, (str, int, np.integer)) else size
    current = [1, 1, 1]
    for i, part in enumerate(size):
        if not isinstance(part, (str, int, np.integer)):
            raise TypeError("Error: problem_size should only contain strings or integers")
        current[i] = int(eval(replace_param_occurrences(part, params), NAMES) if isinstance(part, str) else part)
    return current


def get_grid_dimensions(  # fmt: skip
    current_problem_size: Sequence[int], params: Mapping[str, Any], grid_div: Any, block_size_names: Sequence[str]
) -> tuple[int, ...]:
    """The number of work-groups in each dimension: the problem size by the product of the divisors, rounded up."""

    def divisor(given: Any, default: str = "") -> Any:
        if given is None or isinstance(given, (int, np.integer)):
            return params.get(default, 1) if given is None else given
        if callable(given) or isinstance(given, str):
            return given(params) if callable(given) else int(eval(replace_param_occurrences(given, params), NAMES))
        return math.prod(divisor(part) for part in iterable_divisors(given))

    divisors = [divisor(given, name) for given, name in zip(grid_div, block_size_names, strict=False)]
    return tuple(int(np.ceil(float(n) / float(d))) for n, d in zip(current_problem_size, divisors, strict=False))


def iterable_divisors(given: Any) -> Any:
    """A list of divisors; ValueError for what is none."""
    if not np.iterable(given):
        raise ValueError(
            "Error: unrecognized type in grid divisor list, should be any of int, str, callable, or iterable"
        )
    return given


def get_thread_block_dimensions(
    params: Mapping[str, Any], block_size_names: Sequence[str] | None = None
) -> tuple[int, int, int]:
    """The work-group of a configuration; without parameters for it, 256 × 1 × 1."""
    x, y, z = block_size_names or default_block_size_names
    return int(params.get(x, 256)), int(params.get(y, 1)), int(params.get(z, 1))


def prepare_kernel_string(  # fmt: skip
    kernel_name: str, kernel_string: str, params: Mapping[str, Any], grid: Sequence[int], threads: Sequence[int],
    block_size_names: Sequence[str], lang: str, defines: Mapping[str, Any] | None,
) -> tuple[str, str]:
    """The name of the kernel, and its source after the macros: defines, else the grid, the work-group and params.

    In CUDA C, loop_unroll_factor is a constant, and one that is 0 takes the pragma away.
    """
    if defines is None:
        sizes = zip((*_GRID[: len(grid)], *block_size_names[: len(threads)]), (*grid, *threads), strict=True)
        defines = dict(sizes) | dict(params) | {"kernel_tuner": 1}
    macros = []
    for name, value in defines.items():
        if not name.isidentifier():
            raise ValueError(f"name is not a valid identifier: {name}")
        value = value(params) if callable(value) else value
        value = replace_param_occurrences(value, params) if isinstance(value, str) else str(value)
        value = value.replace("\n", "\\\n")
        if "loop_unroll_factor" not in name or lang.upper() not in ("CUDA", "HIP"):
            macros.append(f"#define {name} {value}\n")
        elif value == "0":
            kernel_string = re.sub(rf"\n\s*#pragma\s+unroll\s+{name}\b", "\n", kernel_string)
        else:
            macros.append(f"constexpr int {name} = {value};\n")
    prefix = "".join(macros) + ("#line 1\n" if macros else "")
    return replace_param_occurrences(kernel_name, params), prefix + kernel_string


def check_restrictions(restrictions: Any, params: Mapping[str, Any], verbose: bool) -> bool:
    """Whether a configuration satisfies restrictions: a function of it, or a list of expressions and functions."""
    from ndtune import _expressions

    given = [restrictions] if callable(restrictions) else restrictions
    valid = all(_expressions.evaluate(restriction, params) for restriction in given)
    if verbose and not valid:
        print(f"skipping config {get_instance_string(params)}, reason: config fails restriction")
    return valid


def check_matching_problem_size(cached_problem_size: Any, problem_size: Any) -> None:
    """ValueError unless two problem sizes, numbers or lists of them, are the same."""
    if not np.array_equal(np.ravel(cached_problem_size), np.ravel(problem_size)):
        raise ValueError(
            f"Cannot load cache which contains results for different problem_size, cache: {cached_problem_size}, "
            f"requested: {problem_size}"
        )


def read_cache(cachefile: str | os.PathLike[str], open_cache: bool = False) -> dict[str, Any]:
    """The content of a cache file, closed or not; failures have an ErrorConfig in `__error__`."""
    text = read_file(cachefile)
    try:
        data = json.loads(text)
    except json.JSONDecodeError:
        data = json.loads(closed_cache(text))
    for entry in data["cache"].values():
        # Files of older versions have the failure in the place of the time.
        for name in [v for v in entry.values() if isinstance(v, str) and v in FAILURES][:1]:
            entry["__error__"] = FAILURES[name]()
            entry["__error__"].reason = entry.get("reason", "")
    return data


def closed_cache(text: str) -> str:
    """The text of a cache file with its last two braces; an entry that was cut off in the middle is left out."""
    text = text.strip()
    for whole in (text, text.removesuffix(",") + "}\n}"):
        try:
            json.loads(whole)
            return whole
        except json.JSONDecodeError:
            continue
    return text[: text.rfind("},") + 1] + "}\n}"


def replace_param_occurrences(string: str, params: Mapping[str, Any]) -> str:
    """Replace each word of a text that is the name of a parameter by its value."""
    return "".join(str(params[word]) if word in params else word for word in re.split("([a-zA-Z0-9_]+)", string))


def normalize_verify_function(v: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """A verify function that takes atol by keyword, whether the user's does or not."""
    if v is None or "atol" in signature(v).parameters:
        return v
    return lambda answer, result_host, atol: v(answer, result_host)


STAGES = ("framework_time", "strategy_time", "compile_time", "verification_time", "benchmark_time")


def get_total_timings(results: Sequence[Result], env: Result, overhead_time: float) -> Result:
    """Add the sums over all results of the times of each stage, and the rest of overhead_time, in ms, to env."""
    if all(stage in result for result in results for stage in STAGES):
        totals = {f"total_{stage}": sum(result[stage] for result in results) for stage in STAGES}
        env.update(totals)
        env["overhead_time"] = overhead_time + env.get("simulated_time", 0) - sum(totals.values())
    return env
