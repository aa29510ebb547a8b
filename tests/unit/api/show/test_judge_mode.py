"""Shared prompts and cascades are said wherever a judge is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.trails import FS, NFS, NODES, a_round, a_trail

from veritrail_graph.api.mcp.results import trail_of, trail_text
from veritrail_graph.api.show.asking import asked_as, asking_sentences
from veritrail_graph.api.show.reports.data import ReportedClaim
from veritrail_graph.api.show.trail_view import trail_view
from veritrail_graph.api.show.verifications import judge_words
from veritrail_graph.graph.judge_mode import judge_mode_of
from veritrail_graph.graph.model import Verdict, Verification
from veritrail_graph.graph.model.run import JudgeMode

INC = Verdict.INCONCLUSIVE


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
    assert judge_mode_of(one) == JudgeMode(8)
    assert asked_as(one) == ", 8 claims a prompt"
    assert [text.startswith(SAYS) for text in asking_sentences([one, one])] == [True]
    assert "a-model, 8 claims a prompt, q = 3" in judge_words(one)
    told = trail_of(one, None)
    assert told.asked == list(asking_sentences([one]))
    assert SAYS in trail_text(one)


CASCADE = {"steps": {"verdict": {"model": "cheap", "escalate_to": {"model": "strong"}}}}
RULE = (
    "A cascade of two judges (ours, not the paper's): the first judge's verdict counts where it is "
    "Fully Supported and every sample gave it; everywhere else strong is asked about the same "
    "evidence, and its verdict counts."
)


def test_a_cascade_and_its_rule_are_said_by_every_output() -> None:
    one = judged(CASCADE, model="cheap + strong")
    assert judge_mode_of(one) == JudgeMode(second="strong")
    assert asking_sentences([one]) == (RULE,)
    assert "cheap + strong, cascade, q = 3" in judge_words(one)
    assert RULE in trail_text(one)
    both = judged({"steps": CASCADE["steps"] | SHARED["steps"]})
    assert asked_as(both) == ", 8 claims a prompt, cascade"
    assert len(asking_sentences([both])) == 2


@pytest.mark.parametrize(
    ("verdict", "reasons", "why"),
    [
        (NFS, "No pier.", "The first judge's verdict was Not Fully Supported (No pier.)"),
        (INC, "Unclear.", "The first judge's verdict was Inconclusive (Unclear.)"),
        (FS, "Yes.", "The first judge's samples differed (Yes.)"),
        (None, "no valid answer: cut off", "The first judge gave no valid answer (cut off)"),
        (NFS, "", "The first judge's verdict was Not Fully Supported"),
    ],
)
def test_a_trail_says_the_true_reason_why_the_second_judge_was_asked(
    verdict: Verdict | None, reasons: str, why: str
) -> None:
    said = {"judged_by": "strong", "first_verdict": verdict, "first_reasoning": reasons}
    one = a_trail("v-1", a_round(1, NFS, "s1", **said))
    words = f"{why}, so strong was asked, and its verdict counts."
    assert trail_view(one).iterations[0].remarks == (words,)
    assert words in trail_text(one)


def test_a_report_says_of_a_claim_what_changed_since_the_earlier_version() -> None:
    def claim(now: Verification, before: Verification) -> ReportedClaim:
        return ReportedClaim(now.verified_claim, now, before=before)

    old = judged(error_nodes=(NODES["c1"],)).replace(verification_id="v-0")
    new = judged(error_nodes=(NODES["s1"],))
    supported = new.replace(verdict=FS, error_nodes=(), error_stages=())
    assert claim(supported, old).since == (
        "The verdict changed: in the earlier version it was Not Fully Supported (v-0).",
    )
    assert claim(new, old).since == (
        "The error stages moved: in the earlier version they were 1 (v-0).",
    )
    assert claim(new, new).since == ()
    assert claim(new, old).remarks == claim(new, old).since


def test_an_assistant_is_told_why_no_earlier_verdict_was_kept() -> None:
    why = "iteration 2: the text of 'r2' changed"
    one = judged(reuse_reason=why, compared_with="v-0")
    told = trail_of(one, None)
    assert (told.kept_from, told.not_kept) == (None, why)
    assert f'No earlier verdict was kept: "{why}"' in trail_text(one)
    kept = trail_of(judged(reuse_reason="nothing changed", reused_from="v-0"), None)
    assert (kept.kept_from, kept.not_kept) == ("kept from v-0: nothing changed", None)


def test_a_judge_that_is_asked_as_the_paper_asks_needs_no_words() -> None:
    one = judged({"steps": {"evidence_selection": {"model": "m"}, "verdict": {"model": "m"}}})
    assert (asked_as(one), asking_sentences([one, judged()])) == ("", ())
    assert "ours" not in trail_text(one)
