"""The classes that observers are made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class BenchmarkObserver(ABC):
    """Sees launches of each configuration and adds to its result.

    The launches are as many as the timed ones, and follow them: what an observer does never changes a time. The order
    of the calls is register_configuration; for each launch before_start, after_start, during (as often as possible
    while the kernel runs) and after_finish; get_results. An observer that has only get_results needs no launches.
    """

    dev: Any = None

    def register_device(self, dev: Any) -> None:
        """Called once, before the first configuration: dev has name, env, max_threads, units and iterations."""
        self.dev = dev

    def register_configuration(self, params: dict[str, Any]) -> None:  # noqa: B027
        """Called before the launches of a configuration, with its parameters."""

    def before_start(self) -> None:  # noqa: B027
        """Called before a launch."""

    def after_start(self) -> None:  # noqa: B027
        """Called when a launch has begun."""

    def during(self) -> None:  # noqa: B027
        """Called as often as possible while the kernel runs."""

    def after_finish(self) -> None:  # noqa: B027
        """Called after a launch."""

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
    """Sees the kernel repeated for continuous_duration seconds, at least 1, as one launch.

    It is the attribute continuous_observer of another observer. results has what is known of the configuration, with
    its time in ms.
    """

    continuous_duration = 1.0
    results: dict[str, Any]


class QuantityObserver(BenchmarkObserver):
    """Names quantities that the program observes, on devices of all vendors.

    quantities has for each key of a result the program's name and a factor; settings the parameters that set clocks
    and limits. continuous_duration is the time in seconds for which a kernel is repeated; 1 leaves it to the program.
    With required, a driver that lacks a quantity ends the search.
    """

    quantities: dict[str, tuple[str, float]]
    settings: dict[str, str] = {}
    continuous_duration = 1.0
    required = False

    def choose(self, observables: Any, known: dict[str, tuple[str, float]], missing: tuple[str, ...]) -> None:
        """Take the known ones; ValueError for what is no observable, NotImplementedError for missing ones."""
        for name in observables:
            if name in missing:
                raise NotImplementedError(f"ndtune cannot observe {name}: it has {', '.join(known)}")
            if name not in known:
                raise ValueError(f"Observable {name} not in supported: {[*known, *missing]}")
        self.quantities = {name: known[name] for name in observables}

    def get_results(self) -> dict[str, Any]:
        """Return nothing: the program has the results."""
        return {}


def refused(name: str, instead: str) -> type[BenchmarkObserver]:
    """A class in place of an observer that cannot work here: it says so when it is made."""

    def refuse(self: Any, *_: Any, **__: Any) -> None:
        raise NotImplementedError(f"ndtune has no {name}: {instead}")

    return type(name, (BenchmarkObserver,), {"__init__": refuse, "get_results": lambda self: {}, "__doc__": instead})
