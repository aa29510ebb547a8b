"""One line about a process that was to be stored."""

from __future__ import annotations

from typing import Any

import pytest

from veritrail_graph.api.app.answers import Ingested
from veritrail_graph.api.views.ingested import StoredLine


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "created, 1 node, 0 edges"),
        ({"nodes": 1_200, "edges": 1}, "created, 1,200 nodes, 1 edge"),
        (
            {"edges": 3, "inferred_edges": {"exact": 1, "order": 1}},
            "created, 1 node, 3 edges (2 inferred)",
        ),
        (
            {"status": "unchanged", "claims": 1, "unsourced": 2, "warnings": ["a", "b"]},
            "unchanged, 1 node, 0 edges, 1 claim, 2 unsourced, 2 warnings",
        ),
    ],
)
def test_what_is_stored_is_said_in_few_words(more: dict[str, Any], words: str) -> None:
    known = {"process_id": "p", "name": "p", "status": "created", "nodes": 1, "edges": 0}
    line = StoredLine.of("log.jsonl#2", Ingested(**{**known, "claims": 0, **more}))
    assert (line.where, line.process_id, line.words) == ("log.jsonl#2", "p", words)


def test_a_process_that_was_not_stored_has_a_reason_and_no_id() -> None:
    line = StoredLine.refused("log.jsonl#2", "a cycle")
    assert (line.process_id, line.status, line.words) == (None, None, "a cycle")
