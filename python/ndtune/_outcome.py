"""What a search and a simulation have in common: the task, the results, and the environment at the end."""

from __future__ import annotations

import time
from typing import Any

from ndtune import util
from ndtune.results import Progress, Results


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a search: results and env hold what was measured, as tune_kernel would have returned it."""

    def __init__(self, results: Results, env: dict[str, Any]) -> None:
        super().__init__("its attribute results has what was measured (in a notebook: sys.last_value.results)")
        self.results, self.env = results, env


class Task(util.Options):
    """The arguments of tune_kernel by their names, checked, and what was made of them.

    begun: when tune_kernel was called, as time.perf_counter; space: a Space; plan: that of the strategy; objectives: by
    name, whether higher is better; observed: the plan of the observers; cache: a Cache; flags: more of the
    program's command line.
    """

    def __init__(self, **given: Any) -> None:
        names = "metrics restrictions answer verify observed cache keep_log progress compiler_options strategy_options"
        defaults = dict.fromkeys(names.split()) | dict.fromkeys(("strict", "verbose", "quiet"), False)
        super().__init__(defaults | {"atol": 1e-6, "rtol": 1e-5, "iterations": 7, "flags": []} | given)


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
        # Builds overlap: each then counts for its share of the time that passed, so that all add up to it.
        total = sum(row[stage] for row in self.results for stage in util.STAGES if stage in row)
        share = passed / total if passed and total > passed else 1
        for row in self.results if share < 1 else ():
            row.update({stage: row[stage] * share for stage in util.STAGES})
        util.get_total_timings(self.results, self.env, 1000 * (time.perf_counter() - self.task.begun))
        self._name_best(winner)
        self.results.env = self.env

    def _name_best(self, winner: dict[str, Any] | None) -> None:
        """Put the best configuration, or the front of several objectives, into env, and print it."""
        results, objectives = self.results, self.task.objectives
        say: Any = print if self.progress.mode == "text" else lambda text: None
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
        for final in self.env.get("finals", ()) if winner and len(objectives) == 1 else ():
            if all(final[name] == best[0][name] for name in self.task.space.names):
                say(f"in the final measurement: time={final['time']:.3f}ms")
