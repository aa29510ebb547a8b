"""How the command answers: help, wrong use, settings, and where output goes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from acceptance.command import PATIENCE, Veritrail, command, started

pytestmark = pytest.mark.engine

COMMANDS = ["ingest", "verify", "claims", "estimate", "show", "diff", "list", "delete", "query"]
COMMANDS += ["report", "cache", "db"]
NOT_UTF8 = b"\xff\xfe"


def test_the_command_alone_shows_its_help_and_is_fine(bare: Veritrail) -> None:
    assert bare().out == bare("--help").out
    assert "Usage: veritrail keys" in bare("keys", status=2).err


def test_settings_come_from_a_file_and_the_environment_wins(bare: Veritrail) -> None:
    Path(".env").write_text("VERITRAIL_ENGINE=from-file\n", encoding="utf-8")
    assert "'from-file'" in bare("verify", "p", "--claim", "c", status=2).err
    assert (
        "'from-outside'"
        in bare("verify", "p", "--claim", "c", status=2, VERITRAIL_ENGINE="from-outside").err
    )
    by_option = bare(
        "verify", "p", "--claim", "c", "--engine", "from-option", status=2, VERITRAIL_ENGINE="no"
    )
    assert "'from-option'" in by_option.err
    Path(".env").write_bytes(b"VERITRAIL_ENGINE=\xff\n")
    assert ".env" in bare("verify", "p", status=2).err
    Path(".env").unlink()


@pytest.mark.parametrize(
    ("uri", "call"),
    [("bolt://127.0.0.1:1", ["list"]), ("neo4j://127.0.0.1:1", ["verify", "p"])],
)
def test_a_server_that_is_not_there_is_told_quickly(
    bare: Veritrail, uri: str, call: list[str]
) -> None:
    began = time.monotonic()
    told = bare(*call, "--json", status=3, NEO4J_URI=uri, VERITRAIL_CONNECT_SECONDS="0")
    assert time.monotonic() - began < 10
    assert uri in told.message
    assert told.violations == []
    assert uri in told.err
    assert not bare.home.exists()


def test_a_home_that_cannot_be_made_is_told(bare: Veritrail) -> None:
    in_the_way = Path("a-file")
    in_the_way.write_text("", encoding="utf-8")
    for home in (str(in_the_way.resolve()), "/proc/none/home"):
        told = bare("list", "--json", status=3, VERITRAIL_HOME=home)
        assert "VERITRAIL_HOME" in told.message
        assert home in told.message


def test_bytes_that_are_no_text_are_refused(veritrail: Veritrail, harbour: str) -> None:
    for arguments in (
        ["list", NOT_UTF8],
        ["verify", harbour, "--claim-id", NOT_UTF8],
        ["verify", harbour, "--claim", NOT_UTF8],
        ["query", "claims", "--param", b"process_id=" + NOT_UTF8],
        ["ingest", NOT_UTF8],
        ["ingest", b"a" * 5_000],
    ):
        assert veritrail(*arguments, "--json", status=2).message


def test_a_reader_that_has_had_enough_is_no_fault(veritrail: Veritrail, harbour: str) -> None:
    for arguments in ([harbour, "--json"], []):
        child = veritrail.start("list", *arguments).child
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        remarks = child.stderr.read()
        child.stderr.close()
        assert child.wait(PATIENCE) == 0
        assert remarks == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(("arguments", "is_new"), [(["list", "--json"], False), (["--help"], True)])
def test_output_that_nobody_can_take_is_told(
    veritrail: Veritrail, arguments: list[str], is_new: bool
) -> None:
    with Path("/dev/full").open("wb") as full:
        child = started(
            *arguments,
            env=veritrail.environment({}),
            is_new=is_new,
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
        )
        _, remarks = child.communicate(timeout=PATIENCE)
    assert child.returncode == 2
    assert b"cannot be written" in remarks
    assert b"Traceback" not in remarks
    assert b"ignored" not in remarks


def test_closed_streams_end_no_command(veritrail: Veritrail, harbour: str) -> None:
    close = "import os, sys; os.close(int(sys.argv[1])); os.execv(sys.argv[2], sys.argv[2:])"
    for descriptor in ("1", "2"):
        child = subprocess.run(
            [sys.executable, "-I", "-S", "-c", close, descriptor, *command("list", harbour)],
            env=veritrail.environment({}),
            capture_output=True,
            check=False,
        )
        assert child.returncode == 0, child.stderr
        assert b"Traceback" not in child.stderr


@pytest.mark.soak
def test_json_is_whole_in_any_character_set(veritrail: Veritrail, harbour: str) -> None:
    plain = veritrail("list", harbour, "--json")
    ascii_only = veritrail.child("list", harbour, "--json", PYTHONIOENCODING="ascii")
    assert "Gdańsk" in plain.out
    assert ascii_only.out.isascii()
    assert json.loads(ascii_only.out)["claims"] == json.loads(plain.out)["claims"]
