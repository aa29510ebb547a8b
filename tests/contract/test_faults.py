"""What is left when the embedded engine is killed, or has no room, in the middle of a write."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from fakes.processes import MemoryInput, process
from fakes.trails import FS, a_round, a_trail, cited, found, path

from veritrail_graph.graph.clock import now
from veritrail_graph.graph.embedded import (
    EngineSettings,
    engine_status,
    running_engine,
    stop_engine,
)
from veritrail_graph.graph.errors import (
    BeingWritten,
    EngineError,
    NotFound,
    StoreFull,
)
from veritrail_graph.graph.ingest import clean, ingest, read_and_check
from veritrail_graph.graph.ingest.check import Survey
from veritrail_graph.graph.ingest.together import store_new
from veritrail_graph.graph.ingest.write import Loading, no_progress
from veritrail_graph.graph.model import (
    Claim,
    NodeRef,
    Role,
    Termination,
    Verification,
)
from veritrail_graph.graph.model.listed import JudgedClaim
from veritrail_graph.graph.model.processes import ProcessOverview
from veritrail_graph.graph.store import Database, Store, open_store, processes, removing
from veritrail_graph.graph.store.export import StoredProcess
from veritrail_graph.graph.store.states import held

GONE = f"{socket.gethostname()}/999999999/0"  # no process has this number

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(sys.platform != "linux", reason="limits a running process: Linux only"),
]


@pytest.fixture
def settings() -> Iterator[EngineSettings]:
    home = Path(tempfile.mkdtemp(prefix="vt-fault-", dir="/tmp"))
    found = EngineSettings(home=home)
    yield found
    asyncio.run(stop_engine(found))
    shutil.rmtree(home, ignore_errors=True)


@asynccontextmanager
async def opened(settings: EngineSettings) -> AsyncIterator[Store]:
    async with (
        running_engine(settings) as address,
        open_store(address, retry_seconds=1) as store,
    ):
        yield store


async def engine_pid(settings: EngineSettings) -> int:
    pid = (await engine_status(settings)).pid
    assert pid is not None
    return pid


def wide(name: str, nodes: int = 5_500, words: int = 10) -> MemoryInput:
    texts = {f"n{number}": f"Sentence {number}. " + "word " * words for number in range(nodes)}
    return process(
        {**texts, "t": "The end."}, [(node, "t") for node in texts], {"k": "A claim."},
        process_id=name,
    )  # fmt: skip


async def kill(settings: EngineSettings) -> None:
    engine = psutil.Process(await engine_pid(settings))
    engine.kill()
    await asyncio.to_thread(psutil.wait_procs, [engine], timeout=10)


@pytest.mark.parametrize("moment", [pytest.param("nodes", marks=pytest.mark.soak), "edges"])
def test_an_engine_killed_during_ingest_leaves_nothing_visible(
    settings: EngineSettings, moment: str
) -> None:
    async def killed() -> None:
        loop = asyncio.get_running_loop()
        killing: list[asyncio.Future[None]] = []

        def progress(what: str, _done: int, _total: int) -> None:
            if what == moment and not killing:
                killing.append(asyncio.run_coroutine_threadsafe(kill(settings), loop))  # type: ignore[arg-type]

        async with opened(settings) as store:
            await ingest(store, process({"a": "A", "t": "T"}, [("a", "t")], process_id="before"))
            with pytest.raises(EngineError):
                await ingest(store, wide("wide"), progress=progress)
        assert killing

    async def after() -> None:
        async with opened(settings) as store:
            assert (await store.processes.get("before")).nodes == 2
            with pytest.raises(NotFound):
                await store.processes.get("wide")
            summaries = await store.processes.page()
            assert [s.process_id for s in summaries] == ["before"]
            # This process is still alive, so its half-written work is not yet taken for dead;
            # a command that was killed has another process id.
            state = await store.processes.state("wide")
            assert state is not None
            assert state.status == "loading"
            await store.processes.mark("wide", "loading", owner=GONE)
            report = await ingest(store, wide("wide"))
            assert report.status == "created"
            assert (await store.processes.get("wide")).nodes == 5_501

    asyncio.run(killed())
    asyncio.run(after())


def test_what_a_killed_command_left_is_cleaned_up(store: Store, arun: Any, process_id: str) -> None:
    arun(store.processes.begin(arun(read_and_check(wide(process_id, 10)))))
    assert arun(clean(store)) == []  # its writer is at work
    arun(store.processes.mark(process_id, "loading", owner=GONE))
    assert [state.process_id for state in arun(clean(store))] == [process_id]
    assert process_id not in [state.process_id for state in arun(store.processes.unfinished())]


@pytest.mark.parametrize(
    ("status", "done", "nodes"),
    [("loading", "replacement_removed", 2), ("replacing", "replacement_finished", 3)],
)
def test_cleaning_says_whether_a_replacement_was_finished_or_removed(
    store: Store, arun: Any, process_id: str, status: str, done: str, nodes: int
) -> None:
    arun(ingest(store, process({"a": "A", "t": "T"}, [("a", "t")], process_id=process_id)))
    new = process({"a": "A", "b": "B", "t": "T"}, [("a", "t"), ("b", "t")], process_id=process_id)
    staged_id = store.processes.staged_id(process_id)
    arun(store.processes.begin(arun(read_and_check(new)), stored_id=staged_id))
    arun(store.processes.mark(staged_id, status, owner=GONE))
    found = [(one.process_id, one.done) for one in arun(clean(store))]
    assert [one for one in found if one[0] == process_id] == [(process_id, done)]
    assert arun(store.processes.get(process_id)).nodes == nodes
    left = [one.replaces or one.process_id for one in arun(store.processes.unfinished())]
    assert process_id not in left


def test_cleaning_says_that_a_deletion_was_finished(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(ingest(store, wide(process_id, 10)))
    arun(store.processes.mark(process_id, "deleting", owner=GONE))
    found = [(one.process_id, one.done) for one in arun(clean(store))]
    assert (process_id, "deletion_finished") in found


def begun(store: Store, arun: Any, new: MemoryInput) -> Survey:
    """Hide a process, and all but put in its place what this program replaces it with."""
    found: Survey = arun(read_and_check(new))
    arun(ingest(store, wide(found.process_id, 3), replace=True))
    staged_id = store.processes.staged_id(found.process_id)
    arun(store.processes.begin(found, stored_id=staged_id))
    arun(store.processes.mark(staged_id, "replacing"))
    arun(store.database.write("process/hide_replaced", **held(found.process_id)))
    return found


@pytest.mark.parametrize(
    "steps",
    [
        steps if steps % 2 == 0 or steps >= 11 else pytest.param(steps, marks=pytest.mark.soak)
        for steps in range(1, 14)
    ],
)
def test_a_replacement_cut_short_anywhere_leaves_the_old_or_the_new_whole(
    store: Store, arun: Any, process_id: str, steps: int
) -> None:
    old = process({"a": "A", "t": "T"}, [("a", "t")], {"k": "Old."}, process_id=process_id)
    new = process(
        {"a": "A", "b": "B", "t": "T"}, [("a", "t"), ("b", "t")], {"k": "New."},
        process_id=process_id,
    )  # fmt: skip
    arun(ingest(store, old))
    left = steps

    async def cut(transaction: Any, *patience: Any, **options: Any) -> Any:
        nonlocal left
        if not transaction._is_read:
            if left == 0:
                raise EngineError("cut")
            left -= 1
        return await Database._do(store.database, transaction, *patience, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store.database, "_do", cut)
        try:
            arun(ingest(store, new, replace=True))
            done = True
        except EngineError:
            done = False
    staged_id = store.processes.staged_id(process_id)
    for name in (process_id, staged_id):
        state = arun(store.processes.state(name))
        if state is not None and state.status != "ready":
            arun(store.processes.mark(name, state.status, owner=GONE))

    # Readers need no other command first; those of one program wait for the same attempt.
    async def readers() -> tuple[JudgedClaim, ProcessOverview]:
        return await asyncio.gather(
            store.claims.get(process_id, "k"), store.processes.overview(process_id)
        )

    claim, overview = arun(readers())
    assert (claim.text, overview.nodes) in [("Old.", 2), ("New.", 3)]
    arun(clean(store))
    assert arun(store.processes.state(staged_id)) is None
    found = arun(store.processes.get(process_id))
    claims = [claim.text for claim in arun(store.claims.all(process_id))]
    read = arun(store.reading.source_nodes(process_id, ["t"], with_texts=True))
    assert (found.nodes, claims, set(read.texts)) in [
        (2, ["Old."], {"a"}),
        (3, ["New."], {"a", "b"}),
    ]
    assert not done or found.nodes == 3
    assert done == (steps >= 12)  # each of the twelve writes was the first one cut once


def test_a_reader_leaves_a_replacement_alone_whose_writer_is_alive(
    store: Store, arun: Any, process_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "SWITCH_SECONDS", 0.2)
    staged_id = store.processes.staged_id(process_id)
    new = process({"a": "A", "t": "T"}, [("a", "t")], {"k": "New."}, process_id=process_id)
    begun(store, arun, new)
    before = arun(store.processes.state(staged_id))
    for read in (store.processes.get, store.processes.overview):
        with pytest.raises(NotFound, match="it is replacing"):
            arun(read(process_id))
    assert arun(store.processes.state(staged_id)) == before


def test_a_list_finishes_a_killed_replacement_and_waits_for_a_live_one(
    store: Store, arun: Any, process_id: str
) -> None:
    staged_id = store.processes.staged_id(process_id)
    new = process({"a": "A", "t": "T"}, [("a", "t")], {"k": "New."}, process_id=process_id)

    def listed() -> list[str]:
        found = arun(store.processes.page(process_id[:-1]))
        return [one.process_id for one in found if one.process_id == process_id]

    source = arun(read_and_check(new))
    arun(store.processes.begin(source, stored_id=staged_id))
    arun(store.processes.mark(staged_id, "replacing", owner=GONE))
    assert listed() == [process_id]

    arun(store.processes.delete(process_id))
    arun(store.processes.begin(source, stored_id=staged_id))
    arun(store.processes.mark(staged_id, "replacing"))

    async def put_in_place_meanwhile() -> list[str]:
        async def later() -> None:
            await asyncio.sleep(0.3)
            await store.processes.promote(staged_id, process_id)

        task = asyncio.ensure_future(later())
        found = await store.processes.page(process_id[:-1])
        await task
        return [one.process_id for one in found]

    assert process_id in arun(put_in_place_meanwhile())


def test_a_deletion_takes_nothing_that_a_replacement_has_put_in_place(
    store: Store, arun: Any, process_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def content(*sources: str) -> MemoryInput:
        texts = {name: name for name in (*sources, "t")}
        edges = [(name, "t") for name in sources]
        return process(texts, edges, {"k": "A claim."}, process_id=process_id)

    delete, replaced = removing._delete, list[bool]()
    staged_id, new = store.processes.staged_id(process_id), content("a", "b")

    async def race() -> None:
        await ingest(store, content("a"))
        found = await read_and_check(new)
        await store.processes.begin(found, stored_id=staged_id)
        await Loading(store, staged_id, new, found, no_progress).run()

        async def paced(database: Any, name: str, kinds: Any, *rest: Any) -> None:
            if kinds[-1].name == "process/delete_spans" and not replaced:
                replaced.append(True)  # the replacement takes the process from the deletion
                await store.processes.promote(staged_id, process_id)
            await delete(database, name, kinds, *rest)

        monkeypatch.setattr(removing, "_delete", paced)
        await store.processes.delete(process_id)

    arun(race())
    assert replaced
    stored = arun(StoredProcess.open(store.database, process_id))
    assert stored.ids == ["a", "b", "t"]


def test_nothing_is_stored_under_an_id_while_a_replacement_takes_it(
    store: Store, arun: Any, process_id: str
) -> None:
    found = begun(store, arun, wide(process_id, 10))
    # Neither looks whether there is a replacement: the id is never free.
    with pytest.raises(BeingWritten):
        arun(store.processes.begin(found))
    with pytest.raises(BeingWritten):
        arun(store.processes.delete(process_id))
    assert arun(store_new(store, [found])) == {}
    assert arun(store.processes.state(process_id)).status == "replacing"


def test_what_kept_an_id_for_a_replacement_is_settled_with_it_or_removed_alone(
    store: Store, arun: Any, process_id: str
) -> None:
    staged_id = store.processes.staged_id(process_id)
    begun(store, arun, wide(process_id, 10))
    kept = arun(store.processes.state(process_id))
    with pytest.raises(BeingWritten):  # this program is at work on what replaces it
        arun(store.processes.settle(kept))
    arun(store.processes.mark(staged_id, "replacing", owner=GONE))
    arun(store.processes.settle(kept))
    assert arun(store.processes.get(process_id)).nodes == 11

    begun(store, arun, wide(process_id, 10))
    arun(store.processes.delete_own(staged_id))
    arun(store.processes.mark(process_id, "replacing", owner=GONE))
    arun(store.processes.settle(arun(store.processes.state(process_id))))
    assert arun(store.processes.state(process_id)) is None


def test_a_damaged_process_leaves_nothing_to_what_replaces_it(
    store: Store, arun: Any, process_id: str
) -> None:
    def content(*sources: str) -> MemoryInput:
        edges = [(name, "t") for name in sources]
        return process({name: name for name in (*sources, "t")}, edges, process_id=process_id)

    arun(ingest(store, content("a", "b")))
    text = "MATCH (p:Process {process_id: $name}) REMOVE p.content_hash"
    arun(store.database.run_text(text, {"name": process_id}, 1, write=True))
    arun(ingest(store, content("c"), replace=True))
    assert arun(StoredProcess.open(store.database, process_id)).ids == ["c", "t"]


def test_a_removed_process_that_is_replaced_leaves_its_id_to_no_other(
    store: Store, arun: Any, process_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = arun(read_and_check(wide(process_id, 10)))
    staged_id = store.processes.staged_id(process_id)
    arun(store.processes.begin(found, stored_id=staged_id))  # what it was to replace is gone
    write_with, hidden = store.database.write_with, []

    async def cut(work: Any, **options: Any) -> Any:
        if hidden:
            raise EngineError("cut")
        hidden.append(await write_with(work, **options))
        return hidden[0]

    with monkeypatch.context() as patch:
        patch.setattr(store.database, "write_with", cut)
        with pytest.raises(EngineError, match="cut"):
            arun(store.processes.promote(staged_id, process_id))
    with pytest.raises(BeingWritten):
        arun(store.processes.begin(found))
    assert arun(store.processes.get(process_id)).nodes == 11  # a reader has finished it


def test_a_replacement_takes_no_id_that_another_is_just_storing_something_under(
    store: Store, arun: Any, process_id: str
) -> None:
    staged_id = store.processes.staged_id(process_id)
    found = arun(read_and_check(wide(process_id, 10)))
    arun(store.processes.begin(found, stored_id=staged_id))
    arun(store.processes.begin(found))
    with pytest.raises(BeingWritten):
        arun(store.processes.promote(staged_id, process_id))
    assert arun(store.processes.state(process_id)).status == "loading"
    assert arun(store.processes.state(staged_id)).is_abandoned


def test_first_commands_at_once_make_the_schema_together(settings: EngineSettings) -> None:
    async def work() -> None:
        async with running_engine(settings) as address:

            async def command() -> int:
                async with open_store(address) as store:
                    return len(await store.processes.page())

            assert await asyncio.gather(*(command() for _ in range(6))) == [0] * 6

    asyncio.run(work())


def test_no_room_during_ingest_is_said_and_leaves_nothing_visible(
    settings: EngineSettings,
) -> None:
    async def work() -> None:
        async with opened(settings) as store:
            await ingest(store, process({"a": "A", "t": "T"}, [("a", "t")], process_id="before"))
            pid = await engine_pid(settings)
            data = settings.home / "engine" / "databases"
            largest = max(file.stat().st_size for file in data.rglob("*") if file.is_file())
            limits = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (largest + 500_000, limits[1]))
            with pytest.raises(StoreFull, match="room"):
                await ingest(store, wide("wide", 3_000, words=200))
            with pytest.raises(NotFound):
                await store.processes.get("wide")
            assert (await store.processes.get("before")).nodes == 2
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
        async with opened(settings) as store:
            if await store.processes.state("wide") is not None:
                await store.processes.mark("wide", "loading", owner=GONE)
            assert (await ingest(store, wide("wide", 3_000, words=200))).status == "created"

    asyncio.run(work())


def wide_trail(name: str) -> Verification:
    """A trail over the process `wide`: two iterations, with evidence in every node."""
    refs = [NodeRef(f"n{number}", 1, number, Role.ROOT) for number in range(5)]
    evidence = [found("They say so.", cited(ref.node_id, 0, 0, "Sentence ")) for ref in refs]
    return a_trail(
        name,
        a_round(1, FS, refs[:3], evidence[:3]),
        a_round(2, FS, refs[3:], evidence[3:], carried_roots=tuple(refs[:3])),
        process_id="wide",
        claim=Claim(claim_id="k", text="A claim.", node_id="t"),
        created_at=now(),
        termination=Termination.ONLY_ROOTS_WITH_EVIDENCE_LEFT,
        paths=tuple(path(ref.node_id, "t", 1 if ref.position < 3 else 2) for ref in refs),
    )


def test_an_engine_killed_during_write_back_leaves_whole_trails_only(
    settings: EngineSettings,
) -> None:
    trails = [wide_trail(f"v-{number:03}") for number in range(200)]

    async def killed() -> list[str]:
        written = []
        async with opened(settings) as store:
            await ingest(store, wide("wide", 5))
            killing = asyncio.get_running_loop().call_later(
                0.3, lambda: os.kill(pid, signal.SIGKILL)
            )
            pid = await engine_pid(settings)
            with suppress(EngineError):
                for trail in trails:
                    await store.trails.write(trail)
                    written.append(trail.verification_id)
                    await asyncio.sleep(0.005)
            killing.cancel()
        assert len(written) < len(trails)  # the engine was killed before the last one
        return written

    async def after(written: list[str]) -> None:
        async with opened(settings) as store:
            stored = await store.trails.all_ids("wide")
            assert set(written) <= set(stored)
            assert len(stored) <= len(written) + 1
            by_id = {trail.verification_id: trail for trail in trails}
            for verification_id in stored:
                found, wanted = await store.trails.get(verification_id), by_id[verification_id]
                assert found.iterations == wanted.iterations
                assert found.paths == wanted.paths
                assert (found.verdict, found.status) == (wanted.verdict, wanted.status)
            await store.trails.write(wide_trail("after"))
            assert (await store.trails.get("after")).iterations == trails[0].iterations

    asyncio.run(after(asyncio.run(killed())))
