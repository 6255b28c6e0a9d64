"""Strategies that are Python objects: their cost function, their runner, and the talk with the program."""

import sys
from itertools import product
from typing import Any
from unittest import mock

import numpy as np
import pytest

from ndtune import util
from ndtune._space import Space
from ndtune.searchspace import Searchspace
from ndtune.strategies.common import CostFunc, scale_from_params, unscale_and_snap_to_nearest
from ndtune.strategies.driver import Conversation, Runner
from ndtune.strategies.wrapper import OptAlg, OptAlgWrapper

TUNE_PARAMS: dict[str, Any] = {"x": [1, 2, 4, 8], "y": ["a", "b"], "z": [0.5, 1.0, 2.0]}


def valid(values: tuple[Any, ...]) -> bool:
    return values[0] * values[2] <= 8 and (values[1] == "a" or values[0] > 1)


@pytest.fixture
def space() -> Searchspace:
    """A space whose list is known, so that no program has to be asked."""
    made = Searchspace(TUNE_PARAMS, None, 1024)
    made.__dict__["list"] = [v for v in product(*TUNE_PARAMS.values()) if valid(v)]
    return made


def options(max_fevals: int | None = None, **strategy_options: Any) -> util.Options:
    return util.Options(
        tune_params=TUNE_PARAMS,
        objective=["time"],
        objective_higher_is_better=[False],
        strategy_options=strategy_options,
        budget=util.TuningBudget(max_fevals=max_fevals),
    )


def times(configurations: list[Any]) -> list[util.Result | None]:
    return [{"time": float(x * z), "compile_time": 5.0} for x, _, z in configurations]


def test_space(space: Searchspace) -> None:
    assert space.size == 19 and space.num_params == 3
    assert space.is_param_config_valid((8, "a", 1.0)) and not space.is_param_config_valid((8, "a", 2.0))
    assert space.get_param_indices((4, "b", 0.5)) == (2, 1, 0)
    assert space.get_param_config_from_param_indices((2, 1, 0)) == (4, "b", 0.5)
    with pytest.warns(UserWarning, match="Too many samples"):
        assert len(set(space.get_random_sample(100))) == space.size
    with pytest.raises(ValueError, match="greater than the searchspace size"):
        space.get_random_sample_indices(20)
    with pytest.raises(ValueError, match="Neighbor method is None"):
        space.get_neighbors((4, "b", 0.5))


@pytest.mark.parametrize("method", ["Hamming", "strictly-adjacent", "adjacent"])
@pytest.mark.parametrize("center", [(1, "a", 0.5), (4, "b", 1.0), (8, "a", 2.0)])
def test_neighbours(space: Searchspace, method: str, center: tuple[Any, ...]) -> None:
    def near(other: tuple[Any, ...]) -> bool:
        steps = np.subtract(space.get_param_indices(other), space.get_param_indices(center))
        return np.count_nonzero(steps) == 1 if method == "Hamming" else 0 < np.abs(steps).max() <= 1

    assert space.get_neighbors(center, method) == [c for c in space.list if near(c)]


def test_costs(space: Searchspace) -> None:
    runner = mock.Mock()
    runner.run.side_effect = lambda configurations, _: times(configurations)
    cost = CostFunc(space, options(), runner)
    assert cost((8, "a", 0.5)) == 4
    assert cost((8, "a", 2.0)) == sys.float_info.max
    assert cost.eval_all([(1, "a", 0.5), (8, "a", 2.0), (2, "b", 0.5)]) == [0.5, sys.float_info.max, 1.0]
    assert [r["time"] for r in cost.results] == [4, 0.5, 1.0]
    repaired = CostFunc(space, options(constraint_aware=True), runner)
    repaired.get_bounds_x0_eps()
    assert repaired((8, "a", 2.0)) <= 8


def test_scaling() -> None:
    for values in product(*TUNE_PARAMS.values()):
        assert (
            tuple(unscale_and_snap_to_nearest(scale_from_params(values, TUNE_PARAMS, 0.25), TUNE_PARAMS, 0.25))
            == values
        )
    assert unscale_and_snap_to_nearest([-5, 5, 0.3], TUNE_PARAMS, 0.25) == [1, "b", 1.0]


def test_the_budget_ends_an_optimizer(space: Searchspace) -> None:
    class Walk(OptAlg):
        def __call__(self, func: CostFunc, searchspace: Searchspace) -> Any:
            spent = []
            for configuration in searchspace.list:
                func(configuration)
                spent.append(func.budget_spent_fraction)
            raise AssertionError("the budget never ended")

    results = OptAlgWrapper(Walk()).tune(space, Runner(times), options(max_fevals=7))
    assert len(results) == 7


def test_a_repeated_configuration_counts_but_costs_nothing() -> None:
    tuning_options = options(max_fevals=3)
    results = Runner(times).run([(1, "a", 0.5)] * 2 + [(2, "a", 0.5)] * 2, tuning_options)
    assert [r and r["compile_time"] for r in results] == [5.0, 0, 5.0, None]


def test_the_talk_with_the_program() -> None:
    results: dict[Any, util.Result] = {}
    said: list[Any] = []
    script: list[dict[str, Any]] = []

    def configuration(*values: Any) -> dict[str, Any]:
        return dict(zip(TUNE_PARAMS, values, strict=True))

    def pump() -> bool:
        if not script:
            return False
        message = script.pop(0)
        for told in message.get("tell", ()):
            if told["status"] == "correct":
                results[tuple(told["configuration"].values())] = {"time": 1.0}
        said.append(talk.answer(message))
        return True

    talk = Conversation(Space(TUNE_PARAMS), pump, said.append, results.get)
    assert talk.answer({"hello": {"protocol": 1}}) == {"ready": 1}
    assert talk.answer({"ask": 2}) is None  # the strategy has not begun
    one, two, bad = configuration(1, "a", 0.5), configuration(2, "b", 0.5), configuration(8, "a", 2.0)
    tell = [{"configuration": c, "status": s} for c, s in ((one, "correct"), (two, "correct"), (bad, "constraints"))]
    script += [{"ask": 2}, {"tell": tell}, {"ask": 3}]
    found = talk.evaluate([tuple(c.values()) for c in (one, two, bad, one)])
    assert [r and r.get("time") for r in found] == [1.0, 1.0, None, 1.0]
    assert isinstance((found[2] or {})["__error__"], util.InvalidConfig)
    assert said == [{"propose": [one, two]}, {"propose": [bad]}, None]
    assert talk.evaluate([(4, "a", 0.5)]) == [None]  # the program says nothing more
    assert said[3:] == [{"propose": [configuration(4, "a", 0.5)]}]
    talk.end()
    assert talk.answer({"ask": 1}) == {"propose": []}  # a result is due
    assert talk.answer({"tell": [{"configuration": configuration(4, "a", 0.5), "status": "compile"}]}) is None
    assert talk.answer({"ask": 1}) == {"end": True}


def test_the_program_lists_the_space() -> None:
    restrictions = ["x * z <= 8", lambda p: p["y"] == "a" or p["x"] > 1]
    assert Searchspace(TUNE_PARAMS, restrictions, None).list == [v for v in product(*TUNE_PARAMS.values()) if valid(v)]
    assert Searchspace({"block_size_x": [32, 64]}, None, 32).list == [(32,)]
    assert Searchspace(TUNE_PARAMS, ["x > 8"], None).list == []
