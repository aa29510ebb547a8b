"""Runs of a process: list them, and compare two runs or two judges over all claims.

Source: ours.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from pydantic import Field

from veritrail_graph.api.app.part import Part
from veritrail_graph.graph.errors import EngineUnavailable, InputError, NotFound, shown
from veritrail_graph.graph.judge_mode import judge_mode_of
from veritrail_graph.graph.model import Status, Usage, Verdict
from veritrail_graph.graph.model.noun import Answer
from veritrail_graph.graph.model.run import PAPER_MODE, JudgeMode, Run, SecondJudge, Share, Spending

if TYPE_CHECKING:
    from veritrail_graph.graph.model.job import Job
    from veritrail_graph.graph.store.trails import FoundOfClaim


_log = logging.getLogger("veritrail.runs")


class RunList(Answer):
    """The runs of a process, newest first."""

    process_id: str
    run_of_record: str | None
    runs: list[Run]


class Change(StrEnum):
    """What became of a claim between two sides."""

    GAINED = "gained"
    """It is fully supported on the second side only."""
    LOST = "lost"
    """It is fully supported on the first side only."""
    MOVED = "moved"
    """Both say that it is not fully supported, and name other stages."""
    OTHER = "other"
    """The verdicts differ otherwise."""
    SAME = "same"
    """Verdict and stages are the same."""
    ONLY_FIRST = "only-first"
    """Only the first side gave a verdict."""
    ONLY_SECOND = "only-second"
    """Only the second side gave a verdict."""
    NEITHER = "neither"
    """Neither gave a verdict."""


class SideOfClaim(Answer):
    """What one side found of a claim."""

    verification_id: str
    status: str
    verdict: str | None
    indicative: bool = Field(False, description="Whether no model judged.")
    error_stages: list[int]
    spent: Spending


class ClaimOnBothSides(Answer):
    """A claim on both sides; null: that side did not verify it."""

    claim_id: str
    claim: str
    change: Change
    same_text: bool = Field(description="Whether both verified the same words.")
    a: SideOfClaim | None
    b: SideOfClaim | None


class ComparedSide(Answer):
    """One side of a comparison: a run, or all that a judge found."""

    name: str = Field(description="The run_id, or the name of the model or engine.")
    kind: str = Field(description="run or judge.")
    engine: str
    model: str | None
    share: Share = None
    escalate_to: SecondJudge = None
    q: int
    indicative: bool
    created_at: str = Field(description="When the first of it was made.")
    claims: int
    verdicts: dict[str, int]
    without_verdict: int
    undecided: int = Field(0, description="Those of them that were checked to the end.")
    spent: Spending

    @property
    def asking(self) -> JudgeMode:
        """Return how its judge was asked."""
        return JudgeMode(self.share, self.escalate_to)


class RunComparison(Answer):
    """Two runs, or two judges, over all claims that either of them verified."""

    process_id: str
    a: ComparedSide
    b: ComparedSide
    changes: dict[Change, int] = Field(description="Claims by what became of them.")
    pairs: dict[str, dict[str, int]] = Field(
        description="Claims with a verdict on both sides, by that of the first, then the second."
    )
    claims: list[ClaimOnBothSides] = Field(description="What changed comes first.")


class Runs(Part):
    """The runs of processes."""

    async def of_process(self, process_id: str) -> RunList:
        """The runs of a process, newest first, those of the command line included.

        Raises:
            NotFound: There is no such process.
        """
        process = await self._app.processes.get(process_id)
        found = await self._app.verifications.runs(process_id)
        of_record = process.run_of_record
        jobs = await self._jobs_of(found)
        return RunList(
            process_id=process_id,
            run_of_record=of_record,
            runs=[_with_job(run, of_record, jobs.get(run.run_id)) for run in found],
        )

    async def _jobs_of(self, found: Sequence[Run]) -> dict[str, Job]:
        """The jobs of runs that are still kept, by run_id."""
        if not self._app.has_database:
            return {}
        from veritrail_graph.api.jobs.model import job_id_of
        from veritrail_graph.api.jobs.storage.reading import found_jobs

        names = [job_id_of(one.run_id) for one in found]
        try:
            jobs = await self._app.database.read(lambda one: found_jobs(one, names, ids=False))
        except EngineUnavailable as error:
            _log.warning("what jobs know of runs is not shown: %s", error)
            return {}
        return {job.run_id: job for job in jobs}

    async def compare(self, process_id: str, first: str, second: str) -> RunComparison:
        """Compare two runs, two judges, or a run and a judge, over all claims.

        Questions count only where one of the two found nothing else. Of a judge the result of each
        claim with the highest q counts, then the latest, whatever the run.

        Args:
            process_id: The process.
            first: A run_id, or the name of a model or engine.
            second: The same for the other side.

        Raises:
            NotFound: There is no such process, or nothing of such a run or judge.
            InputError: Both sides are the same.
        """
        if first == second:
            raise InputError(
                f"Both sides are {shown(first)}; choose two different ones.", code="same_sides"
            )
        await self._app.processes.get(process_id)
        sides = [await self._side(process_id, name) for name in (first, second)]
        if not all(found for _, found in sides):  # of one only questions are known: they count
            sides = [await self._side(process_id, name, asked=True) for name in (first, second)]
        order = (await self._app.claims.numbered(process_id))[1]
        latest = [_latest(found).verification_id for _, found in sides]
        asked = {
            one.verification_id: judge_mode_of(one)
            for one in await (await self._store()).trails.headers(latest)
        }
        return await asyncio.to_thread(
            compared, process_id, (first, sides[0]), (second, sides[1]), order, asked
        )

    async def process_of(self, run_id: str) -> str:
        """Return the process_id of a run.

        Raises:
            NotFound: No such run is stored.
        """
        found = await (await self._store()).trails.of_run(run_id)
        if not found:
            raise NotFound(f"No run {run_id!r} is stored.", code="run_unknown", run_id=run_id)
        return found[0].process_id

    async def _side(
        self, process_id: str, name: str, *, asked: bool = False
    ) -> tuple[str, list[FoundOfClaim]]:
        """Return whether a name is that of a run or a judge, and what it found."""
        trails = (await self._store()).trails
        found = await trails.compared(process_id, name, None, asked=asked)
        if found:
            return "run", found
        found = await trails.compared(process_id, None, name, asked=asked)
        if found or not asked:
            return "judge", found
        raise NotFound(
            f"Process {process_id!r} has no run, model or engine {shown(name)}.",
            code="side_unknown",
            process_id=process_id,
        )


def _with_job(run: Run, of_record: str | None, job: Job | None) -> Run:
    """A run beside the run of record, with what its job knows."""
    known = {"mode": job.mode, "since": job.since} if job is not None else {}
    return run.replace(is_of_record=run.run_id == of_record, **known)


_ORDER = {change: place for place, change in enumerate(Change)}
_ORDER[Change.LOST] = -1  # what went wrong is read first


def compared(
    process_id: str,
    first: tuple[str, tuple[str, Sequence[FoundOfClaim]]],
    second: tuple[str, tuple[str, Sequence[FoundOfClaim]]],
    order: dict[str, int],
    asked: Mapping[str, JudgeMode] = MappingProxyType({}),
) -> RunComparison:
    """Two sides over all claims.

    Args:
        process_id: The process.
        first: The name of the first side, its kind, and what it found.
        second: The same of the second one.
        order: The place of each claim in its process.
        asked: How the judge of the latest verification of a side was asked, by verification_id.
    """
    a = {one.claim_id: one for one in first[1][1]}
    b = {one.claim_id: one for one in second[1][1]}
    claims = [_claim(name, a.get(name), b.get(name)) for name in {**a, **b}]
    last = len(order)
    claims.sort(key=lambda one: (_ORDER[one.change], order.get(one.claim_id, last), one.claim_id))
    pairs = {one.value: dict.fromkeys((other.value for other in Verdict), 0) for one in Verdict}
    for one in claims:
        if one.a and one.b and one.a.verdict and one.b.verdict:
            pairs[one.a.verdict][one.b.verdict] += 1
    counts = Counter(one.change for one in claims)
    return RunComparison(
        process_id=process_id,
        a=_side_of(first[0], first[1][0], a.values(), asked),
        b=_side_of(second[0], second[1][0], b.values(), asked),
        changes={change: counts[change] for change in Change},
        pairs=pairs,
        claims=claims,
    )


def _claim(name: str, a: FoundOfClaim | None, b: FoundOfClaim | None) -> ClaimOnBothSides:
    known = b or a
    assert known is not None  # noqa: S101  # the name is that of one of them
    return ClaimOnBothSides(
        claim_id=name,
        claim=known.claim,
        change=_change(a, b),
        same_text=a is None or b is None or a.claim == b.claim,
        a=_found(a),
        b=_found(b),
    )


def _change(a: FoundOfClaim | None, b: FoundOfClaim | None) -> Change:
    before, now = (one.verdict if one is not None else None for one in (a, b))
    if a is None or b is None or before is None or now is None:
        if before is None and now is None:
            return Change.NEITHER
        return Change.ONLY_SECOND if before is None else Change.ONLY_FIRST
    if before != now:
        supported = Verdict.FULLY_SUPPORTED.value
        if supported in (before, now):
            return Change.GAINED if now == supported else Change.LOST
        return Change.OTHER
    return Change.SAME if sorted(a.error_stages) == sorted(b.error_stages) else Change.MOVED


def _found(one: FoundOfClaim | None) -> SideOfClaim | None:
    if one is None:
        return None
    return SideOfClaim(
        verification_id=one.verification_id,
        status=one.status,
        verdict=one.verdict,
        indicative=one.indicative,
        error_stages=list(one.error_stages),
        spent=Spending.of(_usage(one)),
    )


def _usage(one: FoundOfClaim) -> Usage:
    return Usage(calls=one.calls, cost_usd=one.cost_usd, unpriced_calls=one.unpriced_calls)


def _latest(found: Iterable[FoundOfClaim]) -> FoundOfClaim:
    return max(found, key=lambda one: one.created_at)


def _side_of(
    name: str, kind: str, found: Iterable[FoundOfClaim], asked: Mapping[str, JudgeMode]
) -> ComparedSide:
    every = list(found)
    latest = _latest(every)
    asking = asked.get(latest.verification_id, PAPER_MODE)
    verdicts = Counter(one.verdict for one in every)
    usage = Usage()
    for one in every:
        usage += _usage(one)
    return ComparedSide(
        name=name,
        kind=kind,
        engine=latest.engine,
        model=latest.model,
        share=asking.share,
        escalate_to=asking.second,
        q=latest.q,
        indicative=any(one.indicative for one in every),
        created_at=min(one.created_at for one in every),
        claims=len(every),
        verdicts={one.value: verdicts[one.value] for one in Verdict},
        without_verdict=verdicts[None],
        undecided=sum(one.status == Status.UNDECIDED for one in every),
        spent=Spending.of(usage),
    )
