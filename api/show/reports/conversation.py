"""The turns of a dialogue with their claims, as a section of a report.

Of a long dialogue the turns that need attention are shown, those with contradictions first; what is
left out is counted.

Source: VISTA 3; the score is ours (docs/adr/0037-dialogues.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from veritrail_graph.api.show.conversation import (
    MOST_BACKGROUND,
    MOST_OTHERS,
    TurnRow,
    rows_of,
    shown_claims,
)
from veritrail_graph.api.show.dialogue import Chart, chart_of, score_of, total_counts
from veritrail_graph.api.show.words import Mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from veritrail_graph.api.app import Application
    from veritrail_graph.graph.model.conversation import FoundTurn, SaidTurn, TurnCounts
    from veritrail_graph.graph.model.dialogue import DialogueRunSummary

MOST_TURNS = 40
"""Turns that a report shows."""

TEXT = 2_000
"""Characters of a turn, or of a claim that is only named, that a report reads."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The section; without turns, nothing was verified.

    Attributes:
        turns: The assistant's turns that are shown.
        total: How many of them were verified.
        score: The score of all of them; None: there is none.
        counts: Their claims by mark.
        chart: The score over the turns.
        runs: The runs whose results count.
    """

    turns: tuple[TurnRow, ...] = ()
    total: int = 0
    score: float | None = None
    counts: tuple[tuple[Mark, int], ...] = ()
    chart: Chart | None = None
    runs: tuple[DialogueRunSummary, ...] = ()

    @property
    def more(self) -> int:
        """Return how many verified turns are not shown."""
        return self.total - len(self.turns)


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
    shown = shown_claims(said, by_number, None)
    claims = [one for _, some in shown.values() for one in some]
    linked = await app.dialogues.linked(
        process_id, None, said, by_number, claims, None, (MOST_OTHERS, MOST_BACKGROUND, TEXT)
    )
    runs = await app.dialogues.runs(process_id)
    return Conversation(
        tuple(rows_of(said, by_number, shown, None, linked)),
        len(counts),
        score_of(counts),
        tuple(total_counts(counts)),
        chart_of(counts),
        tuple(one for one in runs if one.counting),
    )


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
