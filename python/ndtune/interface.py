"""tune_kernel, run_kernel and tune_cache, with Kernel Tuner's arguments and what ndtune adds to them."""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import logging
import operator
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from ndtune import _binary, _process, _run, strategies, util
from ndtune._binary import NdtuneError
from ndtune._cache import Cache
from ndtune._caller import outermost, warn
from ndtune._outcome import Interrupted, Task
from ndtune._process import told
from ndtune._search import Search
from ndtune._simulation import Simulation
from ndtune._space import Space, check_parameters
from ndtune._specification import Kernel, Specification
from ndtune.observers import plan as observing
from ndtune.results import Results
from ndtune.searchspace import Searchspace
from ndtune.strategies import strategy_map
from ndtune.util import Options

_REFUSALS = {
    "constraints": "cannot create kernel instance, too many threads per block",
    "memory": "cannot compile kernel, too much shared memory used",
    "compile": "cannot compile kernel",
    "runtime": "runtime error occured",
}
__all__ = ["Interrupted", "Options", "check", "run_kernel", "strategy_map", "tune_cache", "tune_kernel"]


@outermost
def tune_kernel(  # fmt: skip
    kernel_name: str, kernel_source: Any, problem_size: Any, arguments: Sequence[Any],
    tune_params: Mapping[str, Sequence[Any]], grid_div_x: Any = None, grid_div_y: Any = None, grid_div_z: Any = None,
    restrictions: Any = None, answer: Any = None, atol: Any = 1e-6, verify: Any = None, verbose: bool = False,
    lang: str | None = None, device: Any = 0, platform: int = 0, smem_args: Any = None, cmem_args: Any = None,
    texmem_args: Any = None, compiler: Any = None, compiler_options: Any = None, defines: Any = None, log: Any = None,
    iterations: int = 7, block_size_names: Any = None, quiet: bool = False, strategy: Any = None,
    strategy_options: Any = None, cache: Any = None, metrics: Any = None, simulation_mode: Any = None,
    parallel: Any = None, observers: Any = None, objective: Any = None, objective_higher_is_better: Any = None,
    objectives: Any = None, seed: Any = None, *, strict: bool = False, rtol: Any = 1e-5, keep_log: Any = None,
    prior: Any = None, devices: Sequence[str] | None = None, progress: str | None = None,
    options: Sequence[str] = (),
) -> tuple[Results, dict[str, Any]]:
    """Find the fastest configuration of a kernel: Kernel Tuner's arguments, and after the star ndtune's own.

    Kernel Tuner's documentation says what its arguments mean; docs/from-kernel-tuner.md says what differs. Times are in
    ms. kernel_source may have a source for each language, {"OpenCL": "add.cl", "CUDA": "add.cu"}, among which lang
    chooses, OpenCL by default. Own arguments:

    strict: raise for the first kernel that does not compile, fails or gives a wrong output, as Kernel Tuner does;
        else such failures are results with the keys `__error__` and `reason`.
    rtol: the relative tolerance of answer, beside atol; each is a number, or a function of the configuration.
    keep_log: a file for the run log; an existing one of the same task is continued.
    prior: a record to learn from, or "find" for those in the user's state folder.
    devices: several devices of one model that share the search, such as ["0:0", "0:1"], instead of device.
    progress: "text", "notebook" or "none"; by default found out. quiet shows nothing.
    options: more arguments of `ndtune tune`, such as ["--patience", "50"].

    Returns the results, a list of dictionaries, and the environment: among others best_config, the winner of the final
    measurement, finals, its times, and strategy, what was asked for and what was used.

    Raises ValueError and TypeError for wrong arguments, NdtuneError if nothing can be measured, Interrupted (a
    KeyboardInterrupt) with the results so far after Ctrl-C, and what the caller's own functions raise.
    """
    given, begun = dict(locals()), time.perf_counter()
    check_parameters(tune_params)
    util.check_tune_params_list(tune_params, observers, simulation_mode=simulation_mode)
    if isinstance(options, str):
        raise TypeError(f"options must be a list of texts, such as {options.split()}, not {options!r}")
    asked = dict(given)
    kernel = _kernel(given, tune_params)
    if not kernel.ours and not simulation_mode:
        return _elsewhere("tune_kernel", kernel.lang, asked)
    given["iterations"] = operator.index(iterations)
    if iterations < 1:
        raise ValueError(f"iterations must be at least 1, not {iterations}")
    if not simulation_mode and any(hasattr(a, "param_key") for a in (*arguments, answer)):
        return _each_choice(asked)
    where = ",".join(kernel.device(platform, d) for d in devices or [device])
    if not simulation_mode:
        _process.prepare(where)
    wanted = _objectives(objective, objective_higher_is_better, objectives)
    util.check_metrics(metrics)
    parallel = bool(os.environ.get("KERNEL_TUNER_PARALLEL")) if parallel is None else parallel
    if parallel and simulation_mode:
        raise ValueError("Enabling `parallel` and `simulation_mode` together is not supported")
    space: Any = Space(tune_params) if simulation_mode else _specification(kernel, given, tune_params)
    startup, limit = time.perf_counter() - begun, dict(strategy_options or {}).get("time_limit")
    if limit is not None and startup > limit:
        raise RuntimeError(
            f"The startup time of the tuning process ({startup} seconds) has exceeded the time limit ({limit} "
            "seconds). Please increase the time limit or decrease the size of the search space."
        )
    plan = strategies.plan(strategy, strategy_options, space, seed, lambda: len(_configurations(space, restrictions)))
    for note in plan.notes:
        warn(note)
    task = Task(**given | {"verify": util.normalize_verify_function(verify), "objectives": wanted})
    task |= {"begun": begun, "space": space, "plan": plan}
    task.cache = Cache(cache, kernel_name, problem_size, tune_params) if cache else None
    task.keep_log = os.path.abspath(keep_log) if keep_log else None
    if simulation_mode:
        simulation = Simulation(task)
        simulation.run(lambda: _configurations(space, restrictions))
        return simulation.results, simulation.env
    task.flags = ["--device", where]
    task.flags += ["--prior", str(prior or "none"), *options]
    task.flags += ["--workers", str(parallel)] if parallel and parallel is not True else []
    seen = {"device": device, "platform": platform, "compiler": compiler, "lang": kernel.lang}
    task.observed = observing.plan(observers, space, **seen)
    search = Search(task, space)
    search.run()
    return search.results, search.env


