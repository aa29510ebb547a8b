"""Databases of the service for tests, and which of them a test runs on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from veritrail_graph.api.auth.database import ServiceDatabase

IN_BOTH = pytest.mark.parametrize(
    "service_url", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)], indirect=True
)
"""For what rests on the database itself: locks, uniqueness, tables, several that write at once.

Other tests run on SQLite alone.
"""


@pytest.fixture
def service_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database of the service: SQLite, or what ``IN_BOTH`` asks for."""
    if getattr(request, "param", "sqlite") == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    return f"sqlite:///{tmp_path / 'service.sqlite3'}"


@pytest.fixture
def service(service_url: str) -> Iterator[ServiceDatabase]:
    """That database, open, with its tables."""
    database = ServiceDatabase(service_url)
    database.create()
    yield database
    database.close()
