"""Corners that scripts reach: other types of arguments, other shapes of the same thing, failures among results."""

import json
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@pytest.mark.parametrize(
    "values",
    [np.array([32, 64]), range(32, 65, 32), (32, 64), [np.int32(32), np.int64(64)]],
    ids=["array", "range", "tuple", "numpy integers"],
)
def test_values_of_other_types(package: Any, vector_add: list[Any], answer: list[Any], values: Any) -> None:
    vector_add[4] = {"block_size_x": values}
    results, _ = package.tune_kernel(*vector_add, answer=answer)
    assert [int(r["block_size_x"]) for r in results] == [32, 64]


def test_ordered_dictionary(package: Any, vector_add: list[Any]) -> None:
    vector_add[4] = OrderedDict([("tile", [2, 1]), ("block_size_x", [64, 32])])
    results, _ = package.tune_kernel(*vector_add)
    assert [(r["tile"], r["block_size_x"]) for r in results] == [(2, 64), (2, 32), (1, 64), (1, 32)]


@pytest.mark.parametrize("size", [(100,), [100], (100, 1), (100, 1, 1), np.int64(100), (np.int32(100), 1)])
def test_problem_sizes_of_other_types(package: Any, vector_add: list[Any], answer: list[Any], size: Any) -> None:
    vector_add[2] = size
    results, _ = package.tune_kernel(*vector_add, answer=answer)
    assert len(results) == 3


def test_problem_size_that_is_no_number(package: Any, vector_add: list[Any]) -> None:
    vector_add[2] = (3.8, 1)
    with pytest.raises(TypeError, match="problem_size should only contain"):
        package.tune_kernel(*vector_add)


def test_arguments_as_a_tuple(package: Any, vector_add: list[Any], answer: list[Any]) -> None:
    vector_add[3] = tuple(vector_add[3])
    results, _ = package.tune_kernel(*vector_add, answer=answer)
    assert len(results) == 3


def test_work_group_that_is_too_large(package: Any, vector_add: list[Any], util: Any) -> None:
    """With names of their own, sizes of work-groups are looked at when a configuration is measured."""
    vector_add[4] = {"threads": [64, 1 << 20]}
    results, env = package.tune_kernel(*vector_add, block_size_names=["threads"], grid_div_x=["threads"])
    assert [r["threads"] for r in results] == [64, 1 << 20]
    assert isinstance(results[1]["__error__"], util.InvalidConfig)
    assert env["best_config"]["threads"] == 64


def test_failure_in_a_cache_file(package: Any, vector_add: list[Any], util: Any) -> None:
    vector_add[4] = {"threads": [64, 1 << 20]}
    arguments: dict[str, Any] = {"block_size_names": ["threads"], "grid_div_x": ["threads"], "cache": "measured.json"}
    package.tune_kernel(*vector_add, **arguments)
    entry = json.loads(Path("measured.json").read_text())["cache"][str(1 << 20)]
    assert "InvalidConfig" in entry.values()
    results, _ = package.tune_kernel(*vector_add, **arguments)
    assert isinstance(results[1]["__error__"], util.InvalidConfig)


def test_nothing_correct(package: Any, vector_add: list[Any]) -> None:
    """All configurations fail: they are results, and nothing is raised."""
    vector_add[4] = {"threads": [1 << 20]}
    results, _ = package.tune_kernel(*vector_add, block_size_names=["threads"], grid_div_x=["threads"])
    assert len(results) == 1 and "__error__" in results[0]


def test_cache_of_a_callable_size(package: Any, vector_add: list[Any]) -> None:
    vector_add[2] = lambda p: (100, 1, 1)
    first, _ = package.tune_kernel(*vector_add, cache="measured.json")
    assert json.loads(Path("measured.json").read_text())["problem_size"] == "callable"
    again, _ = package.tune_kernel(*vector_add, cache="measured.json")
    assert [r["times"] for r in again] == [r["times"] for r in first]


def test_cache_with_metrics(package: Any, vector_add: list[Any]) -> None:
    metrics = {"GB/s": lambda p: 1.2 / p["time"]}
    first, _ = package.tune_kernel(*vector_add, cache="measured.json", metrics=metrics)
    again, _ = package.tune_kernel(*vector_add, cache="measured.json", metrics={"rate": "2 / time"})
    assert [r["rate"] for r in again] == pytest.approx([2 / r["time"] for r in first])


def test_cache_with_a_strategy(package: Any, vector_add: list[Any]) -> None:
    vector_add[4]["tile"] = [1, 2, 3, 4]
    arguments = {"strategy": "random_sample", "strategy_options": {"max_fevals": 5}, "cache": "measured.json"}
    package.tune_kernel(*vector_add, **arguments)
    assert len(json.loads(Path("measured.json").read_text())["cache"]) == 5
    results, _ = package.tune_kernel(*vector_add, cache="measured.json")
    assert len(results) == 12


