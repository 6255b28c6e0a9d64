"""Questions of the program to Python functions: judges, generators, instruments, strategies.

The specification names a command for each kind of question. That command, relay.py, connects to a port here, which only
those can use who can read a file of this user's, and the questions are answered in the thread that calls
Callbacks.answer, one after the other.
"""

import contextlib
import json
import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ndtune._process import readable
from ndtune.util import NpEncoder

Message = dict[str, Any]
Then = Callable[[Callable[[], bool]], None]
Handler = Callable[[Message], "Message | None | tuple[Message, Then]"]


class Callbacks:
    """Answers questions by handlers, one for each kind; a context manager, which closes all sockets at its end.

    A handler gets a question and returns its answer, or None if the question needs none. (answer, then) also has
    something to do after the answer was sent: then(ready) runs until ready() says that the next question has come.
    The first exception of a handler is kept in error; its question, and all that follow, are answered with its text.
    """

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self.error: Exception | None = None
        self.stopped = False  # whether questions are refused from now on
        self._handlers = dict(handlers)
        self._server = socket.create_server(("127.0.0.1", 0))
        self._token = secrets.token_hex(16)
        self._folder = tempfile.TemporaryDirectory(prefix="ndtune-", ignore_cleanup_errors=True)
        self._address = os.path.join(self._folder.name, "address")
        with open(self._address, "w") as file:
            file.write(f"{self._server.getsockname()[1]} {self._token}")
        self._relays: dict[socket.socket, _Relay] = {}

    def command(self, kind: str) -> list[str]:
        """Return the command that asks the handler of a kind, for the specification."""
        return [sys.executable, "-S", "-E", str(Path(__file__).with_name("relay.py")), self._address, kind]

    def readers(self) -> list[socket.socket]:
        """Return what to wait for at the moment; each may be given to answer as soon as it can be read."""
        return [*self._relays, self._server]

    def answer(self, ready: Any) -> None:
        """Take what has come on one of the readers, and answer all complete questions."""
        if ready is self._server:
            connection = self._server.accept()[0]
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._relays[connection] = _Relay()
            # Any process of this machine can connect: 50 connections may wait that have not sent the token yet.
            for stranger in [c for c, relay in self._relays.items() if relay.kind is None][:-50]:
                self._relays.pop(stranger)
                stranger.close()
            return
        relay = self._relays[ready]
        try:
            data = ready.recv(1 << 16)
            *lines, relay.rest = (relay.rest + data).split(b"\n")
            if relay.kind is None and (lines or len(relay.rest) > 1000):
                token, _, kind = (lines or [relay.rest]).pop(0).partition(b" ")
                relay.kind = kind.decode(errors="replace")
                if not secrets.compare_digest(token, self._token.encode()):
                    data = b""
            while lines and data:
                self._reply(ready, relay, lines.pop(0), lines)
        except ConnectionError:
            data = b""
        if not data:
            del self._relays[ready]
            ready.close()

    def send(self, kind: str, message: Message) -> None:
        """Send an answer that a handler of this kind did not give at once."""
        for connection, relay in self._relays.items():
            if relay.kind == kind:
                with contextlib.suppress(ConnectionError):  # the program has ended, and says why
                    connection.sendall(_line(message))

    def _reply(self, connection: socket.socket, relay: "_Relay", line: bytes, more: list[bytes]) -> None:
        reply: Any = None
        then: Then | None = None
        try:
            if self.stopped:
                reply = {"error": "the search has been interrupted"}
            elif self.error is None:
                reply = self._handlers[relay.kind or ""](json.loads(line))
                if isinstance(reply, tuple):
                    reply, then = reply
        except Exception as error:
            self.error = error
        if self.error is not None:
            reply = {"error": f"{type(self.error).__name__}: {self.error}"}
        if reply is not None:
            connection.sendall(_line(reply))
        if then is not None:
            try:
                then(lambda: bool(more or readable([connection], 0)))
            except Exception as error:
                self.error = error

    def __enter__(self) -> "Callbacks":
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self.readers():
            connection.close()
        self._relays.clear()
        self._folder.cleanup()


class _Relay:
    """What is known of a connection: the kind of its questions, and the beginning of the next one."""

    kind: str | None = None
    rest = b""


def _line(message: Message) -> bytes:
    return json.dumps(message, cls=NpEncoder, ensure_ascii=False).encode() + b"\n"
