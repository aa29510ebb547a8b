"""Jobs as their pages show them."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.rendered import rendered

from veritrail_graph.api.app.changes import Changes, ComparedClaim, PossibleMatch
from veritrail_graph.api.page.views.changes import changes_view
from veritrail_graph.api.page.views.jobs import BATCH_WORDS, job_view
from veritrail_graph.graph.model import Status, Usage
from veritrail_graph.graph.model.job import Job, JobKind, JobStatus, WaitingBatch
from veritrail_graph.verifier.models.batch_port import BatchState


def a_job(counts: dict[str, int], **other: Any) -> Job:
    facts = {
        "job_id": "j-1", "run_id": "r-1", "process_id": "p", "kind": JobKind.VERIFICATION,
        "status": JobStatus.RUNNING, "cancelling": False, "submitted_by": "Ada", "counts": counts,
        "usage": Usage(), "reused": 0, "error": None, "warnings": [], "explanation": None,
        "created_at": "", "started_at": None, "ended_at": None, "verification_ids": [],
        "node_ids": [], "turn_ids": [], "batches": [], "asks_models": True,
    }  # fmt: skip
    return Job(**{**facts, **other})


def test_claims_that_wait_again_are_not_called_failed() -> None:
    resumed = a_job({Status.SUCCEEDED: 2, Status.QUEUED: 16, Status.RUNNING: 1, Status.FAILED: 1})
    # The graph still tells how they ended before.
    view = job_view(resumed, {"FULLY_SUPPORTED": 2, Status.CANCELLED: 17, Status.FAILED: 1})
    assert {mark.kind: number for mark, number in view.counts} == {
        "supported": 2,
        "failed": 1,
        "unchecked": 17,
    }


@pytest.mark.parametrize(
    ("asks_models", "usage", "words", "cost"),
    [
        (True, Usage(), "no model has answered", 0.0),
        (True, Usage(calls=2), "unknown", None),
        (True, Usage(calls=2, cost_usd=0.5), None, 0.5),
        (False, Usage(), "no model was asked", 0.0),
    ],
)
def test_a_job_of_a_model_never_says_that_none_was_asked(
    asks_models: bool, usage: Usage, words: str | None, cost: float | None
) -> None:
    view = job_view(a_job({Status.QUEUED: 3}, asks_models=asks_models, usage=usage))
    assert (view.spent.words, view.spent.cost_usd) == (words, cost)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (JobStatus.RUNNING, "Claims are being extracted"),
        (JobStatus.FAILED, "No claims"),
        (JobStatus.CANCELLED, "No claims"),
    ],
)
def test_only_of_a_job_under_way_claims_are_being_extracted(status: JobStatus, words: str) -> None:
    views = [job_view(a_job({}, status=status, created_at="2026-01-01T00:00:00Z"))]
    page = rendered("jobs.html", views=views, process=None, first=None, next=None)
    assert f'<p class="small muted">{words}</p>' in page


def test_every_state_of_a_batch_has_words() -> None:
    assert set(BATCH_WORDS) == {one.value for one in BatchState}


HOSTILE = "<script>alert(1)</script> {{ 7 * 7 }} & more"


def test_the_batches_of_a_job_stand_below_the_words_that_lead_to_them() -> None:
    at = "2026-01-01T00:00:00Z"
    waiting = WaitingBatch(
        batch_id="batch_0", model="m", status="in_progress", lines=6, done=0, failed=0, since=at
    )
    job = a_job({Status.RUNNING: 6}, created_at=at, batches=[waiting])
    page = rendered(
        "job.html", view=job_view(job, {}), job=job, name="P", is_record=False, lines=[],
        is_down=False, changes=None, workers=1, last_event=0, first=None, next=None,
        is_pinned=False, once="", kept=None,
    )  # fmt: skip
    assert '</dl> </div> <div class="stack-tight waits"><p class="small">It waits for 1' in page
    assert "6 answered, since" in page.split('class="stack-tight waits">')[1].split("</div>")[0]


def compared(claim_id: str, before: str | None, now: str | None, **other: Any) -> ComparedClaim:
    facts: dict[str, Any] = {
        "claim": HOSTILE, "verification_id": f"v-{claim_id}", "kept": False, "earlier": "v-0",
        "reason": f"iteration 2: the text of '{HOSTILE}' changed", "status": "succeeded",
        "error_stages_before": [], "error_stages": [], **other,
    }  # fmt: skip
    return ComparedClaim(claim_id=claim_id, verdict_before=before, verdict=now, **facts)


def test_the_page_of_a_job_since_an_earlier_version_says_what_was_kept_and_what_changed() -> None:
    yes, no = "FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED"
    claims = [
        compared("k1", yes, yes, kept=True), compared("k2", yes, no, error_stages=[2]),
        compared("k3", no, no, error_stages_before=[1], error_stages=[2]),
        *(compared(f"k{n}", None, yes, reason=f"reason {n}") for n in range(4, 10)),
    ]  # fmt: skip
    found = Changes(
        since="monday", content_hash="0123456789ab" + "0" * 52, kept=1, verified=8, changed=1,
        moved=1, calls=30, saved_calls=90, saved_share=0.75, claims=claims,
        possible_matches=[
            PossibleMatch(claim_id="k4", claim=HOSTILE, earlier="old", earlier_claim=HOSTILE)
        ],
    )  # fmt: skip
    view = changes_view("p", found)
    assert [one.href for one in view.changed] == [
        "/processes/p/claims/k2?verification=v-k2",
        "/processes/p/claims/k3?verification=v-k3",
    ]
    assert (view.reasons[0][1], view.more_reasons, view.saved) == (2, 2, "75 %")
    job = a_job(
        {Status.SUCCEEDED: 9}, status=JobStatus.SUCCEEDED, created_at="2026-01-01T00:00:00Z",
        since="monday",
        since_content=found.content_hash,
    )  # fmt: skip
    shown = {
        "view": job_view(job, {yes: 8, no: 1}), "job": job, "name": "P", "is_record": False,
        "lines": [], "is_down": False, "kept": None, "changes": view, "workers": 1, "last_event": 0,
        "first": None, "next": None, "is_pinned": False, "once": "", "is_since_stored": True,
    }  # fmt: skip
    page = rendered("job.html", **shown)
    assert 'name="pair" value="[&#34;old&#34;, &#34;k4&#34;]"' in page
    assert 'name="pair"' not in rendered("job.html", **shown, may=lambda scope: scope == "read")
    assert (
        '<a href="/processes/monday"><bdi>monday</bdi></a>, <code dir="auto">0123456789ab' in page
    )
    for name, number in (("Kept", 1), ("Verified anew", 8), ("Changed verdicts", 1)):
        assert f"<dt>{name}</dt><dd>{number}</dd>" in page
    assert "<dt>Same verdict, other error stages</dt><dd>1</dd>" in page
    assert '75 % <span class="muted small">90 of 120</span>' in page
    assert "Error stage: then 1, now 2" in page
    assert "and 2 more reasons" in page
    assert '<code dir="auto">old</code>' in page
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)") == 2 + 1 + 2
