"""tune_kernel and run_kernel: specifications, data, and what the caller sees when something ends early."""

import json
import os
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ndtune
from ndtune import _binary, _process, util
from ndtune._cache import Cache
from ndtune._space import Space
from ndtune._specification import Kernel, Specification
from ndtune.observers.observer import BenchmarkObserver

ADD = """__kernel void add(__global float *c, __global const float *a, int n) {
    int i = get_global_id(0);
    if (i < n) c[i] = a[i] + plus;
}"""


def specification(source: str = "__kernel void k(__global int *a) {}", **changes: Any) -> Specification:
    given: dict[str, Any] = {"size": 100, "params": {"block_size_x": [32, 64]}, "div": (None,) * 3, "names": None}
    given |= {"defines": None, "options": None, "arguments": [np.zeros(4, np.int32)]} | changes
    kernel = Kernel("k", source, "OpenCL", given["defines"])
    names, options = given["names"], given["options"]
    return Specification(kernel, given["size"], given["arguments"], given["params"], given["div"], names, options)


@pytest.mark.parametrize(
    ("changes", "problem_size", "block_size", "grid_div"),
    [
        ({}, [100], {"x": "block_size_x"}, {"x": ["block_size_x"]}),
        ({"params": {"n": [1]}, "size": "n * 2"}, ["int(n * 2)"], {"x": 256}, {"x": []}),
        ({"div": (["block_size_x", "2"], None, 4)}, [100, 1, 1], {"x": "block_size_x"}, {"z": ["4"], "y": []}),
        ({"params": {"bx": [8]}, "names": ["bx", "y", "z"]}, [100], {"x": "bx"}, {"x": ["bx"]}),
        ({"params": {"count": [8]}, "size": "count"}, ["p_count"], {"x": 256}, {}),
        ({"div": ([], None, None)}, [100], {"x": "block_size_x"}, {"x": []}),
        ({"size": lambda p: (p["block_size_x"], 7)}, ["block_size_x", "7"], {"x": "block_size_x"}, {}),
    ],
)
def test_sizes(changes: Any, problem_size: Any, block_size: Any, grid_div: Any) -> None:
    content = specification(**changes).content
    assert content["problem_size"] == problem_size
    assert content["block_size"] == block_size
    assert all(content["grid_div"][axis] == divisors for axis, divisors in grid_div.items())


def test_options_of_the_compiler_keep_braces_and_name_folders() -> None:
    content = specification(options=["-DX={1}", "-I inc"]).content
    assert content["kernel"]["build_options"] == ["-DX={{1}}", "-I" + os.path.abspath("inc")]


def test_values_keep_their_types() -> None:
    space = Space({"mixed": ["a", 1, True, 2.5, np.int32(7)], "pair": [(1, 2), None], "equal": [1, 2, 1.0, 2]})
    assert space.parameters == {"mixed": ["a", 1, "True", 2.5, 7], "pair": ["(1, 2)", "None"], "equal": [1, 2]}
    for value in space.tune_params["mixed"]:
        back = space.configuration(space.plain({"mixed": value, "pair": None, "equal": 1}))
        assert back["mixed"] is value and back["pair"] is None


