"""The classes that observers are made of."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Any

import numpy as np


class BenchmarkObserver(ABC):
    """Sees launches of each configuration and adds to its result.

    The launches are as many as the timed ones, and follow them: what an observer does never changes a time. The order
    of the calls is register_configuration; for each launch before_start, after_start, during (as often as possible
    while the kernel runs) and after_finish; get_results.
    """

    dev: Any = None

    def register_device(self, dev: Any) -> None:
        """Called once, before the first configuration: dev has name, env, max_threads, units and iterations."""
        self.dev = dev

    def register_configuration(self, params: dict[str, Any]) -> None:
        """Called before the launches of a configuration, with its parameters."""
        return

    def before_start(self) -> None:
        """Called before a launch."""
        return

    def after_start(self) -> None:
        """Called when a launch has begun."""
        return

    def during(self) -> None:
        """Called as often as possible while the kernel runs."""
        return

    def after_finish(self) -> None:
        """Called after a launch."""
        return

    @abstractmethod
    def get_results(self) -> dict[str, Any]:
        """Return what is added to the result of the configuration."""


class IterationObserver(BenchmarkObserver):
    """An observer of single launches, as BenchmarkObserver."""


class OutputObserver(BenchmarkObserver):
    """Sees the output of each configuration. Without `verify=`, it judges the output in place of `answer=`."""

    @abstractmethod
    def process_output(self, answer: Any, output: Any) -> None:
        """Called with `answer=` of tune_kernel and a list of the outputs, before the configuration is timed."""


class PrologueObserver(BenchmarkObserver):
    """An observer of a single launch of each configuration, by before_start and after_finish."""


class ContinuousObserver(BenchmarkObserver):
    """Measures power while the kernel is repeated for continuous_duration seconds, at least 1.

    It is the attribute continuous_observer of another observer, parent, whose method read_power returns watts. The
    observables are NAME_power (W, the median), NAME_energy (J, of one launch) and power_readings ([s, W], …). results
    has what is known of the configuration so far, with its time in ms.
    """

    def __init__(self, name: str, observables: list[str], parent: Any, continuous_duration: float = 1) -> None:
        supported = [name + "_power", name + "_energy", "power_readings"]
        for observable in observables:
            if observable not in supported:
                raise ValueError(f"Observable {observable} not in supported: {supported}")
        self.name, self.observables, self.parent = name, observables, parent
        self.continuous_duration = continuous_duration
        self.results: dict[str, Any] = {}
        self.power_readings: list[list[float]] = []

    def before_start(self) -> None:
        """Begin anew."""
        self.parent.before_start()
        self.power_readings = []

    def after_start(self) -> None:
        """Take the time."""
        self.parent.after_start()
        self.t0 = time.perf_counter()

    def during(self) -> None:
        """Read the power; an unchanged one is kept every 10 ms."""
        self.parent.during()
        power, now = self.parent.read_power(), time.perf_counter() - self.t0
        last = self.power_readings[-1] if self.power_readings else [-1.0, -1.0]
        if power != last[1] or now - last[0] > 0.01:
            self.power_readings.append([now, power])

    def after_finish(self) -> None:
        """End."""
        self.parent.after_finish()

    def get_results(self) -> dict[str, Any]:
        """Return the observables, and those of the parent with the prefix pwr_."""
        results = {"pwr_" + key: value for key, value in self.parent.get_results().items()}
        power = float(np.median([reading[1] for reading in self.power_readings])) if self.power_readings else 0
        known = {"_power": power, "_energy": power * self.results["time"] / 1000}
        known = {self.name + key: value for key, value in known.items()}
        return results | {o: known.get(o, self.power_readings) for o in self.observables}


class QuantityObserver(BenchmarkObserver):
    """Names quantities that the program observes: quantities has, for each key of a result, its name and a factor."""

    quantities: dict[str, tuple[str, float]]
    settings: dict[str, str] = {}  # parameter and setting of the device
    continuous_duration = 1.0  # seconds for which a kernel is repeated; 1 leaves it to the program

    def get_results(self) -> dict[str, Any]:
        """Return nothing: the program has the results."""
        return {}


def quantities(observables: list[str], known: dict[str, tuple[str, float]], missing: tuple[str, ...]) -> Any:
    """The known ones of the observables. ValueError for what is no name, NotImplementedError for missing ones."""
    for observable in observables:
        if observable in missing:
            raise NotImplementedError(f"ndtune cannot observe {observable}: it has {', '.join(known)}")
        if observable not in known:
            raise ValueError(f"Observable {observable} not in supported: {[*known, *missing]}")
    return {observable: known[observable] for observable in observables}


def refused(name: str, instead: str) -> type[BenchmarkObserver]:
    """A class in place of an observer that cannot work here: it says so when it is made."""

    def refuse(self: Any, *_: Any, **__: Any) -> None:
        raise NotImplementedError(f"ndtune has no {name}: {instead}")

    return type(name, (BenchmarkObserver,), {"__init__": refuse, "get_results": lambda self: {}, "__doc__": instead})
