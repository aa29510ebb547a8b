"""What `veritrail verify` says in the end, and the status that it ends with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.cli.exits import NOT_ALL_SUCCEEDED, UNREACHABLE, Exit
from veritrail_graph.api.cli.interrupt import INTERRUPTED
from veritrail_graph.api.cli.terminal import print_json, say, show
from veritrail_graph.api.views.texts import one_line
from veritrail_graph.api.views.words import INDICATIVE
from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import Status, Verdict, Verification

if TYPE_CHECKING:
    from veritrail_graph.api.configured_judge import ConfiguredJudge
    from veritrail_graph.api.verification import Done

TRAILS_SHOWN = 3
COSTS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Report:
    """A run that has ended, as it is told.

    Attributes:
        process_id: The process.
        engine: The engine of judgement.
        model: The model, if one judged.
        indicative: Whether no model judged.
        done: What the run left behind.
        warnings: What a person should know.
        spent: USD spent, or None where that is not known or no model was asked.
        interrupted: Whether a person stopped it.
    """

    process_id: str
    engine: str
    model: str | None
    indicative: bool
    done: Done
    warnings: tuple[str, ...]
    spent: float | None
    interrupted: bool

    @classmethod
    def of(
        cls, bench: ConfiguredJudge, process_id: str, done: Done, *, interrupted: bool
    ) -> Report:
        """The report of a run."""
        models = bench.models
        return cls(
            process_id,
            bench.judge.name,
            bench.judge.model,
            bench.judge.indicative,
            done,
            tuple(models.warnings) if models else (),
            models.spending.spent if models and models.is_priced else None,
            interrupted,
        )

    @property
    def fault(self) -> VeriTrailError | None:
        """What ended the run, or kept results from being stored."""
        run = self.done.run
        if run is None:
            return None
        if run.refusal is not None:
            return run.refusal
        return run.write_errors[0] if run.write_errors else None


def tell_json(report: Report) -> None:
    """Print the run as the JSON document of the contract."""
    from veritrail_graph.api.cli.claim_output import report_json
    from veritrail_graph.graph.exporters.results import run_json

    done = report.done
    document: dict[str, Any] = run_json(
        done.run_id,
        report.process_id,
        report.engine,
        report.model,
        report.indicative,
        done.verifications,
    )
    document["reused"] = done.reused
    if done.extraction is not None:
        document["extraction"] = report_json(done.extraction, report.model or "")
    if report.fault is not None:
        document["error"] = {"message": _told(report), "violations": []}
    print_json(document)


def tell(report: Report) -> None:
    """Tell a person: trails or a table, what it cost, and what to know of it."""
    from veritrail_graph.api.cli.cost import cost_table
    from veritrail_graph.api.cli.trail import trail_tree, verdict_table

    done = report.done.verifications
    ended = [v for v in done if v.status is not Status.CANCELLED]
    if len(ended) <= TRAILS_SHOWN:
        for verification in ended:
            show(trail_tree(verification, whole=False))
    else:
        show(verdict_table(ended))
    if any(v.usage.calls or v.usage.cached_calls for v in done):
        show(
            cost_table(
                [v for v in done if v.status is not Status.CANCELLED or v.usage.calls], COSTS_SHOWN
            )
        )
    say(_counts(done))
    extraction = report.done.extraction
    if extraction is not None:
        say(
            f"{len(extraction.claims)} claim(s) of {len(extraction.sentences)} sentence(s) were "
            f"extracted; what became of each: veritrail claims list {report.process_id} "
            "--sentences",
            "dim",
        )
    if report.done.reused:
        say(
            f"{report.done.reused} of them were verified before with the same settings and are "
            "shown as they are stored; --again verifies them anew.",
            "dim",
        )
    for warning in report.warnings:
        say(f"Warning: {one_line(warning)}", "yellow")
    if report.indicative:
        say(f"Engine {report.engine}: {INDICATIVE}.", "yellow")
    if ended:
        say("A trail whole: veritrail show VERIFICATION", "dim")


def _counts(done: list[Verification]) -> str:
    counts = {verdict: sum(v.verdict is verdict for v in done) for verdict in Verdict}
    told = (
        f"{len(done)} claim(s): {counts[Verdict.FULLY_SUPPORTED]} fully supported, "
        f"{counts[Verdict.NOT_FULLY_SUPPORTED]} not fully supported, "
        f"{counts[Verdict.INCONCLUSIVE]} inconclusive"
    )
    for status in (Status.FAILED, Status.OVER_BUDGET, Status.CANCELLED):
        number = sum(v.status is status for v in done)
        told += f", {number} {status.value.replace('_', ' ')}" if number else ""
    return told


def end(report: Report) -> None:
    """End the command with the status of the contract.

    Raises:
        Exit: Unless everything went well.
    """
    run = report.done.run
    again = f"veritrail verify --resume {report.done.run_id}"
    if report.fault is not None:
        say(f"Error: {_told(report)}", "bold red")
    if report.interrupted:
        left = sum(v.status is Status.CANCELLED for v in report.done.verifications)
        say(f"Interrupted: {left} claim(s) are cancelled. To go on: {again}", "yellow")
        raise Exit(INTERRUPTED)
    if report.fault is not None:
        say(f"To go on once that is mended: {again}", "yellow")
    if run is not None and run.refusal is not None:
        raise Exit(UNREACHABLE)
    if run is not None and run.write_errors:
        raise Exit(NOT_ALL_SUCCEEDED)
    failed = report.done.extraction.failed if report.done.extraction is not None else ()
    if failed:
        reason = one_line(failed[0].reason or "")
        say(f"No claims could be extracted from {len(failed)} sentence(s): {reason}", "red")
    open_ = [v for v in report.done.verifications if v.status is not Status.SUCCEEDED]
    if open_:
        reason = one_line(open_[0].failure or "")
        if any(v.status is Status.OVER_BUDGET for v in open_):
            again += ", with a new --budget or --max-calls"
        say(f"{len(open_)} claim(s) have no verdict: {reason}. To go on: {again}", "red")
        raise Exit(NOT_ALL_SUCCEEDED)
    if failed:
        raise Exit(NOT_ALL_SUCCEEDED)


def _told(report: Report) -> str:
    fault = one_line(str(report.fault))
    run = report.done.run
    if run is not None and run.refusal is None:
        return f"{len(run.write_errors)} verification(s) could not be stored: {fault}"
    return f"the run was stopped: {fault}"