@pytest.mark.parametrize(
    ("source", "arguments", "error"),
    [
        (lambda p: "", [], TypeError),
        (42, [], TypeError),
        (["a.cl", "no file name;"], [], FileNotFoundError),
    ],
)
def test_wrong_sources(source: Any, arguments: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        ndtune.tune_kernel("k", source, 1, arguments, {"block_size_x": [1]})


COPIED = [
    np.arange(6, dtype=np.int8).reshape(2, 3),
    np.arange(6, dtype=np.uint64) * 2**61,
    np.array([True, False]),
    np.array([1.5, -0.5], np.float16),
    np.array([1 + 2j, -1j], np.complex64),
    np.array([(1, 2.5), (3, -1)], np.dtype([("a", "<i4"), ("b", "<f4")])),
    np.arange(12, dtype=np.float64).reshape(3, 4).T,
]


@pytest.mark.parametrize("array", COPIED, ids=lambda a: str(a.dtype)[:10])
def test_arrays_reach_the_kernel_and_come_back(array: np.ndarray) -> None:
    source = """__kernel void k(__global uchar *out, __global const uchar *in, int n) {
        int i = get_global_id(0);
        if (i < n) out[i] = in[i];
    }"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the declaration says another type
        out, same, n = ndtune.run_kernel(
            "k", source, array.nbytes, [np.zeros_like(array), array, np.int32(array.nbytes)], {"block_size_x": 8}
        )
    assert out.dtype == array.dtype and out.shape == array.shape and (out == array).all()
    assert same is not array and (same == array).all() and n == array.nbytes


@pytest.mark.parametrize("scalar", [np.uint64(2**64 - 1), np.float32("nan"), np.float64("-inf"), np.int16(-7)])
def test_scalars(scalar: Any) -> None:
    kind = {"uint64": "ulong", "float32": "float", "float64": "double", "int16": "short"}[scalar.dtype.name]
    source = f"__kernel void k(__global {kind} *out, {kind} value) {{ out[0] = value; }}"
    out, _ = ndtune.run_kernel("k", source, 1, [np.zeros(1, scalar.dtype), scalar], {"block_size_x": 1})
    assert out.tobytes() == scalar.tobytes()


def test_integers_of_64_bits_are_exact() -> None:
    values = [-(2**63), 2**53 + 1, 2**63, np.uint64(2**64 - 1)]
    source = "__kernel void k(__global ulong *out) { out[0] = value; }"
    answer = np.zeros(1, np.uint64)
    for value in values:
        out = ndtune.run_kernel("k", source, 1, [answer], {"block_size_x": 1, "value": value})[0]
        assert int(out[0]) == int(value) % 2**64
    results, _ = ndtune.tune_kernel("k", source, 1, [answer], {"block_size_x": [1], "value": values}, quiet=True)
    assert sorted(r["value"] for r in results) == sorted(int(v) for v in values)


def add(n: int = 100, **more: Any) -> tuple[Any, Any]:
    arguments = [np.zeros(n, np.float32), np.arange(n, dtype=np.float32), np.int32(n)]
    params = {"block_size_x": [16, 32, 64], "plus": [1, 2]}
    return ndtune.tune_kernel("add", ADD, n, arguments, params, **{"quiet": True, **more})


def test_ctrl_c_keeps_the_results() -> None:
    calls = []

    def verify(answer: Any, outputs: Any, atol: Any) -> bool:
        calls.append(0)
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return True

    with pytest.raises(KeyboardInterrupt) as caught:
        add(verify=verify)
    assert isinstance(caught.value, ndtune.Interrupted)
    assert 0 < len(caught.value.results) < 6
    assert caught.value.env["device_name"]


@pytest.mark.parametrize("where", ["verify", "metrics", "restrictions"])
def test_exceptions_of_callbacks_keep_their_type_and_place(where: str) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("of the user")

    with pytest.raises(ZeroDivisionError, match="of the user") as caught:
        add(**{where: {"m": fail} if where == "metrics" else fail})
    assert "fail" in [entry.name for entry in caught.traceback]


def test_failures_are_results_unless_strict() -> None:
    answer = [np.arange(100, dtype=np.float32) + 1, None, None]
    results, env = add(answer=answer)
    wrong = [r for r in results if r["plus"] == 2]
    assert len(wrong) == 3 and all(isinstance(r["__error__"], util.RuntimeFailedConfig) for r in wrong)
    assert all(r["reason"] for r in wrong) and env["best_config"]["plus"] == 1
    with pytest.raises(RuntimeError, match="verification failed"):
        add(answer=answer, strict=True)


def test_an_objective_that_no_expression_says() -> None:
    metrics = {"m": lambda p: p["plus"] + min(len(p["times"]), 7)}
    results, env = add(metrics=metrics, objective="m", objective_higher_is_better=True)
    assert env["best_config"]["m"] == max(r["m"] for r in results) == 9


def test_check_finds_a_write_out_of_bounds() -> None:
    arguments = [np.zeros(100, np.float32), np.zeros(100, np.float32), np.int32(101)]
    source = ADD.replace("a[i] + plus", "plus")
    report = ndtune.check("add", source, 101, arguments, {"plus": [1]}, options=["--no-simulator", "--launches", "1"])
    assert [finding["kind"] for finding in report["findings"]] == ["out of bounds"]


def test_the_best_configuration_is_one_to_run() -> None:
    _, env = add()
    arguments = [np.zeros(100, np.float32), np.arange(100, dtype=np.float32), np.int32(100)]
    c = ndtune.run_kernel("add", ADD, 100, arguments, env["best_config"])[0]
    assert np.array_equal(c, arguments[1] + env["best_config"]["plus"])
    with pytest.raises(TypeError, match="one value for each parameter"):
        ndtune.run_kernel("add", ADD, 100, arguments, {"block_size_x": 32, "plus": [1, 2]})


def test_the_best_is_printed_with_its_time_of_the_final_measurement(capsys: pytest.CaptureFixture[str]) -> None:
    _, env = add(quiet=False, progress="text")
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"in the final measurement: time={env['finals'][0]['time']:.3f}ms"


def test_tolerances_by_a_function() -> None:
    answer = [np.arange(100, dtype=np.float32) + 1, None, None]
    results, _ = add(answer=answer, atol=lambda p: 0 if p["plus"] == 1 else 1.5)
    assert not [r for r in results if "__error__" in r]


def test_two_searches_at_once() -> None:
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(add()[0])) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(results) for results in found] == [6, 6]


def test_with_more_than_a_thousand_open_files() -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limits[1] < 2048:
        pytest.skip(f"a process may open {limits[1]} files here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(2048, limits[0]), limits[1]))
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    looks = []

    class Observer(BenchmarkObserver):
        def during(self) -> None:
            looks.append(0)

        def get_results(self) -> dict[str, Any]:
            return {}

    try:
        results, _ = add(verify=lambda answer, outputs, atol: True, answer=[None] * 3, observers=[Observer()])
    finally:
        for file in files:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert len(results) == 6 and looks


def test_a_process_that_died_is_replaced() -> None:
    source = "__kernel void k(__global int *a) { a[0] += 1; }"
    first = ndtune.run_kernel("k", source, 1, [np.zeros(1, np.int32)], {"block_size_x": 1})
    _process._idle[0].child.kill()
    again = ndtune.run_kernel("k", source, 1, [np.zeros(1, np.int32)], {"block_size_x": 1})
    assert first[0][0] == again[0][0] == 1


def test_the_program_starts_with_the_import(tmp_path: Path) -> None:
    """It serves the first command, unless a variable has changed or another device is meant; a fork has none."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys, numpy, ndtune\n"
        "from ndtune import _process\n"
        "def pid(): return _process._idle[0].child.pid if _process._idle else 0\n"
        "def run():\n"
        "    ndtune.run_kernel('k', '__kernel void k(__global int *a) {}', 1, [numpy.zeros(1, 'i4')], {})\n"
        "early, seen = pid(), []\n"
        "if not os.fork(): os._exit(pid() != 0)\n"
        "seen += [early > 0, os.waitstatus_to_exitcode(os.wait()[1]) == 0]\n"
        "if 'variable' in sys.argv: os.environ['NDTUNE_TEST'] = '1'\n"
        "if ':' in sys.argv[1]: _process.prepare(sys.argv[1])\n"
        "else: run()\n"
        "print([*seen, pid() == early, _process._idle[0].early])\n"
    )
    for change, same in {"": True, "variable": False, "1:0": False, "cuda:0": True}.items():
        env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        said = subprocess.run([sys.executable, script, change], env=env, capture_output=True, text=True, check=False)
        assert said.stdout == f"[True, True, {same}, {change == 'cuda:0'}]\n", said.stderr


