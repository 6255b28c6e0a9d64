"""Small functions over results, metrics and objectives that scripts import from here."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np

Result = dict[str, Any]


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


def check_result_type(result: Result) -> bool:
    """Whether the error of a result, if it has one, is an ErrorConfig."""
    return isinstance(result.get("__error__", ErrorConfig()), ErrorConfig)


def get_result_cost(result: Result, objectives: Sequence[str], objective_higher_is_better: Sequence[bool]) -> list[Any]:
    """The objectives of a result as costs, lower is better; those of a failure are the largest float."""
    if "__error__" in result:
        return [sys.float_info.max] * len(objectives)
    return [
        -result[o] if higher else result[o] for o, higher in zip(objectives, objective_higher_is_better, strict=True)
    ]


def get_best_config(results: Iterable[Result], objective: str, objective_higher_is_better: bool = False) -> Result:
    """The result with the best objective; failures, and objectives that are no float, come last."""
    sign = -1 if objective_higher_is_better else 1

    def cost(result: Result) -> float:
        value = None if "__error__" in result else result[objective]
        return sign * value if isinstance(value, float) else sys.float_info.max

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


def process_metrics(params: Result, metrics: Mapping[str, str | Callable[[Result], Any]] | None) -> Result:
    """Add the metrics to a result: each is a Python expression or a function of the result with all metrics before."""
    if metrics is not None:
        if not isinstance(metrics, dict):
            raise ValueError("metrics should be a dictionary to preserve order and support composability")
        for name, metric in metrics.items():
            if not isinstance(metric, str) and not callable(metric):
                raise ValueError("metric dicts values should be strings or callable")
            params[name] = metric(params) if callable(metric) else eval(metric, {"np": np, "math": math}, params)
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
        and any(ending in kernel_source for ending in (".c", ".opencl", ".F"))
    )


def read_file(filename: str | os.PathLike[str]) -> str:
    """The text of a file."""
    with open(filename, encoding="utf-8") as file:
        return file.read()


def delete_temp_file(filename: str | os.PathLike[str]) -> None:
    """Delete a file if it exists."""
    if os.path.exists(filename):
        os.remove(filename)
