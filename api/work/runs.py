"""The parts of a run as a whole: its pace, the money it may spend, and its holder."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from veritrail_graph.api.configured.judge import ConfiguredJudge
from veritrail_graph.api.configured.models import ModelOptions
from veritrail_graph.graph.errors import (
    EngineError,
    EngineUnavailable,
    InputError,
    NotFound,
    ReadOnlyGraph,
    StoreFull,
)
from veritrail_graph.graph.model import Process, Verification
from veritrail_graph.graph.model.canonical import canonical
from veritrail_graph.graph.private import PRIVATE_FILE, make_private_folders
from veritrail_graph.verifier.run import FIRST_UNDER_A_LIMIT, Write, affordable_claims

if TYPE_CHECKING:
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.verifier.driver import Observer
    from veritrail_graph.verifier.nodes import Reader
    from veritrail_graph.verifier.ports import NodeSource
    from veritrail_graph.verifier.reuse import EarlierVerdicts
    from veritrail_graph.verifier.run import Run, Write


RUN_ID = re.compile(r"r-[0-9a-f]{32}")
CLAIMS_A_CALL, MOST_CLAIMS = 8, 256
"""Claims that are on their way for each call in flight, and at most, where models are asked.

More than calls are allowed in flight: a claim that waits for the graph leaves its place to
another, and claims that share a frontier ask about it at about the same time.
"""


NODES_AT_ONCE = 200_000
"""Where no model is asked: nodes of the process, once for each claim on its way. Each may read all
of them, and keeps what it knows of them; more claims at a time would end no sooner."""


def pace(judge: ConfiguredJudge, nodes: int = 0) -> Callable[[int], int]:
    """Return how many claims are on their way at a time.

    Under a budget only as many begin as can be finished, as far as the claims until then tell.

    Args:
        judge: Who judges.
        nodes: How many nodes the process has.
    """
    if judge.models is None:
        at_a_time = min(judge.how.concurrency, max(1, NODES_AT_ONCE // max(1, nodes)))
        return lambda _ended: at_a_time
    if judge.how.models.in_batches:  # all claims share each round; the budget is kept before it
        return lambda _ended: ALL_CLAIMS
    spending = judge.models.spending
    most = min(CLAIMS_A_CALL * judge.models.concurrency, MOST_CLAIMS)
    first = max(FIRST_UNDER_A_LIMIT, judge.how.share)  # fewer would share no prompt

    def affordable(ended: int) -> int:
        at_a_time = most
        if spending.budget_usd is not None:
            left = spending.budget_usd - spending.spent
            at_a_time = affordable_claims(left, spending.spent, ended, at_a_time, first)
        if spending.max_calls is not None:
            left = spending.max_calls - spending.calls
            at_a_time = min(at_a_time, affordable_claims(left, spending.calls, ended, most, first))
        return at_a_time

    return affordable


@contextmanager
def held_run(settings: Settings, run_id: str) -> Iterator[None]:
    """Hold a run, so that no other command of this home goes on with it at the same time.

    Raises:
        InputError: Another command holds it.
    """
    from filelock import FileLock, Timeout

    if not RUN_ID.fullmatch(run_id):  # it becomes the name of a file
        raise NotFound(f"No run {run_id!r} is stored.")
    path = settings.home / "runs" / f"{run_id}.lock"
    try:
        make_private_folders(settings.home, path.parent)
        lock = FileLock(path, mode=PRIVATE_FILE)
        lock.acquire(timeout=0)
    except Timeout:
        raise InputError(
            f"Run {run_id} is on its way in another command; wait for it, or stop it first."
        ) from None
    except OSError:  # nowhere to write: then no other command looks for it
        yield
        return
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        lock.release()


def is_held(settings: Settings, run_id: str) -> bool:
    """Return whether a process of this home carries a run out."""
    try:
        with held_run(settings, run_id):
            return False
    except InputError:
        return True


def made_run(
    settings: Settings,
    judge: ConfiguredJudge,
    process: Process,
    reader: Reader,
    write: Write,
    observer: Observer | None,
    run_id: str | None = None,
    earlier: Callable[[NodeSource], EarlierVerdicts] | None = None,
) -> Run:
    """A run over a process; what it finishes is kept as long as there is an engine.

    Args:
        settings: The settings.
        judge: Who judges.
        process: The process.
        reader: Reads nodes.
        write: Keeps verifications.
        observer: Told what happens.
        run_id: The run that is resumed; None: a new one.
        earlier: Gives the verdicts of an earlier version, from what reads the nodes of now.
    """
    from veritrail_graph.graph.walking import Walk
    from veritrail_graph.verifier.frontiers import CypherNodes
    from veritrail_graph.verifier.nodes import SharedNodes
    from veritrail_graph.verifier.run import Run

    keep = Keep(write)
    is_unhurried = judge.models is None or judge.how.models.in_batches
    name, size, edges = process.process_id, process.nodes, process.edges
    nodes: NodeSource = SharedNodes(reader, name, judge.splitter, size=size, edges=edges)
    if settings.walk is Walk.CYPHER:
        nodes = CypherNodes(reader, name, judge.splitter)
    run = Run(
        name,
        judge.judge,
        nodes,
        keep.write,
        q=judge.how.q,
        concurrency=pace(judge, size),
        content_hash=process.content_hash,
        observer=judge.watched(observer),
        run_id=run_id,
        settings=judge.settings,
        options=options_of(judge),
        deadline=None if is_unhurried else settings.claim_deadline,
        earlier=earlier(nodes) if earlier is not None else None,
        corrector=judge.corrector,
    )
    keep.on_loss = run.stop
    return run


def run_options(options: ModelOptions) -> str:
    """Return what a run may spend, as canonical JSON."""
    return canonical(
        {"budget_usd": options.budget, "max_calls": options.max_calls, "price": options.price}
    ).decode()


def options_of(judge: ConfiguredJudge) -> str | None:
    """Return what a run of these models may spend; None where no model is asked."""
    return run_options(judge.how.models) if judge.models is not None else None


ALL_CLAIMS = 1_000_000
KEPT_TOGETHER = 50
"""Verifications that are stored in one transaction, when this many wait."""

_Waiting = tuple[tuple[Verification, ...], "asyncio.Future[None]"]


class Keep:
    """Stores verifications until the engine is lost; then ends the run, which would be in vain.

    What is finished while others are being stored is stored together with what else waits then:
    most of a transaction's time goes into the transaction itself.

    Args:
        write: Stores verifications.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._loss: EngineError | None = None
        self._waiting: list[_Waiting] = []
        self._storing: asyncio.Task[None] | None = None
        self.on_loss: Callable[[], None] = lambda: None

    async def write(self, *verifications: Verification) -> None:
        """Store verifications.

        Raises:
            EngineError: The engine is lost, or failed with these.
            InputError: They cannot be stored any more; others that waited are.
        """
        if self._loss is not None:
            raise self._loss
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((verifications, stored))
        if self._storing is None:
            self._storing = asyncio.create_task(self._store_all())
        await stored

    async def _store_all(self) -> None:
        """Store what waits, until nothing does."""
        try:
            while self._waiting:
                group, count = 0, 0
                while group < len(self._waiting) and count < KEPT_TOGETHER:
                    count += len(self._waiting[group][0])
                    group += 1
                together, self._waiting = self._waiting[:group], self._waiting[group:]
                await self._store(together)
        finally:
            self._storing = None

    async def _store(self, together: list[_Waiting]) -> None:
        fault: Exception | None = self._loss
        if fault is None:
            try:
                await self._write(*(one for some, _ in together for one in some))
            except InputError as error:
                if len(together) > 1:  # one of them is at fault: the others are stored
                    for alone in together:
                        await self._store([alone])
                    return
                fault = error
            except (EngineUnavailable, ReadOnlyGraph, StoreFull) as error:
                self._loss = fault = error
                self.on_loss()
            except Exception as error:  # noqa: BLE001  # raised in every caller that waits
                fault = error
        for _, stored in together:
            if stored.done():  # the caller was cancelled
                continue
            if fault is None:
                stored.set_result(None)
            else:
                stored.set_exception(fault)
