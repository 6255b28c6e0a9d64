"""What the caller sees, and what stays behind: Ctrl-C, functions that fail, arguments that are wrong."""

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ndtune
from ndtune._process import Process

SOURCE = "__kernel void k(__global float *x, int n) { int i = get_global_id(0); if (i < n) x[i] += 1; }"


def tune(**changes: Any) -> Any:
    x = np.zeros(64, np.float32)
    given: dict[str, Any] = {"kernel_name": "k", "kernel_source": SOURCE, "problem_size": 64, "quiet": True}
    given |= {"arguments": [x, np.int32(64)], "tune_params": {"block_size_x": [8, 16, 32], "z": [1, 2, 3]}}
    return ndtune.tune_kernel(**given | changes)


def test_a_second_ctrl_c_keeps_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[int] = []
    raised: list[int] = []
    pump = Process.pump

    def interrupted(self: Process, timeout: float | None = None) -> bool:
        if len(judged) >= 3 and len(raised) < 2:
            raised.append(0)
            raise KeyboardInterrupt
        return pump(self, timeout)

    def verify(answer: Any, outputs: Any) -> bool:
        judged.append(0)
        return True

    monkeypatch.setattr(Process, "pump", interrupted)
    with pytest.raises(ndtune.Interrupted) as caught:
        tune(verify=verify)
    assert len(raised) == 2 and caught.value.env["device_name"]


@pytest.mark.parametrize("how", ["exception", "exit", "ctrl-c"])
def test_no_folder_stays(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def verify(answer: Any, outputs: Any) -> bool:
        calls.append(0)
        if len(calls) > 2:
            if how == "ctrl-c":
                os.kill(os.getpid(), signal.SIGINT)
            raise ZeroDivisionError if how == "exception" else SystemExit(3)
        return True

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises((ZeroDivisionError, SystemExit, ndtune.Interrupted)):
        tune(verify=verify)
    assert len(calls) == 3 and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"arguments": [np.zeros(64, ">f4"), np.int32(64)]}, TypeError, r"arguments\[0\].*order of bytes"),
        ({"arguments": [np.zeros(0, np.float32), np.int32(64)]}, ValueError, r"arguments\[0\].*without elements"),
        ({"arguments": [np.array([None]), np.int32(64)]}, TypeError, r"arguments\[0\].*object"),
        ({"arguments": [np.array(["a"]), np.int32(64)]}, TypeError, r"arguments\[0\].*<U1"),
        ({"arguments": np.zeros(64, np.float32)}, TypeError, "arguments must be a list"),
        ({"tune_params": [8]}, TypeError, "tune_params must be a dictionary"),
        ({"tune_params": {"block_size_x": 8}}, TypeError, "'block_size_x'.* must be a list"),
        ({"tune_params": {"block_size_x": "8"}}, TypeError, "'block_size_x'.* must be a list"),
        ({"tune_params": {"block_size_x": []}}, ValueError, "'block_size_x'.* is empty"),
        ({"tune_params": {"x": [1.0, float("nan")]}}, ValueError, "'x'.* must be finite"),
        ({"problem_size": 64.0}, TypeError, "problem_size should only contain"),
        ({"options": "--patience 5"}, TypeError, "options must be a list"),
        ({"objective": "GBs"}, ValueError, "objective 'GBs'.*block_size_x, z, time"),
        ({"iterations": 0}, ValueError, "^iterations must be at least 1"),
        ({"simulation_mode": True}, ValueError, "the argument cache names none"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_wrong_arguments(changes: dict[str, Any], error: type[Exception], words: str) -> None:
    if "objective" in changes:
        changes["objective_higher_is_better"] = True
    with pytest.raises(error, match=words):
        tune(**changes)


def test_messages_of_the_compiler_name_the_line_of_the_source() -> None:
    source = "\n" + SOURCE.replace("if", "iff")
    results, _ = tune(kernel_source=source)
    assert all("kernel_source:2:" in row["reason"] and "standard input" not in row["reason"] for row in results)
    with pytest.raises(ndtune.NdtuneError, match="error: kernel_source:2:"):
        ndtune.run_kernel("k", source, 64, [np.zeros(64, np.float32), np.int32(64)], {})


@pytest.mark.parametrize("params", [None, [8], {"block_size_x": [8]}])
def test_wrong_params(params: Any) -> None:
    with pytest.raises(TypeError, match="params must be a dictionary"):
        ndtune.run_kernel("k", SOURCE, 64, [np.zeros(64, np.float32), np.int32(64)], params)


def test_no_device_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", "/nonexistent")
    with pytest.raises(ndtune.NdtuneError, match="no OpenCL platform"):
        ndtune.run_kernel("k", SOURCE, 64, [np.zeros(64, np.float32), np.int32(64)], {}, device="9:9")
    with pytest.raises(ndtune.NdtuneError, match="no OpenCL platform"):
        tune()


def test_a_driver_without_a_place_for_its_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """PoCL has no device then, as in a home that nobody may write."""
    monkeypatch.setenv("POCL_CACHE_DIR", "/proc/none")
    with pytest.raises(ndtune.NdtuneError, match="^no OpenCL device: .* name a folder in .* POCL_CACHE_DIR$"):
        tune()


def failing(*_: Any) -> Any:
    raise ZeroDivisionError("of the user")


@pytest.mark.parametrize(
    ("changes", "functions"),
    [
        ({"verify": failing}, ["_judge", "<lambda>", "failing"]),
        ({"restrictions": failing}, ["<lambda>", "failing"]),
        ({"restrictions": lambda p: p["blok_size_x"] > 8}, ["answer", "<lambda>"]),
        ({"tune_params": {}, "strategy": "brute"}, []),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_tracebacks_have_little_of_the_package(changes: dict[str, Any], functions: list[str]) -> None:
    with pytest.raises((ZeroDivisionError, ValueError, KeyError)) as caught:
        tune(**changes)
    names = [entry.name for entry in caught.traceback]
    assert names[:3] == ["test_tracebacks_have_little_of_the_package", "tune", "call"]
    assert len(names) <= 5 and names[3:] == functions[len(functions) - len(names[3:]) :]
    assert bool(names[3:]) == bool(functions)


def test_faults_of_the_package_keep_their_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ndtune.interface._objectives", None)
    with pytest.raises(TypeError) as caught:
        tune()
    assert [entry.name for entry in caught.traceback][-1] == "tune_kernel"


def test_warnings_point_to_the_caller() -> None:
    with pytest.warns(UserWarning, match="do not match in size") as seen:
        tune(arguments=[np.zeros(64, np.float32)])
    assert seen[0].filename == __file__
