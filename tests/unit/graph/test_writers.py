"""Who wrote a process, and whether they are still at work."""

from __future__ import annotations

import socket
from datetime import UTC, datetime, timedelta

import pytest

from veritrail_graph.graph.clock import now
from veritrail_graph.graph.writers import STALE_SECONDS, is_alive, seconds_since, this_writer

HOST = socket.gethostname()
LONG_AGO = (datetime.now(UTC) - timedelta(seconds=STALE_SECONDS + 5)).isoformat()


def test_this_program_is_alive_whatever_its_last_sign_of_life() -> None:
    assert is_alive(this_writer(), now())
    assert is_alive(this_writer(), LONG_AGO)


def test_a_process_of_another_start_is_another_writer() -> None:
    host, pid, started = this_writer().rsplit("/", 2)
    assert not is_alive(f"{host}/{pid}/{int(started) - 100}", now())


@pytest.mark.parametrize("host", ["elsewhere", f"{HOST}#0123456789ab", "elsewhere#0123456789ab"])
def test_a_writer_of_another_machine_lives_by_its_signs_of_life(host: str) -> None:
    assert is_alive(f"{host}/999999999/0", now())
    assert not is_alive(f"{host}/999999999/0", LONG_AGO)


@pytest.mark.parametrize(
    "owner",
    [None, "", 7, "garbage", "a/b", f"{HOST}/x/0", f"{HOST}/1/x", f"{HOST}/1/nan", f"{HOST}/²/0",
     f"{HOST}/{10**30}/0", ["a"]],
)  # fmt: skip
def test_an_owner_that_cannot_be_read_is_gone(owner: object) -> None:
    assert not is_alive(owner, now())


@pytest.mark.parametrize("beat", [None, "", 7, "yesterday", "2026-01-01T00:00:00", "٢"])
def test_a_sign_of_life_that_cannot_be_read_is_none(beat: object) -> None:
    assert not is_alive(this_writer(), beat)
    assert not is_alive("elsewhere/1/0", beat)


def test_how_long_ago_a_sign_of_life_was() -> None:
    assert seconds_since("no time") is None
    assert seconds_since(now()) == pytest.approx(0, abs=30)
    assert (seconds_since(LONG_AGO) or 0) >= STALE_SECONDS
