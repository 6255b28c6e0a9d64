"""The program that carries a question of ndtune to a Python function: python relay.py ADDRESS KIND

It connects to the process that called tune_kernel and copies bytes both ways, until one side ends. ADDRESS is a file
with a port of the own machine and a token. The standard library is all that it needs, so it runs without site
packages, which take longer to load than an answer takes.
"""

import _socket
import _thread
import os
import sys

with open(sys.argv[1]) as file:
    port, token = file.read().split()
connection = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
connection.connect(("127.0.0.1", int(port)))
connection.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
connection.sendall(f"{token} {sys.argv[2]}\n".encode())


def ask() -> None:
    """Copy questions; without anybody who answers, end."""
    try:
        while data := os.read(0, 1 << 16):
            connection.sendall(data)
        connection.shutdown(_socket.SHUT_WR)
    except OSError:
        os._exit(1)


_thread.start_new_thread(ask, ())
while answer := connection.recv(1 << 16):
    while answer:
        answer = answer[os.write(1, answer) :]
os._exit(0)