@outermost
def tune_cache(cache_path: Any, restrictions: list[Any] | None = None, **kwargs: Any) -> tuple[Results, dict[str, Any]]:
    """Simulate a search over the correct results of a cache file, which also says what was tuned.

    More restrictions may narrow the space, and all arguments of tune_kernel may be given.
    """
    if restrictions is not None and not isinstance(restrictions, list):
        raise ValueError("The restrictions must be a list()")
    content = util.read_cache(cache_path)
    size, names = content["problem_size"], content["tune_params_keys"]
    if isinstance(size, str):
        what = "cache file that used callable for problem size"
        raise ValueError(f"Inferring kernel arguments from {what} is not possible")
    rows = [[row[n] for n in names] for row in content["cache"].values() if "__error__" not in row]
    same = {name: content[name] for name in ("kernel_name", "problem_size", "tune_params")}
    given = same | {"kernel_source": "", "arguments": []} | kwargs
    return tune_kernel(**given, cache=cache_path, restrictions=_Correct(rows, restrictions), simulation_mode=True)


@outermost
def run_kernel(  # fmt: skip
    kernel_name: str, kernel_source: Any, problem_size: Any, arguments: Sequence[Any], params: Mapping[str, Any],
    grid_div_x: Any = None, grid_div_y: Any = None, grid_div_z: Any = None, lang: str | None = None, device: Any = 0,
    platform: int = 0, smem_args: Any = None, cmem_args: Any = None, texmem_args: Any = None, compiler: Any = None,
    compiler_options: Any = None, defines: Any = None, block_size_names: Any = None, quiet: bool = False,
    log: Any = None,
) -> list[Any]:
    """Launch one configuration of a kernel once, and return all arguments as the launch has left them.

    params has one value for each parameter; everything else is as in tune_kernel. Arrays come back as new arrays of
    the same type and shape, scalars as they are.

    Raises NdtuneError, a RuntimeError, if the kernel does not compile or cannot be launched.
    """
    lists = () if not isinstance(params, Mapping) or "times" in params else params.values()  # a result has lists, too
    if not isinstance(params, Mapping) or any(isinstance(value, (list, np.ndarray)) for value in lists):
        raise TypeError(f"params must be a dictionary with one value for each parameter, not {params!r}")
    given, tune_params = dict(locals()), {name: [value] for name, value in params.items()}
    asked = dict(given)
    kernel = _kernel(given, None)
    if not kernel.ours:
        return _elsewhere("run_kernel", kernel.lang, asked)
    given["arguments"] = [a.select_for_configuration(params) if hasattr(a, "param_key") else a for a in arguments]
    specification = _specification(kernel, given, tune_params, share=True)
    if kernel.in_python:
        specification.content["kernel"]["source"] = specification.source(specification.plain(params))
    answer = _run.run(specification, kernel.device(platform, device))
    outputs, reason = answer["outputs"], told(answer.get("reason", ""))
    if len(outputs) < sum(a.may_change for a in specification.arguments):
        status = "memory" if "local memory" in reason else answer["status"]
        why = _REFUSALS.get(status, status)
        raise NdtuneError(f"{why}: {reason}")
    if reason:
        warn(f"{kernel_name}: {reason}")
    return [outputs[a.name] if a.name in outputs else a.unchanged() for a in specification.arguments]


