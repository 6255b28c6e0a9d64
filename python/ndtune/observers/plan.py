"""Which observers the program replaces by its own quantities, and how those in Python see the launches."""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from ndtune._space import Space, Values
from ndtune.observers.observer import (
    BenchmarkObserver,
    ContinuousObserver,
    OutputObserver,
    PrologueObserver,
    QuantityObserver,
)

Question = dict[str, Any]
_DEVICE = ("name", "env", "max_threads", "units", "iterations")
_CALLS = ("before_start", "after_start", "during", "after_finish")


class Plan:
    """The observers of a search.

    arguments belong into the command line. quantities has for each key of a result the program's quantity and a
    factor. handlers answer the questions of the instruments. outputs are the observers of outputs.
    """

    def __init__(self, observers: list[BenchmarkObserver], space: Space) -> None:
        self._space, self._observers = space, observers
        own = [o for o in observers if isinstance(o, QuantityObserver)]
        python = [o for o in observers if not isinstance(o, QuantityObserver)]
        for observer in python:
            _check(observer)
        self.quantities = {key: quantity for o in own for key, quantity in o.quantities.items()}
        self._required = {key for o in own for key in o.quantities if getattr(o, "required", False)}
        self._settings = {
            setting: space.rename.get(name, name)
            for o in own
            for name, setting in o.settings.items()
            if name in space.names
        }
        self.arguments = ["--allow", "settings"] if self._settings else []
        windows = [o.continuous_duration for o in own if o.continuous_duration != 1]
        self._window_of_quantities = f"{max(windows)}s" if windows else None
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

    def measure(self, command: Callable[[str], list[str]]) -> dict[str, Any]:
        """The entries of `measure` in the specification, with the command for a kind of questions."""
        own = {quantity for quantity, _ in self.quantities.values()}
        instruments: list[dict[str, Any]] = [
            {"command": command(kind), "quantities": [f"python_{kind}"], "each": kind, "timeout": "24h"}
            for kind in self.handlers
        ]
        for entry in instruments:
            if entry["each"] == "window":
                entry["window"] = f"{max(1, *(o.continuous_duration for o in self._continuous))}s"
        entries = {
            "observe": [*sorted(own), *(f"python_{kind}" for kind in self.handlers)],
            "instruments": instruments,
            "settings": self._settings,
            "window": self._window_of_quantities,
        }
        return {key: entry for key, entry in entries.items() if entry}

    def register_device(self, **device: Any) -> None:
        """Show the device, with the attributes that observers may use, to all of them.

        missing has the reasons why it lacks quantities: those will be nan.
        """
        missing = device.pop("missing")
        for observer in self._observers:
            observer.register_device(SimpleNamespace(**device))
        for key, (quantity, _) in self.quantities.items():
            if quantity in missing:
                warnings.warn(f"{key} is nan in all results: {missing[quantity]}", stacklevel=2)

    def judge(self, values: Values, answer: Any, outputs: list[Any]) -> None:
        """Show the outputs of a configuration to the observers of outputs."""
        for observer in self.outputs:
            observer.register_configuration(dict(zip(self._space.names, values, strict=True)))
            observer.process_output(answer, outputs)
            self._add(values, observer.get_results())

    def collect(self, values: Values, metrics: Mapping[str, float | None]) -> dict[str, Any]:
        """What all observers add to a result, from the program's metrics of it."""
        row = dict(self._found.get(values, {}))
        for key, (quantity, factor) in self.quantities.items():
            value = metrics.get(quantity)
            if value is None and quantity in metrics and key in self._required:
                raise NotImplementedError("Backend 'OpenCLFunctions' does not support count of registers per thread")
            row[key] = math.nan if value is None else value * factor
        return row

    def _add(self, values: Values, results: Any) -> None:
        self._found.setdefault(values, {}).update(results)

    def _register(self, question: Question, observers: Iterable[BenchmarkObserver]) -> Values:
        configuration = self._space.configuration(question["configuration"])
        for observer in observers:
            observer.register_configuration(configuration)
        return self._space.values(configuration)

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
                observer.results = {"time": sum(begin["times"]) / len(begin["times"]), **self._found.get(values, {})}
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


def plan(observers: Any, space: Space, **arguments: Any) -> Plan:
    """Plan the observers of tune_kernel: objects, or functions of a dictionary with the arguments that make one.

    Raises TypeError for what is none, NotImplementedError for what reaches into the device.
    """

    def made(observer: Any) -> BenchmarkObserver:
        if isinstance(observer, BenchmarkObserver):
            return observer
        if callable(observer):
            return made(observer(arguments))
        raise TypeError(f"Invalid observer: {observer!r} does not extend BenchmarkObserver")

    return Plan([made(observer) for observer in observers or ()], space)


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
                    if name not in _DEVICE:
                        raise NotImplementedError(
                            f"the observer {type(observer).__name__} uses self.dev.{name}: the device is in another "
                            f"process, and observers have only {', '.join(_DEVICE)} of it"
                        )
