"""Names and options of strategies: what the program is asked for, what is noted, what is refused."""

from typing import Any

import pytest

from ndtune import strategies
from ndtune._space import Space

TUNE_PARAMS = {"block_size_x": [64, 128], "mode": ["a", "b"], "fast": [True, False]}


def planned(strategy: Any, options: dict[str, Any] | None = None, seed: int | None = None) -> strategies.Plan:
    return strategies.plan(strategy, options, Space(TUNE_PARAMS), seed, lambda: 8)


@pytest.mark.parametrize(
    "name, options, arguments",
    [
        (None, None, "--strategy brute_force"),
        ("random_sample", {}, "--strategy random_sample --max-evals 1"),
        ("random_sample", {"fraction": 0.5}, "--strategy random_sample --max-evals 4"),
        ("random_sample", {"max_fevals": 6}, "--strategy random_sample --max-evals 6"),
        (
            "genetic_algorithm",
            {"popsize": 1, "maxiter": 20, "method": "two_point", "mutation_chance": 10, "constraint_aware": True},
            "--strategy genetic_algorithm:popsize=2,method=two_point,mutation_chance=10 --max-evals 20",
        ),
        ("diff_evo", {"popsize": 4, "maxiter": 3, "F": 0.5}, "--strategy diff_evo:popsize=12,F=0.5 --max-evals 36"),
        ("diff_evo", {"F": 0.5}, "--strategy diff_evo:F=0.5"),
        ("greedy_mls", {"restart": False, "neighbor": "adjacent"}, "--strategy mls:neighbor=adjacent --max-evals 100"),
        ("bayes_opt", {"method": "lcb", "popsize": 5},
         "--strategy bayes_opt:acquisition=lcb,initial=5 --max-evals 100"),
        ("nsga2", {"mutation_prob": 0.2}, "--strategy nsga2:mutation_chance=5"),
        ("simulated_annealing", {"alpha": 0.5, "T_min": 0.1},
         "--strategy simulated_annealing:alpha=0.5,T_min=0.1 --max-evals 3680"),
        ("auto", {"max_fevals": 9}, "--strategy auto --max-evals 9"),
        ("pso", {"max_fevals": 9, "x0": [64, "b", True]},
         "--strategy pso --max-evals 9 --start block_size_x=64,mode=b,fast=true"),
    ],
)  # fmt: skip
def test_arguments(name: str, options: dict[str, Any], arguments: str) -> None:
    made = planned(name, options)
    assert " ".join(made.arguments) == arguments
    assert made.notes == []


@pytest.mark.parametrize(
    "name, options, used, note",
    [
        ("minimize", {}, "mls", "ndtune has no strategy minimize: mls takes its place"),
        ("nsga3", {}, "nsga2", "ndtune has no strategy nsga3: nsga2 takes its place"),
        ("pyatf_strategies", {"searchtechnique": "torczon"}, "mls", "no strategy pyatf_strategies"),
        ("bayes_opt", {"method": "multi"}, "bayes_opt", "runs without the options method"),
        ("pso", {"constraint_aware": False}, "pso", "runs without the options constraint_aware"),
    ],
)
def test_notes(name: str, options: dict[str, Any], used: str, note: str) -> None:
    made = planned(name, options, seed=3)
    assert made.used == used and note in made.notes[0] and made.asked.startswith(name)
    assert made.arguments[-2:] == ["--seed", "3"]


@pytest.mark.parametrize(
    "name, options, error, message",
    [
        ("nonsense", {}, ValueError, "Unkown strategy nonsense, must be one of: brute_force"),
        (3, {}, ValueError, "Unkown strategy 3"),
        ("brute_force", {"max_fevals": 3}, ValueError, "Unrecognized option max_fevals"),
        (None, {"x0": [1]}, ValueError, "Unrecognized option x0"),
        ("pso", {"nonsense": 3}, ValueError, r"Unrecognized option nonsense .*allowed: \['popsize'"),
        ("bayes_opt", {"x0": [64, "b", True]}, ValueError, "Unrecognized option x0"),
        ("hybrid_vndx", {"x0": [64, "b", True]}, ValueError, "Unrecognized option x0"),
        ("bayes_opt", {"nonsense": 3}, ValueError, "Unrecognized option nonsense"),
        ("genetic_algorithm", {"method": "other"}, ValueError, "'method' of genetic_algorithm is set to other"),
        ("pso", {"x0": [64]}, AssertionError, "Invalid x0"),
        ("pso", {"max_fevals": 0}, ValueError, "max_fevals must be greater than zero"),
        ("random_sample", {"fraction": 2}, AssertionError, "between 0 and 1"),
    ],
)
def test_refused(name: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        planned(name, options)


def test_strategies_are_attributes_as_modules_are() -> None:
    assert planned(strategies.minimize, {}).asked == planned("minimize", {}).asked
    with pytest.raises(AttributeError, match="has no attribute 'maximize'"):
        _ = strategies.maximize
