"""Homes for the command line: one engine for the session, one more for tests that harm it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from acceptance.command import Veritrail

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@contextmanager
def a_home() -> Iterator[Veritrail]:
    with tempfile.TemporaryDirectory(
        prefix="vt-", dir="/tmp" if os.name == "posix" else None, ignore_cleanup_errors=True
    ) as folder:
        veritrail = Veritrail(Path(folder) / "home")
        try:
            yield veritrail
        finally:
            if veritrail.home.exists():
                veritrail("db", "stop")


@pytest.fixture(scope="session")
def veritrail() -> Iterator[Veritrail]:
    """The command, with an engine that all tests share: each stores processes of its own."""
    with a_home() as veritrail:
        yield veritrail


@pytest.fixture
def bare() -> Iterator[Veritrail]:
    """The command with a home where nothing has ever run."""
    with a_home() as veritrail:
        yield veritrail


@pytest.fixture(scope="session")
def harbour(veritrail: Veritrail) -> str:
    """A stored sample with labelled claims; tests verify them, and store no other claims."""
    veritrail("ingest", str(EXAMPLES / "harbour-summary.json"))
    return "harbour-summary"
