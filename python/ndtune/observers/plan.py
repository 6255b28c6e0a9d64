"""Which observers the program replaces by its own quantities, and how those in Python see the launches."""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ndtune._specification import Specification, Values
from ndtune.observers.observer import (
    BenchmarkObserver,
    ContinuousObserver,
    OutputObserver,
    PrologueObserver,
    QuantityObserver,
)

Question = dict[str, Any]
_CALLS = ("before_start", "after_start", "during", "after_finish")


@dataclass
class Device:
    """What observers see of the device: it is in another process."""

    name: str
    env: dict[str, Any]
    max_threads: int
    units: dict[str, str]
    iterations: int


class Plan:
    """The observers of a search.

    observe and settings belong into `measure` of the specification, arguments into the command line. quantities has for
    each key of a result the program's quantity and a factor. handlers answer the questions of the instruments.
    """

    def __init__(self, observers: list[BenchmarkObserver], specification: Specification) -> None:
        self._specification, self._observers = specification, observers
        own = [o for o in observers if isinstance(o, QuantityObserver)]
        python = [o for o in observers if not isinstance(o, QuantityObserver)]
        for observer in python:
            _check(observer)
        self.quantities = {key: quantity for o in own for key, quantity in o.quantities.items()}
        self._required = {key for o in own for key in o.quantities if getattr(o, "required", False)}
        self.settings = {
            setting: specification.rename.get(name, name)
            for o in own
            for name, setting in o.settings.items()
            if name in specification.names
        }
        self.arguments = ["--allow", "settings"] if self.settings else []
        windows = [o.continuous_duration for o in own if o.continuous_duration != 1]
        self.window = f"{max(windows)}s" if windows else None
        self.outputs = [o for o in python if isinstance(o, OutputObserver)]
        self._prologue: list[BenchmarkObserver] = [o for o in python if isinstance(o, PrologueObserver)]
        rest = [o for o in python if not isinstance(o, (OutputObserver, PrologueObserver))]
        self._once = [o for o in rest if not _overrides(o, *_CALLS)]
        self._framed = [o for o in rest if _overrides(o, *_CALLS)]
        self._continuous: list[ContinuousObserver] = [
            o.continuous_observer for o in rest if hasattr(o, "continuous_observer")
        ]
        self._found: dict[Values, dict[str, Any]] = {}
        self.handlers = {
            kind: handler
            for kind, handler, used in (
                ("launch", self._launch, self._framed or self._prologue),
                ("window", self._window, self._continuous),
                ("configuration", self._configuration, self._once),
            )
            if used
        }

    @property
    def observe(self) -> list[str]:
        """The quantities that the program observes."""
        own = [quantity for quantity, _ in self.quantities.values()]
        return list(dict.fromkeys([*own, *(f"python_{kind}" for kind in self.handlers)]))

    def instruments(self, command: Callable[[str], list[str]]) -> list[dict[str, Any]]:
        """The entries of `measure.instruments`, with the command for a kind of questions."""
        entries: list[dict[str, Any]] = [
            {"command": command(kind), "quantities": [f"python_{kind}"], "each": kind, "timeout": "24h"}
            for kind in self.handlers
        ]
        for entry in entries:
            if entry["each"] == "window":
                entry["window"] = f"{max(1, *(o.continuous_duration for o in self._continuous))}s"
        return entries

    def register_device(self, device: Device, missing: dict[str, str]) -> None:
        """Show the device to all observers. missing has the reasons why it lacks quantities: those will be nan."""
        for observer in self._observers:
            observer.register_device(device)
        for key, (quantity, _) in self.quantities.items():
            if quantity in missing:
                warnings.warn(f"{key} is nan in all results: {missing[quantity]}", stacklevel=2)

    def judge(self, configuration: dict[str, Any], answer: Any, outputs: list[Any]) -> None:
        """Show the outputs of a configuration to the observers of outputs."""
        for observer in self.outputs:
            observer.register_configuration(configuration)
            observer.process_output(answer, outputs)
            self._add(self._specification.values(configuration), observer.get_results())

    def collect(self, values: Values, line: dict[str, Any]) -> dict[str, Any]:
        """What all observers add to a result, from the program's line of it."""
        row = dict(self._found.get(values, {}))
        for key, (quantity, factor) in self.quantities.items():
            value = (line.get("metrics") or {}).get(quantity)
            if value is None and key in self._required:
                reasons = {r["quantity"]: r.get("missing") for r in line.get("readings", ())}
                raise NotImplementedError(
                    f"Backend 'OpenCLFunctions' does not support count of registers per thread: {reasons.get(quantity)}"
                )
            row[key] = math.nan if value is None else value * factor
        return row

    def found(self, values: Values) -> dict[str, Any]:
        """What the observers in Python have found for a configuration so far."""
        return self._found.get(values, {})

    def _add(self, values: Values, results: Any) -> None:
        self._found.setdefault(values, {}).update(results)

    def _register(self, question: Question, observers: Iterable[BenchmarkObserver]) -> Values:
        configuration = self._specification.configuration(question["configuration"])
        for observer in observers:
            observer.register_configuration(configuration)
        return self._specification.values(configuration)

    def _launch(self, message: Question) -> Any:
        begin, end = message.get("begin"), message.get("end")
        if begin is not None:
            framed = [*self._framed, *(self._prologue if begin["launch"] == 0 else [])]
            if begin["launch"] == 0:
                self._register(begin, framed)
            return _started(framed)
        assert end is not None
        values = self._register(end, [])
        if end["launch"] == 0:
            for observer in self._prologue:
                observer.after_finish()
                self._add(values, observer.get_results())
        for observer in self._framed:
            observer.after_finish()
        if end["launch"] == len(end["times"]) - 1:
            for observer in self._framed:
                self._add(values, observer.get_results())
        return {"python_launch": 1}

    def _window(self, message: Question) -> Any:
        if begin := message.get("begin"):
            values = self._register(begin, self._continuous)
            for observer in self._continuous:
                observer.results = {"time": sum(begin["times"]) / len(begin["times"]), **self.found(values)}
            return _started(self._continuous)
        values = self._register(message["end"], [])
        for observer in self._continuous:
            observer.after_finish()
            self._add(values, observer.get_results())
        return {"python_window": 1}

    def _configuration(self, message: Question) -> Question:
        values = self._register(message["end"], self._once)
        for observer in self._once:
            self._add(values, observer.get_results())
        return {"python_configuration": 1}


