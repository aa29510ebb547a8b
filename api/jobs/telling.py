"""Letting the graph say, too, what became of claims that ended without being verified."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from veritrail_graph.api.jobs.tables import job_claims
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Status, Verification

if TYPE_CHECKING:
    from veritrail_graph.graph.store import Store

TOLD_TOGETHER = 200

_log = logging.getLogger("veritrail.jobs")

Ask = Callable[[Callable[["Store"], Awaitable[Any]]], Awaitable[Any]]
Transaction = Callable[[Callable[[Connection], Any]], Awaitable[Any]]


async def tell_some(
    ask: Ask, read: Transaction, run: Transaction, job_id: str | None = None
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
    rows = {row.verification_id: row for row in await read(partial(_to_tell, job_id=job_id))}
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
    await run(partial(_told, verification_ids=list(rows)))
    return len(rows) == TOLD_TOGETHER


def _to_tell(connection: Connection, job_id: str | None) -> Sequence[Any]:
    chosen = sa.select(
        job_claims.c.verification_id, job_claims.c.status, job_claims.c.failure
    ).where(~job_claims.c.is_told)
    if job_id is not None:
        chosen = chosen.where(job_claims.c.job_id == job_id)
    return connection.execute(chosen.limit(TOLD_TOGETHER)).all()


def _told(connection: Connection, verification_ids: Sequence[str]) -> None:
    connection.execute(
        sa.update(job_claims)
        .where(job_claims.c.verification_id.in_(verification_ids))
        .values(is_told=True)
    )
