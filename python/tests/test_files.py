"""Files for applications: the same as Kernel Tuner's, where it is installed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ndtune import accuracy, file_utils, integration, util

PARAMS = {"a": [1, 2], "b": ["x", "y"]}


def results(offset: float = 0) -> list[dict[str, Any]]:
    stages = dict.fromkeys(("compile_time", "benchmark_time", "framework_time", "strategy_time"), 2.0)
    rows: list[dict[str, Any]] = [
        {"a": a, "b": b, "time": 1.0 + ((i + offset) % 4) / 50, "times": [1.0], **stages, "verification_time": 0}
        for i, (a, b) in enumerate((a, b) for a in PARAMS["a"] for b in PARAMS["b"])
    ]
    return rows


def write(module: Any, folder: Path, higher: bool) -> tuple[str, str]:
    """Store the results of three devices and two sizes, the first of them twice, and make a header of them."""
    arguments = {"objective": "time", "objective_higher_is_better": higher}
    name = str(folder / "r.json")
    for offset, size, device in [(0, 10, "A GPU"), (1, 10, "A GPU"), (2, (20, 3), "A GPU"), (3, 10, " B-GPU(R) ")]:
        env = {"device_name": device}
        module.store_results(name, "k", "source", PARAMS, size, results(offset), env, top=3, **arguments)
    module.create_device_targets(str(folder / "t.h"), name, **arguments)
    return (folder / "r.json").read_text(), (folder / "t.h").read_text()


@pytest.mark.parametrize("higher", [False, True])
def test_the_same_files(tmp_path: Path, higher: bool) -> None:
    theirs = pytest.importorskip("kernel_tuner.integration")
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
    (our_results, our_header) = write(integration, tmp_path / "ours", higher)
    (their_results, their_header) = write(theirs, tmp_path / "theirs", higher)
    assert our_results == their_results
    # The first line says who made it; the order of devices is that of a set there.
    assert sorted(our_header.splitlines()[1:]) == sorted(
        their_header.replace("#ifdef TARGET_B", "#elif TARGET_B")
        .replace("#elif TARGET_A", "#ifdef TARGET_A")
        .splitlines()[1:]
    )


def test_the_same_t4() -> None:
    theirs = pytest.importorskip("kernel_tuner.file_utils")
    rows = results()
    rows[1]["__error__"] = util.InvalidConfig()
    del rows[1]["time"], rows[1]["times"]
    ours = json.dumps(file_utils.get_t4_results(rows, PARAMS), cls=util.NpEncoder)
    rows[1]["__error__"] = pytest.importorskip("kernel_tuner.util").InvalidConfig()
    assert json.loads(ours) == theirs.get_t4_results(rows, PARAMS)


def test_best_of_a_device_and_a_size(tmp_path: Path) -> None:
    write(integration, tmp_path, False)
    stored = integration.TuneResults(tmp_path / "r.json")
    assert stored.get_best_config("A-GPU", 10) == {"a": 2, "b": "y"}
    assert stored.get_best_config("A GPU", "20x3") == {"a": 2, "b": "x"}
    assert stored.get_best_config("A GPU", 5) == stored.get_best_config("A GPU")


@pytest.mark.parametrize(
    "content, message",
    [
        ({}, "Unknown results file version_number: None"),
        ({"version_number": "1.0", "kernel_name": "k"}, "missing keys: .'objective'"),
        ({"version_number": "1.0", "kernel_name": "k", "objective": "time", "tunable_parameters": ["a"],
          "data": [{"device_name": "d", "problem_size": "1", "tunable_parameters": {}, "time": 1}]}, "missing keys in"),
    ],
)  # fmt: skip
def test_wrong_results_files(tmp_path: Path, content: Any, message: str) -> None:
    (tmp_path / "r.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message):
        integration.TuneResults(tmp_path / "r.json")


def test_a_file_of_another_kernel_stays(tmp_path: Path) -> None:
    before, _ = write(integration, tmp_path, False)
    with pytest.raises(ValueError, match="tunable_parameters"):
        integration.store_results(tmp_path / "r.json", "k", "", {"c": [1]}, 1, results(), {"device_name": "d"})
    assert (tmp_path / "r.json").read_text() == before


NAMES = "mse rmse nrmse mae mre rmsre male rmsle max".split() + [
    "mean squared error", "Root-Mean Square Error", "normalized root mean square", "absolute error",
    "average relative", "root mean sq rel", "mean absolute log error", "root mean square log error",
    "maximum absolute error", "max rel", "max relative error", "relative error",
]  # fmt: skip


@pytest.mark.parametrize("name", [n for n in NAMES if n != "max"] + ["maximum"])
def test_the_same_errors(name: str) -> None:
    theirs = pytest.importorskip("kernel_tuner.accuracy")
    a, b = np.random.default_rng(1).uniform(0.5, 2, (2, 50)).astype(np.float32)
    assert accuracy.error_metric_from_name(name)(a, b) == pytest.approx(theirs.error_metric_from_name(name)(a, b))


def test_no_such_error() -> None:
    with pytest.raises(ValueError, match="invalid error metric provided: nonsense"):
        accuracy.error_metric_from_name("nonsense")
