"""One command of the program ndtune: its standard input, its JSON lines, and the questions that it asks Python.

Everything that the program says or asks is handled in the thread that calls Process.pump, so that an exception of a
user's function surfaces where tune_kernel was called, with its own traceback. The program stays from one command to the
next, so that drivers, devices and workers are warm. It ends with Python.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import IO, TYPE_CHECKING, Any

from ndtune import _binary

if TYPE_CHECKING:
    from ndtune._callbacks import Callbacks

OnLine = Callable[[dict[str, Any], str], None]


def prepare(device: str) -> None:
    """Start the program for a command to come, if none waits: it loads drivers and opens the device meanwhile."""
    program = _taken()
    if program and program.early and device != "0:0" and not device.startswith("cuda"):  # it has prepared for others
        program.end()
        program = None
    if program is None:
        program = _Program("--device", device)
    _keep(program)


class Process:
    """A command of the program, from its start to its end; a context manager, which ends one that still goes on.

    on_line is called with each JSON line of standard output, decoded and as text. callbacks answer the questions of
    the commands that the specification names. The texts of notes and of standard error are in notes, the exit status
    in status, once pump has returned False.
    """

    def __init__(self, arguments: Sequence[str], on_line: OnLine, callbacks: Callbacks | None = None) -> None:
        self.notes: list[str] = []
        self.status: int | None = None
        self._on_line = on_line
        self._callbacks = callbacks
        program = _taken()
        self._program = program or _Program()
        self._program.early = False
        self._again: list[str] | None = [] if program else None  # what to send again if it proves to have died before
        self._lines: deque[bytes] = deque()
        self._stopped = self._told = False  # told: all of its input
        self.send(json.dumps(arguments) + "\n---\n", end=False)

    def send(self, text: str, *, end: bool = True) -> None:
        """Write text to the command's standard input, which ends there by default."""
        text += "\n...\n" if end else ""
        if self._again is not None:
            self._again.append(text)
        self._program.write(text)
        self._told = end

    def pump(self, timeout: float | None = None) -> bool:
        """Handle the next line or question, waiting at most timeout seconds; return False at the end of the command.

        Raises the first exception of a callback, after the command has ended.
        """
        if self._lines:
            self._take(self._lines.popleft().decode())
            return True
        if self.status is not None:
            return False
        if not self._program.open:
            status = self._program.end()
            if self._again is None or self._stopped:
                self.status = status
                return False
            self._program, text, self._again = _Program(), "".join(self._again), None
            self._program.write(text)
            return True
        asked = self._callbacks.readers() if self._callbacks else []
        ready = readable([*self._program.open, *asked], timeout)
        for stream in [s for s in ready if s in self._program.open]:
            lines = self._program.read(stream)
            if stream is self._program.out:
                self._lines.extend(line for line in lines if line)
            else:
                self.notes.extend(line.decode(errors="replace") for line in lines)
        for reader in [a for a in asked if a in ready]:
            if self._callbacks:
                self._callbacks.answer(reader)
                if self._callbacks.error:
                    self.close()
                    raise self._callbacks.error
        return True

    def interrupt(self) -> None:
        """Ask the program to stop: it ends its workers and says the rest of its lines, and no callback is called."""
        if self._callbacks:
            self._callbacks.stopped = True
        self._stopped = True
        self._program.interrupt()

    def close(self) -> None:
        """End the command, if it still goes on, and the program with it."""
        if self.status is None:
            self.interrupt()
            self.status = self._program.end()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self, text: str) -> None:
        line, self._again = json.loads(text), None
        if line.get("kind") == "note":
            self.notes.append(line["text"])
        self._on_line(line, text)
        if line.get("kind") == "end":
            if not self._told:
                self.send("")
            self.status = line["status"]
            if self._stopped:
                self._program.end()
            else:
                _keep(self._program)


