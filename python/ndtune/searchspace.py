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
from ndtune._space import Space, Values

Rows = list[Values]
_METHODS = ["strictly-adjacent", "adjacent", "Hamming"]


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
        **_: Any,
    ) -> None:
        self.tune_params, self.restrictions, self.max_threads = dict(tune_params), restrictions, max_threads
        self.param_names = list(tune_params)
        self.params_values = tuple(tuple(values) for values in tune_params.values())
        self.num_params = len(self.param_names)
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
        """The indices of different configurations, drawn uniformly."""
        return np.array(random.sample(range(self.size), min(int(num_samples), self.size)), dtype=int)

    def get_random_sample(self, num_samples: int) -> Rows:
        """Different configurations, drawn uniformly."""
        return self.get_param_configs_at_indices(self.get_random_sample_indices(num_samples))

    def get_neighbors_indices(self, param_config: Sequence[Any], neighbor_method: str | None = None) -> Sequence[int]:
        """The indices of a configuration's neighbours in the space; it need not be in the space itself.

        Hamming: exactly one parameter differs. strictly-adjacent: each value has the same place in tune_params or the
        next one. adjacent: the same, with the next place that occurs in the space.
        """
        if neighbor_method not in _METHODS:
            raise ValueError(f"Neighbor method is {neighbor_method}, must be one of {_METHODS}")
        steps = self._value_indices - np.array(self.get_param_indices(param_config))
        if neighbor_method == "Hamming":
            return np.flatnonzero(np.count_nonzero(steps, axis=1) == 1).tolist()
        farthest = 1 if neighbor_method == "strictly-adjacent" else max(map(len, self.params_values))
        upper = np.min(steps, axis=0, initial=farthest, where=steps > 0)
        lower = np.max(steps, axis=0, initial=-farthest, where=steps < 0)
        near = ((lower <= steps) & (steps <= upper)).all(axis=1)
        return np.flatnonzero(near & steps.any(axis=1)).tolist()

    def get_neighbors(self, param_config: Sequence[Any], neighbor_method: str | None = None) -> Rows:
        """The neighbours of a configuration: see get_neighbors_indices."""
        return self.get_param_configs_at_indices(self.get_neighbors_indices(param_config, neighbor_method))
