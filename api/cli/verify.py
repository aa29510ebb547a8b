"""`veritrail verify`: verify claims of a process and write their trails back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veritrail_graph.api.cli.exits import run
from veritrail_graph.api.cli.ingest import say_starting
from veritrail_graph.api.cli.model_options import (
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
    VerdictModel,
    VerdictSentences,
    sentence_limit,
)
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import long_work, say
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.app.verify_request import VerifyRequest
    from veritrail_graph.api.cli.verified import Report
    from veritrail_graph.api.configured_judge import JudgeOptions
    from veritrail_graph.graph.importers.records import ClaimRecord


UNKNOWN_PROCESS = "-"
"""Stands in the request where --resume names a run and no process is named."""


@dataclass(frozen=True, slots=True)
class _Given:
    request: VerifyRequest
    options: JudgeOptions
    texts: Sequence[str]
    claims_file: Path | None
    resume: str | None

    def records(self) -> list[ClaimRecord]:
        """The claims that were given, each with the place that faults name."""
        from veritrail_graph.api.claims import read_claims_file
        from veritrail_graph.graph.errors import shown
        from veritrail_graph.graph.importers.records import ClaimRecord

        given = [ClaimRecord(text, f"--claim {shown(text)}") for text in self.texts]
        return given + (read_claims_file(self.claims_file) if self.claims_file else [])


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
    verdict_sentences: VerdictSentences = 200,
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
    from veritrail_graph.api.app.verify_request import VerifyRequest
    from veritrail_graph.api.cli.verified import end, tell, tell_json
    from veritrail_graph.api.configured_judge import judge_options

    settings = Settings.load()
    which = [claim, claims, claim_id, extract, node, unfinished, retry_failed, again]
    how_set = [engine, model, claims_model, selection_model, verdict_model, threshold, structured]
    how_set += [q != 3, samples != 1, no_sub_claims, max_reruns != 2, verdict_sentences != 200]
    how_set += [max_root_sentences != "40", max_sentences != "40"]
    _check_use(process, resume, which, how_set)
    if threshold is not None and threshold > samples:
        raise InputError(f"--threshold {threshold} can not be met by {samples} sample(s)")
    request = VerifyRequest.checked(
        {
            "process_id": process or UNKNOWN_PROCESS,
            "claim_ids": claim_id or None,
            "node_id": node,
            "extract": extract,
            "unfinished": unfinished,
            "retry_failed": retry_failed,
            "again": again,
            "q": q,
            "engine": engine,
            "model": model,
            "claims_model": claims_model,
            "selection_model": selection_model,
            "verdict_model": verdict_model,
            "budget_usd": budget,
            "max_calls": max_calls,
            "price": price,
            "samples": samples,
            "threshold": threshold,
            "max_root_sentences": sentence_limit(max_root_sentences, "--max-root-sentences"),
            "max_sentences": sentence_limit(max_sentences, "--max-sentences"),
            "verdict_sentences": verdict_sentences,
            "max_reruns": max_reruns,
            "sub_claims": not no_sub_claims,
            "structured": structured,
            "use_cache": not no_cache,
        }
    )
    options = judge_options(settings, request, prompts=prompts, concurrency=concurrency)
    given = _Given(request, options, claim or (), claims, resume)
    report = run(_verify(settings, given), as_json=as_json)
    if as_json:
        tell_json(report)
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
    if given.resume is not None:
        return await _resume(settings, given)
    from veritrail_graph.api.cli.claim_output import ExtractionWatch
    from veritrail_graph.api.cli.verified import Report
    from veritrail_graph.api.cli.watch import Watch
    from veritrail_graph.api.configured_judge import configure_judge
    from veritrail_graph.api.graph_connection import open_graph
    from veritrail_graph.api.verification import verify

    records = given.records()
    async with configure_judge(settings, given.options) as bench:
        if given.options.models.budget is not None and bench.models is None:
            say("--budget has no effect: no language model is asked, so nothing is spent.", "dim")
        async with open_graph(settings, say_starting) as store:
            with long_work() as work:
                watch = Watch(work, bench.models)
                extraction = ExtractionWatch(work)
                done = await verify(
                    settings,
                    store,
                    bench,
                    given.request,
                    records=records,
                    observer=watch.observer,
                    on_run=watch.begins,
                    on_sentence=extraction.sentence_done,
                    on_answer=extraction.call_made,
                )
    return Report.of(bench, given.request.process_id, done, interrupted=watch.interrupted)


async def _resume(settings: Settings, given: _Given) -> Report:
    """Go on with a run: its settings are read from the graph, so that is opened first."""
    from veritrail_graph.api.cli.verified import Report
    from veritrail_graph.api.cli.watch import Watch
    from veritrail_graph.api.configured_judge import configure_judge, stored_options
    from veritrail_graph.api.graph_connection import open_graph
    from veritrail_graph.api.runs import what_is_left
    from veritrail_graph.api.verification import resume, stored_run

    run_id = given.resume or ""
    async with open_graph(settings, say_starting) as store:
        earlier = await stored_run(store, run_id)
        first = earlier[0]
        if given.request.process_id not in {UNKNOWN_PROCESS, first.process_id}:
            raise InputError(f"Run {run_id} is one of process {first.process_id!r}.")
        how = what_is_left(earlier, stored_options(first, given.options))
        async with configure_judge(settings, how) as bench:
            with long_work() as work:
                watch = Watch(work, bench.models)
                done = await resume(settings, store, bench, run_id, watch.observer, watch.begins)
    return Report.of(bench, first.process_id, done, interrupted=watch.interrupted)