def test_imports_that_start_no_program(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import multiprocessing, ndtune\n"
        "from ndtune import _process\n"
        "def idle(): return len(_process._idle)\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool: print(idle(), pool.apply(idle))\n"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    for change, want in {"": "1 0\n", "no-such-program": "0 0\n"}.items():
        named = {"NDTUNE": change} if change else {}
        said = subprocess.run([sys.executable, script], env=env | named, capture_output=True, text=True, check=False)
        assert said.stdout == want, said.stderr


def test_a_kernel_that_crashes_the_driver() -> None:
    source = "__kernel void k(__global int *a) { *(__global int *)0 = a[0]; }"
    with pytest.raises(ndtune.NdtuneError, match="signal"):
        ndtune.run_kernel("k", source, 1, [np.zeros(1, np.int32)], {"block_size_x": 1})
    results, _ = ndtune.tune_kernel("k", source, 1, [np.zeros(1, np.int32)], {"block_size_x": [1]}, quiet=True)
    assert isinstance(results[0]["__error__"], util.RuntimeFailedConfig) and "signal" in results[0]["reason"]


def test_a_script_without_a_guard_in_a_home_that_nobody_may_write(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy, ndtune\n"
        "source = '__kernel void k(__global int *a) { a[0] = block_size_x; }'\n"
        "r, e = ndtune.tune_kernel('k', source, 1, [numpy.zeros(1, 'i4')], {'block_size_x': [1, 2]})\n"
        "print(len(r))\n"
    )
    env = os.environ | {"HOME": "/proc", "XDG_STATE_HOME": "/proc/x", "PYTHONPATH": str(Path(__file__).parents[1])}
    env["POCL_CACHE_DIR"] = str(tmp_path)  # PoCL itself needs a place
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "2"


@pytest.mark.parametrize("torn", ["", ",", ',\n"64": {"block_size_x": 64, "ti'])
def test_cache_files_that_end_early(tmp_path: Path, torn: str) -> None:
    path, params = tmp_path / "c.json", {"block_size_x": [32, 64]}
    cache = Cache(path, "k", 100, params)
    cache.open("device", ["time"])
    cache.store((32,), {"block_size_x": 32, "time": 1.0})
    path.write_text(path.read_text().removesuffix(",") + torn)
    again = Cache(path, "k", 100, params)
    again.open("device", ["time"])
    again.store((64,), {"block_size_x": 64, "__error__": util.VerificationFailedConfig(), "reason": "wrong"})
    again.close()
    assert json.loads(path.read_text())["cache"]["64"]["__error__"] == "RuntimeFailedConfig"
    assert list(Cache(path, "k", 100, params).results) == ["32", "64"]
    with pytest.raises(ValueError, match="different device"):
        Cache(path, "k", 100, params).open("another", ["time"])


def test_other_languages_are_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kernel_tuner", None)
    with pytest.raises(ndtune.NdtuneError, match="install kernel_tuner"):
        ndtune.tune_kernel("k", "void k(int *a) {}", 1, [np.zeros(1, np.int32)], {"block_size_x": [1]}, lang="C")


def test_the_compiler_of_cuda_is_looked_for_beside_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    assert _binary.environment()["VIRTUAL_ENV"] == sys.prefix
    monkeypatch.setenv("VIRTUAL_ENV", "mine")
    assert _binary.environment()["VIRTUAL_ENV"] == "mine"


def test_a_cache_of_means_has_the_medians_of_its_launches(tmp_path: Path) -> None:
    entries = {"1": {"x": 1, "time": 34.0, "times": [1.0, 1.0, 100.0]}, "2": {"x": 2, "time": 2.0}}
    header = {"device_name": "d", "kernel_name": "k", "problem_size": 1, "tune_params_keys": ["x"]}
    path = tmp_path / "means.json"
    path.write_text(json.dumps(header | {"tune_params": {"x": [1, 2]}, "objective": ["time"], "cache": entries}))
    assert [r["time"] for r in Cache(str(path), "k", 1, {"x": [1, 2]}).results.values()] == [1.0, 2.0]
