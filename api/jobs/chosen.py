"""The claims, sentences and turns of a job: chosen, and as the rows that are kept of them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.configured.judge import ConfiguredJudge
from veritrail_graph.api.jobs.model import SENTENCE, TURN
from veritrail_graph.api.requests.attribute import MAX_SENTENCES
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.work.claims import choose_claims
from veritrail_graph.api.work.stated import stated_where_none
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Process, Status
from veritrail_graph.verifier.driver import Task

if TYPE_CHECKING:
    from veritrail_graph.api.work.extraction import ExtractionReport
    from veritrail_graph.graph.importers.records import ClaimRecord
    from veritrail_graph.graph.store import Store


@dataclass(frozen=True, slots=True)
class Chosen:
    """The claims of a job.

    Attributes:
        process: The process.
        tasks: All of them, in order.
        reused: The verification_ids of those that were verified before, by claim_id.
        left: Those that are still to be verified, in the order of their turns.
    """

    process: Process
    tasks: list[Task]
    reused: dict[str, str]
    left: list[Task]


async def chosen(
    store: Store,
    judge: ConfiguredJudge,
    request: VerifyRequest,
    process: Process | None = None,
    extracted: ExtractionReport | None = None,
    name: Callable[[str], str] | None = None,
    records: Sequence[ClaimRecord] | None = None,
    in_flight: Collection[str] = (),
) -> Chosen:
    """Choose the claims of a job, and store those that are new.

    Where the process has none, they are the sentences of its final outputs that state something.

    Args:
        store: The graph.
        judge: Who judges.
        request: What was asked for.
        process: The process, where it was read just now; None: it is read.
        extracted: The claims that were extracted for it.
        name: Gives a claim's verification its id; None: they have new ones.
        records: The claims that are given; None: those of the request.
        in_flight: Claims of the process whose verification has not ended.

    Raises:
        InputError: A claim or a node cannot be verified.
    """
    process = process or await store.processes.get(request.process_id)
    if records is None:
        records = request.claim_records()
    if not (records or extracted or request.extract or request.retry_failed):
        records = await stated_where_none(store, request, process, judge.splitter)
    tasks = await choose_claims(
        store,
        process,
        (),
        records,
        request.claim_ids or (),
        request.node_id,
        unfinished=request.unfinished,
        retry_failed=request.retry_failed,
        in_flight=in_flight,
        may_be_none=request.extract,
        extracted=extracted,
    )
    if name is not None:
        tasks = [replace(task, verification_id=name(task.claim.claim_id)) for task in tasks]
    reused: dict[str, str] = {}
    are_new = extracted is not None and extracted.are_new and not (records or request.claim_ids)
    if not (request.again or request.retry_failed or are_new):
        matched = {one.claim_id for one in request.match}  # compared by their pairs of now
        claims = [task.claim for task in tasks if task.claim.claim_id not in matched]
        reused = await store.trails.same(
            process.process_id, claims, judge.settings, process.content_hash
        )
    left = by_frontier([task for task in tasks if task.claim.claim_id not in reused])
    return Chosen(process, tasks, reused, left)


def claim_rows(found: Chosen) -> list[dict[str, Any]]:
    """The rows of the claims of a job: those to be verified first, in the order of their turns."""
    place = {task.claim.claim_id: number for number, task in enumerate(found.tasks)}
    open_ = [_row(one.verification_id, one.claim.claim_id, Status.QUEUED) for one in found.left]
    done = [
        _row(found.reused[claim.claim_id], claim.claim_id, Status.SUCCEEDED)
        for claim in (task.claim for task in found.tasks)
        if claim.claim_id in found.reused
    ]
    return [{**row, "place": place[row["claim_id"]]} for row in (*open_, *done)]


def sentence_rows(
    sentences: Sequence[Sequence[int]], most: int | None = MAX_SENTENCES
) -> list[dict[str, Any]]:
    """The rows of the sentences of a job, in their order.

    Args:
        sentences: The numbers of the sentences of each of its nodes.
        most: How many they may be; None: any number.

    Raises:
        InputError: They are too many.
    """
    total = sum(map(len, sentences))
    if most is not None and total > most:
        raise InputError(
            f"The nodes have {total:,} sentences; a job attributes at most {most:,}. "
            "Name fewer nodes.",
            code="too_many_sentences",
            most=most,
        )
    return [
        _row(f"{SENTENCE}{uuid.uuid4().hex}", f"{node}.{one}", Status.QUEUED)
        for node, numbers in enumerate(sentences)
        for one in numbers
    ]


def turn_rows(turns: int) -> list[dict[str, Any]]:
    """The rows of the turns of a job, in their order.

    Args:
        turns: How many it has.
    """
    return [_row(f"{TURN}{uuid.uuid4().hex}", str(one), Status.QUEUED) for one in range(turns)]


def _row(verification_id: str, claim_id: str, status: Status) -> dict[str, Any]:
    return {
        "verification_id": verification_id,
        "claim_id": claim_id,
        "status": status.value,
        "reused": status is Status.SUCCEEDED,
    }


def by_frontier(tasks: Sequence[Task]) -> list[Task]:
    """Claims about one node together: they share their frontiers, and endpoints their prefixes."""
    first = {task.node.node_id: place for place, task in reversed(list(enumerate(tasks)))}
    return sorted(tasks, key=lambda task: first[task.node.node_id])
