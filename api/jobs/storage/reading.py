"""Reading jobs: one, many, counted; nothing is changed here."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from veritrail_graph.api.jobs.model import (
    OPEN_CLAIMS,
    SENTENCE,
    TURN,
    JobClaim,
    JobFigures,
    JobHeader,
    Work,
    kind_of,
    since_of,
)
from veritrail_graph.api.jobs.storage.batch_rows import early_ends, waiting_batches
from veritrail_graph.api.jobs.storage.leases import budget_of_job, used_of
from veritrail_graph.api.jobs.storage.sums import (
    OF_CLAIMS,
    OF_JOBS,
    JobTotals,
    extraction_usage,
    reused_of,
    totals_of,
)
from veritrail_graph.api.jobs.storage.tables import job_claims, jobs, workers
from veritrail_graph.api.work.sentences import unjudged_words
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.judge_mode import judge_mode_of_settings
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.job import (
    OPEN,
    Job,
    JobKind,
    JobStatus,
)

_JOB = sa.select(jobs).where(jobs.c.job_id == sa.bindparam("job_id"))
_IDS = (
    sa.select(job_claims.c.job_id, job_claims.c.verification_id)
    .where(OF_JOBS, OF_CLAIMS)
    .order_by(job_claims.c.place)
)
_JOBS = sa.select(jobs).where(jobs.c.job_id.in_(sa.bindparam("job_ids", expanding=True)))


def is_local(connection: Connection, job_id: str) -> bool:
    """Return whether the process that submitted a job carries it out, and no worker."""
    found = sa.select(jobs.c.is_local).where(jobs.c.job_id == job_id)
    return bool(connection.execute(found).scalar())


@dataclass(frozen=True, slots=True)
class Resumable:
    """A job that may be resumed.

    Attributes:
        run_id: Its run.
        process_id: Its process.
        kind: What it does.
        is_local: Whether the process that submitted it carries it out.
        is_open: Whether something of it is left to do.
        request: What was asked for.
        usd: US dollars that were spent of its budget.
        calls: Calls that were made of those that it may make.
    """

    run_id: str
    process_id: str
    kind: JobKind
    is_local: bool
    is_open: bool
    request: Mapping[str, Any]
    usd: float
    calls: int

    def limits(self, changes: Mapping[str, Any], *, anew: bool = False) -> dict[str, Any]:
        """The fields of the request that are changed, with limits in all, not from now on.

        Args:
            changes: What is changed; a limit is what may be spent from now on.
            anew: Whether there is no limit where none is given.

        Raises:
            InputError: A limit is used up, and no new one is given.
        """
        used = {"budget_usd": self.usd, "max_calls": self.calls}
        words = {
            "budget_usd": ("budget", "budget_used_up"),
            "max_calls": ("number of calls", "calls_used_up"),
        }
        changed = {name: value for name, value in changes.items() if value is not None}
        for name, (what, code) in words.items():
            most = None if anew else self.request[name]
            if name in changed:
                changed[name] += used[name]
            elif most is not None and used[name] >= most:
                raise InputError(
                    f"The run has used up its {what} ({most:g}).", code=code, most=most
                )
        return {**dict.fromkeys(used), **changed} if anew else changed


def resumable(connection: Connection, job_id: str) -> Resumable | None:
    """A job that may be resumed; None: there is none."""
    row = job_of(connection, job_id)
    if row is None:
        return None
    usd, calls = used_of(connection, budget_of_job(job_id))
    return Resumable(
        run_id=row["run_id"],
        process_id=row["process_id"],
        kind=kind_of(row["header"]),
        is_local=row["is_local"],
        is_open=JobStatus(row["status"]) in OPEN,
        request=json.loads(row["request"]),
        usd=usd,
        calls=calls,
    )


def found_jobs(connection: Connection, job_ids: Sequence[str], *, ids: bool = True) -> list[Job]:
    """Jobs, in the order asked for; those that are not there are left out.

    Args:
        connection: The transaction.
        job_ids: Which.
        ids: Whether the verification_ids are read.
    """
    rows = {
        row["job_id"]: row
        for row in connection.execute(_JOBS, {"job_ids": list(job_ids)}).mappings()
    }
    of: dict[str, list[str]] = {}
    if ids:
        verifying = [one for one in rows if kind_of(rows[one]["header"]) is JobKind.VERIFICATION]
        for job_id, verification_id in connection.execute(_IDS, {"job_ids": verifying}):
            of.setdefault(job_id, []).append(verification_id)
    parts = _Parts(of, totals_of(connection, list(rows)), reused_of(connection, list(rows)))
    found = [_job(rows[one], parts) for one in job_ids if one in rows]
    if not ids:
        return found
    return [
        job.replace(
            batches=waiting_batches(connection, job.job_id),
            warnings=[*job.warnings, *early_ends(connection, job.job_id)],
        )
        for job in found
    ]


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of jobs that are read from the rows of their claims, by job_id.

    Attributes:
        ids: Their verification_ids.
        totals: Their claims, counted and added up.
        reused: How many verifications were stored before.
    """

    ids: Mapping[str, Sequence[str]]
    totals: Mapping[str, JobTotals]
    reused: Mapping[str, int]