def test_time_of_a_simulation_adds_up(package: Any, vector_add: list[Any], cache: Callable[..., Path]) -> None:
    """What is recorded is the time that passed, and what is simulated."""
    path = cache(vector_add[4])
    began = time.perf_counter()
    _, env = package.tune_kernel(*vector_add, cache=path, simulation_mode=True)
    passed = (time.perf_counter() - began) * 1000
    parts = ["framework", "strategy", "compile", "verification", "benchmark"]
    recorded = sum(env[f"total_{part}_time"] for part in parts) + env["overhead_time"]
    assert recorded <= passed + env["simulated_time"] + 1
    assert passed + env["simulated_time"] - recorded < 10 + passed / 10


def test_time_of_a_run_adds_up(package: Any, vector_add: list[Any], answer: list[Any]) -> None:
    began = time.perf_counter()
    _, env = package.tune_kernel(*vector_add, answer=answer)
    passed = (time.perf_counter() - began) * 1000
    parts = ["framework", "strategy", "compile", "verification", "benchmark"]
    recorded = sum(env[f"total_{part}_time"] for part in parts) + env["overhead_time"]
    assert 0 < recorded <= passed + 1
    assert passed - recorded < 10 + passed / 10


@pytest.mark.parametrize("as_function", [False, True])
def test_restrictions_of_text_and_number(package: Any, vector_add: list[Any], as_function: bool) -> None:
    vector_add[4] |= {"mode": ["a", "b"], "flag": [0, 1]}
    if as_function:

        def allowed(p: dict[str, Any]) -> bool:
            return p["mode"] == "b" and bool(p["flag"])

        results, _ = package.tune_kernel(*vector_add, restrictions=allowed)
    else:
        results, _ = package.tune_kernel(*vector_add, restrictions=["mode == 'b'", "flag"])
    assert len(results) == 3


def test_restriction_that_divides_by_zero(package: Any, vector_add: list[Any]) -> None:
    vector_add[4]["tile"] = [0, 1, 2]
    results, _ = package.tune_kernel(*vector_add, restrictions=["tile == 0 or block_size_x % tile == 0"])
    assert len(results) == 9


def test_strategy_without_options(package: Any, vector_add: list[Any]) -> None:
    results, _ = package.tune_kernel(*vector_add, strategy="random_sample")
    assert 0 < len(results) <= 3
    results, _ = package.tune_kernel(*vector_add, strategy="brute_force", strategy_options={})
    assert len(results) == 3


def test_unknown_objective_in_results(package: Any, vector_add: list[Any]) -> None:
    with pytest.raises(Exception):  # noqa: B017 (Kernel Tuner's is a KeyError)
        package.tune_kernel(*vector_add, objective="nothing", objective_higher_is_better=True)


def test_language_in_any_case(package: Any, vector_add: list[Any]) -> None:
    for lang in ["OpenCL", "opencl", "OPENCL"]:
        results, _ = package.tune_kernel(*vector_add, lang=lang)
        assert len(results) == 3


def test_source_with_windows_line_ends(package: Any, vector_add: list[Any], answer: list[Any]) -> None:
    vector_add[1] = vector_add[1].replace("\n", "\r\n")
    results, _ = package.tune_kernel(*vector_add, answer=answer)
    assert len(results) == 3


def test_unaligned_and_strided_arrays(package: Any, vector_add: list[Any]) -> None:
    _, a, b, n = vector_add[3]
    wide = np.zeros((100, 2), dtype=np.float32, order="F")
    wide[:, 0] = a
    vector_add[3] = [np.zeros_like(a), np.ascontiguousarray(wide[:, 0]), b, n]
    results, _ = package.tune_kernel(*vector_add, answer=[a + b, None, None, None])
    assert len(results) == 3


def test_two_dimensional_arrays(package: Any) -> None:
    source = """
    __kernel void add(__global double *c, __global const double *a) {
        int x = get_global_id(0), y = get_global_id(1);
        if (x < 30 && y < 20) c[y * 30 + x] = a[y * 30 + x] + x;
    }"""
    a = np.random.default_rng(1).standard_normal((20, 30))
    expected = a + np.arange(30)
    tune_params = {"block_size_x": [4, 8, 16], "block_size_y": [1, 2, 4]}
    results, _ = package.tune_kernel(
        "add", source, (30, 20), [np.zeros_like(a), a], tune_params, answer=[expected, None]
    )
    assert len(results) == 9


