"""The cost of a configuration, for strategies that are Python objects."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ndtune import util
from ndtune.searchspace import Searchspace

Params = Mapping[str, Sequence[Any]]


class CostFunc:
    """A function of a point in the space of parameters, whose value is the cost of the configuration there.

    With snap, a point becomes the nearest values of tune_params; with scaling, its coordinates are scaled so that all
    parameters have the same distance eps between values. An invalid configuration, and one that fails, costs the
    largest float. budget_spent_fraction tells how much of the budget is spent, 0 to 1; after that, calls raise
    StopCriterionReached. results has all results in the order of the calls.
    """

    def __init__(
        self,
        searchspace: Searchspace,
        tuning_options: util.Options,
        runner: Any,
        *,
        scaling: bool = False,
        snap: bool = True,
        return_invalid: bool = False,
        invalid_value: float = sys.float_info.max,
    ) -> None:
        self.searchspace, self.tuning_options, self.runner = searchspace, tuning_options, runner
        self.scaling, self.snap, self.return_invalid = scaling, snap, return_invalid
        self.objective, self.objective_higher_is_better = (
            tuning_options.objective,
            tuning_options.objective_higher_is_better,
        )
        self.constraint_aware = bool((tuning_options.strategy_options or {}).get("constraint_aware"))
        self.invalid_return_value = invalid_value
        self.unique_results: dict[str, util.Result] = {}
        self.results: list[util.Result] = []
        self.budget_spent_fraction = 0.0

    def __call__(self, x: Sequence[Any], check_restrictions: bool = True) -> Any:
        """The cost at a point: a number, or a list of them for several objectives."""
        return self.eval(x, check_restrictions)

    def eval(self, x: Sequence[Any], check_restrictions: bool = True) -> Any:
        """The cost at a point."""
        return self.eval_all([x], check_restrictions)[0]

    def eval_all(self, xs: Iterable[Sequence[Any]], check_restrictions: bool = True) -> list[Any]:
        """The costs at several points, whose configurations may be built and measured side by side."""
        budget = self.tuning_options.budget
        budget.raise_exception_if_done()
        points = [self._configuration(x, check_restrictions) for x in xs]
        measured = iter(self.runner.run([values for values, valid in points if valid], self.tuning_options))
        results: list[util.Result | None] = []
        for values, valid in points:
            result = next(measured) if valid else None
            if valid and result is not None:
                self.unique_results.setdefault(",".join(map(str, values)), result)
                self.results.append(result)
            elif not valid:
                names = self.searchspace.tune_params
                result = {**dict(zip(names, values, strict=True)), "__error__": util.InvalidConfig()}
            results.append(result)
        budget.raise_exception_if_done()
        self.budget_spent_fraction = budget.get_fraction_consumed()
        if any(result is None for result in results):
            raise util.StopCriterionReached("runner did not evaluate all given configurations")
        costs = [
            util.get_result_cost(result or {}, self.objective, self.objective_higher_is_better) for result in results
        ]
        return [cost[0] if len(cost) == 1 else cost for cost in costs]

    def _configuration(self, x: Sequence[Any], check: bool) -> tuple[tuple[Any, ...], bool]:
        """The configuration at a point, and whether it is valid."""
        space, params = self.searchspace, self.searchspace.tune_params
        eps = self.tuning_options.get("eps", 1)
        values: Sequence[Any] = x
        if self.snap:
            values = unscale_and_snap_to_nearest(x, params, eps) if self.scaling else snap_to_nearest_config(x, params)
        if not check or space.is_param_config_valid(tuple(values)):
            return tuple(values), True
        if self.constraint_aware:
            for method in ("strictly-adjacent", "adjacent", "Hamming"):
                if near := space.get_neighbors(tuple(values), neighbor_method=method):
                    point = x if self.scaling else scale_from_params(values, params, eps)
                    distance = [np.linalg.norm(point - scale_from_params(n, params, eps)) for n in near]
                    return near[int(np.argmin(distance))], True
        return tuple(values), False

    def get_results(self) -> list[util.Result]:
        """All results in the order of the calls."""
        return self.results

    def get_num_unique_results(self) -> int:
        """The number of different configurations among the results."""
        return len(self.unique_results)

    def get_start_pos(self) -> Any:
        """The point of the option x0, or of a random configuration."""
        return self.get_bounds_x0_eps()[1]

    def get_bounds_x0_eps(self) -> tuple[list[tuple[Any, Any]], Any, float]:
        """The bounds of all coordinates, a point to start at, and the scaled distance of neighbouring values."""
        params = self.searchspace.tune_params
        x0 = (self.tuning_options.strategy_options or {}).get("x0") or self.searchspace.get_random_sample(1)[0]
        if len(x0) != len(params):
            raise AssertionError(
                f"Invalid x0: {x0}, expected number of parameters of `tune_params` to match ({len(params)})"
            )
        eps = min(1 / len(values) for values in params.values()) if self.scaling else 1
        self.tuning_options["eps"] = eps
        if self.scaling:
            return [(0, eps * len(v)) for v in params.values()], scale_from_params(x0, params, eps), eps
        return self.get_bounds(), list(x0), eps

    def get_bounds(self) -> list[tuple[Any, Any]]:
        """The smallest and the largest value of each parameter; the first and the last, if they have no order."""
        bounds = []
        for values in self.searchspace.tune_params.values():
            try:
                bounds.append((min(values), max(values)))
            except TypeError:
                bounds.append((values[0], values[-1]))
        return bounds


def snap_to_nearest_config(x: Sequence[Any], tune_params: Params) -> list[Any]:
    """For each coordinate the value itself, if the parameter has it, or the nearest one."""
    return [
        v if v in values else values[int(np.argmin([abs(value - v) for value in values]))]
        for v, values in zip(x, tune_params.values(), strict=True)
    ]


def unscale_and_snap_to_nearest(x: Sequence[float], tune_params: Params, eps: float) -> list[Any]:
    """For each scaled coordinate the value whose interval of the length eps it lies in, or the nearest end."""
    pairs = zip(x, tune_params.values(), strict=True)
    return [values[int(min(max(v / eps, 0), len(values) - 1))] for v, values in pairs]


def scale_from_params(params: Sequence[Any], tune_params: Params, eps: float) -> np.ndarray:
    """The scaled coordinates of a configuration: for each value the middle of its interval."""
    pairs = zip(params, tune_params.values(), strict=True)
    return np.array([(list(values).index(v) + 0.5) * eps for v, values in pairs])
