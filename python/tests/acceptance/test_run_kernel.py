"""run_kernel: one launch, and the contents of all arguments after it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest


def test_outputs(package: Any, vector_add: list[Any]) -> None:
    c, a, b, n = vector_add[3]
    outputs = package.run_kernel(*vector_add[:4], {"block_size_x": 32})
    assert len(outputs) == 4
    assert np.allclose(outputs[0], a + b)
    assert np.array_equal(outputs[1], a) and np.array_equal(outputs[2], b)
    assert outputs[3] == n
    assert not c.any()  # the user's own array stays


def test_one_launch(package: Any) -> None:
    source = "__kernel void count(__global int *out) { out[get_global_id(0)] += 1; }"
    outputs = package.run_kernel("count", source, 8, [np.arange(8, dtype=np.int32)], {"block_size_x": 4})
    assert list(outputs[0]) == list(range(1, 9))


def test_shape_and_type(package: Any) -> None:
    source = """
    __kernel void twice(__global double *out) {
        int x = get_global_id(0), y = get_global_id(1);
        out[y * 6 + x] *= 2;
    }"""
    array = np.arange(24, dtype=np.float64).reshape(4, 6)
    outputs = package.run_kernel("twice", source, (6, 4), [array], {"block_size_x": 2, "block_size_y": 2})
    assert outputs[0].shape == (4, 6)
    assert outputs[0].dtype == np.float64
    assert np.array_equal(outputs[0], 2 * array)


def test_written_input(package: Any) -> None:
    """An argument that the kernel also reads comes back as it is after the launch."""
    source = (
        "__kernel void shift(__global int *a, __global int *b) { int i = get_global_id(0); b[i] = a[i]; a[i] = i; }"
    )
    arguments = [np.full(4, 9, dtype=np.int32), np.zeros(4, dtype=np.int32)]
    outputs = package.run_kernel("shift", source, 4, arguments, {"block_size_x": 4})
    assert [list(x) for x in outputs] == [[0, 1, 2, 3], [9, 9, 9, 9]]


def test_file(package: Any, vector_add: list[Any], folder: Path) -> None:
    (folder / "add.cl").write_text(vector_add[1])
    outputs = package.run_kernel("vector_add", "add.cl", *vector_add[2:4], {"block_size_x": 64}, lang="OpenCL")
    assert np.allclose(outputs[0], vector_add[3][1] + vector_add[3][2])


def test_generator(package: Any, vector_add: list[Any]) -> None:
    def generate(params: dict[str, Any]) -> str:
        return vector_add[1].replace("a[i] + b[i]", f"a[i] * {params['factor']}")

    params = {"block_size_x": 64, "factor": 3}
    outputs = package.run_kernel("vector_add", generate, *vector_add[2:4], params, lang="OpenCL")
    assert np.allclose(outputs[0], vector_add[3][1] * 3)


def test_defines_and_grid(package: Any) -> None:
    source = "__kernel void mark(__global int *out) { out[get_global_id(0)] = VALUE; }"
    out = np.zeros(16, dtype=np.int32)
    params = {"block_size_x": 4, "tile": 2}
    outputs = package.run_kernel(
        "mark", source, 16, [out], params, grid_div_x=["block_size_x", "tile"], defines={"VALUE": "tile * 5"}
    )
    assert list(outputs[0]) == [10] * 8 + [0] * 8


def test_problem_size_by_a_function(package: Any) -> None:
    source = "__kernel void mark(__global int *out) { out[get_global_id(0)] = 1; }"
    out = np.zeros(16, dtype=np.int32)
    outputs = package.run_kernel("mark", source, lambda p: (p["n"],), [out], {"block_size_x": 4, "n": 12})
    assert int(outputs[0].sum()) == 12


def test_names_of_block_sizes(package: Any) -> None:
    source = "__kernel void mark(__global int *out) { out[get_global_id(0)] = get_local_size(0); }"
    out = np.zeros(16, dtype=np.int32)
    outputs = package.run_kernel(
        "mark", source, 16, [out], {"threads": 8}, grid_div_x=["threads"], block_size_names=["threads"]
    )
    assert list(outputs[0]) == [8] * 16


def test_tunable_argument(package: Any, vector_add: list[Any], module: Any) -> None:
    tunable = module("accuracy").Tunable
    c, a, b, n = vector_add[3]
    arguments = [c, tunable("which", {"one": a, "other": 2 * a}), b, n]
    outputs = package.run_kernel(*vector_add[:3], arguments, {"block_size_x": 32, "which": "other"})
    assert np.allclose(outputs[0], 2 * a + b)


def test_source_that_does_not_compile(package: Any, vector_add: list[Any]) -> None:
    vector_add[1] = vector_add[1].replace("int i", "no_such_type i")
    with pytest.raises(Exception, match="(?s)no_such_type|BUILD"):
        package.run_kernel(*vector_add[:4], {"block_size_x": 32})


def test_wrong_argument(package: Any, vector_add: list[Any]) -> None:
    vector_add[3][0] = "text"
    with pytest.raises(TypeError, match="at position 0"):
        package.run_kernel(*vector_add[:4], {"block_size_x": 32})


def test_too_many_work_items(package: Any, vector_add: list[Any]) -> None:
    with pytest.raises((RuntimeError, AttributeError)):  # Kernel Tuner 1.5 ends with an AttributeError
        package.run_kernel(*vector_add[:4], {"block_size_x": 1 << 20})


def test_missing_kernel(package: Any, vector_add: list[Any]) -> None:
    vector_add[0] = "subtract"
    with pytest.raises((RuntimeError, AttributeError)):
        package.run_kernel(*vector_add[:4], {"block_size_x": 32})


def test_quiet(package: Any, vector_add: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    package.run_kernel(*vector_add[:4], {"block_size_x": 32}, quiet=True)
    assert capsys.readouterr().out == ""


def test_many_calls(package: Any, vector_add: list[Any]) -> None:
    for factor in range(5):
        arguments = [vector_add[3][0], vector_add[3][1] * np.float32(factor), *vector_add[3][2:]]
        outputs = package.run_kernel(*vector_add[:3], arguments, {"block_size_x": 32})
        assert np.allclose(outputs[0], arguments[1] + arguments[2])
