"""Shared prompts and cascades are said wherever a judge is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.trails import NFS, a_round, a_trail

from veritrail_graph.api.cli.trail import judge_words
from veritrail_graph.api.mcp.results import trail_of, trail_text
from veritrail_graph.api.views.asking import asked_as, asking_sentences
from veritrail_graph.graph.asking import Asking, asking_behind
from veritrail_graph.graph.model import Verification


def judged(settings: dict[str, Any] | None = None, **other: Any) -> Verification:
    text = json.dumps(settings) if settings is not None else None
    return a_trail("v-1", a_round(1, NFS, "s1"), settings=text, **other)


SHARED = {"steps": {"evidence_selection_shared": {"claims": 8}}}
SAYS = "Shared prompts (ours, not the paper's): up to 8 claims in one prompt"


@pytest.mark.parametrize(
    "one",
    [
        judged(share=8),
        judged(SHARED),
        judged({"evidence": SHARED, "verdict": {"engine": "nli"}}),
    ],
)
def test_shared_prompts_are_said_by_every_output(one: Verification) -> None:
    assert asking_behind(one) == Asking(8)
    assert asked_as(one) == ", 8 claims a prompt"
    assert [text.startswith(SAYS) for text in asking_sentences([one, one])] == [True]
    assert "a-model, 8 claims a prompt, q = 3" in judge_words(one)
    told = trail_of(one, None)
    assert told.asked == list(asking_sentences([one]))
    assert SAYS in trail_text(told)


def test_a_judge_that_is_asked_as_the_paper_asks_needs_no_words() -> None:
    one = judged({"steps": {"evidence_selection": {"model": "m"}, "verdict": {"model": "m"}}})
    assert (asked_as(one), asking_sentences([one, judged()])) == ("", ())
    assert "ours" not in trail_text(trail_of(one, None))
