"""Running a matrix: every configuration judges every claim, and each outcome is kept at once.

A run that was stopped goes on where it ended: what has an outcome is not asked for again. What
failed is, because a failure is no outcome of a method.

Source: VeriTrail 4 (experiments); the runner is ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from filelock import FileLock, Timeout

from veritrail_eval.annotation.final_labels import shares_of_annotators
from veritrail_eval.datasets.loading import load_dataset
from veritrail_eval.datasets.model import Dataset, LabelledClaim
from veritrail_eval.methods.method import Method, MethodOutcome, Resources
from veritrail_eval.runs.agent_logs import noted_mistake
from veritrail_eval.runs.judge_identity import JudgeIdentity
from veritrail_eval.runs.matrix import Configuration, DatasetEntry, Matrix
from veritrail_eval.runs.outcomes import (
    KEPT,
    KeptOutcome,
    OutcomeFile,
    Preparation,
    fingerprint,
)
from veritrail_eval.runs.own_nodes import OwnNodes
from veritrail_eval.runs.record import (
    JudgedDataset,
    JudgingConfiguration,
    RecordedClaim,
    RunRecord,
    write_record,
)
from veritrail_eval.runs.sampling import sampled, shortage
from veritrail_eval.runs.summary import RunSummary
from veritrail_graph.graph.errors import InputError, VeriTrailError
from veritrail_graph.graph.model import Status, Usage
from veritrail_graph.graph.plugins import FAULTS, failure, fault_of, needs
from veritrail_graph.verifier.held_process import HeldProcess
from veritrail_graph.verifier.models.port import (
    EndpointRefused,
    Meter,
    ModelError,
    OverBudget,
)
from veritrail_graph.verifier.ports import JudgeError

OUTCOMES = "outcomes.jsonl"
DEFAULT_CONCURRENCY = 8
_MOST_CHANGED = 3
"""Configurations with another judge than before that a message names."""


@dataclass(frozen=True)
class LoadedDataset:
    """A data set of a matrix, read, with the claims that are judged.

    Attributes:
        entry: Its entry in the matrix.
        dataset: It.
        processes: The processes of the chosen claims, by process_id.
        claims: The chosen claims.
        left_out: How many claims have no label that is a class of the evaluation.
        short: Why the subset is smaller than asked for, in words; None: it is not.
    """

    entry: DatasetEntry
    dataset: Dataset
    processes: Mapping[str, HeldProcess]
    claims: tuple[LabelledClaim, ...]
    left_out: int
    short: str | None = None

    def fingerprints(self) -> dict[tuple[str, str], str]:
        """Return what an outcome of each claim is of, by the claim's key.

        Raises:
            InputError: A claim names a node that is not there.
        """
        return {
            claim.key: fingerprint(claim, process.node_of(claim.node_id).node_id, process)
            for claim in self.claims
            for process in (self.processes[claim.process_id],)
        }


def load(entry: DatasetEntry, seed: int) -> LoadedDataset:
    """Read a data set, choose its claims, and hold their processes.

    Raises:
        InputError: It cannot be read, a claim does not fit its process, or no claim has a label.
    """
    dataset = load_dataset(entry.path, format_name=entry.format)
    labelled = dataset.labelled
    if not labelled:
        raise InputError(
            f"{entry.path}: no claim is labelled FULLY_SUPPORTED or NOT_FULLY_SUPPORTED, so "
            "nothing can be compared"
        )
    needed = dict.fromkeys(claim.process_id for claim in labelled)
    processes = {name: _held(dataset, name, entry) for name in needed}
    for claim in labelled:
        _check(claim, processes[claim.process_id], entry)
    claims = sampled(labelled, processes, entry.sample, seed)
    kept = {claim.process_id for claim in claims}
    return LoadedDataset(
        entry,
        dataset,
        {name: process for name, process in processes.items() if name in kept},
        claims,
        len(dataset.claims) - len(labelled),
        shortage(labelled, processes, entry.sample),
    )


Loading: TypeAlias = Callable[[DatasetEntry, int], LoadedDataset]
"""`load`, or what remembers its results: the check, the estimate and the run need the same ones."""


def _held(dataset: Dataset, process_id: str, entry: DatasetEntry) -> HeldProcess:
    try:
        return HeldProcess.read(dataset.processes[process_id]())
    except InputError as error:
        told = "; ".join(str(one) for one in getattr(error, "violations", ())[:3])
        raise InputError(
            f"{entry.path}: process {process_id!r} cannot be read: {error}. {told}".rstrip(". ")
        ) from None


def _check(claim: LabelledClaim, process: HeldProcess, entry: DatasetEntry) -> None:
    """See that a claim fits its process.

    Raises:
        InputError: Its node is not there or is a root, or its documents are no roots.
    """
    where = f"{entry.path}: claim {claim.claim_id!r}"
    try:
        node = process.node_of(claim.node_id)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    if node.is_root:
        raise InputError(f"{where}: node {node.node_id!r} is source text, which is not verified")
    for name in claim.documents or ():
        if not (name in process.by_id and process.by_id[name].is_root):
            raise InputError(f"{where}: document {name!r} is no root of the process")


Done = frozenset[tuple[str, str, str, tuple[str, str]]]
"""Data set, configuration, fingerprint and key of the claims that have an outcome."""


def judged_before(kept: OutcomeFile) -> Done:
    """Return what is not judged again.

    Raises:
        InputError: A line of the file is no outcome.
    """
    return frozenset(
        (one.dataset, one.configuration, one.fingerprint, one.outcome.key)
        for one in kept.read()
        if isinstance(one, KeptOutcome) and one.outcome.status in KEPT
    )


async def refuse_other_judges(
    kept: OutcomeFile,
    matrix: Matrix,
    resources: Callable[[], AbstractAsyncContextManager[Resources]],
) -> None:
    """See that who judges now is who judged before; else one table would hold two judges.

    Outcomes of a version that did not note the judge are taken as they are: a report says so.

    Args:
        kept: What was kept.
        matrix: The matrix.
        resources: Opens what a configuration is made with.

    Raises:
        InputError: A configuration has outcomes of another judge, or cannot be made.
    """
    before: dict[str, JudgeIdentity] = {}
    for one in kept.read():
        if isinstance(one, KeptOutcome) and one.judge and one.outcome.status in KEPT:
            before[one.configuration] = one.judge
    changed = []
    for configuration in matrix.configurations:
        then = before.get(configuration.configuration_id)
        if then is not None:
            async with resources() as opened:
                now = JudgeIdentity.of(await _made(configuration, opened))
            if now.settings != then.settings:
                changed.append(_change(configuration, then, now))
    if changed:
        more = f" and {len(changed) - _MOST_CHANGED:,} more" if len(changed) > _MOST_CHANGED else ""
        raise InputError(
            f"{kept.path} has outcomes of another judge: {'; '.join(changed[:_MOST_CHANGED])}"
            f"{more}. Nothing was judged. Name another folder with -o, or set the model and the "
            "prompts as they were; to judge all of it anew in this folder, remove "
            f"{kept.path.name} first."
        )


def _change(configuration: Configuration, then: JudgeIdentity, now: JudgeIdentity) -> str:
    if then.name != now.name:
        return f"{configuration.title} was judged by {then.name}, and now would be by {now.name}"
    return (
        f"{configuration.title} was judged by {then.name} with other settings than it has now "
        "(how much models reason, limits, the text of prompts, or the files of a model)"
    )


def waiting_claims(
    loaded: LoadedDataset,
    configuration: Configuration,
    prints: Mapping[tuple[str, str], str],
    done: Done,
) -> list[LabelledClaim]:
    """The claims that a configuration has to judge, in their order."""
    dataset, name = loaded.entry.name, configuration.configuration_id
    return [
        claim
        for claim in loaded.claims
        if (dataset, name, prints[claim.key], claim.key) not in done
    ]


@dataclass(slots=True)
class RunObserver:
    """Hooks of a run; each is optional.

    Attributes:
        began: A configuration begins on a data set: the title, how many claims it has to judge.
        judged: An outcome was kept.
        loaded: A data set was read.
    """

    began: Callable[[str, Configuration, int], None] = lambda _data, _one, _claims: None
    judged: Callable[[KeptOutcome], None] = lambda _kept: None
    loaded: Callable[[LoadedDataset], None] = lambda _loaded: None


@dataclass(frozen=True)
class MatrixRun:
    """Runs a matrix into a folder.

    Args:
        matrix: The matrix.
        folder: Where outcomes are kept; it is made if it is not there.
        resources: Opens what a configuration is made with; closed when it has judged.
        concurrency: Claims that are judged at a time.
        observer: Its hooks are called.
        loading: Reads a data set.
    """

    matrix: Matrix
    folder: Path
    resources: Callable[[], AbstractAsyncContextManager[Resources]]
    concurrency: int = DEFAULT_CONCURRENCY
    observer: RunObserver = field(default_factory=RunObserver)
    loading: Loading = load

    async def run(self) -> RunSummary:
        """Judge everything that has no outcome yet.

        Raises:
            InputError: A data set, a parameter or the folder is wrong.
            EndpointRefused: A key, a model or an address is refused.
            OverBudget: The budget is spent; what was judged is kept.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self.folder / ".lock", timeout=0):
                return await self._run()
        except OverBudget as error:
            raise OverBudget(str(error), code="evaluation_over_budget") from None
        except Timeout:
            raise InputError(
                f"Another run writes to the folder {self.folder} at this moment. Wait until it "
                "ends, or take another folder (-o)."
            ) from None

    async def _run(self) -> RunSummary:
        kept = OutcomeFile(self.folder / OUTCOMES)
        summary = RunSummary()
        try:
            done = judged_before(kept)
            await refuse_other_judges(kept, self.matrix, self.resources)
            datasets: list[JudgedDataset] = []
            for entry in self.matrix.datasets:
                loaded = self.loading(entry, self.matrix.seed)
                self.observer.loaded(loaded)
                prints = loaded.fingerprints()
                datasets.append(_judged_dataset(loaded, prints))
                write_record(self._record(datasets), self.folder)
                for configuration in self.matrix.of(entry):
                    waiting = waiting_claims(loaded, configuration, prints, done)
                    summary.known += len(loaded.claims) - len(waiting)
                    if waiting:
                        self.observer.began(entry.name, configuration, len(waiting))
                        async with self.resources() as resources:
                            method = await _made(configuration, resources)
                            await self._judge_all(
                                method, loaded, configuration, waiting, prints, kept, summary
                            )
        finally:
            kept.close()
        return summary

    def _record(self, datasets: list[JudgedDataset]) -> RunRecord:
        return RunRecord(
            name=self.matrix.name,
            seed=self.matrix.seed,
            configurations=tuple(map(JudgingConfiguration.of, self.matrix.configurations)),
            datasets=tuple(datasets),
        )

    async def _judge_all(
        self,
        method: Method,
        loaded: LoadedDataset,
        configuration: Configuration,
        waiting: list[LabelledClaim],
        prints: Mapping[tuple[str, str], str],
        kept: OutcomeFile,
        summary: RunSummary,
    ) -> None:
        name, dataset = configuration.configuration_id, loaded.entry.name
        judge = JudgeIdentity.of(method)
        meter = Meter()
        unprepared = await _unprepared(method, loaded, meter)
        summary.spent += meter.total
        if meter.total.calls or meter.total.cached_calls:
            facts = {"prepared": meter.total, "reused": meter.reused}
            kept.keep(Preparation(dataset=dataset, configuration=name, **facts))
        queue = iter(waiting)
        spent: list[str] = []  # why the budget ended the run; calls on their way are paid for

        def keep(claim: LabelledClaim, outcome: MethodOutcome, reused: Usage) -> None:
            one = KeptOutcome(
                dataset=dataset,
                configuration=name,
                fingerprint=prints[claim.key],
                outcome=outcome,
                judge=judge,
                reused=reused,
            )
            kept.keep(one)
            summary.judged += 1
            summary.spent += outcome.usage
            if outcome.status not in KEPT:
                count = summary.unfinished.get(outcome.status, 0)
                summary.unfinished[outcome.status] = count + 1
            self.observer.judged(one)

        if unprepared is not None:
            for claim in waiting:
                keep(claim, _failed(claim, unprepared), Usage())
            return

        async def work() -> None:
            for claim in queue:
                meter = Meter()
                outcome = await _outcome(method, claim, loaded, meter)
                keep(claim, outcome, meter.reused)
                if outcome.status is Status.OVER_BUDGET:
                    spent.append(outcome.reason or "The budget is spent.")
                if spent:
                    return

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.concurrency, len(waiting))):
                    group.create_task(work())
        except BaseExceptionGroup as faults:
            raise _first(faults) from None
        if spent:
            raise OverBudget(spent[0])