def _kernel(given: dict[str, Any], tune_params: Mapping[str, Any] | None) -> Kernel:
    """The source of a kernel. Arguments and names of block sizes are checked, and completed in given."""
    if given["log"]:
        name = f"{given['kernel_name']}{datetime.now():%Y%m%d-%H:%M:%S}.log"
        logging.basicConfig(filename=name, level=given["log"])
    kernel = Kernel(given["kernel_name"], given["kernel_source"], given["lang"], given["defines"])
    names = given["block_size_names"]
    if not given.get("simulation_mode") and kernel.ours:
        for memory in ("texmem_args",) if kernel.is_cuda else ("smem_args", "cmem_args", "texmem_args"):
            if given[memory] is not None:
                why = "kernels in OpenCL C have none"
                if kernel.is_cuda:
                    why = "CUDA 12 removed texture references: pass the array as an argument"
                raise NotImplementedError(f"{memory}: {why}")
        if kernel.is_cuda and "cuda_sm_percentage" in (given.get("tune_params") or given.get("params") or ()):
            raise NotImplementedError("the parameter cuda_sm_percentage: a kernel always has all multiprocessors")
    kernel.check_arguments(given["arguments"])
    util.check_block_size_names(names)
    if tune_params is not None:
        names = util.check_block_size_params_names_list(names, tune_params)
    given["block_size_names"] = names and [*names, *util.default_block_size_names[len(names) :]]
    return kernel


def _specification(
    kernel: Kernel, given: dict[str, Any], tune_params: Mapping[str, Sequence[Any]], *, share: bool = False
) -> Specification:
    grid_div = [given[f"grid_div_{axis}"] for axis in "xyz"]
    names, options = given["block_size_names"], given["compiler_options"]
    more = (tune_params, grid_div, names, options)
    made = Specification(kernel, given["problem_size"], given["arguments"], *more, share=share)
    made.add_memory(given["smem_args"], given["cmem_args"])
    return made


