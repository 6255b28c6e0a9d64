"""One search: the program evaluates, and each of its lines becomes a result with Kernel Tuner's keys."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

import numpy as np

from ndtune import util
from ndtune._binary import NdtuneError
from ndtune._cache import Cache, key_of
from ndtune._callbacks import Callbacks
from ndtune._process import Process
from ndtune._specification import Specification, memory_for, save
from ndtune.results import Progress, Results

_FAILURES = {
    "constraints": util.InvalidConfig,
    "compile": util.CompilationFailedConfig,
    "runtime": util.RuntimeFailedConfig,
    "timeout": util.RuntimeFailedConfig,
    "correctness": util.VerificationFailedConfig,
}


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a search: results and env hold what was measured, as tune_kernel would have returned it."""

    def __init__(self, results: Results, env: dict[str, Any]) -> None:
        super().__init__("the results so far are in the attribute results of this exception")
        self.results, self.env = results, env


@dataclass
class Task:
    """What tune_kernel was asked for, checked, with all defaults filled in."""

    specification: Specification
    objectives: dict[str, bool]
    metrics: dict[str, Any] | None = None
    restrictions: Any = None
    answer: Sequence[Any] | None = None
    atol: Any = 1e-6
    rtol: Any = 1e-5
    verify: Callable[..., Any] | None = None
    iterations: int = 7
    strict: bool = False
    verbose: bool = False
    quiet: bool = False
    progress: str | None = None
    compiler_options: Any = None
    arguments: list[str] = field(default_factory=list)  # of the command line: device, strategy, budget and so on
    cache: Cache | None = None
    log: str | None = None


