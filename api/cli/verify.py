"""`veritrail verify`: verify claims of a process and write their trails back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from veritrail_graph.api.cli.exits import (
    INTERRUPTED,
    NOT_ALL_SUCCEEDED,
    UNREACHABLE,
    Exit,
    on_ctrl_c,
    run,
    say_starting,
)
from veritrail_graph.api.cli.options import (
    AsJson,
    Budget,
    ClaimIds,
    Claims,
    ClaimsFile,
    ClaimsModel,
    Concurrency,
    EngineName,
    MaxCalls,
    MaxReruns,
    Model,
    NoCache,
    Node,
    NoSubClaims,
    OtherSentences,
    Price,
    PromptsFolder,
    Q,
    RootSentences,
    SampleCount,
    SelectionModel,
    Structured,
    VerdictEngine,
    VerdictModel,
    VerdictRootSentences,
    VerdictSentences,
    claim_records,
    verify_request,
)
from veritrail_graph.api.cli.terminal import LongWork, long_work, print_json, say, show
from veritrail_graph.api.views.texts import one_line, some
from veritrail_graph.api.views.words import INDICATIVE
from veritrail_graph.graph.errors import InputError, VeriTrailError
from veritrail_graph.graph.model import Status, Usage, Verdict, Verification, share_of_nodes
from veritrail_graph.verifier.driver import Observer

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.jobs import LocalResult
    from veritrail_graph.api.app.verify_request import VerifyRequest
    from veritrail_graph.api.configured_judge import ConfiguredJudge
    from veritrail_graph.api.models import OpenModels
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.importers.records import ClaimRecord
    from veritrail_graph.graph.model.listed import JudgedClaim


UNKNOWN_PROCESS = "-"
"""Stands in the request where --resume names a run and no process is named."""


@dataclass(frozen=True, slots=True)
class _Given:
    request: VerifyRequest
    records: list[ClaimRecord]
    resume: str | None
    prompts: Path | None
    concurrency: int | None

    def changes(self) -> dict[str, Any]:
        """What a command that resumes a run may change of it."""
        changed: dict[str, Any] = {
            "budget_usd": self.request.budget_usd,
            "max_calls": self.request.max_calls,
            "price": self.request.price,
        }
        return changed if self.request.use_cache else {**changed, "use_cache": False}


def verify(
    process: Annotated[
        str | None,
        typer.Argument(
            metavar="PROCESS", help="The process, by its process_id; not with --resume."
        ),
    ] = None,
    claim: Claims = None,
    claims: ClaimsFile = None,
    claim_id: ClaimIds = None,
    add: Annotated[
        bool,
        typer.Option(
            "--add",
            help="Keep what --claim gives as claims of the answer; else it is a question, which "
            "is kept apart and counted nowhere.",
        ),
    ] = False,
    extract: Annotated[
        bool, typer.Option("--extract", help="Extract the claims with a language model.")
    ] = False,
    node: Node = None,
    unfinished: Annotated[
        bool,
        typer.Option(
            "--unfinished", help="Leave out claims whose latest verification has a verdict."
        ),
    ] = False,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed", help="Only claims whose latest verification ended without a verdict."
        ),
    ] = False,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Verify again also what was verified with the same settings before."
        ),
    ] = False,
    resume: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Go on with a run that was stopped, as it was set."),
    ] = None,
    q: Q = 3,
    engine: EngineName = None,
    verdict_engine: VerdictEngine = None,
    model: Model = None,
    claims_model: ClaimsModel = None,
    selection_model: SelectionModel = None,
    verdict_model: VerdictModel = None,
    budget: Budget = None,
    max_calls: MaxCalls = None,
    price: Price = None,
    samples: SampleCount = 1,
    threshold: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="T", help="Samples that must agree; default: more than half of them."
        ),
    ] = None,
    max_root_sentences: RootSentences = "40",
    max_sentences: OtherSentences = "40",
    verdict_sentences: VerdictSentences = "200",
    verdict_root_sentences: VerdictRootSentences = "none",
    max_reruns: MaxReruns = 2,
    no_sub_claims: NoSubClaims = False,
    prompts: PromptsFolder = None,
    structured: Structured = False,
    no_cache: NoCache = False,
    concurrency: Concurrency = None,
    as_json: AsJson = False,
) -> None:
    """Verify claims of a process, backward from its output to its source text.

    Without --claim, --claims, --claim-id or --extract the stored claims are verified. What was
    verified with the same settings before is shown again and costs nothing.
    """
    from veritrail_graph.api.settings import Settings

    options_given = dict(locals())
    from veritrail_graph.api.configured_judge import judge_options

    settings = Settings()
    which = [claim, claims, claim_id, extract, node, unfinished, retry_failed, again]
    how_set = [engine, model, claims_model, selection_model, verdict_model, threshold, structured]
    how_set += [verdict_engine, q != 3, samples != 1, no_sub_claims, max_reruns != 2]
    how_set += [max_root_sentences != "40", max_sentences != "40"]
    how_set += [verdict_sentences != "200", verdict_root_sentences != "none"]
    _check_use(process, resume, which, how_set)
    if threshold is not None and threshold > samples:
        raise InputError(f"--threshold {threshold} can not be met by {samples} sample(s)")
    request = verify_request(process or UNKNOWN_PROCESS, options_given)
    judge_options(settings, request)  # what contradicts itself is refused before anything begins
    records = claim_records(claim, claims, add=add) if resume is None else []
    if extract:
        request = request.with_claims(records)
    given = _Given(request, records, resume, prompts, concurrency)
    report = run(_verify(settings, given), as_json=as_json)
    if as_json:
        print_json(as_document(report))
    else:
        tell(report)
    end(report)


def _check_use(
    process: str | None, resume: str | None, which: Sequence[object], how: Sequence[object]
) -> None:
    if resume is None and process is None:
        raise InputError("Name the PROCESS whose claims are to be verified, or --resume RUN.")
    if resume is not None and any(which):
        raise InputError("--resume goes on with the claims of the run; leave other claims out.")
    if resume is not None and any(how):
        raise InputError(
            "--resume goes on with the engine, the models and the limits of the run; leave them "
            "out, or start a new run."
        )


async def _verify(settings: Settings, given: _Given) -> Report:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.jobs import LocalOptions, Progress
    from veritrail_graph.api.cli.claims import ExtractionWatch

    request = given.request
    records = None if request.extract else given.records
    here = LocalOptions(records, given.prompts, given.concurrency)
    async with Application(settings, on_engine_start=say_starting) as app:
        with long_work() as work:
            watch, extraction = Watch(work), ExtractionWatch(work)
            progress = Progress(
                watch.observer, watch.begins, extraction.sentence_done, extraction.call_made
            )
            if given.resume is None:
                job = await app.jobs.submit_here(request, here=here, progress=progress)
            else:
                named = None if request.process_id == UNKNOWN_PROCESS else request.process_id
                job = await app.jobs.resume_here(
                    given.resume,
                    process_id=named,
                    changes=given.changes(),
                    here=here,
                    progress=progress,
                )
            done = await job.carry_out()
        after = await _after(app, done)
    assert done.judge is not None  # noqa: S101  # it was opened before any claim
    if request.budget_usd is not None and done.judge.models is None:
        say("--budget has no effect: no language model is asked, so nothing is spent.", "dim")
    return Report.of(done.judge, done.process_id, done, after, interrupted=watch.interrupted)


@dataclass(frozen=True, slots=True)
class After:
    """What the graph says of a run that has ended; what it cannot say is left out.

    Attributes:
        outweighed: Claims whose verdict of this run does not count, with the one that does.
        nodes: The nodes of the process; 0: not known.
    """

    outweighed: tuple[JudgedClaim, ...] = ()
    nodes: int = 0


async def _after(app: Application, done: LocalResult) -> After:
    try:
        outweighed = await app.verifications.outweighed(done.process_id, done.verifications)
        return After(tuple(outweighed), (await app.processes.get(done.process_id)).nodes)
    except VeriTrailError:  # what the run found is told all the same
        return After()


TRAILS_SHOWN = 3
COSTS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Report:
    """A run that has ended, for output.

    Attributes:
        process_id: The process.
        engine: The engine of judgement.
        model: The model, if one judged.
        indicative: Whether no model judged.
        done: What the run left behind.
        warnings: What a person should know.
        spent: USD spent, or None where that is not known or no model was asked.
        after: What the graph says of it.
        interrupted: Whether a person stopped it.
    """

    process_id: str
    engine: str
    model: str | None
    indicative: bool
    done: LocalResult
    warnings: tuple[str, ...]
    spent: float | None
    after: After
    interrupted: bool

    @classmethod
    def of(
        cls,
        judge: ConfiguredJudge,
        process_id: str,
        done: LocalResult,
        after: After,
        *,
        interrupted: bool,
    ) -> Report:
        """The report of a run."""
        models = judge.models
        return cls(
            process_id,
            judge.judge.name,
            judge.judge.model,
            judge.judge.indicative,
            done,
            tuple(models.warnings) if models else (),
            models.spending.spent if models and models.is_priced else None,
            after,
            interrupted,
        )

    @property
    def share_of_nodes(self) -> float | None:
        """The share of the process's nodes that a verdict rests on; None: no verdict."""
        judged = [one for one in self.done.verifications if one.verdict is not None]
        return share_of_nodes((one.nodes_verified for one in judged), self.after.nodes)

    @property
    def fault(self) -> VeriTrailError | None:
        """What ended the run, or kept results from being stored."""
        run = self.done.run
        if run is None:
            return None
        if run.refusal is not None:
            return run.refusal
        return run.write_errors[0] if run.write_errors else None


