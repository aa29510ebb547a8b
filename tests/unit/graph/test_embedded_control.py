"""The control channel without an engine: who is answered, and what a lease is."""

import json
import socket
import threading

import pytest

from veritrail_graph.graph.embedded.supervisor import ControlServer, Lifetime

TOKEN = "right"


@pytest.fixture
def server():
    server = ControlServer(TOKEN, Lifetime(60), lambda: {"bolt_port": 1}, threading.Event())
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.settle()
    server.shutdown()
    server.server_close()
    thread.join()


def send(server, **request):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=5)
    connection.sendall(json.dumps({"token": TOKEN, **request}).encode() + b"\n")
    return connection


def ask(server, **request):
    with send(server, **request) as connection:
        return connection.recv(4096)


def test_a_stranger_gets_no_answer(server):
    for token in ("wrong", "", None, 5):
        assert ask(server, op="status", token=token) == b""
    assert ask(server, op="stop", token="wrong") == b""
    assert not server.stop.is_set()


def test_a_lease_that_comes_too_late_is_closed_without_an_answer(server):
    server.settle()
    server.lifetime.end()
    assert ask(server, op="lease", idle_seconds=5) == b""
