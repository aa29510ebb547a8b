"""The documents of processes: every writer makes all fields of the nouns of them."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.shown_fields import WRITERS, fields_of, left_out, read

from veritrail_graph.api.show.processes import LIST_NOT_SHOWN, process_shown, processes_shown
from veritrail_graph.graph.agreement import agreement_of
from veritrail_graph.graph.model.processes import ProcessOverview, ProcessSummary

LISTED: dict[str, Any] = {
    "process_id": "process-1", "name": "A harbour", "status": "ready", "nodes": 33, "edges": 32,
    "claims": 1_024, "verdicts": {"FULLY_SUPPORTED": 17, "undecided": 19}, "indicative": True,
    "indicative_claims": 12,
}  # fmt: skip
LIST = (ProcessSummary.model_validate(LISTED),)
WHOLE = (
    ProcessOverview.model_validate(
        {**LISTED, "indicative_claims": 0, "question": "How did it grow?", "source_format": "otlp",
         "content_hash": "c0" * 32, "verifications": 1_048, "terminals": ["final-text"],
         "stages": {"1": 14, "2": 15}, "stage_names": {"1": "source page"},
         "warnings": ["a gap"], "run_of_record": "run-7", "project": "harbours", "tags": ["tag-9"]}
    ),
)  # fmt: skip
WORDS = {
    "ProcessSummary.indicative": "verdicts are indicative",
    "ProcessOverview.indicative": "verdicts are indicative",
}


@pytest.mark.parametrize("writer", WRITERS)
def test_every_field_of_processes_stands_in_what_a_writer_makes(writer: str) -> None:
    assert set(LIST_NOT_SHOWN) <= fields_of(LIST)
    assert left_out(writer, LIST, [processes_shown(LIST)], WORDS, LIST_NOT_SHOWN) == {}
    found = left_out(
        writer, WHOLE, [process_shown(WHOLE[0])], WORDS, {"ProcessOverview.indicative_claims"}
    )
    assert found == {}


def test_a_list_says_what_people_said_and_only_that_verdicts_are_indicative_if_not_how_many() -> (
    None
):
    (process,) = LIST
    unread = process.replace(indicative_claims=0)
    agreement = agreement_of("process-1", ()).replace(reviews=3, claims=2, unclear=1, disputed=1)
    shown = read(WRITERS["plain"](processes_shown([unread], {"process-1": agreement})))
    assert "| yes | 1,024 | 2 claims: 0 overridden, 1 unclear, 1 disputed" in shown


def test_a_short_id_stands_in_place_of_the_whole_one() -> None:
    (one,) = LIST[:1]
    shown = read(WRITERS["plain"](processes_shown([one], short={one.process_id: "proc"})))
    assert one.process_id not in shown
    assert "proc" in shown
