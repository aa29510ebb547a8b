"""Writing to the graph what became of claims that ended without being verified."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.jobs.storage import Transaction, upkeep
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Status, Verification

if TYPE_CHECKING:
    from veritrail_graph.graph.store import Store

_log = logging.getLogger("veritrail.jobs")

Ask = Callable[[Callable[["Store"], Awaitable[Any]]], Awaitable[Any]]
RunTransaction = Callable[[Callable[[Transaction], Any]], Awaitable[Any]]


async def sync_graph(
    ask: Ask, read: RunTransaction, run: RunTransaction, job_id: str | None = None
) -> bool:
    """Tell the graph of some claims; the answer says whether there may be more.

    Args:
        ask: Asks the graph.
        read: Runs a transaction that only reads.
        run: Runs a transaction.
        job_id: The job that it is about; None: all of them.

    Raises:
        EngineError: The graph or the database does not answer.
    """
    rows = {row.verification_id: row for row in await read(partial(upkeep.to_tell, job_id=job_id))}
    if not rows:
        return False
    found: Sequence[Verification] = await ask(lambda store: store.trails.headers(list(rows)))
    changed = [
        one.replace(
            status=Status(rows[one.verification_id].status),
            error=rows[one.verification_id].failure,
        )
        for one in found
        if one.status is not Status.SUCCEEDED
    ]
    try:
        if changed:
            await ask(lambda store: store.trails.write(*changed))
    except InputError as error:  # the process or a claim is gone: there is nobody to tell
        _log.info("not told to the graph: %s", error)
    await run(partial(upkeep.note_told, verification_ids=list(rows)))
    return len(rows) == upkeep.TOLD_TOGETHER
