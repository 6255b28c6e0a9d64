"""store_results, create_device_targets, T4 files, PythonKernel; arguments that depend on a parameter."""

import itertools
import json
import warnings
from collections.abc import Callable
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PARAMS = {"a": [1, 2, 4], "b": [4, 5, 6]}


def flat(path: str) -> list[dict[str, Any]]:
    """Return the entries of a file of stored results, each with its parameters beside the rest."""
    data = json.loads(Path(path).read_text())["data"]
    return [{**entry, **entry["tunable_parameters"]} for entry in data]


@pytest.fixture
def results() -> list[dict[str, Any]]:
    """Return results with times 100, 101, … in the order of the product."""
    found = []
    for i, (a, b) in enumerate(itertools.product(*PARAMS.values())):
        costs = dict.fromkeys(["compile_time", "benchmark_time", "framework_time", "strategy_time"], 20.0 + i / 5)
        found.append({"a": a, "b": b, "time": 100.0 + i, **costs, "verification_time": 1.0, "timestamp": "2026-11-24"})
    return found


@pytest.fixture
def store(module: Callable[[str], Any], results: list[dict[str, Any]]) -> Callable[..., list[dict[str, Any]]]:
    """Return a function that stores results and returns all that the file then has."""

    def run(size: Any = 100, device: str = "My GPU", **arguments: Any) -> list[dict[str, Any]]:
        integration = module("integration")
        arguments = {"top": 3} | arguments
        env = {"device_name": device}
        integration.store_results("results.json", "f", "source", PARAMS, size, results, env, **arguments)
        return flat("results.json")

    return run


def test_store_results(store: Callable[..., Any]) -> None:
    data = store()
    assert [(d["device_name"], d["problem_size"], d["a"], d["b"], d["time"]) for d in data] == [
        ("My_GPU", "100", 1, 4, 100.0),
        ("My_GPU", "100", 1, 5, 101.0),
        ("My_GPU", "100", 1, 6, 102.0),
    ]
    assert len(store(size=1000)) == 6
    assert len(store(size=(32, 64))) == 9
    assert {d["device_name"] for d in store(device="Another GPU")} == {"My_GPU", "Another_GPU"}


def test_stored_again(store: Callable[..., Any], results: list[dict[str, Any]]) -> None:
    store()
    for r in results:
        r["time"] -= 50
    data = store(top=0.1)
    assert [d["time"] for d in data] == [50.0]


def test_header_of_stored_results(store: Callable[..., Any]) -> None:
    store()
    contents = json.loads(Path("results.json").read_text())
    assert contents["kernel_name"] == "f"
    assert contents["kernel_string"] == "source"
    assert contents["objective"] == "time"
    assert contents["tunable_parameters"] == ["a", "b"]


def test_results_of_another_kernel(store: Callable[..., Any], module: Any, results: list[dict[str, Any]]) -> None:
    store()
    with pytest.raises(ValueError, match="kernel_name"):
        module("integration").store_results(
            "results.json", "g", "source", PARAMS, 100, results, {"device_name": "My GPU"}
        )


def targets(module: Any, **arguments: Any) -> str:
    module("integration").create_device_targets("targets.h", "results.json", **arguments)
    return Path("targets.h").read_text()


def test_device_targets(store: Callable[..., Any], module: Any, results: list[dict[str, Any]]) -> None:
    store()
    text = targets(module)
    assert "#ifdef TARGET_My_GPU" in text
    assert "#define a 1\n#define b 4" in text
    results[0]["time"] += 100  # at the second size, another is the best
    store(size=1000)
    assert "TARGET_My_GPU\n#define a 1\n#define b 5" in targets(module, objective="time")
    results[2]["time"] -= 3  # and of the best at both, a third
    store(size=1000)
    assert "TARGET_My_GPU\n#define a 1\n#define b 6" in targets(module, objective="time")


def test_targets_of_several_devices(store: Callable[..., Any], module: Any, results: list[dict[str, Any]]) -> None:
    store()
    results[0]["time"] += 100
    store(device="Other GPU")
    text = targets(module)
    assert "TARGET_My_GPU\n#define a 1\n#define b 4" in text
    assert "TARGET_Other_GPU\n#define a 1\n#define b 5" in text
    assert "#else /* default configuration */\n#define a 1\n#define b 5" in text


def test_targets_of_the_largest(store: Callable[..., Any], module: Any, results: list[dict[str, Any]]) -> None:
    for r in results:
        r["GFLOP/s"] = 1e5 / r["time"]
    store(objective="GFLOP/s")
    assert "TARGET_My_GPU\n#define a 1\n#define b 4" in targets(module, objective="GFLOP/s")


def test_from_the_package(package: Any, results: list[dict[str, Any]]) -> None:
    package.store_results("r.json", "f", "source", PARAMS, 100, results, {"device_name": "My GPU"})
    package.create_device_targets("t.h", "r.json")
    assert "#define a 1" in Path("t.h").read_text()


def test_results_of_a_search(package: Any, vector_add: list[Any]) -> None:
    results, env = package.tune_kernel(*vector_add)
    package.store_results("r.json", *vector_add[:2], vector_add[4], vector_add[2], results, env, top=1e9)
    assert {d["block_size_x"] for d in flat("r.json")} == {32, 64, 128}


