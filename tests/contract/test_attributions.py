"""Attributions in the graph: stored, replaced, exported, and gone with their process."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.attributing import GOLD, SAMPLE
from fakes.processes import process

from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.attribution import AttributionRun, NodeAttribution
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine

SAMPLE_FILE = json.loads(SAMPLE.read_text(encoding="utf-8"))
TEXTS = {one["node_id"]: one["text"] for one in SAMPLE_FILE["nodes"]}
EDGES = [(one["source"], one["target"]) for one in SAMPLE_FILE["edges"]]
NODES = AttributionRun.model_validate_json(GOLD.read_bytes()).nodes
PROCESS = """
    MATCH (n:Sentence {process_id: $p})-[r:ATTRIBUTED_TO]->(m:Sentence)
    RETURN n.index, r.run, r.engine, r.categories, m.node_id, m.index
    ORDER BY n.index, r.engine, m.node_id, m.index
"""


async def stored(store: Store, process_id: str) -> str:
    """The sample, without attributions; gives its content hash."""
    return (await ingest(store, process(TEXTS, EDGES, {}, process_id=process_id))).survey.hash


async def write(store: Store, process_id: str, hash_: str, run: str = "r-1", engine: str = "openai",
                nodes: tuple[NodeAttribution, ...] = NODES) -> int:  # fmt: skip
    return await store.attributions.write(
        process_id, hash_, nodes, run=run, engine=engine, indicative=engine == "lexical"
    )


@pytest.fixture
def attributed(store: Store, arun: Any, process_id: str) -> tuple[str, str]:
    """The sample with its attributions: process_id and content hash."""
    hash_ = arun(stored(store, process_id))
    assert arun(write(store, process_id, hash_)) == 6
    return process_id, hash_


def links(store: Store, arun: Any, process_id: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = arun(
        store.database.run_text(PROCESS, {"p": process_id}, 99)
    ).rows
    return found


def answers(store: Store, arun: Any, name: str, **parameters: Any) -> list[dict[str, Any]]:
    found = arun(store.queries.run(name, parameters))
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def test_each_sentence_is_linked_to_what_it_rests_on(
    store: Store, arun: Any, attributed: tuple[str, str]
) -> None:
    assert links(store, arun, attributed[0]) == [
        (0, "r-1", "openai", ["EVIDENCE"], "notes-board", 0),
        (1, "r-1", "openai", ["NEAR_MATCH"], "notes-board", 1),
        (2, "r-1", "openai", ["CONTRADICTION"], "notes-board", 3),
        (3, "r-1", "openai", ["EXPECTED_SPAN"], "notes-board", 4),
        (5, "r-1", "openai", ["EVIDENCE"], "notes-ferry", 0),
        (5, "r-1", "openai", ["NEAR_MATCH"], "notes-ferry", 1),
    ]


def test_the_queries_say_what_rests_where_what_is_misread_and_which_step_twists(
    store: Store, arun: Any, attributed: tuple[str, str]
) -> None:
    name = attributed[0]
    rests = answers(store, arun, "sentence_attribution", process_id=name, node_id="summary")
    assert [one["sentence"] for one in rests] == [0, 1, 2, 3, 4, 5, 5]
    assert rests[4]["categories"] is rests[4]["source_text"] is None
    assert rests[4]["implied_label"] == "UNFAITHFUL"
    (one,) = answers(
        store, arun, "sentence_attribution", process_id=name, node_id="summary", sentence=1
    )
    assert one["source_text"] == "It may close the east quay in winter."
    assert one["correction"] == "The east quay may close in winter."
    misread = answers(store, arun, "misread_sentences", process_id=name)
    assert [(one["node_id"], one["sentence"], one["misread"]) for one in misread] == [
        ("notes-board", 1, 1), ("notes-board", 3, 1), ("notes-board", 4, 1), ("notes-ferry", 1, 1),
    ]  # fmt: skip
    assert [one["contradicted"] for one in misread] == [0, 1, 0, 0]
    (step,) = answers(store, arun, "twisting_steps", process_id=name)
    assert (step["sentences"], step["unfaithful"]) == (6, 5)
    assert step["share"] == pytest.approx(5 / 6)
    kinds = ("contradictions", "near_matches", "expected", "without_source")
    assert [step[kind] for kind in kinds] == [1, 2, 1, 1]


def test_the_same_engine_again_replaces_what_it_found_and_leaves_no_loose_ends(
    store: Store, arun: Any, attributed: tuple[str, str]
) -> None:
    name, hash_ = attributed
    (node,) = NODES
    first, second, *rest = node.sentences
    failed = second.replace(status=Status.FAILED, attributed=(), implied_label=None)
    again = node.replace(sentences=(first.replace(attributed=()), failed, *rest))
    assert arun(write(store, name, hash_, "r-2", nodes=(again,))) == 5
    found = links(store, arun, name)
    assert {row[0] for row in found} == {1, 2, 3, 5}
    assert {row[1] for row in found if row[0] == 1} == {"r-1"}  # a failure replaces nothing
    assert {row[1] for row in found if row[0] > 1} == {"r-2"}
    for check in ("check_loose_ends", "check_orphans"):
        ends = answers(store, arun, check, limit=10_000)
        assert not [one for one in ends if name in one.values() or one["label"] == "Sentence"]
    count = "MATCH (n:Sentence {process_id: $p, node_id: 'notes-board', index: 0}) RETURN count(n)"
    assert arun(store.database.run_text(count, {"p": name}, 1)).rows == [(0,)]


def test_words_never_take_the_place_of_a_model(
    store: Store, arun: Any, attributed: tuple[str, str]
) -> None:
    name, hash_ = attributed
    arun(write(store, name, hash_, "r-words", "lexical"))
    assert len(links(store, arun, name)) == 12
    rests = answers(store, arun, "sentence_attribution", process_id=name, node_id="summary")
    assert {one["run"] for one in rests} == {"r-1"}
    assert len(rests) == 7
    arun(write(store, name, hash_, "r-nli", "nli"))
    rests = answers(store, arun, "sentence_attribution", process_id=name, node_id="summary")
    assert {one["run"] for one in rests} == {"r-nli"}


def test_a_process_that_was_replaced_meanwhile_gets_nothing(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(stored(store, process_id))
    with pytest.raises(NotFound, match="removed or replaced meanwhile"):
        arun(write(store, process_id, "another hash"))
    count = "MATCH (n:Sentence {process_id: $p}) RETURN count(n)"
    assert arun(store.database.run_text(count, {"p": process_id}, 1)).rows == [(0,)]


def test_attributions_go_with_their_process(
    store: Store, arun: Any, attributed: tuple[str, str]
) -> None:
    name = attributed[0]
    arun(store.processes.delete(name))
    assert links(store, arun, name) == []
    count = "MATCH (n:Sentence {process_id: $p}) RETURN count(n)"
    assert arun(store.database.run_text(count, {"p": name}, 1)).rows == [(0,)]


def test_very_many_sentences_are_stored_in_parts(store: Store, arun: Any, process_id: str) -> None:
    (node,) = NODES
    hash_ = arun(stored(store, process_id))
    base = node.sentences[0]
    many = [base.replace(sentence=number, start=number) for number in range(2_600)]
    node = node.replace(sentences=tuple(many))
    assert arun(write(store, process_id, hash_, nodes=(node,))) == 2_600
    text = "MATCH (:Sentence {process_id: $p})-[r:ATTRIBUTED_TO]->() RETURN count(r)"
    assert arun(store.database.run_text(text, {"p": process_id}, 1)).rows == [(2_600,)]
