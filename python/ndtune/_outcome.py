"""What a search and a simulation have in common: the task, the results, and the environment at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ndtune import util
from ndtune._cache import Cache
from ndtune._space import Space
from ndtune.results import Progress, Results
from ndtune.strategies import Plan


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a search: results and env hold what was measured, as tune_kernel would have returned it."""

    def __init__(self, results: Results, env: dict[str, Any]) -> None:
        super().__init__("the results so far are in the attribute results of this exception")
        self.results, self.env = results, env


@dataclass
class Task:
    """What tune_kernel was asked for, checked, with all defaults filled in; times are in seconds."""

    begun: float  # as time.perf_counter
    space: Space
    plan: Plan
    objectives: dict[str, bool]
    metrics: dict[str, Any] | None = None
    restrictions: Any = None
    answer: Sequence[Any] | None = None
    atol: Any = 1e-6
    rtol: Any = 1e-5
    verify: Callable[..., Any] | None = None
    observed: Any = None  # the plan of the observers
    iterations: int = 7
    strict: bool = False
    verbose: bool = False
    quiet: bool = False
    progress: str | None = None
    compiler_options: Any = None
    arguments: list[str] = field(default_factory=list)  # more of the command line: device, workers and so on
    cache: Cache | None = None
    log: str | None = None


class Outcome:
    """The results and the environment of a task, as tune_kernel returns them."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.results = Results(
            tune_params=task.space.tune_params, objectives=task.objectives, metrics=list(task.metrics or ())
        )
        self.env: dict[str, Any] = {"strategy": {"asked": task.plan.asked, "used": task.plan.used}}
        self.progress = Progress(self.results, task.quiet, task.progress)
        self._keys = [*task.space.names, "time", *(task.metrics or ())]

    def text(self, row: dict[str, Any]) -> str:
        """The line of a result."""
        text = util.get_config_string(row, self._keys, self.results.units)
        return f"{text}, {row['__error__']}: {row['reason'].splitlines()[0]}" if row.get("reason") else text

    def finish(self, passed: float | None = None, winner: dict[str, Any] | None = None) -> None:
        """Complete the environment and print the best; passed is the time in ms that the stages of all results took.

        winner is the best of the final measurement.
        """
        self.progress.end()
        wall = 1000 * (time.perf_counter() - self.task.begun)
        util.get_total_timings(self.results, self.env, wall)
        names = [name for name in self.env if name.startswith("total_")]
        total = sum(self.env[name] for name in names)
        # Builds that overlap count as the time that passed, so that the totals add up to it.
        if passed and total > passed:
            self.env.update({name: self.env[name] * passed / total for name in names})
            self.env["overhead_time"] = wall - passed
        self._name_best(winner)
        self.results.env = self.env

    def _name_best(self, winner: dict[str, Any] | None) -> None:
        """Put the best configuration, or the front of several objectives, into env, and print it."""
        results, objectives = self.results, self.task.objectives
        say: Any = print if not self.task.quiet else lambda text: None
        if not results:
            return say("no results to report")
        if len(objectives) > 1:
            best = util.get_pareto_results(results, list(objectives), list(objectives.values()))
            self.env["best_config"] = best
            title = f"BEST PERFORMING CONFIGURATIONS FOR OBJECTIVES: {list(objectives)}:"
        else:
            name, higher = next(iter(objectives.items()))
            best = [winner or util.get_best_config(results, name, higher)]
            self.env["best_config"] = best[0]
            title = f"BEST PERFORMING CONFIGURATION FOR OBJECTIVE {name}:"
        if all("__error__" in row for row in results):
            return say("\nNo configuration is correct.")
        keys = [*self.task.space.names, *objectives, *(self.task.metrics or ())]
        say("\n" + "\n".join([title, *(util.get_config_string(row, keys, results.units) for row in best)]))
