"""tune_kernel: what it takes, what it returns, in which order."""

import logging
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

TIMES = ["compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"]
TOTALS = ["total_compile_time", "total_verification_time", "total_benchmark_time", "total_framework_time"]


def test_results_and_keys(package: Any, vector_add: list[Any]) -> None:
    results, env = package.tune_kernel(*vector_add)
    assert [r["block_size_x"] for r in results] == [32, 64, 128]
    for r in results:
        assert isinstance(r, dict)
        assert r["time"] > 0
        assert len(r["times"]) >= 7  # ndtune adds launches where some were disturbed
        assert all(isinstance(t, float) for t in r["times"])
        assert r["time"] == pytest.approx((np.median if package.__name__ == "ndtune" else np.mean)(r["times"]))
        assert all(r[key] >= 0 for key in TIMES)
        assert isinstance(r["timestamp"], str)
        assert "__error__" not in r
    assert set(results[0]) == {"block_size_x", "time", "times", "timestamp", *TIMES}


def test_environment(package: Any, vector_add: list[Any], check_best: Any) -> None:
    results, env = package.tune_kernel(*vector_add)
    check_best(results, env)
    for key in ["platform_name", "platform_version", "device_name", "device_version", "driver_version"]:
        assert isinstance(env[key], str) and env[key]
    assert env["iterations"] == 7
    assert env["compiler_options"] is None
    for key in [*TOTALS, "total_strategy_time", "overhead_time"]:
        assert isinstance(env[key], float | int), key
    assert env["total_compile_time"] == pytest.approx(sum(r["compile_time"] for r in results))


def test_iterations(package: Any, vector_add: list[Any]) -> None:
    results, env = package.tune_kernel(*vector_add, iterations=3)
    assert len(results) == 3 and all(len(r["times"]) >= 3 for r in results)
    assert env["iterations"] == 3


def test_order_is_of_the_product(package: Any, vector_add: list[Any]) -> None:
    vector_add[4] = {"block_size_x": [64, 32], "p": [1, 2], "q": [5, 3]}
    results, _ = package.tune_kernel(*vector_add, iterations=1)
    assert [(r["block_size_x"], r["p"], r["q"]) for r in results] == [
        (x, p, q) for x in [64, 32] for p in [1, 2] for q in [5, 3]
    ]


def test_values_keep_their_types(package: Any, vector_add: list[Any]) -> None:
    vector_add[4] = {"block_size_x": [32], "text": ["fast"], "whole": [3], "real": [0.5], "flag": [True, False]}
    source = vector_add[1].replace("int i =", "#define fast 1\nint i =")
    results, _ = package.tune_kernel("vector_add", source, *vector_add[2:], iterations=1)
    assert [(type(r["text"]), type(r["whole"]), type(r["real"]), type(r["flag"])) for r in results] == [
        (str, int, float, bool)
    ] * 2


def test_parameters_are_macros(package: Any, vector_add: list[Any], answer: list[Any]) -> None:
    source = """
    __kernel void vector_add(__global float *c, __global const float *a, __global const float *b, int n) {
        int i = get_group_id(0) * block_size_x + get_local_id(0);
    #if kernel_tuner == 1 && defined(grid_size_x) && block_size_y == 1 && factor == 2
        if (i < n) c[i] = a[i] + b[i];
    #endif
    }"""
    vector_add[1], vector_add[4] = source, {"block_size_x": [32, 64], "factor": [2]}
    results, _ = package.tune_kernel(*vector_add, answer=answer)
    assert len(results) == 2


def test_number_of_groups_is_a_macro(package: Any, vector_add: list[Any]) -> None:
    source = """
    __kernel void vector_add(__global float *c, __global const float *a, __global const float *b, int n) {
        if (get_global_id(0) == 0) { c[0] = grid_size_x; c[1] = get_num_groups(0); }
    }"""
    expected = np.zeros(100, dtype=np.float32)
    expected[:2] = 4
    vector_add[1], vector_add[4] = source, {"block_size_x": [32]}
    package.tune_kernel(*vector_add, answer=[expected, None, None, None])


@pytest.mark.parametrize("as_path", [False, True])
def test_source_in_a_file(package: Any, vector_add: list[Any], folder: Path, as_path: bool) -> None:
    (folder / "add.cl").write_text(vector_add[1])
    vector_add[1] = folder / "add.cl" if as_path else "add.cl"
    results, _ = package.tune_kernel(*vector_add, lang="OpenCL")
    assert len(results) == 3


