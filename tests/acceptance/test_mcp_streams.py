"""The server for assistants as a process: its streams, and the signals that end it."""

from __future__ import annotations

import json
import signal
import subprocess

import pytest
from acceptance.command import command, started

pytestmark = pytest.mark.engine


def test_nothing_but_the_protocol_is_on_stdout(veritrail, harbour):
    asked = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "0"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "show_trail", "arguments": {"verification_id": "v"}},
        },
    ]
    child = subprocess.Popen(
        command("mcp", "--engine", "lexical"),
        env=veritrail.environment({}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write("".join(json.dumps(one) + "\n" for one in asked))
    child.stdin.flush()
    answers = [json.loads(child.stdout.readline()) for _ in range(2)]
    out, err = child.communicate(timeout=60)  # the end of its input ends it
    assert out == ""
    assert child.returncode == 0, err
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[1]["result"]["isError"] is True
    assert harbour


@pytest.mark.parametrize(
    "how", [pytest.param(signal.SIGINT, marks=pytest.mark.soak), signal.SIGTERM]
)
def test_a_signal_ends_it_also_while_it_waits_for_the_next_line(veritrail, how):
    child = started(
        "mcp",
        "--engine",
        "lexical",
        env=veritrail.environment({}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode() + b"\n")
    child.stdin.flush()
    child.stdout.readline()
    child.send_signal(how)
    assert child.wait(30) == 130
    out, err = child.communicate()
    assert out == b""
    assert b"Traceback" not in err
