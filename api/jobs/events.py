"""What the events of a job say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from veritrail_graph.api.jobs.model import Kind
from veritrail_graph.api.jobs.storage.events import EventLog
from veritrail_graph.graph.model import Usage, Verdict, Verification
from veritrail_graph.verifier.driver import Observer, Task
from veritrail_graph.verifier.models.port import Meter


def observer(job_id: str, log: EventLog) -> Observer:
    """Notes the progress of every claim of a job; its end is noted where its state changes."""

    def started(task: Task) -> None:
        log.append(job_id, Kind.CLAIM_STARTED, _of(task))

    def judged(task: Task, verdict: Verdict | None, meter: Meter) -> None:
        given = verdict.value if verdict else None
        interim = {"iteration": meter.iteration, "interim_verdict": given}
        usage = {"usage": meter.total.json_object()}
        log.append(job_id, Kind.ITERATION_FINISHED, {**_of(task), **interim, **usage})

    return Observer(claim_started=started, iteration_finished=judged)


def claim_finished(verification: Verification) -> dict[str, Any]:
    """What `claim.finished` tells."""
    return {
        "verification_id": verification.verification_id,
        "claim_id": verification.claim_id,
        "status": verification.status.value,
        "verdict": verification.verdict.value if verification.verdict else None,
        "error": verification.error,
        "usage": verification.usage.json_object(),
    }


def job_finished(status: str, counts: Mapping[str, int], usage: Usage) -> dict[str, Any]:
    """What `job.finished` tells."""
    return {"status": str(status), "counts": dict(counts), "usage": usage.json_object()}


def _of(task: Task) -> dict[str, Any]:
    return {"verification_id": task.verification_id, "claim_id": task.claim.claim_id}
