"""Cache files of Kernel Tuner: results that go on, and that Kernel Tuner itself can read again.

A file is JSON whose last two braces may be missing: each result is appended as soon as it is known, so that an
interrupted search loses nothing.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ndtune import util


def key_of(values: Sequence[Any]) -> str:
    """The key of a configuration: its values, joined by commas."""
    return ",".join(map(str, values))


class Cache:
    """The cache file of one search, whose name ends with .json: results holds what it knows, by key; store adds to it.

    Raises ValueError for a file of another kernel, other parameters or another problem size; open does so for one of
    another device.
    """

    def __init__(self, cache: Any, kernel_name: str, problem_size: Any, tune_params: Mapping[str, Any]) -> None:
        self.path = path = os.path.abspath(cache) + ("" if str(cache).endswith(".json") else ".json")
        names = list(tune_params)
        self.header = {
            "kernel_name": kernel_name,
            "problem_size": "callable" if callable(problem_size) else problem_size,
            "tune_params_keys": names,
            "tune_params": dict(tune_params),
        }
        self.results: dict[str, dict[str, Any]] = {}
        self.device: str | None = None
        if not os.path.isfile(path):
            return
        data = util.read_cache(path)
        if data["kernel_name"] != kernel_name:
            raise ValueError(
                f"Cannot load cache which contains results for different kernel (cache: {data['kernel_name']}, "
                f"actual: {kernel_name})"
            )
        if "problem_size" in data and not callable(problem_size):
            util.check_matching_problem_size(data["problem_size"], problem_size)
        if data["tune_params_keys"] != names:
            fault = f"cache {path} has {data['tune_params_keys']}, tune_params has {names}"
            if set(data["tune_params_keys"]) <= set(names):
                raise ValueError(f"All tunable parameters are present, but the order is wrong: {fault}")
            raise ValueError(
                f"Cannot load cache which contains results obtained with different tunable parameters: {fault}"
            )
        self.device, self.results = data["device_name"], data["cache"]
        for result in self.results.values():
            if result.get("times"):  # Kernel Tuner, and ndtune before, stored their mean
                result["time"] = float(np.median(result["times"]))

    def open(self, device: str, objective: Sequence[str]) -> None:
        """Prepare the file for appending results of a device."""
        if self.device is None:
            header = {"device_name": device, **self.header, "objective": list(objective), "cache": {}}
            text = json.dumps(header, cls=util.NpEncoder, indent="")[:-3]
        elif self.device != device:
            raise ValueError(
                "Cannot load cache which contains results for different device "
                f"(cache: {self.device}, actual: {device})"
            )
        else:
            with open(self.path, encoding="utf-8") as file:
                text = re.sub(r"\}\s*\}$", "," if self.results else "", util.closed_cache(file.read()))
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)
        self.device = device

    def store(self, values: Sequence[Any], result: Mapping[str, Any]) -> None:
        """Append the result of a configuration."""
        entry = dict(result)
        if "__error__" in entry:
            entry["__error__"] = next(n for n, kind in util.FAILURES.items() if isinstance(entry["__error__"], kind))
        key = key_of(values)
        self.results[key] = dict(result)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write("\n" + json.dumps({key: entry}, cls=util.NpEncoder)[1:-1] + ",")

    def close(self) -> None:
        """Give the file its last two braces, if it was opened."""
        if not os.path.isfile(self.path):
            return
        with open(self.path, encoding="utf-8") as file:
            text = file.read()
        try:
            json.loads(text)
        except json.JSONDecodeError:
            with open(self.path, "w", encoding="utf-8") as file:
                file.write(util.closed_cache(text))