def verify_stored(process_id: str, *, extract: bool) -> Report:
    """Verify the claims of a process as `veritrail verify` does without options.

    Args:
        process_id: The process.
        extract: Whether its claims are extracted first.
    """
    from veritrail_graph.api.app.verify_request import VerifyRequest
    from veritrail_graph.api.settings import Settings

    request = VerifyRequest.checked({"process_id": process_id, "extract": extract})
    given = _Given(request.with_claims([]) if extract else request, [], None, None, None)
    return run(_verify(Settings(), given), as_json=False)


def as_document(report: Report) -> dict[str, Any]:
    """The run as the JSON document of the contract."""
    from veritrail_graph.api.cli.claims import report_json
    from veritrail_graph.graph.exporters.listings import run_json

    done = report.done
    document: dict[str, Any] = run_json(
        done.run_id,
        report.process_id,
        report.engine,
        report.model,
        report.indicative,
        done.verifications,
        done.spent,
    )
    document["reused"] = done.reused
    document["share_of_nodes"] = report.share_of_nodes
    document["not_in_force"] = [one.claim.claim_id for one in report.after.outweighed]
    if done.extraction is not None:
        document["extraction"] = report_json(done.extraction, report.model or "")
    if report.fault is not None:
        document["error"] = {"message": _fault_text(report), "violations": []}
    return document