class _Program:
    """A process of the program, which runs one command after the other."""

    def __init__(self, *arguments: str) -> None:
        self.place = _place()
        self.early = "--early" in arguments  # started by the import, and without a command so far
        # Its own session: Ctrl-C in a terminal reaches Python alone, which then ends the command in order.
        own: dict[str, Any] = {"start_new_session": True}
        if os.name == "nt":
            own = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined,unused-ignore]
        own |= dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | {"env": self.place[2]}
        self.child: subprocess.Popen[bytes] = subprocess.Popen([self.place[0], "commands", *arguments], **own)
        assert self.child.stdin and self.child.stdout and self.child.stderr
        self._in = self.child.stdin
        self.out = _selectable(self.child.stdout)
        self.open = {self.out: b"", _selectable(self.child.stderr): b""}  # what has come of the next line

    def write(self, text: str) -> None:
        # A program that has ended says why in its lines; a broken pipe says less.
        with contextlib.suppress(BrokenPipeError):
            self._in.write(text.encode())
            self._in.flush()

    def read(self, ready: IO[bytes] | socket.socket) -> list[bytes]:
        """The lines that have come on standard output or standard error."""
        data = os.read(ready.fileno(), 1 << 16) if not isinstance(ready, socket.socket) else ready.recv(1 << 16)
        *lines, rest = (self.open[ready] + data).split(b"\n")
        self.open[ready] = rest
        if not data:
            del self.open[ready]
            ready.close()
            lines += [rest] if rest else []
        return lines

    def interrupt(self) -> None:
        with contextlib.suppress(OSError):
            self.child.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT))

    def end(self) -> int:
        """End the process, in order if it does so within seconds, else by force; return its exit status."""
        try:
            with contextlib.suppress(OSError):
                self._in.close()
            if os.name == "nt":  # its lines go to threads
                for stream in (self.child.stdout, self.child.stderr):
                    with contextlib.suppress(OSError):
                        if stream:
                            stream.close()
            else:  # without somebody who reads its lines, it would end before it has tidied up
                self.child.stdin = None  # communicate would flush it
                with contextlib.suppress(OSError, ValueError):
                    self.child.communicate(timeout=5)
            return self.child.wait(5)
        except subprocess.TimeoutExpired:
            self.child.kill()
            return self.child.wait()
        finally:
            self.open.clear()

    def leave(self) -> None:
        """Let the process end by itself, and wait for nothing."""
        self.child.returncode = 0  # else Python would warn of a process that still runs
        with contextlib.suppress(OSError):
            self._in.close()


_lock = threading.Lock()
_idle: list[_Program] = []  # one at most


def _place() -> tuple[str, str, dict[str, str]]:
    """What a program is started with: its path, the working directory, and the environment."""
    return _binary.find(), os.getcwd(), _binary.environment()


def _taken() -> _Program | None:
    """A program that waits for a command, if there is one that would be started now as it was."""
    with _lock:
        program = _idle.pop() if _idle else None
    if program is None or program.child.poll() is None and program.place == _place():
        return program
    program.end()
    return None


def _keep(program: _Program) -> None:
    """Let a program wait for the next command."""
    with _lock:
        if not _idle:
            _idle.append(program)
            return
    program.end()


@atexit.register
def _leave() -> None:
    for program in _idle:
        program.leave()


def _forget() -> None:
    """In the child of a fork: the parent's programs are not ours, nor is a lock that one of its threads held."""
    global _lock
    _lock = threading.Lock()
    _leave()
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def told(text: str) -> str:
    """A message of the program without the place in standard input, which has a specification that no user has seen."""
    text = re.sub(r"(?m)^standard input:(\d+:\d+:)? ", "", text)
    return text.replace("standard input:kernel.source:", "kernel_source:")


def readable(readers: Sequence[Any], timeout: float | None = None) -> list[Any]:
    """Return which of some pipes and sockets can be read, after at most timeout seconds."""
    with selectors.DefaultSelector() as selector:  # select takes no descriptors above 1,023
        for reader in readers:
            selector.register(reader, selectors.EVENT_READ)
        return [key.fileobj for key, _ in selector.select(timeout)]


def _selectable(pipe: IO[bytes]) -> IO[bytes] | socket.socket:
    """Return what a selector takes for a pipe: the pipe itself, and on Windows a socket that a thread feeds."""
    if os.name != "nt":
        return pipe
    ours, theirs = socket.socketpair()

    def feed() -> None:
        with theirs, contextlib.suppress(OSError):
            while data := os.read(pipe.fileno(), 1 << 16):
                theirs.sendall(data)

    threading.Thread(target=feed, daemon=True).start()
    return ours


def _begin() -> None:
    """Start the program with the import: it loads the drivers, and opens the first device if that is a CPU.

    The command `python -m ndtune` and children of multiprocessing, which import the main module again, start none. A
    program that cannot start says why to the first command.
    """
    command = os.path.basename(sys.argv[0]).removesuffix(".exe") if hasattr(sys, "argv") else ""
    processes = sys.modules.get("multiprocessing")
    if command in ("-m", "ndtune") or processes and processes.current_process().name != "MainProcess":
        return
    with contextlib.suppress(_binary.NdtuneError, OSError):
        _keep(_Program("--early"))


_begin()
