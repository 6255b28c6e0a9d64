"""Restrictions: texts and functions, alone and together."""

from typing import Any

import pytest

SPACE = {"block_size_x": [16, 32, 64, 128], "tile": [1, 2, 3, 4], "flag": [True, False], "kind": ["plain", "fancy"]}


def product() -> list[dict[str, Any]]:
    names = list(SPACE)
    return [
        dict(zip(names, (x, t, f, k), strict=True))
        for x in SPACE["block_size_x"]
        for t in SPACE["tile"]
        for f in SPACE["flag"]
        for k in SPACE["kind"]
    ]


def space(package: Any, cache: Any, restrictions: Any) -> list[tuple[Any, ...]]:
    """Return the configurations that a search in made-up measurements visits."""
    path = cache(SPACE)
    results, _ = package.tune_kernel(
        "vector_add", "", 100, [], SPACE, cache=path, simulation_mode=True, restrictions=restrictions, lang="OpenCL"
    )
    return [tuple(r[name] for name in SPACE) for r in results]


def multiple(p: dict[str, Any]) -> bool:
    return p["block_size_x"] % (16 * p["tile"]) == 0


def by_names(block_size_x: int, tile: int, flag: bool, kind: str) -> bool:
    return block_size_x * tile <= 64 and flag


def small(p: dict[str, Any]) -> bool:
    return p["block_size_x"] <= 64


# Kernel Tuner reads the source of a lambda, so each has lines of its own.
SMALL = lambda p: p["block_size_x"] <= 64  # noqa: E731
TILED = lambda p: p["tile"] > 1  # noqa: E731

CASES: dict[str, tuple[Any, Any]] = {
    "comparison": (["block_size_x > 32"], lambda p: p["block_size_x"] > 32),
    "several": (["block_size_x > 16", "tile != 3"], lambda p: p["block_size_x"] > 16 and p["tile"] != 3),
    "product": (["block_size_x * tile <= 128"], lambda p: p["block_size_x"] * p["tile"] <= 128),
    "chain": (["32 <= block_size_x * tile < 129"], lambda p: 32 <= p["block_size_x"] * p["tile"] < 129),
    "floor": (["block_size_x // tile == 16"], lambda p: p["block_size_x"] // p["tile"] == 16),
    "division": (["block_size_x / tile > 33.3"], lambda p: p["block_size_x"] / p["tile"] > 33.3),
    "modulo": (["block_size_x % tile == 0"], lambda p: p["block_size_x"] % p["tile"] == 0),
    "bits": (["block_size_x & 32 or tile << 1 == 4"], lambda p: p["block_size_x"] & 32 or p["tile"] << 1 == 4),
    "power": (["2 ** tile < block_size_x"], lambda p: 2 ** p["tile"] < p["block_size_x"]),
    "or": (["tile == 1 or block_size_x % 64 != 0"], lambda p: p["tile"] == 1 or p["block_size_x"] % 64 != 0),
    "not": (["not (tile > 2 and flag)"], lambda p: not (p["tile"] > 2 and p["flag"])),
    "in": (["tile in [1, 3]"], lambda p: p["tile"] in [1, 3]),
    "flag": (["flag == True"], lambda p: p["flag"]),
    "text": (["kind == 'fancy'"], lambda p: p["kind"] == "fancy"),
    "condition": (["(tile if flag else 2) == 2"], lambda p: (p["tile"] if p["flag"] else 2) == 2),
    "equality": (["block_size_x == tile * 32"], lambda p: p["block_size_x"] == p["tile"] * 32),
    "lambda": ([SMALL], small),
    "lambdas": ([SMALL, TILED], lambda p: small(p) and p["tile"] > 1),
    "lambda and text": ([SMALL, "tile > 2"], lambda p: small(p) and p["tile"] > 2),
    "lambda alone": (TILED, lambda p: p["tile"] > 1),
    "function": (multiple, multiple),
    "function in a list": ([multiple], multiple),
    "none": (None, lambda p: True),
    "empty": ([], lambda p: True),
    "nothing left of some": (
        ["block_size_x >= 128", "tile >= 4"],
        lambda p: p["block_size_x"] >= 128 and p["tile"] >= 4,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_space(package: Any, cache: Any, case: str) -> None:
    restrictions, allowed = CASES[case]
    expected = [tuple(p.values()) for p in product() if allowed(p)]
    assert sorted(map(str, space(package, cache, restrictions))) == sorted(map(str, expected))


def test_order(package: Any, cache: Any) -> None:
    found = space(package, cache, ["block_size_x * tile <= 64", "flag == True"])
    assert found == [tuple(p.values()) for p in product() if p["block_size_x"] * p["tile"] <= 64 and p["flag"]]


def test_constraint_of_the_solver(package: Any, cache: Any) -> None:
    constraint = pytest.importorskip("constraint")
    tune_params = {"block_size_x": [16, 32, 64], "tile": [1, 2, 3]}
    results, _ = package.tune_kernel(
        "vector_add",
        "",
        100,
        [],
        tune_params,
        cache=cache(tune_params),
        simulation_mode=True,
        lang="OpenCL",
        restrictions=[constraint.MaxProdConstraint(64)],
    )
    assert len(results) == 6


def test_function_of_a_closure(package: Any, cache: Any) -> None:
    limit = {"of": 32}

    def small(p: dict[str, Any]) -> bool:
        allowed = [x for x in SPACE["block_size_x"] if x <= limit["of"]]
        return p["block_size_x"] in allowed

    assert len(space(package, cache, small)) == 32


def test_measured(package: Any, vector_add: list[Any]) -> None:
    results, _ = package.tune_kernel(*vector_add, restrictions=[lambda p: p["block_size_x"] <= 64, "block_size_x > 32"])
    assert [r["block_size_x"] for r in results] == [64]


def test_empty_space(package: Any, vector_add: list[Any]) -> None:
    """No configuration is left: an exception, or no results, but never a wrong one."""
    try:
        results, _ = package.tune_kernel(*vector_add, restrictions=["block_size_x > 1000"])
    except Exception as error:
        print(error)
        return
    assert len(results) == 0


def test_exception_in_a_function(package: Any, vector_add: list[Any]) -> None:
    def wrong(p: dict[str, Any]) -> bool:
        return bool(p["no_such_parameter"])

    with pytest.raises(Exception):  # noqa: B017 (Kernel Tuner's is another one)
        package.tune_kernel(*vector_add, restrictions=wrong)


def test_unknown_name(package: Any, vector_add: list[Any]) -> None:
    with pytest.raises(Exception):  # noqa: B017 (Kernel Tuner's is another one)
        package.tune_kernel(*vector_add, restrictions=["no_such_parameter > 3"])