async def _made(configuration: Configuration, resources: Resources) -> Method:
    """A method, which may be one of another package.

    Raises:
        VeriTrailError: It cannot be made.
    """
    kind = configuration.kind
    try:
        method = await kind.make(configuration.parameters, resources)
        needs(method, ("name", "settings", "prepare", "judge"))
    except VeriTrailError:
        raise
    except FAULTS as error:
        raise failure(f"the method {kind.name!r}", error) from error
    return method


async def _outcome(
    method: Method, claim: LabelledClaim, loaded: LoadedDataset, meter: Meter
) -> MethodOutcome:
    """Say what a method says of a claim; that it failed, or spoke of another one, is a status."""
    try:
        outcome: object = await method.judge(claim, loaded.processes[claim.process_id], meter)
        if isinstance(outcome, MethodOutcome) and outcome.key == claim.key:
            return outcome
    except VeriTrailError:
        raise
    except FAULTS as error:
        return _failed(claim, f"the method {method.name} failed: {fault_of(error)}")
    return _failed(claim, f"the method {method.name} gave no outcome of this claim")


async def _unprepared(method: Method, loaded: LoadedDataset, meter: Meter) -> str | None:
    """Prepare a method for a data set; why that failed, or None.

    The claims fail then, and the run goes on with the next configuration.

    Raises:
        EndpointRefused: No call of this run can succeed.
        OverBudget: The budget is spent.
        InputError: What the method needs is not there.
    """
    try:
        await method.prepare(tuple(loaded.processes.values()), meter)
    except (EndpointRefused, OverBudget):
        raise
    except (ModelError, JudgeError) as error:
        return f"the preparation of {method.name} failed: {error}"
    except VeriTrailError:
        raise
    except FAULTS as error:
        return f"the preparation of {method.name} failed: {fault_of(error)}"
    return None


