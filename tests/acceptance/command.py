"""The command `veritrail`, in this process (`veritrail(...)`) or as a child (`veritrail.start`)."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from acceptance import in_process
from fakes import warm
from neo4j_server.launcher import Server

OUTSIDE_NAMES = ("NEO4J_", "OPENAI_", "AZURE_", "VERITRAIL_", "NO_COLOR", "FORCE_COLOR")
PATIENCE = 90.0

# A child process is out of reach of the guard on sockets: its proxy is an address where nothing
# listens, so that no test can reach a real endpoint.
NO_WAY_OUT = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9"),
    "NO_PROXY": "127.0.0.1,localhost,::1",
}


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def violations(self) -> list[dict[str, str]]:
        return self.json["error"]["violations"]

    @property
    def message(self) -> str:
        return self.json["error"]["message"]


@dataclass(frozen=True)
class Veritrail:
    """Calls the command with one VERITRAIL_HOME; every call is checked for what always holds."""

    home: Path
    settings: Mapping[str, str] = field(default_factory=dict)

    def __call__(
        self, *arguments: str | bytes, status: int = 0, typed: str | bytes = "", **settings: str
    ) -> Ended:
        """Run a command in this process; it must end with this status.

        Args:
            *arguments: Its arguments.
            status: Its exit status.
            typed: What its standard input holds.
            **settings: More of its environment.
        """
        content = typed if isinstance(typed, bytes) else typed.encode()
        ended = in_process.call(arguments, self.environment(settings), content)
        return checked(arguments, *ended, status)

    def child(self, *arguments: str | bytes, status: int = 0, **settings: str) -> Ended:
        """Run a command as a process of its own; it must end with this status."""
        return self.start(*arguments, **settings).end(status)

    def start(self, *arguments: str | bytes, **settings: str) -> Started:
        child = started(
            *arguments,
            env=self.environment(settings),
            is_new=not warm.is_possible({**self.settings, **settings}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        return Started(child, arguments)

    def environment(self, settings: Mapping[str, str]) -> dict[str, str]:
        outside = {k: v for k, v in os.environ.items() if not k.startswith(OUTSIDE_NAMES)}
        own = {"VERITRAIL_HOME": str(self.home), "VERITRAIL_DB_HEAP": "256m"}
        own["VERITRAIL_DB_IDLE"] = "3m"
        return {**outside, **NO_WAY_OUT, **own, **self.settings, **settings}

    def on_terminal(
        self,
        *arguments: str,
        status: int = 0,
        typed: str = "",
        is_new: bool = False,
        **settings: str,
    ) -> str:
        """Run a command on a terminal of 200 columns; give what the terminal got.

        Args:
            *arguments: Its arguments.
            status: Its exit status.
            typed: What is typed on the terminal.
            is_new: The installed script, in a new interpreter; else a fork of the warm one, whose
                commands make their consoles anew.
            **settings: More of its environment.
        """
        terminal, side = os.openpty()
        try:
            _set_size(side, 50, 200)
            environment = self.environment({"TERM": "xterm-256color", **settings})
            streams = {"stdin": side, "stdout": side, "stderr": side}
            is_new = is_new or not warm.is_possible({})
            child = started(*arguments, env=environment, is_new=is_new, **streams)
            os.close(side)
            os.write(terminal, typed.encode())
            shown = _read_terminal(terminal)
            assert child.wait(PATIENCE) == status, shown
        finally:
            os.close(terminal)
        assert "Traceback" not in shown
        return shown

    def on(self, server: Server, **settings: str) -> Veritrail:
        """The same command on a Neo4j server."""
        login = {
            "NEO4J_URI": server.uri,
            "NEO4J_USERNAME": server.username,
            "NEO4J_PASSWORD": server.password,
            "NEO4J_DATABASE": server.database,
        }
        return replace(self, settings={**self.settings, **login, **settings})

    def stored(self) -> list[str]:
        """The process_ids that a user sees."""
        return [process["process_id"] for process in self("list", "--json").json["processes"]]

    def engine_pid(self) -> int | None:
        pid: int | None = self("db", "status", "--json").json["pid"]
        return pid

    def kill_engine(self) -> None:
        """Kill this home's engine, as the out-of-memory killer would."""
        pid = self.engine_pid()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)