def _each_choice(given: dict[str, Any]) -> tuple[Results, dict[str, Any]]:
    """Search once for each choice of Tunable arguments and answers; max_fevals is divided, results are joined."""
    params, tunable = given["tune_params"], [*given["arguments"], given["answer"]]
    keys = [key for a in tunable if hasattr(a, "param_key") for key in a.param_keys()]
    names = list(dict.fromkeys(keys)) if all(isinstance(k, str) and k in params for k in keys) else list(params)
    choices: dict[tuple[int, ...], tuple[list[Any], list[Any]]] = {}
    for values in itertools.product(*(params[name] for name in names)):
        chosen = dict(zip(names, values, strict=True))
        made = [a.select_for_configuration(chosen) if hasattr(a, "param_key") else a for a in tunable]
        choices.setdefault(tuple(map(id, made)), (made, []))[1].append(values)
    options = dict(given["strategy_options"] or {})
    if "max_fevals" in options:
        options["max_fevals"] = -(-options["max_fevals"] // len(choices))
    rules = given["restrictions"] if isinstance(given["restrictions"], list) else [given["restrictions"]]
    found = []
    for made, allowed in choices.values():
        of_choice = [*rules, lambda p, allowed=allowed: tuple(p[name] for name in names) in allowed]
        more = {"arguments": made[:-1], "answer": made[-1], "strategy_options": options or None}
        found.append(tune_kernel(**given | more | {"restrictions": [r for r in of_choice if r is not None]}))
    results, env = found[0]
    for others, other in found[1:]:
        results.extend(others)
        env["finals"] = sorted(env["finals"] + other["finals"], key=lambda final: final["time"])
        env |= {name: env[name] + other[name] for name in env if name.startswith("total_") or name == "overhead_time"}
    if env["strategy"]["used"] == "brute_force":
        results.sort(key=Space(params).order)
    (name, higher), *more_objectives = results.objectives.items()
    best = [other["best_config"] for _, other in found if "best_config" in other]
    if best and not more_objectives:
        env["best_config"] = util.get_best_config(best, name, higher)
    elif best:
        higher_ones = list(results.objectives.values())
        env["best_config"] = util.get_pareto_results(list(results), list(results.objectives), higher_ones)
    return results, env


@outermost
def check(  # fmt: skip
    kernel_name: str, kernel_source: Any, problem_size: Any, arguments: Sequence[Any],
    tune_params: Mapping[str, Sequence[Any]], *, restrictions: Any = None, device: Any = 0, platform: int = 0,
    options: Sequence[str] = (), **more: Any,
) -> dict[str, Any]:
    """Look for faults of a kernel: races, accesses out of bounds, uninitialised memory, divergent barriers.

    The configurations cover each pair of values. They run on the device, and in the simulator Oclgrind unless options,
    those of `ndtune check`, have "--no-simulator". more has grid_div_*, defines and the like of run_kernel. Returns the
    report as docs/check.md describes its JSON; raises NdtuneError if nothing could be checked.
    """
    names = [name for name in inspect.signature(run_kernel).parameters if name not in ("params", "device", "platform")]
    given = dict.fromkeys(names) | {"kernel_name": kernel_name, "kernel_source": kernel_source}
    given |= {"problem_size": problem_size, "arguments": arguments} | more
    if unknown := [name for name in more if name not in names]:
        raise TypeError(f"check has no argument {', '.join(unknown)}")
    kernel = _kernel(given, tune_params)
    if kernel.in_python or not kernel.ours:
        raise NotImplementedError("check takes a source in OpenCL C or CUDA C, without a function or defines= for it")
    specification = _specification(kernel, given, tune_params)
    with tempfile.TemporaryDirectory(prefix="ndtune-") as folder:
        path = os.path.join(folder, kernel_name + ".yaml")
        specification.restrict(restrictions, folder)
        specification.write(folder, [argument.may_change for argument in specification.arguments])
        with open(path, "w", encoding="utf-8") as file:
            json.dump(specification.content, file, ensure_ascii=False)
        asked = [_binary.find(), "check", path, "--format", "json", "--quiet"]
        asked += ["--device", kernel.device(platform, device), *options]
        env = _binary.environment()
        said = subprocess.run(asked, env=env, capture_output=True, encoding="utf-8", check=False)
    if said.returncode > 1 or not said.stdout:
        raise NdtuneError(said.stderr.strip())
    return json.loads(said.stdout)


class _Correct:
    """The restriction of tune_cache: the correct results of a file, and the user's restrictions."""

    def __init__(self, rows: list[list[Any]], more: Any) -> None:
        self.rows, self.more = rows, more


def _configurations(space: Space, restrictions: Any) -> list[tuple[Any, ...]]:
    """All configurations of a space, in the order of itertools.product; without a device's limits."""
    if isinstance(restrictions, _Correct):
        rows = {tuple(row) for row in restrictions.rows}
        if restrictions.more:
            rows &= {*_configurations(space, restrictions.more)}
        return sorted(rows, key=lambda row: space.order(dict(zip(space.names, row, strict=True))))
    return Searchspace(space.tune_params, restrictions, 10**9).list


def _elsewhere(function: str, language: str, given: dict[str, Any]) -> Any:
    """Hand a kernel of another language to Kernel Tuner, if it is installed."""
    if language not in ("HIP", "C", "FORTRAN", "HYPERTUNER"):
        raise NotImplementedError(f"Sorry, there is no support for the language {language}")
    try:
        theirs = getattr(importlib.import_module("kernel_tuner"), function)
    except ImportError:
        theirs = None
    if theirs is None or theirs.__module__.startswith("ndtune"):
        raise NdtuneError(
            f"ndtune tunes kernels in OpenCL C and CUDA C, and this one is in {language}: install kernel_tuner, to "
            "which ndtune hands such kernels, or pass lang='OpenCL' or 'CUDA'"
        )
    names = inspect.signature(theirs).parameters
    defaults = {n: p.default for n, p in inspect.signature(globals()[function]).parameters.items()}
    own = [n for n in given if n not in names and given[n] != defaults[n]]
    if own:
        raise NdtuneError(f"a kernel in {language} goes to Kernel Tuner, which has no argument {', '.join(own)}")
    return theirs(**{n: value for n, value in given.items() if n in names})


def _objectives(objective: Any, higher: Any, objectives: Any) -> dict[str, bool]:
    """The objectives by name, each with whether higher is better."""
    if objectives:
        if not isinstance(objectives, dict):
            raise ValueError("objectives should be a dict of (objective, higher_is_better) pairs")
        return objectives
    objective, higher = util.get_objective_defaults(objective, higher)
    names = [objective] if isinstance(objective, str) else list(objective)
    directions = list(higher) if isinstance(higher, (list, tuple)) else [higher]
    if len(names) != len(directions):
        raise ValueError(f"objective_higher_is_better needs a value for each of {names}, not {higher}")
    return dict(zip(names, directions, strict=True))
