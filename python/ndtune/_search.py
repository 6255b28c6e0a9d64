"""One search: the program evaluates, and each of its lines becomes a result with Kernel Tuner's keys."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import tempfile
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import Any

import numpy as np

from ndtune import _caller, util
from ndtune._binary import NdtuneError
from ndtune._cache import key_of
from ndtune._callbacks import Callbacks
from ndtune._outcome import Interrupted, Outcome, Task
from ndtune._process import Process, told
from ndtune._space import Values
from ndtune._specification import Specification, memory_for, save
from ndtune.observers import plan as observers
from ndtune.observers.plan import Plan as Observed
from ndtune.searchspace import Searchspace
from ndtune.strategies import driver

_FAILURES = {
    "constraints": util.InvalidConfig,
    "compile": util.CompilationFailedConfig,
    "runtime": util.RuntimeFailedConfig,
    "timeout": util.RuntimeFailedConfig,
    "correctness": util.VerificationFailedConfig,
}
_STATUS = {"InvalidConfig": "constraints", "CompilationFailedConfig": "compile", "RuntimeFailedConfig": "runtime"}


class Search(Outcome):
    """A search for one task: run() returns when it has ended, and results and env hold its outcome."""

    def __init__(self, task: Task, specification: Specification) -> None:
        super().__init__(task)
        self._specification = specification
        self._observed: Observed = task.observed or observers.plan(None, specification)
        self._rows: dict[str, dict[str, Any]] = {}  # by key, also of what was known before
        self._finals: list[dict[str, Any]] = []
        self._end: dict[str, Any] = {}
        self._began = self._ended = 0.0  # the search without the final measurement, as time.perf_counter
        self._most_threads = 0
        self._failure: Exception | None = None
        self._interrupted = False
        self._returned: list[dict[str, Any]] | None = None  # by a strategy object
        self._wanted: list[bool] = []  # the outputs that are verified, by argument
        self._quantities: dict[str, str] = {}  # the objectives that Python computes, by the quantities of the program

    def run(self) -> None:
        """Search, and fill results and env.

        Raises NdtuneError if the program cannot search, Interrupted after Ctrl-C, with strict what Kernel Tuner raises
        for a failure, and what a function of the user's raises.
        """
        task, specification, content = self.task, self._specification, self._specification.content
        place = memory_for(3 * sum(a.array.nbytes for a in specification.arguments if a.array is not None))
        with contextlib.ExitStack() as stack:
            temporary = tempfile.TemporaryDirectory(prefix="ndtune-", dir=place, ignore_cleanup_errors=True)
            folder = stack.enter_context(temporary)
            rows = self._rows
            talk = driver.Conversation(
                specification, self._step, lambda m: callbacks.send("strategy", m), lambda v: rows.get(key_of(v))
            )
            handlers = {"verify": self._judge, "objective": self._evaluate, "strategy": talk.answer}
            callbacks = stack.enter_context(Callbacks(handlers | specification.handlers | self._observed.handlers))
            arguments = self._arguments(folder, callbacks)
            self._process = stack.enter_context(Process(arguments, self._line, callbacks))
            # The program loads drivers from here on.
            content |= self._objectives()
            specification.add_other_language(folder)
            specification.restrict(task.restrictions, folder)
            if verification := self._verification(folder):
                content["verify"] = verification
            specification.write(folder, self._wanted if verification else [False] * len(self._wanted))
            self._ask_python(callbacks.command)
            self._process.send(json.dumps(content, ensure_ascii=False) + self._known())
            if task.plan.object:
                self._let_object_search(talk)
            while self._step():
                pass
            self.env["notes"] = self._process.notes
        self._finish()

    def _arguments(self, folder: str, callbacks: Callbacks) -> list[str]:
        """The command line of the program."""
        task = self.task
        arguments = ["tune", "-", "--json", "--log", task.keep_log or os.path.join(folder, "run.jsonl")]
        arguments += [*task.plan.arguments, *self._observed.arguments, *task.flags]
        if task.plan.object:
            arguments += ["--strategy", "command:" + shlex.join(callbacks.command("strategy"))]
        if task.plan.time_limit is not None:
            left = task.plan.time_limit - (time.perf_counter() - task.begun)
            arguments += ["--time-limit", f"{max(left, 1e-6):.6f}s"]
        return arguments

    def _ask_python(self, command: Callable[[str], list[str]]) -> None:
        """Complete the specification by what is measured, and by the commands that ask Python."""
        content, observed = self._specification.content, self._observed
        if "kernel" in self._specification.handlers:
            content["kernel"]["command"] = command("kernel")
        if "command" in content.get("verify", ()):
            content["verify"]["command"] = command("verify")
        measure = content["measure"]
        measure |= observed.measure(command) | {"launches": self.task.iterations}
        if self._quantities:
            own = {"command": command("objective"), "quantities": list(self._quantities), "timeout": "24h"}
            measure["instruments"] = [*measure.get("instruments", ()), own | {"each": "configuration"}]
            measure["observe"] = [*measure.get("observe", ()), *self._quantities]

    def _let_object_search(self, talk: driver.Conversation) -> None:
        """Let a strategy object search, as soon as the program asks."""
        while not self._began and self._step():
            pass
        task = self.task
        space = Searchspace(task.space.tune_params, task.restrictions, self._most_threads)
        most = min(task.plan.max_fevals or space.size, space.size)
        try:
            budget = util.TuningBudget(task.plan.time_limit, most)
            self._returned = driver.search(task, space, talk.evaluate, budget)
        except KeyboardInterrupt:
            self._interrupted = True
            self._process.interrupt()
        talk.end()

    def _step(self) -> bool:
        """Take the next line or question of the program; False at its end."""
        try:
            if self._process.pump():
                if self._failure:
                    raise self._failure
                return True
        except KeyboardInterrupt:
            if self._interrupted:  # a second time: nothing is waited for
                self._process.close()
                return False
            self._interrupted = True
            self._process.interrupt()
            return True
        status = self._end.get("status", self._process.status)
        if status in (2, 3) or not self._end and not self._interrupted:
            notes = "\n".join(self._process.notes)
            text = self._end.get("error") or notes or f"ndtune ended with the status {status}"
            raise NdtuneError(told(text))
        return False

    # --- lines of the program ----------------------------------------------------------------------------------

    def _line(self, line: dict[str, Any], text: str) -> None:
        kind = line.get("kind", "header")
        if kind not in ("note", "end"):
            self.results.lines.append(text)
        if kind == "header" and self._began:  # the search begins anew, by another clock
            self.results.clear()
        elif kind == "header":
            self._header(line)
        elif kind == "result":
            self._result(line)
        elif kind == "withdrawn":
            row = self._rows.pop(self._key(line), None)
            self.results[:] = [r for r in self.results if r is not row]
        elif kind == "final":
            self._ended = self._ended or time.perf_counter()
            self._finals.append(line)
        elif kind == "end":
            self._end = line
        elif kind == "note" and self.task.verbose:
            self.progress.note(line["text"])

    def _key(self, line: Mapping[str, Any]) -> str:
        return key_of(self.task.space.values(self.task.space.configuration(line["configuration"])))

    def _header(self, line: dict[str, Any]) -> None:
        device, kernel = line["device"], getattr(self._specification, "kernel", None)
        if kernel and kernel.both and kernel.is_cuda != (device["platform"] == "CUDA"):
            self._failure = NdtuneError(f"{device['name']} of {device['platform']} takes no kernels in {kernel.lang}")
        names = {"platform_name": "platform", "platform_version": "platform_version", "device_name": "name"}
        names |= {"device_version": "version", "opencl_c_version": "opencl_c_version", "driver_version": "driver"}
        self.env |= {name: device.get(ours, "") for name, ours in names.items()}
        self.env |= {"iterations": self.task.iterations, "compiler_options": self.task.compiler_options}
        self.env["ndtune"] = line.get("tool", "")
        self._most_threads = device["max_work_group_size"]
        if device["platform"] == "CUDA":
            major, minor = map(int, device["platform_version"].split()[-1].split("."))
            self.env |= {"cuda_version": 1000 * major + 10 * minor, "device_properties": device}
            self.env |= {"uuid": device.get("uuid", ""), "pci_bus_id": device.get("pci", "").upper()}
            self.env["compute_capability"] = device.get("architecture", "").removeprefix("sm_")
        self.progress.begin(device["name"], line.get("space_size"))
        if self.task.verbose and line.get("space_size"):
            self.progress.note(f"Searchspace has {line['space_size']} configurations after restrictions.")
        if self.task.cache:
            self.task.cache.open(device["name"], list(self.task.objectives))
        missing = {i["quantity"]: i["missing"] for i in device.get("instruments") or () if "missing" in i}
        seen = {"name": device["name"], "env": self.env, "max_threads": self._most_threads}
        seen |= {"units": self.results.units, "iterations": self.task.iterations, "missing": missing}
        self._observed.register_device(**seen)
        self._began = time.perf_counter()

    def _result(self, line: dict[str, Any]) -> None:
        task, known = self.task, line.get("known") and self.task.cache
        row = task.space.configuration(line["configuration"])
        values = task.space.values(row)
        if known:
            row |= util.copy_without_benchmark_timings(known.results[key_of(values)])
        else:
            row |= self._measured(line, values)
        if "__error__" not in row:
            util.process_metrics(row, task.metrics)
        row["timestamp"] = str(datetime.now(timezone.utc))
        self._rows[key_of(values)] = row
        if task.cache and not known:
            task.cache.store(values, row)
        spent = line.get("durations_ns", {})
        row["strategy_time"], row["framework_time"] = spent.get("search", 0) / 1e6, spent.get("framework", 0) / 1e6
        self.results.append(row)
        if not known:
            self.progress.row(row, self.text(row))
        if task.strict and line["status"] not in ("correct", "constraints"):
            text = util.get_config_string({name: row[name] for name in task.space.names})
            self._failure = NdtuneError(f"{text}: {row['reason']}")
            if line["status"] == "correctness":
                self._failure = RuntimeError("Kernel result verification failed for: " + text)

    def _measured(self, line: dict[str, Any], values: Values) -> dict[str, Any]:
        """The part of a result that the program measured; times are in ms."""
        row: dict[str, Any] = {}
        if line["status"] == "correct":
            row |= self._observed.collect(values, line.get("metrics") or {})
            row |= {"time": float(np.median(line["times"])), "times": line["times"]}
        else:
            reason = row["reason"] = told(line.get("reason", ""))
            # The compilers of GPUs refuse too much local memory, and so Kernel Tuner has it.
            status = "compile" if line["status"] == "constraints" and "local memory" in reason else line["status"]
            row["__error__"] = _FAILURES[status]()
            row["__error__"].reason = reason
        spent = line.get("durations_ns", {})
        verified = spent.get("verify", 0) if "verify" in self._specification.content else 0
        row |= {"compile_time": spent.get("build", 0) / 1e6, "verification_time": verified / 1e6}
        return row | {"benchmark_time": spent.get("measure", 0) / 1e6}

    # --- what Python judges and computes -----------------------------------------------------------------------

    def _verification(self, folder: str) -> dict[str, Any]:
        """The part `verify` of the specification: empty without a check, with a command if Python judges."""
        task, arguments = self.task, self._specification.arguments
        self._wanted = [a.array is not None for a in arguments]
        in_python = bool(task.verify or self._observed.outputs)
        if task.answer:
            task.answer = [np.array(e) if isinstance(e, (list, tuple)) else e for e in task.answer]
            if len(task.answer) != len(arguments):
                raise TypeError("The length of argument list and provided results do not match.")
        if all(expected is None for expected in task.answer or ()):
            return {"command": [], "inputs": False} if in_python else {}
        self._wanted = [is_array and e is not None for is_array, e in zip(self._wanted, task.answer, strict=True)]
        files, tolerances = {}, {"atol": task.atol, "rtol": task.rtol}
        for i, (argument, expected) in enumerate(zip(arguments, task.answer, strict=True)):
            if expected is not None and not in_python:
                array = check_answer(i, argument.value, expected)
                in_python = not argument.comparable(array) or any(np.ndim(t) for t in tolerances.values())
                if not in_python:
                    flat = np.ascontiguousarray(array, util.on_host(argument.value).dtype).reshape(-1)
                    files[argument.name] = save(folder, f"{argument.name}.expected", flat)
        if in_python:
            return {"command": [], "inputs": False}
        return {"npy": files} | {
            name: self._specification.expression(value, name) if callable(value) else float(value)
            for name, value in tolerances.items()
        }

    def _judge(self, question: dict[str, Any]) -> dict[str, Any]:
        """Answer whether the outputs of a configuration are correct, by the user's function or by numpy.allclose."""
        task, specification = self.task, self._specification
        outputs = specification.loaded(question["outputs"], self._wanted)
        params = specification.configuration(question["configuration"])
        if self._observed.outputs:  # as in Kernel Tuner: who observes the outputs judges them, too
            self._observed.judge(specification.values(params), task.answer, outputs)
        atol, rtol = (t(params) if callable(t) else t for t in (task.atol, task.rtol))
        if task.verify:
            correct = task.verify(task.answer, outputs, atol=atol)
            return {"correct": bool(correct), "reason": "the function verify= says that the output is wrong"}
        compared = [] if self._observed.outputs else zip(specification.arguments, task.answer, outputs, strict=True)
        for argument, expected, output in compared:
            if expected is not None and output is not None:
                want, got = util.on_host(expected).ravel(), util.on_host(output).ravel()
                wrong = int(np.sum(~np.isclose(want, got, rtol=rtol, atol=atol, equal_nan=True)))
                if wrong:
                    return {"correct": False, "reason": f"{argument.name}: {wrong} of {want.size} elements differ"}
        return {"correct": True}

    def _objectives(self) -> dict[str, Any]:
        """The parts `metrics` and `objective` of the specification; Python computes what is no expression there."""
        observed, metrics = self._observed.quantities, {}
        if set(self.task.objectives) - {"time"}:
            metrics = {name: f"{own} * {factor}" for name, (own, factor) in observed.items() if name != own}
            for name, metric in (self.task.metrics or {}).items():
                names = ["time", *(n for n in {**observed, **metrics} if n.isidentifier())]
                if name not in [*self.task.space.names, *names]:
                    with contextlib.suppress(Exception):  # also of a function that reads more than times
                        metrics[name] = self._specification.expression(metric, f"the metric {name}", names=names)
        entries = []
        for i, (name, higher) in enumerate(self.task.objectives.items()):
            if name not in ("time", *metrics, *observed):
                self._quantities[f"objective_{i}"] = name
                name = f"objective_{i}"
            entries.append({"name": name, "direction": "maximize" if higher else "minimize"})
        return {"metrics": metrics, "objective": entries} if metrics else {"objective": entries}

    def _evaluate(self, question: dict[str, Any]) -> dict[str, Any]:
        """Answer with the objectives of a configuration whose times are known."""
        question = question["end"]
        row, times = self.task.space.configuration(question["configuration"]), question["times"]
        row |= self._observed.collect(self.task.space.values(row), {})
        row |= {"time": float(np.median(times)), "times": times}
        util.process_metrics(row, self.task.metrics)
        for name in self._quantities.values():
            if name not in row:
                raise ValueError(f"the objective {name!r} is none of what a result has: {', '.join(row)}")
        return {quantity: row[name] for quantity, name in self._quantities.items()}

    def _known(self) -> str:
        """The results of the cache file, as the program takes them after the specification."""
        lines = ["\n---"]
        for entry in self.task.cache.results.values() if self.task.cache else ():
            row, error = dict(entry), str(entry.get("__error__"))
            line: dict[str, Any] = {"configuration": self.task.space.plain(row), "status": _STATUS.get(error)}
            if "__error__" not in row:
                util.process_metrics(row, self.task.metrics)
                line |= {"status": "correct", "times": row.get("times") or [row["time"]]}
                line["metrics"] = {quantity: row[name] for quantity, name in self._quantities.items()}
            lines.append(json.dumps(line, cls=util.NpEncoder, ensure_ascii=False))
        return "\n".join(lines) + "\n" if len(lines) > 1 else ""

    # --- the end -----------------------------------------------------------------------------------------------

    def _finish(self) -> None:
        task, space = self.task, self.task.space
        if self._returned is not None:
            self.results[:] = self._returned
        if task.cache:
            task.cache.close()
        if task.plan.used == "brute_force":
            self.results.sort(key=space.order)  # several workers build: results come in another order
        self.env["log"] = task.keep_log
        self.env["finals"] = [
            space.configuration(f["configuration"])
            | {"times": f.get("times", []), "time": float(np.median(f.get("times", np.inf)))}
            | ({"reason": told(f["reason"])} if "reason" in f else {})
            for f in self._finals
        ]
        best = self._end.get("best")
        winner = self._rows.get(self._key({"configuration": best})) if best else None
        self.finish(1000 * ((self._ended or time.perf_counter()) - self._began), winner)
        if self._interrupted:
            raise Interrupted(self.results, self.env)


