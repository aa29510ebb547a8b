"""Claims and the sentences that they come from, as JSON and as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.cli.terminal import LongWork, say, show
from veritrail_graph.api.views.texts import one_line
from veritrail_graph.graph.exporters.listings import claim_json
from veritrail_graph.graph.model import Claim, Usage
from veritrail_graph.graph.model.extraction import ExtractedSentence, SentenceOutcome

if TYPE_CHECKING:
    from veritrail_graph.api.extraction import ExtractionReport


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
    """What `claims extract --json` prints."""
    return {
        "process_id": report.process_id,
        "node_id": report.node_id,
        "model": model,
        "claims": [claim_json(claim) for claim in report.claims],
        "claims_added": report.added,
        "sentences": [sentence_json(sentence) for sentence in report.sentences],
        "outcomes": _counts(report.sentences),
        "usage": asdict(report.usage),
        "steps": [
            {"step": one.step, "prompt": one.prompt, "calls": one.usage.calls}
            for one in report.steps
        ],
    }


def sentence_json(sentence: ExtractedSentence) -> dict[str, Any]:
    """A sentence from which claims were extracted."""
    return {
        **asdict(sentence),
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
    from veritrail_graph.api.views.costs import usage_words

    if report.claims:
        show_claims(report.claims)
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
    """A line a claim, with its place."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("claim_id", "place", "claim"):
        table.add_column(name, overflow="fold")
    for claim in claims:
        table.add_row(claim.claim_id, _place(claim), Text(one_line(claim.text)))
    show(table)


def _place(claim: Claim) -> str:
    """Where a claim is stated, in characters of its node's text."""
    if claim.start is None or claim.end is None:
        return ""
    places = [(claim.start, claim.end), *claim.also]
    return ", ".join(f"{start}-{end}" for start, end in places)


def show_sentences(sentences: Sequence[ExtractedSentence]) -> None:
    """A line a sentence, with what became of it."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("place", "outcome", "sentence", "reason"):
        table.add_column(name, overflow="fold")
    for one in sentences:
        failed = one.outcome is SentenceOutcome.FAILED
        outcome = Text(one.outcome.replace("_", " "), style="red" if failed else "")
        found = f"{len(one.claim_ids):,} claim(s)" if one.claim_ids else ""
        reason = one_line(one.reason or found)
        table.add_row(f"{one.start}-{one.end}", outcome, Text(one_line(one.text)), Text(reason))
    show(table)
