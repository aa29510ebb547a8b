"""Changes of jobs and their claims; every function is part of a transaction of the caller.

A job has ended when none of its claims is open; both are looked at under the same lock on the row
of the job, so that of two workers that finish its last claims one ends it. The sums of a job are
never counted along, always counted from its claims.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from veritrail_graph.api.jobs.events import finished, job_finished
from veritrail_graph.api.jobs.model import (
    OPEN_CLAIMS,
    UNJUDGED,
    Busy,
    Ended,
    EventKind,
    JobHeader,
    Work,
    explanation_row,
    goes_whole,
    kind_of,
)
from veritrail_graph.api.jobs.storage import webhook_messages
from veritrail_graph.api.jobs.storage.events import EventLog
from veritrail_graph.api.jobs.storage.reading import first_open, found_jobs, job_of, queued_claims
from veritrail_graph.api.jobs.storage.sums import (
    OF_CLAIMS,
    JobTotals,
    extraction_usage,
    is_lacking,
    totals_of,
)
from veritrail_graph.api.jobs.storage.tables import job_claims, jobs
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.model import Status, Usage
from veritrail_graph.graph.model.canonical import canonical
from veritrail_graph.graph.model.job import OPEN, Job, JobKind, JobStatus

MOST_BEGINNINGS = 25
"""So often a claim is begun; a claim that takes its worker with it each time is given up."""
CANCELLED = "the job was cancelled before this claim was finished"

_HELD = (
    sa.select(jobs)
    .where(jobs.c.job_id.in_(sa.bindparam("job_ids", expanding=True)))
    .order_by(jobs.c.job_id)
    .with_for_update()
)
_SOME = sa.select(job_claims).where(
    job_claims.c.verification_id.in_(sa.bindparam("verification_ids", expanding=True))
)
_JOB = sa.update(jobs).where(jobs.c.job_id == sa.bindparam("of_job"))
_CLAIM = sa.update(job_claims).where(
    job_claims.c.job_id == sa.bindparam("of_job"),
    job_claims.c.verification_id == sa.bindparam("of_verification"),
)
_TURNS = sa.select(
    sa.select(sa.func.max(job_claims.c.priority))
    .where(job_claims.c.key_id == sa.bindparam("of_key"), job_claims.c.status == Status.QUEUED)
    .scalar_subquery()
    .label("last"),
    sa.select(sa.func.max(job_claims.c.priority))
    .where(job_claims.c.status == Status.RUNNING)
    .scalar_subquery()
    .label("served"),
)
_USAGE = tuple(name for name in Usage.model_fields if name != "cost_usd")


def hold(connection: Connection, job_ids: Iterable[str]) -> dict[str, RowMapping]:
    """Hold jobs until the transaction ends; those that were removed are left out."""
    found = connection.execute(_HELD, {"job_ids": sorted(job_ids)})
    return {row["job_id"]: row for row in found.mappings()}


def begin(
    connection: Connection, worker_id: str, claims: Sequence[Work], log: EventLog
) -> dict[tuple[str, str], str | None]:
    """Let a worker have claims.

    Returns:
        By job_id and verification_id those that the worker has; with the reason where it may only
        end one as failed.
    """
    held = hold(connection, {one.job_id for one in claims})
    rows = _claims(connection, claims)
    mine: dict[tuple[str, str], str | None] = {}
    for one in claims:
        row, job = rows.get((one.job_id, one.verification_id)), held.get(one.job_id)
        if row is None or job is None or row["attempt"] != one.attempt:
            continue
        if Status(row["status"]) not in OPEN_CLAIMS or job["is_cancelled"] or job["error"]:
            continue
        is_last = row["begun"] >= MOST_BEGINNINGS
        why = f"given up: the worker ended {row['begun']} times while this was verified"
        mine[one.job_id, one.verification_id] = why if is_last else None
    if mine:
        connection.execute(
            _CLAIM.values(status=Status.RUNNING, worker_id=worker_id, begun=job_claims.c.begun + 1),
            [{"of_job": job_id, "of_verification": one} for job_id, one in mine],
        )
    for job_id in {job_id for job_id, _ in mine}:
        start(connection, held[job_id], log)
    return mine


def start(connection: Connection, job: RowMapping, log: EventLog) -> None:
    """Work on a job begins, if it has not begun yet."""
    if job["status"] != JobStatus.QUEUED:
        return
    connection.execute(
        sa.update(jobs)
        .where(jobs.c.job_id == job["job_id"])
        .values(status=JobStatus.RUNNING, started_at=job["started_at"] or now())
    )
    log.append_in(connection, job["job_id"], EventKind.JOB_STARTED, {"job_id": job["job_id"]})


def finish(connection: Connection, worker_id: str, ended: Sequence[Ended], log: EventLog) -> None:
    """Keep how claims ended; what a worker has that was given to another one is left aside."""
    held = hold(connection, {one.of.job_id for one in ended})
    rows = _claims(connection, [one.of for one in ended])
    mine = []
    for one in ended:
        row = rows.get((one.of.job_id, one.of.verification_id))
        if row is None or row["worker_id"] != worker_id or row["attempt"] != one.of.attempt:
            continue
        if row["status"] == Status.RUNNING:
            before = Usage(**{name: row[name] for name in _USAGE}, cost_usd=row["cost_usd"])
            mine.append((replace(one, usage=before + one.usage), row["claim_id"]))
    end(connection, held, mine, log)


def end(
    connection: Connection,
    held: Mapping[str, RowMapping],
    ended: Sequence[tuple[Ended, str]],
    log: EventLog,
) -> None:
    """Set claims to their end, tell of it, and end the jobs of which nothing is left.

    Args:
        connection: The transaction.
        held: Their jobs.
        ended: How they ended, each with the `claim_id` of its row.
        log: The events.
    """
    if not ended:
        return
    values = [
        {
            "of_job": one.of.job_id,
            "of_verification": one.of.verification_id,
            "status": one.status.value,
            "failure": _storable(one.failure),
            **one.usage.json_object(),
        }
        for one, _ in ended
    ]
    connection.execute(_CLAIM, values)
    by_job: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    headers = {
        job_id: JobHeader.of(held[job_id]["header"])
        for job_id in {one.of.job_id for one, _ in ended}
    }
    for one, claim_id in ended:
        job_id = one.of.job_id
        by_job.setdefault(job_id, []).append(
            finished(headers[job_id], one.of.verification_id, claim_id, one.event)
        )
    for job_id in sorted(by_job):
        ending = _ending(connection, held[job_id], log)
        log.append_all_in(connection, job_id, [*by_job[job_id], *ending])


def settle(connection: Connection, job_id: str, log: EventLog) -> None:
    """End a job of which nothing is left to do; the job is held."""
    job = job_of(connection, job_id)
    if job is None:
        return
    for kind, data in _ending(connection, job, log):
        log.append_in(connection, job_id, kind, data)


def _ending(
    connection: Connection, job: RowMapping, log: EventLog
) -> list[tuple[EventKind, Mapping[str, Any]]]:
    """End a job of which nothing is left to do; gives the event of it.

    Args:
        connection: The transaction.
        job: The job as it is, held.
        log: The events.
    """
    job_id = job["job_id"]
    if JobStatus(job["status"]) not in OPEN or first_open(connection, job_id) is not None:
        return []
    if not job["is_extracted"] and not job["is_cancelled"] and job["error"] is None:
        return []
    totals = totals_of(connection, [job_id])[job_id]
    status = _outcome(job, totals)
    connection.execute(_JOB, {"of_job": job_id, "status": status, "ended_at": now()})
    usage = totals.usage + extraction_usage(job)
    if log.has_webhook and not job["is_local"]:
        webhook_messages.add(connection, job, status, totals.counts)
    return [(EventKind.JOB_FINISHED, job_finished(status, totals.counts, usage))]


def _outcome(job: RowMapping, totals: JobTotals) -> JobStatus:
    explained = totals.explanation
    is_whole = job["is_extracted"] and job["error"] is None and not totals.lacking
    is_whole = is_whole and (explained is None or explained.status is Status.SUCCEEDED)
    if is_whole and all(Status(status).is_result for status in totals.counts):
        return JobStatus.SUCCEEDED
    return JobStatus.CANCELLED if job["is_cancelled"] else JobStatus.FAILED


def give_up(
    connection: Connection, claims: Sequence[Work], status: Status, why: str, log: EventLog
) -> None:
    """End claims of stopped jobs that are still queued, once the graph says that they ended.

    Args:
        connection: The transaction.
        claims: The claims.
        status: How they end.
        why: The reason for each of them.
        log: The events.
    """
    held = hold(connection, {one.job_id for one in claims})
    rows = _claims(connection, claims)
    left = []
    for one in claims:
        row, job = rows.get((one.job_id, one.verification_id)), held.get(one.job_id)
        if row is None or job is None or not (job["is_cancelled"] or job["error"]):
            continue
        if row["status"] == Status.QUEUED and row["attempt"] == one.attempt:
            left.append((_given_up(row, status, why), row["claim_id"]))
    end(connection, held, left, log)


def note_error(connection: Connection, job_id: str, why: str, log: EventLog) -> None:
    """Note a reason that holds for all claims of a job; one without claims has ended."""
    if not hold(connection, [job_id]):
        return
    connection.execute(
        sa.update(jobs)
        .where(jobs.c.job_id == job_id, jobs.c.error.is_(None))
        .values(error=_storable(why))
    )
    settle(connection, job_id, log)


def _storable(text: str | None) -> str | None:
    """A reason as PostgreSQL takes it, whatever a model or a file put into it."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}") if text is not None else None