def _failed(claim: LabelledClaim, reason: str) -> MethodOutcome:
    return MethodOutcome(
        process_id=claim.process_id,
        claim_id=claim.claim_id,
        status=Status.FAILED,
        reason=reason,
    )


def _first(faults: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first fault of a group of groups."""
    fault: BaseException = faults
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    return fault


def _judged_dataset(loaded: LoadedDataset, prints: Mapping[tuple[str, str], str]) -> JudgedDataset:
    processes = loaded.processes
    sample = loaded.entry.sample
    located = {claim.process_id for claim in loaded.claims if claim.error_stages}
    mistakes = {name: noted_mistake(process) for name, process in processes.items()}
    steps = {name: processes[name].repeated_steps() for name in located}
    names: dict[int, str] = {}
    own = {name: OwnNodes(process) for name, process in processes.items()}
    for process in processes.values():
        names |= process.survey.header.stage_names
    return JudgedDataset(
        name=loaded.entry.name,
        description=loaded.dataset.description,
        licence=loaded.dataset.licence,
        sample=None if sample is None else f"{sample.count} by {sample.by}",
        claims=tuple(
            RecordedClaim(
                process_id=claim.process_id,
                claim_id=claim.claim_id,
                text=claim.text,
                label=claim.label,
                error_stages=claim.error_stages,
                fingerprint=prints[claim.key],
                nodes=own[claim.process_id].of(claim.node_id),
                steps=steps[claim.process_id] if claim.error_stages else {},
                annotators=shares_of_annotators(claim),
                mistake=mistakes[claim.process_id],
            )
            for claim in loaded.claims
            if claim.label is not None
        ),
        left_out=loaded.left_out,
        root_stages=tuple(
            sorted({ref.known_stage for one in processes.values() for ref in one.roots})
        ),
        stage_names=names,
        remarks=(*loaded.dataset.remarks, *filter(None, [loaded.short])),
    )
