"""Functions of util that scripts and notebooks call."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

NAMES = ["block_size_x", "block_size_y", "block_size_z"]


@pytest.mark.parametrize(
    ("divisors", "grid"),
    [
        ((["bx"], ["by"], None), (25, 28, 1)),
        ((["bx"], None, None), (25, 1024, 1)),
        ((None, ["by"], None), (1024, 28, 1)),
        ((None, lambda p: p["bx"], lambda p: p["bx"] * p["by"]), (1024, 25, 1)),
        (("41", 37, None), (25, 28, 1)),
        ((None, [2, "by"], None), (1024, 14, 1)),
        ((["bx*8"], ["(by+2)/8"], None), (4, 256, 1)),
        ((["bx", "by"], ["(by+2)/8"], None), (1, 256, 1)),
    ],
)
def test_grid_dimensions(util: Any, divisors: Any, grid: tuple[int, ...]) -> None:
    for size in [(1024, 1024, 1), (np.int32(1024), np.int64(1024), 1)]:
        found = util.get_grid_dimensions(size, {"bx": 41, "by": 37}, divisors, NAMES)
        assert tuple(found) == grid
        assert all(isinstance(x, int) for x in found)


def test_problem_size(util: Any) -> None:
    params = {"n": 71, "m": 57}
    assert tuple(util.get_problem_size(("n", "m*3"), params)) == (71, 171, 1)
    assert tuple(util.get_problem_size("n", params)) == (71, 1, 1)
    assert tuple(util.get_problem_size(lambda p: (p["n"], 1, 13), params)) == (71, 1, 13)
    with pytest.raises(TypeError):
        util.get_problem_size((3.8, "m*3"), params)


def test_thread_block_dimensions(util: Any) -> None:
    assert tuple(util.get_thread_block_dimensions({"block_size_x": 123, "block_size_y": 257})) == (123, 257, 1)


def test_names_in_expressions(util: Any) -> None:
    assert util.replace_param_occurrences("this is a is", {"is": 8, "a": 14}) == "this 8 14 8"
    assert util.replace_param_occurrences("this is", {}) == "this is"


@pytest.mark.parametrize(
    ("restrictions", "valid"),
    [
        (["a==b+c"], True),
        (["a==b+c", "b==b", "a-b==c"], True),
        (["a==b+c", "b!=b", "a-b==c"], False),
        (lambda p: p["a"] == p["b"] + p["c"], True),
    ],
)
def test_check_restrictions(util: Any, restrictions: Any, valid: bool) -> None:
    assert util.check_restrictions(restrictions, {"a": 7, "b": 4, "c": 3}, False) == valid


@pytest.mark.parametrize(
    ("source", "language"),
    [("__global__ void f( ... );", "CUDA"), ("__kernel void f( ... );", "OpenCL"), ("anything", "C"),
     ("@kernel function f()", "Julia")],
)
def test_detect_language(util: Any, source: str, language: str) -> None:
    assert util.detect_language(source) == language


PLAIN = "__kernel void f(char number, double factors, int * numbers, const unsigned long * more) {}"
POINTERS = "__kernel void f(__global const ushort number, __global half * factors, __global long * numbers) {}"
LATER = """
#define SUM(A, B) (A + B)
float helper(float *a) { return a[0]; }
__kernel void f
    (double *a, float *b, int c, int d) { a[0] = SUM(b[0], c); }
