"""The payloads of the events of a job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from veritrail_graph.api.jobs.model import EventKind, JobHeader, is_explanation
from veritrail_graph.api.jobs.storage.events import EventLog
from veritrail_graph.graph.model import Status, Usage, Verdict, Verification
from veritrail_graph.graph.model.attribution import SentenceAttribution
from veritrail_graph.graph.model.dialogue import TurnVerification
from veritrail_graph.graph.model.job import JobKind
from veritrail_graph.verifier.driver import Observer, Task
from veritrail_graph.verifier.models.port import Meter


def observer(job_id: str, log: EventLog) -> Observer:
    """Notes the progress of every claim of a job; its end is noted where its state changes."""

    def started(task: Task) -> None:
        log.append(job_id, EventKind.CLAIM_STARTED, _of(task))

    def judged(task: Task, verdict: Verdict | None, meter: Meter) -> None:
        given = verdict.value if verdict else None
        interim = {"iteration": meter.iteration, "interim_verdict": given}
        usage = {"usage": meter.total.json_object()}
        log.append(job_id, EventKind.ITERATION_FINISHED, {**_of(task), **interim, **usage})

    return Observer(claim_started=started, iteration_finished=judged)


def claim_finished(verification: Verification) -> dict[str, Any]:
    """Return what `claim.finished` holds."""
    return {
        "verification_id": verification.verification_id,
        "claim_id": verification.claim_id,
        "status": verification.status.value,
        "verdict": verification.verdict.value if verification.verdict else None,
        "error": verification.error,
        "usage": verification.usage.json_object(),
    }


def sentence_finished(found: SentenceAttribution, usage: Usage) -> dict[str, Any]:
    """Return what `sentence.finished` holds beside the place of the sentence."""
    return {
        "status": found.status.value,
        "attributed": len(found.attributed),
        "categories": sorted({one.value for each in found.attributed for one in each.categories}),
        "implied_label": found.implied_label and found.implied_label.value,
        "judged_label": found.judged_label and found.judged_label.value,
        "error": found.error,
        "usage": usage.json_object(),
    }


def turn_finished(found: TurnVerification, usage: Usage) -> dict[str, Any]:
    """Return what `turn.finished` holds beside the turn."""
    categories = Counter(one.category.value for one in found.claims if one.category is not None)
    return {
        "status": found.status.value,
        "label": found.label and found.label.value,
        "score": found.score,
        "claims": len(found.claims),
        "categories": dict(sorted(categories.items())),
        "undecided": sum(one.status is Status.UNDECIDED for one in found.claims),
        "contradicts_itself": found.turn_check and found.turn_check.contradiction,
        "error": found.error,
        "usage": usage.json_object(),
    }


def finished(
    header: JobHeader, verification_id: str, claim_id: str, event: Mapping[str, Any]
) -> tuple[EventKind, dict[str, Any]]:
    """The event of the end of a claim, a sentence or a turn, with what its row says of it.

    Args:
        header: The header of its job.
        verification_id: The `verification_id` of its row.
        claim_id: The `claim_id` of its row.
        event: What else the event holds.
    """
    if is_explanation(verification_id):
        others = {name: event[name] for name in event if name not in _OF_CLAIMS}
        return EventKind.EXPLANATION_FINISHED, {"sentences": {}, **others}
    if header.kind is JobKind.VERIFICATION:
        return EventKind.CLAIM_FINISHED, {**event, "claim_id": claim_id}
    said = {name: event[name] for name in event if name not in _OF_CLAIMS}
    if header.kind is JobKind.DIALOGUE:
        return EventKind.TURN_FINISHED, {"turn_id": header.turn(claim_id), **said}
    node_id, sentence = header.sentence(claim_id)
    return EventKind.SENTENCE_FINISHED, {"node_id": node_id, "sentence": sentence, **said}


_OF_CLAIMS = ("verification_id", "claim_id", "verdict")


def job_finished(status: str, counts: Mapping[str, int], usage: Usage) -> dict[str, Any]:
    """Return what `job.finished` holds."""
    return {"status": str(status), "counts": dict(counts), "usage": usage.json_object()}


def _of(task: Task) -> dict[str, Any]:
    return {"verification_id": task.verification_id, "claim_id": task.claim.claim_id}