def tell(report: Report) -> None:
    """Tell a person: trails or a table, what it cost, and what to know of it."""
    from veritrail_graph.api.cli.claims import offer_removal
    from veritrail_graph.api.cli.trail import cost_table, trail_tree, verdict_table
    from veritrail_graph.api.views.costs import cost_words, share_words
    from veritrail_graph.graph.near_duplicates import near_duplicates

    done = report.done.verifications
    ended = [v for v in done if v.status is not Status.CANCELLED]
    if len(ended) <= TRAILS_SHOWN:
        for verification in ended:
            show(trail_tree(verification, whole=False))
    else:
        show(verdict_table(ended))
    extraction = report.done.extraction
    spent = report.done.spent
    own = [
        v
        for v in done
        if v.run_id == report.done.run_id and (v.status is not Status.CANCELLED or v.usage.calls)
    ]
    if spent.usage.calls or spent.usage.cached_calls:
        show(cost_table(own, spent, COSTS_SHOWN))
        if spent.usage.cached_calls:
            say(
                f"{spent.usage.cached_calls:,} of "
                f"{spent.usage.calls + spent.usage.cached_calls:,} answers came from the cache of "
                "answers and cost nothing.",
                "dim",
            )
    say(_counts(done))
    asked = sum(one.origin is not None for one in done)
    if asked:
        say(
            f"{asked} of them is a question that you asked, no claim of the answer: it is kept "
            "apart and counted nowhere. --add makes it one."
            if asked == 1
            else f"{asked} of them are questions that you asked, no claims of the answer: they are "
            "kept apart and counted nowhere. --add makes them claims.",
            "dim",
        )
    if report.share_of_nodes is not None:
        say(f"A claim was verified against {share_words(report.share_of_nodes)} on average.", "dim")
    if extraction is not None:
        offer_removal(report.process_id, near_duplicates(extraction.claims))
        say(
            f"{len(extraction.claims)} claim(s) of {len(extraction.sentences)} sentence(s) were "
            f"extracted; what became of each: veritrail claims list {report.process_id} "
            "--sentences",
            "dim",
        )
    if report.done.reused:
        say(
            f"{report.done.reused} of them were verified before with the same settings and are "
            "shown as they are stored; --again verifies them anew."
            + (
                f" They cost {cost_words(spent.usage_reused)} then; this run made "
                f"{spent.usage.calls:,} calls."
                if spent.usage_reused.calls
                else ""
            ),
            "dim",
        )
    if report.after.outweighed:
        say(_outweighed_words(report), "yellow")
    for warning in report.warnings:
        say(f"Warning: {one_line(warning)}", "yellow")
    if report.indicative:
        say(f"Engine {report.engine}: {INDICATIVE}.", "yellow")
    if ended:
        say("See one trail in full: veritrail show VERIFICATION", "dim")


