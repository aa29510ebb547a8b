"""A connection that is lost at any moment of any transaction: nothing half-stored or doubled."""

from __future__ import annotations

import socket
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any

import pytest
from fakes.processes import MemoryInput, process
from fakes.tcp_proxy import Cut, TcpProxy, tcp_proxy
from fakes.trails import FS, NFS, a_round, a_trail

from veritrail_graph.graph.errors import EngineError
from veritrail_graph.graph.ingest import clean, ingest
from veritrail_graph.graph.model import Claim, Status
from veritrail_graph.graph.store import DatabaseAddress, Store, open_store

pytestmark = pytest.mark.engine

GONE = f"{socket.gethostname()}/999999999/0"  # no process has this number
# How many lost connections are reported; all others are repaired unseen. Opening a process is
# not tried again: whether another command has just opened it could not be known.
SAID = {"ingest": 1, "replace": 1}
MOST_TRANSACTIONS = 60


@dataclass
class Line:
    """A store behind a proxy, and one that speaks to the same engine without."""

    proxy: TcpProxy
    cut: Store
    whole: Store


@pytest.fixture(scope="module")
def line(store: Store, address: DatabaseAddress, arun: Any) -> Iterator[Line]:
    with tcp_proxy(address.uri) as proxy:
        stack = AsyncExitStack()
        opened = open_store(replace(address, uri=proxy.uri), retry_seconds=5)
        yield Line(proxy, arun(stack.enter_async_context(opened)), store)
        proxy.heal()
        arun(stack.aclose())


def source(process_id: str, *more: str) -> MemoryInput:
    """Four nodes and five edges with two claims, and some nodes more."""
    texts = {name: f"Text of {name}." for name in ("c1", "c2", "s1", "s2", *more)}
    edges = [("c1", "s1"), ("c2", "s1"), ("c2", "s2"), ("s1", "t"), ("s2", "t")]
    return process(
        {**texts, "t": "The end."},
        [*edges, *((name, "t") for name in more)],
        {"k1": "The pier is 80 metres long.", "k2": "It is green."},
        process_id=process_id,
    )


def trail(process_id: str, **other: Any) -> Any:
    claim = Claim(claim_id="k1", text="The pier is 80 metres long.", node_id="t")
    rounds = (
        a_round(1, FS, "s1 s2", (("s1", 0), ("s2", 0))),
        a_round(2, NFS, "c1 c2", (("c1", 0),)),
    )
    name = f"{process_id}/v"
    return a_trail(name, *rounds, process_id=process_id, claim=claim, **other)


async def census(store: Store, process_id: str) -> dict[str, int]:
    """How many of everything a process has, and nothing of what it is being made from."""
    found = {}
    for what, pattern in {
        "spans": "(x:Span {process_id: $p})",
        "edges": "(:Span {process_id: $p})-[x:INPUT_TO]->(:Span)",
        "claims": "(x:Claim {process_id: $p})",
        "extracted": "(:Claim {process_id: $p})-[x:EXTRACTED_FROM]->(:Span)",
        "verifications": "(x:Verification {process_id: $p})",
        "verifies": "(:Verification {process_id: $p})-[x:VERIFIES]->(:Claim)",
        "iterations": "(:Verification {process_id: $p})-[x:HAS_ITERATION]->(:Iteration)",
        "checked": "(:Verification {process_id: $p})-->(:Iteration)-[x:CHECKED]->(:Span)",
        "cited": "(:Verification {process_id: $p})-->(:Iteration)-->(:Evidence)-[x:CITES]->()",
        "sentences": "(x:Sentence {process_id: $p})",
    }.items():
        rows = await store.database.run_text(
            f"MATCH {pattern} RETURN count(x)", {"p": process_id}, 1
        )
        found[what] = rows.rows[0][0]
    return found


async def settled(line: Line, work: Callable[[Store], Coroutine[Any, Any, Any]]) -> bool:
    """Run a command behind the proxy, and again when it fails; whether it failed."""
    try:
        await work(line.cut)
    except EngineError:
        # This program is alive, so what it left is not taken for dead; a command would have ended.
        line.proxy.heal()
        for state in await line.whole.processes.unfinished():
            if state.process_id.startswith("cut-"):
                await line.whole.processes.mark(state.process_id, state.status, owner=GONE)
        await work(line.cut)
        return True
    return False


@pytest.mark.parametrize(
    ("is_answered", "every"),
    [
        pytest.param(False, 5, id="before"),  # the engine rolls back, and the driver runs it again
        pytest.param(False, 1, id="before-any", marks=pytest.mark.soak),
        pytest.param(True, 4, id="answer-lost"),
        pytest.param(True, 1, id="answer-of-any-lost", marks=pytest.mark.soak),
    ],
)
@pytest.mark.parametrize("command", ["ingest", "replace", "claims", "write", "end", "delete"])
def test_a_connection_lost_at_any_commit_leaves_nothing_half_stored_and_nothing_doubled(
    line: Line, arun: Any, command: str, is_answered: bool, every: int
) -> None:
    process_id = f"cut-{command}-{is_answered}-{every}"

    async def run(store: Store) -> None:
        if command == "ingest":
            await ingest(store, source(process_id))
        elif command == "replace":
            await ingest(store, source(process_id, "more"), replace=True)
        elif command == "claims":
            await store.claims.add(
                process_id, [Claim(claim_id="k3", text="It is new.", node_id="t")]
            )
        elif command == "write":
            await store.trails.write(trail(process_id))
        elif command == "end":
            ended = trail(process_id, status=Status.CANCELLED, verdict=None)
            await store.trails.write_ends([ended.replace(iterations=())])
        elif await store.processes.state(process_id) is not None:
            await store.processes.delete(process_id)

    async def prepare() -> None:
        line.proxy.heal()
        if await line.whole.processes.state(process_id) is not None:
            await line.whole.processes.delete(process_id)
        if command != "ingest":
            await ingest(line.whole, source(process_id))
        if command == "delete":
            await line.whole.trails.write(trail(process_id))

    async def work() -> int:
        await prepare()
        line.proxy.commits = 0
        await run(line.cut)
        commits, right = line.proxy.commits, await census(line.whole, process_id)
        assert 1 <= commits <= MOST_TRANSACTIONS
        failed = 0
        for number in range(1, commits + 1, every):
            await prepare()
            line.proxy.plan(Cut(number=number, is_answered=is_answered))
            failed += await settled(line, run)
            assert line.proxy.cuts == 1 or line.proxy.cut is None, number
            assert await census(line.whole, process_id) == right, number
        await clean(line.whole)
        if await line.whole.processes.state(process_id) is not None:
            await line.whole.processes.delete(process_id)
        assert not any((await census(line.whole, process_id)).values())
        return failed

    assert arun(work()) <= SAID.get(command, 0)
