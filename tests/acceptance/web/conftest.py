"""A process that several pages show."""

from __future__ import annotations

import uuid

import pytest
from acceptance.command import Veritrail, process_file
from acceptance.homes import EXAMPLES


@pytest.fixture(scope="session")
def harbour_id(veritrail: Veritrail) -> str:
    """The sample, verified by words; tests read it and change nothing of it."""
    name = f"read-{uuid.uuid4().hex[:8]}"
    veritrail("ingest", str(EXAMPLES / "harbour-summary.json"), "--process-id", name)
    veritrail("verify", name, "--engine", "lexical")
    return name


@pytest.fixture(scope="session")
def twice_verified(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A process that was verified with q = 3, then with q = 1, which loses the verdict of k1.

    The summary of its source turned the figure of k1, and the answer has that of the source.
    """
    name = f"twice-{uuid.uuid4().hex[:8]}"
    texts = {
        "c": "The ferry carries 42 cars. The harbour opened in 1901.",
        "s": "The ferry carries 24 cars. The harbour opened in 1901.",
        "t": "The ferry carries 42 cars. The harbour opened in 1901.",
    }
    claims = ("The ferry carries 42 cars.", "The harbour opened in 1901.", "The quay is new.")
    path = process_file(
        tmp_path_factory.mktemp("twice") / f"{name}.json",
        nodes=[{"node_id": node, "text": text} for node, text in texts.items()],
        edges=[{"source": "c", "target": "s"}, {"source": "s", "target": "t"}],
        claims=[{"claim_id": f"k{n}", "text": text} for n, text in enumerate(claims, 1)],
    )
    veritrail("ingest", path)
    for q in ("3", "1"):
        veritrail("verify", name, "--engine", "lexical", "--q", q)
    return name
