"""Strategies by name, in simulations; their budgets and options; strategies of the user's."""

import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SPACE = {
    "block_size_x": [32 * i for i in range(1, 13)],
    "method": ["direct", "staged"],
    "single": [15],
    "flag": [True, False],
    "mixed": ["text", 1, True, 2.5],
}
RESTRICTIONS = ["method == 'staged'", "flag == True", "mixed == 2.5"]  # these leave 12
NAMES = [
    "brute_force",
    "random_sample",
    "minimize",
    "basinhopping",
    "diff_evo",
    "genetic_algorithm",
    "greedy_mls",
    "ordered_greedy_mls",
    "greedy_ils",
    "dual_annealing",
    "mls",
    "pso",
    "simulated_annealing",
    "firefly_algorithm",
    "bayes_opt",
    "hybrid_vndx",
    "adaptive_tabu_greywolf",
]
WITHOUT_START = ["brute_force", "random_sample", "bayes_opt", "adaptive_tabu_greywolf", "hybrid_vndx"]
POPULATION = ["diff_evo", "genetic_algorithm", "pso", "firefly_algorithm", "bayes_opt"]
NEIGHBOURS = ["greedy_mls", "ordered_greedy_mls", "greedy_ils", "mls"]


@pytest.fixture
def search(package: Any, cache: Callable[..., Path], vector_add: list[Any]) -> Callable[..., Any]:
    """Return a function that searches the space in made-up measurements."""

    def run(strategy: Any, options: dict[str, Any], **arguments: Any) -> list[dict[str, Any]]:
        vector_add[4] = SPACE
        path = cache(SPACE, keep=lambda p: p["method"] == "staged" and p["flag"] is True and p["mixed"] == 2.5)
        arguments = {"restrictions": RESTRICTIONS, "cache": path, "simulation_mode": True} | arguments
        results, _ = package.tune_kernel(*vector_add, strategy=strategy, strategy_options=options, **arguments)
        return list(results)

    return run


def options_of(strategy: str) -> dict[str, Any]:
    options: dict[str, Any] = {} if strategy == "brute_force" else {"max_fevals": 8}
    if strategy in POPULATION:
        options["popsize"] = 4
    if strategy in NEIGHBOURS:
        options["neighbor"] = "adjacent"
    return options


@pytest.mark.parametrize("strategy", NAMES)
def test_names(search: Callable[..., Any], strategy: str) -> None:
    results = search(strategy, options_of(strategy))
    different = {r["block_size_x"] for r in results if "__error__" not in r}
    assert 0 < len(different) <= (12 if strategy == "brute_force" else 8)
    types = {"block_size_x": int, "method": str, "single": int, "flag": bool, "mixed": float, "time": float | int}
    types |= {"times": list, "compile_time": float | int, "verification_time": float | int, "timestamp": str}
    types |= {"benchmark_time": float | int, "strategy_time": float | int, "framework_time": float | int}
    for r in results:
        assert set(r) == set(types)
        for key, kind in types.items():
            assert isinstance(r[key], kind), key


@pytest.mark.parametrize("strategy", [name for name in NAMES if name not in WITHOUT_START])
def test_start(search: Callable[..., Any], strategy: str) -> None:
    results = search(strategy, options_of(strategy) | {"x0": [128, "staged", 15, True, 2.5]})
    assert results[0]["block_size_x"] == 128


@pytest.mark.parametrize("strategy", WITHOUT_START)
def test_no_start(search: Callable[..., Any], strategy: str) -> None:
    with pytest.raises(ValueError):
        search(strategy, options_of(strategy) | {"x0": [128, "staged", 15, True, 2.5]})


@pytest.mark.parametrize("strategy", NAMES)
def test_unknown_option(search: Callable[..., Any], strategy: str) -> None:
    with pytest.raises(ValueError, match="no_such_option"):
        search(strategy, {"no_such_option": 3})


def test_unknown_name(search: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="no_such_strategy"):
        search("no_such_strategy", {})


@pytest.mark.parametrize(("fraction", "count"), [(0.1, 2), (0.5, 6), (1, 12)])
def test_fraction(search: Callable[..., Any], fraction: float, count: int) -> None:
    results = search("random_sample", {"fraction": fraction})
    assert len(results) == count
    assert len({r["block_size_x"] for r in results}) == count


def test_number_of_evaluations(search: Callable[..., Any]) -> None:
    assert len(search("random_sample", {"max_fevals": 5})) == 5


def test_more_evaluations_than_configurations(search: Callable[..., Any]) -> None:
    assert len(search("random_sample", {"max_fevals": 1000})) == 12


