"""Search spaces as strategies of one's own use them: their configurations, samples and neighbours."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def space(module: Callable[[str], Any]) -> Any:
    """Return x, y and z with the configurations whose product of x and z is at most 8."""
    values = {"x": [1, 2, 4, 8], "y": ["a", "b"], "z": [0.5, 1.0, 2.0], "one": [7]}
    return module("searchspace").Searchspace(values, ["x * z <= 8", "y == 'a' or x > 1"], 1024)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("Hamming", {(1, "a", 1.0), (1, "a", 2.0), (2, "a", 0.5), (4, "a", 0.5), (8, "a", 0.5)}),
        ("Hamming-adjacent", {(1, "a", 1.0), (2, "a", 0.5)}),
        ("adjacent", {(1, "a", 1.0), (2, "a", 0.5), (2, "a", 1.0), (2, "b", 0.5), (2, "b", 1.0)}),
        ("strictly-adjacent", {(1, "a", 1.0), (2, "a", 0.5), (2, "a", 1.0), (2, "b", 0.5), (2, "b", 1.0)}),
        ("closest-param-indices", {(1, "a", 1.0), (2, "a", 0.5)}),
    ],
)
def test_neighbours(space: Any, method: str, expected: set[tuple[Any, ...]]) -> None:
    center = (1, "a", 0.5, 7)
    found = space.get_neighbors(center, method)
    assert len(found) == len(expected) and {c[:3] for c in found} == expected
    assert sorted(space.get_neighbors_indices_no_cache(center, method)) == sorted(map(space.list.index, found))
    assert space.get_random_neighbor(center, method) in found
    assert set(space.get_param_neighbors(center, 0, method, randomize=True)) == {c[0] for c in found} - {1}


def test_neighbours_of_what_is_not_in_the_space(space: Any) -> None:
    found = {c[:3] for c in space.get_neighbors((8, "b", 2.0, 7), "Hamming-adjacent")}
    assert found == {(4, "b", 2.0), (8, "b", 1.0)}
    with pytest.raises((KeyError, ValueError)):
        space.get_neighbors((8, "b", 2.0, 7), "nearby")
    with pytest.raises(ValueError):
        space.get_neighbors((8, "b", 2.0, 7))


def test_neighbours_by_the_method_of_the_space(module: Callable[[str], Any]) -> None:
    space = module("searchspace").Searchspace({"x": [1, 2, 3], "y": [1, 2, 3]}, [], 1024, neighbor_method="Hamming")
    assert len(space.get_neighbors((1, 1))) == 4


@pytest.mark.parametrize("draw", ["random", "LHS", "distributed_random"])
def test_samples(space: Any, draw: str) -> None:
    more = {"sampling_factor": 2} if draw == "distributed_random" else {}
    sample = getattr(space, f"get_{draw}_sample")(8, **more)
    assert len(sample) == len(set(sample)) == 8 and set(sample) <= set(space.list)
    indices = getattr(space, f"get_{draw}_sample_indices")(8, **more)
    assert len(set(map(int, indices))) == 8
    assert all(space.get_param_config_index(c) == space.list.index(c) for c in sample)


def test_too_many_samples(space: Any) -> None:
    with pytest.raises(ValueError, match="greater than the searchspace size"):
        space.get_random_sample_indices(space.size + 1)
    with pytest.warns(UserWarning, match="Too many samples"):
        assert len(space.get_random_sample(space.size + 1)) == space.size


def test_order_and_size_of_a_space(space: Any) -> None:
    assert space.size == len(space.list) == len(space.get_list_dict()) == 19
    assert space.get_param_config_index((8, "a", 2.0, 7)) is None
    assert list(space.get_true_tunable_params()) == ["x", "y", "z"]
    first = [space.get_param_indices(c) for c in space.sorted_list()]
    last = [space.get_param_indices(c)[::-1] for c in space.sorted_list(sort_last_param_first=True)]
    assert first == sorted(first) and last == sorted(last)
