"""Jobs as they are shown.

Source: VeriTrail 2 (the three verdicts).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from veritrail_graph.api.jobs.model import OPEN, Job, JobStatus
from veritrail_graph.api.jobs.reading import JobClaim
from veritrail_graph.api.web.links import url
from veritrail_graph.api.web.views.marks import Mark, mark_of
from veritrail_graph.api.web.views.money import Spent, spent
from veritrail_graph.api.web.views.processes import Count, counts_of
from veritrail_graph.graph.model import Status, Verdict, Verification

CLAIMS = 50
"""Claims of a job on a page."""

LONGEST_CLAIM = 400

_ICONS = {
    JobStatus.QUEUED: "waiting",
    JobStatus.RUNNING: "running",
    JobStatus.SUCCEEDED: "supported",
    JobStatus.FAILED: "failed",
    JobStatus.CANCELLED: "stopped",
}
_WORDS = {
    JobStatus.QUEUED: "Waiting",
    JobStatus.RUNNING: "Running",
    JobStatus.SUCCEEDED: "Done",
    JobStatus.FAILED: "Ended with failures",
    JobStatus.CANCELLED: "Cancelled",
}


@dataclass(frozen=True, slots=True)
class JobView:
    """A job, as it stands.

    Attributes:
        job: The job.
        total: How many claims it has.
        done: How many of them have ended, those aside that were cancelled.
        counts: Its claims by mark.
        words: How it stands.
        icon: The icon beside it.
        spent: What it has cost until now.
    """

    job: Job
    total: int
    done: int
    counts: tuple[Count, ...]
    words: str
    icon: str
    spent: Spent

    @property
    def is_open(self) -> bool:
        """Whether something is left to do."""
        return self.job.status in OPEN

    @property
    def may_resume(self) -> bool:
        """Whether claims of it have no verdict, and none is being verified."""
        left = (Status.FAILED, Status.OVER_BUDGET, Status.CANCELLED)
        return not self.is_open and (
            any(self.job.counts.get(one) for one in left) or self.total == 0
        )


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """A claim of a job.

    Attributes:
        place: Its place in the job.
        mark: How it stands.
        text: What it says, cut to a line or two; None: that is not known now.
        claim_id: The claim.
        href: Where it is shown with its trail.
        is_running: Whether it is being verified now.
        failure: Why it has no verdict.
    """

    place: int
    mark: Mark
    text: str | None
    claim_id: str
    href: str
    is_running: bool
    failure: str | None


def job_view(job: Job, outcomes: Mapping[str, int] | None = None) -> JobView:
    """A job, as it stands.

    Args:
        job: The job.
        outcomes: Its claims by verdict; None: nobody looked, so those that have one are left out.
    """
    total = sum(job.counts.values())
    ended = sum(
        number
        for status, number in job.counts.items()
        if status not in (Status.QUEUED, Status.RUNNING, Status.CANCELLED)
    )
    words = "Being cancelled" if job.cancelling else _WORDS[job.status]
    counts = counts_of(_outcomes(job, outcomes)) if outcomes is not None else ()
    cost = spent(job.usage, modelled=job.asks_models)
    return JobView(job, total, ended, counts, words, _ICONS[job.status], cost)


def _outcomes(job: Job, found: Mapping[str, int]) -> dict[str, int]:
    """Verdicts as the graph has them, and the rest as the job has it.

    The graph still says how a claim ended that was taken up again and waits.
    """
    verdicts = {name: number for name, number in found.items() if name in set(Verdict)}
    others = {name: n for name, n in job.counts.items() if name != Status.SUCCEEDED}
    return verdicts | others


def lines_of(
    process_id: str, claims: Iterable[JobClaim], known: Mapping[str, Verification]
) -> list[ClaimLine]:
    """Claims of a job with their marks.

    Args:
        process_id: The process.
        claims: The claims.
        known: What the graph says of their verifications; nothing, where it does not answer.
    """
    return [_line(process_id, one, known.get(one.verification_id)) for one in claims]


def _line(process_id: str, claim: JobClaim, found: Verification | None) -> ClaimLine:
    verdict = found.verdict if found is not None and claim.status is Status.SUCCEEDED else None
    indicative = found.indicative if found is not None else False
    text = found.claim.text if found is not None else None
    if text is not None and len(text) > LONGEST_CLAIM:
        text = text[:LONGEST_CLAIM] + "…"
    return ClaimLine(
        place=claim.place,
        mark=mark_of(verdict, claim.status, claim.failure, indicative=indicative),
        text=text,
        claim_id=claim.claim_id,
        href=url(
            "processes",
            process_id,
            "claims",
            claim.claim_id,
            verification=claim.verification_id if verdict or claim.failure else None,
        ),
        is_running=claim.status is Status.RUNNING,
        failure=claim.failure,
    )