def test_source_file_that_is_missing(package: Any, vector_add: list[Any]) -> None:
    vector_add[1] = "nothing_here.cl"
    with pytest.raises(FileNotFoundError):
        package.tune_kernel(*vector_add)


def test_source_by_a_function(package: Any, vector_add: list[Any], answer: list[Any]) -> None:
    body, seen = vector_add[1], set()

    def generate(params: dict[str, Any]) -> str:
        seen.add(params["block_size_x"])
        return f"// for {params['block_size_x']}\n{body}"

    vector_add[1] = generate
    results, _ = package.tune_kernel(*vector_add, lang="OpenCL", answer=answer)
    assert len(results) == 3
    assert seen == {32, 64, 128}


def test_function_without_a_language(package: Any, vector_add: list[Any]) -> None:
    vector_add[1] = lambda params: "nothing"
    with pytest.raises(TypeError, match="(?i)language"):
        package.tune_kernel(*vector_add)


def test_exception_in_a_generator(package: Any, vector_add: list[Any]) -> None:
    def generate(params: dict[str, Any]) -> str:
        raise KeyError("of the user")

    vector_add[1] = generate
    with pytest.raises(KeyError, match="of the user"):
        package.tune_kernel(*vector_add, lang="OpenCL")


def test_unknown_language(package: Any, vector_add: list[Any]) -> None:
    with pytest.raises(Exception, match="(?i)languag|blabla"):
        package.tune_kernel(*vector_add, lang="blabla")


def test_file_beside_the_source(package: Any, vector_add: list[Any], folder: Path, answer: list[Any]) -> None:
    (folder / "parts.cl").write_text("#define ADD(x, y) ((x) + (y))\n")
    source = '#include "parts.cl"\n' + vector_add[1].replace("a[i] + b[i]", "ADD(a[i], b[i])")
    vector_add[1] = [source, str(folder / "parts.cl")]
    results, _ = package.tune_kernel(*vector_add, answer=answer, compiler_options=[f"-I{folder}"])
    assert len(results) == 3


def test_compiler_options(package: Any, vector_add: list[Any]) -> None:
    vector_add[1] = vector_add[1].replace("int i", "int unused[WIDTH]; int i")
    results, env = package.tune_kernel(*vector_add, compiler_options=["-DWIDTH=4"])
    assert len(results) == 3
    assert env["compiler_options"] == ["-DWIDTH=4"]


def grid(package: Any, problem_size: Any, tune_params: dict[str, Any], **arguments: Any) -> list[tuple[int, ...]]:
    """Tune a kernel that writes the sizes of its launch, and return these for each configuration."""
    source = """
    __kernel void sizes(__global int *out) {
        if (get_global_id(0) + get_global_id(1) + get_global_id(2) == 0)
            for (int d = 0; d < 3; d++) { out[d] = get_num_groups(d); out[d + 3] = get_local_size(d); }
    }"""
    found = []

    def look(answer: Any, outputs: Any, atol: Any = None) -> bool:
        found.append(tuple(int(x) for x in outputs[0]))
        return True

    out = np.zeros(6, dtype=np.int32)
    package.tune_kernel("sizes", source, problem_size, [out], tune_params, answer=[out], verify=look, **arguments)
    return found


@pytest.mark.parametrize(
    ("problem_size", "arguments", "groups"),
    [
        (100, {}, (7, 1, 1)),
        (np.int32(100), {}, (7, 1, 1)),
        ((100, 30), {}, (7, 8, 1)),
        ((100, 30, 5), {}, (7, 8, 5)),
        ("work", {}, (3, 1, 1)),
        (("work", "work*2"), {}, (3, 20, 1)),
        (lambda p: (p["work"], 1, 13), {}, (3, 1, 13)),
        (100, {"grid_div_x": []}, (100, 1, 1)),
        ("ceil(work / 2) * 3", {"grid_div_x": ["floor(block_size_x / 3)"]}, (12, 1, 1)),
        (100, {"grid_div_x": ["block_size_x", "tile"]}, (4, 1, 1)),
        (100, {"grid_div_x": ["block_size_x*tile"]}, (4, 1, 1)),
        (100, {"grid_div_x": ["block_size_x", 2]}, (4, 1, 1)),
        (100, {"grid_div_x": lambda p: p["block_size_x"] / 4}, (25, 1, 1)),
        (100, {"grid_div_x": "block_size_x"}, (7, 1, 1)),
        (100, {"grid_div_x": 41}, (3, 1, 1)),
        ((100, 30), {"grid_div_y": ["block_size_y", "tile"]}, (7, 4, 1)),
        ((100, 30), {"grid_div_x": ["tile"], "grid_div_y": []}, (50, 30, 1)),
        ((100, 30, 5), {"grid_div_z": ["tile"]}, (7, 8, 3)),
        ((100, 30), {"grid_div_y": ["(block_size_y+2)/3"]}, (7, 15, 1)),
    ],
)
def test_sizes_of_the_launch(
    package: Any, problem_size: Any, arguments: dict[str, Any], groups: tuple[int, ...]
) -> None:
    tune_params = {"block_size_x": [16], "block_size_y": [4], "tile": [2], "work": [40]}
    assert set(grid(package, problem_size, tune_params, **arguments)) == {(*groups, 16, 4, 1)}


