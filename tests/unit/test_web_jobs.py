"""Jobs as their pages show them."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.rendered import rendered

from veritrail_graph.api.jobs.model import Job, JobStatus
from veritrail_graph.api.web.views.jobs import job_view
from veritrail_graph.graph.model import Status, Usage


def a_job(counts: dict[str, int], **other: Any) -> Job:
    facts = {"status": JobStatus.RUNNING, "asks_models": True, **other}
    return Job(
        job_id="j-1",
        run_id="r-1",
        process_id="p",
        cancelling=False,
        name="Ada",
        key_id=None,
        verification_ids=(),
        counts=counts,
        **facts,
    )


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
