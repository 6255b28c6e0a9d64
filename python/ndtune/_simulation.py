"""simulation_mode: a search over the results of a cache file, in which nothing is compiled or measured.

The order of evaluation is that of the program's own strategies, by `ndtune simulate`; results, metrics and times are
those of the file. The space is that of tune_params and the restrictions, and the file must have all of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from typing import Any

from ndtune import _binary, util
from ndtune._binary import NdtuneError
from ndtune._cache import key_of
from ndtune._outcome import Outcome
from ndtune._space import Values
from ndtune.searchspace import Searchspace
from ndtune.strategies import driver


class Simulation(Outcome):
    """A search in the cache file of a task: run() fills results and env."""

    def run(self, configurations: Callable[[], Iterable[Values]]) -> None:
        """Search among configurations, which are those that the restrictions allow.

        Raises ValueError if there is no cache file, or if it lacks a configuration; RuntimeError for a time limit if
        a result has no times of its stages.
        """
        task, cache = self.task, self.task.cache
        if cache is None or cache.device is None:
            what = f"file {cache.path} does not exist" if cache else "the argument cache names none"
            raise ValueError(f"Simulation mode requires an existing cachefile: {what}")
        self.env |= {"device_name": cache.device, "simulation": True, "simulated_time": 0}
        if not task.quiet:
            print(f"Simulating: {cache.device}")
        begun = time.perf_counter()
        space = list(configurations())
        rows = self._rows(space)
        budget = util.TuningBudget(task.plan.time_limit, min(task.plan.max_fevals or len(rows), len(rows)) or None)
        prepared = time.perf_counter()
        if task.plan.object:
            self._drive(space, rows, budget)
        order = rows if task.plan.used == "brute_force" else [] if task.plan.object else self._order(rows)
        searched = time.perf_counter()
        for key in order:
            if budget.is_done():
                break
            budget.add_evaluations()
            self._evaluate(rows[key], budget)
        n = len(self.results) or 1
        framework = prepared - begun + time.perf_counter() - searched
        for row in self.results:
            row |= {"strategy_time": 1000 * (searched - prepared) / n, "framework_time": 1000 * framework / n}
        self.finish()

    def _drive(self, space: list[Values], rows: dict[str, dict[str, Any]], budget: util.TuningBudget) -> None:
        """Let a strategy object search."""
        seen: set[Values] = set()

        def evaluate(wanted: list[Values]) -> list[dict[str, Any] | None]:
            for values in wanted:
                if key_of(values) not in rows:
                    raise ValueError(f"kernel configuration {values} does not satisfy the restrictions")
                if values not in seen:
                    self._evaluate(rows[key_of(values)], budget)
                seen.add(values)
            return [dict(rows[key_of(values)]) for values in wanted]

        searchspace = Searchspace(self.task.space.tune_params, self.task.restrictions, None, configurations=space)
        returned = driver.search(self.task, searchspace, evaluate, budget)
        if returned is not None:
            self.results[:] = returned

    def _rows(self, configurations: Iterable[Values]) -> dict[str, dict[str, Any]]:
        """The results of the configurations, with their metrics, by their keys."""
        assert self.task.cache
        known, rows = self.task.cache.results, {}
        for values in configurations:
            key = key_of(values)
            if key not in known:
                raise ValueError(
                    f"kernel configuration {values} not in cache - in simulation mode, all configurations must be "
                    "present in the cache"
                )
            rows[key] = dict(known[key])
            if "__error__" not in rows[key]:
                util.process_metrics(rows[key], self.task.metrics)
        return rows

    def _evaluate(self, row: dict[str, Any], budget: util.TuningBudget) -> None:
        """Add a result as if it were measured now."""
        spent = [row[stage] for stage in util.STAGES[2:] if stage in row]
        if self.task.plan.time_limit is not None and len(spent) < len(util.STAGES[2:]):
            raise RuntimeError(
                "Cannot use simulation mode with a time limit on a cache file that does not have full compile, "
                "verification, and benchmark timings on all configurations"
            )
        budget.add_time(milliseconds=sum(spent))
        self.env["simulated_time"] += sum(spent)
        self.results.append(row)
        self.progress.row(row, self.text(row))

    def _order(self, rows: dict[str, dict[str, Any]]) -> list[str]:
        """The keys in the order in which the program's strategy evaluates them."""
        space, plan = self.task.space, self.task.plan
        arguments = dict(zip(plan.arguments[::2], plan.arguments[1::2], strict=True))
        arguments.pop("--start", None)
        if all("__error__" in row for row in rows.values()):
            return list(rows)
        goals = [f"{'maximize ' if higher else ''}{name}" for name, higher in self.task.objectives.items()]
        options = {"--repeats": "1", "--max-evals": str(len(rows)), "--objective": ",".join(goals)} | arguments
        with tempfile.TemporaryDirectory(prefix="ndtune-") as folder:
            record, trace = os.path.join(folder, "record.json"), os.path.join(folder, "trace.jsonl")
            with open(record, "w", encoding="utf-8") as file:
                file.write(json.dumps(self._record(rows), cls=util.NpEncoder))  # json.dump takes ten times as long
            asked = [_binary.find(), "simulate", record, "-o", trace, *(w for o in options.items() for w in o)]
            said = subprocess.run(asked, capture_output=True, text=True, encoding="utf-8", check=False)
            if said.returncode:
                raise NdtuneError(said.stderr.strip())
            with open(trace, encoding="utf-8") as file:
                visited = json.loads(file.readline())["trace"]
        order = [key_of(space.values(space.configuration(c))) for c in visited]
        # Of a given first configuration, the strategy knows nothing here: it is evaluated before all others.
        first = key_of((self.task.strategy_options or {}).get("x0", ()))
        return list(dict.fromkeys([first] * (first in rows) + order))

    def _record(self, rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """A cache file of the results, with the names and values of the program, and what a strategy is told."""
        space, entries = self.task.space, {}
        for key, row in rows.items():
            entry = {"__error__": str(row["__error__"])} if "__error__" in row else {"time": row["time"]}
            told = {name: row[name] for name in self.task.objectives if name not in space.names and "time" in entry}
            entries[key] = space.plain(row) | entry | told
        header = {"device_name": self.env["device_name"], "kernel_name": "kernel", "problem_size": 1}
        header |= {"tune_params_keys": list(space.parameters), "tune_params": space.parameters}
        return header | {"cache": entries}