def test_names_of_block_sizes(package: Any) -> None:
    tune_params = {"threads": [32, 64], "rows": [2]}
    found = grid(package, (100, 30), tune_params, block_size_names=["threads", "rows"])
    assert set(found) == {(4, 15, 1, 32, 2, 1), (2, 15, 1, 64, 2, 1)}


def test_names_of_block_sizes_in_capitals(package: Any) -> None:
    assert set(grid(package, 100, {"BLOCK_SIZE_X": [32]}, grid_div_x=["BLOCK_SIZE_X"])) == {(4, 1, 1, 32, 1, 1)}


def test_one_name_of_a_block_size(package: Any, vector_add: list[Any], answer: list[Any]) -> None:
    vector_add[1] = vector_add[1].replace("get_global_id(0)", "get_group_id(0) * dim_x + get_local_id(0)")
    vector_add[4] = {"dim_x": [32, 64], "block_size_y": [1], "block_size_z": [1]}
    results, _ = package.tune_kernel(*vector_add, grid_div_x=["dim_x"], answer=answer, block_size_names=["dim_x"])
    assert len(results) == 2


@pytest.mark.parametrize(
    "names", ["block_size_x", ["a", "b", "c", "d"], [1, 2], ("a", "b")], ids=["text", "four", "numbers", "tuple"]
)
def test_wrong_names_of_block_sizes(package: Any, vector_add: list[Any], names: Any) -> None:
    with pytest.raises(ValueError, match="block_size_names should"):
        package.tune_kernel(*vector_add, block_size_names=names)


def test_unused_name_of_a_block_size(package: Any, vector_add: list[Any]) -> None:
    with pytest.warns(UserWarning, match="other is not specified in the tunable parameters"):
        package.tune_kernel(*vector_add, block_size_names=["block_size_x", "other"])


def test_no_block_sizes(package: Any, vector_add: list[Any]) -> None:
    vector_add[4] = {"speed": [1, 2]}
    with pytest.warns(UserWarning, match="None of the tunable parameters specify thread block dimensions"):
        results, _ = package.tune_kernel(*vector_add)
    assert len(results) == 2


@pytest.mark.parametrize("name", ["grid_size_x", "grid_size_y", "grid_size_z", "time"])
def test_forbidden_parameters(package: Any, vector_add: list[Any], name: str) -> None:
    vector_add[4][name] = [1]
    with pytest.raises(ValueError, match=f"Tune parameter {name} with value .* has a forbidden name"):
        package.tune_kernel(*vector_add)


@pytest.mark.parametrize("name", ["nvml_pwr_limit", "nvml_gr_clock", "nvml_mem_clock"])
def test_clocks_need_an_observer(package: Any, vector_add: list[Any], name: str) -> None:
    vector_add[4][name] = [1]
    with pytest.raises(ValueError, match="NVMLObserver"):
        package.tune_kernel(*vector_add)


def test_argument_that_is_no_array(package: Any, vector_add: list[Any]) -> None:
    vector_add[3][3] = 100
    with pytest.raises(TypeError, match="at position 3"):
        package.tune_kernel(*vector_add)


def test_argument_of_another_type(package: Any, vector_add: list[Any]) -> None:
    vector_add[3][3] = np.uint8(100)
    with pytest.warns(UserWarning, match="at position 3"):
        try:
            package.tune_kernel(*vector_add)
        except Exception as error:  # the warning is what is asked for: a driver may refuse a scalar of another size
            print(error)


