"""Fixtures of several unit tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from veritrail_graph.api.auth.database import ServiceDatabase


@pytest.fixture(params=["sqlite", "postgres"])
def service_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database of the service, of both kinds."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    return f"sqlite:///{tmp_path / 'service.sqlite3'}"


@pytest.fixture
def service(service_url: str) -> Iterator[ServiceDatabase]:
    """That database, open, with its tables."""
    database = ServiceDatabase(service_url)
    database.create()
    yield database
    database.close()
