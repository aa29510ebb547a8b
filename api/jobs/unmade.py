"""Verifications that the graph does not have: those in flight, and those that ended unmade.

What is in flight belongs to the database of jobs. A claim that ends without being verified
(cancelled, or given up with its whole job) is written to the graph first and ends in its job after
that, as every other claim does; so a kill in between leaves nothing but work to repeat.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.jobs.model import UNJUDGED, JobClaim, Version, kind_of
from veritrail_graph.api.jobs.storage import JobRow, Transaction, changes, reading
from veritrail_graph.api.jobs.storage.changes import CANCELLED
from veritrail_graph.api.jobs.storage.events import EventLog
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Claim, Status, Verification
from veritrail_graph.graph.model.job import JobKind

if TYPE_CHECKING:
    from veritrail_graph.api.configured.judge import ConfiguredJudge
    from veritrail_graph.graph.store import Store

_log = logging.getLogger("veritrail.jobs")

ENDED_TOGETHER = 1_000

Ask = Callable[[Callable[["Store"], Awaitable[Any]]], Awaitable[Any]]
"""Asks the graph something that may be asked twice."""
RunTransaction = Callable[[Callable[[Transaction], Any]], Awaitable[Any]]


def header_of(judge: ConfiguredJudge, since: Version | None = None) -> str:
    """Return what all verifications of a job have in common, as JSON for its row.

    Args:
        judge: Who judges.
        since: The earlier version from which verdicts are kept.
    """
    from veritrail_graph.api.work.runs import options_of

    judging = judge.judge
    return json.dumps(
        {
            "q": judge.how.q,
            "engine": judging.name,
            "model": judging.model,
            "indicative": judging.indicative,
            "run_options": options_of(judge),
        }
        | ({} if since is None else {"since": [since.process_id, since.content_hash]})
    )


def unmade(job: JobRow, one: JobClaim, claim: Claim) -> Verification:
    """A claim of a job as a verification without a trail."""
    said = json.loads(job["header"])
    said.pop(UNJUDGED, None)  # of the job, and of none of its verifications
    return Verification.of_claim(
        claim,
        **said,
        verification_id=one.verification_id,
        process_id=job["process_id"],
        run_id=job["run_id"],
        content_hash=job["content_hash"],
        settings=job["settings"],
        place=one.place,
        created_at=job["created_at"],
        status=one.status,
        error=one.failure,
    )


async def all_unmade(store: Store, job: JobRow, claims: Sequence[JobClaim]) -> list[Verification]:
    """Claims of a job as verifications; those whose claim is not stored any more are left out."""
    ids = list(dict.fromkeys(one.claim_id for one in claims))
    stored = {one.claim_id: one for one in await store.claims.by_id(job["process_id"], ids)}
    return [unmade(job, one, stored[one.claim_id]) for one in claims if one.claim_id in stored]


async def write_ends(
    ask: Ask, job: JobRow, claims: Sequence[JobClaim], status: Status, why: str
) -> None:
    """Write to the graph that claims ended without being verified.

    Of sentences and turns the graph has only what was found: there is nothing to write.

    Raises:
        EngineError: The graph does not answer.
    """
    if kind_of(job["header"]) is not JobKind.VERIFICATION:
        return

    async def write(store: Store) -> None:
        found = await all_unmade(store, job, claims)
        ended = {"status": status, "error": why, "created_at": now()}
        await store.trails.write_ends([one.replace(**ended) for one in found])

    try:
        await ask(write)
    except InputError as error:  # the process was removed, and its verifications with it
        _log.info("the end of claims is not stored: %s", error)


async def lost(ask: Ask, read: RunTransaction, job_id: str) -> set[str]:
    """Verifications of a job that succeeded and that the graph does not have any more.

    There are none where the process is not stored, or has another content now: then nothing of the
    job can be verified again.

    Raises:
        EngineUnavailable: The graph or the database does not answer.
    """
    job = await read(partial(reading.job_of, job_id=job_id))
    if job is not None and kind_of(job["header"]) is not JobKind.VERIFICATION:
        return set()  # what replaced it counts now, and is not to be undone
    names = await read(partial(reading.succeeded_of, job_id=job_id))
    if job is None or not names:
        return set()

    async def found(store: Store) -> set[str]:
        if (await store.processes.get(job["process_id"])).content_hash != job["content_hash"]:
            return set()
        return set(names) - {one.verification_id for one in await store.trails.headers(names)}

    try:
        return await ask(found)  # type: ignore[no-any-return]
    except InputError:
        return set()


@dataclass(frozen=True, slots=True)
class Ender:
    """Ends the queued claims of jobs that were stopped.

    Attributes:
        ask: Asks the graph.
        read: Runs a transaction that only reads.
        run: Runs a transaction.
        log: The events.
    """

    ask: Ask
    read: RunTransaction
    run: RunTransaction
    log: EventLog

    async def end_queued(
        self, job_id: str, status: Status | None = None, why: str | None = None
    ) -> None:
        """End the queued claims of a job that was cancelled or given up: graph first, then job.

        Args:
            job_id: The job; one that is not stopped is left alone.
            status: How they end; None: as cancelled where somebody cancelled the job, as failed
                where it was given up.
            why: The reason for each of them; None: that of the job.

        Raises:
            EngineError: The graph or the database does not answer.
        """
        job = await self.read(partial(reading.job_of, job_id=job_id))
        if job is None or not (job["is_cancelled"] or job["error"]):
            return
        status = status or (Status.CANCELLED if job["is_cancelled"] else Status.FAILED)
        why = why or job["error"] or CANCELLED
        claims = await self.read(partial(reading.queued_claims, job_id=job_id))
        for start in range(0, len(claims), ENDED_TOGETHER):
            some = claims[start : start + ENDED_TOGETHER]
            await write_ends(self.ask, job, [one for one, _ in some], status, why)
            ended = [work for _, work in some]
            await self.run(
                partial(changes.give_up, claims=ended, status=status, why=why, log=self.log)
            )
