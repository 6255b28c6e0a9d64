"""Metrics and objectives."""

from typing import Any

import pytest


def test_lambda(package: Any, vector_add: list[Any]) -> None:
    results, _ = package.tune_kernel(*vector_add, metrics={"GB/s": lambda p: 1.2e-6 * 100 / (p["time"] / 1e3)})
    assert all(r["GB/s"] == pytest.approx(1.2e-4 / (r["time"] / 1e3)) for r in results)


def test_text(package: Any, vector_add: list[Any]) -> None:
    results, _ = package.tune_kernel(*vector_add, metrics={"rate": "100 / time * block_size_x"})
    assert all(r["rate"] == pytest.approx(100 / r["time"] * r["block_size_x"]) for r in results)


def test_metric_of_a_metric(package: Any, vector_add: list[Any]) -> None:
    results, _ = package.tune_kernel(*vector_add, metrics={"x": "10000 / time", "x2": "x * x", "y": lambda p: p["x2"]})
    assert all(r["y"] == pytest.approx((10000 / r["time"]) ** 2) for r in results)


def test_metric_of_times(package: Any, vector_add: list[Any]) -> None:
    results, _ = package.tune_kernel(*vector_add, metrics={"worst": lambda p: max(p["times"])})
    assert all(r["worst"] == max(r["times"]) for r in results)


def test_metric_replaces_a_key(package: Any, vector_add: list[Any]) -> None:
    results, _ = package.tune_kernel(*vector_add, metrics={"compile_time": lambda p: 5.0})
    assert [r["compile_time"] for r in results] == [5.0] * 3


def test_known_objective(package: Any, vector_add: list[Any], check_best: Any) -> None:
    results, env = package.tune_kernel(*vector_add, metrics={"GFLOP/s": "100 / time"}, objective="GFLOP/s")
    check_best(results, env, "GFLOP/s", True)


def test_unknown_objective(package: Any, vector_add: list[Any]) -> None:
    with pytest.raises(ValueError, match="Please specify objective_higher_is_better for objective beauty"):
        package.tune_kernel(*vector_add, metrics={"beauty": "time"}, objective="beauty")


@pytest.mark.parametrize("higher", [True, False])
def test_direction(package: Any, vector_add: list[Any], higher: bool) -> None:
    _, env = package.tune_kernel(
        *vector_add,
        metrics={"size": lambda p: float(p["block_size_x"])},
        objective="size",
        objective_higher_is_better=higher,
    )
    assert env["best_config"]["block_size_x"] == (128 if higher else 32)


@pytest.mark.parametrize("metrics", [["time"], {"x": 3}], ids=["list", "number"])
def test_wrong_metrics(package: Any, vector_add: list[Any], metrics: Any) -> None:
    with pytest.raises(ValueError, match="metric"):
        package.tune_kernel(*vector_add, metrics=metrics)


def test_exception_in_a_metric(package: Any, vector_add: list[Any]) -> None:
    def wrong(p: dict[str, Any]) -> float:
        raise LookupError("of the user")

    with pytest.raises(LookupError, match="of the user"):
        package.tune_kernel(*vector_add, metrics={"x": wrong})


def test_units_and_best_line(package: Any, vector_add: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    package.tune_kernel(*vector_add, metrics={"GFLOP/s": lambda p: 100 / p["time"]})
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("block_size_x=32, time=") and "ms, GFLOP/s=" in line for line in lines)
