"""Which databases of the service a test runs on."""

from __future__ import annotations

import pytest

IN_BOTH = pytest.mark.parametrize(
    "service_url", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)], indirect=True
)
"""For what rests on the database itself: locks, uniqueness, tables, several that write at once.

Other tests run on SQLite alone.
"""
