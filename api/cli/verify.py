"""`veritrail verify`: verify claims of a process and write their trails back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.exits import NOT_ALL_SUCCEEDED, Exit, run
from api.cli.ingest import say_starting
from api.cli.interrupt import INTERRUPTED, on_ctrl_c
from api.cli.options import AsJson, ProcessId
from api.cli.terminal import INDICATIVE, LongWork, long_work, one_line, print_json, say, show
from api.settings import Settings
from graph.errors import InputError
from graph.model import Status, Usage, Verdict, Verification

if TYPE_CHECKING:
    from verifier.ports import Judge
    from verifier.run import Run

TRAILS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class _Request:
    process_id: str
    claims: list[str]
    claims_file: Path | None
    claim_ids: list[str]
    node: str | None
    unfinished: bool
    q: int
    concurrency: int


@dataclass(frozen=True, slots=True)
class _Report:
    run: Run
    judge: Judge
    process_id: str
    verifications: list[Verification]
    interrupted: bool


def verify(
    process: ProcessId,
    claim: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="A claim to verify; may be repeated.")
    ] = None,
    claims: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Claims to verify: a JSON array of strings or claim objects, or one a line.",
        ),
    ] = None,
    claim_id: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A stored claim; may be repeated.")
    ] = None,
    extract: Annotated[
        bool, typer.Option("--extract", help="Extract the claims with a language model.")
    ] = False,
    node: Annotated[
        str | None,
        typer.Option(
            metavar="NODE", help="The node that the claims are about; default: the only terminal."
        ),
    ] = None,
    q: Annotated[
        int,
        typer.Option(
            "--q",
            min=1,
            max=1_000_000,
            metavar="N",
            help="Consecutive Not Fully Supported verdicts that stop a walk.",
        ),
    ] = 3,
    engine: Annotated[
        str | None, typer.Option(metavar="NAME", help="Engine of judgement: lexical or openai.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model that judges; selects openai.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option(min=0, metavar="USD", help="The most that the run may cost.")
    ] = None,
    unfinished: Annotated[
        bool,
        typer.Option(
            "--unfinished", help="Leave out claims whose latest verification has a verdict."
        ),
    ] = False,
    concurrency: Annotated[
        int, typer.Option(min=1, max=256, metavar="N", help="Claims verified at a time.")
    ] = 8,
    as_json: AsJson = False,
) -> None:
    """Verify claims of a process, backward from its output to its source text.

    Without --claim, --claims or --claim-id the stored claims of the process are verified.
    """
    settings = Settings.load()
    request = _Request(
        process, claim or [], claims, claim_id or [], node, unfinished, q, concurrency
    )
    report = run(
        _verify(settings, request, engine, model, extract=extract, budget=budget),
        as_json=as_json,
    )
    if as_json:
        from graph.exporters.results import run_json

        judge = report.judge
        document = run_json(
            report.run.run_id,
            report.process_id,
            judge.name,
            judge.model,
            judge.indicative,
            report.verifications,
        )
        if report.run.write_errors:
            document["error"] = {"message": _not_stored(report.run), "violations": []}
        print_json(document)
    else:
        _tell(report)
    _end(report)


async def _verify(
    settings: Settings,
    request: _Request,
    engine: str | None,
    model: str | None,
    *,
    extract: bool,
    budget: float | None,
) -> _Report:
    from api.claims import choose_claims, read_claims_file
    from api.keeping import Keep
    from api.wiring import make_judge, open_graph
    from graph.sentences import SentenceSplitter
    from verifier.driver import Observer
    from verifier.nodes import SharedNodes
    from verifier.run import Run

    name = settings.engine_name(engine, model)
    judge = make_judge(name)
    if extract:
        raise InputError("--extract needs a language model, which this version does not have yet.")
    if budget is not None and judge.model is None:
        say("--budget has no effect: no language model is asked, so nothing is spent.", "dim")
    given = read_claims_file(request.claims_file) if request.claims_file is not None else []
    splitter = SentenceSplitter.for_language(settings.language)
    async with open_graph(settings, say_starting) as store:
        tasks = await choose_claims(
            store,
            request.process_id,
            request.claims,
            given,
            request.claim_ids,
            request.node,
            unfinished=request.unfinished,
        )
        stored = await store.processes.get(request.process_id)
        nodes = SharedNodes(store.reading, request.process_id, splitter, size=stored.nodes)
        with long_work() as work:
            watch = _Watch(work, len(tasks))
            keep = Keep(store.trails.write)
            run_ = Run(
                request.process_id,
                judge,
                nodes,
                keep.write,
                q=request.q,
                concurrency=request.concurrency,
                content_hash=stored.content_hash,
                observer=Observer(call_made=watch.called, claim_finished=watch.finished),
            )
            keep.on_loss = run_.stop
            interrupted = on_ctrl_c(run_.stop)
            verifications = await run_.verify(tasks)
    return _Report(run_, judge, request.process_id, verifications, interrupted())


class _Watch:
    """Turns what happens in a run into progress."""

    def __init__(self, work: LongWork, total: int) -> None:
        self._work, self._total = work, total
        self._done = self._calls = 0

    def called(self, usage: Usage) -> None:
        self._calls += usage.calls
        self._show()

    def finished(self, _verification: Verification) -> None:
        self._done += 1
        self._show()

    def _show(self) -> None:
        note = f"{self._calls:,} calls" if self._calls else ""
        self._work.update("claims", self._done, self._total, note)


def _tell(report: _Report) -> None:
    from api.cli.trail import trail_tree, verdict_table

    done = report.verifications
    ended = [v for v in done if v.status is not Status.CANCELLED]
    if len(ended) <= TRAILS_SHOWN:
        for verification in ended:
            show(trail_tree(verification, whole=False))
    else:
        show(verdict_table(ended))
    counts = {verdict: sum(v.verdict is verdict for v in done) for verdict in Verdict}
    others = sum(v.verdict is None for v in ended)
    cancelled = len(done) - len(ended)
    say(
        f"{len(done)} claim(s): {counts[Verdict.FULLY_SUPPORTED]} fully supported, "
        f"{counts[Verdict.NOT_FULLY_SUPPORTED]} not fully supported, "
        f"{counts[Verdict.INCONCLUSIVE]} inconclusive"
        + (f", {others} without a verdict" if others else "")
        + (f", {cancelled} cancelled" if cancelled else "")
    )
    if report.judge.indicative:
        say(f"Engine {report.judge.name}: {INDICATIVE}.", "yellow")
    if ended:
        say("A trail whole: veritrail show VERIFICATION", "dim")


def _end(report: _Report) -> None:
    if report.run.write_errors:
        say(f"Error: {_not_stored(report.run)}", "bold red")
    if report.interrupted:
        left = sum(v.status is Status.CANCELLED for v in report.verifications)
        say(
            f"Interrupted: {left} claim(s) are cancelled. To go on: the same command with "
            "--unfinished.",
            "yellow",
        )
        raise Exit(INTERRUPTED)
    if report.run.write_errors:
        raise Exit(NOT_ALL_SUCCEEDED)
    failed = [v for v in report.verifications if v.status is not Status.SUCCEEDED]
    if failed:
        say(f"{len(failed)} claim(s) have no verdict: {one_line(failed[0].failure or '')}", "red")
        raise Exit(NOT_ALL_SUCCEEDED)


def _not_stored(run_: Run) -> str:
    errors = run_.write_errors
    return f"{len(errors)} verification(s) could not be stored: {one_line(str(errors[0]))}"