def _claims(connection: Connection, claims: Sequence[Work]) -> dict[tuple[str, str], RowMapping]:
    names = [one.verification_id for one in claims]
    found = connection.execute(_SOME, {"verification_ids": names}).mappings()
    return {(row["job_id"], row["verification_id"]): row for row in found}


def _given_up(row: RowMapping, status: Status, why: str) -> Ended:
    begun = Work(row["job_id"], row["verification_id"], row["attempt"])
    usage = Usage(**{name: row[name] for name in _USAGE}, cost_usd=row["cost_usd"])
    event = {
        "verification_id": begun.verification_id,
        "claim_id": None,
        "status": status.value,
        "verdict": None,
        "error": why,
        "usage": Usage().json_object(),
    }
    return Ended(begun, status, why, usage, event)


UNFINISHED = (Status.FAILED, Status.OVER_BUDGET, Status.CANCELLED)


def insert(
    connection: Connection,
    job: Mapping[str, Any],
    claims: Sequence[Mapping[str, Any]],
    log: EventLog,
) -> None:
    """Keep a job with its claims; one of which everything was verified before has ended with it.

    Raises:
        IntegrityError: There is a job with this idempotency key.
    """
    connection.execute(sa.insert(jobs).values(**job))
    add_claims(connection, job["job_id"], job["key_id"], claims)
    if job["is_extracted"]:
        settle(connection, job["job_id"], log)


