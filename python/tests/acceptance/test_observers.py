"""Observers: objects and functions that make them, what they see, and what they add to results."""

import time
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def observer(module: Callable[[str], Any]) -> Any:
    return module("observers.observer")


def test_name_of_the_device(package: Any, vector_add: list[Any], observer: Any) -> None:
    class Name(observer.BenchmarkObserver):  # type: ignore[misc, name-defined]
        def get_results(self) -> dict[str, Any]:
            return {"name": self.dev.name}

    vector_add[4] = {"block_size_x": [64]}
    results, env = package.tune_kernel(*vector_add, observers=[Name()])
    assert results[0]["name"] == env["device_name"]


def test_function_that_makes_one(package: Any, vector_add: list[Any], observer: Any) -> None:
    class Arguments(observer.BenchmarkObserver):  # type: ignore[misc, name-defined]
        def __init__(self, arguments: dict[str, Any]) -> None:
            self.arguments = arguments

        def get_results(self) -> dict[str, Any]:
            return {"language": self.arguments["lang"], "device": self.arguments["device"]}

    results, _ = package.tune_kernel(*vector_add, observers=[lambda arguments: Arguments(arguments)])
    assert [r["language"].upper() for r in results] == ["OPENCL"] * 3
    assert [r["device"] for r in results] == [0] * 3


def test_order_of_calls(package: Any, vector_add: list[Any], observer: Any) -> None:
    class Calls(observer.BenchmarkObserver):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.calls: list[str] = []

        def before_start(self) -> None:
            self.calls.append("before")

        def after_start(self) -> None:
            self.calls.append("started")

        def after_finish(self) -> None:
            self.calls.append("finished")

        def get_results(self) -> dict[str, Any]:
            calls, self.calls = self.calls, []
            return {"calls": calls}

    vector_add[4] = {"block_size_x": [64]}
    results, _ = package.tune_kernel(*vector_add, observers=[Calls()], iterations=4)
    assert results[0]["calls"] == ["before", "started", "finished"] * len(results[0]["times"])


def test_own_time(package: Any, vector_add: list[Any], observer: Any, check_best: Any) -> None:
    class Host(observer.BenchmarkObserver):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.times: list[float] = []

        def before_start(self) -> None:
            self.began = time.perf_counter()

        def after_finish(self) -> None:
            self.times.append((time.perf_counter() - self.began) * 1000)

        def get_results(self) -> dict[str, Any]:
            times, self.times = self.times, []
            return {"host_time": sum(times) / len(times)}

    results, env = package.tune_kernel(*vector_add, observers=[Host()], objective="host_time",
                                       objective_higher_is_better=False)  # fmt: skip
    assert all(r["host_time"] > 0 for r in results)
    check_best(results, env, "host_time")


def test_time_is_that_of_the_device(package: Any, vector_add: list[Any], observer: Any) -> None:
    class Clock(observer.BenchmarkObserver):  # type: ignore[misc, name-defined]
        def get_results(self) -> dict[str, Any]:
            return {"time": 1e9, "seen": 1}

    results, _ = package.tune_kernel(*vector_add, observers=[Clock()])
    assert all(r["time"] < 1e6 and r["seen"] == 1 for r in results)


def test_configuration(package: Any, vector_add: list[Any], observer: Any) -> None:
    class Size(observer.BenchmarkObserver):  # type: ignore[misc, name-defined]
        def register_configuration(self, params: dict[str, Any]) -> None:
            self.size = params["block_size_x"]

        def get_results(self) -> dict[str, Any]:
            return {"size": self.size}

    results, _ = package.tune_kernel(*vector_add, observers=[Size()])
    assert [r["size"] for r in results] == [32, 64, 128]


def test_metric_of_an_observer(package: Any, vector_add: list[Any], observer: Any) -> None:
    class Three(observer.BenchmarkObserver):  # type: ignore[misc, name-defined]
        def get_results(self) -> dict[str, Any]:
            return {"three": 3}

    metrics = {"six": "three * 2", "nine": lambda p: p["three"] ** 2}
    results, _ = package.tune_kernel(*vector_add, observers=[Three()], metrics=metrics)
    assert [(r["six"], r["nine"]) for r in results] == [(6, 9)] * 3


def test_several(package: Any, vector_add: list[Any], observer: Any) -> None:
    def named(name: str) -> Any:
        class Named(observer.BenchmarkObserver):  # type: ignore[misc, name-defined]
            def get_results(self) -> dict[str, Any]:
                return {name: name}

        return Named()

    results, _ = package.tune_kernel(*vector_add, observers=[named("first"), named("second")])
    assert [(r["first"], r["second"]) for r in results] == [("first", "second")] * 3


def test_outputs(package: Any, vector_add: list[Any], answer: list[Any], observer: Any) -> None:
    class Error(observer.OutputObserver):  # type: ignore[misc, name-defined]
        def process_output(self, answer: Any, output: Any) -> None:
            self.error = abs(answer[0] - output[0]).max()

        def get_results(self) -> dict[str, Any]:
            return {"error": float(self.error)}

    results, _ = package.tune_kernel(*vector_add, observers=[Error()], answer=answer)
    assert [r["error"] for r in results] == [0.0] * 3


def test_prologue(package: Any, vector_add: list[Any], observer: Any) -> None:
    class Before(observer.PrologueObserver):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.launches = 0

        def before_start(self) -> None:
            self.launches += 1

        def after_finish(self) -> None:
            pass

        def get_results(self) -> dict[str, Any]:
            launches, self.launches = self.launches, 0
            return {"prologues": launches}

    vector_add[4] = {"block_size_x": [64]}
    results, _ = package.tune_kernel(*vector_add, observers=[Before()])
    assert results[0]["prologues"] == 1


def test_exception(package: Any, vector_add: list[Any], observer: Any) -> None:
    class Wrong(observer.BenchmarkObserver):  # type: ignore[misc, name-defined]
        def get_results(self) -> dict[str, Any]:
            raise LookupError("of the user")

    with pytest.raises(LookupError, match="of the user"):
        package.tune_kernel(*vector_add, observers=[Wrong()])


def test_object_that_is_none(package: Any, vector_add: list[Any]) -> None:
    with pytest.raises(TypeError):
        package.tune_kernel(*vector_add, observers=[3])


def test_registers(package: Any, vector_add: list[Any], module: Callable[[str], Any]) -> None:
    with pytest.raises(NotImplementedError, match="OpenCL"):
        package.tune_kernel(*vector_add, observers=[module("observers.register").RegisterObserver()], lang="OpenCL")


def test_accuracy(package: Any, vector_add: list[Any], answer: list[Any], module: Callable[[str], Any]) -> None:
    accuracy = module("accuracy")
    observer = accuracy.AccuracyObserver("mae", "error")
    results, _ = package.tune_kernel(*vector_add, observers=[observer], answer=answer)
    assert [r["error"] for r in results] == pytest.approx([0.0] * 3)


def test_names_of_modules(module: Callable[[str], Any]) -> None:
    assert issubclass(module("observers").BenchmarkObserver, module("observers.observer").BenchmarkObserver)
    assert hasattr(module("observers.nvml"), "NVMLObserver")
    assert hasattr(module("observers.observer"), "ContinuousObserver")
    assert hasattr(module("observers.observer"), "IterationObserver")
