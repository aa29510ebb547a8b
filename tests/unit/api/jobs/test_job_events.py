"""Events of jobs: numbers without a gap, nothing lost, many readers, in both databases."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from fakes.service_databases import IN_BOTH
from fakes.waiting import until
from sqlalchemy.engine import Connection

from veritrail_graph.api.auth.database import ServiceDatabase
from veritrail_graph.api.jobs import event_feed
from veritrail_graph.api.jobs.event_feed import EventFeeds
from veritrail_graph.api.jobs.events import observer
from veritrail_graph.api.jobs.model import Event, EventKind
from veritrail_graph.api.jobs.storage.events import EventLog, events_after, forget_in, last_numbers
from veritrail_graph.graph.model import Claim, NodeRef, Role, Usage, Verdict
from veritrail_graph.verifier.driver import Task
from veritrail_graph.verifier.models.port import Meter, StepCall

JOB = "j-1"
EVERY_WRITER = 2
Opener = Callable[[], ServiceDatabase]


@pytest.fixture
def opener(service_url: str) -> Iterator[Opener]:
    """Opens the same database again and again, as several processes do."""
    opened: list[ServiceDatabase] = []

    def open_it() -> ServiceDatabase:
        opened.append(ServiceDatabase(service_url))
        opened[-1].create()
        return opened[-1]

    yield open_it
    for service in opened:
        service.close()


def stored(service: ServiceDatabase, job_id: str = JOB) -> list[Event]:
    return service.read_now(lambda it: events_after(it, job_id, 0, 1_000_000))


def finish(
    service: ServiceDatabase, log: EventLog, kind: EventKind = EventKind.CLAIM_FINISHED
) -> None:
    service.run_now(lambda it: log.append_in(it, JOB, kind, {}))


@IN_BOTH
def test_two_writers_number_the_events_of_a_job_without_a_gap_and_in_order(opener: Opener) -> None:
    services = [opener() for _ in range(EVERY_WRITER)]
    logs = [EventLog(service) for service in services]

    def write(number: int) -> None:
        for claim in range(20):
            data = {"writer": number, "claim": claim}
            logs[number].append(JOB, EventKind.CLAIM_STARTED, data)
            logs[number].append(JOB, EventKind.ITERATION_FINISHED, data)
            end: Callable[[Connection], None] = lambda it, data=data: logs[number].append_in(  # noqa: E731
                it, JOB, EventKind.CLAIM_FINISHED, data
            )
            services[number].run_now(end)

    threads = [threading.Thread(target=write, args=(one,)) for one in range(EVERY_WRITER)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for log in logs:
        log.close()
    found = stored(services[0])
    assert [one.seq for one in found] == list(range(1, 20 * 3 * EVERY_WRITER + 1))
    of_claims: dict[tuple[int, int], list[str]] = {}
    for one in found:
        data = json.loads(one.data)
        of_claims.setdefault((data["writer"], data["claim"]), []).append(one.kind)
    assert set(map(tuple, of_claims.values())) == {
        (EventKind.CLAIM_STARTED, EventKind.ITERATION_FINISHED, EventKind.CLAIM_FINISHED)
    }


def test_progress_is_written_within_a_moment_and_few_transactions(opener: Opener) -> None:
    service = opener()
    log = EventLog(service)
    told: list[float] = []
    log.on_written(lambda: told.append(time.monotonic()))
    log.append(JOB, EventKind.CLAIM_STARTED, {})
    began = time.monotonic()
    until(lambda: bool(stored(service)), 10)
    assert time.monotonic() - began < 1.0
    told.clear()
    began = time.monotonic()
    while time.monotonic() - began < 1.0:
        log.append(JOB, EventKind.ITERATION_FINISHED, {})
        time.sleep(0.001)
    assert len(told) <= 6
    log.close()


@IN_BOTH
def test_what_a_transaction_that_fails_took_along_is_written_later(opener: Opener) -> None:
    service = opener()
    log = EventLog(service)
    log.append(JOB, EventKind.CLAIM_STARTED, {})

    def fail(connection: Connection) -> None:
        log.append_in(connection, JOB, EventKind.CLAIM_FINISHED, {})
        raise ValueError("changed its mind")

    with pytest.raises(ValueError, match="changed its mind"):
        service.run_now(fail)
    log.close()
    assert [one.kind for one in stored(service)] == [EventKind.CLAIM_STARTED]
    finish(service, log)
    assert [one.seq for one in stored(service)] == [1, 2]


def test_progress_waits_for_a_database_that_is_down(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("veritrail_graph.api.jobs.storage.events.RETRY_SECONDS", 0.1)
    down = ServiceDatabase(f"sqlite:///{tmp_path / 'not-made.sqlite3'}")  # no table is there yet
    log = EventLog(down)
    log.append(JOB, EventKind.CLAIM_STARTED, {})
    time.sleep(0.5)
    log.append(JOB, EventKind.ITERATION_FINISHED, {})
    down.create()
    until(lambda: len(stored(down)) == 2, 10)
    log.close()
    assert [one.kind for one in stored(down)] == [
        EventKind.CLAIM_STARTED,
        EventKind.ITERATION_FINISHED,
    ]
    down.close()


def test_the_buffer_of_progress_is_bounded_and_ends_are_not_dropped(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("veritrail_graph.api.jobs.storage.events.MOST_BUFFERED", 10)
    monkeypatch.setattr("veritrail_graph.api.jobs.storage.events.GATHER_SECONDS", 60)
    service = opener()
    log = EventLog(service)
    for number in range(100):
        log.append(JOB, EventKind.CLAIM_STARTED, {"number": number})
    finish(service, log)
    found = stored(service)
    assert [json.loads(one.data).get("number") for one in found] == [*range(90, 100), None]
    log.close()


def test_events_are_removed_with_their_job(opener: Opener) -> None:
    service = opener()
    log = EventLog(service)
    finish(service, log)
    service.run_now(lambda it: log.append_in(it, "j-2", EventKind.CLAIM_FINISHED, {}))
    service.run_now(lambda it: forget_in(it, [JOB]))
    assert stored(service) == []
    assert service.read_now(lambda it: last_numbers(it, [JOB, "j-2"])) == {"j-2": 1}
    log.close()


def test_the_observer_tells_the_round_the_interim_verdict_and_the_cost_so_far(
    opener: Opener,
) -> None:
    service = opener()
    log = EventLog(service)
    told = observer(JOB, log)
    claim = Claim(claim_id="k1", text="Pump 1 ran.", node_id="t")
    task = Task(claim, NodeRef("t", 3, 0, Role.TERMINAL), "v-1")
    meter = Meter(iteration=2)
    meter.record(StepCall("verdict", "verdict.v1", "0", "m", None), Usage(calls=3, cost_usd=0.5))
    told.claim_started(task)
    told.iteration_finished(task, Verdict.INCONCLUSIVE, meter)
    log.close()
    first, second = stored(service)
    assert json.loads(first.data) == {"verification_id": "v-1", "claim_id": "k1"}
    data = json.loads(second.data)
    assert (data["iteration"], data["interim_verdict"]) == (2, "INCONCLUSIVE")
    assert (data["usage"]["calls"], data["usage"]["cost_usd"]) == (3, 0.5)


# Readers.


async def read_all(feeds: EventFeeds, after: int = 0, pause: float = 0.0) -> list[int]:
    found: list[int] = []
    async with aclosing(feeds.follow(JOB, after)) as following:
        async for events in following:
            found += [one.seq for one in events]
            await asyncio.sleep(pause)
    return found


def many(service: ServiceDatabase, log: EventLog, count: int) -> None:
    """So many events of progress, in one transaction."""
    events = [(EventKind.ITERATION_FINISHED, {"number": number}) for number in range(count)]
    service.run_now(lambda it: log.append_all_in(it, JOB, events))


def test_readers_quick_and_slow_get_every_event_once_whenever_they_come(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_feed, "REMEMBERED", 20)
    monkeypatch.setattr(event_feed, "PAGE", 7)
    monkeypatch.setattr(event_feed, "PAGES", 2)
    service = opener()
    log = EventLog(service)

    async def work() -> list[list[int]]:
        feeds = EventFeeds(service, log)
        early = [asyncio.create_task(read_all(feeds, pause=0.002 * n)) for n in range(6)]
        for _ in range(10):
            await asyncio.to_thread(many, service, log, 30)
            await asyncio.sleep(0.02)
        late = [asyncio.create_task(read_all(feeds, after=n)) for n in (0, 3, 150, 299)]
        await asyncio.sleep(0.05)
        await asyncio.to_thread(finish, service, log, EventKind.JOB_FINISHED)
        async with asyncio.timeout(20):
            found = await asyncio.gather(*early, *late)
        await feeds.close()
        return found

    found = asyncio.run(work())
    everything = list(range(1, 302))
    assert found[:6] == [everything] * 6
    assert [one[0] for one in found[6:]] == [1, 4, 151, 300]
    assert [one[-1] for one in found[6:]] == [301] * 4
    log.close()


def test_a_reader_that_shares_a_reading_that_began_too_early_still_gets_everything(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_feed, "REMEMBERED", 1)
    service = opener()
    log = EventLog(service)
    many(service, log, 2)

    async def work() -> list[int]:
        feeds = EventFeeds(service)
        read, begun, held = feeds.page, asyncio.Event(), asyncio.Event()

        async def page(job_id: str, after: int, limit: int) -> list[Event]:
            found = await read(job_id, after, limit)
            if limit == event_feed.PAGE and len(found) == 2:
                begun.set()
                await held.wait()
            return found

        monkeypatch.setattr(feeds, "page", page)
        early = asyncio.create_task(read_all(feeds))
        await begun.wait()  # it has read two events, and not come back
        await asyncio.to_thread(many, service, log, 2)
        late = asyncio.create_task(read_all(feeds, after=2))
        await asyncio.sleep(event_feed.LOOK_SECONDS * 3)
        held.set()
        await asyncio.to_thread(finish, service, log, EventKind.JOB_FINISHED)
        async with asyncio.timeout(20):
            assert await early == [1, 2, 3, 4, 5]
            found = await late
        await feeds.close()
        return found

    assert asyncio.run(work()) == [3, 4, 5]
    log.close()


def test_many_readers_cost_the_database_little_more_than_one(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = opener()
    log = EventLog(service)
    many(service, log, 600)
    reads = 0
    read = ServiceDatabase.read

    async def counted(self: ServiceDatabase, work: Callable[[Connection], Any]) -> Any:
        nonlocal reads
        reads += 1
        return await read(self, work)

    monkeypatch.setattr(ServiceDatabase, "read", counted)

    async def work() -> list[list[int]]:
        feeds = EventFeeds(service)
        readers = [asyncio.create_task(read_all(feeds)) for _ in range(60)]
        await asyncio.sleep(0.3)
        await asyncio.to_thread(finish, service, log, EventKind.JOB_FINISHED)
        async with asyncio.timeout(20):
            found = await asyncio.gather(*readers)
        await feeds.close()
        return found

    assert asyncio.run(work()) == [list(range(1, 602))] * 60
    assert reads < 40
    log.close()


def test_a_job_that_goes_on_after_its_end_is_followed_to_its_last_end(opener: Opener) -> None:
    service = opener()
    log = EventLog(service)
    for kind in (
        EventKind.CLAIM_FINISHED,
        EventKind.JOB_FINISHED,
        EventKind.JOB_STARTED,
        EventKind.JOB_FINISHED,
    ):
        finish(service, log, kind)

    async def work() -> list[int]:
        feeds = EventFeeds(service)
        async with asyncio.timeout(10):
            return await read_all(feeds)

    assert asyncio.run(work()) == [1, 2, 3, 4]
    log.close()


@IN_BOTH
def test_an_event_of_another_process_is_seen_within_a_moment(opener: Opener) -> None:
    reader, writer = opener(), opener()
    log = EventLog(writer)

    async def work() -> float:
        feeds = EventFeeds(reader)
        following = feeds.follow(JOB)
        coming = asyncio.ensure_future(anext(following))
        await asyncio.sleep(0.3)
        began = time.monotonic()
        await asyncio.to_thread(finish, writer, log)
        await coming
        took = time.monotonic() - began
        await following.aclose()
        return took

    assert asyncio.run(work()) < 1.0
    log.close()
