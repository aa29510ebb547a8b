"""What one statement writes of trails: nothing lost, and no more than an engine can hold."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from fakes.trails import FS, NFS, a_round, a_trail

from veritrail_graph.graph.model import (
    CitedSentence,
    Evidence,
    EvidencePath,
    Iteration,
    NodeRef,
    Role,
    Sentence,
    Status,
    Verification,
)
from veritrail_graph.graph.model.canonical import canonical
from veritrail_graph.graph.store import trail_writing
from veritrail_graph.graph.store.citing import sentence_row
from veritrail_graph.graph.store.trail_writing import (
    TrailBatch,
    evidence_row,
    iteration_row,
    trail_batches,
    verification_row,
)


def large(name: str, nodes: int, length: int = 10) -> Verification:
    """A trail that checked many nodes, cites a sentence of each and has as many links."""
    refs = tuple(NodeRef(f"n{n}", 1, n, Role.ROOT) for n in range(nodes))
    cited = tuple(
        CitedSentence.of(Sentence(ref.node_id, 0, 0, length, "x" * length)) for ref in refs
    )
    evidence = tuple(Evidence(text="yes", missing=None, sentences=(one,)) for one in cited)
    turn = Iteration(number=1, verdict=FS, reasoning="yes", checked=refs, summaries=evidence)
    paths = tuple(EvidencePath(source=ref.node_id, target="t", iteration=1) for ref in refs)
    return a_trail(name).replace(iterations=(turn,), paths=paths)


def rows_of(batch: TrailBatch) -> dict[str, int]:
    """How much of each kind the first statement of a batch has."""
    rounds = [turn for row in batch.rows for turn in row["iterations"]]
    return {
        "checked": sum(len(turn["checked"]) for turn in rounds),
        "evidence": sum(len(turn["evidence"]) for turn in rounds),
        "sentences": sum(
            len(found["sentences"]) for turn in rounds for found in turn["evidence"]
        ),
        "nodes": sum(len(row["trail"]) for row in batch.rows),
        "links": sum(len(row["ends"]) for row in batch.rows),
    }  # fmt: skip


def rest_of(batch: TrailBatch) -> dict[str, int]:
    """How much of each kind follows."""
    counts = {"checked": 0, "evidence": 0, "sentences": 0, "nodes": 0, "links": 0}
    for rest in batch.rests.values():
        for name, rows in rest.batches():
            kind = name.removeprefix("trail/")
            counts[kind] += sum(len(row[2]) for row in rows) if kind == "checked" else len(rows)
    return counts


def test_small_trails_go_together() -> None:
    trails = [a_trail(f"v-{n}", a_round(1, NFS, "s1 s2", (("s1", 0),))) for n in range(50)]
    (batch,) = trail_batches(trails)
    assert [row["verification_id"] for row in batch.rows] == [f"v-{n}" for n in range(50)]
    assert batch.rests == {}


def test_trails_that_do_not_fit_together_are_parted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trail_writing.Capacity.__init__, "__defaults__", (30, 10_000))
    found = list(trail_batches([large("v-1", 4), large("v-2", 4), large("v-3", 1)]))
    sizes = [[row["verification_id"] for row in batch.rows] for batch in found]
    assert sizes == [["v-1"], ["v-2", "v-3"]]
    assert all(batch.rests == {} for batch in found)


@pytest.mark.parametrize(("nodes", "length"), [(12_000, 10), (30, 1_000_000)])
def test_a_huge_trail_is_cut_and_nothing_of_it_is_lost(nodes: int, length: int) -> None:
    small = a_trail("v-2", a_round(1, NFS, "s1"))
    first, second = trail_batches([large("v-1", nodes, length), small])
    assert [row["verification_id"] for row in second.rows] == ["v-2"]
    head, rest = rows_of(first), rest_of(first)
    assert sum(head.values()) <= trail_writing.MAX_ROWS
    assert {kind: head[kind] + rest[kind] for kind in head} == dict.fromkeys(head, nodes)
    for name, rows in first.rests["v-1"].batches():
        assert len(rows) <= trail_writing.MAX_ROWS
        if name == "trail/checked":
            assert sum(len(row[2]) for row in rows) <= trail_writing.MAX_ROWS
        if name == "trail/sentences":
            assert sum(len(row[1][4]) for row in rows) <= trail_writing.MOST_HELD


def test_small_iterations_of_a_huge_trail_share_a_statement() -> None:
    count = trail_writing.MAX_ROWS + 2_000
    turns = [a_round(n, NFS, [NodeRef(f"n{n}", 1, n, Role.ROOT)]) for n in range(1, count + 1)]
    (batch,) = trail_batches([a_trail("v-1", *turns)])
    rests = [rows for name, rows in batch.rests["v-1"].batches() if name == "trail/checked"]
    assert [sum(len(row[2]) for row in rows) for rows in rests] == [2_000]


@pytest.mark.parametrize("nodes", [0, 1, 3, 2 * trail_writing.MAX_ROWS + 1])
def test_the_hash_of_a_frontier_is_that_of_the_whole_list(nodes: int) -> None:
    roles = (Role.ROOT, Role.INTERMEDIATE)
    refs = [NodeRef(f"é{n}", n % 3, n, roles[n % 2]) for n in range(nodes)]
    shown = [[ref.node_id, *([ref.stage, ref.position] if ref.is_root else [])] for ref in refs]
    whole = hashlib.sha256(canonical(shown)).hexdigest()
    assert trail_writing.frontier_hash(a_round(1, NFS, refs)) == whole


def test_a_text_that_no_statement_has_room_for_goes_alone() -> None:
    (batch,) = trail_batches([large("v-1", 2, trail_writing.MOST_HELD)])
    batches = [(name, len(rows)) for name, rows in batch.rests["v-1"].batches()]
    assert batches == [("trail/sentences", 1)] * 2


@pytest.mark.parametrize(
    ("facts", "caption"),
    [
        ({"verdict": NFS, "indicative": False}, "Not Fully Supported"),
        ({"verdict": NFS, "indicative": True}, "Not Fully Supported (indicative)"),
        ({"verdict": FS, "indicative": False}, "Fully Supported"),
        ({"verdict": None, "status": Status.FAILED, "indicative": True}, "Failed"),
        ({"verdict": None, "status": Status.OVER_BUDGET}, "Over budget"),
        ({"verdict": None, "status": Status.QUEUED}, "Queued"),
    ],
)
def test_a_verification_is_called_what_came_of_it(facts: dict[str, Any], caption: str) -> None:
    assert verification_row(a_trail("v", **facts))["caption"] == caption


def test_captions_are_short_and_never_empty() -> None:
    turn = a_round(2, NFS, "s1")
    assert iteration_row("v", turn, False)["caption"] == "2: Not Fully Supported"
    assert iteration_row("v", turn, True)["caption"] == "2: Not Fully Supported (indicative)"
    assert (
        evidence_row("e", 0, Evidence(text="é" * 50, missing=None, sentences=()))["caption"]
        == "é" * 39 + "…"
    )
    assert (
        evidence_row("e", 0, Evidence(text="é" * 40, missing=None, sentences=()))["caption"]
        == "é" * 40
    )
    assert (
        evidence_row("e", 0, Evidence(text="a\r\nb\n\nc\rd", missing=None, sentences=()))["caption"]
        == "a b  c d"
    )
    assert (
        evidence_row("e", 0, Evidence(text="", missing=None, sentences=()))["caption"] == "Evidence"
    )
    caption = sentence_row(0, CitedSentence.of(Sentence("n", 0, 0, 50, "😀" * 50)))[5]
    assert caption == "😀" * 39 + "…"
