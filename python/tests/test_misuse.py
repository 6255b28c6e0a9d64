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
    seen: list[int] = []
    pump = Process.pump

    def interrupted(self: Process, timeout: float | None = None) -> bool:
        seen.append(0)
        if len(seen) in (30, 31):
            raise KeyboardInterrupt
        return pump(self, timeout)

    monkeypatch.setattr(Process, "pump", interrupted)
    with pytest.raises(ndtune.Interrupted) as caught:
        tune(verify=lambda answer, outputs: True)
    assert len(seen) == 31 and caught.value.env["device_name"]


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
