"""One line about a process that was to be stored."""

from __future__ import annotations

from typing import Any

import pytest

from veritrail_graph.api.app.answers import Ingested
from veritrail_graph.api.show.ingested import StoredLine, shared_warnings
from veritrail_graph.graph.errors import Violation


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "created, 1 node, 0 edges"),
        ({"nodes": 1_200, "edges": 1}, "created, 1,200 nodes, 1 edge"),
        (
            {"edges": 3, "inferred_edges": {"exact": 1, "order": 1}},
            "created, 1 node, 3 edges (1 explicit; inferred: 1 exact, 1 order)",
        ),
        (
            {"edges": 2, "inferred_edges": {"exact": 2}, "explained": 0.934},
            "created, 1 node, 2 edges (inferred: 2 exact), 93% explained",
        ),
        (
            {"status": "replaced", "kept_as": "p.53956c9a37b5"},
            "replaced, 1 node, 0 edges, the earlier content is kept as p.53956c9a37b5",
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


def test_a_process_that_breaks_rules_is_refused_with_the_first_and_how_many_more() -> None:
    broken = [Violation("cycle", "edges[1]", "a -> b -> a"), Violation("x", "nodes[0]", "no id")]
    words = StoredLine.refused("p.json", "p.json breaks 2 rules.", broken).words
    assert words == "p.json breaks 2 rules: edges[1]: a -> b -> a; and 1 more"
    known = StoredLine.refused("p.json", "p.json: a -> b -> a", broken[:1]).words
    assert known == "p.json: a -> b -> a"


def _warned(name: str, *warnings: str) -> Ingested:
    return Ingested(
        process_id=name, name=name, status="created", nodes=1, edges=0, claims=0,
        warnings=list(warnings),
    )  # fmt: skip


def test_warnings_that_say_the_same_stand_together_with_their_first_processes() -> None:
    same = "The agent's log holds no inputs."
    found = shared_warnings(
        [
            _warned("a", same, "1 node(s) have none: 'x'"),
            _warned("b", same),
            _warned("c", "2 node(s) have none: 'y', 'z' and 4 more", same),
            _warned("d", same, "Nothing else."),
        ]
    )
    assert [(one.text, one.about) for one in found] == [
        (same, "4 processes: a, b, c and 1 more"),
        ("1 to 2 node(s) have none: …", "2 processes: a, c"),
        ("Nothing else.", "1 process: d"),
    ]