@pytest.mark.parametrize(
    "options",
    [
        {"method": "uniform", "constraint_aware": True, "popsize": 5, "maxiter": 2, "mutation_chance": 10},
        {"method": "single_point", "popsize": 4, "maxiter": 3},
        {"method": "two_point", "popsize": 4, "maxiter": 3, "mutation_chance": 5},
        {"method": "disruptive_uniform", "constraint_aware": False, "popsize": 4, "maxiter": 3},
    ],
    ids=lambda options: options["method"],
)
def test_options_of_the_genetic_algorithm(search: Callable[..., Any], options: dict[str, Any]) -> None:
    assert len(search("genetic_algorithm", options | {"max_fevals": 8})) > 0


@pytest.mark.parametrize("method", ["poi", "ei", "lcb", "lcb-srinivas", "multi", "multi-advanced", "multi-fast"])
def test_methods_of_bayes_opt(search: Callable[..., Any], method: str) -> None:
    assert len(search("bayes_opt", {"popsize": 5, "max_fevals": 8, "method": method})) > 0


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("diff_evo", {"method": "best1bin", "popsize": 4, "maxiter": 3}),
        ("diff_evo", {"method": "rand2bin", "popsize": 6, "maxiter": 3, "F": 0.5, "CR": 0.7}),
        ("pso", {"popsize": 4, "maxiter": 3, "w": 0.5, "c1": 3.0, "c2": 0.5}),
        ("firefly_algorithm", {"popsize": 4, "maxiter": 3, "B0": 1.0, "gamma": 1.0, "alpha": 0.2}),
        ("simulated_annealing", {"T": 1.0, "T_min": 0.01, "alpha": 0.9, "maxiter": 3}),
        ("mls", {"neighbor": "Hamming", "restart": False, "randomize": True}),
        ("greedy_ils", {"neighbor": "Hamming", "no_improvement": 5, "random_walk": 0.3}),
        ("minimize", {"method": "COBYLA"}),
        ("minimize", {"method": "Nelder-Mead"}),
        ("basinhopping", {"method": "Powell", "T": 1.0}),
        ("dual_annealing", {"method": "SLSQP"}),
    ],
    ids=lambda x: x if isinstance(x, str) else "-".join(x),
)
def test_options(search: Callable[..., Any], strategy: str, options: dict[str, Any]) -> None:
    assert len(search(strategy, options | {"max_fevals": 6})) > 0


def test_objective(package: Any, search: Callable[..., Any]) -> None:
    metrics = {"speed": "1 / time"}
    results = search("mls", {"max_fevals": 8}, metrics=metrics, objective="speed", objective_higher_is_better=True)
    assert all(r["speed"] == pytest.approx(1 / r["time"]) for r in results)


def test_seed(search: Callable[..., Any]) -> None:
    results = search("random_sample", {"max_fevals": 5}, seed=3)
    assert len(results) == 5


@pytest.mark.parametrize("strategy", ["nsga2", "nsga3"])
def test_several_objectives(package: Any, cache: Callable[..., Path], util: Any, strategy: str) -> None:
    metrics = {"size": lambda p: float(p["block_size_x"])}
    tune_params = {"block_size_x": [32 * i for i in range(1, 21)], "tile": [1, 2]}
    results, env = package.tune_kernel(
        "vector_add", "", 100, [], tune_params, cache=cache(tune_params), simulation_mode=True, lang="OpenCL",
        strategy=strategy, strategy_options={"popsize": 5, "max_fevals": 15}, metrics=metrics,
        objective=["time", "size"], objective_higher_is_better=[False, False],
    )  # fmt: skip
    assert results
    front = util.get_pareto_results(list(results), ["time", "size"], [False, False])
    assert len(front) == len(env["best_config"]) > 0


def test_objectives_as_a_dictionary(package: Any, vector_add: list[Any]) -> None:
    results, env = package.tune_kernel(
        *vector_add, metrics={"size": lambda p: float(p["block_size_x"])}, objectives={"time": False, "size": True}
    )
    assert len(results) == 3
    assert any(c["block_size_x"] == 128 for c in env["best_config"])


def test_objectives_as_a_list(package: Any, vector_add: list[Any]) -> None:
    with pytest.raises(ValueError, match="objectives should be a dict"):
        package.tune_kernel(*vector_add, objectives=["time"])


