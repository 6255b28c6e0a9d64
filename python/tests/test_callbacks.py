"""Questions of a program to Python functions, by the relay that the program starts."""

import contextlib
import json
import socket
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ndtune._callbacks import Callbacks
from ndtune._process import readable


class Program:
    """A relay, as the program starts it, and a wait for its answer that serves the callbacks meanwhile."""

    def __init__(self, callbacks: Callbacks, kind: str) -> None:
        self.callbacks = callbacks
        self.child = subprocess.Popen(callbacks.command(kind), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self.child.stdin and self.child.stdout
        self.child.stdin.write(json.dumps(question).encode() + b"\n")
        self.child.stdin.flush()
        while True:
            for ready in readable([self.child.stdout, *self.callbacks.readers()]):
                if ready is self.child.stdout:
                    return json.loads(self.child.stdout.readline())
                self.callbacks.answer(ready)

    def end(self) -> None:
        assert self.child.stdin
        self.child.stdin.close()
        while self.child.poll() is None:
            for ready in readable(self.callbacks.readers(), 0.01):
                self.callbacks.answer(ready)


@pytest.fixture
def program() -> Iterator[Callable[..., Program]]:
    programs: list[Program] = []

    def start(handlers: dict[str, Any], kind: str) -> Program:
        programs.append(Program(Callbacks(handlers).__enter__(), kind))
        return programs[-1]

    yield start
    for one in programs:
        one.callbacks.__exit__()
        one.child.communicate()


def test_answers_of_the_handler_of_its_kind(program: Callable[..., Program]) -> None:
    one = program({"double": lambda m: {"is": 2 * m["x"]}, "long": lambda m: {"is": "é" * m["x"]}}, "double")
    assert [one.ask({"x": x})["is"] for x in (1, 2.5)] == [2, 5]
    two = Program(one.callbacks, "long")
    assert two.ask({"x": 30_000})["is"] == "é" * 30_000
    two.end()
    assert two.child.returncode == 0 and len(one.callbacks.readers()) == 2


def test_the_first_exception_is_kept(program: Callable[..., Program]) -> None:
    def handler(message: dict[str, Any]) -> dict[str, Any]:
        raise KeyError(message["x"])

    one = program({"verify": handler}, "verify")
    assert one.ask({"x": "first"}) == {"error": "KeyError: 'first'"}
    assert one.ask({"x": "second"}) == {"error": "KeyError: 'first'"}
    assert isinstance(one.callbacks.error, KeyError)


def test_then_runs_until_the_next_question(program: Callable[..., Program]) -> None:
    turns: list[int] = []

    def then(ready: Callable[[], bool]) -> None:
        while not ready():
            turns.append(1)

    def handler(message: dict[str, Any]) -> Any:
        return ({}, then) if "begin" in message else {"turns": len(turns)}

    one = program({"instrument": handler}, "instrument")
    assert one.child.stdin
    one.child.stdin.write(b'{"begin": {}}\n')
    one.child.stdin.flush()
    while len(one.callbacks.readers()) < 2:  # the relay connects
        one.callbacks.answer(readable(one.callbacks.readers())[0])
    one.child.stdin.write(b'{"end": {}}\n')
    one.child.stdin.flush()
    assert one.ask({"end": {}}) == {}


@pytest.mark.parametrize(
    "said", [b"guess verify\n{}\n", b"guess\n", "guéss verify\n".encode(), b"\xff\xfe\n", b"x" * 5000]
)
def test_a_stranger_is_dropped(said: bytes) -> None:
    asked: list[Any] = []
    with Callbacks({"verify": asked.append}) as callbacks:
        server = callbacks.readers()[-1]
        stranger = socket.create_connection(server.getsockname())
        stranger.sendall(said)
        while len(callbacks.readers()) < 2:
            callbacks.answer(server)
        while len(callbacks.readers()) > 1:
            callbacks.answer(callbacks.readers()[0])
        stranger.settimeout(10)
        with contextlib.suppress(ConnectionResetError):
            assert stranger.recv(1) == b""
        assert not asked and callbacks.error is None


def test_strangers_who_wait_take_no_more_than_some_connections(program: Callable[..., Program]) -> None:
    one = program({"double": lambda m: {"is": 2 * m["x"]}}, "double")
    assert one.ask({"x": 1}) == {"is": 2}
    server = one.callbacks.readers()[-1]
    strangers = []
    for _ in range(200):
        strangers.append(socket.create_connection(server.getsockname()))
        one.callbacks.answer(server)
    assert len(one.callbacks.readers()) < 100
    assert one.ask({"x": 2}) == {"is": 4}
    for stranger in strangers:
        stranger.close()
