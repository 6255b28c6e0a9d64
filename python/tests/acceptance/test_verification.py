"""answer, atol and verify; and what happens to a configuration that fails."""

from typing import Any

import numpy as np
import pytest

PARTLY_WRONG = """
__kernel void vector_add(__global float *c, __global const float *a, __global const float *b, int n) {
    int i = get_global_id(0);
    if (i < n) c[i] = a[i] + b[i] + (block_size_x == 64 ? 1 : 0);
}"""
PARTLY_BROKEN = """
__kernel void vector_add(__global float *c, __global const float *a, __global const float *b, int n) {
    int i = get_global_id(0);
#if block_size_x == 64
    if (i < n) c[i] = undeclared[i];
#else
    if (i < n) c[i] = a[i] + b[i];
#endif
}"""


def test_right_answer(package: Any, vector_add: list[Any], answer: list[Any]) -> None:
    results, _ = package.tune_kernel(*vector_add, answer=answer)
    assert len(results) == 3
    assert all(r["verification_time"] > 0 for r in results)


def test_wrong_output_ends_the_run(
    package: Any, vector_add: list[Any], answer: list[Any], strict: dict[str, Any]
) -> None:
    vector_add[1] = PARTLY_WRONG
    with pytest.raises(RuntimeError, match="Kernel result verification failed for: .*block_size_x=64"):
        package.tune_kernel(*vector_add, answer=answer, **strict)


@pytest.mark.only_ours
def test_wrong_output_is_a_result(package: Any, vector_add: list[Any], answer: list[Any], util: Any) -> None:
    vector_add[1] = PARTLY_WRONG
    results, env = package.tune_kernel(*vector_add, answer=answer)
    assert [r["block_size_x"] for r in results if "__error__" not in r] == [32, 128]
    assert isinstance(results[1]["__error__"], util.RuntimeFailedConfig)
    assert env["best_config"]["block_size_x"] != 64


def test_compile_error_ends_the_run(package: Any, vector_add: list[Any], strict: dict[str, Any]) -> None:
    vector_add[1] = PARTLY_BROKEN
    with pytest.raises(Exception, match="(?s)undeclared"):
        package.tune_kernel(*vector_add, **strict)


@pytest.mark.only_ours
def test_compile_error_is_a_result(package: Any, vector_add: list[Any], util: Any) -> None:
    vector_add[1] = PARTLY_BROKEN
    results, env = package.tune_kernel(*vector_add)
    failed = [r for r in results if r["block_size_x"] == 64]
    assert len(results) == 3
    assert isinstance(failed[0]["__error__"], util.CompilationFailedConfig)
    assert env["best_config"]["block_size_x"] != 64


@pytest.mark.only_ours
def test_crash_of_the_driver_is_a_result(package: Any, vector_add: list[Any], util: Any) -> None:
    vector_add[1] = """
    __kernel void vector_add(__global float *c, __global const float *a, __global const float *b, int n) {
        int i = get_global_id(0);
        if (block_size_x == 64) ((volatile __global float *)0)[i] = 1;
        if (i < n) c[i] = a[i] + b[i];
    }"""
    results, _ = package.tune_kernel(*vector_add)
    assert ["__error__" in r for r in results] == [False, True, False]
    assert isinstance(results[1]["__error__"], util.RuntimeFailedConfig)


@pytest.mark.parametrize(("atol", "right"), [(1e-6, False), (0.1, True)])
def test_tolerance(
    package: Any, vector_add: list[Any], answer: list[Any], strict: dict[str, Any], atol: float, right: bool
) -> None:
    answer[0] = answer[0] + np.float32(0.01)
    if right:
        results, _ = package.tune_kernel(*vector_add, answer=answer, atol=atol, **strict)
        assert len(results) == 3
        return
    with pytest.raises(RuntimeError, match="Kernel result verification failed"):
        package.tune_kernel(*vector_add, answer=answer, atol=atol, **strict)


def test_function_with_a_tolerance(package: Any, vector_add: list[Any], answer: list[Any]) -> None:
    seen = []

    def verify(expected: Any, outputs: Any, atol: Any) -> bool:
        seen.append((len(expected), len(outputs), outputs[1], atol))
        return bool(np.allclose(expected[0], outputs[0], atol=atol))

    package.tune_kernel(*vector_add, answer=answer, verify=verify, atol=1e-3)
    assert set(seen) == {(4, 4, None, 1e-3)}
    assert len(seen) >= 3


def test_function_without_a_tolerance(package: Any, vector_add: list[Any], answer: list[Any]) -> None:
    calls = []

    def verify(expected: Any, outputs: Any) -> bool:
        calls.append(outputs[0].dtype)
        return bool(np.allclose(expected[0], outputs[0]))

    results, _ = package.tune_kernel(*vector_add, answer=answer, verify=verify)
    assert len(results) == 3
    assert set(calls) == {np.dtype(np.float32)}


def test_lambda(package: Any, vector_add: list[Any], answer: list[Any], strict: dict[str, Any]) -> None:
    package.tune_kernel(*vector_add, answer=answer, verify=lambda ref, out, atol=None: True)
    with pytest.raises(RuntimeError, match="Kernel result verification failed"):
        package.tune_kernel(*vector_add, answer=answer, verify=lambda ref, out, atol=None: False, **strict)


