"""Find the claims that an earlier version leaves to be verified, without asking a model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.configured.judge import configure_judge
from veritrail_graph.api.jobs.earlier import Comparison, StoredVerdicts
from veritrail_graph.graph.errors import InputError, VeriTrailError
from veritrail_graph.verifier.nodes import SharedNodes

if TYPE_CHECKING:
    from veritrail_graph.api.configured.judge import JudgeOptions
    from veritrail_graph.api.jobs.model import Version
    from veritrail_graph.api.requests.verify import VerifyRequest
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.model import Process
    from veritrail_graph.graph.store import Store
    from veritrail_graph.verifier.driver import Task
    from veritrail_graph.verifier.ports import NodeSource

AT_A_TIME = 64
"""Claims that are looked at together, which share statements to the graph."""
NOT_SET_UP = frozenset(
    ("key_needed", "azure_key_needed", "azure_endpoint_needed", "azure_version_needed")
)
"""Codes of faults that only a call has to mind: an estimate makes none."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The verdicts that a run would keep from an earlier version, and the claims left to verify.

    Attributes:
        since: The process that the earlier version is stored as.
        claims: How many verdicts would be kept; None: it is not known.
        left: The claims that would be verified anew.
        why_unknown: Why it is not known; `left` holds every claim then.
    """

    since: str
    claims: int | None
    left: tuple[Task, ...]
    why_unknown: str | None = None


async def kept_of(
    settings: Settings,
    store: Store,
    how: JudgeOptions,
    request: VerifyRequest,
    version: Version,
    process: Process,
    nodes: NodeSource,
    tasks: Sequence[Task],
) -> Kept:
    """Return which of these claims would keep the verdict of the earlier version that is named.

    Args:
        settings: The settings.
        store: The graph.
        how: How the others would be verified.
        request: What would be verified.
        version: The earlier version.
        process: The process.
        nodes: Where its nodes are read from.
        tasks: The claims.

    Raises:
        InputError: A setting is wrong.
    """
    if not how.asks_models:
        why = "the engine asks no model"
        return Kept(version.process_id, None, tuple(tasks), why)

    async def ask(question: Callable[[Store], Awaitable[Any]]) -> Any:
        return await question(store)

    free = replace(how, models=replace(how.models, budget=None, max_calls=None))
    try:
        async with configure_judge(settings, free) as judge:
            before = nodes
            if version.process_id != process.process_id:
                before = SharedNodes(store.reading, version.process_id, judge.splitter)
            verdicts = StoredVerdicts(
                Comparison(
                    process.process_id,
                    version,
                    {one.claim_id: one.earlier for one in request.match},
                    judge.judge,
                    judge.settings,
                    how.q,
                    ask,
                    before,
                    nodes,
                )
            )
            left = await _left(verdicts, tasks)
    except InputError as error:
        if error.code not in NOT_SET_UP:
            raise
        why = "no key and address of the endpoint are set"
        return Kept(version.process_id, None, tuple(tasks), why)
    return Kept(version.process_id, len(tasks) - len(left), tuple(left))


async def _left(verdicts: StoredVerdicts, tasks: Sequence[Task]) -> list[Task]:
    """The claims whose verdict is not kept."""

    async def is_kept(task: Task) -> bool:
        try:
            return (await verdicts.of(task)).kept is not None
        except VeriTrailError:  # a run verifies it then
            return False

    left = []
    for start in range(0, len(tasks), AT_A_TIME):
        group = tasks[start : start + AT_A_TIME]
        kept = await asyncio.gather(*map(is_kept, group))
        left += [task for task, one in zip(group, kept, strict=True) if not one]
    return left