def test_output_file(package: Any, module: Any, cache: Callable[..., Path], vector_add: list[Any]) -> None:
    path = cache(vector_add[4], failed=("64",))
    results, _ = package.tune_kernel(*vector_add, cache=path, simulation_mode=True)
    module("file_utils").store_output_file("output", results, vector_add[4])
    contents = json.loads(Path("output.json").read_text())
    assert contents["schema_version"].startswith("1.")
    assert [r["configuration"] for r in contents["results"]] == [{"block_size_x": x} for x in [32, 64, 128]]
    assert [r["invalidity"] for r in contents["results"]] == ["correct", "compile", "correct"]
    assert [r["correctness"] for r in contents["results"]] == [1, 1, 1] or contents["results"][1]["correctness"] == 0
    assert contents["results"][0]["objectives"] == ["time"]
    assert contents["results"][0]["times"]["runtimes"] == results[0]["times"]
    assert {"name": "time", "value": results[0]["time"], "unit": "ms"} in contents["results"][0]["measurements"]


def test_metadata_file(module: Any) -> None:
    module("file_utils").store_metadata_file("metadata.json")
    contents = json.loads(Path("metadata.json").read_text())
    assert contents["metadata"]["operating_system"]
    assert "hardware_description" in contents["metadata"]["hardware"]
    assert isinstance(contents["metadata"]["environment"]["requirements"], list)


def test_python_kernel(module: Any, vector_add: list[Any]) -> None:
    kernel = module("kernelbuilder").PythonKernel(*vector_add[:4], {"block_size_x": 32})
    c, a, b, n = vector_add[3]
    outputs = kernel(c, a, b, n)
    assert np.allclose(outputs[0], a + b)
    assert np.allclose(kernel(c, b, b, n)[0], b + b)


def test_python_kernel_of_stored_results(package: Any, module: Any, vector_add: list[Any]) -> None:
    results = [{"block_size_x": 64, "time": 1.0}, {"block_size_x": 32, "time": 2.0}]
    env = {"device_name": "A GPU"}
    package.store_results("r.json", *vector_add[:2], {"block_size_x": [32, 64]}, vector_add[2], results, env)
    kernel = module("kernelbuilder").PythonKernel(*vector_add[:4], results_file="r.json")
    assert kernel.params["block_size_x"] == 64
    assert np.allclose(kernel(*vector_add[3])[0], vector_add[3][1] + vector_add[3][2])


def test_tunable(module: Any) -> None:
    tunable = module("accuracy").Tunable
    x = tunable("foo", {"a": 1, "b": 2})
    assert (x({"foo": "a"}), x({"foo": "b"})) == (1, 2)
    with pytest.raises(KeyError):
        x({"foo": "c"})
    x = tunable(lambda p: p["foo"] + p["bar"], {"ab": 1})
    assert x({"foo": "a", "bar": "b"}) == 1
    x = tunable("foo", {"a": tunable("bar", {"c": 1, "d": 2}), "b": 3})
    assert (x({"foo": "a", "bar": "d"}), x({"foo": "b", "bar": "d"})) == (2, 3)


def test_tunable_precision(module: Any) -> None:
    values = np.array([1, 2, 3], dtype=np.float64)
    types = {"float16": np.half, "float32": np.float32, "float64": np.double}
    x = module("accuracy").TunablePrecision("type", values, types)
    for name, kind in types.items():
        assert x({"type": name}).dtype == kind
        assert (x({"type": name}) == values).all()


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("mse", (), 1.25),
        ("rmse", (), sqrt(1.25)),
        ("nrmse", (), sqrt(1.25 / 3.5)),
        ("mae", (), 0.75),
        ("mre", (0.1,), 2.6666666),
        ("rmsre", (0.1,), 5.0110988),
        ("male", (0.1,), 0.3144003),
        ("rmsle", (0.1,), 0.5318),
        ("maximum abs", (), 2),
        ("maximum rel", (0.1,), 10),
    ],
)
def test_error_metrics(module: Any, name: str, arguments: Any, value: float) -> None:
    metric = module("accuracy").error_metric_from_name(name, *arguments)
    assert metric(np.array([0, 1, 2, 3]), np.array([1, 1, 2, 5])) == pytest.approx(value, rel=1e-5)


def test_argument_of_a_parameter(package: Any, module: Any, vector_add: list[Any]) -> None:
    """The same kernel in two precisions, with the types of its arrays chosen by a parameter."""
    accuracy = module("accuracy")
    source = """
    __kernel void vector_add(__global real *c, __global const real *a, __global const real *b, int n) {
        int i = get_global_id(0);
        if (i < n) c[i] = a[i] + b[i];
    }"""
    kinds = {"float": np.float32, "double": np.float64}
    a, b = np.random.default_rng(3).standard_normal((2, 100))
    arguments = [accuracy.TunablePrecision("real", x, kinds) for x in (np.zeros(100), a, b)] + [np.int32(100)]
    tune_params = {"block_size_x": [32, 64], "real": ["float", "double"]}
    observer = accuracy.AccuracyObserver("mae", "error")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results, _ = package.tune_kernel(
            "vector_add", source, 100, arguments, tune_params, answer=[a + b, None, None, None], observers=[observer]
        )
    assert [r["real"] for r in results] == ["float", "double"] * 2
    assert all((r["error"] < 1e-12) == (r["real"] == "double") for r in results)
    assert all(r["error"] < 1e-6 for r in results)