class Ends:
    """A strategy of the user's: it measures the first and the last configuration."""

    def tune(self, searchspace: Any, runner: Any, tuning_options: Any) -> Any:
        results = runner.run([min(searchspace.list), max(searchspace.list)], tuning_options)
        assert all(r["time"] > 0 for r in results)
        return results


def test_strategy_object(search: Callable[..., Any]) -> None:
    assert sorted(r["block_size_x"] for r in search(Ends(), {})) == [32, 384]


def test_strategy_object_on_a_device(package: Any, vector_add: list[Any]) -> None:
    results, env = package.tune_kernel(*vector_add, strategy=Ends())
    assert sorted(r["block_size_x"] for r in results) == [32, 128]
    assert env["best_config"] in results


def test_strategy_of_a_module(package: Any, module: Callable[[str], Any], search: Callable[..., Any]) -> None:
    """A strategy as Kernel Tuner's own are written: a module with tune, its options and a cost function."""
    common = module("strategies.common")

    def tune(searchspace: Any, runner: Any, tuning_options: Any) -> Any:
        known = {"first": ("How many configurations are evaluated.", 5), "again": ("Is one evaluated twice?", True)}
        first, again = common.get_options(tuning_options.strategy_options, known, unsupported=["x0"])
        cost = common.CostFunc(searchspace, tuning_options, runner)
        for configuration in [*searchspace.list[:first], searchspace.list[0]]:
            cost.eval(configuration, check_restrictions=False)
        assert again and cost.get_num_unique_results() == first
        assert len(cost.get_start_pos()) == searchspace.num_params
        return cost.get_results()

    strategy: Any = types.ModuleType("own")
    strategy.tune = tune
    assert len(search(strategy, {})) == 6
    assert len(search(strategy, {"first": 3})) == 4
    for option in ("x0", "nothing"):
        with pytest.raises(ValueError, match=f"Unrecognized option {option}"):
            search(strategy, {option: 3})


def test_object_that_is_no_strategy(package: Any, vector_add: list[Any]) -> None:
    with pytest.raises(ValueError):
        package.tune_kernel(*vector_add, strategy=object())


@pytest.fixture
def walk(module: Callable[[str], Any]) -> Any:
    """Return a random walk for OptAlgWrapper, which sees a cost function in numbers only."""
    wrapper = module("strategies.wrapper")

    class Walk(wrapper.OptAlg):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.costfunc_kwargs = {"scaling": True, "snap": True}
            self.costs: list[float] = []

        def __call__(self, func: Any, searchspace: Any) -> Any:
            random = np.random.default_rng(5)
            while func.budget_spent_fraction < 1:
                self.costs.append(func(random.random(len(searchspace.tune_params))))
            return None, min(self.costs)

    return wrapper.OptAlgWrapper(Walk())


def test_wrapped_algorithm(package: Any, cache: Callable[..., Path], vector_add: list[Any], walk: Any) -> None:
    vector_add[4] = {"block_size_x": [32 * i for i in range(1, 13)], "tile": [1, 2]}
    results, _ = package.tune_kernel(
        *vector_add, strategy=walk, strategy_options={"max_fevals": 9}, cache=cache(vector_add[4]), simulation_mode=True
    )
    assert len({(r["block_size_x"], r["tile"]) for r in results}) <= 9 <= len(results)
    assert walk.optimizer.costs == [r["time"] for r in results][: len(walk.optimizer.costs)]


def test_wrapped_algorithm_on_a_device(package: Any, vector_add: list[Any], walk: Any) -> None:
    vector_add[4]["tile"] = [1, 2, 3]
    results, _ = package.tune_kernel(*vector_add, strategy=walk, strategy_options={"max_fevals": 5})
    assert len(results) == 5


def test_cost_function_and_space(package: Any, module: Callable[[str], Any], util: Any, vector_add: list[Any]) -> None:
    """A strategy may build its own CostFunc, and ask the space for samples and neighbours."""
    common = module("strategies.common")
    vector_add[4]["tile"] = [1, 2]

    class Local:
        def tune(self, searchspace: Any, runner: Any, tuning_options: Any) -> Any:
            cost = common.CostFunc(searchspace, tuning_options, runner)
            start = tuple(searchspace.get_random_sample(1)[0])
            neighbours = searchspace.get_neighbors(start, "Hamming")
            assert searchspace.size == 6
            assert len(neighbours) == 3
            try:
                assert all(cost(x) < 1e300 for x in [start, *neighbours])
            except util.StopCriterionReached:
                pass
            return cost.results

    results, _ = package.tune_kernel(*vector_add, strategy=Local(), strategy_options={"max_fevals": 3})
    assert len(results) == 3