def add_claims(
    connection: Connection, job_id: str, key_id: str, claims: Sequence[Mapping[str, Any]]
) -> None:
    """Add claims to a job, each with its turn."""
    if not claims:
        return
    first = next_priority(connection, key_id)
    rows = [
        {"job_id": job_id, "key_id": key_id, "place": place, "priority": first + place, **claim}
        for place, claim in enumerate(claims)
    ]
    connection.execute(sa.insert(job_claims), rows)


def with_idempotency_key(
    connection: Connection, key_id: str, idempotency_key: str
) -> tuple[Job, str] | None:
    """The job that was submitted under a key of the caller's, and the hash of its input."""
    found = connection.execute(
        sa.select(jobs.c.job_id, jobs.c.input_hash).where(
            jobs.c.key_id == key_id, jobs.c.idempotency_key == idempotency_key
        )
    ).one_or_none()
    if found is None:
        return None
    return found_jobs(connection, [found.job_id])[0], found.input_hash


def release_key(connection: Connection, job_id: str) -> None:
    """Let the idempotency key of a job be used for another one."""
    connection.execute(sa.update(jobs).where(jobs.c.job_id == job_id).values(idempotency_key=None))


def cancel(
    connection: Connection, job_id: str, log: EventLog, *, is_deserted: bool = False
) -> Job | None:
    """Note that a job is cancelled; its queued claims are then ended, in the graph first.

    Args:
        connection: The transaction.
        job_id: The job.
        log: The events.
        is_deserted: Whether the process that carried it out has ended: then nothing of it runs.
    """
    job = hold(connection, [job_id]).get(job_id)
    if is_deserted:
        _put_back(connection, job_id)
    if job is not None and JobStatus(job["status"]) in OPEN and not job["is_cancelled"]:
        connection.execute(sa.update(jobs).where(jobs.c.job_id == job_id).values(is_cancelled=True))
        is_extracting = not job["is_extracted"] and job["status"] == JobStatus.RUNNING
        is_extracting = is_extracting and not is_deserted
        if not is_extracting:  # its worker ends it
            settle(connection, job_id, log)
    return next(iter(found_jobs(connection, [job_id])), None)