def test_function_without_an_answer(package: Any, vector_add: list[Any]) -> None:
    """Without an answer, the function gets None in its place, and all arrays that the kernel was given."""
    outputs_seen = []

    def verify(expected: Any, outputs: Any, atol: Any = None) -> bool:
        assert expected is None
        outputs_seen.append(outputs)
        return True

    package.tune_kernel(*vector_add, verify=verify)
    c, a, b, n = outputs_seen[0]
    assert np.allclose(c, vector_add[3][1] + vector_add[3][2])
    assert np.array_equal(a, vector_add[3][1])


def test_exception_in_the_function(package: Any, vector_add: list[Any], answer: list[Any]) -> None:
    def verify(expected: Any, outputs: Any, atol: Any = None) -> bool:
        raise ZeroDivisionError("of the user")

    with pytest.raises(ZeroDivisionError, match="of the user"):
        package.tune_kernel(*vector_add, answer=answer, verify=verify)


def test_shape_of_outputs(package: Any) -> None:
    source = "__kernel void mark(__global int *out) { out[get_global_id(0)] = 5; }"
    shapes = []

    def verify(expected: Any, outputs: Any, atol: Any = None) -> bool:
        shapes.append(outputs[0].shape)
        return bool((outputs[0] == expected[0]).all())

    out = np.zeros((4, 6), dtype=np.int32)
    package.tune_kernel("mark", source, 24, [out], {"block_size_x": [4]}, answer=[out + 5], verify=verify)
    assert set(shapes) == {(4, 6)}


def test_answer_of_another_shape(package: Any) -> None:
    source = "__kernel void mark(__global int *out) { out[get_global_id(0)] = 5; }"
    expected = np.full((4, 6), 5, dtype=np.int32)
    results, _ = package.tune_kernel(
        "mark", source, 24, [np.zeros(24, dtype=np.int32)], {"block_size_x": [4]}, answer=[expected.ravel()]
    )
    assert len(results) == 1


def test_outputs_begin_afresh(package: Any) -> None:
    """Each configuration sees the arguments as the user gave them, not what an earlier one left."""
    source = "__kernel void add(__global int *out) { out[get_global_id(0)] += 1; }"
    out = np.arange(64, dtype=np.int32)
    results, _ = package.tune_kernel("add", source, 64, [out], {"block_size_x": [8, 16, 32]}, answer=[out + 1])
    assert len(results) == 3


def test_answer_of_lists(package: Any, vector_add: list[Any], answer: list[Any], strict: dict[str, Any]) -> None:
    answer[0] = list(answer[0])
    results, _ = package.tune_kernel(*vector_add, answer=tuple(answer), **strict)
    assert len(results) == 3
    answer[0][7] += 1
    with pytest.raises(RuntimeError, match="Kernel result verification failed"):
        package.tune_kernel(*vector_add, answer=answer, **strict)


def test_answer_without_an_output(package: Any, vector_add: list[Any], strict: dict[str, Any]) -> None:
    results, _ = package.tune_kernel(*vector_add, answer=[None] * 4, **strict)
    assert len(results) == 3


def test_answer_of_a_parameter(package: Any, module: Any, vector_add: list[Any], strict: dict[str, Any]) -> None:
    """An answer that is Tunable has the expected outputs of each value of a parameter."""
    source = vector_add[1].replace("a[i] + b[i]", "factor * (a[i] + b[i])")
    vector_add[1], vector_add[4]["factor"] = source, [1, 2]
    total = vector_add[3][1] + vector_add[3][2]
    answers = {factor: [factor * total, None, None, None] for factor in (1, 2)}
    tunable = module("accuracy").Tunable
    results, _ = package.tune_kernel(*vector_add, answer=tunable("factor", answers), **strict)
    assert [(r["block_size_x"], r["factor"]) for r in results] == [(x, f) for x in (32, 64, 128) for f in (1, 2)]
    answers[2] = answers[1]
    with pytest.raises(RuntimeError, match="factor=2"):
        package.tune_kernel(*vector_add, answer=tunable("factor", answers), **strict)


def test_answer_for_a_scalar(package: Any, vector_add: list[Any], answer: list[Any], strict: dict[str, Any]) -> None:
    """No kernel changes a scalar: only a function of one's own may look at what is expected of it."""
    answer[3] = np.int32(100)
    with pytest.raises(TypeError, match="lement 3 of"):
        package.tune_kernel(*vector_add, answer=answer, **strict)
    seen = []

    def verify(expected: Any, outputs: Any, atol: float) -> bool:
        seen.append((int(expected[3]), outputs[3]))
        return True

    package.tune_kernel(*vector_add, answer=answer, verify=verify, **strict)
    assert set(seen) == {(100, None)}


@pytest.mark.parametrize(
    ("answer_of", "error"),
    [
        (lambda c: [c, None, None], TypeError),
        (lambda c: [c[:50], None, None, None], ValueError),
        (lambda c: [c.astype(np.int8), None, None, None], TypeError),
    ],
    ids=["length", "size", "type"],
)
def test_wrong_answer_list(package: Any, vector_add: list[Any], answer_of: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        package.tune_kernel(*vector_add, answer=answer_of(vector_add[3][0]))
