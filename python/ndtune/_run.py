"""run_kernel's process: it stays from one call to the next, so that device, driver and worker are warm.

There is one for each device. A lock lets threads take turns; after a fork the child starts its own; a process that
has died is replaced by the next call; all end with Python.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import tempfile
import threading
from typing import Any

from ndtune._binary import NdtuneError
from ndtune._process import Process
from ndtune._specification import Specification, memory_for

_lock = threading.Lock()
_runners: dict[str, _Runner] = {}


def run(specification: Specification, device: str) -> dict[str, Any]:
    """Launch the one configuration of a specification once; return the program's answer with its outputs, by name.

    Raises NdtuneError if there is no answer.
    """
    with _lock:
        for attempt in (1, 2):
            runner = _runners.get(device) or _runners.setdefault(device, _Runner(device))
            try:
                return runner.run(specification)
            except BaseException as error:
                _runners.pop(device).close()  # an answer that nobody has read would be that of the next call
                if attempt == 2 or not isinstance(error, _Gone):
                    raise
        raise AssertionError("unreachable")


def _forget() -> None:
    """In the child of a fork: the parent's processes are not ours, nor is a lock that one of its threads held."""
    global _lock
    _lock = threading.Lock()
    _runners.clear()


@atexit.register
def _close() -> None:
    for runner in _runners.values():
        runner.close()
    _runners.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


class _Gone(NdtuneError):
    """The process has ended, before it was asked or while it answered."""


class _Runner:
    """A run of the program that answers one specification after the other."""

    def __init__(self, device: str) -> None:
        self._folder = tempfile.mkdtemp(prefix="ndtune-", dir=memory_for(0))
        self._answer: dict[str, Any] | None = None
        self._number = 0
        outputs = os.path.join(self._folder, "outputs")
        self._process = Process(
            ["run", "-", "--json", "--iterations", "0", "--outputs", outputs, "--device", device], self._line
        )

    def run(self, specification: Specification) -> dict[str, Any]:
        self._number += 1
        size = sum(a.array.nbytes for a in specification.arguments if a.array is not None)
        with tempfile.TemporaryDirectory(prefix="ndtune-", dir=memory_for(2 * size)) as folder:
            specification.write(folder, [a.may_change for a in specification.arguments])
            self._answer = None
            self._process.send(json.dumps(specification.content, ensure_ascii=False) + "\n---\n", end=False)
            while self._answer is None:
                if not self._process.pump():
                    raise _Gone("\n".join(self._process.notes) or "the program ndtune has ended")
        if self._answer.get("kind") != "result":
            raise NdtuneError(self._answer.get("error", ""))
        paths = self._answer.get("outputs", {})
        self._answer["outputs"] = {a.name: a.load(paths[a.name]) for a in specification.arguments if a.name in paths}
        shutil.rmtree(os.path.join(self._folder, "outputs", str(self._number)), ignore_errors=True)
        return self._answer

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._process.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _line(self, line: dict[str, Any], _: str) -> None:
        if line["kind"] in ("result", "error"):
            self._answer = line
