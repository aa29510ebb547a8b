"""What a report takes from a trail: context of sentences, and what counts of a claim."""

from __future__ import annotations

from fakes.trails import a_trail

from veritrail_graph.api.show.reports.data import ReportData
from veritrail_graph.api.show.reports.material import checked_claim
from veritrail_graph.api.show.texts import visible
from veritrail_graph.api.show.words import State
from veritrail_graph.graph.model import Claim, Process, Status


def test_a_verdict_counts_more_than_a_later_failure():
    claim = Claim(claim_id="k", text="It rained.", node_id="t")
    older = a_trail("v1", claim=claim, created_at="2026-01-01T00:00:00.000000Z")
    newer = a_trail(
        "v2", claim=claim, status=Status.FAILED, verdict=None, error="no answer",
        created_at="2026-01-02T00:00:00.000000Z",
    )  # fmt: skip
    found = checked_claim(claim, [older, newer])
    assert found.verification is older
    assert found.later is newer
    assert checked_claim(claim, [newer]).state is State.FAILED
    waiting = a_trail("v3", claim=claim, status=Status.QUEUED, verdict=None)
    assert checked_claim(claim, [waiting]).state is State.UNCHECKED


def test_an_edited_claim_says_that_its_verdict_is_about_other_words():
    was = a_trail("v1", claim=Claim(claim_id="k", text="It rained.", node_id="t"))
    found = checked_claim(Claim(claim_id="k", text="It snowed.", node_id="t"), [was])
    assert found.was_edited
    assert (found.verdict, found.state) == (None, State.UNCHECKED)
    assert any("was edited" in one for one in found.remarks)


def test_a_report_says_which_verdicts_were_kept_and_why():
    claim = Claim(claim_id="k", text="It rained.", node_id="t")
    kept = a_trail(
        "v2", claim=claim, reused_from="v1", reuse_reason="nothing that it read changed"
    )  # fmt: skip
    fresh = a_trail("v3", claim=claim)
    found = [checked_claim(claim, [kept]), checked_claim(claim, [fresh])]
    remark = "The verdict was kept from v1: nothing that it read changed."
    assert [one.since for one in found] == [(remark,), ()]
    process = Process(
        process_id="p", name="P", question=None, source_format="x", content_hash="0",
        stages={1: 1, 2: 1}, stage_names={}, terminals=("t",), nodes=2, edges=1,
    )  # fmt: skip
    material = ReportData(process, tuple(found), 2)
    (line,) = material.judgements
    assert line.startswith("2 claims by ")
    assert line.endswith(", 1 of them kept from earlier verifications")


def test_what_hides_in_a_text_is_made_visible():
    assert visible("a\x07b\u202ec\ud800\n\té") == "a\\u{7}b\\u{202e}c\\u{d800}\n\té"
