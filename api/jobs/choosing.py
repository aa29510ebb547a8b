"""Which claims a job verifies, and which of them were verified before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.app.verify_request import VerifyRequest
from veritrail_graph.api.claims import choose_claims
from veritrail_graph.api.configured_judge import ConfiguredJudge
from veritrail_graph.api.jobs.room import queued
from veritrail_graph.api.verification import by_frontier
from veritrail_graph.graph.model import Process, Status, Verification
from veritrail_graph.verifier.driver import Task

if TYPE_CHECKING:
    from veritrail_graph.graph.store import Store


@dataclass(frozen=True, slots=True)
class Chosen:
    """The claims of a job.

    Attributes:
        process: The process.
        tasks: All of them, in order.
        reused: The verification_ids of those that were verified before, by claim_id.
        queued: What is kept of those that are still to be verified, in the order of their turns.
    """

    process: Process
    tasks: list[Task]
    reused: dict[str, str]
    queued: list[Verification]


async def chosen(
    store: Store,
    bench: ConfiguredJudge,
    request: VerifyRequest,
    run_id: str,
    extracted: Sequence[str] = (),
    name: Callable[[str], str] | None = None,
) -> Chosen:
    """Choose the claims of a job, and store those that are new.

    Args:
        store: The graph.
        bench: Who judges.
        request: What was asked for.
        run_id: The run of the job.
        extracted: Claims that were extracted for it.
        name: Gives a claim's verification its id; None: they have new ones.

    Raises:
        InputError: A claim or a node cannot be verified.
    """
    tasks = await choose_claims(
        store,
        request.process_id,
        (),
        request.claim_records(),
        [*(request.claim_ids or ()), *extracted],
        request.node_id,
        unfinished=request.unfinished,
        retry_failed=request.retry_failed,
        may_be_none=request.extract,
    )
    if name is not None:
        tasks = [replace(task, verification_id=name(task.claim.claim_id)) for task in tasks]
    process = await store.processes.get(request.process_id)
    reused: dict[str, str] = {}
    if not (request.again or request.retry_failed):
        claims = [task.claim for task in tasks]
        reused = await store.trails.same(
            process.process_id, claims, bench.settings, process.content_hash
        )
    left = by_frontier([task for task in tasks if task.claim.claim_id not in reused])
    return Chosen(process, tasks, reused, queued(bench, process, run_id, left))


def claim_rows(found: Chosen) -> list[dict[str, Any]]:
    """The rows of the claims of a job: those to be verified first, in the order of their turns."""
    place = {task.claim.claim_id: number for number, task in enumerate(found.tasks)}
    open_ = [_row(one.verification_id, one.claim_id, Status.QUEUED) for one in found.queued]
    done = [
        _row(found.reused[claim.claim_id], claim.claim_id, Status.SUCCEEDED)
        for claim in (task.claim for task in found.tasks)
        if claim.claim_id in found.reused
    ]
    return [{**row, "place": place[row["claim_id"]]} for row in (*open_, *done)]


def _row(verification_id: str, claim_id: str, status: Status) -> dict[str, Any]:
    return {
        "verification_id": verification_id,
        "claim_id": claim_id,
        "status": status.value,
        "reused": status is Status.SUCCEEDED,
    }
