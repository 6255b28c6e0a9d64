"""The configurations of a space, for strategies that are Python objects."""

from __future__ import annotations

import json
import random
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ndtune import _binary, _caller
from ndtune._space import Space, Values

Rows = list[Values]
_METHODS = ["strictly-adjacent", "adjacent", "Hamming", "Hamming-adjacent", "closest-param-indices"]


class Searchspace:
    """All configurations that satisfy the restrictions, each a tuple of values in the order of tune_params.

    The program lists them, in the order of itertools.product, when they are needed and not given. max_threads limits
    the product of the block_size_*, None does not. neighbor_method is that of calls that name none. Options about how a
    space is constructed have no meaning here.
    """

    def __init__(
        self,
        tune_params: Mapping[str, Sequence[Any]],
        restrictions: Any,
        max_threads: int | None,
        *,
        configurations: Rows | None = None,
        neighbor_method: str | None = None,
        **_: Any,
    ) -> None:
        self.tune_params, self.restrictions, self.max_threads = dict(tune_params), restrictions, max_threads
        self.param_names = list(tune_params)
        self.params_values = tuple(tuple(values) for values in tune_params.values())
        self.num_params, self.neighbor_method = len(self.param_names), neighbor_method
        if configurations is not None:
            self.__dict__["list"] = configurations

    @cached_property
    def list(self) -> Rows:
        """All configurations."""
        space = Space(self.tune_params)
        kernel = {"name": "space", "source": "kernel void space() {}"}
        content: dict[str, Any] = {"kernel": kernel, "problem_size": 1, "arguments": []}
        content["parameters"] = space.parameters
        with tempfile.TemporaryDirectory(prefix="ndtune-") as folder:
            content["restrictions"] = space.restrictions(self.restrictions, folder, self.max_threads)
            command = [_binary.find(), "space", "-", "--json"]
            text = json.dumps(content, ensure_ascii=False)
            done = subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=False)
        if "the space is empty" in done.stderr:
            return []
        if done.returncode:
            raise _binary.NdtuneError(done.stderr.strip())
        names, *rows = (json.loads(line) for line in done.stdout.splitlines())
        return [space.values(space.configuration(dict(zip(names, row, strict=True)))) for row in rows]

    @property
    def size(self) -> int:
        """The number of configurations."""
        return len(self.list)

    @cached_property
    def _places(self) -> dict[Values, int]:
        return {configuration: i for i, configuration in enumerate(self.list)}

    def is_param_config_valid(self, param_config: Sequence[Any]) -> bool:
        """Whether a configuration is in the space."""
        return tuple(param_config) in self._places

    def get_list_dict(self) -> dict[Values, int]:
        """The index of each configuration."""
        return self._places

    def get_param_config_index(self, param_config: Sequence[Any]) -> int | None:
        """The index of a configuration; None if it is not in the space."""
        return self._places.get(tuple(param_config))

    def get_true_tunable_params(self) -> dict[str, Sequence[Any]]:
        """The parameters with more than one value in the space."""
        varies = np.ptp(self._value_indices, axis=0) > 0
        return {name: values for (name, values), v in zip(self.tune_params.items(), varies, strict=True) if v}

    def sorted_list(self, sort_last_param_first: bool = False) -> Rows:
        """All configurations in the order of their values, of the first parameter first or of the last one."""
        return sorted(self.list, key=lambda c: self.get_param_indices(c)[:: -1 if sort_last_param_first else 1])

    def get_param_indices(self, param_config: Sequence[Any]) -> tuple[int, ...]:
        """For each value of a configuration its index in tune_params; ValueError if it is not there."""
        return tuple(values.index(value) for values, value in zip(self.params_values, param_config, strict=True))

    def get_param_config_from_param_indices(self, param_indices: Sequence[int]) -> Values:
        """The configuration with the values at these indices of tune_params, whether in the space or not."""
        return tuple(values[i] for values, i in zip(self.params_values, param_indices, strict=True))

    def get_param_configs_at_indices(self, indices: Iterable[int]) -> Rows:
        """The configurations with these indices."""
        return [self.list[i] for i in indices]

    @cached_property
    def _value_indices(self) -> np.ndarray:
        return np.array([self.get_param_indices(c) for c in self.list], dtype=int).reshape(-1, self.num_params)

    def get_random_sample_indices(self, num_samples: int) -> np.ndarray:
        """The indices of different configurations, drawn uniformly; ValueError if there are not as many."""
        if num_samples > self.size:
            asked = f"The number of samples requested ({num_samples})"
            raise ValueError(f"{asked} is greater than the searchspace size ({self.size})")
        return np.array(random.sample(range(self.size), int(num_samples)), dtype=int)

    def get_random_sample(self, num_samples: int) -> Rows:
        """Different configurations, drawn uniformly; all of them, with a warning, if there are not as many."""
        if num_samples > self.size:
            _caller.warn(f"Too many samples requested ({num_samples}): the search space has {self.size} configurations")
        return self.get_param_configs_at_indices(self.get_random_sample_indices(min(num_samples, self.size)))

    def get_LHS_sample_indices(self, num_samples: int) -> Sequence[int]:
        """The indices of different configurations, those next to a Latin hypercube of the values, if they are there."""
        n = min(num_samples, self.size)
        strata = np.array([np.random.permutation(n) for _ in self.param_names]).T + np.random.rand(n, self.num_params)
        points = (strata * [len(values) for values in self.params_values] / n).astype(int)
        found = {int(np.abs(self._value_indices - point).sum(axis=1).argmin()) for point in points}
        others = [i for i in range(self.size) if i not in found]
        return [*found, *random.sample(others, n - len(found))]

    def get_LHS_sample(self, num_samples: int) -> Rows:
        """Different configurations, spread over the space."""
        return self.get_param_configs_at_indices(self.get_LHS_sample_indices(num_samples))

    def get_distributed_random_sample_indices(self, num_samples: int, sampling_factor: int = 10) -> Sequence[int]:
        """The same as get_LHS_sample_indices."""
        return self.get_LHS_sample_indices(num_samples)

    def get_distributed_random_sample(self, num_samples: int, sampling_factor: int = 10) -> Rows:
        """The same as get_LHS_sample."""
        return self.get_LHS_sample(num_samples)

    def get_neighbors_indices(self, param_config: Sequence[Any], neighbor_method: str | None = None) -> Sequence[int]:
        """The indices of a configuration's neighbours in the space; it need not be in the space itself.

        Hamming: exactly one parameter differs. strictly-adjacent: each value has the same place in tune_params or the
        next one. adjacent: the same, with the next place that occurs in the space. Hamming-adjacent: of one parameter,
        with the next place that occurs among those of Hamming. closest-param-indices: the sum of steps is the least.
        """
        method = neighbor_method or self.neighbor_method
        if method not in _METHODS:
            raise ValueError(f"Neighbor method is {method}, must be one of {_METHODS}")
        steps = self._value_indices - np.array(self.get_param_indices(param_config))
        distance = np.abs(steps).sum(axis=1)
        near = np.count_nonzero(steps, axis=1) == 1 if method.startswith("Hamming") else distance > 0
        if method == "closest-param-indices":
            near &= distance == distance.min(where=near, initial=np.iinfo(int).max)
        elif method != "Hamming":
            farthest = 1 if method == "strictly-adjacent" else max(map(len, self.params_values))
            upper = np.min(steps, axis=0, initial=farthest, where=(steps > 0) & near[:, None])
            lower = np.max(steps, axis=0, initial=-farthest, where=(steps < 0) & near[:, None])
            near &= ((lower <= steps) & (steps <= upper)).all(axis=1)
        return np.flatnonzero(near).tolist()

    def get_neighbors(self, param_config: Sequence[Any], neighbor_method: str | None = None) -> Rows:
        """The neighbours of a configuration: see get_neighbors_indices."""
        return self.get_param_configs_at_indices(self.get_neighbors_indices(param_config, neighbor_method))

    get_neighbors_indices_no_cache, get_neighbors_no_cache = get_neighbors_indices, get_neighbors

    def get_random_neighbor(self, param_config: Sequence[Any], neighbor_method: str | None = None) -> Values | None:
        """A neighbour of a configuration, drawn uniformly; None if it has none."""
        neighbors = self.get_neighbors(param_config, neighbor_method)
        return random.choice(neighbors) if neighbors else None

    def get_param_neighbors(
        self, param_config: Sequence[Any], index: int, neighbor_method: str | None = None, randomize: bool = False
    ) -> Sequence[Any]:
        """The other values that the neighbours of a configuration have for the parameter with this index."""
        found = dict.fromkeys(neighbor[index] for neighbor in self.get_neighbors(param_config, neighbor_method))
        values = [value for value in found if value != param_config[index]]
        return random.sample(values, len(values)) if randomize else values