def _outweighed_words(report: Report) -> str:
    """Which verdicts of a run replace none, and which count in their place."""
    found = report.after.outweighed
    by_word = sum(bool(one.indicative) for one in found) < len(found)
    stronger = "a stronger judge" if report.indicative and by_word else "another run"
    return (
        f"{len(found):,} of these verdicts replace none: the verdict of {stronger} stays in force "
        f"for {some([one.claim.claim_id for one in found])}. To let this run decide: "
        f"veritrail pin {report.done.run_id}"
    )


def _counts(done: list[Verification]) -> str:
    counts = {verdict: sum(v.verdict is verdict for v in done) for verdict in Verdict}
    words = (
        f"{len(done)} claim(s): {counts[Verdict.FULLY_SUPPORTED]} fully supported, "
        f"{counts[Verdict.NOT_FULLY_SUPPORTED]} not fully supported, "
        f"{counts[Verdict.INCONCLUSIVE]} inconclusive"
    )
    for status in (Status.UNDECIDED, Status.FAILED, Status.OVER_BUDGET, Status.CANCELLED):
        number = sum(v.status is status for v in done)
        words += f", {number} {status.value.replace('_', ' ')}" if number else ""
    return words


def end(report: Report) -> None:
    """End the command with the status of the contract.

    Raises:
        Exit: Unless everything went well.
    """
    run = report.done.run
    again = f"veritrail verify --resume {report.done.run_id}"
    if not report.done.is_resumable:
        again = f"veritrail verify {report.process_id} --unfinished"
        say("Warning: VERITRAIL_HOME cannot be written, so this run cannot be resumed.", "yellow")
    if report.fault is not None:
        say(f"Error: {_fault_text(report)}", "bold red")
    if report.interrupted:
        left = sum(v.status is Status.CANCELLED for v in report.done.verifications)
        say(f"Interrupted: {left} claim(s) are cancelled. To go on: {again}", "yellow")
        raise Exit(INTERRUPTED)
    if report.fault is not None:
        say(f"After fixing this, resume with: {again}", "yellow")
    if run is not None and run.refusal is not None:
        raise Exit(UNREACHABLE)
    if run is not None and run.write_errors:
        raise Exit(NOT_ALL_SUCCEEDED)
    failed = report.done.extraction.failed if report.done.extraction is not None else ()
    if failed:
        reason = one_line(failed[0].reason or "")
        say(f"No claims could be extracted from {len(failed)} sentence(s): {reason}", "red")
    open_ = [v for v in report.done.verifications if not v.status.is_result]
    if open_:
        reason = one_line(open_[0].error or "")
        if any(v.status is Status.OVER_BUDGET for v in open_):
            again += ", with a new --budget or --max-calls"
        say(f"{len(open_)} claim(s) have no verdict: {reason}. To go on: {again}", "red")
        raise Exit(NOT_ALL_SUCCEEDED)
    if failed:
        raise Exit(NOT_ALL_SUCCEEDED)