def test_defines(package: Any, vector_add: list[Any], answer: list[Any]) -> None:
    source = """
    #if defined(kernel_tuner) || defined(grid_size_x)
    #error these are not asked for
    #endif
    __kernel void vector_add(__global TYPE *c, __global const TYPE *a, __global const TYPE *b, int n) {
        int i = get_group_id(0) * SIZE + get_local_id(0);
        if (i < n && TWICE == 2 * SIZE) c[i] = a[i] + b[i];
    }"""
    vector_add[1] = source
    defines = {"TYPE": "float", "SIZE": "block_size_x", "TWICE": lambda p: p["block_size_x"] * 2}
    results, _ = package.tune_kernel(*vector_add, defines=defines, answer=answer)
    assert len(results) == 3


def test_name_of_a_define(package: Any, vector_add: list[Any]) -> None:
    with pytest.raises(ValueError, match="not a valid identifier"):
        package.tune_kernel(*vector_add, defines={"two words": "1"})


def test_quiet(package: Any, vector_add: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    package.tune_kernel(*vector_add, quiet=True)
    assert capsys.readouterr().out == ""


def test_printed_lines(package: Any, vector_add: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    package.tune_kernel(*vector_add)
    printed = capsys.readouterr().out
    assert printed.startswith("Using: ")
    for size in [32, 64, 128]:
        assert f"block_size_x={size}, time=" in printed
    assert "BEST PERFORMING CONFIGURATION FOR OBJECTIVE time:" in printed


def test_verbose_says_the_size_of_the_space(
    package: Any, vector_add: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    package.tune_kernel(*vector_add, verbose=True, restrictions=["block_size_x > 32"])
    assert "Searchspace has 2 configurations after restrictions." in capsys.readouterr().out


def test_structs_and_scalars(package: Any) -> None:
    source = """
    struct point { float x; int n; };
    __kernel void fill(__global struct point *p, __global char *small, float f, long wide, uchar tiny) {
        int i = get_global_id(0);
        if (i < 4) { p[i].x = f; p[i].n = (int)(wide + tiny); small[i] = (char)i; }
    }"""
    points = np.zeros(4, dtype=np.dtype([("x", np.float32), ("n", np.int32)]))
    small = np.zeros(4, dtype=np.int8)
    arguments = [points, small, np.float32(2.5), np.int64(1 << 20), np.uint8(7)]
    with pytest.warns(UserWarning):
        outputs = package.run_kernel("fill", source, 4, arguments, {"block_size_x": 4})
    assert list(outputs[0]["x"]) == [2.5] * 4
    assert list(outputs[0]["n"]) == [(1 << 20) + 7] * 4
    assert list(outputs[1]) == [0, 1, 2, 3]


def test_arguments_stay_as_they_are(package: Any, vector_add: list[Any], answer: list[Any]) -> None:
    before = [np.copy(x) for x in vector_add[3]]
    tune_params = {k: list(v) for k, v in vector_add[4].items()}
    package.tune_kernel(*vector_add, answer=answer)
    assert all(np.array_equal(x, y) for x, y in zip(before, vector_add[3], strict=True))
    assert vector_add[4] == tune_params


def test_large_work_groups_leave_the_space(package: Any, vector_add: list[Any]) -> None:
    vector_add[4] = {"block_size_x": [64, 1 << 20]}
    results, _ = package.tune_kernel(*vector_add)
    assert [r["block_size_x"] for r in results] == [64]


def test_positional_arguments(package: Any, vector_add: list[Any], answer: list[Any]) -> None:
    everything = [None, None, None, ["block_size_x <= 64"], answer, 1e-4, None, False, "OpenCL", 0, 0]
    results, _ = package.tune_kernel(*vector_add, *everything)
    assert len(results) == 2


def test_missing_device(package: Any, vector_add: list[Any]) -> None:
    with pytest.raises(Exception, match="(?i)device|index|range"):
        package.tune_kernel(*vector_add, device=99)


def test_smem_arguments_are_for_other_languages(package: Any, vector_add: list[Any]) -> None:
    with pytest.raises(NotImplementedError):
        package.tune_kernel(*vector_add, smem_args={"size": "block_size_x*4"})


def test_log(package: Any, vector_add: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.root, "handlers", [])  # of pytest: logging.basicConfig does nothing beside others
    package.tune_kernel(*vector_add, log=10)
    assert any(name.startswith("vector_add") and name.endswith(".log") for name in os.listdir())


def test_two_calls(package: Any, vector_add: list[Any]) -> None:
    first, _ = package.tune_kernel(*vector_add)
    second, _ = package.tune_kernel(*vector_add)
    assert [r["block_size_x"] for r in first] == [r["block_size_x"] for r in second]
