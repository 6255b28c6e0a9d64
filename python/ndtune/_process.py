"""One run of the program ndtune: its standard input, its JSON lines, and the questions that it asks Python.

Everything that the program says or asks is handled in the thread that calls Process.pump, so that an exception of a
user's function surfaces where tune_kernel was called, with its own traceback.
"""

import contextlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import IO, TYPE_CHECKING, Any

from ndtune import _binary

if TYPE_CHECKING:
    from ndtune._callbacks import Callbacks


OnLine = Callable[[dict[str, Any], str], None]


class Process:
    """A run of the program, from its start to its end; a context manager, which ends a run that still goes on.

    on_line is called with each JSON line of standard output, decoded and as text. callbacks answer the questions of
    the commands that the specification names. The texts of notes and of standard error are in notes, the exit status
    in status, once pump has returned False.
    """

    def __init__(
        self, arguments: Sequence[str], on_line: OnLine, callbacks: "Callbacks | None" = None
    ) -> None:
        self.notes: list[str] = []
        self.status: int | None = None
        self._on_line = on_line
        self._callbacks = callbacks
        # Its own session: Ctrl-C in a terminal reaches Python alone, which then ends the run in order.
        own: dict[str, Any] = {"start_new_session": True}
        if os.name == "nt":
            own = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined,unused-ignore]
        own |= dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self._child: subprocess.Popen[bytes] = subprocess.Popen([_binary.find(), *arguments], **own)
        assert self._child.stdin and self._child.stdout and self._child.stderr
        self._out, self._error = _selectable(self._child.stdout), _selectable(self._child.stderr)
        self._open = {self._out: b"", self._error: b""}
        self._lines: deque[bytes] = deque()

    def send(self, text: str, *, end: bool = True) -> None:
        """Write text to the program's standard input, and close that at the end."""
        assert self._child.stdin
        # A program that has ended says why in its lines; a broken pipe says less.
        with contextlib.suppress(BrokenPipeError):
            self._child.stdin.write(text.encode())
            self._child.stdin.flush()
            if end:
                self._child.stdin.close()

    def pump(self, timeout: float | None = None) -> bool:
        """Handle the next line or question, waiting at most timeout seconds; return False at the end of the run.

        Raises the first exception of a callback, after the program has ended.
        """
        if self._lines:
            self._take(self._lines.popleft().decode())
            return True
        if not self._open:
            self.status = self._child.wait()
            return False
        asked = self._callbacks.readers() if self._callbacks else []
        readable = select.select([*self._open, *asked], [], [], timeout)[0]
        for stream in [s for s in readable if s in self._open]:
            self._read(stream)
        for reader in [a for a in asked if a in readable]:
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
        stop = getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT)
        with contextlib.suppress(OSError):
            self._child.send_signal(stop)

    def close(self) -> None:
        """End the run, if it still goes on: in order if it does so within seconds, else by force."""
        if self._child.poll() is None:
            self.interrupt()
            try:
                if os.name == "nt":  # its lines go to threads
                    for stream in (self._child.stdin, self._child.stdout, self._child.stderr):
                        with contextlib.suppress(OSError):
                            if stream:
                                stream.close()
                    self._child.wait(5)
                else:  # without somebody who reads its lines, it would end before it has tidied up
                    if self._child.stdin and self._child.stdin.closed:
                        self._child.stdin = None  # communicate would flush it
                    with contextlib.suppress(OSError):
                        self._child.communicate(timeout=5)
                self.status = self._child.wait(5)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self.status = self._child.wait()
        self._open.clear()

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self, text: str) -> None:
        line = json.loads(text)
        if line.get("kind") == "note":
            self.notes.append(line["text"])
        self._on_line(line, text)

    def _read(self, ready: "IO[bytes] | socket.socket") -> None:
        """Take what has come on standard output or standard error."""
        data = os.read(ready.fileno(), 1 << 16) if not isinstance(ready, socket.socket) else ready.recv(1 << 16)
        *lines, rest = (self._open[ready] + data).split(b"\n")
        if not data:
            lines, rest = [*lines, rest] if rest else lines, b""
        self._open[ready] = rest
        if ready is self._out:
            self._lines.extend(line for line in lines if line)
        else:
            self.notes.extend(line.decode(errors="replace") for line in lines)
        if not data:
            del self._open[ready]
            ready.close()


def told(text: str) -> str:
    """A message of the program without the place in standard input, which has a specification that no user has seen."""
    text = re.sub(r"(?m)^standard input:(\d+:\d+:)? ", "", text)
    return text.replace("standard input:kernel.source:", "kernel_source:")


def _selectable(pipe: IO[bytes]) -> "IO[bytes] | socket.socket":
    """Return what select takes for a pipe: the pipe itself, and on Windows a socket that a thread feeds."""
    if os.name != "nt":
        return pipe
    ours, theirs = socket.socketpair()

    def feed() -> None:
        with theirs, contextlib.suppress(OSError):
            while data := os.read(pipe.fileno(), 1 << 16):
                theirs.sendall(data)

    threading.Thread(target=feed, daemon=True).start()
    return ours