def _fault_text(report: Report) -> str:
    fault = one_line(str(report.fault))
    run = report.done.run
    if run is not None and run.refusal is None:
        return f"{len(run.write_errors)} verification(s) could not be stored: {fault}"
    return f"the run was stopped: {fault}"


class Watched(Protocol):
    """A run that can be watched."""

    judge: ConfiguredJudge | None

    def cancel(self) -> None:
        """End it."""
        ...


class Watch:
    """Turns what happens in a run into progress, and Ctrl-C into its end.

    Args:
        work: Where progress is shown.
        what: What is verified, as a plural.
    """

    def __init__(self, work: LongWork, what: str = "claims") -> None:
        self._work, self._what = work, what
        self._models: OpenModels | None = None
        self._total = self._done = self._calls = self._cached = self._tokens = 0
        self._began = time.monotonic()
        self._was_interrupted: Callable[[], bool] = lambda: False
        self.observer = Observer(call_made=self._called, claim_finished=self._finished)

    @property
    def interrupted(self) -> bool:
        """Whether a person stopped the run."""
        return self._was_interrupted()

    def begins(self, run: Watched, claims: int) -> None:
        """The run begins."""
        self._models = run.judge.models if run.judge is not None else None
        self._total = claims
        self._began = time.monotonic()
        self._was_interrupted = on_ctrl_c(run.cancel)

    def _called(self, usage: Usage) -> None:
        self._calls += usage.calls
        self._cached += usage.cached_calls
        self._tokens += usage.input_tokens + usage.output_tokens
        self._show()

    def _finished(self, _verification: Verification) -> None:
        self._done += 1
        self._show()

    def _show(self) -> None:
        self._work.update(self._what, self._done, self._total, ", ".join(self._notes()))

    def _notes(self) -> list[str]:
        """What to know besides; what matters most comes first, for narrow terminals."""
        left = self._seconds_left()
        notes = [f"about {_span(left)} left"] if left is not None and not self._work.has_bar else []
        if self._models is None:
            return notes
        if self._models.is_priced:
            notes.append(f"${self._models.spending.spent:,.4f}")
        notes += [f"{self._calls:,} calls", f"{self._models.spending.in_flight} in flight"]
        notes += [f"{_short(self._tokens)} tokens"]
        return notes + ([f"{self._cached:,} from cache"] if self._cached else [])

    def _seconds_left(self) -> float | None:
        if not 0 < self._done < self._total:
            return None
        spent = time.monotonic() - self._began
        return spent / self._done * (self._total - self._done)


def _short(number: int) -> str:
    if number < 10_000:
        return f"{number:,}"
    return f"{number / 1e3:,.0f}k" if number < 10_000_000 else f"{number / 1e6:,.0f}M"


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"
