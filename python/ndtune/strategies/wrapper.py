"""Optimizers as strategies: functions of a cost function and a search space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ndtune import util
from ndtune.searchspace import Searchspace
from ndtune.strategies.common import CostFunc


class OptAlg(ABC):
    """An optimizer. costfunc_kwargs are the arguments scaling and snap of its CostFunc."""

    def __init__(self) -> None:
        self.costfunc_kwargs = {"scaling": False, "snap": False}

    @abstractmethod
    def __call__(self, func: CostFunc, searchspace: Searchspace) -> tuple[tuple[Any, ...], float]:
        """Return the configuration with the least cost that was found, and that cost."""


class OptAlgWrapper:
    """A strategy that calls an optimizer, until the budget is spent."""

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer

    def tune(self, searchspace: Searchspace, runner: Any, tuning_options: util.Options) -> list[util.Result]:
        """Run the optimizer, and return all results."""
        kwargs = getattr(self.optimizer, "costfunc_kwargs", {"scaling": False, "snap": False})
        cost = CostFunc(searchspace, tuning_options, runner, **kwargs)
        if kwargs.get("scaling"):
            cost.get_bounds_x0_eps()
        try:
            self.optimizer(cost, searchspace)
        except util.StopCriterionReached as error:
            if tuning_options.get("verbose"):
                print(error)
        return cost.results
