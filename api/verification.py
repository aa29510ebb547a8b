"""Verifying claims of a stored process: what a command or a service asks for, carried out.

Source: VeriTrail 3.1; E.3 for samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from veritrail_graph.api.configured_judge import ConfiguredJudge, differing
from veritrail_graph.api.runs import Ways, held_run, made_run
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError, NotFound
from veritrail_graph.graph.importers.records import ClaimRecord
from veritrail_graph.graph.model import Process, Status, Usage, Verification
from veritrail_graph.verifier.driver import Observer, Task
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.run import Run

if TYPE_CHECKING:
    from veritrail_graph.api.app.verify_request import VerifyRequest
    from veritrail_graph.api.extraction import ExtractionReport
    from veritrail_graph.graph.store import Store


@dataclass(frozen=True, slots=True)
class Done:
    """What a run left behind.

    Attributes:
        run: The run; None where every trail was stored already.
        run_id: Its id.
        verifications: One for each claim, in order.
        reused: JudgeOptions many of them were stored before, with the same settings.
        extraction: JudgeOptions the claims were extracted, if they were.
    """

    run: Run | None
    run_id: str
    verifications: list[Verification]
    reused: int = 0
    extraction: ExtractionReport | None = None


async def verify(
    settings: Settings,
    store: Store,
    bench: ConfiguredJudge,
    request: VerifyRequest,
    *,
    records: Sequence[ClaimRecord] | None = None,
    observer: Observer | None = None,
    on_run: Callable[[Run, int], None] = lambda _run, _claims: None,
    on_sentence: Callable[[int, int], None] = lambda _done, _total: None,
    on_answer: Callable[[Usage], None] = lambda _usage: None,
) -> Done:
    """Verify claims; those that were verified with the same settings are not paid for again.

    Args:
        settings: The settings.
        store: The graph.
        bench: Who judges.
        request: Which claims.
        records: The claims that are given; None: those of `request.claims`.
        observer: Told what happens.
        on_run: Given the run and its number of claims before it begins.
        on_sentence: Told how many sentences were looked at for claims, and how many there are.
        on_answer: Told what each call of the extraction came to.

    Raises:
        InputError: A claim or a node cannot be verified.
        EngineError: The graph cannot be reached.
    """
    from veritrail_graph.api.claims import choose_claims

    claim_ids = list(request.claim_ids or ())
    extraction = None
    if request.extract:
        extraction = await _extracted(store, bench, request, Meter(on_answer), on_sentence)
    if extraction is not None:
        claim_ids += [claim.claim_id for claim in extraction.claims]
    tasks = await choose_claims(
        store,
        request.process_id,
        (),
        request.claim_records() if records is None else records,
        claim_ids,
        request.node_id,
        unfinished=request.unfinished,
        retry_failed=request.retry_failed,
        may_be_none=request.extract,
    )
    stored = await store.processes.get(request.process_id)
    same: dict[str, str] = {}
    if not (request.again or request.retry_failed):
        claims = [task.claim for task in tasks]
        same = await store.trails.same(
            request.process_id, claims, bench.settings, stored.content_hash
        )
    found = {v.claim_id: v for v in await store.trails.read(list(same.values()))}
    left = [task for task in tasks if task.claim.claim_id not in found]
    run = _run(settings, store, bench, stored, observer)
    on_run(run, len(left))
    with held_run(settings, run.run_id):
        made = {v.claim_id: v for v in await run.verify(by_frontier(left))}
    return Done(
        run,
        run.run_id,
        [{**found, **made}[task.claim.claim_id] for task in tasks],
        len(found),
        extraction,
    )


async def resume(
    settings: Settings,
    store: Store,
    bench: ConfiguredJudge,
    run_id: str,
    observer: Observer | None = None,
    on_run: Callable[[Run, int], None] = lambda _run, _claims: None,
) -> Done:
    """Go on with a run: what has a verdict stays, everything else is verified.

    Raises:
        NotFound: There is no such run.
        InputError: It was made with other settings, or is on its way in another command.
    """
    with held_run(settings, run_id):
        return await _resume(settings, store, bench, run_id, observer, on_run)


async def _resume(
    settings: Settings,
    store: Store,
    bench: ConfiguredJudge,
    run_id: str,
    observer: Observer | None,
    on_run: Callable[[Run, int], None],
) -> Done:
    from veritrail_graph.api.claims import tasks_of

    earlier = await stored_run(store, run_id)  # as it is now that nobody else goes on with it
    process_id = earlier[0].process_id
    others = differing(earlier[0].settings, bench.settings)
    if others:
        raise InputError(
            f"Run {run_id} was made with other settings: {'; '.join(others)}. Set them as they "
            "were, or start a new run."
        )
    stored = await store.processes.get(process_id)
    if {v.content_hash for v in earlier} != {stored.content_hash}:
        raise InputError(
            f"Process {process_id!r} was replaced since run {run_id} began; start a new run."
        )
    finished = [v.verification_id for v in earlier if v.status is Status.SUCCEEDED]
    found = {v.verification_id: v for v in await store.trails.read(finished)}
    open_ = [v for v in earlier if v.verification_id not in found]
    tasks = await tasks_of(store, process_id, open_)
    run = _run(settings, store, bench, stored, observer, run_id)
    on_run(run, len(tasks))
    made = {v.verification_id: v for v in await run.verify(by_frontier(tasks))}
    order = [v.verification_id for v in earlier]
    everything = {**found, **made}
    return Done(run, run_id, [everything[one] for one in order if one in everything], len(found))


async def stored_run(store: Store, run_id: str) -> list[Verification]:
    """The verifications of a run, without their trails.

    Raises:
        NotFound: There is no such run.
    """
    found = await store.trails.of_run(run_id)
    if not found:
        raise NotFound(f"No run {run_id!r} is stored.", code="run_unknown", run_id=run_id)
    return found


async def _extracted(
    store: Store,
    bench: ConfiguredJudge,
    request: VerifyRequest,
    meter: Meter,
    on_sentence: Callable[[int, int], None],
) -> ExtractionReport:
    """Extract claims from the node and store them."""
    from veritrail_graph.api.extraction import extract_claims

    if bench.models is None:
        raise InputError(
            f"Extracting claims needs a language model, and engine {bench.how.engine} asks none.",
            code="extraction_needs_model",
            engine=bench.how.engine,
        )
    return await extract_claims(
        store,
        request.process_id,
        request.node_id,
        bench.models.steps.claims,
        bench.prompts,
        bench.splitter,
        meter,
        on_sentence=on_sentence,
    )


def _run(
    settings: Settings,
    store: Store,
    bench: ConfiguredJudge,
    process: Process,
    observer: Observer | None,
    run_id: str | None = None,
) -> Run:
    """A run over a process; what it is about to verify is kept, too."""
    ways = Ways(store.reading, store.trails.write, store.trails.queue)
    return made_run(settings, bench, process, ways, observer, run_id)


def by_frontier(tasks: Sequence[Task]) -> list[Task]:
    """Claims about one node together: they share their frontiers, and endpoints their prefixes."""
    first = {task.node.node_id: place for place, task in reversed(list(enumerate(tasks)))}
    return sorted(tasks, key=lambda task: first[task.node.node_id])