def resume(
    connection: Connection,
    job_id: str,
    limits: Mapping[str, float | int],
    log: EventLog,
    lost: Collection[str] = (),
) -> Job | None:
    """Take up again every claim of a job that has no verdict, under its verification_id.

    Args:
        connection: The transaction.
        job_id: The job.
        limits: What it may cost in all from now on, where that is changed.
        log: The events.
        lost: Verifications that succeeded and were deleted since; they are made again.

    Raises:
        InputError: Something of the job is still being stopped.
    """
    job = hold(connection, [job_id]).get(job_id)
    if job is None:
        return None
    is_open = JobStatus(job["status"]) in OPEN
    if is_open and (job["is_cancelled"] or job["error"]):
        raise Busy(f"Job {job_id} is being stopped; resume it in a moment.")
    values: dict[str, Any] = {"is_local": False}
    if job["is_local"]:
        _put_back(connection, job_id)
    again = job_claims.c.status.in_(UNFINISHED) | _is_lost(lost) | is_lacking()
    ids = _left(connection, job, again)
    if ids and is_open and not job["is_local"] and goes_whole(job["request"]):
        raise Busy(
            f"The claims of job {job_id} are verified together; resume it when it has ended."
        )
    if ids and is_open and not job["is_local"] and kind_of(job["header"]) is JobKind.DIALOGUE:
        raise Busy(
            f"The turns of job {job_id} are verified one after the other; resume it when it has "
            "ended."
        )
    if ids:
        _queue_again(connection, job, ids)
    if ids or job["is_local"] or not is_open:
        values["attempt"] = job["attempt"] + 1
    if ids or not job["is_extracted"]:
        values |= {"is_cancelled": False, "error": None}
        if limits:
            values["request"] = canonical({**json.loads(job["request"]), **limits}).decode()
        if not is_open:
            values |= {"status": JobStatus.QUEUED, "ended_at": None}
    connection.execute(sa.update(jobs).where(jobs.c.job_id == job_id).values(**values))
    if not is_open and (ids or not job["is_extracted"]):
        # A client that watches must not take the earlier end for the last one.
        log.append_in(connection, job_id, EventKind.JOB_RESUMED, {"job_id": job_id})
    return found_jobs(connection, [job_id])[0]


def take_here(
    connection: Connection,
    job_id: str,
    changes: Mapping[str, Any],
    log: EventLog,
    lost: Collection[str] = (),
) -> None:
    """Let this process carry out what is left of a job; no other process may be doing it.

    Args:
        connection: The transaction.
        job_id: The job.
        changes: Fields of the request that are changed.
        log: The events.
        lost: Verifications that succeeded and were deleted since; they are made again.
    """
    job = hold(connection, [job_id])[job_id]
    _put_back(connection, job_id)
    if changes.get("explain") and totals_of(connection, [job_id])[job_id].explanation is None:
        add_claims(connection, job_id, job["key_id"], [explanation_row()])
    left = job_claims.c.status.in_((*UNFINISHED, Status.QUEUED)) | _is_lost(lost) | is_lacking()
    ids = _left(connection, job, left)
    if not ids and job["is_extracted"]:
        return
    if ids:
        _queue_again(connection, job, ids)
    request = canonical({**json.loads(job["request"]), **changes}).decode()
    values: dict[str, Any] = {
        "is_local": True,
        "is_cancelled": False,
        "error": None,
    }
    values |= {"request": request, "status": JobStatus.QUEUED, "ended_at": None}
    connection.execute(sa.update(jobs).where(jobs.c.job_id == job_id).values(**values))
    if JobStatus(job["status"]) not in OPEN:
        log.append_in(connection, job_id, EventKind.JOB_RESUMED, {"job_id": job_id})


def _left(connection: Connection, job: RowMapping, is_left: sa.ColumnElement[bool]) -> list[str]:
    """The verification_ids of a job that are to be made again, in their order.

    Of a dialogue also all turns behind the first one: their background may be another one now. An
    explanation is made again with any claim.
    """
    c = job_claims.c
    if kind_of(job["header"]) is JobKind.DIALOGUE:
        first = sa.select(sa.func.min(c.place)).where(c.job_id == job["job_id"], is_left)
        is_left = c.place >= first.scalar_subquery()
    of_job = sa.select(c.verification_id).where(c.job_id == job["job_id"]).order_by(c.place)
    ids = list(connection.execute(of_job.where(is_left)).scalars())
    if ids:
        behind = connection.execute(of_job.where(~OF_CLAIMS)).scalars()
        ids += [one for one in behind if one not in ids]
    return ids