def _job(row: RowMapping, parts: _Parts) -> Job:
    header, job_id = JobHeader.of(row["header"]), row["job_id"]
    totals = parts.totals[job_id]
    asking, since = judge_mode_of_settings(row["settings"]), since_of(row["header"])
    return Job(
        job_id=job_id,
        run_id=row["run_id"],
        process_id=row["process_id"],
        status=JobStatus(row["status"]),
        cancelling=row["is_cancelled"] and JobStatus(row["status"]) in OPEN,
        submitted_by=row["name"],
        key_id=row["key_id"] or None,
        verification_ids=list(parts.ids.get(job_id, ())),
        counts=totals.counts,
        usage=totals.usage + extraction_usage(row),
        reused=parts.reused.get(job_id, 0),
        error=row["error"],
        created_at=row["created_at"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        asks_models=_asks_models(json.loads(row["settings"])),
        kind=header.kind,
        node_ids=list(header.node_ids),
        turn_ids=list(header.turn_ids),
        content_hash=row["content_hash"],
        batches=[],
        left_out=list(header.left_out),
        warnings=_warnings(header, totals.lacking),
        explanation=totals.explanation,
        share=asking.share,
        escalate_to=asking.second,
        since=since.process_id if since is not None else None,
        since_content=since.content_hash if since is not None else "",
        model=header.model,
        mode="batch" if _is_in_batches(header, row["request"]) else "live",
    )


def _warnings(header: JobHeader, lacking: int) -> list[str]:
    warnings = [one.words for one in header.left_out]
    if header.unjudged:
        warnings.append(unjudged_words(header.unjudged))
    if lacking:
        warnings.append(
            f"{lacking:,} sentence(s) are stored, but their judgement or correction failed."
        )
    return warnings


def _is_in_batches(header: JobHeader, request: str) -> bool:
    """Return whether models are asked in batches; attributions have modes of another kind."""
    is_verification = header.kind is JobKind.VERIFICATION
    return is_verification and json.loads(request).get("mode") == "batch"


def _asks_models(settings: dict[str, Any]) -> bool:
    """Return whether an engine of these settings asks language models: only those have steps."""
    parts = (settings, settings.get("evidence"), settings.get("verdict"))
    if any(isinstance(part, dict) and bool(part.get("steps")) for part in parts):
        return True
    judge = settings.get("judge")  # of dialogues
    return isinstance(judge, dict) and "extraction" in judge


def page(
    connection: Connection,
    *,
    process_id: str | None = None,
    status: JobStatus | None = None,
    before: tuple[str, str] | None = None,
    limit: int = 100,
) -> list[Job]:
    """Jobs, newest first, without their verification_ids.

    Args:
        connection: The transaction.
        process_id: Only those of a process.
        status: Only those that stand so.
        before: `created_at` and job_id of the last one of the page before.
        limit: The most.
    """
    chosen = sa.select(jobs.c.job_id)
    if process_id is not None:
        chosen = chosen.where(jobs.c.process_id == process_id)
    if status is not None:
        chosen = chosen.where(jobs.c.status == status)
    if before is not None:
        chosen = chosen.where(
            sa.or_(
                jobs.c.created_at < before[0],
                sa.and_(jobs.c.created_at == before[0], jobs.c.job_id < before[1]),
            )
        )
    newest = chosen.order_by(jobs.c.created_at.desc(), jobs.c.job_id.desc()).limit(limit)
    return found_jobs(connection, list(connection.execute(newest).scalars()), ids=False)


_CLAIMS = sa.select(
    job_claims.c.place,
    job_claims.c.verification_id,
    job_claims.c.claim_id,
    job_claims.c.status,
    job_claims.c.failure,
    job_claims.c.job_id,
    job_claims.c.attempt,
)


_OF_JOB = job_claims.c.job_id == sa.bindparam("job_id")
_BEHIND = (
    _CLAIMS.where(_OF_JOB, job_claims.c.place > sa.bindparam("after"), OF_CLAIMS)
    .order_by(job_claims.c.place)
    .limit(sa.bindparam("most"))
)
_IS_OPEN = job_claims.c.status.in_(OPEN_CLAIMS)
_OPEN = _CLAIMS.where(_OF_JOB, _IS_OPEN).order_by(job_claims.c.place)
_FIRST_OPEN = sa.select(sa.func.min(job_claims.c.place)).where(_OF_JOB, _IS_OPEN)


def _claim(row: Any) -> JobClaim:
    return JobClaim(row.place, row.verification_id, row.claim_id, Status(row.status), row.failure)


def claims_of(connection: Connection, job_id: str, after: int, limit: int) -> list[JobClaim]:
    """Claims of a job in their order, behind a place."""
    asked = {"job_id": job_id, "after": after, "most": limit}
    return [_claim(row) for row in connection.execute(_BEHIND, asked)]


def queued_claims(connection: Connection, job_id: str) -> list[tuple[JobClaim, Work]]:
    """The queued claims of a job in their order, each with what there is to do of it."""
    c = job_claims.c
    found = _CLAIMS.where(c.job_id == job_id, c.status == Status.QUEUED).order_by(c.place)
    return [
        (_claim(row), Work(job_id, row.verification_id, row.attempt))
        for row in connection.execute(found)
    ]


def claims_by_job(
    connection: Connection,
    *,
    process_ids: Collection[str] | None = None,
    verification_ids: Collection[str] | None = None,
) -> list[tuple[RowMapping, list[JobClaim]]]:
    """Claims with their jobs: those in flight, or some by their ids.

    Sentences, turns and explanations are left out.

    Args:
        connection: The transaction.
        process_ids: Of claims in flight only those of these processes; None: of all.
        verification_ids: These, whatever their state, in place of those in flight.
    """
    c = job_claims.c
    is_claim = ~c.verification_id.startswith(SENTENCE) & ~c.verification_id.startswith(TURN)
    is_claim &= OF_CLAIMS
    chosen = _CLAIMS.where(is_claim)
    if verification_ids is not None:
        chosen = chosen.where(c.verification_id.in_(verification_ids), ~c.reused)
    else:
        is_open = sa.select(jobs.c.job_id).where(jobs.c.status.in_(OPEN))
        if process_ids is not None:
            is_open = is_open.where(jobs.c.process_id.in_(process_ids))
        chosen = chosen.where(c.job_id.in_(is_open), c.status.in_(OPEN_CLAIMS))
    found: dict[str, list[JobClaim]] = {}
    for one in connection.execute(chosen):
        found.setdefault(one.job_id, []).append(_claim(one))
    rows = connection.execute(sa.select(jobs).where(jobs.c.job_id.in_(list(found)))).mappings()
    return [(row, found[row["job_id"]]) for row in rows]


NEWEST_JOBS = 50
"""Jobs of a process that are looked at for what became of sentences."""

MOST_SENTENCES = 2_000
"""Sentences of a node that are looked at in one job."""


def unattributed(
    connection: Connection,
    process_id: str,
    content_hash: str,
    node_id: str,
    behind: int,
    before: int | None,
) -> dict[int, tuple[str, JobClaim, str]]:
    """Sentences of a node that did not succeed in the newest job that was to attribute them.

    Args:
        connection: The transaction.
        process_id: The process.
        content_hash: Its content; jobs about other content say nothing of these sentences.
        node_id: The node.
        behind: Only sentences whose numbers are larger.
        before: Only sentences whose numbers are smaller; None: all of these.

    Returns:
        The job_id, the row, and when the job was submitted of each, by its number in the node; of
        the newest `NEWEST_JOBS` jobs, and of the first `MOST_SENTENCES` sentences in each.
    """
    c = job_claims.c
    newest = (
        sa.select(jobs.c.job_id, jobs.c.header, jobs.c.created_at)
        .where(jobs.c.process_id == process_id, jobs.c.content_hash == content_hash)
        .order_by(jobs.c.created_at.desc(), jobs.c.job_id.desc())
        .limit(NEWEST_JOBS)
    )
    found: dict[int, tuple[str, JobClaim, str]] = {}
    for job_id, text, submitted in connection.execute(newest).all():
        header = JobHeader.of(text)
        if header.kind is not JobKind.ATTRIBUTION or node_id not in header.node_ids:
            continue
        prefix = f"{header.node_ids.index(node_id)}."
        is_of_node = c.claim_id.startswith(prefix)
        number = sa.cast(sa.func.substr(c.claim_id, len(prefix) + 1), sa.Integer)
        # Only those of the node are numbers behind its prefix.
        rows = _CLAIMS.where(c.job_id == job_id, sa.case((is_of_node, number), else_=-1) > behind)
        if before is not None:
            rows = rows.where(sa.case((is_of_node, number), else_=-1) < before)
        for row in connection.execute(rows.order_by(c.place).limit(MOST_SENTENCES)):
            found.setdefault(header.sentence(row.claim_id)[1], (job_id, _claim(row), submitted))
    return {number: one for number, one in found.items() if one[1].status in _NOT_ATTRIBUTED}


_NOT_ATTRIBUTED = frozenset({Status.FAILED, Status.OVER_BUDGET, Status.CANCELLED})


def first_open(connection: Connection, job_id: str) -> int | None:
    """The place of the first claim of a job that has not ended; None: all have."""
    return connection.execute(_FIRST_OPEN, {"job_id": job_id}).scalar()


def succeeded_of(connection: Connection, job_id: str) -> list[str]:
    """The verifications of a job that succeeded, those of others that it shares included."""
    c = job_claims.c
    found = sa.select(c.verification_id).where(
        c.job_id == job_id, c.status == Status.SUCCEEDED, OF_CLAIMS
    )
    return list(connection.execute(found.order_by(c.place)).scalars())


def open_jobs_of(connection: Connection, process_id: str) -> list[RowMapping]:
    """The jobs of a process of which something is left to do, oldest first."""
    found = sa.select(jobs).where(jobs.c.process_id == process_id, jobs.c.status.in_(OPEN))
    return list(connection.execute(found.order_by(jobs.c.created_at)).mappings())


def open_by_process(connection: Connection) -> dict[str, list[str]]:
    """The jobs of which something is left to do, by process, oldest first."""
    found: dict[str, list[str]] = {}
    rows = connection.execute(
        sa.select(jobs.c.process_id, jobs.c.job_id)
        .where(jobs.c.status.in_(OPEN), ~jobs.c.is_local)
        .order_by(jobs.c.created_at)
    )
    for process_id, job_id in rows:
        found.setdefault(process_id, []).append(job_id)
    return found


ALIVE_SECONDS = 10.0
"""A worker that was silent for longer is not counted."""


def _left_to_workers(connection: Connection) -> int:
    """The number of claims, sentences and turns that wait for a worker or are at work in one."""
    of_workers = sa.and_(jobs.c.status.in_(OPEN), ~jobs.c.is_local)
    left = (
        sa.select(jobs.c.job_id, sa.func.count(job_claims.c.job_id).label("claims"))
        .outerjoin(
            job_claims,
            sa.and_(
                job_claims.c.job_id == jobs.c.job_id,
                job_claims.c.status.in_((Status.QUEUED, Status.RUNNING)),
            ),
        )
        .where(of_workers)
        .group_by(jobs.c.job_id)
        .subquery()
    )
    one_at_least = sa.case((left.c.claims < 1, 1), else_=left.c.claims)
    return int(
        connection.execute(sa.select(sa.func.coalesce(sa.func.sum(one_at_least), 0))).scalar_one()
    )


def figures(connection: Connection) -> JobFigures:
    """The figures now."""
    by_status = sa.select(jobs.c.status, sa.func.count()).group_by(jobs.c.status)
    c = job_claims.c
    claims = sa.select(
        c.status,
        sa.func.count(),
        *(
            sa.func.coalesce(sa.func.sum(column), 0)
            for column in (
                c.calls,
                c.input_tokens,
                c.cached_input_tokens,
                c.output_tokens,
                c.reasoning_tokens,
                c.unpriced_calls,
                c.cost_usd,
            )
        ),
    ).group_by(c.status)
    rows = [tuple(row) for row in connection.execute(claims)]
    sums = [sum(row[n] for row in rows) for n in range(2, 9)]
    living = sa.select(sa.func.count()).where(workers.c.beat > time.time() - ALIVE_SECONDS)
    return JobFigures(
        jobs={row[0]: row[1] for row in connection.execute(by_status)},
        claims={row[0]: row[1] for row in rows},
        workers=connection.execute(living).scalar_one(),
        to_do=_left_to_workers(connection),
        calls=int(sums[0]),
        tokens={
            "input": int(sums[1]),
            "cached_input": int(sums[2]),
            "output": int(sums[3]),
            "reasoning": int(sums[4]),
        },
        cost_usd=None if sums[5] and not sums[6] else float(sums[6]),
        unpriced_calls=int(sums[5]),
    )


def job_of(connection: Connection, job_id: str) -> RowMapping | None:
    """The row of a job; None: it was removed."""
    return connection.execute(_JOB, {"job_id": job_id}).mappings().first()


def next_turn(connection: Connection, work: Work) -> tuple[Work, bool] | None:
    """The first turn of a dialogue that has not ended, and whether a worker has begun it.

    Args:
        connection: The transaction.
        work: The turns of a job, as they were taken up.

    Returns:
        None: nothing is left, the job was stopped, or it was taken up again since.
    """
    job = job_of(connection, work.job_id)
    if job is None or job["attempt"] != work.attempt or job["is_cancelled"] or job["error"]:
        return None
    c = job_claims.c
    is_open = sa.and_(c.job_id == work.job_id, c.status.in_(OPEN_CLAIMS))
    row = connection.execute(_CLAIMS.where(is_open).order_by(c.place).limit(1)).first()
    if row is None:
        return None
    begun = Status(row.status) is Status.RUNNING
    return Work(work.job_id, row.verification_id, row.attempt), begun


def open_claims(connection: Connection, job_id: str) -> list[JobClaim]:
    """The claims of a job that have not ended, in their order."""
    return [_claim(row) for row in connection.execute(_OPEN, {"job_id": job_id})]