"""


@pytest.mark.parametrize(
    ("source", "arguments", "warning"),
    [
        (PLAIN, [np.byte(5), np.float64(4.6), np.int32([1, 2]), np.uint64([3, 2])], None),
        (LATER, [np.zeros(3), np.zeros(3, dtype=np.float32), np.int32(6), np.int32(7)], None),
        (POINTERS, [np.uint16(42), np.float16([3, 4]), np.int32([300])], "at position 2"),
        (POINTERS, [np.uint16(42), np.float16([3, 4]), np.int64([300]), np.ubyte(32)], "do not match in size"),
        (PLAIN, [np.byte(5), np.float32(4.6), np.int32([1, 2]), np.uint64([3, 2])], "at position 1"),
        (PLAIN, [np.int8([5]), np.float64(4.6), np.int32([1, 2]), np.uint64([3, 2])], "at position 0"),
    ],
)
def test_argument_lists(util: Any, source: str, arguments: list[Any], warning: str | None) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        util.check_argument_list("f", source, arguments, "OpenCL")
    assert [w.category for w in caught] == ([UserWarning] if warning else [])
    assert warning is None or warning in str(caught[0].message)


def test_argument_that_is_no_array(util: Any) -> None:
    with pytest.raises(TypeError, match="at position 1"):
        util.check_argument_list("f", PLAIN, [np.int8(5), "text", np.array([1, 2]), np.uint64([3])])


def test_budget_without_limits(util: Any) -> None:
    budget = util.TuningBudget()
    budget.add_evaluations(9000)
    budget.add_time(seconds=9000)
    assert budget.get_evaluations_spent() == 9000
    assert budget.get_evaluations_remaining() == float("inf")
    assert not budget.is_done()
    budget.raise_exception_if_done()
    assert budget.get_fraction_consumed() == 0


def test_budget_of_evaluations(util: Any) -> None:
    budget = util.TuningBudget(max_fevals=5)
    budget.add_evaluations(4)
    assert budget.get_evaluations_remaining() == 1
    assert budget.get_fraction_consumed() == pytest.approx(4 / 5)
    assert not budget.is_done()
    budget.add_evaluations(1)
    assert budget.is_done() and budget.get_fraction_consumed() == 1
    with pytest.raises(util.StopCriterionReached):
        budget.raise_exception_if_done()


def test_budget_of_time(util: Any) -> None:
    budget = util.TuningBudget(time_limit=500)
    budget.add_time(seconds=200)
    assert budget.get_time_remaining().total_seconds() == pytest.approx(300, abs=20)
    assert budget.get_fraction_consumed() == pytest.approx(0.4, abs=0.05)
    budget.add_time(seconds=400)
    assert budget.is_done()
    assert budget.get_time_remaining().total_seconds() == 0
    with pytest.raises(util.StopCriterionReached):
        budget.raise_exception_if_done()


def test_forbidden_names(util: Any) -> None:
    with pytest.raises(ValueError, match="^Tune parameter grid_size_y with value 4 has a forbidden name!$"):
        util.check_tune_params_list({"fine": 1, "grid_size_y": 4}, None)
    util.check_tune_params_list({"rock": 1, "paper": 2}, None)
    for name in ["nvml_pwr_limit", "nvml_gr_clock", "nvml_mem_clock"]:
        for observers in [None, []]:
            with pytest.raises(ValueError, match="NVMLObserver"):
                util.check_tune_params_list({name: []}, observers)


@pytest.mark.parametrize(
    ("names", "params", "count"),
    [
        (["dim_a", "dim_b"], ["x", "y"], 2),
        (["dim_a", "dim_b"], ["dim_a", "dim_b", "y"], 0),
        (None, ["dim_a", "dim_b"], 1),
        (None, ["block_size_x", "y"], 0),
    ],
)
def test_warnings_of_block_size_names(util: Any, names: Any, params: list[str], count: int) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        util.check_block_size_params_names_list(names, dict.fromkeys(params, [1, 2]))
    assert [w.category for w in caught] == [UserWarning] * count


def test_kernel_string(util: Any, folder: Path) -> None:
    assert util.get_kernel_string(lambda p: f"void f() {{ {p['x']} }}", {"x": 3}) == "void f() { 3 }"
    (folder / "f.cl").write_text("text")
    assert util.get_kernel_string("f.cl") == "text"
    assert util.get_kernel_string(folder / "f.cl") == "text"
    assert util.get_kernel_string("__kernel void f() {}") == "__kernel void f() {}"
    with pytest.raises(FileNotFoundError):
        util.get_kernel_string("no_such_file.cl")


def test_file_names(util: Any) -> None:
    assert util.looks_like_a_filename("filename.c")
    assert util.looks_like_a_filename("folder/kernel.cl")
    assert util.looks_like_a_filename("kernel.jl")
    assert not util.looks_like_a_filename("__kernel void f() { anything }")


def test_files(util: Any, folder: Path) -> None:
    util.write_file("a.txt", "some text")
    assert util.read_file("a.txt") == "some text"
    util.delete_temp_file("a.txt")
    util.delete_temp_file("a.txt")
    assert not (folder / "a.txt").exists()


def test_verify_functions(util: Any) -> None:
    def three(answer: Any, output: Any, atol: Any) -> bool:
        return bool(atol == 3)

    assert util.normalize_verify_function(None) is None
    assert util.normalize_verify_function(lambda a, b: True)(1, 2, atol=3)
    assert util.normalize_verify_function(three)(1, 2, atol=3)


def test_metrics(util: Any) -> None:
    assert util.process_metrics({"x": 15}, {"y": lambda p: p["x"]})["y"] == 15
    assert util.process_metrics({"x": 15}, {"y": "x", "z": "y * 2"})["z"] == 30
    assert util.process_metrics({"x": 15, "b": 12}, {"b": "x"})["b"] == 15
    with pytest.raises(ValueError):
        util.process_metrics({"x": 15}, [])


@pytest.mark.parametrize(
    ("known", "asked", "same"),
    [
        (42, 1000, False),
        ([42, 1], 42, False),
        ([42, 0], 42, False),
        (None, 42, False),
        (1000, (1000,), True),
        ([1000], 1000, True),
        (1000, 1000, True),
    ],
)
def test_matching_problem_sizes(util: Any, known: Any, asked: Any, same: bool) -> None:
    if same:
        util.check_matching_problem_size(known, asked)
        return
    with pytest.raises(ValueError):
        util.check_matching_problem_size(known, asked)


def test_rounding_in_texts(util: Any) -> None:
    """Sizes, divisors and metrics may round by ceil and floor."""
    assert util.get_problem_size("ceil(n / 2)", {"n": 7})[0] == 4
    assert util.get_grid_dimensions([64], {"n": 7}, ["floor(n / 2)"], ["block_size_x"]) == (22,)
    assert util.process_metrics({"n": 7}, {"half": "ceil(n / 2)"})["half"] == 4


def test_best_configuration(util: Any) -> None:
    results = [
        {"time": 2.0, "speed": 1.0},
        {"time": 1.0, "speed": 5.0},
        {"time": 3.0, "__error__": util.InvalidConfig()},
    ]
    assert util.get_best_config(results, "time") is results[1]
    assert util.get_best_config(results, "speed", True) is results[1]


def test_front(util: Any) -> None:
    results = [{"t": 1.0, "e": 3.0}, {"t": 2.0, "e": 2.0}, {"t": 3.0, "e": 2.5}, {"t": 0.0, "__error__": "x", "e": 0.0}]
    front = util.get_pareto_results(results, ["t", "e"], [False, False])
    assert [(r["t"], r["e"]) for r in front] == [(1.0, 3.0), (2.0, 2.0)]


def test_config_string(util: Any) -> None:
    params = {"block_size_x": 32, "name": "fast", "time": 0.12345}
    assert util.get_config_string(params) == "block_size_x=32, name=fast, time=0.123"
    assert util.get_config_string(params, ["time"], {"time": "ms"}) == "time=0.123ms"
    assert util.get_instance_string({"a": 1, "b": "x"}) == "1_x"


def test_objective_defaults(util: Any) -> None:
    assert util.get_objective_defaults(None, None) == ("time", False)
    assert util.get_objective_defaults("GFLOP/s", None) == ("GFLOP/s", True)
    with pytest.raises(ValueError):
        util.get_objective_defaults("beauty", None)


def test_errors(util: Any) -> None:
    for name in ["InvalidConfig", "CompilationFailedConfig", "RuntimeFailedConfig"]:
        error = getattr(util, name)()
        assert isinstance(error, util.ErrorConfig)
        assert str(error) == name


def test_prepared_source(util: Any) -> None:
    """The text before a kernel's source: first the sizes, then the parameters in their order."""
    name, text = util.prepare_kernel_string("f_is", "source is here", {"is": 8}, (3, 7), (1, 2, 3), NAMES, "", None)
    assert name == "f_is"
    assert text.splitlines() == [
        "#define grid_size_x 3",
        "#define grid_size_y 7",
        "#define block_size_x 1",
        "#define block_size_y 2",
        "#define block_size_z 3",
        "#define is 8",
        "#define kernel_tuner 1",
        "#line 1",
        "source is here",
    ]
    defines = {"a": 1, "b": "text", "c": lambda p: p["is"] * 5}
    _, text = util.prepare_kernel_string("f", "source", {"is": 8}, (3, 7), (1, 2, 3), NAMES, "", defines)
    assert text == "#define a 1\n#define b text\n#define c 40\n#line 1\nsource"
    with pytest.raises(ValueError):
        util.prepare_kernel_string("f", "source", {}, (3, 7), (1, 2, 3), NAMES, "", {"two words": "1"})
