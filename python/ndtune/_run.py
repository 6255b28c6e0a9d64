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
import uuid
from typing import Any

from ndtune._binary import NdtuneError
from ndtune._process import Process, told
from ndtune._specification import Specification, memory_for

_lock = threading.Lock()
_runners: dict[str, _Runner] = {}


def run(specification: Specification, device: str) -> dict[str, Any]:
    """Launch the one configuration of a specification once; return the program's answer with its outputs, by name.

    Raises NdtuneError if there is no answer.
    """
    with _lock:
        while True:
            known = device in _runners
            runner = _runners.pop(device, None) or _Runner(device)
            try:
                answer = runner.run(specification)
                _runners[device] = runner
                return answer
            except BaseException as error:
                runner.close()  # an answer that nobody has read would be that of the next call
                if not isinstance(error, _Gone):
                    raise
                if not known:
                    raise NdtuneError(str(error)) from None


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
        self._answer: dict[str, Any] = {}
        # Made for each call, so that nothing is left behind if Python ends without a word.
        self._outputs = os.path.join(memory_for(0) or tempfile.gettempdir(), f"ndtune-{uuid.uuid4().hex}")
        arguments = ["run", "-", "--json", "--iterations", "0", "--outputs", self._outputs, "--device", device]
        self._process = Process(arguments, self._line)

    def run(self, specification: Specification) -> dict[str, Any]:
        size = sum(a.array.nbytes for a in specification.arguments if a.array is not None)
        self._answer = {}
        os.mkdir(self._outputs, 0o700)
        try:
            with tempfile.TemporaryDirectory(prefix="ndtune-", dir=memory_for(2 * size)) as folder:
                specification.write(folder, [a.may_change for a in specification.arguments])
                self._process.send(json.dumps(specification.content, ensure_ascii=False) + "\n---\n", end=False)
                while not self._answer:
                    if not self._process.pump():
                        raise _Gone("\n".join(self._process.notes) or "the program ndtune has ended")
            if self._answer["kind"] != "result":
                raise NdtuneError(told(self._answer["error"]))
            paths = self._answer.get("outputs", {})
            outputs = {a.name: a.load(paths[a.name]) for a in specification.arguments if a.name in paths}
            return self._answer | {"outputs": outputs}
        finally:
            shutil.rmtree(self._outputs, ignore_errors=True)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._process.close()

    def _line(self, line: dict[str, Any], _: str) -> None:
        if line["kind"] in ("result", "error"):
            self._answer = line
        elif line.get("error"):  # the end of the program
            self._process.notes.append(line["error"])
