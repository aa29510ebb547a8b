"""`veritrail verify`: verify claims of a process and write their trails back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli import completion
from veritrail_graph.api.cli.answers import answers_of
from veritrail_graph.api.cli.batches import cancel_batches, say_left
from veritrail_graph.api.cli.exits import (
    about,
    run,
    say_starting,
)
from veritrail_graph.api.cli.explain import explained_trails
from veritrail_graph.api.cli.options import (
    JUDGING,
    WHICH,
    AsJson,
    ClaimIds,
    Claims,
    ClaimsFile,
    Node,
    claim_records,
    judging,
    options_given,
    recording_settings,
    verify_request,
)
from veritrail_graph.api.cli.terminal import long_work, print_json, say
from veritrail_graph.api.cli.verified import After, Report, as_document, as_message, end, tell
from veritrail_graph.api.cli.watch import Watch
from veritrail_graph.api.cli.webhooks import deliver
from veritrail_graph.graph.errors import InputError, NotFound, VeriTrailError

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.changes import Changes
    from veritrail_graph.api.app.jobs import LocalOptions, LocalResult, LocalRun, Progress
    from veritrail_graph.api.requests.verify import VerifyRequest
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.importers.records import ClaimRecord


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
        """Return what a command that resumes a run may change of it."""
        changed: dict[str, Any] = {
            "batch_price_factor": self.request.batch_price_factor,
            "budget_usd": self.request.budget_usd,
            "max_calls": self.request.max_calls,
            "price": self.request.price,
        }
        if self.request.batch_finish == "live":
            changed["batch_finish"] = self.request.batch_finish
        if not self.request.use_cache:
            changed["use_cache"] = False
        return {**changed, "explain": True} if self.request.explain else changed


@judging()
def verify(
    context: typer.Context,
    process: Annotated[
        str | None,
        typer.Argument(
            metavar="PROCESS",
            help="The process, by its process_id, the first letters of it, or @last; not with "
            "--resume.",
            autocompletion=completion.processes,
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
    cancel: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="End the batches that a run left at its endpoint; --resume reads what they did.",
        ),
    ] = None,
    *,
    webhook: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Send a signed message there when the run has ended."),
    ] = None,
    as_json: AsJson = False,
    **how: Any,
) -> None:
    """Verify claims of a process, backward to its source text.

    Without --claim or --claims the stored claims are verified; where there are none, a model
    extracts some, or they are the sentences that state something.
    """
    from veritrail_graph.api.app.engine import begin_engine
    from veritrail_graph.api.cli.changes import matched
    from veritrail_graph.api.configured.judge import judge_options
    from veritrail_graph.api.settings.values import parse_price
    from veritrail_graph.api.work.webhooks.message import JOB_FINISHED
    from veritrail_graph.api.work.webhooks.target import Target

    typed = options_given(context)
    how |= {"claim_id": claim_id, "node": node, "extract": extract, "resume": resume}
    how |= {"unfinished": unfinished, "retry_failed": retry_failed, "again": again}
    settings = recording_settings(how)
    target = Target.of(settings, webhook) if webhook else None
    how["match"] = matched(how)
    if cancel is not None:
        if process is not None or resume is not None or typed & WHICH:
            raise InputError(
                "--cancel ends the batches of the run that it names; name nothing else."
            )
        run(cancel_batches(settings, cancel), as_json=as_json)
        return
    _check_use(process, resume, typed)
    if how["threshold"] is not None and how["threshold"] > how["samples"]:
        raise InputError(
            f"--threshold {how['threshold']} cannot be met by {how['samples']} sample(s)"
        )
    request = verify_request(process or UNKNOWN_PROCESS, how)
    if request.price is not None:
        parse_price(request.price)  # also where no model is asked, and it has no effect
    judge_options(settings, request)  # what contradicts itself is refused before anything begins
    records = claim_records(claim, claims, add=add) if resume is None else []
    if extract:
        request = request.with_claims(records)
    given = _Given(request, records, resume, how["prompts"], how["concurrency"])
    begin_engine(settings, say_starting)
    report = run(_verify(settings, given), as_json=as_json)
    if as_json:
        print_json(as_document(report))
    else:
        tell(report)
    if target is not None:
        deliver(target, JOB_FINISHED, as_message(report))
    end(report)


_CHANGED_BY_RESUMING = frozenset(
    {"batch_finish", "batch_price_factor", "budget", "max_calls", "price"}
    | {"prompts", "no_cache", "recorded", "record", "concurrency", "walk"}
    | {"explain"}
)
"""Options that a run which goes on may have other values of."""
_HOW = frozenset(JUDGING) - WHICH - _CHANGED_BY_RESUMING


def _check_use(process: str | None, resume: str | None, typed: frozenset[str]) -> None:
    """Refuse a command that names nothing to verify, or sets a run that goes on anew.

    Args:
        process: The process.
        resume: The run that goes on.
        typed: The names of the options that were typed.

    Raises:
        InputError: It is one.
    """
    if resume is None and process is None:
        raise InputError("Name the PROCESS whose claims are to be verified, or --resume RUN.")
    if resume is not None and typed & WHICH:
        raise InputError("--resume goes on with the claims of the run; leave other claims out.")
    if resume is not None and typed & _HOW:
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
        # Both take a while, and neither needs the other.
        reading = asyncio.create_task(asyncio.to_thread(_load_splitter, settings.language))
        with long_work() as work:
            watch, extraction = Watch(work), ExtractionWatch(work)
            progress = Progress(
                watch.observer,
                watch.begins,
                extraction.sentence_done,
                extraction.call_made,
                explained=partial(work.update, "sentences"),
                batches=watch.batches,
            )
            if given.resume is None:
                name, job = await about(
                    app,
                    request.process_id,
                    lambda app, name: _submitted(
                        app, request.model_copy(update={"process_id": name}), here, progress
                    ),
                )
                if request.mode == "batch":
                    await say_left(app, name)
                    say(f"Run {job.run_id} asks in batches.", "dim")
            else:
                named = None if request.process_id == UNKNOWN_PROCESS else request.process_id
                resume = partial(
                    app.jobs.resume_here,
                    process_id=named,
                    changes=given.changes(),
                    here=here,
                    progress=progress,
                )
                try:
                    job = await resume(given.resume)
                except NotFound:
                    job = await resume(await app.names.run(given.resume))
            done = await job.carry_out()
        await reading
        explained = None
        if request.explain or done.explanation is not None:
            explained = await explained_trails(app, done)
        after = await _after(app, done)
        answers = await answers_of(
            app, done.process_id, [one.node_id for one in done.verifications]
        )
        changes = None
        if any(one.reuse_reason is not None for one in done.verifications) or request.since:
            changes = await _changes(app, done)
    assert done.judge is not None  # noqa: S101  # it was opened before any claim
    if request.budget_usd is not None and not done.judge.how.calls_models:
        say("--budget has no effect: no model is asked, so nothing is spent.", "dim")
    found = Report.of(done.judge, done.process_id, done, after, interrupted=watch.interrupted)
    found = replace(found, changes=changes, answers=answers)
    return found if explained is None else found.with_explanation(explained)


async def _submitted(
    app: Application, request: VerifyRequest, here: LocalOptions, progress: Progress
) -> LocalRun:
    """Submit the run; where there are no claims, say which ones it makes."""
    from veritrail_graph.api.configured.judge import judge_options

    is_named = request.extract or request.retry_failed or request.names_claims
    if not (is_named or here.records) and await app.claims.lacking(
        request.process_id, request.node_id
    ):
        how = judge_options(app.settings, request)
        says = "the model extracts some from its answer first, which costs calls"
        if not how.writes:
            says = "the sentences of its answer that state something are verified"
        say(f"{request.process_id} has no claims: {says}.", "dim")
    return await app.jobs.submit_here(request, here=here, progress=progress)


def _load_splitter(language: str) -> None:
    """Load what splits texts into sentences, while the engine starts."""
    from veritrail_graph.graph.sentences.tables import tokenizer

    with suppress(VeriTrailError):  # what is wrong with the language is said where it is used
        tokenizer(language)


async def _after(app: Application, done: LocalResult) -> After:
    try:
        outweighed = await app.verifications.outweighed(done.process_id, done.verifications)
        return After(tuple(outweighed), (await app.processes.get(done.process_id)).nodes)
    except VeriTrailError:  # what the run found is told all the same
        return After()


async def _changes(app: Application, done: LocalResult) -> Changes | None:
    """Return what the run changed; None where it cannot be told any more."""
    try:
        return await app.jobs.changes(done.job_id)
    except VeriTrailError:
        return None


def verify_stored(process_id: str, options: Mapping[str, Any]) -> Report:
    """Verify the stored or extracted claims of a process as `veritrail verify` does.

    Args:
        process_id: The process.
        options: Options of `veritrail verify` by the names of its parameters, such as `extract`.
    """
    options = dict(options)
    settings = recording_settings(options)
    request = verify_request(process_id, options)
    if request.extract:
        request = request.with_claims([])
    given = _Given(request, [], None, None, options.get("concurrency"))
    return run(_verify(settings, given), as_json=False)
