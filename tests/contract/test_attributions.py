"""Attributions in the graph: stored, replaced, exported, and gone with their process."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.attributing import GOLD, SAMPLE
from fakes.processes import process

from veritrail_graph.api.app import Application
from veritrail_graph.api.app.attribution import Attributed, AttributeOptions
from veritrail_graph.api.requests.attribute import AttributeRequest
from veritrail_graph.graph.errors import InputError, NotFound
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.attribution import (
    Against,
    AttributionCategory,
    AttributionRun,
    NodeAttribution,
    Proposition,
)
from veritrail_graph.graph.model.job import Job
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.database import Transaction

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
                nodes: tuple[NodeAttribution, ...] = NODES,
                against: Against = Against.INPUTS) -> int:  # fmt: skip
    written = await store.attributions.write(
        process_id, hash_, nodes, run=run, engine=engine, indicative=engine == "lexical",
        model="m", against=against,
    )  # fmt: skip
    return written.sentences


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
    assert (rests[0]["against"], misread[0]["against"]) == ("inputs", ["inputs"])
    # Of the whole way this step is only one, which may have done nothing wrong.
    arun(write(store, name, attributed[1], "r-2", against=Against.ROOTS))
    assert answers(store, arun, "twisting_steps", process_id=name) == []
    rests = answers(store, arun, "sentence_attribution", process_id=name, node_id="summary")
    misread = answers(store, arun, "misread_sentences", process_id=name)
    assert (rests[0]["against"], misread[0]["against"]) == ("roots", ["roots"])


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
    many = [base.replace(sentence=number, start=number) for number in range(1_300)]
    node = node.replace(sentences=tuple(many))
    assert arun(write(store, process_id, hash_, nodes=(node,))) == 1_300
    text = "MATCH (:Sentence {process_id: $p})-[r:ATTRIBUTED_TO]->() RETURN count(r)"
    assert arun(store.database.run_text(text, {"p": process_id}, 1)).rows == [(1_300,)]


def test_sentences_of_many_nodes_share_statements_and_are_cleared_together(
    store: Store, arun: Any, process_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"r": "One. Two.", **{f"t{n}": f"Say {n}. More." for n in range(40)}}
    edges = [("r", name) for name in texts if name != "r"]
    given = process(texts, edges, {}, process_id=process_id)
    hash_ = arun(ingest(store, given)).survey.hash
    base = NODES[0].sentences[0]
    (source,) = base.attributed
    source = source.replace(node_id="r", start=0, end=4, text="One.")
    nodes = tuple(
        NodeAttribution(
            node_id=f"t{n}",
            sentences=tuple(
                base.replace(sentence=k, start=7 * k, end=7 * k + 5, attributed=(source,))
                for k in range(2)
            ),
        )
        for n in range(40)
    )
    ran: list[str] = []
    inner = Transaction.run

    def told(tx: Transaction, name: str, **parameters: Any) -> Any:
        ran.append(name)
        return inner(tx, name, **parameters)

    monkeypatch.setattr(Transaction, "run", told)
    assert arun(write(store, process_id, hash_, nodes=nodes)) == 80
    assert ran == ["attribution/judged", "attribution/clear", "attribution/write"]
    again = tuple(node.replace(sentences=node.sentences[:1]) for node in nodes)
    assert arun(write(store, process_id, hash_, "r-2", nodes=(*again, again[0]))) == 40
    text = """
        MATCH (n:Sentence {process_id: $p})-[r:ATTRIBUTED_TO]->(m:Sentence)
        RETURN n.index, r.run, count(*), count(DISTINCT n.node_id) ORDER BY n.index
    """
    rows = arun(store.database.run_text(text, {"p": process_id}, 9)).rows
    assert rows == [(0, "r-2", 40, 40), (1, "r-1", 40, 40)]


def test_a_node_is_read_with_what_its_sentences_rest_on(
    store: Store, arun: Any, attributed: tuple[str, str]
) -> None:
    name = attributed[0]
    calls = store.database.calls
    found = arun(store.attributions.of_node(name, "summary"))
    assert store.database.calls == calls + 1
    assert (found.process_id, found.node_id, found.more) == (name, "summary", False)
    (gold,) = NODES
    for one, wanted in zip(found.sentences, gold.sentences, strict=True):
        values = wanted.json_object()
        assert one.json_object() | values == one.json_object()
        assert (one.run_id, one.engine, one.model, one.in_force) == ("r-1", "openai", "m", True)
        assert (one.indicative, one.against) == (False, Against.INPUTS)
        assert one.attributed_at is not None


def test_a_superseded_run_keeps_what_it_linked_and_not_what_was_judged(
    store: Store, arun: Any, attributed: tuple[str, str]
) -> None:
    name, hash_ = attributed
    arun(write(store, name, hash_, "r-nli", "nli"))
    found = arun(store.attributions.of_node(name, "summary", "r-1"))
    assert [one.sentence for one in found.sentences] == [0, 1, 2, 3, 5]  # 4 rests on nothing
    assert {(one.run_id, one.engine, one.in_force) for one in found.sentences} == {
        ("r-1", "openai", False)
    }
    assert {one.judged_label for one in found.sentences} == {None}
    assert [one.implied_label for one in found.sentences[:2]] == ["FAITHFUL", "UNFAITHFUL"]
    assert arun(store.attributions.of_node(name, "summary", "r-none")).sentences == ()


def test_attributions_are_read_in_pages_and_nodes_are_listed(
    store: Store, arun: Any, attributed: tuple[str, str]
) -> None:
    name = attributed[0]
    after, seen = (-1, -1), []
    while True:
        page = arun(store.attributions.of_node(name, "summary", None, after, 4))
        seen += [one.sentence for one in page.sentences]
        if not page.more:
            break
        after = (page.sentences[-1].start, page.sentences[-1].end)
    assert seen == [0, 1, 2, 3, 4, 5]
    one = page.sentences[0]
    place = (one.start, one.end, one.sentence)
    assert arun(store.attributions.before(name, "summary", one.sentence + 1)) == place
    assert arun(store.attributions.before(name, "summary", 0)) is None
    (node,), more = arun(store.attributions.nodes(name))
    assert (node.node_id, node.stage, node.sentences, node.unfaithful) == ("summary", 3, 6, 5)
    assert (node.indicative, more) == (0, False)
    assert arun(store.attributions.nodes(name, (node.stage, node.position))) == ([], False)


def test_a_page_ends_before_its_texts_are_too_long(
    store: Store, arun: Any, attributed: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("veritrail_graph.graph.store.attributions.MOST_CONTENT", 100)
    page = arun(store.attributions.of_node(attributed[0], "summary"))
    assert [one.sentence for one in page.sentences] == [0]
    assert page.more


def test_a_node_without_attributions_has_none_and_an_unknown_one_is_not_found(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(stored(store, process_id))
    assert arun(store.attributions.of_node(process_id, "summary")).sentences == ()
    assert arun(store.attributions.nodes(process_id)) == ([], False)
    with pytest.raises(NotFound, match="has no node 'zz'"):
        arun(store.attributions.of_node(process_id, "zz"))
    with pytest.raises(NotFound):
        arun(store.attributions.of_node("nowhere", "summary"))
    with pytest.raises(NotFound):
        arun(store.attributions.nodes("nowhere"))


def test_propositions_are_stored_with_what_each_rests_on(
    store: Store, arun: Any, attributed: tuple[str, str]
) -> None:
    name, hash_ = attributed
    (node,) = NODES
    last = node.sentences[5]
    evidence, near = last.attributed
    start = last.start
    parts = [
        {"spans": [[start, start + 4], [start + 9, start + 12]], "text": "The … new",
         "attributed": [evidence, near.replace(categories=tuple(AttributionCategory)[:2])],
         "implied_label": "UNFAITHFUL"},
        {"spans": [[start + 5, start + 8]], "text": "old", "attributed": [near],
         "implied_label": "UNFAITHFUL"},
        {"spans": [[start, start + 8]], "text": "none", "attributed": [],
         "implied_label": "UNFAITHFUL"},
        {"spans": [[start, start + 9]], "text": "so", "attributed": [evidence],
         "implied_label": "FAITHFUL"},
    ]  # fmt: skip
    made = tuple(Proposition.model_validate(one) for one in parts)
    split = last.replace(propositions=made, dropped_ids=3)
    nodes = (node.replace(sentences=(*node.sentences[:5], split)),)
    arun(write(store, name, hash_, "r-2", nodes=nodes))
    found = arun(store.attributions.of_node(name, "summary")).sentences
    assert [one.propositions for one in found] == [*[()] * 5, made]
    assert (found[5].dropped_ids, found[0].dropped_ids) == (3, 0)
    assert "propositions" not in found[0].json_object()
    place = ("summary", 5, last.start, last.end)
    (read,) = arun(store.attributions.of_sentences(name, [place]))
    assert (read.propositions, read.dropped_ids) == (made, 3)
    wrong = answers(store, arun, "unfaithful_propositions", process_id=name)
    assert [(one["sentence"], one["number"], one["proposition"], one["of"]) for one in wrong] == [
        (5, 0, "The … new", 4), (5, 1, "old", 4), (5, 2, "none", 4),
    ]  # fmt: skip
    assert wrong[0]["spans"] == f"{start}-{start + 4} {start + 9}-{start + 12}"
    # Evidence alone as a whole, but one proposition rests on nothing.
    only = last.replace(attributed=(evidence,), propositions=made[2:])
    arun(write(store, name, hash_, "r-3", nodes=(node.replace(sentences=(only,)),)))
    (step,) = answers(store, arun, "twisting_steps", process_id=name)
    assert step["without_source"] == 2  # the fifth sentence, and the proposition of the sixth
    (again,) = arun(store.attributions.of_sentences(name, [place]))
    assert again.implied_label == "UNFAITHFUL"
    # As a whole again: nothing of the propositions is left.
    arun(write(store, name, hash_, "r-4", nodes=(node.replace(sentences=(last,)),)))
    (step,) = answers(store, arun, "twisting_steps", process_id=name)
    assert step["without_source"] == 1
    (again,) = arun(store.attributions.of_sentences(name, [place]))
    assert (again.propositions, again.dropped_ids) == ((), 0)
    assert answers(store, arun, "unfaithful_propositions", process_id=name) == []


def test_a_run_is_a_job_which_goes_on_when_its_command_was_killed(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(stored(store, process_id))
    request = AttributeRequest(process_id=process_id, engine="lexical")

    async def submitted() -> str:
        async with Application.over(store) as app:  # which ends before it does anything
            return (await app.jobs.submit_here(request)).run_id

    async def attribute(resume: str | None) -> tuple[Attributed, list[Job]]:
        async with Application.over(store) as app:
            options = AttributeOptions(request, resume=resume)
            done = await app.attributions.attribute(process_id, options)
            return done, await app.jobs.page(process_id=process_id)

    run_id = arun(submitted())
    first, jobs = arun(attribute(run_id))
    assert (first.run.run_id, first.stored, len(first.run.sentences)) == (run_id, 6, 6)
    assert [(one.run_id, one.kind, one.counts) for one in jobs] == [
        (run_id, "attribution", {"succeeded": 6})
    ]
    again, _ = arun(attribute(run_id))
    assert (again.stored, again.run.nodes) == (0, first.run.nodes)
    new, jobs = arun(attribute(None))
    assert (new.stored, new.run.nodes, len(jobs)) == (6, first.run.nodes, 2)
    with pytest.raises(InputError, match="attributed sentences of") as refused:
        arun(verify_resumed(store, run_id))
    assert refused.value.code == "run_attributes"


async def verify_resumed(store: Store, run_id: str) -> None:
    async with Application.over(store) as app:
        await app.jobs.resume_here(run_id)