def _started(observers: list[Any]) -> Any:
    """The answer that starts a launch, and what observers do from its start to its end."""
    for observer in observers:
        observer.before_start()
    watching = [o for o in observers if _overrides(o, "during")]

    def watch(ready: Callable[[], bool]) -> None:
        for observer in observers:
            observer.after_start()
        while watching and not ready():
            for observer in watching:
                observer.during()
            time.sleep(1e-6)

    return {}, watch


def plan(observers: Any, specification: Specification, **arguments: Any) -> Plan:
    """Plan the observers of tune_kernel: objects, or functions of a dictionary with the arguments that make one.

    Raises TypeError for what is none, NotImplementedError for what reaches into the device.
    """

    def made(observer: Any) -> BenchmarkObserver:
        if isinstance(observer, BenchmarkObserver):
            return observer
        if callable(observer):
            return made(observer(arguments))
        raise TypeError(f"Invalid observer: {observer!r} does not extend BenchmarkObserver")

    return Plan([made(observer) for observer in observers or ()], specification)


def _overrides(observer: BenchmarkObserver, *names: str) -> bool:
    return any(getattr(type(observer), name, None) is not getattr(BenchmarkObserver, name) for name in names)


def _check(observer: BenchmarkObserver) -> None:
    """Raise NotImplementedError if the source of an observer uses more of self.dev than a Device has."""
    for cls in type(observer).__mro__:
        try:
            source = inspect.getsource(cls) if cls.__module__.split(".")[0] != "ndtune" else ""
            tree = ast.parse(textwrap.dedent(source))
        except (OSError, TypeError, SyntaxError):
            continue
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"), attr="dev"), attr=name):
                    if name not in Device.__dataclass_fields__:
                        raise NotImplementedError(
                            f"the observer {type(observer).__name__} uses self.dev.{name}: the device is in another "
                            f"process, and observers have only {', '.join(Device.__dataclass_fields__)} of it"
                        )
