"""What scripts of Kernel Tuner rely on, as cases that run against either package: PACKAGE=kernel_tuner or ndtune.

The cases were told anew from the behaviour that Kernel Tuner's own tests describe, with OpenCL kernels, so that a CPU
serves.
"""

import importlib
import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PACKAGE = os.environ.get("PACKAGE", "ndtune")
OURS = PACKAGE == "ndtune"

ADD = """
__kernel void vector_add(__global float *c, __global const float *a, __global const float *b, int n) {
    int i = get_global_id(0);
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("only_ours") and not OURS:
            item.add_marker(pytest.mark.skip(reason="of ndtune only"))


@pytest.fixture
def package() -> Any:
    return importlib.import_module(PACKAGE)


@pytest.fixture
def module() -> Callable[[str], Any]:
    """Return a function that imports a module of the package: module("util") is kernel_tuner.util or ndtune.util."""
    return lambda name: importlib.import_module(f"{PACKAGE}.{name}")


@pytest.fixture
def check_best() -> Callable[[Any, dict[str, Any], str, bool], None]:
    """Return a function that checks env["best_config"] for an objective.

    Kernel Tuner's has the best value. Ours is the winner of a final measurement, so it is another where two are close.
    """

    def check(results: Any, env: dict[str, Any], objective: str = "time", higher: bool = False) -> None:
        best = env["best_config"]
        assert best in results
        if not OURS:
            values = [r[objective] for r in results]
            assert best[objective] == (max if higher else min)(values)

    return check


@pytest.fixture
def util(module: Callable[[str], Any]) -> Any:
    return module("util")


@pytest.fixture
def strict() -> dict[str, Any]:
    """Return what makes a failure end the run with an exception, as Kernel Tuner always does."""
    return {"strict": True} if OURS else {}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let each case run in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def vector_add() -> list[Any]:
    """Return the first five arguments of tune_kernel: name, source, size, arguments, parameters (three of them)."""
    n = 100
    a, b = np.random.default_rng(7).standard_normal((2, n)).astype(np.float32)
    return ["vector_add", ADD, n, [np.zeros_like(a), a, b, np.int32(n)], {"block_size_x": [32, 64, 128]}]


@pytest.fixture
def answer(vector_add: list[Any]) -> list[Any]:
    """Return the expected output of vector_add."""
    _, a, b, _ = vector_add[3]
    return [a + b, None, None, None]


@pytest.fixture
def cache(folder: Path) -> Callable[..., Path]:
    """Return a function that writes a cache file with made-up measurements, of all configurations of some parameters.

    The time of the configuration with index i is 1 + (i * 7 % 13) / 10 ms. failed has the keys of those that did not
    compile, keep says which configurations the file has, and changes are other values of its header.
    """

    def write(
        tune_params: dict[str, list[Any]], failed: tuple[str, ...] = (), keep: Any = None, **changes: Any
    ) -> Path:
        entries = {}
        for i, values in enumerate(itertools.product(*tune_params.values())):
            configuration = dict(zip(tune_params, values, strict=True))
            if keep is not None and not keep(configuration):
                continue
            key = ",".join(str(value) for value in values)
            time = 1 + (i * 7 % 13) / 10
            costs = {"compile_time": 20.0, "verification_time": 0, "benchmark_time": 3.0, "strategy_time": 0}
            entries[key] = {**configuration, "time": time, "times": [time] * 7, **costs}
            entries[key] |= {"framework_time": 0.5, "timestamp": "2026-11-24 10:00:00.000000+00:00"}
            if key in failed:
                entries[key] |= {"time": "CompilationFailedConfig", "times": []}
        contents = {
            "device_name": "A device that is not here",
            "kernel_name": "vector_add",
            "problem_size": 100,
            "tune_params_keys": list(tune_params),
            "tune_params": tune_params,
            "objective": "time",
        } | changes
        path = folder / "cache.json"
        path.write_text(json.dumps({**contents, "cache": entries}, indent=0)[:-3] + "}\n}")
        return path

    return write
