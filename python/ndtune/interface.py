"""tune_kernel, run_kernel and tune_cache, with Kernel Tuner's arguments and what ndtune adds to them."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ndtune import _run, util
from ndtune._binary import NdtuneError
from ndtune._cache import Cache, path_of
from ndtune._search import Interrupted, Search, Task
from ndtune._specification import Kernel, Specification
from ndtune.results import Results

__all__ = ["Interrupted", "run_kernel", "tune_kernel"]


def tune_kernel(
    kernel_name: str,
    kernel_source: Any,
    problem_size: Any,
    arguments: Sequence[Any],
    tune_params: Mapping[str, Sequence[Any]],
    grid_div_x: Any = None,
    grid_div_y: Any = None,
    grid_div_z: Any = None,
    restrictions: Any = None,
    answer: Any = None,
    atol: Any = 1e-6,
    verify: Any = None,
    verbose: bool = False,
    lang: str | None = None,
    device: Any = 0,
    platform: int = 0,
    smem_args: Any = None,
    cmem_args: Any = None,
    texmem_args: Any = None,
    compiler: Any = None,
    compiler_options: Any = None,
    defines: Any = None,
    log: Any = None,
    iterations: int = 7,
    block_size_names: Any = None,
    quiet: bool = False,
    strategy: Any = None,
    strategy_options: Any = None,
    cache: Any = None,
    metrics: Any = None,
    simulation_mode: Any = None,
    parallel: Any = None,
    observers: Any = None,
    objective: Any = None,
    objective_higher_is_better: Any = None,
    objectives: Any = None,
    seed: Any = None,
    *,
    strict: bool = False,
    rtol: Any = 1e-5,
    keep_log: Any = None,
    prior: Any = None,
    devices: Sequence[str] | None = None,
    progress: str | None = None,
    options: Sequence[str] = (),
) -> tuple[Results, dict[str, Any]]:
    """Find the fastest configuration of a kernel."""
    begun = time.perf_counter()
    _log(log, kernel_name)
    kernel = Kernel(kernel_name, kernel_source, lang, defines)
    kernel.check_arguments(arguments)
    util.check_block_size_names(block_size_names)
    wanted = _objectives(objective, objective_higher_is_better, objectives)
    util.check_tune_params_list(tune_params, observers, simulation_mode=simulation_mode)
    block_size_names = util.check_block_size_params_names_list(block_size_names, tune_params)
    util.append_default_block_size_names(block_size_names)
    specification = Specification(
        kernel,
        problem_size,
        arguments,
        tune_params,
        (grid_div_x, grid_div_y, grid_div_z),
        block_size_names,
        compiler_options,
    )
    task = Task(
        specification,
        wanted,
        metrics=metrics,
        restrictions=restrictions,
        answer=answer,
        atol=atol,
        rtol=rtol,
        verify=util.normalize_verify_function(verify),
        iterations=iterations,
        strict=strict,
        verbose=verbose,
        quiet=quiet,
        progress=progress,
        compiler_options=compiler_options,
        cache=Cache(path_of(cache), kernel_name, problem_size, tune_params) if cache else None,
        log=os.path.abspath(keep_log) if keep_log else None,
    )
    task.arguments = ["--strategy", strategy or "brute_force"]
    task.arguments += ["--device", ",".join(devices or [f"{platform}:{device}"])]
    task.arguments += ["--prior", "none" if prior is None else str(prior), *options]
    search = Search(task, begun)
    search.run()
    return search.results, search.env


def run_kernel(
    kernel_name: str,
    kernel_source: Any,
    problem_size: Any,
    arguments: Sequence[Any],
    params: Mapping[str, Any],
    grid_div_x: Any = None,
    grid_div_y: Any = None,
    grid_div_z: Any = None,
    lang: str | None = None,
    device: Any = 0,
    platform: int = 0,
    smem_args: Any = None,
    cmem_args: Any = None,
    texmem_args: Any = None,
    compiler: Any = None,
    compiler_options: Any = None,
    defines: Any = None,
    block_size_names: Any = None,
    quiet: bool = False,
    log: Any = None,
) -> list[Any]:
    """Launch one configuration of a kernel once, and return all arguments as the launch has left them.

    params has one value for each parameter; everything else is as in tune_kernel. Arrays come back as new arrays of
    the same type and shape, scalars as they are.

    Raises NdtuneError, a RuntimeError, if the kernel does not compile or cannot be launched.
    """
    _log(log, kernel_name)
    kernel = Kernel(kernel_name, kernel_source, lang, defines)
    kernel.check_arguments(arguments)
    util.check_block_size_names(block_size_names)
    block_size_names = block_size_names and [*block_size_names]
    util.append_default_block_size_names(block_size_names)
    arguments = [a.select_for_configuration(params) if hasattr(a, "param_key") else a for a in arguments]
    specification = Specification(
        kernel,
        problem_size,
        arguments,
        {name: [value] for name, value in params.items()},
        (grid_div_x, grid_div_y, grid_div_z),
        block_size_names,
        compiler_options,
    )
    if kernel.in_python:
        specification.content["kernel"]["source"] = specification.source(specification.plain(params))
    answer = _run.run(specification, f"{platform}:{device}")
    outputs, reason = answer["outputs"], answer.get("reason", "")
    if len(outputs) < sum(a.may_change for a in specification.arguments):
        why = {
            "constraints": "cannot create kernel instance, too many threads per block",
            "compile": "cannot compile kernel",
            "runtime": "runtime error occured",
        }.get(answer["status"], answer["status"])
        if "local memory" in reason:
            why = "cannot compile kernel, too much shared memory used"
        raise NdtuneError(f"{why}: {reason}")
    if reason:
        warnings.warn(f"{kernel_name}: {reason}", stacklevel=2)
    return [outputs[a.name] if a.name in outputs else a.unchanged() for a in specification.arguments]


def _log(level: Any, kernel_name: str) -> None:
    """Send Python's log messages to a file named after the kernel and the time, if a level is given."""
    if level:
        logging.basicConfig(filename=f"{kernel_name}{datetime.now():%Y%m%d-%H:%M:%S}.log", level=level)


def _objectives(objective: Any, higher: Any, objectives: Any) -> dict[str, bool]:
    """The objectives by name, each with whether higher is better."""
    if objectives:
        if not isinstance(objectives, dict):
            raise ValueError("objectives should be a dict of (objective, higher_is_better) pairs")
        return objectives
    objective, higher = util.get_objective_defaults(objective, higher)
    names = [objective] if isinstance(objective, str) else objective
    return dict(zip(names, [higher] if isinstance(higher, bool) else higher, strict=True))
