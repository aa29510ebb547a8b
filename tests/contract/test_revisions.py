"""Proposed wordings in the graph: beside their sentence, replaced, exported, gone with it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.attributing import GOLD, SAMPLE
from fakes.processes import process

from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model.attribution import AttributionRun, NodeAttribution, Revision
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine

SAMPLE_FILE = json.loads(SAMPLE.read_text(encoding="utf-8"))
TEXTS = {one["node_id"]: one["text"] for one in SAMPLE_FILE["nodes"]}
EDGES = [(one["source"], one["target"]) for one in SAMPLE_FILE["edges"]]
NODES = AttributionRun.model_validate_json(GOLD.read_bytes()).nodes


async def stored(store: Store, process_id: str) -> str:
    """The sample, without attributions; gives its content hash."""
    return (await ingest(store, process(TEXTS, EDGES, {}, process_id=process_id))).survey.hash


async def write(
    store: Store,
    process_id: str,
    hash_: str,
    run: str = "r-1",
    engine: str = "openai",
    nodes: tuple[NodeAttribution, ...] = NODES,
    *,
    corrects: bool = False,
) -> int:
    """Store an attribution."""
    which = {"run": run, "engine": engine, "indicative": False, "corrects": corrects}
    return (await store.attributions.write(process_id, hash_, nodes, **which)).sentences


def answers(store: Store, arun: Any, name: str, **parameters: Any) -> list[dict[str, Any]]:
    found = arun(store.queries.run(name, parameters))
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def revised(*revisions: dict[str, Any]) -> tuple[NodeAttribution, ...]:
    """The sample with wordings proposed for its second sentence."""
    (node,) = NODES
    made = tuple(Revision.model_validate(one) for one in revisions)
    first, second, *rest = node.sentences
    return (node.replace(sentences=(first, second.replace(revisions=made), *rest)),)


MAY = {"text": "The east quay may close in winter.", "mode": "attribution", "edits": 1,
       "outcome": "fixed", "rechecked_by": "judge", "rank": 1}  # fmt: skip
CLOSES = {"text": "The quay closes.", "mode": "plain", "edits": 4, "outcome": "not",
          "rechecked_by": "judge", "rank": 2}  # fmt: skip


def test_proposed_wordings_stand_beside_their_sentence(
    store: Store, arun: Any, process_id: str
) -> None:
    hash_ = arun(stored(store, process_id))
    arun(write(store, process_id, hash_, nodes=revised(CLOSES, MAY), corrects=True))
    found = answers(store, arun, "proposed_revisions", process_id=process_id)
    assert [(one["proposed"], one["outcome"], one["rank"], one["run"]) for one in found] == [
        (MAY["text"], "fixed", 1, "r-1"), (CLOSES["text"], "not", 2, "r-1"),
    ]  # fmt: skip
    assert {one["text"] for one in found} == {"The east quay will close in winter."}
    only = answers(store, arun, "proposed_revisions", process_id=process_id, outcome="not")
    assert [one["proposed"] for one in only] == [CLOSES["text"]]
    second = NODES[0].sentences[1]
    place = ("summary", 1, second.start, second.end)
    (read,) = arun(store.attributions.of_sentences(process_id, [place, ("summary", 1, 0, 1)]))
    assert [one.json_object() for one in read.revisions] == [
        Revision.model_validate(one).json_object() for one in (MAY, CLOSES)
    ]
    assert (read.node_id, read.sentence, read.run_id) == ("summary", 1, "r-1")
    assert read.attributed == second.attributed
    of_node = arun(store.attributions.of_node(process_id, "summary")).sentences
    assert [one.revisions for one in of_node[:2]] == [(), read.revisions]


def test_wordings_are_replaced_by_those_of_the_same_engine_alone(
    store: Store, arun: Any, process_id: str
) -> None:
    hash_ = arun(stored(store, process_id))

    def proposed() -> list[tuple[str, str]]:
        rows = answers(store, arun, "proposed_revisions", process_id=process_id)
        return [(one["run"], one["proposed"]) for one in rows]

    arun(write(store, process_id, hash_, nodes=revised(MAY), corrects=True))
    arun(write(store, process_id, hash_, run="r-2"))  # it proposes none, and leaves them
    assert proposed() == [("r-1", MAY["text"])]
    arun(write(store, process_id, hash_, "r-3", "azure", revised(CLOSES), corrects=True))
    assert proposed() == [("r-1", MAY["text"]), ("r-3", CLOSES["text"])]
    arun(write(store, process_id, hash_, "r-4", nodes=revised(CLOSES), corrects=True))
    assert sorted(proposed()) == [("r-3", CLOSES["text"]), ("r-4", CLOSES["text"])]
    for check in ("check_loose_ends", "check_orphans"):
        ends = answers(store, arun, check, limit=10_000)
        assert not [one for one in ends if one["label"] == "Revision"]
    arun(store.processes.delete(process_id))
    count = "MATCH (x:Revision {process_id: $p}) RETURN count(x)"
    assert arun(store.database.run_text(count, {"p": process_id}, 1)).rows == [(0,)]


def test_what_was_judged_stays_while_the_sentence_rests_on_the_same(
    store: Store, arun: Any, process_id: str
) -> None:
    hash_ = arun(stored(store, process_id))
    arun(write(store, process_id, hash_, nodes=revised(MAY), corrects=True))
    (node,) = NODES
    bare = [
        one.replace(judged_label=None, judged_reason=None, correction=None, corrected_label=None)
        for one in node.sentences
    ]
    other = bare[1].replace(attributed=bare[0].attributed)

    def again(run: str, *sentences: Any) -> tuple[int, Any, list[str]]:
        nodes = (node.replace(sentences=sentences),)
        which = {"run": run, "engine": "openai", "indicative": False}
        written = arun(store.attributions.write(process_id, hash_, nodes, **which))
        found = arun(store.attributions.of_node(process_id, "summary")).sentences[1]
        rows = answers(store, arun, "proposed_revisions", process_id=process_id)
        return written.unjudged, found, [one["proposed"] for one in rows]

    unjudged, found, proposed = again("r-2", *bare)
    assert (unjudged, proposed, found.run_id) == (0, [MAY["text"]], "r-2")
    kept = ("judged_label", "judged_reason", "correction", "corrected_label")
    assert [getattr(found, name) for name in kept] == [
        getattr(node.sentences[1], name) for name in kept
    ]
    unjudged, found, proposed = again("r-3", bare[0], other)
    assert (unjudged, proposed) == (1, [])
    assert [getattr(found, name) for name in kept] == [None] * 4


def test_what_one_model_judged_is_not_kept_under_the_name_of_another(
    store: Store, arun: Any, process_id: str
) -> None:
    hash_ = arun(stored(store, process_id))
    which: dict[str, Any] = {"engine": "openai", "indicative": False}
    first = {**which, "run": "r-1", "model": "big", "corrects": True}
    arun(store.attributions.write(process_id, hash_, revised(MAY), **first))
    (node,) = NODES
    blank = {"judged_label": None, "judged_reason": None, "correction": None}
    bare = node.replace(sentences=[one.replace(**blank) for one in node.sentences])
    second = {**which, "run": "r-2", "model": "tiny"}
    written = arun(store.attributions.write(process_id, hash_, (bare,), **second))
    assert written.unjudged == sum(one.judged_label is not None for one in node.sentences) > 0
    found = arun(store.attributions.of_node(process_id, "summary")).sentences
    assert {(one.model, one.judged_label, one.correction) for one in found} == {
        ("tiny", None, None)
    }
    assert answers(store, arun, "proposed_revisions", process_id=process_id) == []


def test_a_correction_that_failed_takes_nothing_from_an_earlier_one(
    store: Store, arun: Any, process_id: str
) -> None:
    hash_ = arun(stored(store, process_id))
    arun(write(store, process_id, hash_, nodes=revised(MAY, CLOSES), corrects=True))
    (node,) = NODES
    first, second, *rest = node.sentences
    bare = second.replace(correction=None, corrected_label=None, error="the correction failed: x")

    def again(run: str, one: Any) -> tuple[str | None, list[tuple[str, str, int | None]]]:
        nodes = (node.replace(sentences=(first, one, *rest)),)
        arun(write(store, process_id, hash_, run, nodes=nodes, corrects=True))
        found = arun(store.attributions.of_node(process_id, "summary")).sentences[1]
        rows = answers(store, arun, "proposed_revisions", process_id=process_id)
        return found.correction, [(row["run"], row["mode"], row["rank"]) for row in rows]

    both = [("r-1", "attribution", 1), ("r-1", "plain", 2)]
    assert again("r-2", bare) == (second.correction, both)
    # One mode has a new wording: it takes the place of that mode alone, and ranks are void.
    anew = Revision.model_validate(CLOSES | {"rank": None})
    assert again("r-3", bare.replace(revisions=(anew,))) == (
        second.correction, [("r-1", "attribution", None), ("r-3", "plain", None)],
    )  # fmt: skip
    # Attributed to something else, the wordings are about another attribution.
    assert again("r-4", bare.replace(attributed=first.attributed)) == (None, [])