class Search:
    """A search for one task: run() returns when it has ended, and results and env hold its outcome."""

    def __init__(self, task: Task, begun: float) -> None:
        self.task, self._begun = task, begun
        self.results = Results(
            tune_params=task.specification.tune_params, objectives=task.objectives, metrics=list(task.metrics or ())
        )
        self.env: dict[str, Any] = {}
        self._progress = Progress(self.results, task.quiet, task.progress)
        self._notes: list[str] = []
        self._rows: dict[str, dict[str, Any]] = {}  # by key, also of what was known before
        self._finals: list[dict[str, Any]] = []
        self._end: dict[str, Any] = {}
        self._searching = [0.0, 0.0]  # when the search began and ended, as time.perf_counter
        self._failure: Exception | None = None

    def run(self) -> None:
        """Search, and fill results and env.

        Raises NdtuneError if the program cannot search, Interrupted after Ctrl-C, with strict what Kernel Tuner raises
        for a failure, and what a function of the user's raises.
        """
        task, specification = self.task, self.task.specification
        bytes_needed = sum(a.array.nbytes for a in specification.arguments if a.array is not None)
        place = memory_for(3 * bytes_needed)
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="ndtune-", dir=place, ignore_cleanup_errors=True)
            )
            log = task.log or os.path.join(folder, "run.jsonl")
            wanted, verification = self._verification(folder)
            objectives = self._objectives()
            handlers = dict(specification.handlers)
            if "command" in verification:
                handlers["verify"] = lambda question: self._judge(question, wanted)
            if "objective" in objectives.get("instruments", ""):
                handlers["objective"] = self._evaluate
            callbacks = stack.enter_context(Callbacks(handlers)) if handlers else None
            arguments = ["tune", "-", "--json", "--log", log, "--no-peak", *task.arguments]
            process = stack.enter_context(Process(arguments, self._line, callbacks))
            # The program loads drivers meanwhile.
            content = specification.content
            specification.restrict(task.restrictions, folder)
            content["measure"]["launches"] = task.iterations
            content |= objectives
            if callbacks and "kernel" in handlers:
                content["kernel"]["command"] = callbacks.command("kernel")
            if verification:
                content["verify"] = verification
                if callbacks and "verify" in handlers:
                    content["verify"] = {"command": callbacks.command("verify")}
            specification.write(folder, wanted if verification else [False] * len(wanted))
            text = json.dumps(content, ensure_ascii=False)
            process.send(text + self._known())
            interrupted = self._follow(process)
            self._searching[1] = self._searching[1] or time.perf_counter()
            self._notes = process.notes
        self._finish(interrupted)

    def _follow(self, process: Process) -> bool:
        """Take the program's lines until it ends; return whether Ctrl-C ended it."""
        interrupted = False
        while True:
            try:
                if not process.pump():
                    break
            except KeyboardInterrupt:
                if interrupted:
                    raise
                interrupted = True
                process.interrupt()
            if self._failure:
                process.close()
                raise self._failure
        status = self._end.get("status", process.status)
        if status in (2, 3) or "status" not in self._end and not interrupted:
            raise NdtuneError(self._end.get("error") or "\n".join(process.notes) or f"ndtune ended with {status}")
        return interrupted

    # --- lines of the program --------------------------------------------------------------------------------------

    def _line(self, line: dict[str, Any], text: str) -> None:
        kind = line.get("kind", "header")
        if kind not in ("note", "end"):
            self.results.lines.append(text)
        if kind == "header":
            self._header(line)
        elif kind == "result":
            self._result(line)
        elif kind == "withdrawn":
            row = self._rows.pop(self._key(line), None)
            self.results[:] = [r for r in self.results if r is not row]
        elif kind == "final":
            self._searching[1] = self._searching[1] or time.perf_counter()
            self._finals.append(line)
        elif kind == "end":
            self._end = line
        elif kind == "note" and self.task.verbose:
            self._progress.note(line["text"])

    def _key(self, line: Mapping[str, Any]) -> str:
        specification = self.task.specification
        return key_of(specification.values(specification.configuration(line["configuration"])))

    def _header(self, line: dict[str, Any]) -> None:
        device = line["device"]
        self.env |= {
            "platform_name": device.get("platform", ""),
            "platform_version": device.get("platform_version", ""),
            "device_name": device["name"],
            "device_version": device.get("version", ""),
            "opencl_c_version": device.get("opencl_c_version", ""),
            "driver_version": device.get("driver", ""),
            "iterations": self.task.iterations,
            "compiler_options": self.task.compiler_options,
            "ndtune": line.get("tool", ""),
        }
        self._progress.begin(device["name"], line.get("space_size"))
        if self.task.verbose and line.get("space_size"):
            self._progress.note(f"Searchspace has {line['space_size']} configurations after restrictions.")
        if self.task.cache:
            self.task.cache.open(device["name"], list(self.task.objectives))
        self._searching[0] = time.perf_counter()

    def _result(self, line: dict[str, Any]) -> None:
        task = self.task
        row = task.specification.configuration(line["configuration"])
        values = task.specification.values(row)
        if line.get("known") and task.cache:
            row |= util.copy_without_benchmark_timings(task.cache.results[key_of(values)])
        else:
            row |= self._measured(line)
        if "__error__" not in row:
            util.process_metrics(row, task.metrics)
        row["timestamp"] = str(datetime.now(timezone.utc))
        self._rows[key_of(values)] = row
        if task.cache and not line.get("known"):
            task.cache.store(values, row)
        spent = line.get("durations_ns", {})
        row["strategy_time"], row["framework_time"] = spent.get("search", 0) / 1e6, spent.get("framework", 0) / 1e6
        self.results.append(row)
        if not line.get("known"):
            self._progress.row(row, self._text(row))
        if task.strict and "__error__" in row:
            self._failure = self._raised(row, line["status"])

    def _measured(self, line: dict[str, Any]) -> dict[str, Any]:
        """The part of a result that the program measured; times are in ms."""
        row: dict[str, Any] = {}
        if line["status"] == "correct":
            row |= {"time": float(np.mean(line["times"])), "times": line["times"]}
        else:
            reason = line.get("reason", "")
            kind = _FAILURES[line["status"]]
            if kind is util.InvalidConfig and "local memory" in reason:
                kind = util.CompilationFailedConfig  # as Kernel Tuner has it from the compilers of GPUs
            row["__error__"] = kind()
            row["__error__"].reason = row["reason"] = reason
        spent = line.get("durations_ns", {})
        for name, stage in (("compile_time", "build"), ("verification_time", "verify"), ("benchmark_time", "measure")):
            row[name] = spent.get(stage, 0) / 1e6
        if "verify" not in self.task.specification.content:
            row["verification_time"] = 0
        return row

    def _text(self, row: dict[str, Any]) -> str:
        keys = [*self.task.specification.names, "time", *(self.task.metrics or ())]
        text = util.get_config_string(row, keys, self.results.units)
        return f"{text}, {row['__error__']}: {row['reason'].splitlines()[0]}" if row.get("reason") else text

    def _raised(self, row: dict[str, Any], status: str) -> Exception | None:
        """What Kernel Tuner raises for a failure, None for those that are results there too."""
        configuration = {name: row[name] for name in self.task.specification.names}
        if status == "correctness":
            return RuntimeError("Kernel result verification failed for: " + util.get_config_string(configuration))
        if status == "constraints":
            return None
        return NdtuneError(f"{util.get_config_string(configuration)}: {row['reason']}")

    # --- what Python judges and computes -----------------------------------------------------------------------------

    def _verification(self, folder: str) -> tuple[list[bool], dict[str, Any]]:
        """The outputs to be checked, and the part `verify` of the specification: empty without a check."""
        task, arguments = self.task, self.task.specification.arguments
        if not task.answer and not task.verify:
            return [False] * len(arguments), {}
        if not task.answer:
            return [a.array is not None for a in arguments], {"command": []}
        if len(task.answer) != len(arguments):
            raise TypeError("The length of argument list and provided results do not match.")
        wanted = [expected is not None for expected in task.answer]
        if task.verify:
            return wanted, {"command": []}
        expected_files = {}
        for i, (argument, expected) in enumerate(zip(arguments, task.answer, strict=True)):
            if expected is None:
                continue
            expected = check_answer(i, argument.value, expected)
            if not argument.comparable(expected):
                return wanted, {"command": []}
            assert argument.array is not None
            flat = np.ascontiguousarray(expected).reshape(-1).astype(argument.array.dtype, copy=False)
            expected_files[argument.name] = save(folder, f"{argument.name}.expected", flat)
        try:
            tolerances = {
                name: self.task.specification.expression(value, name) if callable(value) else float(value)
                for name, value in (("atol", task.atol), ("rtol", task.rtol))
            }
        except TypeError:  # an array of tolerances
            return wanted, {"command": []}
        return wanted, {"npy": expected_files, **tolerances}

    def _judge(self, question: dict[str, Any], wanted: list[bool]) -> dict[str, Any]:
        """Answer whether the outputs of a configuration are correct, by the user's function or by numpy.allclose."""
        task, specification = self.task, self.task.specification
        outputs = specification.loaded(question["outputs"], wanted)
        params = specification.configuration(question["configuration"])
        atol, rtol = (t(params) if callable(t) else t for t in (task.atol, task.rtol))
        if task.verify:
            correct = task.verify(task.answer, outputs, atol=atol)
            return {"correct": bool(correct), "reason": "the function verify= says that the output is wrong"}
        for argument, expected, output in zip(specification.arguments, task.answer or (), outputs, strict=True):
            if expected is None or output is None:
                continue
            want, got = np.asarray(expected).ravel(), np.asarray(output).ravel()
            if not np.allclose(want, got, rtol=rtol, atol=atol):
                wrong = ~np.isclose(want, got, rtol=rtol, atol=atol)
                at = int(np.argmax(wrong))
                reason = f"{argument.name}[{at}]: {got[at]!r} for {want[at]!r}; {wrong.sum()} of {wrong.size} differ"
                return {"correct": False, "reason": reason}
        return {"correct": True}

    def _objectives(self) -> dict[str, Any]:
        """The parts `metrics` and `objective` of the specification."""
        entries, metrics = [], {}
        for name, higher in self.task.objectives.items():
            if name != "time":
                metric = (self.task.metrics or {}).get(name)
                if metric is None:
                    raise NdtuneError(f"the objective {name} is neither time nor a metric")
                metrics[name] = self.task.specification.expression(metric, f"the metric {name}", names=("time",))
            entries.append({"name": name, "direction": "maximize" if higher else "minimize"})
        return ({"metrics": metrics} if metrics else {}) | {"objective": entries}

    def _evaluate(self, question: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def _known(self) -> str:
        return ""

    # --- the end -----------------------------------------------------------------------------------------------------

    def _finish(self, interrupted: bool) -> None:
        task, results, env = self.task, self.results, self.env
        self._progress.end()
        if task.cache:
            task.cache.close()
        if "brute_force" in task.arguments:
            results.sort(key=task.specification.order)  # several workers build: results come in another order
        env["notes"] = self._notes
        env["log"] = task.log
        env["finals"] = self._finalists()
        self._totals()
        self._name_best()
        results.env = env
        if interrupted:
            raise Interrupted(results, env)

    def _finalists(self) -> list[dict[str, Any]]:
        """The configurations of the final measurement, the best first: times in ms, and time, their median."""
        finals = []
        for line in self._finals:
            configuration = self.task.specification.configuration(line["configuration"])
            finals.append(configuration | {"times": line["times"], "time": float(np.median(line["times"]))})
        return finals

    def _totals(self) -> None:
        """The sums of the times of all stages. Those of builds that overlapped count as the time that passed."""
        wall = 1000 * (time.perf_counter() - self._begun)
        util.get_total_timings(self.results, self.env, wall)
        names = [name for name in self.env if name.startswith("total_")]
        total = sum(self.env[name] for name in names)
        passed = 1000 * (self._searching[1] - self._searching[0])
        if total > passed > 0:
            self.env.update({name: self.env[name] * passed / total for name in names})
        self.env["overhead_time"] = wall - sum(self.env[name] for name in names)

    def _name_best(self) -> None:
        """Put the best configuration into env, by the final measurement if there was one, and print it."""
        task, results = self.task, self.results
        if not results:
            if not task.quiet:
                print("no results to report")
            return
        (first, higher), *more = task.objectives.items()
        keys = [*task.specification.names, *task.objectives, *(task.metrics or ())]
        if more:
            best = util.get_pareto_results(results, list(task.objectives), list(task.objectives.values()))
            self.env["best_config"] = best
        else:
            winner = self._end.get("best")
            row = self._rows.get(self._key({"configuration": winner})) if winner else None
            best = [row if row is not None else util.get_best_config(results, first, higher)]
            self.env["best_config"] = best[0]
        if task.quiet:
            return
        if all("__error__" in row for row in results):
            print(f"\nNo configuration is correct: {results[0]['__error__']}: {results[0].get('reason', '')}")
        elif more:
            print(f"\nBEST PERFORMING CONFIGURATIONS FOR OBJECTIVES: {list(task.objectives)}:")
            for row in best:
                print(util.get_config_string(row, keys, results.units))
        else:
            print(f"\nBEST PERFORMING CONFIGURATION FOR OBJECTIVE {first}:")
            print(util.get_config_string(best[0], keys, results.units))


def check_answer(place: int, argument: Any, expected: Any) -> Any:
    """The expected output of an argument, if it is comparable with it: TypeError as Kernel Tuner raises it."""
    what = f"Element {place} of the expected results list"
    if isinstance(expected, np.ndarray) and isinstance(argument, np.ndarray):
        if not np.can_cast(argument.dtype, expected.dtype):
            raise TypeError(
                f"{what} has a dtype that is not compatible with the dtype of the kernel output: "
                f"{expected.dtype} != {argument.dtype}."
            )
        if expected.size != argument.size:
            raise TypeError(
                f"{what} has a size different from the kernel argument: {expected.size} != {argument.size}."
            )
    elif util.is_tensor(expected) and util.is_tensor(argument):
        if expected.dtype != argument.dtype:
            raise TypeError(
                f"{what} is not of the same dtype as the kernel output: {expected.dtype} != {argument.dtype}."
            )
        if expected.size() != argument.size():
            raise TypeError(
                f"{what} has a size different from the kernel argument: {expected.size()} != {argument.size()}."
            )
        return expected.detach().cpu().numpy()
    elif isinstance(expected, np.number) and isinstance(argument, np.number):
        if expected.dtype != argument.dtype:
            raise TypeError(f"{what} is not the same as the kernel output: {expected.dtype} != {argument.dtype}.")
    else:
        raise TypeError(
            f"Element {place} of expected results list is not a numpy/cupy ndarray, torch Tensor or numpy scalar."
        )
    return expected