@pytest.mark.parametrize(
    ("kind", "name"),
    [(np.int8, "char"), (np.uint8, "uchar"), (np.int16, "short"), (np.uint16, "ushort"), (np.int32, "int"),
     (np.uint32, "uint"), (np.int64, "long"), (np.uint64, "ulong"), (np.float32, "float"), (np.float64, "double")],
)  # fmt: skip
def test_types(package: Any, kind: Any, name: str) -> None:
    source = f"__kernel void f(__global {name} *out, {name} x) {{ out[get_global_id(0)] = x; }}"
    outputs = package.run_kernel("f", source, 8, [np.zeros(8, dtype=kind), kind(7)], {"block_size_x": 4})
    assert outputs[0].dtype == kind and list(outputs[0]) == [7] * 8


def test_vectors_and_complex_numbers(package: Any) -> None:
    source = "__kernel void f(__global float2 *out) { out[get_global_id(0)] = (float2)(1, get_global_id(0)); }"
    outputs = package.run_kernel("f", source, 4, [np.zeros(4, dtype=np.complex64)], {"block_size_x": 4})
    assert list(outputs[0]) == [1, 1 + 1j, 1 + 2j, 1 + 3j]


def test_half(package: Any) -> None:
    source = "__kernel void f(__global half *out) { vstore_half(1.5f, get_global_id(0), out); }"
    outputs = package.run_kernel("f", source, 4, [np.zeros(4, dtype=np.float16)], {"block_size_x": 4})
    assert list(outputs[0]) == [1.5] * 4


def test_answer_for_several_arguments(package: Any, strict: dict[str, Any]) -> None:
    source = "__kernel void f(__global int *a, __global int *b) { int i = get_global_id(0); a[i] = i; b[i] = 2 * i; }"
    a, b = np.arange(64, dtype=np.int32), 2 * np.arange(64, dtype=np.int32)
    arguments = [np.zeros_like(a), np.zeros_like(b)]
    results, _ = package.tune_kernel("f", source, 64, arguments, {"block_size_x": [8, 16]}, answer=[a, b])
    assert len(results) == 2
    with pytest.raises(RuntimeError, match="Kernel result verification failed"):
        package.tune_kernel("f", source, 64, arguments, {"block_size_x": [8, 16]}, answer=[a, a], **strict)


def test_not_a_number(package: Any, vector_add: list[Any], answer: list[Any], strict: dict[str, Any]) -> None:
    """NaN is wrong, unless the answer has NaN there."""
    vector_add[3][1][5] = np.nan
    with pytest.raises(RuntimeError, match="Kernel result verification failed"):
        package.tune_kernel(*vector_add, answer=answer, **strict)
    answer[0][5] = np.nan
    with pytest.warns(UserWarning, match="NaN"):
        results, _ = package.tune_kernel(*vector_add, answer=answer, **strict)
    assert len(results) == 3


def test_relative_difference(package: Any, vector_add: list[Any]) -> None:
    """numpy.allclose adds 1e-5 of the expected value to atol."""
    vector_add[3][1][:] = 1e6
    expected = (vector_add[3][1] + vector_add[3][2]) * np.float32(1 + 5e-6)
    results, _ = package.tune_kernel(*vector_add, answer=[expected, None, None, None])
    assert len(results) == 3


def test_number_of_iterations(package: Any, vector_add: list[Any]) -> None:
    results, env = package.tune_kernel(*vector_add, iterations=np.int64(3))
    assert all(3 <= len(r["times"]) <= 5 for r in results) and env["iterations"] == 3
    for wrong in ("3", 2.5, None):
        with pytest.raises(TypeError):
            package.tune_kernel(*vector_add, iterations=wrong)


def test_best_of_an_objective_in_whole_numbers(package: Any, vector_add: list[Any]) -> None:
    """Kernel Tuner's best is the first result then: it compares floats only."""
    results, env = package.tune_kernel(*vector_add, metrics={"size": lambda p: p["block_size_x"]}, objective="size",
                                       objective_higher_is_better=True, cache="measured.json")  # fmt: skip
    assert len(results) == 3 and env["best_config"] in results
    if package.__name__ == "ndtune":
        assert env["best_config"]["size"] == 128
        _, env = package.tune_cache("measured.json", objective="size", objective_higher_is_better=True)
        assert env["best_config"]["size"] == 128


@pytest.mark.parametrize("directions", [None, True, [True]])
def test_directions_of_several_objectives(package: Any, vector_add: list[Any], directions: Any) -> None:
    with pytest.raises((TypeError, ValueError, AssertionError)):
        package.tune_kernel(*vector_add, metrics={"size": lambda p: 1.0}, objective=["time", "size"],
                            objective_higher_is_better=directions)  # fmt: skip


@pytest.mark.parametrize("values", [32, "32", (i for i in [32, 64]), []], ids=["number", "text", "iterator", "empty"])
def test_values_that_are_no_list(package: Any, vector_add: list[Any], values: Any) -> None:
    vector_add[4] = {"block_size_x": values}
    with pytest.raises((TypeError, ValueError)):
        package.tune_kernel(*vector_add)
