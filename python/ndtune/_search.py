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

from ndtune import util
from ndtune._binary import NdtuneError
from ndtune._cache import key_of
from ndtune._callbacks import Callbacks
from ndtune._outcome import Interrupted, Outcome, Task
from ndtune._process import Process
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
            talk = driver.Conversation(
                specification,
                self._step,
                lambda message: callbacks.send("strategy", message),
                lambda values: self._rows.get(key_of(values)),
            )
            handlers = {"verify": self._judge, "objective": self._evaluate, "strategy": talk.answer}
            callbacks = stack.enter_context(Callbacks(handlers | specification.handlers | self._observed.handlers))
            arguments = self._arguments(folder, callbacks)
            self._process = stack.enter_context(Process(arguments, self._line, callbacks))
            # The program loads drivers from here on.
            content |= self._objectives()
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
        arguments = ["tune", "-", "--json", "--no-peak", "--log", task.keep_log or os.path.join(folder, "run.jsonl")]
        arguments += [*task.plan.arguments, *self._observed.arguments, *task.flags]
        if task.plan.object:
            arguments += ["--strategy", "command:" + shlex.join(callbacks.command("strategy"))]
        if task.plan.time_limit is not None:
            startup = time.perf_counter() - task.begun
            if startup > task.plan.time_limit:
                raise RuntimeError(
                    f"The startup time of the tuning process ({startup} seconds) has exceeded the time limit "
                    f"({task.plan.time_limit} seconds). Please increase the time limit or decrease the size of the "
                    "search space."
                )
            arguments += ["--time-limit", f"{task.plan.time_limit - startup:.6f}s"]
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
            if self._interrupted:
                raise
            self._interrupted = True
            self._process.interrupt()
            return True
        status = self._end.get("status", self._process.status)
        if status in (2, 3) or not self._end and not self._interrupted:
            notes = "\n".join(self._process.notes)
            raise NdtuneError(self._end.get("error") or notes or f"ndtune ended with the status {status}")
        return False

    # --- lines of the program ----------------------------------------------------------------------------------

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
            self._ended = self._ended or time.perf_counter()
            self._finals.append(line)
        elif kind == "end":
            self._end = line
        elif kind == "note" and self.task.verbose:
            self.progress.note(line["text"])

    def _key(self, line: Mapping[str, Any]) -> str:
        return key_of(self.task.space.values(self.task.space.configuration(line["configuration"])))

    def _header(self, line: dict[str, Any]) -> None:
        device = line["device"]
        names = {"platform_name": "platform", "platform_version": "platform_version", "device_name": "name"}
        names |= {"device_version": "version", "opencl_c_version": "opencl_c_version", "driver_version": "driver"}
        self.env |= {name: device.get(ours, "") for name, ours in names.items()}
        self.env |= {"iterations": self.task.iterations, "compiler_options": self.task.compiler_options}
        self.env["ndtune"] = line.get("tool", "")
        self._most_threads = device["max_work_group_size"]
        self.progress.begin(device["name"], line.get("space_size"))
        if self.task.verbose and line.get("space_size"):
            self.progress.note(f"Searchspace has {line['space_size']} configurations after restrictions.")
        if self.task.cache:
            self.task.cache.open(device["name"], list(self.task.objectives))
        self._observed.register_device(
            name=device["name"],
            env=self.env,
            max_threads=self._most_threads,
            units=self.results.units,
            iterations=self.task.iterations,
            missing={i["quantity"]: i["missing"] for i in device.get("instruments") or () if "missing" in i},
        )
        self._began = time.perf_counter()

    def _result(self, line: dict[str, Any]) -> None:
        task = self.task
        row = task.space.configuration(line["configuration"])
        values = task.space.values(row)
        if line.get("known") and task.cache:
            row |= util.copy_without_benchmark_timings(task.cache.results[key_of(values)])
        else:
            row |= self._measured(line, values)
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
            self.progress.row(row, self.text(row))
        if task.strict and "__error__" in row:
            self._failure = self._raised(row, line["status"])

    def _measured(self, line: dict[str, Any], values: Values) -> dict[str, Any]:
        """The part of a result that the program measured; times are in ms."""
        row: dict[str, Any] = {}
        if line["status"] == "correct":
            row |= {"time": float(np.mean(line["times"])), "times": line["times"]}
            row |= self._observed.collect(values, line.get("metrics") or {})
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
        if "verify" not in self._specification.content:
            row["verification_time"] = 0
        return row

    def _raised(self, row: dict[str, Any], status: str) -> Exception | None:
        """What Kernel Tuner raises for a failure, None for those that are results there too."""
        configuration = {name: row[name] for name in self.task.space.names}
        if status == "correctness":
            return RuntimeError("Kernel result verification failed for: " + util.get_config_string(configuration))
        if status == "constraints":
            return None
        return NdtuneError(f"{util.get_config_string(configuration)}: {row['reason']}")

    # --- what Python judges and computes -----------------------------------------------------------------------

    def _verification(self, folder: str) -> dict[str, Any]:
        """The part `verify` of the specification: empty without a check, with a command if Python judges."""
        task, arguments = self.task, self._specification.arguments
        self._wanted = [a.array is not None for a in arguments]
        if not task.answer and not task.verify and not self._observed.outputs:
            return {}
        if task.answer:
            if len(task.answer) != len(arguments):
                raise TypeError("The length of argument list and provided results do not match.")
            self._wanted = [expected is not None for expected in task.answer]
        if task.verify or self._observed.outputs or not task.answer:
            return {"command": []}
        expected_files = {}
        for i, (argument, expected) in enumerate(zip(arguments, task.answer, strict=True)):
            if expected is None:
                continue
            expected = check_answer(i, argument.value, expected)
            if not argument.comparable(expected):
                return {"command": []}
            assert argument.array is not None
            flat = np.ascontiguousarray(expected).reshape(-1).astype(argument.array.dtype, copy=False)
            expected_files[argument.name] = save(folder, f"{argument.name}.expected", flat)
        try:
            tolerances = {
                name: self._specification.expression(value, name) if callable(value) else float(value)
                for name, value in (("atol", task.atol), ("rtol", task.rtol))
            }
        except TypeError:  # an array of tolerances
            return {"command": []}
        return {"npy": expected_files, **tolerances}

    def _judge(self, question: dict[str, Any]) -> dict[str, Any]:
        """Answer whether the outputs of a configuration are correct, by the user's function or by numpy.allclose."""
        task, specification = self.task, self._specification
        outputs = specification.loaded(question["outputs"], self._wanted)
        params = specification.configuration(question["configuration"])
        if self._observed.outputs:
            self._observed.judge(specification.values(params), task.answer, outputs)
        atol, rtol = (t(params) if callable(t) else t for t in (task.atol, task.rtol))
        if task.verify:
            correct = task.verify(task.answer, outputs, atol=atol)
            return {"correct": bool(correct), "reason": "the function verify= says that the output is wrong"}
        if self._observed.outputs:  # as in Kernel Tuner: who observes the outputs judges them, too
            return {"correct": True}
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
        """The parts `metrics` and `objective` of the specification; Python computes what is no expression there."""
        observed = self._observed.quantities
        metrics = {name: f"{quantity} * {factor}" for name, (quantity, factor) in observed.items() if name != quantity}
        if set(self.task.objectives) <= {"time"}:
            metrics = {}
        for name, metric in (self.task.metrics or {}).items() if metrics or {*self.task.objectives} - {"time"} else ():
            names = ["time", *(n for n in {**observed, **metrics} if n.isidentifier())]
            if name not in self.task.space.names and name not in names:
                with contextlib.suppress(NotImplementedError):
                    metrics[name] = self._specification.expression(metric, f"the metric {name}", names=names)
        entries = []
        for i, (name, higher) in enumerate(self.task.objectives.items()):
            quantity = name
            if name != "time" and name not in metrics and name not in observed:
                quantity = f"objective_{i}"
                self._quantities[quantity] = name
            entries.append({"name": quantity, "direction": "maximize" if higher else "minimize"})
        return {"metrics": metrics, "objective": entries} if metrics else {"objective": entries}

    def _evaluate(self, question: dict[str, Any]) -> dict[str, Any]:
        """Answer with the objectives of a configuration whose times are known."""
        if "end" not in question:
            return {}
        question = question["end"]
        row = self.task.space.configuration(question["configuration"])
        times = question["times"]
        values = self.task.space.values(row)
        row |= {"time": float(np.mean(times)), "times": times}
        row |= self._observed.collect(values, {})
        util.process_metrics(row, self.task.metrics)
        return {quantity: row[name] for quantity, name in self._quantities.items()}

    def _known(self) -> str:
        """The results of the cache file, as the program takes them after the specification."""
        lines = ["\n---"]
        for entry in self.task.cache.results.values() if self.task.cache else ():
            row = dict(entry)
            error = row.get("__error__")
            line: dict[str, Any] = {"configuration": self.task.space.plain(row), "status": _STATUS.get(str(error))}
            if not error:
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
            space.configuration(f["configuration"]) | {"times": f["times"], "time": float(np.median(f["times"]))}
            for f in self._finals
        ]
        best = self._end.get("best")
        winner = self._rows.get(self._key({"configuration": best})) if best else None
        self.finish(1000 * ((self._ended or time.perf_counter()) - self._began), winner)
        if self._interrupted:
            raise Interrupted(self.results, self.env)


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
