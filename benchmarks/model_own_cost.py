"""Our own cost a call: a run whose graph costs nothing, against a bare client loop.

The loop sends the requests that the run sent, byte for byte what the same client makes of
them, with as many in flight, and reads the answers' texts. It knows nothing of claims.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import openai

from benchmarks.model_runs import Given, in_turn
from benchmarks.report import middle
from veritrail_graph.graph.model import NodeRef, Status, Verification
from veritrail_graph.graph.store.database import Database, DatabaseAddress
from veritrail_graph.graph.store.store import Store
from veritrail_graph.verifier.driver import Task
from veritrail_graph.verifier.models.openai_endpoint import STEP_HEADER, OpenAiEndpoint
from veritrail_graph.verifier.models.port import Completion, Request
from veritrail_graph.verifier.nodes import SharedNodes
from veritrail_graph.verifier.ports import NodeSource, ReadNode, SourceNodes
from veritrail_graph.verifier.run import Run

Sent = list[tuple[Request, int | None]]
ROUNDS = 3


async def compare(*, rounds: int = ROUNDS, **arguments: Any) -> dict[str, float]:
    """Median seconds of our run and of the bare loop, and processor time a call."""
    given = Given(**arguments)
    tasks, nodes = await _prepared(given)
    requests = await _recorded(given, tasks, nodes)
    cpu: dict[str, list[float]] = {"ours": [], "bare": []}

    async def ours() -> float:
        return await _ours(given, tasks, nodes, cpu["ours"])

    async def bare() -> float:
        return await bare_loop(given.base_url, given.concurrency, requests, cpu["bare"])

    found = await in_turn({"ours": ours, "bare": bare}, rounds)
    calls = len(requests)
    return {
        "ours": middle(found["ours"]),
        "bare": middle(found["bare"]),
        "fastest": min(found["ours"]) / min(found["bare"]),
        "calls": calls,
        "claims": len(tasks),
        "cpu_ours": middle(cpu["ours"]) / calls,
        "cpu_bare": middle(cpu["bare"]) / calls,
    }


async def _prepared(given: Given) -> tuple[list[Task], NodeSource]:
    """The claims, and the nodes, which are in memory after the first run over them."""
    from veritrail_graph.api.work.claims import choose_claims
    from veritrail_graph.graph.sentences import SentenceSplitter

    database = Database(DatabaseAddress(**given.login))
    await database.connect()
    store = Store.of(database)
    process = await store.processes.get(given.process)
    tasks = await choose_claims(store, process, (), given.records, (), None)
    splitter = SentenceSplitter.for_language("english")
    nodes = SharedNodes(store.reading, given.process, splitter)
    await _read_all(tasks, nodes)
    await database.close()  # from now on the graph is not there
    return tasks, _KnownNodes(nodes)


async def _read_all(tasks: Sequence[Task], nodes: NodeSource) -> None:
    """Read everything upstream of the claims' nodes."""
    seen: set[str] = set()
    frontier = {task.node.node_id for task in tasks}
    while frontier:
        seen |= frontier
        found = await nodes.source_nodes(sorted(frontier))
        await nodes.read(found.nodes)
        frontier = {ref.node_id for ref in found.nodes if not ref.is_root} - seen


class _KnownNodes:
    """The nodes that were read; what a walk has checked is kept here, not asked by a statement.

    Args:
        nodes: All nodes of the walks, read.
    """

    def __init__(self, nodes: SharedNodes) -> None:
        self._nodes = nodes

    async def source_nodes(
        self, of: Collection[str], checked: Collection[NodeRef] = ()
    ) -> SourceNodes:
        """The source nodes of these nodes without those checked."""
        found = await self._nodes.source_nodes(of)
        passed = {ref.node_id for ref in checked}
        return SourceNodes(
            tuple(ref for ref in found.nodes if ref.node_id not in passed), found.sources
        )

    async def left(self, of: Collection[str], checked: Collection[NodeRef]) -> SourceNodes:
        """Return whether any source node of these nodes is not among those checked."""
        return await self._nodes.left(of, checked)

    async def read(self, nodes: Sequence[NodeRef]) -> tuple[ReadNode, ...]:
        """The texts of these nodes, split into sentences."""
        return await self._nodes.read(nodes)

    async def copies(self, node_ids: Collection[str]) -> frozenset[str]:
        """Those of these nodes that were produced by a step that cannot change text."""
        return await self._nodes.copies(node_ids)


async def _recorded(given: Given, tasks: Sequence[Task], nodes: NodeSource) -> Sent:
    """Run once and keep every request that went out."""
    with recording() as sent:
        await _ours(given, tasks, nodes, [])
    return sent


@contextmanager
def recording() -> Iterator[Sent]:
    """Keeps every request that goes out."""
    sent: Sent = []
    send = OpenAiEndpoint.send

    async def keeping(
        self: OpenAiEndpoint, request: Request, max_output_tokens: int | None
    ) -> Completion:
        sent.append((request, max_output_tokens))
        return await send(self, request, max_output_tokens)

    OpenAiEndpoint.send = keeping  # type: ignore[method-assign]
    try:
        yield sent
    finally:
        OpenAiEndpoint.send = send  # type: ignore[method-assign]


async def _ours(given: Given, tasks: Sequence[Task], nodes: NodeSource, cpu: list[float]) -> float:
    async def write(*_verifications: Verification) -> None:
        return

    async with given.bench() as (_, bench):
        run = Run(given.process, bench.judge, nodes, write, q=given.q, concurrency=256)
        start, spent = time.perf_counter(), time.process_time()
        verified = await run.verify(tasks)
        wall = time.perf_counter() - start
        cpu.append(time.process_time() - spent)
    failed = [one for one in verified if one.status is not Status.SUCCEEDED]
    if failed:
        raise RuntimeError(f"{len(failed)} claims failed: {failed[0].error}")
    return wall


async def bare_loop(base_url: str, concurrency: int, requests: Sent, cpu: list[float]) -> float:
    """Seconds of sending these requests with the client alone.

    Args:
        base_url: The server.
        concurrency: The most calls in flight.
        requests: What is sent.
        cpu: Gets the seconds of processor time.
    """
    left = iter(requests)
    async with openai.AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0) as client:

        async def ask() -> int:
            read = 0
            for request, most in left:
                answer = await client.chat.completions.create(
                    model=request.call.model,
                    messages=[
                        {"role": "system", "content": request.system},
                        {"role": "user", "content": request.user},
                    ],
                    temperature=request.call.temperature,
                    max_tokens=most,
                    extra_headers={STEP_HEADER: request.call.step},
                )
                read += len(answer.choices[0].message.content or "")
            return read

        start, spent = time.perf_counter(), time.process_time()
        await asyncio.gather(*(ask() for _ in range(concurrency)))
        wall = time.perf_counter() - start
        cpu.append(time.process_time() - spent)
    return wall
