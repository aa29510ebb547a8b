"""`veritrail claims`: extract, list, edit and remove claims before they are verified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.exits import NOT_ALL_SUCCEEDED, Exit, ask_about
from veritrail_graph.api.cli.options import (
    AsJson,
    Budget,
    CallsAtOnce,
    ClaimsFile,
    MaxCalls,
    NoCache,
    Price,
    ProcessId,
    PromptsFolder,
    ReasoningEffort,
    Structured,
    claim_records,
    model_options,
    read_text,
)
from veritrail_graph.api.cli.terminal import LongWork, long_work, print_json, say, show, table
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Claim, Usage
from veritrail_graph.graph.model.extraction import ExtractedSentence, SentenceOutcome
from veritrail_graph.graph.near_duplicates import NearDuplicate, near_duplicates

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.claims import Extracted, ExtractOptions
    from veritrail_graph.api.work.extraction import ExtractionReport


_PAIRS_SHOWN = 10

app = typer.Typer(
    help="Add, extract, list, edit, merge and remove the claims of a process.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Node = Annotated[
    str | None, typer.Option(metavar="NODE", help="The node; default: the only terminal.")
]
ClaimId = Annotated[str, typer.Argument(metavar="CLAIM_ID", help="The claim, by its claim_id.")]


@app.command("extract")
def extract(
    process: ProcessId,
    node: Node = None,
    engine: Annotated[
        str | None, typer.Option(metavar="NAME", help="An engine that asks a model.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model that extracts claims.")
    ] = None,
    budget: Budget = None,
    max_calls: MaxCalls = None,
    price: Price = None,
    completions: Annotated[
        int,
        typer.Option(
            min=1,
            max=100,
            metavar="K",
            help="Completions of selection and disambiguation; more than half must agree.",
        ),
    ] = 3,
    prompts: PromptsFolder = None,
    effort: ReasoningEffort = None,
    structured: Structured = False,
    no_cache: NoCache = False,
    concurrency: CallsAtOnce = None,
    as_json: AsJson = False,
) -> None:
    """Extract the claims of a node with a language model, and store them.

    Extracting again adds nothing that is stored, and costs nothing while the answers are cached.
    """
    from veritrail_graph.api.app.claims import ExtractOptions

    options = ExtractOptions(node, engine, model_options(locals()), prompts, completions)
    _, found = ask_about(process, lambda app, name: _extract(app, name, options), as_json=as_json)
    report = found.report
    for warning in found.warnings:
        say(warning, "yellow")
    if as_json:
        print_json(report_json(report, found.model))
    else:
        tell_report(report)
    if report.failed:
        reason = one_line(report.failed[0].reason or "")
        say(f"{len(report.failed):,} sentence(s) failed: {reason}", "red")
        raise Exit(NOT_ALL_SUCCEEDED)


async def _extract(app: Application, process_id: str, options: ExtractOptions) -> Extracted:
    with long_work() as work:
        watch = ExtractionWatch(work)
        return await app.claims.extract(
            process_id, options, on_sentence=watch.sentence_done, on_answer=watch.call_made
        )


@app.command("add")
def add(
    process: ProcessId,
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help="A claim; several are several.")
    ] = None,
    claims: ClaimsFile = None,
    node: Node = None,
    as_json: AsJson = False,
) -> None:
    """Add claims of your own to a process, all or none; nothing is verified."""
    records = claim_records(texts, claims)
    if not records:
        raise InputError("Name the claims: veritrail claims add PROCESS TEXT, or --claims FILE.")
    process, (stored, added) = ask_about(
        process, lambda app, name: app.claims.add(name, records, node), as_json=as_json
    )
    if as_json:
        listed = [claim.json_object() for claim in stored]
        print_json({"process_id": process, "claims": listed, "claims_added": added})
        return
    show_claims(stored)
    say(f"{added:,} of {len(stored):,} claim(s) are new. Verify them: veritrail verify {process}")


@app.command("list")
def list_(
    process: ProcessId,
    node: Annotated[
        str | None, typer.Option(metavar="NODE", help="Only the claims of this node.")
    ] = None,
    sentences: Annotated[
        bool,
        typer.Option(
            "--sentences", help="Also every sentence that was looked at, and what became of it."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the stored claims of a process, each with its place in the text."""
    process, (claims, found, questions) = ask_about(
        process, lambda app, name: _list(app, name, node), as_json=as_json, reads=True
    )
    if as_json:
        document: dict[str, Any] = {
            "process_id": process,
            "claims": [claim.json_object() for claim in claims],
            "near_duplicates": _near_duplicates_json(claims),
            "questions": questions,
        }
        if sentences:
            document["sentences"] = [sentence_json(sentence) for sentence in found]
        print_json(document)
        return
    if claims:
        show_claims(claims)
        if len({claim.node_id for claim in claims}) > 1:
            show_questions(questions)
        offer_removal(process, near_duplicates(claims))
    else:
        say("No claims are stored. Extract some with: veritrail claims extract PROCESS")
    if sentences:
        show_sentences(found)


