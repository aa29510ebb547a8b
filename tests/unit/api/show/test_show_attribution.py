"""The document of attributed sentences: every writer makes all fields of the noun of it."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.shown_fields import WRITERS, fields_of, left_out

from veritrail_graph.api.show.attribution import NOT_SHOWN, node_shown
from veritrail_graph.graph.model.attribution import CarriedSentence

PLACE = {"start": 0, "end": 9}
SOURCE = {"node_id": "notes", "sentence": 3, **PLACE, "text": "It may close in winter.",
          "categories": ["NEAR_MATCH", "CONTRADICTION"]}  # fmt: skip
PARTS = [
    {"spans": [[0, 9]], "text": "It will close", "attributed": [SOURCE],
     "implied_label": "UNFAITHFUL"},
    {"spans": [[9, 12]], "text": "the quay", "attributed": [], "implied_label": "FAITHFUL"},
]  # fmt: skip
WORDING = {"text": "The quay may close.", "mode": "plain", "edits": 1, "outcome": "partly",
           "rechecked_by": "walk", "claims": 12, "supported": 11, "rank": 1}  # fmt: skip
COMMON: dict[str, Any] = {
    "node_id": "summary", "sentence": 7, **PLACE, "text": "The quay will close.",
    "status": "succeeded", "run_id": "run-1",
}  # fmt: skip
WHOLE = CarriedSentence.model_validate(
    {**COMMON, "attributed": [SOURCE], "implied_label": "UNFAITHFUL", "judged_label": "FAITHFUL",
     "judged_reason": "it says so", "error": "a correction failed", "dropped_ids": 13,
     "propositions": PARTS, "revisions": [WORDING, {**WORDING, "mode": "attribution"}],
     "correction": "The quay may close.", "corrected_label": "FAITHFUL", "engine": "an-engine",
     "model": "a-model", "indicative": True, "against": "inputs", "in_force": True,
     "attributed_at": "2026-01-31T09:30:00Z"},
    strict=False,
)  # fmt: skip
BY_WORDS = CarriedSentence.model_validate({**COMMON, "engine": "an-engine"}, strict=False)
SAMPLES = (WHOLE, BY_WORDS)
OTHERWISE = {
    "CarriedSentence.implied_label": "the attribution implies: unfaithful",
    "CarriedSentence.judged_label": "faithful",
    "CarriedSentence.indicative": "(indicative)",
    "CarriedSentence.against": "against the inputs of the node",
    "CarriedSentence.attributed_at": "2026-01-31",
    "AttributedSentence.categories": "near match + contradiction",
    "Proposition.implied_label": "part, unfaithful",
    "Revision.outcome": "partly fixed",
    "Revision.rechecked_by": "by a verification of its claims",
    "Revision.claims": "11 of 12 claims supported",
    "Revision.rank": "proposed: 1. plain",
}


def test_each_field_that_is_not_shown_is_one_of_the_noun() -> None:
    assert set(NOT_SHOWN) <= fields_of(SAMPLES)


@pytest.mark.parametrize("writer", WRITERS)
def test_every_field_of_an_attributed_sentence_stands_in_what_a_writer_makes(writer: str) -> None:
    documents = [node_shown(one.node_id, [one]) for one in SAMPLES]
    assert left_out(writer, SAMPLES, documents, OTHERWISE, NOT_SHOWN) == {}
