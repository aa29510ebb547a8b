"""A process that several pages show."""

from __future__ import annotations

import uuid

import pytest
from acceptance.command import Veritrail
from acceptance.conftest import EXAMPLES


@pytest.fixture(scope="session")
def harbour_id(veritrail: Veritrail) -> str:
    """The sample, verified by words; tests read it and change nothing of it."""
    name = f"read-{uuid.uuid4().hex[:8]}"
    veritrail("ingest", str(EXAMPLES / "harbour-summary.json"), "--process-id", name)
    veritrail("verify", name, "--engine", "lexical")
    return name
