"""A run of `veritrail verify` that has ended: shown, printed as JSON, and how the command ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.cli.answers import Answer, tell_answers
from veritrail_graph.api.cli.batches import say_batch_calls, say_batches
from veritrail_graph.api.cli.exits import (
    INTERRUPTED,
    NOT_ALL_SUCCEEDED,
    UNREACHABLE,
    Exit,
)
from veritrail_graph.api.cli.explain import ExplainedTrails
from veritrail_graph.api.cli.terminal import quoted, say, show
from veritrail_graph.api.show.asking import asking_sentences
from veritrail_graph.api.show.texts import one_line, some
from veritrail_graph.api.show.words import indicative_words, kept_words, outweighed_words
from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import (
    RunUsage,
    Status,
    Usage,
    Verdict,
    Verification,
    share_of_nodes,
)

if TYPE_CHECKING:
    from veritrail_graph.api.app.changes import Changes
    from veritrail_graph.api.app.jobs import LocalResult
    from veritrail_graph.api.configured.judge import ConfiguredJudge
    from veritrail_graph.graph.model.attribution import CarriedSentence
    from veritrail_graph.graph.model.listed import JudgedClaim

TRAILS_SHOWN = 3
MOST_CACHED = 0.1
"""The share of answers from the cache up to which other ways to ask are compared."""
EXPLAINED = 20
"""Trails that are shown below a table, where `--explain` has something to say of them."""


@dataclass(frozen=True, slots=True)
class After:
    """Facts that the graph adds to a run that has ended; one that it does not hold is left out.

    Attributes:
        outweighed: Claims whose result of this run does not count, with the one that does.
        nodes: The nodes of the process; 0: not known.
    """

    outweighed: tuple[JudgedClaim, ...] = ()
    nodes: int = 0


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
        explained: What the error nodes did with their sources, where that was asked for.
        changes: What it changed against an earlier version, where one was named.
        answers: The texts that the claims are about, as far as they are shown.
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
    explained: ExplainedTrails | None = None
    changes: Changes | None = None
    answers: Sequence[Answer] = ()

    def with_explanation(self, explained: ExplainedTrails) -> Report:
        """Return the same with what was attributed, which counts as spent."""
        spent = self.spent
        if spent is not None:
            spent += explained.usage.cost_usd or 0.0
        return replace(self, explained=explained, spent=spent)

    @property
    def usage(self) -> RunUsage:
        """Return what the run cost, attribution included."""
        spent = self.done.spent
        return spent if self.explained is None else self.explained.added_to(spent)

    @property
    def carried(self) -> Mapping[str, tuple[CarriedSentence, ...]]:
        """Return what ends the trails, by verification_id."""
        return self.explained.carried if self.explained is not None else {}

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
        """Return what ended the run, or kept results from being stored."""
        run = self.done.run
        if run is None:
            return None
        if run.refusal is not None:
            return run.refusal
        return run.write_errors[0] if run.write_errors else None


def run_json(
    run_id: str,
    process_id: str,
    engine: str,
    model: str | None,
    indicative: bool,
    verifications: Iterable[Verification],
    spent: RunUsage,
) -> dict[str, Any]:
    """Return what `verify --json` prints."""
    return {
        "run_id": run_id,
        "process_id": process_id,
        "engine": engine,
        "model": model,
        "indicative": indicative,
        "verifications": [verification.json_object() for verification in verifications],
        **spent.json_object(),
        "cost": {
            "usd": spent.usage.cost_usd,
            "usd_per_claim": spent.usd_per_finished_claim,
            "unpriced_calls": spent.usage.unpriced_calls,
        },
    }


def as_document(report: Report) -> dict[str, Any]:
    """The run as the JSON document of the contract."""
    from veritrail_graph.api.cli.claims import report_json

    done = report.done
    document: dict[str, Any] = run_json(
        done.run_id,
        report.process_id,
        report.engine,
        report.model,
        report.indicative,
        done.verifications,
        report.usage,
    )
    if report.explained is not None:
        report.explained.add_to(document)
    document["reused"] = done.reused
    if report.changes is not None:
        changes = report.changes.model_dump(mode="json")
        document |= {name: changes.pop(name) for name in ("kept", "verified", "changed")}
        document["changes"] = changes
    document["share_of_nodes"] = report.share_of_nodes
    document["not_in_force"] = [one.claim_id for one in report.after.outweighed]
    document["warnings"] = list(report.warnings)
    if done.extraction is not None:
        document["extraction"] = report_json(done.extraction, report.model or "")
    if report.fault is not None:
        document["error"] = {"message": _fault_text(report), "violations": []}
    return document


def as_message(report: Report) -> dict[str, Any]:
    """Say what a webhook says of the run, as of a job of the service: ids and counts, no texts."""
    run_id, done = report.done.run_id, report.done.verifications
    failed = report.done.extraction.failed if report.done.extraction is not None else ()
    is_fine = report.fault is None and not failed and all(one.status.is_result for one in done)
    status = "cancelled" if report.interrupted else "succeeded" if is_fine else "failed"
    return {
        "job_id": report.done.job_id,
        "run_id": run_id,
        "process_id": report.process_id,
        "kind": "verification",
        "status": status,
        "counts": dict(Counter(one.status.value for one in done)),
    }


def tell(report: Report) -> None:
    """Tell a person: trails or a table, what it cost, and what to know of it."""
    from veritrail_graph.api.cli.changes import tell_changes
    from veritrail_graph.api.cli.claims import offer_removal
    from veritrail_graph.api.cli.trail import attention, cost_table, show_results, trail_tree
    from veritrail_graph.api.show.costs import cost_words, share_words
    from veritrail_graph.graph.near_duplicates import near_duplicates

    done = report.done.verifications
    tell_answers(report.answers)
    ended = [v for v in done if v.status is not Status.CANCELLED]
    if len(ended) <= TRAILS_SHOWN:
        for verification in ended:
            carried = report.carried.get(verification.verification_id, ())
            show(trail_tree(verification, whole=False, carried=carried))
    else:
        show_results(ended)
        for verification in [v for v in ended if v.verification_id in report.carried][:EXPLAINED]:
            carried = report.carried[verification.verification_id]
            show(trail_tree(verification, whole=False, carried=carried))
    extraction = report.done.extraction
    spent = report.usage
    own = [
        v
        for v in done
        if v.run_id == report.done.run_id and (v.status is not Status.CANCELLED or v.usage.calls)
    ]
    if spent.usage.calls or spent.usage.cached_calls:
        explained = report.explained.usage if report.explained is not None else None
        show(cost_table(own, spent, explained))
        tell_ways(report, own)
        if spent.usage.cached_calls:
            say(
                f"{spent.usage.cached_calls:,} of "
                f"{spent.usage.calls + spent.usage.cached_calls:,} answers came from the cache of "
                "answers and cost nothing.",
                "dim",
            )
    say_batch_calls(spent.usage)
    for sentence in asking_sentences(done):
        say(sentence, "yellow")
    if report.changes is not None:
        tell_changes(report.changes)
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
        say(f"Engine {report.engine}: {indicative_words(report.engine)}.", "yellow")
    if report.done.judge is not None and report.done.judge.how.gives_recorded:
        say(f"Engine {report.engine}: {one_line(report.model or '')}; no model was asked.", "dim")
    say(_counts(done), "bold")
    if ended:
        worst = max(ended, key=attention)
        is_wrong = bool(worst.error_stages) and worst.origin is None
        what = "Where it went wrong" if is_wrong else "One trail in full"
        name = f"{quoted(report.process_id)} {quoted(worst.claim_id)}"
        if worst.claim_id in {one.claim_id for one in report.after.outweighed}:
            name = quoted(worst.verification_id)  # the claim shows the one that counts
        say(f"{what}: veritrail show {name}", "dim")


def tell_ways(report: Report, own: list[Verification]) -> None:
    """Print the cost of the calls by model, and their cost in other ways to ask.

    Of a few claims that were asked about in the usual way, their trails say enough.
    """
    from veritrail_graph.api.cli.terminal import table
    from veritrail_graph.api.show.costs import cost_words, way_words

    spent = sum((one.usage for one in own), Usage())
    of_models: dict[str, Usage] = {}
    for step in (step for one in own for step in one.steps):
        of_models[step.model] = of_models.get(step.model, Usage()) + step.usage
    is_usual = not spent.batch_calls and len(of_models) < 2 and not any(one.share for one in own)
    if not report.done.asked_models or (is_usual and len(own) <= TRAILS_SHOWN):
        return
    rows = [["as it was asked", f"{spent.calls:,}", cost_words(spent)]]
    if len(of_models) > 1:
        rows += [
            [f"  of it {one_line(name, 40)}", f"{usage.calls:,}", cost_words(usage)]
            for name, usage in of_models.items()
        ]
    # What an answer from the cache took is not known, so it has no price in another way.
    is_known = spent.cached_calls <= MOST_CACHED * (spent.calls + spent.cached_calls)
    others = report.done.other_ways(own) if is_known else []
    rows += [
        [way_words(name, share), f"{usage.calls:,}", cost_words(usage)]
        for name, share, usage in others
    ]
    columns = ("calls", "cost")
    what = "the same calls in other ways" if others else "the calls of this run"
    if len(rows) > 1:
        table((what, *columns), rows, right=columns)
    if not is_known:
        say(
            "Other ways are not compared, as many answers came from the cache: veritrail estimate "
            f"{quoted(report.process_id)} compares them for all claims.",
            "dim",
        )


def _outweighed_words(report: Report) -> str:
    """Return which results of a run replace none, and which count in their place."""
    found = report.after.outweighed
    made = {one.claim_id: one for one in report.done.verifications}
    kept: dict[str, list[str]] = {}
    for one in found:
        words = kept_words(one, made.get(one.claim_id))
        kept.setdefault(words, []).append(one.claim_id)
    each = "; ".join(f"{words} for {some(names)}" for words, names in kept.items())
    return outweighed_words(len(found), each, "run", report.done.run_id)


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
        say_batches(report.done, again)
        raise Exit(INTERRUPTED)
    if report.fault is not None:
        say(_way_on(report.fault, again), "yellow")
        say_batches(report.done, again)
    if run is not None and run.refusal is not None:
        raise Exit(UNREACHABLE)
    if run is not None and run.write_errors:
        raise Exit(NOT_ALL_SUCCEEDED)
    if report.explained is not None:
        report.explained.check()
    failed = report.done.extraction.failed if report.done.extraction is not None else ()
    if failed:
        reason = one_line(failed[0].reason or "")
        say(f"No claims could be extracted from {len(failed)} sentence(s): {reason}", "red")
    open_ = [v for v in report.done.verifications if not v.status.is_result]
    if open_:
        reason = one_line(open_[0].error or "").rstrip(".")
        if any(v.status is Status.OVER_BUDGET for v in open_):
            again += ", with a new --budget or --max-calls"
        say(f"{len(open_)} claim(s) have no verdict: {reason}. To go on: {again}", "red")
        raise Exit(NOT_ALL_SUCCEEDED)
    if failed:
        raise Exit(NOT_ALL_SUCCEEDED)


def _way_on(fault: VeriTrailError, again: str) -> str:
    """Return what a person can do after a run was stopped; a run in batches stays in batches."""
    anew = "the same command without --batch (and --again) makes a new run, in which what has a"
    anew += " verdict is shown as it is stored"
    if fault.code == "no_batches":
        return f"Resumed, this run would ask in batches again; {anew}."
    words = f"After fixing this, resume with: {again}"
    return f"{words}. Or leave batches out: {anew}." if fault.code == "batch_refused" else words


def _fault_text(report: Report) -> str:
    fault = one_line(str(report.fault))
    run = report.done.run
    if run is not None and run.refusal is None:
        return f"{len(run.write_errors)} verification(s) could not be stored: {fault}"
    return f"the run was stopped: {fault}"