def _is_lost(verification_ids: Collection[str]) -> sa.ColumnElement[bool]:
    return sa.and_(
        job_claims.c.status == Status.SUCCEEDED,
        job_claims.c.verification_id.in_(verification_ids),
    )


def desert(connection: Connection, job_ids: Collection[str], why: str, log: EventLog) -> None:
    """End jobs that no process carries out any more, with what is queued of them, as cancelled.

    The graph has nothing of these claims, and is not asked.

    Args:
        connection: The transaction.
        job_ids: The jobs.
        why: The reason.
        log: The events.
    """
    for job_id in job_ids:
        cancel(connection, job_id, log, is_deserted=True)
        note_error(connection, job_id, why, log)
        queued = [work for _, work in queued_claims(connection, job_id)]
        give_up(connection, queued, Status.CANCELLED, why, log)


def _put_back(connection: Connection, job_id: str) -> None:
    """Queue again what a process that has ended had begun."""
    connection.execute(
        sa.update(job_claims)
        .where(job_claims.c.job_id == job_id, job_claims.c.status == Status.RUNNING)
        .values(status=Status.QUEUED, worker_id=None, begun=0)
    )


def _queue_again(connection: Connection, job: RowMapping, ids: Collection[str]) -> None:
    first = next_priority(connection, job["key_id"])
    connection.execute(
        sa.update(job_claims)
        .where(
            job_claims.c.job_id == sa.bindparam("of_job"),
            job_claims.c.verification_id == sa.bindparam("of_verification"),
        )
        .values(
            status=Status.QUEUED,
            attempt=job_claims.c.attempt + 1,
            priority=sa.bindparam("turn"),
            worker_id=None,
            begun=0,
            failure=None,
            reused=False,
        ),
        [
            {"of_job": job["job_id"], "of_verification": one, "turn": first + place}
            for place, one in enumerate(ids)
        ],
    )


def next_priority(connection: Connection, key_id: str) -> int:
    """The turn of the next claim of a key: lower ones come first.

    A key without waiting claims gets the turn that is just being served, and so takes turns with
    keys that have asked for much: the n-th claim of one goes beside the n-th of another.
    """
    row = connection.execute(_TURNS, {"of_key": key_id}).one()
    return max(row.last or 0, row.served or 0) + 1


def settle_held(connection: Connection, job_id: str, log: EventLog) -> None:
    """Hold a job, and end it if nothing of it is left to do."""
    hold(connection, [job_id])
    settle(connection, job_id, log)


def charge(connection: Connection, job_id: str, usage: Usage) -> None:
    """Add what an extraction cost to its job."""
    job = hold(connection, [job_id]).get(job_id)
    if job is not None:
        connection.execute(_JOB, {"of_job": job_id, "usage": _charged(job, usage)})


def _charged(job: RowMapping, usage: Usage) -> str:
    """Return what an extraction has cost until now, as JSON."""
    return json.dumps((extraction_usage(job) + usage).json_object())


def note_unjudged(connection: Connection, job_id: str, number: int) -> None:
    """Add to the judged labels of earlier runs that a job removed."""
    job = hold(connection, [job_id]).get(job_id)
    if job is None:
        return
    said = json.loads(job["header"])
    header = json.dumps({**said, UNJUDGED: said.get(UNJUDGED, 0) + number})
    connection.execute(sa.update(jobs).where(jobs.c.job_id == job_id).values(header=header))


def end_extraction(
    connection: Connection,
    job_id: str,
    claims: Sequence[Mapping[str, Any]],
    usage: Usage,
    log: EventLog,
) -> None:
    """Add the claims that were extracted for a job, unless another worker has, and their cost."""
    job = hold(connection, [job_id]).get(job_id)
    if job is None:
        return
    values: dict[str, Any] = {"of_job": job_id, "usage": _charged(job, usage)}
    if job["is_extracted"]:
        connection.execute(_JOB, values)
        return
    add_claims(connection, job_id, job["key_id"], claims)
    connection.execute(_JOB, {**values, "is_extracted": True})
    if not any(one["status"] == Status.QUEUED for one in claims):
        settle(connection, job_id, log)
