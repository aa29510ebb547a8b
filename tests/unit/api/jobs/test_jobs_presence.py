"""Which workers live, and who takes over from those that do not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
import sqlalchemy as sa
from fakes.service_databases import IN_BOTH
from sqlalchemy.engine import Connection

from veritrail_graph.api.auth.database import ServiceDatabase
from veritrail_graph.api.jobs.model import Work
from veritrail_graph.api.jobs.settings import JobSettings
from veritrail_graph.api.jobs.storage import changes
from veritrail_graph.api.jobs.storage.events import EventLog
from veritrail_graph.api.jobs.storage.heartbeat import DEAD_SECONDS, Heartbeat
from veritrail_graph.api.jobs.storage.repository import Batches
from veritrail_graph.api.jobs.storage.tables import job_claims, workers
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.settings import Settings
from veritrail_graph.api.work.runs import MOST_CLAIMS
from veritrail_graph.graph.errors import EngineUnavailable, InputError


def arrived(service: ServiceDatabase, home: Path, begun: int = 0) -> tuple[Heartbeat, list[str]]:
    """A worker, and the workers that it takes over from; each of these had begun `begun` tasks."""
    recovered: list[str] = []

    def recover(worker_ids: Sequence[str]) -> int:
        recovered.extend(worker_ids)
        return begun * len(worker_ids)

    heartbeat = Heartbeat(service, home)
    heartbeat.arrive()
    heartbeat.recover = recover
    return heartbeat, recovered


def grow_old(service: ServiceDatabase, worker_id: str) -> None:
    """As if a worker had been silent for too long."""

    def work(connection: Connection) -> None:
        mine = workers.c.worker_id == worker_id
        older = workers.c.beat - DEAD_SECONDS - 1
        connection.execute(sa.update(workers).where(mine).values(beat=older))

    service.run_now(work)


def test_workers_see_each_other_come_and_go(service: ServiceDatabase, tmp_path: Path) -> None:
    changes: list[int] = []
    first, recovered = arrived(service, tmp_path / "a")
    first.on_change = lambda: changes.append(len(first.alive))
    second, _ = arrived(service, tmp_path / "b")
    assert first.worker_id != second.worker_id
    first.look()
    assert first.alive == sorted([first.worker_id, second.worker_id])
    second.leave()
    first.look()
    assert first.alive == [first.worker_id]
    assert recovered == [second.worker_id]
    assert changes == [2, 1]
    first.leave()


@pytest.mark.parametrize(("begun", "warnings"), [(0, []), (2, ["Resuming 2 task(s)"])])
def test_a_worker_that_left_nothing_is_no_reason_to_warn(
    service: ServiceDatabase,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    begun: int,
    warnings: list[str],
) -> None:
    first, _ = arrived(service, tmp_path / "a", begun)
    second, _ = arrived(service, tmp_path / "b")
    second.leave()
    first.look()
    assert [one.getMessage()[:18] for one in caplog.records if one.levelname == "WARNING"] == (
        warnings
    )
    first.leave()


def test_a_worker_of_another_home_is_dead_when_it_is_silent_for_too_long(
    service: ServiceDatabase, tmp_path: Path
) -> None:
    first, recovered = arrived(service, tmp_path / "a")
    second, _ = arrived(service, tmp_path / "b")
    first.look()
    assert recovered == []
    grow_old(service, second.worker_id)
    first.look()
    assert recovered == [second.worker_id]
    deaths: list[bool] = []
    second.on_death = lambda: deaths.append(True)
    second.look()  # it only slept
    assert deaths == [True]
    assert second.worker_id in second.alive
    first.leave()
    second.leave()


@IN_BOTH
def test_a_killed_worker_of_this_home_is_dead_at_once(
    service: ServiceDatabase, tmp_path: Path
) -> None:
    first, recovered = arrived(service, tmp_path / "home")
    second, _ = arrived(service, tmp_path / "home")
    first.look()
    assert recovered == []
    second._lock.release()  # as the system does it for a process that was killed
    first.look()
    assert recovered == [second.worker_id]
    first.leave()


@IN_BOTH
def test_what_a_dead_worker_had_is_queued_again(service: ServiceDatabase, tmp_path: Path) -> None:
    log = EventLog(service)
    row = {
        "job_id": "j",
        "run_id": "r",
        "process_id": "p",
        "content_hash": "h",
        "status": "queued",
        "key_id": "",
        "name": "local",
        "input_hash": "i",
        "request": VerifyRequest(process_id="p").to_json(),
        "settings": "{}",
        "header": "{}",
        "is_extracted": True,
        "is_cancelled": False,
        "created_at": "2026",
    }
    claim = {"verification_id": "v", "claim_id": "k", "reused": False}
    claims = [{**claim, "status": "queued"}]
    service.run_now(lambda one: changes.insert(one, row, claims, log))
    first, _ = arrived(service, tmp_path / "a")
    second, _ = arrived(service, tmp_path / "b")
    begun = [Work("j", "v", 1)]
    service.run_now(lambda one: changes.begin(one, second.worker_id, begun, log))
    grow_old(service, second.worker_id)
    first.look()
    state = sa.select(job_claims.c.status, job_claims.c.worker_id, job_claims.c.begun)
    assert service.read_now(lambda one: tuple(one.execute(state).one())) == ("queued", None, 1)
    # A worker that ends in good order hands back what it has: that is not counted.
    service.run_now(lambda one: changes.begin(one, first.worker_id, begun, log))
    assert service.read_now(lambda one: one.execute(state).one())[2] == 2
    first.leave()
    assert service.read_now(lambda one: one.execute(state).one())[2] == 1


def test_what_comes_while_a_transaction_is_on_its_way_is_written_with_the_next() -> None:
    async def run() -> list[int]:
        sizes: list[int] = []

        def write(items: Sequence[int]) -> list[int]:
            sizes.append(len(items))
            return [2 * item for item in items]

        together: Batches[int, int] = Batches(write)
        assert await asyncio.gather(*(together.add(number) for number in range(50))) == [
            2 * number for number in range(50)
        ]
        return sizes

    assert sum(asyncio.run(run())) == 50
    assert len(asyncio.run(run())) <= 2


def test_a_database_that_is_down_is_waited_for() -> None:
    async def run() -> tuple[str, int]:
        tries = 0

        def write(items: Sequence[str]) -> list[str]:
            nonlocal tries
            tries += 1
            if tries < 3:
                raise EngineUnavailable("down")
            return list(items)

        return await Batches(write).add("a"), tries

    assert asyncio.run(run()) == ("a", 3)


@pytest.mark.parametrize(
    ("text", "seconds"), [("0s", 0.0), ("90", 90.0), ("2m", 120.0), ("30D", 30 * 86_400.0)]
)
def test_times_are_read_as_people_write_them(tmp_path: Path, text: str, seconds: float) -> None:
    settings = Settings(home=tmp_path, jobs_keep=text)
    assert JobSettings.of(settings).keep_seconds == seconds


@pytest.mark.parametrize("text", ["-1", "soon", "1y", "1e3"])
def test_what_is_no_time_is_refused_with_the_name_of_the_setting(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="VERITRAIL_JOBS_PATIENCE"):
        Settings(home=tmp_path, jobs_patience=text)


def test_a_worker_beside_others_takes_little_more_than_it_has_calls_for() -> None:
    settings = JobSettings.of(Settings(home=Path(), concurrency=20))
    assert settings.at_a_time(1) == 160
    most = JobSettings.of(Settings(home=Path(), concurrency=500))
    assert most.at_a_time(1) == MOST_CLAIMS
    assert [settings.at_a_time(workers) for workers in (2, 4, 100)] == [20, 10, 4]