def check_answer(place: int, argument: Any, expected: Any) -> np.ndarray:
    """The expected output of an argument as an array; what Kernel Tuner raises if they cannot be compared."""
    if isinstance(argument, np.generic):
        raise TypeError(f"Element {place} of expected results list is for a scalar, which no kernel changes: give None")
    if not all(util.is_array(value) for value in (argument, expected)) or (
        util.is_tensor(argument) != util.is_tensor(expected)
    ):
        raise TypeError(f"Element {place} of expected results list is not a numpy/cupy ndarray or torch Tensor.")
    ours, theirs = (util.on_host(value) for value in (argument, expected))
    what = f"Element {place} of the expected results list has a"
    if not (np.can_cast(ours.dtype, theirs.dtype) if not util.is_tensor(argument) else ours.dtype == theirs.dtype):
        raise TypeError(
            f"{what} dtype that is not compatible with the dtype of the kernel output: {theirs.dtype} != {ours.dtype}."
        )
    if theirs.size != ours.size:
        raise ValueError(f"{what} size different from the kernel argument: {theirs.size} != {ours.size}.")
    if theirs.dtype.kind in "fc" and (count := int(np.isnan(theirs).sum())):
        said = f"Answer contains {count} NaNs. NaN values will now be considered equal in comparison."
        _caller.warn(said)
    return theirs