async def _list(
    app: Application, process_id: str, node: str | None
) -> tuple[list[Claim], list[ExtractedSentence], dict[str, str]]:
    claims = await app.claims.all(process_id, node)
    found = await app.claims.sentences(process_id, node)
    about = list(dict.fromkeys(claim.node_id for claim in claims))
    return claims, found, await app.nodes.questions(process_id, about)


@app.command("edit")
def edit(
    process: ProcessId,
    claim_id: ClaimId,
    text: Annotated[str, typer.Option(metavar="TEXT", help="Its new text.")],
    force: Annotated[
        bool,
        typer.Option("--force", help="Also when it was verified; what was verified stays."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Give a claim another text; its id and its place stay."""
    process, claim = ask_about(
        process,
        lambda app, name: app.claims.edit(name, claim_id, text, force=force),
        as_json=as_json,
    )
    if as_json:
        print_json({"process_id": process, **claim.json_object()})
        return
    show_claims([claim])
    kept = ["sub-claims"] if claim.sub_claims else []
    kept += ["label"] if claim.label is not None else []
    if kept:
        say(f"Its {' and its '.join(kept)} came with the old text and stay.", "yellow")


@app.command("remove")
def remove(
    process: ProcessId,
    claim_ids: Annotated[
        list[str], typer.Argument(metavar="CLAIM_ID…", help="The claims, by their claim_ids.")
    ],
    force: Annotated[
        bool,
        typer.Option("--force", help="Also when they were verified or reviewed: that goes too."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Remove claims of a process."""
    process, removed = ask_about(
        process,
        lambda app, name: app.claims.remove(name, claim_ids, force=force),
        as_json=as_json,
    )
    if as_json:
        print_json(
            {
                "process_id": process,
                "removed_claims": removed.claims,
                "removed_verifications": removed.verifications,
                "removed_reviews": removed.reviews,
            }
        )
    else:
        gone = f"{removed.verifications:,} verification(s) and {removed.reviews:,} review(s)"
        say(f"Removed {removed.claims:,} claim(s) with {gone}.")


@app.command("merge")
def merge(
    process: ProcessId,
    claim_id: ClaimId,
    others: Annotated[
        list[str], typer.Argument(metavar="OTHER…", help="The claims that it takes the place of.")
    ],
    force: Annotated[
        bool,
        typer.Option("--force", help="Also when the others were verified or reviewed."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Merge claims: one gets the places of the others, which are removed."""
    from veritrail_graph.api.app.findings import ClaimMerged

    process, (claim, removed) = ask_about(
        process,
        lambda app, process_id: app.claims.merge(process_id, claim_id, others, force=force),
        as_json=as_json,
    )
    if as_json:
        print_json(ClaimMerged.of(process, claim, removed).model_dump(mode="json"))
        return
    show_claims([claim])
    gone = f"{removed.verifications:,} verification(s) and {removed.reviews:,} review(s)"
    say(f"Removed {removed.claims:,} claim(s) with {gone}.")


@app.command("label")
def label(
    process: ProcessId,
    table_file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV with the columns claim_id and label.")
    ],
    as_json: AsJson = False,
) -> None:
    """Label claims for evaluation; an empty label takes one away. No verdict is changed."""
    from veritrail_graph.api.app.claim_tables import read_labels

    labels = read_labels(read_text(table_file))
    process, count = ask_about(
        process, lambda app, process_id: app.claims.label(process_id, labels), as_json=as_json
    )
    if as_json:
        print_json({"process_id": process, "labelled": count})
    else:
        say(f"Labelled {count:,} claim(s).")


class ExtractionWatch:
    """Turns what happens in an extraction into progress: sentences done, and calls.

    Sentences are looked at side by side and end late, so calls are what shows that it goes on.

    Args:
        work: Where progress is shown.
    """

    def __init__(self, work: LongWork) -> None:
        self._work = work
        self._done = self._sentences = self._calls = 0

    def sentence_done(self, done: int, sentences: int) -> None:
        """So many sentences are done."""
        self._done, self._sentences = done, sentences
        self._show()

    def call_made(self, usage: Usage) -> None:
        """A model answered, or the cache did."""
        self._calls += usage.calls + usage.cached_calls
        self._show()

    def _show(self) -> None:
        self._work.update("sentences", self._done, self._sentences, f"{self._calls:,} answers")


def report_json(report: ExtractionReport, model: str) -> dict[str, Any]:
    """Return what `claims extract --json` prints."""
    return {
        "process_id": report.process_id,
        "node_id": report.node_id,
        "model": model,
        "claims": [claim.json_object() for claim in report.claims],
        "claims_added": report.added,
        "near_duplicates": _near_duplicates_json(report.claims),
        "sentences": [sentence_json(sentence) for sentence in report.sentences],
        "outcomes": _counts(report.sentences),
        "usage": report.usage.json_object(),
        "steps": [
            {"step": one.step, "prompt": one.prompt, "calls": one.usage.calls}
            for one in report.steps
        ],
    }


def sentence_json(sentence: ExtractedSentence) -> dict[str, Any]:
    """A sentence from which claims were extracted."""
    return {
        **sentence.json_object(),
        "outcome": sentence.outcome.value,
        "claim_ids": list(sentence.claim_ids),
    }


def _counts(sentences: Sequence[ExtractedSentence]) -> dict[str, int]:
    return {
        outcome.value: sum(sentence.outcome is outcome for sentence in sentences)
        for outcome in SentenceOutcome
    }


def tell_report(report: ExtractionReport) -> None:
    """Show what was extracted, what was not and why, and what it cost."""
    from veritrail_graph.api.show.costs import usage_words

    if report.claims:
        show_claims(report.claims)
        offer_removal(report.process_id, near_duplicates(report.claims))
    without = [one for one in report.sentences if one.outcome is not SentenceOutcome.CLAIMS]
    if without:
        show("")
        show_sentences(without)
    say(
        f"{len(report.claims):,} claim(s), {report.added:,} of them new, from "
        f"{len(report.sentences):,} sentence(s) of node {one_line(report.node_id, 80)}"
    )
    say(usage_words(report.usage), "dim")


def show_claims(claims: Sequence[Claim]) -> None:
    """A line a claim, with its place; with its node where they are about several."""
    has_many = len({claim.node_id for claim in claims}) > 1
    rows = []
    for claim in claims:
        node = [one_line(claim.node_id, 40)] if has_many else []
        rows.append([claim.claim_id, *node, _place(claim), one_line(claim.text)])
    table(("claim_id", *(["node"] if has_many else []), "place", "claim"), rows)


def show_questions(questions: Mapping[str, str]) -> None:
    """The questions that the nodes of the claims answer, where they have some of their own."""
    if questions:
        show("")
        table(
            ("node", "question"),
            [(one_line(name, 40), one_line(text)) for name, text in questions.items()],
        )


def offer_removal(process_id: str, found: Sequence[NearDuplicate]) -> None:
    """Name claims that say nearly the same as others, and the command that removes them."""
    if not found:
        return
    pairs = ", ".join(f"{one.claim_id} like {one.like}" for one in found[:_PAIRS_SHOWN])
    more = f" and {len(found) - _PAIRS_SHOWN:,} more" if len(found) > _PAIRS_SHOWN else ""
    say(
        f"{len(found):,} claim(s) may repeat others (by their words; no model was asked): {pairs}"
        f"{more}. To remove one: veritrail claims remove {process_id} {found[0].claim_id}",
        "yellow",
    )


def _near_duplicates_json(claims: Sequence[Claim]) -> list[dict[str, Any]]:
    return [one.json_object() for one in near_duplicates(claims)]


def _place(claim: Claim) -> str:
    """Return where a claim is stated, in characters of its node's text."""
    if claim.start is None or claim.end is None:
        return ""
    places = [(claim.start, claim.end), *claim.also]
    return ", ".join(f"{start}-{end}" for start, end in places)


def show_sentences(sentences: Sequence[ExtractedSentence]) -> None:
    """A line a sentence, with what became of it."""
    from rich.text import Text

    rows = []
    for one in sentences:
        failed = one.outcome is SentenceOutcome.FAILED
        outcome = Text(one.outcome.replace("_", " "), style="red" if failed else "")
        found = f"{len(one.claim_ids):,} claim(s)" if one.claim_ids else ""
        place = f"{one.start}-{one.end}"
        rows.append((place, outcome, one_line(one.text), one_line(one.reason or found)))
    table(("place", "outcome", "sentence", "reason"), rows)
