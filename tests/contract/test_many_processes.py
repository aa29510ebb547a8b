"""More than one process and more than one writer in a graph, on both engines."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fakes.graph_dump import dump
from fakes.processes import MemoryInput, process
from fakes.trails import FS, a_round, a_trail, cited, found, path

from veritrail_graph.graph.errors import InputError, NotFound
from veritrail_graph.graph.ingest import ingest, store_new
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import (
    Claim,
    NodeRef,
    Role,
)
from veritrail_graph.graph.model.extraction import ExtractedSentence, SentenceOutcome
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine

A = NodeRef("a", 1, 0, Role.ROOT)


def a_process(name: str, nodes: int = 40) -> MemoryInput:
    texts = {"a": "A one. A two.", **{f"n{n}": f"Text {n} of {name}." for n in range(1, nodes)}}
    return process(
        {**texts, "t": f"All of {name}."}, [(n, "t") for n in texts], {"k1": "A is there."},
        process_id=name,
    )  # fmt: skip


async def with_everything(store: Store, name: str) -> None:
    """A process with claims, an extraction and a verification with a whole trail."""
    report = await ingest(store, a_process(name))
    sentence = ExtractedSentence(
        node_id="t",
        position=0,
        start=0,
        end=3,
        text="All",
        outcome=SentenceOutcome.CLAIMS,
        reason=None,
        claim_ids=("k1",),
    )
    await store.claims.keep_extraction(name, report.survey.hash, "t", [sentence], [])
    one = a_round(1, FS, [A], [found("what", cited("a", 0, 0, "A one."))])
    claim = Claim(claim_id="k1", text="A is there.", node_id="t")
    made = a_trail(f"{name}-v", one, process_id=name, claim=claim, paths=(path("a", "t", 1),))
    await store.trails.write(made)


def test_deleting_one_of_many_leaves_the_others_as_they_were(
    store: Store, arun: Any, process_id: str
) -> None:
    others = [f"{process_id}.{n}" for n in range(3)]
    try:
        for name in others:
            arun(with_everything(store, name))
        everything = (*others, process_id)
        before = arun(dump(store, everything))
        arun(with_everything(store, process_id))
        assert len(arun(dump(store, everything))) > len(before) + 80
        arun(store.processes.delete(process_id))
        assert arun(dump(store, everything)) == before
    finally:
        for name in others:
            arun(store.processes.delete(name))


def test_ingests_of_different_processes_at_once_do_not_meet(
    store: Store, arun: Any, process_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("veritrail_graph.graph.ingest.write.BATCH_ROWS", 20)
    monkeypatch.setattr("veritrail_graph.graph.ingest.write.EDGE_BATCH", 30)
    names = [f"{process_id}.{n}" for n in range(3)]

    async def at_once() -> list[Any]:
        return await asyncio.gather(*(ingest(store, a_process(n, 200)) for n in names))

    try:
        assert [report.status for report in arun(at_once())] == ["created"] * 3
        together = [arun(dump(store, name, "created_at")) for name in names]
        for name, seen in zip(names, together, strict=True):
            arun(store.processes.delete(name))
            arun(ingest(store, a_process(name, 200)))
            assert arun(dump(store, name, "created_at")) == seen
    finally:
        for name in names:
            if arun(store.processes.state(name)) is not None:
                arun(store.processes.delete(name))


def test_small_processes_share_a_transaction_and_are_stored_as_large_ones_are(
    store: Store, arun: Any, process_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{process_id}.{n}" for n in range(5)]
    surveys = [survey(a_process(name, 4 + n)) for n, name in enumerate(names)]
    other = survey(a_process(names[0], 9))
    try:
        arun(ingest(store, a_process(names[4], 3)))
        calls = store.database.calls
        stored = arun(store_new(store, [*surveys, other]))
        assert store.database.calls - calls == 3 + len(stored)  # the claims of each by themselves
        assert {name: one.survey for name, one in stored.items()} == dict(
            zip(names[:4], surveys[:4], strict=True)
        )
        together = arun(dump(store, names, "created_at"))
        for name in names[:4]:
            arun(store.processes.delete(name))
        monkeypatch.setattr("veritrail_graph.graph.ingest.together.MOST_SPANS", 0)
        for n, name in enumerate(names[:4]):
            arun(ingest(store, a_process(name, 4 + n)))
        assert arun(dump(store, names, "created_at")) == together
    finally:
        for name in names:
            arun(store.processes.delete(name))


def test_of_ingests_of_one_process_at_once_one_wins_and_the_others_are_told(
    store: Store, arun: Any, process_id: str
) -> None:
    async def at_once() -> list[Any]:
        inputs = [a_process(process_id, 300) for _ in range(3)]
        return await asyncio.gather(
            *(ingest(store, source) for source in inputs), return_exceptions=True
        )

    done = arun(at_once())
    stored = [one for one in done if not isinstance(one, BaseException)]
    assert [report.status for report in stored].count("created") == 1
    assert all(isinstance(one, InputError) for one in done if one not in stored)
    assert arun(store.processes.get(process_id)).nodes == 301
    edges = "MATCH (:Span {process_id: $p})-[r:INPUT_TO]->() RETURN count(r)"
    assert arun(store.database.run_text(edges, {"p": process_id}, 5)).rows == [(300,)]


def test_a_deletion_during_an_ingest_of_another_process(
    store: Store, arun: Any, process_id: str
) -> None:
    other = f"{process_id}.other"
    arun(with_everything(store, other))

    async def at_once() -> None:
        await asyncio.gather(
            ingest(store, a_process(process_id, 300)), store.processes.delete(other)
        )

    arun(at_once())
    assert arun(store.processes.get(process_id)).edges == 300
    with pytest.raises(NotFound):
        arun(store.processes.get(other))
    assert arun(dump(store, other)) == []