@dataclass
class Started:
    """A command that runs."""

    child: subprocess.Popen[bytes]
    arguments: Sequence[str | bytes]
    as_json_is_whole: bool = True

    def interrupt(self) -> None:
        self.child.send_signal(signal.SIGINT)

    def until_said(self, pattern: str) -> str:
        """Wait until a remark of it is so, and give its first group; `end` does not tell it again.

        Nothing that was said before it may be asked for afterwards.
        """
        assert self.child.stderr is not None
        descriptor = self.child.stderr.fileno()
        said = bytearray()
        deadline = time.monotonic() + PATIENCE
        while (found := re.search(pattern, said.decode("utf-8", "replace"))) is None:
            assert time.monotonic() < deadline, said.decode("utf-8", "replace")
            if select.select([descriptor], [], [], 1.0)[0]:
                piece = os.read(descriptor, 65_536)
                assert piece, f"it has ended\n{said.decode('utf-8', 'replace')}"
                said += piece
        return found[1]

    def end(self, status: int) -> Ended:
        """Wait for its end, and check what holds for every command."""
        try:
            told, remarks = self.child.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.child.kill()
            told, remarks = self.child.communicate()
            raise AssertionError(f"did not end in time\n{remarks.decode()}") from None
        ended = (self.child.returncode, told, remarks)
        return checked(self.arguments, *ended, status, is_whole=self.as_json_is_whole)


def checked(
    arguments: Sequence[str | bytes],
    status: int,
    out: bytes,
    err: bytes,
    expected: int,
    *,
    is_whole: bool = True,
) -> Ended:
    """Check what holds for every command that has ended."""
    ended = Ended(status, out.decode(), err.decode())
    everything = f"{arguments}\n{ended.out[-3000:]}\n{ended.err[-3000:]}"
    assert status == expected, everything
    assert "Traceback" not in ended.out + ended.err, everything
    assert "\x1b" not in ended.out + ended.err, everything
    if is_whole and "--json" in arguments:
        json.loads(ended.out)
    return ended


def started(
    *arguments: str | bytes, env: Mapping[str, str], is_new: bool = False, **streams: Any
) -> subprocess.Popen[bytes]:
    """Start a command as a process of its own; a new interpreter only where it must be."""
    if is_new:
        return subprocess.Popen(command(*arguments), env=env, **streams)
    return warm.Warm(arguments, env=env, **streams)


def command(*arguments: str | bytes) -> list[str | bytes]:
    script = Path(sys.executable).with_name("veritrail")
    begin = (
        [str(script)] if script.exists() else [sys.executable, "-m", "veritrail_graph.api.cli.main"]
    )
    return [*begin, *arguments]


def process_file(path: Path, **document: Any) -> str:
    """Write a process file; what is not given is a small process that keeps every rule."""
    whole = {
        "format": "veritrail.process/1",
        "process_id": path.stem,
        "nodes": [
            {"node_id": "a", "text": "The harbour opened in 1901. It has two piers."},
            {"node_id": "b", "text": "The lighthouse was built in 1923."},
            {"node_id": "t", "text": "The harbour opened in 1901 and has two piers."},
        ],
        "edges": [{"source": "a", "target": "t"}, {"source": "b", "target": "t"}],
        **document,
    }
    path.write_text(json.dumps(whole), encoding="utf-8")
    return str(path)


def _set_size(descriptor: int, rows: int, columns: int) -> None:
    import fcntl
    import struct
    import termios

    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _read_terminal(terminal: int) -> str:
    """Everything until the last program has closed the terminal."""
    got = bytearray()
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 1.0)[0]:
            continue
        try:
            piece = os.read(terminal, 65_536)
        except OSError:  # Linux says so that the other side is closed
            piece = b""
        if not piece:
            return got.decode("utf-8", "replace")
        got += piece
    raise AssertionError(f"the command did not end\n{got.decode('utf-8', 'replace')}")
