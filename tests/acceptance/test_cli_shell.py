"""`veritrail db shell`: from a pipe, at a terminal, and through cypher-shell."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from acceptance.command import Ended, Veritrail, checked, command, started

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(os.name != "posix", reason="needs POSIX"),
]


@pytest.fixture(params=["embedded", pytest.param("neo4j", marks=pytest.mark.soak)])
def shell(request: pytest.FixtureRequest, veritrail: Veritrail) -> Veritrail:
    """The command on each engine; there is no cypher-shell on its path."""
    path = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    place = Veritrail(veritrail.home, path)
    if request.param == "embedded":
        return place
    return place.on(request.getfixturevalue("neo4j_server"))


def piped(shell: Veritrail, text: str | bytes, *options: str, status: int = 0) -> Ended:
    return shell("db", "shell", *options, typed=text, status=status)


def lines(ended: Ended) -> list[str]:
    return [line.rstrip() for line in ended.out.splitlines()]


def test_statements_from_a_pipe_are_cut_where_they_end(shell: Veritrail) -> None:
    ended = piped(
        shell,
        "// first; a comment\nRETURN 1 AS a; RETURN 'x;y' AS b /* ; */,\n  2 AS c;\n"
        "RETURN 3 AS `d;e`\n",
    )
    assert lines(ended) == ["a", "1", "b    c", "x;y  2", "d;e", "3"]


def test_an_expression_of_a_parameter_changes_nothing(shell: Veritrail) -> None:
    for end in ("RETURN 1", "SET n.x = 1 RETURN n.x"):
        text = f":param x => 1 AS value UNION CREATE (n:Sneaked) {end}\n"
        assert ":param" in piped(shell, text, status=1).err
    ended = piped(shell, "MATCH (n:Sneaked) RETURN count(n) AS n;\n")
    assert lines(ended) == ["n", "0"]


def test_parameters_are_values_and_are_never_spliced(shell: Veritrail) -> None:
    hostile = "x'}) DETACH DELETE n // \\\" $a ; 😀"
    escaped = hostile.replace("\\", "\\\\").replace("'", "\\'")
    ended = piped(
        shell,
        f":param a => '{escaped}';\n:param {{b: [1, 2.5, null], c: {{d: true}}}}\n"
        "RETURN $a AS a, $b AS b, $c.d AS d;\n",
    )
    assert lines(ended)[1] == f"{hostile}  [1, 2.5, null]  true"


def test_a_write_says_what_it_changed_and_patterns_read_as_cypher(shell: Veritrail) -> None:
    made = "CREATE (a:ShellTry {name: 'it\\'s'})-[:KNOWS {since: 1}]->(b:ShellTry) RETURN a.name"
    ended = piped(
        shell,
        f"{made};\nMATCH p = (:ShellTry)-[:KNOWS]->() RETURN p;\n"
        "MATCH (b:ShellTry)<-[r:KNOWS]-(a) RETURN a, r, b;\n"
        "MATCH (n:ShellTry) DETACH DELETE n;\n",
    )
    told = lines(ended)
    assert told[3] == "(:ShellTry {name: 'it\\'s'})-[:KNOWS {since: 1}]->(:ShellTry)"
    assert told[5].split("  ") == [
        "(:ShellTry {name: 'it\\'s'})",
        "[:KNOWS {since: 1}]",
        "(:ShellTry)",
    ]
    assert "nodes created: 2" in ended.err
    assert "relationships created: 1" in ended.err
    assert "nodes deleted: 2" in ended.err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("RETURN nope;\n", "nope"),
        (":nope\n", "no command ':nope'"),
        (":param x => 'open\n", ":param x => 'open"),
        (":param x = 1\n", ":param name => value"),
        (":param x => nope\n", "nope"),
        (":param {a: 1}.a\n", "it must be a map, and is none"),
        (":param x => 1 AS value LIMIT 0 UNION UNWIND [] AS y RETURN y\n", "give one value"),
    ],
)
def test_a_pipe_stops_at_the_first_fault(shell: Veritrail, text: str, says: str) -> None:
    ended = piped(shell, f"RETURN 1 AS a;\n{text}RETURN 2 AS b;\n", status=1)
    assert lines(ended) == ["a", "1"]
    assert says in ended.err


def test_input_that_is_no_text_is_refused(veritrail: Veritrail) -> None:
    ended = piped(veritrail, b"RETURN 1 AS a;\nRETURN '\xff';\n", "--own", status=2)
    assert "Line 2" in ended.err


class Terminal:
    """A terminal at which somebody types when asked to."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.shown = ""

    def interrupt(self, child: subprocess.Popen[bytes]) -> str:
        """Press Ctrl-C at a prompt, wait for the next prompt, and give what was shown.

        The prompt is written a moment before Python waits for a key, and an
        interrupt in between is only noticed with the next key.
        """
        still = 0
        while still < 5:
            time.sleep(0.02)
            state = Path(f"/proc/{child.pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
            still = still + 1 if state == "S" else 0
        return self.type("\x03")

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + 60
        while text not in self.shown:
            assert time.monotonic() < deadline, self.shown
            if select.select([self.descriptor], [], [], 0.5)[0]:
                self.shown += os.read(self.descriptor, 65_536).decode("utf-8", "replace")

    def type(self, text: str, then: str = "veritrail> ") -> str:
        """Type, wait for the answer, and give it."""
        self.shown = ""
        os.write(self.descriptor, text.encode())
        self.wait_for(then)
        return self.shown


@contextmanager
def a_terminal(shell: Veritrail) -> Iterator[tuple[Terminal, subprocess.Popen[bytes]]]:
    ours, theirs = os.openpty()
    environment = shell.environment({"TERM": "dumb", "COLUMNS": "100", "NO_COLOR": "1"})
    child = subprocess.Popen(
        command("db", "shell"),
        env=environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        preexec_fn=_own_terminal,
    )  # fmt: skip
    os.close(theirs)
    try:
        terminal = Terminal(ours)
        terminal.wait_for("veritrail> ")
        yield terminal, child
    finally:
        child.kill()
        child.wait()
        os.close(ours)


def _own_terminal() -> None:
    """Make standard input the terminal that sends Ctrl-C."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_a_fault_at_a_terminal_does_not_end_the_session_and_its_history_is_kept(
    shell: Veritrail,
) -> None:
    with a_terminal(shell) as (terminal, child):
        assert "nope" in terminal.type("RETURN nope;\n")
        assert "no command" in terminal.type(":nope\n")
        assert "42" in terminal.type("RETURN 6 * 7 AS a;\n")
        os.write(terminal.descriptor, b":exit\n")
        assert child.wait(30) == 0
    file = shell.home / "shell_history"
    assert "RETURN 6 * 7" in file.read_text("utf-8")
    assert file.stat().st_mode & 0o077 == 0, "it is kept for nobody else"


def test_ctrl_c_drops_what_is_typed_and_stops_waiting_for_a_statement(shell: Veritrail) -> None:
    slow = "UNWIND range(1, 7000) AS x UNWIND range(1, 7000) AS y RETURN sum(x * y % 7);"
    with a_terminal(shell) as (terminal, child):
        terminal.type("RETURN 'begun\n", then="...> ")
        terminal.interrupt(child)
        assert "42" in terminal.type("RETURN 6 * 7 AS a;\n")
        terminal.type(f"{slow}\n", then="% 7);")
        time.sleep(0.5)
        shown = terminal.type("\x03")
        assert "No longer waited for" in shown
        assert "42" in terminal.type("RETURN 6 * 7 AS a;\n")
        os.write(terminal.descriptor, b"\x04")
        assert child.wait(30) == 0


def test_cypher_shell_is_taken_where_it_is_installed(veritrail: Veritrail, tmp_path: Path) -> None:
    program = tmp_path / "cypher-shell"
    program.write_text(
        '#!/bin/sh\necho "arguments: $@"\nenv | grep ^NEO4J_\ncat\nexit 7\n', encoding="ascii"
    )
    program.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    child = started(
        "db", "shell",
        env=veritrail.environment({"PATH": path}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    out, err = child.communicate(b"RETURN 1;\n")
    ended = checked((), child.returncode, out, err, 1)
    password = (veritrail.home / "engine" / "password").read_text("utf-8").strip()
    arguments = next(line for line in lines(ended) if line.startswith("arguments"))
    assert password not in arguments
    assert arguments.startswith("arguments: -a bolt://127.0.0.1:")
    assert arguments.endswith("-d veritrail")
    assert "NEO4J_USERNAME=root" in lines(ended)
    assert f"NEO4J_PASSWORD={password}" in lines(ended)
    assert lines(ended)[-1] == "RETURN 1;"
    own = veritrail("db", "shell", "--own", typed="RETURN 1 AS a;\n", PATH=path)
    assert lines(own) == ["a", "1"]
