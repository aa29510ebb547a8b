"""Homes for the command line: one engine for the session, others for tests that harm it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from fakes.service_process import ServiceProcess, serving

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@contextmanager
def a_home() -> Iterator[Veritrail]:
    """The command with a home of its own; the engine that it starts is stopped in the end."""
    with a_bare_home() as veritrail:
        yield veritrail


@contextmanager
def a_bare_home() -> Iterator[Veritrail]:
    """The same, where nothing has ever run."""
    with _folder() as folder:
        veritrail = Veritrail(folder / "home")
        try:
            yield veritrail
        finally:
            if veritrail.home.exists():
                veritrail("db", "stop")


@contextmanager
def home_beside(other: Veritrail) -> Iterator[Veritrail]:
    """The command with keys, jobs and cache of its own, over the engine of another home.

    What was stored meanwhile is deleted in the end.
    """
    with _folder() as folder:
        veritrail = Veritrail(folder / "home")
        veritrail.home.mkdir(mode=0o700)
        (other.home / "engine").mkdir(mode=0o700, parents=True, exist_ok=True)
        (veritrail.home / "engine").symlink_to(other.home / "engine")
        before = set(veritrail.stored())
        yield veritrail
        for process_id in set(veritrail.stored()) - before:
            with suppress(AssertionError):  # a killed job may still hold it
                veritrail("delete", process_id, "--yes")


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(
        prefix="vt-", dir="/tmp" if os.name == "posix" else None, ignore_cleanup_errors=True
    ) as name:
        yield Path(name)


@pytest.fixture(scope="session")
def veritrail() -> Iterator[Veritrail]:
    """The command, with an engine that all tests share: each stores processes of its own."""
    with a_home() as veritrail:
        yield veritrail


@pytest.fixture(scope="module")
def home(veritrail: Veritrail) -> Iterator[Veritrail]:
    """The same for a whole module: its services share keys, jobs and cache."""
    with home_beside(veritrail) as own:
        yield own


@pytest.fixture(scope="session")
def shared_service(veritrail: Veritrail) -> Iterator[ServiceProcess]:
    """The service over that engine, for tests that start no jobs."""
    with serving(veritrail, args=["--no-worker"]) as service:
        service.until_ready()
        yield service


@pytest.fixture(scope="session")
def other_home() -> Iterator[Veritrail]:
    """The home of a second engine, which tests may kill."""
    with a_home() as veritrail:
        yield veritrail


@pytest.fixture
def frail(other_home: Veritrail) -> Iterator[Veritrail]:
    """The command with an engine that the test may kill; nothing is stored there."""
    with home_beside(other_home) as own:
        yield own


@pytest.fixture
def bare() -> Iterator[Veritrail]:
    """The command with a home where nothing has ever run."""
    with a_bare_home() as veritrail:
        yield veritrail


@pytest.fixture
def beside(veritrail: Veritrail) -> Iterator[Veritrail]:
    """The command with a home of its own, over the engine that all tests share."""
    with home_beside(veritrail) as own:
        yield own


@pytest.fixture(scope="session")
def harbour(veritrail: Veritrail) -> str:
    """A stored sample with labelled claims; tests verify them, and store no other claims."""
    veritrail("ingest", str(EXAMPLES / "harbour-summary.json"))
    return "harbour-summary"
