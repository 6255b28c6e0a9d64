"""Cache files: written, gone on from, refused; and simulations from them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SIZES = {"block_size_x": [16, 32, 64, 128, 256, 512]}


def read(path: Path) -> dict[str, Any]:
    contents: dict[str, Any] = json.loads(path.read_text())
    return contents


def test_written(package: Any, vector_add: list[Any], folder: Path) -> None:
    results, env = package.tune_kernel(*vector_add, cache="measured.json")
    contents = read(folder / "measured.json")
    assert contents["device_name"] == env["device_name"]
    assert contents["kernel_name"] == "vector_add"
    assert contents["problem_size"] == 100
    assert contents["tune_params_keys"] == ["block_size_x"]
    assert contents["tune_params"] == {"block_size_x": [32, 64, 128]}
    assert sorted(contents["cache"], key=int) == ["32", "64", "128"]
    for r in results:
        entry = contents["cache"][str(r["block_size_x"])]
        assert entry["time"] == r["time"] and entry["times"] == r["times"]
        assert {"compile_time", "verification_time", "benchmark_time", "timestamp"} <= set(entry)


def test_ending_is_added(package: Any, vector_add: list[Any], folder: Path) -> None:
    package.tune_kernel(*vector_add, cache=str(folder / "measured"))
    assert (folder / "measured.json").is_file()


def test_path_object(package: Any, vector_add: list[Any], folder: Path) -> None:
    package.tune_kernel(*vector_add, cache=folder / "measured.json")
    assert len(read(folder / "measured.json")["cache"]) == 3


def test_key_of_several_values(package: Any, vector_add: list[Any], folder: Path) -> None:
    vector_add[4] = {"block_size_x": [32], "flag": [True], "real": [0.5]}
    package.tune_kernel(*vector_add, cache="measured.json")
    assert list(read(folder / "measured.json")["cache"]) == ["32,True,0.5"]


def test_goes_on(package: Any, vector_add: list[Any], folder: Path) -> None:
    vector_add[4] = {"block_size_x": [32, 64]}
    first, _ = package.tune_kernel(*vector_add, cache="measured.json")
    vector_add[4] = {"block_size_x": [32, 64, 128]}
    second, env = package.tune_kernel(*vector_add, cache="measured.json")
    assert [r["block_size_x"] for r in second] == [32, 64, 128]
    assert [r["times"] for r in second[:2]] == [r["times"] for r in first]
    assert [r["compile_time"] for r in second[:2]] == [0, 0]
    assert sorted(read(folder / "measured.json")["cache"], key=int) == ["32", "64", "128"]


def test_goes_on_from_a_file_that_ends_early(package: Any, vector_add: list[Any], folder: Path) -> None:
    package.tune_kernel(*vector_add, cache="measured.json")
    path = folder / "measured.json"
    text = path.read_text().rstrip().removesuffix("}\n}")
    path.write_text(text[: text.rindex('"128"')].rstrip())
    results, _ = package.tune_kernel(*vector_add, cache="measured.json")
    assert [r["block_size_x"] for r in results] == [32, 64, 128]
    assert sorted(read(path)["cache"], key=int) == ["32", "64", "128"]


def test_all_known(package: Any, vector_add: list[Any], check_best: Any) -> None:
    first, _ = package.tune_kernel(*vector_add, cache="measured.json")
    again, env = package.tune_kernel(*vector_add, cache="measured.json")
    assert [r["times"] for r in again] == [r["times"] for r in first]
    check_best(again, env)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kernel_name": "another"}, "kernel"),
        ({"device_name": "another"}, "device"),
        ({"problem_size": 1000}, "problem_size"),
        ({"problem_size": [100, 2]}, "problem_size"),
        ({"tune_params_keys": ["other"]}, "parameter"),
    ],
)
def test_another_problem(package: Any, vector_add: list[Any], folder: Path, changes: dict[str, Any], said: str) -> None:
    package.tune_kernel(*vector_add, cache="measured.json")
    path = folder / "measured.json"
    path.write_text(json.dumps(read(path) | changes, indent=0)[:-3] + "}\n}")
    before = {k: v for k, v in read(path).items() if k != "cache"}
    with pytest.raises(ValueError, match=said):
        package.tune_kernel(*vector_add, cache="measured.json")
    assert before.items() <= json.loads(repaired(path)).items()


def repaired(path: Path) -> str:
    """Return the text of a cache file that an exception left open for more entries."""
    text = path.read_text().rstrip()
    return text if text.endswith("}") and text.count("{") == text.count("}") else text.rstrip(",") + "}\n}"


def test_another_order_of_parameters(package: Any, vector_add: list[Any]) -> None:
    vector_add[4] = {"block_size_x": [32], "tile": [1]}
    package.tune_kernel(*vector_add, cache="measured.json")
    vector_add[4] = {"tile": [1], "block_size_x": [32]}
    with pytest.raises(ValueError, match="order"):
        package.tune_kernel(*vector_add, cache="measured.json")


@pytest.mark.parametrize("size", [100, (100,), [100]])
def test_same_problem_size(package: Any, vector_add: list[Any], size: Any) -> None:
    package.tune_kernel(*vector_add, cache="measured.json")
    vector_add[2] = size
    results, _ = package.tune_kernel(*vector_add, cache="measured.json")
    assert len(results) == 3


def test_simulation(package: Any, cache: Callable[..., Path], vector_add: list[Any]) -> None:
    vector_add[4] = SIZES
    path = cache(SIZES)
    before = path.read_bytes()
    results, env = package.tune_kernel(*vector_add, cache=path, simulation_mode=True)
    assert [r["block_size_x"] for r in results] == SIZES["block_size_x"]
    assert [r["time"] for r in results] == [entry["time"] for entry in read(path)["cache"].values()]
    assert env["device_name"] == "A device that is not here"
    assert env["simulation"]
    assert env["simulated_time"] == pytest.approx(6 * 23, rel=0.1)
    assert path.read_bytes() == before


def test_times_of_a_simulation(package: Any, cache: Callable[..., Path], vector_add: list[Any]) -> None:
    vector_add[4] = SIZES
    _, env = package.tune_kernel(
        *vector_add,
        cache=cache(SIZES),
        simulation_mode=True,
        strategy="random_sample",
        strategy_options={"fraction": 1},
    )
    keys = [
        "total_framework_time",
        "total_strategy_time",
        "total_compile_time",
        "total_benchmark_time",
        "overhead_time",
    ]
    assert all(env[key] > 0 for key in keys)
    assert sum(env[key] for key in keys) > env["simulated_time"]


def test_simulation_without_a_file(package: Any, vector_add: list[Any]) -> None:
    with pytest.raises(ValueError, match="imulation mode requires"):
        package.tune_kernel(*vector_add, cache="missing.json", simulation_mode=True)


def test_simulation_and_parallel(package: Any, vector_add: list[Any], cache: Callable[..., Path]) -> None:
    with pytest.raises(ValueError, match="parallel"):
        package.tune_kernel(*vector_add, cache=cache(vector_add[4]), simulation_mode=True, parallel=True)


def test_failures_of_a_simulation(package: Any, cache: Callable[..., Path], vector_add: list[Any], util: Any) -> None:
    vector_add[4] = SIZES
    results, env = package.tune_kernel(*vector_add, cache=cache(SIZES, failed=("16", "64")), simulation_mode=True)
    failed = [r for r in results if "__error__" in r]
    assert {r["block_size_x"] for r in failed} == {16, 64}
    assert all(isinstance(r["__error__"], util.CompilationFailedConfig) for r in failed)
    assert env["best_config"]["block_size_x"] not in {16, 64}


def test_metrics_of_a_simulation(package: Any, cache: Callable[..., Path], vector_add: list[Any]) -> None:
    vector_add[4] = SIZES
    metrics = {"GB/s": lambda p: 1.2 / p["time"]}
    results, env = package.tune_kernel(
        *vector_add, cache=cache(SIZES), simulation_mode=True, metrics=metrics, objective="GB/s"
    )
    assert all(r["GB/s"] == pytest.approx(1.2 / r["time"]) for r in results)
    assert env["best_config"]["GB/s"] == max(r["GB/s"] for r in results)


def test_restrictions_of_a_simulation(package: Any, cache: Callable[..., Path], vector_add: list[Any]) -> None:
    vector_add[4] = SIZES
    restrictions = [lambda p: p["block_size_x"] <= 256, "block_size_x > 32"]
    results, _ = package.tune_kernel(*vector_add, cache=cache(SIZES), simulation_mode=True, restrictions=restrictions)
    assert [r["block_size_x"] for r in results] == [64, 128, 256]


def test_tune_cache(package: Any, cache: Callable[..., Path]) -> None:
    results, env = package.tune_cache(cache(SIZES))
    assert len(results) == 6
    assert env["best_config"]["time"] == min(r["time"] for r in results)


def test_tune_cache_with_options(package: Any, cache: Callable[..., Path]) -> None:
    path = cache(SIZES, keep=lambda p: p["block_size_x"] != 64)
    results, _ = package.tune_cache(path, restrictions=["block_size_x > 16"])
    assert [r["block_size_x"] for r in results] == [32, 128, 256, 512]
    results, _ = package.tune_cache(path, strategy="random_sample", strategy_options={"max_fevals": 2})
    assert len(results) == 2


def test_written_and_simulated(package: Any, vector_add: list[Any]) -> None:
    measured, _ = package.tune_kernel(*vector_add, cache="measured.json")
    simulated, _ = package.tune_kernel(*vector_add, cache="measured.json", simulation_mode=True)
    assert [r["time"] for r in simulated] == [r["time"] for r in measured]


def test_file_of_the_other_package(package: Any, vector_add: list[Any], util: Any, folder: Path) -> None:
    """read_cache reads what tune_kernel writes, with the failures as objects."""
    package.tune_kernel(*vector_add, cache="measured.json")
    contents = util.read_cache(str(folder / "measured.json"), open_cache=False)
    assert sorted(contents["cache"], key=int) == ["32", "64", "128"]
