"""The state of jobs: what a transaction leaves behind, in any order."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa
from fakes.service_databases import IN_BOTH
from sqlalchemy.exc import IntegrityError

from veritrail_graph.api.auth.database import ServiceDatabase
from veritrail_graph.api.jobs.model import Busy, Ended, Work
from veritrail_graph.api.jobs.storage import changes, reading
from veritrail_graph.api.jobs.storage.events import EventLog, events_after
from veritrail_graph.api.jobs.storage.tables import job_claims
from veritrail_graph.api.jobs.unmade import Ender
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.graph.model import Status, Usage
from veritrail_graph.graph.model.job import Job, JobStatus

JOB = "j-1"


@pytest.fixture
def log(service: ServiceDatabase) -> EventLog:
    return EventLog(service)


def job_row(job_id: str = JOB, key: str | None = None, **more: Any) -> dict[str, Any]:
    row = {
        "job_id": job_id,
        "run_id": "r-1",
        "process_id": "p",
        "content_hash": "h",
        "status": "queued",
        "key_id": "",
        "name": "local",
        "idempotency_key": key,
        "input_hash": "i",
        "request": VerifyRequest(process_id="p").to_json(),
        "settings": "{}",
        "header": "{}",
        "is_extracted": True,
        "is_cancelled": False,
        "created_at": f"2026-11-21T00:00:00.{job_id}",
    }
    return {**row, **more}


def claim(number: int, status: Status = Status.QUEUED, prefix: str = "v") -> dict[str, Any]:
    return {
        "verification_id": f"{prefix}{number}",
        "claim_id": f"k{number}",
        "status": status.value,
        "reused": status is Status.SUCCEEDED,
    }


def submit(service: ServiceDatabase, log: EventLog, count: int = 2, **more: Any) -> None:
    rows = [claim(number) for number in range(count)]
    service.run_now(lambda one: changes.insert(one, job_row(**more), rows, log))


def job_of(service: ServiceDatabase, job_id: str = JOB) -> Job:
    return service.read_now(lambda one: reading.found_jobs(one, [job_id]))[0]


def begin(service: ServiceDatabase, log: EventLog, *numbers: int, worker: str = "w1") -> set[str]:
    claims = [Work(JOB, f"v{number}", 1) for number in numbers]
    mine = service.run_now(lambda one: changes.begin(one, worker, claims, log))
    return {verification_id for _, verification_id in mine}


def end_queued(service: ServiceDatabase, log: EventLog) -> Job:
    """End the queued claims of the job, as is done once the graph has their ends."""
    left = [work for _, work in service.read_now(lambda one: reading.queued_claims(one, JOB))]
    why = changes.CANCELLED
    service.run_now(lambda one: changes.give_up(one, left, Status.CANCELLED, why, log))
    return job_of(service)


def finish(
    service: ServiceDatabase,
    log: EventLog,
    number: int,
    status: Status = Status.SUCCEEDED,
    *,
    worker: str = "w1",
    usage: Usage = Usage(calls=2, cost_usd=0.5),
    attempt: int = 1,
) -> None:
    event = {"verification_id": f"v{number}", "status": status.value}
    ended = Ended(Work(JOB, f"v{number}", attempt), status, None, usage, event)
    service.run_now(lambda one: changes.finish(one, worker, [ended], log))


def kinds(service: ServiceDatabase, job_id: str = JOB) -> list[str]:
    found = service.read_now(lambda one: events_after(one, job_id, 0, 1_000))
    assert [event.seq for event in found] == list(range(1, len(found) + 1))
    return [event.kind for event in found]


def test_a_job_ends_with_its_last_claim_and_tells_what_it_came_to(
    service: ServiceDatabase, log: EventLog
) -> None:
    submit(service, log)
    assert job_of(service).status is JobStatus.QUEUED
    assert begin(service, log, 0, 1) == {"v0", "v1"}
    finish(service, log, 0)
    assert job_of(service).status is JobStatus.RUNNING
    assert job_of(service).counts == {"succeeded": 1, "running": 1}
    finish(service, log, 1)
    job = job_of(service)
    assert job.status is JobStatus.SUCCEEDED
    assert job.usage == Usage(calls=4, cost_usd=1.0)
    assert job.ended_at is not None
    assert kinds(service) == ["job.started", "claim.finished", "claim.finished", "job.finished"]


@pytest.mark.parametrize("status", [Status.FAILED, Status.OVER_BUDGET])
def test_one_claim_without_a_verdict_makes_the_job_failed(
    service: ServiceDatabase, log: EventLog, status: Status
) -> None:
    submit(service, log)
    begin(service, log, 0, 1)
    finish(service, log, 0, status)
    finish(service, log, 1)
    assert job_of(service).status is JobStatus.FAILED


def test_a_cost_that_is_not_known_is_not_shown_as_one(
    service: ServiceDatabase, log: EventLog
) -> None:
    submit(service, log)
    begin(service, log, 0, 1)
    finish(service, log, 0)
    finish(service, log, 1, usage=Usage(calls=1, unpriced_calls=1))
    assert job_of(service).usage.cost_usd is None
    assert job_of(service).usage.calls == 3


@IN_BOTH
def test_a_claim_is_ended_once_by_the_worker_that_has_it(
    service: ServiceDatabase, log: EventLog
) -> None:
    submit(service, log)
    begin(service, log, 0, worker="w1")
    begin(service, log, 0, worker="w2")  # the first one was held for dead
    finish(service, log, 0, Status.FAILED, worker="w1")
    assert job_of(service).counts == {"queued": 1, "running": 1}
    finish(service, log, 0, worker="w2")
    finish(service, log, 0, Status.FAILED, worker="w2")
    assert job_of(service).counts == {"queued": 1, "succeeded": 1}
    assert kinds(service).count("claim.finished") == 1
    assert begin(service, log, 0, worker="w3") == set()


def test_cancelling_ends_what_waits_and_leaves_what_runs_to_its_worker(
    service: ServiceDatabase, log: EventLog
) -> None:
    submit(service, log, 3)
    begin(service, log, 0)
    service.run_now(lambda one: changes.cancel(one, JOB, log))
    assert begin(service, log, 1) == set()
    job = end_queued(service, log)
    assert (job.status, job.cancelling) == (JobStatus.RUNNING, True)
    assert job.counts == {"running": 1, "cancelled": 2}
    again = service.run_now(lambda one: changes.cancel(one, JOB, log))
    assert again == job
    finish(service, log, 0, Status.CANCELLED)
    assert job_of(service).status is JobStatus.CANCELLED
    assert kinds(service)[-1] == "job.finished"
    assert service.run_now(lambda one: changes.cancel(one, JOB, log)) == job_of(service)


def test_a_job_that_was_cancelled_before_it_began_has_ended(
    service: ServiceDatabase, log: EventLog
) -> None:
    submit(service, log)
    job = service.run_now(lambda one: changes.cancel(one, JOB, log))
    assert job is not None
    assert (job.status, job.cancelling) == (JobStatus.QUEUED, True)
    with pytest.raises(Busy):  # the graph does not have the ends of its claims yet
        service.run_now(lambda one: changes.resume(one, JOB, {}, log))
    assert end_queued(service, log).status is JobStatus.CANCELLED
    assert service.run_now(lambda one: changes.cancel(one, "j-none", log)) is None


@IN_BOTH
def test_resuming_takes_up_everything_without_a_verdict_and_nothing_else(
    service: ServiceDatabase, log: EventLog
) -> None:
    submit(service, log, 3)
    begin(service, log, 0, 1)
    finish(service, log, 0)
    finish(service, log, 1, Status.FAILED)
    service.run_now(lambda one: changes.cancel(one, JOB, log))
    end_queued(service, log)
    job = service.run_now(lambda one: changes.resume(one, JOB, {"max_calls": 7}, log))
    assert job is not None
    assert job.status is JobStatus.QUEUED
    assert job.counts == {"succeeded": 1, "queued": 2}
    assert begin(service, log, 1) == set()  # of the attempt before
    again = [Work(JOB, name, 2) for name in ("v1", "v2")]
    assert len(service.run_now(lambda one: changes.begin(one, "w1", again, log))) == 2
    finish(service, log, 1, attempt=2)
    finish(service, log, 2, attempt=2)
    assert job_of(service).status is JobStatus.SUCCEEDED
    assert job_of(service).usage.calls == 8  # what the attempt that failed cost is part of it
    assert kinds(service).count("job.finished") == 2


def test_resuming_makes_a_verification_again_that_was_deleted(
    service: ServiceDatabase, log: EventLog
) -> None:
    rows = [claim(0, Status.SUCCEEDED), claim(1, Status.SUCCEEDED)]
    service.run_now(lambda one: changes.insert(one, job_row(), rows, log))
    assert job_of(service).reused == 2
    job = service.run_now(lambda one: changes.resume(one, JOB, {}, log, {"v1", "v-other"}))
    assert job is not None
    assert (job.status, job.reused) == (JobStatus.QUEUED, 1)
    assert job.counts == {"succeeded": 1, "queued": 1}


def test_a_job_of_a_killed_command_ends_with_its_process(
    service: ServiceDatabase, log: EventLog
) -> None:
    submit(service, log, 3, is_local=True)
    begin(service, log, 0, 1)
    finish(service, log, 0)
    service.run_now(lambda one: changes.desert(one, [JOB], "process 'p' was deleted", log))
    job = job_of(service)
    assert (job.status, job.error) == (JobStatus.CANCELLED, "process 'p' was deleted")
    assert job.counts == {"succeeded": 1, "cancelled": 2}
    claims = service.read_now(lambda one: reading.claims_of(one, JOB, -1, 9))
    assert [one.failure for one in claims] == [None, *["process 'p' was deleted"] * 2]


def test_a_claim_that_takes_its_worker_with_it_each_time_is_given_up(
    service: ServiceDatabase, log: EventLog
) -> None:
    submit(service, log, 1)
    for number in range(changes.MOST_BEGINNINGS):
        assert begin(service, log, 0, worker=f"w{number}") == {"v0"}
    last = [Work(JOB, "v0", 1)]
    begun = service.run_now(lambda one: changes.begin(one, "last", last, log))
    assert begun[JOB, "v0"] == "given up: the worker ended 25 times while this was verified"
    finish(service, log, 0, Status.FAILED, worker="last")
    assert job_of(service).counts == {"failed": 1}
    assert job_of(service).status is JobStatus.FAILED


def test_a_reason_that_holds_for_all_ends_the_job_with_one_message(
    service: ServiceDatabase, log: EventLog
) -> None:
    submit(service, log, 3)
    begin(service, log, 0)

    service.run_now(lambda one: changes.note_error(one, JOB, "no key", log))
    end_queued(service, log)
    assert job_of(service).error == "no key"
    finish(service, log, 0, Status.FAILED)
    assert job_of(service).status is JobStatus.FAILED
    assert job_of(service).counts == {"failed": 1, "cancelled": 2}


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_what_is_queued_of_a_job_that_was_given_up_failed_and_of_a_cancelled_one_is_cancelled(
    service: ServiceDatabase, log: EventLog, is_cancelled: bool
) -> None:
    async def ask(_write: Any) -> None:
        """The graph keeps what it is given."""

    submit(service, log, 2)
    service.run_now(
        lambda one: (
            changes.cancel(one, JOB, log)
            if is_cancelled
            else changes.note_error(one, JOB, "no key", log)
        )
    )
    asyncio.run(Ender(ask, service.read, service.run, log).end_queued(JOB))
    assert job_of(service).counts == {"cancelled" if is_cancelled else "failed": 2}


@IN_BOTH
def test_an_idempotency_key_belongs_to_one_job_of_a_key(
    service: ServiceDatabase, log: EventLog
) -> None:
    submit(service, log, key="same")
    with pytest.raises(IntegrityError):
        service.run_now(lambda one: changes.insert(one, job_row("j-2", "same"), [], log))
    other = job_row("j-3", "same", key_id="another")
    service.run_now(lambda one: changes.insert(one, other, [], log))
    found = service.read_now(lambda one: changes.with_idempotency_key(one, "", "same"))
    assert found is not None
    assert found[0].job_id == JOB


@IN_BOTH
def test_the_claims_of_two_keys_take_turns(service: ServiceDatabase, log: EventLog) -> None:
    def turns(job_id: str) -> list[int]:
        rows = sa.select(job_claims.c.priority).where(job_claims.c.job_id == job_id)
        return service.read_now(lambda one: list(one.execute(rows).scalars()))

    def insert(job_id: str, key_id: str, count: int, prefix: str) -> None:
        rows = [claim(number, prefix=prefix) for number in range(count)]
        row = job_row(job_id, key_id=key_id)
        service.run_now(lambda one: changes.insert(one, row, rows, log))

    insert(JOB, "a", 200, "v")
    begin(service, log, *range(10))
    insert("j-2", "b", 5, "b")
    insert("j-3", "a", 1, "c")
    assert turns("j-2") == [11, 12, 13, 14, 15]  # beside the next of the first one
    assert turns("j-3") == [201]  # of one key the oldest first


def test_jobs_are_paged_newest_first(service: ServiceDatabase, log: EventLog) -> None:
    for number in range(5):
        row = job_row(f"j-{number}")
        service.run_now(lambda one, row=row: changes.insert(one, row, [], log))  # type: ignore[misc]
    first = service.read_now(lambda one: reading.page(one, limit=2))
    assert [job.job_id for job in first] == ["j-4", "j-3"]
    place = (first[-1].created_at, first[-1].job_id)
    rest = service.read_now(lambda one: reading.page(one, before=place))
    assert [job.job_id for job in rest] == ["j-2", "j-1", "j-0"]


def test_a_request_is_read_as_it_was_written() -> None:
    request = VerifyRequest(process_id="p", claims=("a",), claim_ids=("k1",), budget_usd=1.5)
    assert VerifyRequest.model_validate_json(request.to_json()) == request
    assert request.q == 3
