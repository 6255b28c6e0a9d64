"""The cost of a configuration, for strategies that are Python objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ndtune import util
from ndtune.searchspace import Searchspace, Values
from ndtune.strategies import COMMON

Params = Mapping[str, Sequence[Any]]


def get_options(
    strategy_options: Mapping[str, Any], options: Mapping[str, Any], unsupported: Sequence[str] | None = None
) -> list[Any]:
    """The values of a strategy's options: each is a pair of a description and a default, by its name.

    ValueError for an option that is neither one of them nor one of all strategies, or that is unsupported.
    """
    accepted = [name for name in (*options, *COMMON) if name not in (unsupported or ())]
    for name in strategy_options:
        if name not in accepted:
            raise ValueError(f"Unrecognized option {name} in strategy_options (allowed: {accepted})")
    return [strategy_options.get(name, default) for name, (_, default) in options.items()]


class CostFunc:
    """A function of a point in the space of parameters, whose value is the cost of the configuration there.

    With snap, a point becomes the nearest values of tune_params; with scaling, its coordinates are scaled so that all
    parameters have the same distance eps between values. An invalid configuration, and one that fails, costs the
    largest float; with the option constraint_aware, the nearest valid neighbour takes the place of an invalid one.
    budget_spent_fraction tells how much of the budget is spent, 0 to 1; after that, calls raise StopCriterionReached.
    results has all results in the order of the calls.
    """

    def __init__(
        self,
        searchspace: Searchspace,
        tuning_options: util.Options,
        runner: Any,
        *,
        scaling: bool = False,
        snap: bool = True,
        **_: Any,
    ) -> None:
        self.searchspace, self.tuning_options, self.runner = searchspace, tuning_options, runner
        self.scaling, self.snap = scaling, snap
        self.results: list[util.Result] = []
        self.budget_spent_fraction = 0.0

    def __call__(self, x: Sequence[Any], check_restrictions: bool = True) -> Any:
        """The cost at a point: a number, or a list of them for several objectives."""
        return self.eval_all([x], check_restrictions)[0]

    eval = __call__

    def eval_all(self, xs: Iterable[Sequence[Any]], check_restrictions: bool = True) -> list[Any]:
        """The costs at several points, whose configurations may be built and measured side by side."""
        options = self.tuning_options
        options.budget.raise_exception_if_done()
        points = [self._configuration(x, check_restrictions) for x in xs]
        measured = self.runner.run([values for values, valid in points if valid], options)
        self.results += [result for result in measured if result is not None]
        options.budget.raise_exception_if_done()
        self.budget_spent_fraction = options.budget.get_fraction_consumed()
        if None in measured:
            raise util.StopCriterionReached("runner did not evaluate all given configurations")
        found = iter(measured)
        results = [next(found) if valid else {"__error__": util.InvalidConfig()} for _, valid in points]
        costs = [util.get_result_cost(r, options.objective, options.objective_higher_is_better) for r in results]
        return [cost[0] if len(cost) == 1 else cost for cost in costs]

    def _configuration(self, x: Sequence[Any], check: bool) -> tuple[Values, bool]:
        """The configuration at a point, and whether it is valid."""
        space, params = self.searchspace, self.searchspace.tune_params
        eps = self.tuning_options.get("eps", 1)
        snap = unscale_and_snap_to_nearest if self.scaling else snap_to_nearest_config
        values = tuple(snap(x, params, eps)) if self.snap else tuple(x)
        if not check or space.is_param_config_valid(values):
            return values, True
        if (self.tuning_options.strategy_options or {}).get("constraint_aware"):
            point = x if self.scaling else scale_from_params(values, params, eps)
            for method in ("strictly-adjacent", "adjacent", "Hamming"):
                if near := space.get_neighbors(values, method):
                    distances = [np.linalg.norm(point - scale_from_params(n, params, eps)) for n in near]
                    return near[int(np.argmin(distances))], True
        return values, False

    def get_results(self) -> list[util.Result]:
        """All results in the order of the calls."""
        return self.results

    def get_num_unique_results(self) -> int:
        """The number of configurations that results has."""
        return len({tuple(result[name] for name in self.searchspace.param_names) for result in self.results})

    def get_start_pos(self) -> Any:
        """The point to start at."""
        return self.get_bounds_x0_eps()[1]

    def get_bounds_x0_eps(self) -> tuple[list[tuple[Any, Any]], Any, float]:
        """The bounds of all coordinates, a point to start at, and the scaled distance of neighbouring values."""
        params = self.searchspace.tune_params
        x0 = (self.tuning_options.strategy_options or {}).get("x0") or self.searchspace.get_random_sample(1)[0]
        eps = min(1 / len(values) for values in params.values()) if self.scaling else 1
        self.tuning_options["eps"] = eps
        if self.scaling:
            return [(0, eps * len(v)) for v in params.values()], scale_from_params(x0, params, eps), eps
        return self.get_bounds(), list(x0), eps

    def get_bounds(self) -> list[tuple[Any, Any]]:
        """The smallest and the largest value of each parameter; the first and the last, if they are no numbers."""
        numbers = [all(isinstance(v, (int, float)) for v in p) for p in self.searchspace.params_values]
        pairs = zip(self.searchspace.params_values, numbers, strict=True)
        return [(min(p), max(p)) if number else (p[0], p[-1]) for p, number in pairs]


def snap_to_nearest_config(x: Sequence[Any], tune_params: Params, eps: float = 1) -> list[Any]:
    """For each coordinate the value itself, if the parameter has it, or the nearest one."""
    pairs = zip(x, tune_params.values(), strict=True)
    return [v if v in p else p[int(np.argmin([abs(value - v) for value in p]))] for v, p in pairs]


def unscale_and_snap_to_nearest(x: Sequence[float], tune_params: Params, eps: float) -> list[Any]:
    """For each scaled coordinate the value whose interval of the length eps it lies in, or the nearest end."""
    pairs = zip(x, tune_params.values(), strict=True)
    return [values[int(min(max(v / eps, 0), len(values) - 1))] for v, values in pairs]


def scale_from_params(params: Sequence[Any], tune_params: Params, eps: float) -> np.ndarray:
    """The scaled coordinates of a configuration: for each value the middle of its interval."""
    return np.array([(list(p).index(v) + 0.5) * eps for v, p in zip(params, tune_params.values(), strict=True)])
