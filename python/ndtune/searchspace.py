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

from ndtune import _binary
from ndtune._specification import Kernel, Specification

Values = tuple[Any, ...]
Rows = list[Values]
supported_neighbor_methods = ["strictly-adjacent", "adjacent", "Hamming", "Hamming-adjacent"]


class Searchspace:
    """All configurations that satisfy the restrictions, each a tuple of values in the order of tune_params.

    The program lists them, in the order of itertools.product, when they are needed and not given. max_threads limits
    the product of the block_size_*, None does not. Options about how a space is constructed have no meaning here.
    """

    def __init__(
        self,
        tune_params: Mapping[str, Sequence[Any]],
        restrictions: Any,
        max_threads: int | None,
        *,
        configurations: Rows | None = None,
        neighbor_method: str | None = None,
        **construction: Any,
    ) -> None:
        self.tune_params, self.restrictions, self.max_threads = dict(tune_params), restrictions, max_threads
        self.neighbor_method = neighbor_method
        self.param_names = list(tune_params)
        self.params_values = tuple(tuple(values) for values in tune_params.values())
        self.num_params = len(self.param_names)
        if configurations is not None:
            self.__dict__["list"] = configurations

    @cached_property
    def list(self) -> Rows:
        """All configurations."""
        kernel = Kernel("space", "__kernel void space() {}", "OpenCL", None)
        specification = Specification(kernel, 1, [], self.tune_params, (None, None, None))
        with tempfile.TemporaryDirectory(prefix="ndtune-") as folder:
            limit = None if self.max_threads is None else str(self.max_threads)
            specification.restrict(self.restrictions, folder, limit)
            text = json.dumps(specification.content, ensure_ascii=False)
            command = [_binary.find(), "space", "-", "--json"]
            done = subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=False)
        if done.returncode:
            raise _binary.NdtuneError(done.stderr.strip())
        names, *rows = (json.loads(line) for line in done.stdout.splitlines())
        return [specification.values(specification.configuration(dict(zip(names, row, strict=True)))) for row in rows]

    @property
    def size(self) -> int:
        """The number of configurations."""
        return len(self.list)

    @property
    def indices(self) -> np.ndarray:
        """The indices of all configurations."""
        return np.arange(self.size)

    @cached_property
    def _places(self) -> dict[Values, int]:
        return {configuration: i for i, configuration in enumerate(self.list)}

    @cached_property
    def _value_indices(self) -> np.ndarray:
        """The indices of the values of all configurations in tune_params: (size, num_params)."""
        return np.array([self.get_param_indices(c) for c in self.list], dtype=int).reshape(-1, self.num_params)

    def sorted_list(self, sort_last_param_first: bool = False) -> Rows:
        """All configurations in the order of their values, the first parameter slowest, or the last one."""
        order = -1 if sort_last_param_first else 1
        return sorted(self.list, key=lambda c: self.get_param_indices(c)[::order])

    def is_param_config_valid(self, param_config: Values) -> bool:
        """Whether a configuration is in the space."""
        return tuple(param_config) in self._places

    def get_param_config_index(self, param_config: Values) -> int | None:
        """The index of a configuration, None if it is not in the space."""
        return self._places.get(tuple(param_config))

    def get_param_indices(self, param_config: Values) -> tuple[int, ...]:
        """For each value of a configuration its index in tune_params; ValueError if it is not there."""
        return tuple(values.index(value) for values, value in zip(self.params_values, param_config, strict=True))

    def get_param_config_from_param_indices(self, param_indices: Sequence[int]) -> Values:
        """The configuration with the values at these indices of tune_params, whether in the space or not."""
        return tuple(values[i] for values, i in zip(self.params_values, param_indices, strict=True))

    def get_param_configs_at_indices(self, indices: Iterable[int]) -> Rows:
        """The configurations with these indices."""
        return [self.list[i] for i in indices]

    def get_list_param_indices_numpy(self) -> np.ndarray:
        """The indices of the values of all configurations in tune_params: (size, num_params)."""
        return self._value_indices

    def get_random_sample_indices(self, num_samples: int) -> np.ndarray:
        """The indices of different configurations, drawn uniformly."""
        return np.array(random.sample(range(self.size), min(int(num_samples), self.size)), dtype=int)

    def get_random_sample(self, num_samples: int) -> Rows:
        """Different configurations, drawn uniformly."""
        return self.get_param_configs_at_indices(self.get_random_sample_indices(num_samples))

    def get_neighbors_indices(self, param_config: Values, neighbor_method: str | None = None) -> Sequence[int]:
        """The indices of a configuration's neighbours in the space; it need not be in the space itself.

        Hamming: exactly one parameter differs. strictly-adjacent: each value has the same place in tune_params or the
        next one. adjacent: the same, with the next place that occurs in the space. Hamming-adjacent: both.
        """
        method = neighbor_method or self.neighbor_method
        if method not in supported_neighbor_methods:
            raise ValueError(f"Neighbor method is {method}, must be one of {supported_neighbor_methods}")
        steps = self._value_indices - np.array(self.get_param_indices(param_config))
        near = np.ones(len(steps), dtype=bool)
        if method.startswith("Hamming"):
            near = np.count_nonzero(steps, axis=1) == 1
        if method == "strictly-adjacent":
            near = np.abs(steps).max(axis=1, initial=0) <= 1
        elif method.endswith("adjacent"):
            farthest = max(map(len, self.params_values))
            upper = np.min(steps, axis=0, initial=farthest, where=(steps > 0) & near[:, None])
            lower = np.max(steps, axis=0, initial=-farthest, where=(steps < 0) & near[:, None])
            near &= ((lower <= steps) & (steps <= upper)).all(axis=1)
        return np.flatnonzero(near & steps.any(axis=1)).tolist()

    def get_neighbors(self, param_config: Values, neighbor_method: str | None = None) -> Rows:
        """The neighbours of a configuration: see get_neighbors_indices."""
        return self.get_param_configs_at_indices(self.get_neighbors_indices(param_config, neighbor_method))

    def get_random_neighbor(self, param_config: Values, neighbor_method: str | None = None) -> Values | None:
        """One of the neighbours, None if there is none."""
        neighbours = self.get_neighbors(param_config, neighbor_method)
        return random.choice(neighbours) if neighbours else None
