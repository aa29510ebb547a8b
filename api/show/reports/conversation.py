"""The turns of a dialogue with their claims, as a section of a report.

Of a long dialogue the turns that need attention are shown, those with contradictions first; what is
left out is counted.

Source: VISTA 3; the score is ours (docs/adr/0037-dialogues.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from veritrail_graph.api.show.conversation import MOST_OTHERS
from veritrail_graph.api.show.dialogue import (
    Chart,
    chart_of,
    run_words,
    score_of,
    total_counts,
)
from veritrail_graph.api.show.dialogue_run import (
    ClaimMade,
    Linked,
    TurnShown,
    outcome,
    turns_shown,
)
from veritrail_graph.api.show.document import (
    Block,
    Document,
    Heading,
    Line,
    Remark,
    Room,
    Style,
    Tree,
    name,
    ours,
    quoting,
)
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model.dialogue import TURN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from veritrail_graph.api.app import Application
    from veritrail_graph.graph.model.conversation import (
        ClaimPlace,
        FoundTurn,
        LinkedClaims,
        SaidTurn,
        TurnCounts,
    )
    from veritrail_graph.graph.model.dialogue import DialogueRunSummary

MOST_TURNS = 40
"""Turns that a report shows."""
MOST_CLAIMS = 20
"""Claims that it shows of each of these."""
MOST_RUNS = 5
"""Runs that it names."""

TEXT = 2_000
"""Characters of a turn, or of a claim that is only named, that a report reads."""

OF_TURNS_WORDS = (
    "Claims of turns without a verdict above have their categories here; no walk was made for them."
)

ROOM = Room({"claim": MOST_CLAIMS, "contradicted claim": MOST_OTHERS}, TEXT)
"""The part of the conversation that a report shows."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The section; without a document, nothing was verified.

    Attributes:
        document: The turns that are shown, with their claims.
        chart: The score over all turns.
    """

    document: Document | None = None
    chart: Chart | None = None


async def read_conversation(app: Application, process_id: str) -> Conversation:
    """Read what counts for the turns of a dialogue.

    Args:
        app: The application.
        process_id: The process; one that is no dialogue has none.
    """
    counts = await app.dialogues.counts(process_id)
    if not counts:
        return Conversation()
    wanted = chosen(counts)
    found: list[FoundTurn] = []
    said: list[SaidTurn] = []
    # Turns in a row are read together.
    for first, last in _stretches(wanted, [one.stage for one in counts]):
        some = await app.dialogues.found(process_id, None, first - 1, MOST_TURNS)
        found += [one for one in some if first <= one.stage <= last]
        turns = await app.dialogues.turns(
            process_id, (first - 1, 2**31 - 1), last - first + 1, until=last, longest=TEXT
        )
        said += turns
    by_number = {one.stage: one.found for one in found}
    said = [one for one in said if one.stage in by_number]
    claims = [claim for one in said for claim in by_number[one.stage].claims[:MOST_CLAIMS]]
    linked = await app.dialogues.linked(
        process_id, None, said, by_number, claims, None, (MOST_OTHERS, 0, TEXT)
    )
    shown = [TurnShown(one.turn.turn_id, by_number[one.stage], one.turn, one.stage) for one in said]
    runs = [one for one in await app.dialogues.runs(process_id) if one.counting]
    chart = chart_of(counts)
    return Conversation(_document(counts, shown, _linked_of(linked), runs, chart), chart)


def _document(
    counts: Sequence[TurnCounts],
    turns: Sequence[TurnShown],
    linked: Linked,
    runs: Sequence[DialogueRunSummary],
    chart: Chart | None,
) -> Document:
    blocks: list[Block] = [
        Heading((ours("The conversation"),)),
        outcome(len(counts), total_counts(counts), score_of(counts)),
    ]
    if chart is not None:
        blocks.append(Remark((ours(chart.words),), Style.QUIET))
    blocks.append(Remark((ours(OF_TURNS_WORDS),), Style.QUIET))
    for run in runs[:MOST_RUNS]:
        line: Line = (ours("run "), name(run.run_id), ours(", "), quoting(run_words(run)))
        line += (ours(f" verified, counts for {counted(run.counting, 'turn')}"),)
        blocks.append(Remark(line, Style.WARNING if run.indicative else Style.QUIET))
    blocks.append(Tree((), turns_shown(turns, linked)))
    if (more := len(counts) - len(turns)) > 0:
        words = f"{counted(more, 'more verified turn')}: not shown; those with contradictions first"
        blocks.append(Remark((ours(words),), Style.QUIET))
    return Document(tuple(blocks))


def _linked_of(found: LinkedClaims) -> Linked:
    return Linked(
        {name: _made(place) for name, place in found.places.items()},
        {name: [*map(_made, one.later)] for name, one in found.denied.items()},
        {name: one.number - len(one.later) for name, one in found.denied.items()},
        found.knowledge,
    )


def _made(place: ClaimPlace) -> ClaimMade:
    return ClaimMade(place.node_id.removeprefix(TURN), place.text)


def chosen(counts: Sequence[TurnCounts], most: int = MOST_TURNS) -> list[int]:
    """Numbers of the turns that are shown, in their order: contradictions come before others."""
    ranked = sorted(
        counts,
        key=lambda one: (-one.contradicted, -(one.verifiable - one.verified), one.stage),
    )
    return sorted(one.stage for one in ranked[:most])


def _stretches(wanted: Sequence[int], all_numbers: Sequence[int]) -> list[tuple[int, int]]:
    """First and last number of wanted turns between which no other verified turn lies."""
    keep = set(wanted)
    found: list[tuple[int, int]] = []
    is_on = False
    for number in all_numbers:
        if number not in keep:
            is_on = False
        elif is_on:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
            is_on = True
    return found
