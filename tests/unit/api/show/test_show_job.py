"""The document of a job: every writer makes all fields of the noun of it."""

from __future__ import annotations

import pytest
from fakes.shown_fields import WRITERS, fields_of, left_out
from fakes.trails import spent

from veritrail_graph.api.show.job import NOT_SHOWN, job_shown
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.job import Job, JobExplanation, JobKind, JobStatus, WaitingBatch

BATCH = WaitingBatch(batch_id="batch-1", model="b-model", status="in_progress", lines=2_011,
                     done=1_013, failed=1_017, since="2026-02-01T09:30:00Z")  # fmt: skip
WHOLE = Job(
    job_id="job-1", kind=JobKind.VERIFICATION, status=JobStatus.RUNNING, process_id="process-1",
    run_id="run-1", cancelling=True, submitted_by="desk", counts={"succeeded": 19}, reused=23,
    usage=spent(7, 11, (1_300, 170, 190), 0.23, reasoning_tokens=29, batch_calls=6),
    error="no key", warnings=["a gap"], created_at="2026-01-31T09:30:00Z",
    explanation=JobExplanation(status=Status.FAILED, error="no answer"),
    started_at="2026-01-31T09:31:00Z", ended_at="2026-01-31T09:32:00Z",
    verification_ids=["v-1"], node_ids=["a-node"], turn_ids=["t4"], batches=[BATCH], mode="batch",
    model="a-model", share=8, escalate_to="a-strong-model", since="process-0",
)  # fmt: skip
UNPRICED = WHOLE.replace(usage=spent(1, 0, (1, 0, 1), None, unpriced_calls=1))
SAMPLES = (WHOLE, UNPRICED)
WORDS = {
    "Job.cancelling": "still runs",
    "Job.mode": "in batches",
    "Job.share": "8 claims a prompt",
    "Usage.cost_usd": "$0.2300",
    "Usage.unpriced_calls": "unknown",
}


@pytest.mark.parametrize("writer", WRITERS)
def test_every_field_of_a_job_stands_in_what_a_writer_makes(writer: str) -> None:
    assert set(NOT_SHOWN) <= fields_of(SAMPLES)
    documents = [job_shown(one) for one in SAMPLES]
    assert left_out(writer, SAMPLES, documents, WORDS, NOT_SHOWN) == {}
