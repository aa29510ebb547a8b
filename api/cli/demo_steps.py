"""The demo: both samples judged by their recorded answers, a provenance, an error with its pair.

The graph is the one that `veritrail` uses anyway, so that everything can be asked afterwards.
The samples and the answers are part of the package. What is printed is counted in this run.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from veritrail_graph.api.app.demonstration import (
    JudgedSample,
    as_released,
    judge_by_words,
    judge_samples,
)
from veritrail_graph.api.cli.exits import run, say_starting
from veritrail_graph.api.cli.terminal import VERDICT_STYLE, console
from veritrail_graph.api.show.contrast import Quote, contrast_of
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.api.show.trail_view import trail_view
from veritrail_graph.api.show.words import VERDICT_WORDS
from veritrail_graph.graph.model.located import LocatedBy
from veritrail_graph.graph.word_diff import Piece

if TYPE_CHECKING:
    from rich.console import Console

    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.model import Verification

WIDTH = 80
"""Columns that every line fits into, on a terminal of that width or a wider one."""
SUPPORTED, WRONG = ("harbour-summary", "k01"), ("harbour-summary", "k04")
"""The claims that are shown: one with its path, one with its error."""
NEXT = (
    ("veritrail show harbour-summary k04", "the whole trail of that error"),
    ("veritrail show graphrag-energy --all", "the claims of the other sample"),
    ("veritrail serve", "the same in your browser"),
    ("veritrail check --answer a.txt --sources docs/", "an answer of your own"),
    ("veritrail db stop", "end the graph engine"),
)


def show() -> None:
    """Judge the samples, and print what was found.

    Raises:
        Exit: One of them could not be stored or verified.
    """
    from veritrail_graph.api.app.engine import begin_engine
    from veritrail_graph.api.settings import Settings

    started = time.monotonic()
    settings = as_released(Settings())
    begin_engine(settings, say_starting)
    judged = run(_judged(settings), as_json=False)
    samples, by_words, path = judged
    out = console()
    out.width = WIDTH if not out.is_terminal else min(out.width, WIDTH)
    _head(out, samples)
    _provenance(out, _verification(samples, SUPPORTED), samples[0].stage_names, path)
    _error(out, _verification(samples, WRONG), samples[0].stage_names)
    _words_alone(out, by_words)
    out.print(Text("Go on from here:", "bold"))
    for command, what in NEXT:
        out.print(Text.assemble("  ", (f"{command:<48}", "cyan"), (what, "dim")))
    seconds = time.monotonic() - started
    out.print(Text(f"The demo took {seconds:.0f} s; both samples stay in the graph.", "dim"))


async def _judged(
    settings: Settings,
) -> tuple[list[JudgedSample], list[JudgedSample], list[dict[str, Any]]]:
    """The samples by recorded answers, by words alone, and the path of a claim to its source."""
    from veritrail_graph.api.app import Application

    process, claim = SUPPORTED
    async with Application(settings, on_engine_start=say_starting) as app:
        # By words: in memory, while the engine starts.
        by_words = asyncio.create_task(judge_by_words(settings))
        samples = await judge_samples(app)
        asked = {"process_id": process, "claim_id": claim}
        found = await app.queries.run("provenance", asked)
        rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
        paths: list[list[dict[str, Any]]] = [row["path"] for row in rows if row["complete"]]
        return samples, await by_words, paths[0] if paths else []


def _verification(samples: Sequence[JudgedSample], which: tuple[str, str]) -> Verification:
    process, claim = which
    return next(one for one in samples if one.process_id == process).verification(claim)


def _head(out: Console, samples: Sequence[JudgedSample]) -> None:
    """Print all results in two lines; then each sample, and what is not as labelled."""
    every = [one for sample in samples for one in sample.verifications]
    right = sum(one.as_labelled for one in samples)
    placed = sum(one.placed for one in samples)
    planted = sum(len(one.planted) for one in samples)
    out.print(Text("VeriTrail Graph: where did that come from, and where did it go wrong?", "bold"))
    out.print(
        Text.assemble(
            (f"{right} of {len(every)} verdicts", "bold green"), " as labelled; ",
            (f"{placed} of {planted} planted errors", "bold green"), " placed in their step.",
        )
    )  # fmt: skip
    out.print()
    model = next((one.model for one in every if one.model), "")
    out.print(
        Text(
            f"Judged by {model}.\nNo model is asked now; all else runs: prompts, checks of "
            "answers, walk, graph.",
            "dim",
        )
    )
    for sample in samples:
        out.print(
            f"  {sample.process_id:<16} {sample.nodes} nodes, {len(sample.stage_names)} stages: "
            f"{sample.as_labelled} of {len(sample.verifications)} verdicts, "
            f"{sample.placed} of {len(sample.planted)} errors"
        )
        for one in sample.others:
            out.print(Text(f"    {_difference(one, sample)}", "magenta"))
        for one in sample.verifications:
            if one.claim_id in sample.planted and one not in sample.others:
                _tell_place(out, one, is_right=sample.is_placed(one))
    out.print()


def _difference(one: Verification, sample: JudgedSample) -> str:
    """Return how a verification is not as labelled, or why it has no verdict."""
    label = VERDICT_WORDS[sample.labels[one.claim_id]]
    if one.verdict is not None:
        return f"{one.claim_id} is {VERDICT_WORDS[one.verdict]}, the label says {label}"
    return f"{one.claim_id} {one.status}: {one_line(one.error or '', 200)}"


def _tell_place(out: Console, one: Verification, *, is_right: bool) -> None:
    """Print the place of an error where it is another, or was not found by the verdicts."""
    if is_right and one.located_by is not LocatedBy.SIDES:
        return
    where = f"in {', '.join(ref.node_id for ref in one.error_nodes)}"
    if is_right:
        where += ", which its evidence shows and no verdict does"
    elif not one.error_nodes:
        where = "but without a place"
    out.print(Text(f"    {one.claim_id} was found wrong, {where}", "dim"))


def _provenance(
    out: Console, one: Verification, stages: Mapping[int, str], path: Sequence[Mapping[str, Any]]
) -> None:
    """Print a path of a supported claim, from the source text to the final output."""
    out.print(Text("Where did that come from?", "bold"))
    _claim(out, one, "✓")
    for step in path:
        name = f"  {stages.get(step['stage'], '')} {step['node_id']}"
        said = [found["text"] for found in step["sentences"] if found["role"] == "evidence"]
        line = one_line(" ".join(said) or one.claim)
        out.print(Text.assemble((f"{name:<22}", "cyan"), _cut(line, out.width - 22)))
    if not path:
        out.print(Text("  No path reaches the source text.", "yellow"))
    out.print()


def _error(out: Console, one: Verification, stages: Mapping[int, str]) -> None:
    """Print an error: what the source says, what the step wrote, which nodes carried it on."""
    out.print(Text("Where did it go wrong?", "bold"))
    _claim(out, one, "✗")
    pair = contrast_of(trail_view(one, stages))
    if pair is not None:
        sides = [("source says", pair.source), ("step wrote", pair.wrote)]
        for what, quote in sides:
            if quote is not None:
                _quote(out, what, quote)
    told = [] if pair is None or pair.words is None else [pair.words]
    told += [f"It came in at stage {stage} of {len(stages)}." for stage in one.error_stages]
    carried = [node.node_id for node in one.propagated_nodes]
    told += [f"Carried on by {' and '.join(carried)}."] if carried else []
    out.print(Text(f"  {' '.join(told)}"))
    out.print()


def _claim(out: Console, one: Verification, mark: str) -> None:
    style = VERDICT_STYLE[one.verdict] if one.verdict else "magenta"
    word = VERDICT_WORDS[one.verdict] if one.verdict else str(one.status)
    out.print(Text.assemble((f"{mark} {word}: ", f"bold {style}"), one_line(one.claim)))


def _quote(out: Console, what: str, quote: Quote) -> None:
    """A side of the pair: its node, and below it the sentence around what differs."""
    out.print(Text.assemble((f"  {what:<12}", "bold"), (f"{quote.place} {quote.node_id}", "cyan")))
    shown, marks = " " * 14, " " * 14
    for piece in around(quote.pieces, out.width - 14):
        shown += piece.text
        marks += ("^" if piece.is_changed else " ") * len(piece.text)
    out.print(Text(shown))
    if marks.strip():
        out.print(Text(marks.rstrip(), "bold red"))


def around(pieces: Sequence[Piece], width: int) -> list[Piece]:
    """The part of a sentence that fits into a line, around the first words that differ."""
    texts = [" ".join(one.text.splitlines()) for one in pieces]
    if sum(map(len, texts)) <= width:
        return list(pieces)
    first = next((place for place, one in enumerate(pieces) if one.is_changed), 0)
    room = width - len(texts[first])
    before = "".join(texts[:first])
    after = "".join(texts[first + 1 :])
    left = max(room // 2, room - len(after))
    head = before if len(before) <= left else f"… {before[-(left - 2) :].partition(' ')[2]}"
    tail = _cut(after, room - len(head))
    return [Piece(head), Piece(texts[first], pieces[first].is_changed), Piece(tail)]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 2].rpartition(' ')[0]} …"


def _words_alone(out: Console, samples: Sequence[JudgedSample]) -> None:
    """Print how many of the same claims a comparison of words decides."""
    claims = sum(len(one.verifications) for one in samples)
    decided = sum(one.decided for one in samples)
    right = sum(one.as_labelled for one in samples)
    out.print(
        Text.assemble(
            ("By words alone", "bold"),
            f", without a model (engine lexical): {right} of {decided} verdicts as labelled;\n"
            f"for {claims - decided} of the {claims} claims it cannot tell.",
        )
    )
    out.print()
