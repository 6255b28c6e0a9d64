"""Limits of time and of evaluations."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_no_time_at_all(package: Any, vector_add: list[Any]) -> None:
    for more in ({}, {"strategy": "random_sample"}):  # before anything else is said of the options
        with pytest.raises(RuntimeError, match="startup time of the tuning process"):
            package.tune_kernel(*vector_add, strategy="random_sample", strategy_options={"time_limit": 0.0, **more})


def test_no_time_for_a_simulation(package: Any, vector_add: list[Any], cache: Callable[..., Path]) -> None:
    options: dict[str, Any] = {"strategy": "random_sample", "strategy_options": {"time_limit": 0.0}}
    with pytest.raises(RuntimeError, match="startup time of the tuning process"):
        package.tune_kernel(*vector_add, cache=cache(vector_add[4]), simulation_mode=True, **options)


def test_some_time(package: Any, vector_add: list[Any]) -> None:
    """A search that may take four times as long as one of three configurations does not come to all 6000."""
    began = time.perf_counter()
    package.tune_kernel(*vector_add, quiet=True)
    limit = {"time_limit": 4 * (time.perf_counter() - began)}
    vector_add[4]["unused"] = list(range(2000))
    results, _ = package.tune_kernel(*vector_add, strategy="random_sample", strategy_options=limit, quiet=True)
    assert 0 < len(results) < 6000


def test_enough_time(package: Any, vector_add: list[Any]) -> None:
    results, _ = package.tune_kernel(
        *vector_add, strategy="random_sample", strategy_options={"fraction": 1.0, "time_limit": 60.0}
    )
    assert len(results) == 3


@pytest.mark.parametrize("strategy", ["random_sample", "genetic_algorithm", "greedy_ils", "simulated_annealing"])
def test_evaluations(package: Any, vector_add: list[Any], strategy: str) -> None:
    vector_add[4]["tile"] = list(range(1, 9))
    results, _ = package.tune_kernel(*vector_add, strategy=strategy, strategy_options={"max_fevals": 7}, quiet=True)
    assert 0 < len({(r["block_size_x"], r["tile"]) for r in results}) <= 7


def test_sum_of_times(package: Any, vector_add: list[Any], answer: list[Any]) -> None:
    """What the environment says to have spent is positive, and not more than was spent."""
    vector_add[4]["tile"] = [1, 2, 3]
    began = time.perf_counter()
    results, env = package.tune_kernel(
        *vector_add, strategy="genetic_algorithm", answer=answer, strategy_options={"popsize": 5, "max_fevals": 8}
    )
    passed = (time.perf_counter() - began) * 1000
    keys = ["framework", "strategy", "compile", "verification", "benchmark"]
    parts = [env[f"total_{key}_time"] for key in keys] + [env["overhead_time"]]
    assert all(part > 0 for part in parts)
    assert 0 < sum(parts) <= passed * 1.001
