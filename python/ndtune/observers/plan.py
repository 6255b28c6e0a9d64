"""Which observers the program replaces by its own quantities, and how those in Python see the launches."""

from __future__ import annotations

import inspect
import math
import re
import time
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from ndtune import _caller
from ndtune._space import Space, Values
from ndtune.observers.observer import BenchmarkObserver, OutputObserver, PrologueObserver, QuantityObserver

_CALLS = ("before_start", "after_start", "during", "after_finish")
_DEVICE = ("name", "env", "max_threads", "units", "iterations")


class Plan:
    """The observers of a search.

    arguments belong into the command line. quantities has for each key of a result the program's quantity and a
    factor. handlers answer the questions of the instruments. outputs are the observers of outputs.
    """

    def __init__(self, observers: list[BenchmarkObserver], space: Space) -> None:
        self._space, self._observers = space, observers
        self._own = [o for o in observers if isinstance(o, QuantityObserver)]
        self.quantities = {key: quantity for o in self._own for key, quantity in o.quantities.items()}
        self._settings = {s: n for o in self._own for n, s in o.settings.items() if n in space.names}
        self.arguments = ["--allow", "settings"] if self._settings else []
        self.outputs = [o for o in observers if isinstance(o, OutputObserver)]
        rest = [o for o in observers if not isinstance(o, (QuantityObserver, OutputObserver))]
        for observer in [*rest, *self.outputs]:
            _check(observer)
        by_kind = {
            "configuration": [o for o in rest if not _overrides(o, *_CALLS)],
            "launch": [o for o in rest if _overrides(o, *_CALLS)],
            "window": [o.continuous_observer for o in rest if hasattr(o, "continuous_observer")],
        }
        self._by_kind: dict[str, list[Any]] = {kind: found for kind, found in by_kind.items() if found}
        self._found: dict[Values, dict[str, Any]] = {}
        self.handlers = {kind: lambda message, kind=kind: self._see(kind, message) for kind in self._by_kind}

    def measure(self, command: Callable[[str], list[str]]) -> dict[str, Any]:
        """The entries of `measure` in the specification, with the command for a kind of questions."""
        names = {kind: f"python_{kind}" for kind in self._by_kind}
        instruments = []
        for kind, observers in self._by_kind.items():
            entry = {"command": command(kind), "quantities": [names[kind]], "each": kind, "timeout": "24h"}
            window = {"window": _seconds(observers)} if kind == "window" else {}
            instruments.append(entry | window)
        entries = {
            "observe": [*sorted({quantity for quantity, _ in self.quantities.values()}), *names.values()],
            "instruments": instruments,
            "settings": {setting: self._space.rename.get(name, name) for setting, name in self._settings.items()},
            "window": _seconds([o for o in self._own if o.continuous_duration != 1]),
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
                _caller.warn(f"{key} is nan in all results: {missing[quantity]}")

    def judge(self, values: Values, answer: Any, outputs: list[Any]) -> None:
        """Show the outputs of a configuration to the observers of outputs."""
        for observer in self.outputs:
            observer.register_configuration(dict(zip(self._space.names, values, strict=True)))
            observer.process_output(answer, outputs)
            self._add(values, observer)

    def collect(self, values: Values, metrics: Mapping[str, float | None]) -> dict[str, Any]:
        """What all observers add to a result, from the program's metrics of it."""
        row = dict(self._found.get(values, {}))
        for observer in self._own:
            for key, (quantity, factor) in observer.quantities.items():
                value = metrics.get(quantity)
                if value is None and quantity in metrics and observer.required:
                    raise NotImplementedError(
                        "Backend 'OpenCLFunctions' does not support count of registers per thread"
                    )
                row[key] = math.nan if value is None else value * factor
        return row

    def _add(self, values: Values, observer: BenchmarkObserver) -> None:
        self._found.setdefault(values, {}).update(observer.get_results())

    def _see(self, kind: str, message: dict[str, Any]) -> Any:
        """Answer a question of the instrument of a kind, whose launches the observers see."""
        question = message.get("begin") or message["end"]
        configuration = self._space.configuration(question["configuration"])
        values = self._space.values(configuration)
        first, last = question["launch"] == 0, question["launch"] == len(question["times"]) - 1 or kind != "launch"
        seeing = [o for o in self._by_kind[kind] if first or not isinstance(o, PrologueObserver)]
        if first and ("begin" in message or kind == "configuration"):
            for observer in seeing:
                observer.register_configuration(configuration)
        if "begin" in message:
            for observer in seeing:
                if kind == "window":
                    observer.results = {"time": float(np.median(question["times"])), **self._found.get(values, {})}
                observer.before_start()
            return {}, lambda ready: _watch(seeing, ready)
        for observer in seeing:
            if kind != "configuration":
                observer.after_finish()
            if last or isinstance(observer, PrologueObserver):
                self._add(values, observer)
        return {f"python_{kind}": 1}


def _watch(observers: list[BenchmarkObserver], ready: Callable[[], bool]) -> None:
    """Call what observers do from the start of a launch to its end."""
    for observer in observers:
        observer.after_start()
    watching = [o for o in observers if _overrides(o, "during")]
    while watching and not ready():
        for observer in watching:
            observer.during()
        time.sleep(1e-6)


def _seconds(observers: list[Any]) -> str:
    return f"{max(1, *(o.continuous_duration for o in observers))}s" if observers else ""


def _overrides(observer: BenchmarkObserver, *names: str) -> bool:
    return any(getattr(type(observer), name, None) is not getattr(BenchmarkObserver, name) for name in names)


def _check(observer: BenchmarkObserver) -> None:
    """Raise NotImplementedError if the source of an observer uses more of self.dev than it gets to see."""
    for cls in type(observer).__mro__:
        try:
            source = inspect.getsource(cls) if cls.__module__.split(".")[0] != "ndtune" else ""
        except (OSError, TypeError):
            continue
        for name in re.findall(r"\bself\.dev\.(\w+)", source):
            if name not in _DEVICE:
                raise NotImplementedError(
                    f"the observer {type(observer).__name__} uses self.dev.{name}: the device is in another process, "
                    f"and observers have only {', '.join(_DEVICE)} of it"
                )


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
