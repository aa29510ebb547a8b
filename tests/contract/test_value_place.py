"""A claim whose figure was turned on the way: verified, stored, and asked where it went wrong."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.processes import process
from fakes.scripted_judge import INC, NFS, Script, ScriptedJudge

from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import LocatedBy, NodeRef, Role, Verification
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.graph.store import Store
from veritrail_graph.verifier.driver import Task
from veritrail_graph.verifier.engines.lexical import LexicalJudge
from veritrail_graph.verifier.nodes import SharedNodes
from veritrail_graph.verifier.ports import Judge
from veritrail_graph.verifier.run import Run

pytestmark = pytest.mark.engine

TEXTS = {
    "page": "The board met in May. The harbour spent 310,000 euros on a new crane in 2023.",
    "summary": "In 2023 the harbour paid for a new crane: it cost 130,000 euros.",
    "answer": "The harbour spent 130,000 euros on a new crane in 2023.",
}


async def verified(store: Store, process_id: str, judge: Judge) -> Verification:
    """The claim of the answer, verified and read back as it is stored."""
    (claim,) = await store.claims.all(process_id)
    node = NodeRef("answer", 3, 2, Role.TERMINAL)
    nodes = SharedNodes(store.reading, process_id, SentenceSplitter.for_language())
    (made,) = await Run(process_id, judge, nodes, store.trails.write).verify([Task(claim, node)])
    stored = await store.trails.get(made.verification_id)
    assert stored.json_object() == made.json_object()
    return stored


def test_the_place_of_a_value_is_stored_and_answers_where_it_went_wrong(
    store: Store, arun: Any, process_id: str
) -> None:
    edges = [("page", "summary"), ("summary", "answer")]
    source = process(TEXTS, edges, {"k": TEXTS["answer"]}, process_id=process_id)
    arun(ingest(store, source))

    by_words = arun(verified(store, process_id, LexicalJudge()))
    assert (by_words.located_by, by_words.error_stages) == (LocatedBy.VALUE, (2,))
    finds = {"page": (1,), "summary": (0,)}
    model = ScriptedJudge(Script(finds, (INC, NFS)), name="openai", model="m", indicative=False)
    by_model = arun(verified(store, process_id, model))
    assert (by_model.located_by, by_model.error_stages) == (LocatedBy.VALUE, ())
    assert by_model.value_place == by_words.value_place

    for found, is_offer in ((by_words, False), (by_model, True)):
        asked = {"process_id": process_id, "claim_id": "k"}
        asked["verification_id"] = found.verification_id
        (row,) = arun(store.queries.run("error_origin", asked)).rows
        assert row[4] == "summary"
        assert list(row[-5:-1]) == ["value", is_offer, "310,000 euros", "130,000 euros"]
    (judged,) = arun(store.claims.judged(process_id, ["k"])).values()
    assert judged.value_place == by_model.value_place
