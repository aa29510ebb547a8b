"""What one statement writes of trails: many small ones together, a huge one in several pieces.

An engine holds what a statement touches. So a parcel is bounded by its rows and by the texts
behind them; what a single huge trail has beyond that follows in statements of its own.

Source: VeriTrail 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from veritrail_graph.graph.model import Iteration, Verification
from veritrail_graph.graph.store.trail_rows import (
    evidence_id,
    evidence_row,
    iteration_row,
    path_row,
    sentence_row,
    step_row,
    verification_row,
)

MAX_ROWS = 5_000
MAX_HELD = 20_000_000
"""Characters of spans and sentences that one statement may make an engine hold."""

Row = list[Any]


@dataclass(slots=True)
class Room:
    """What a statement may still take."""

    rows: int = MAX_ROWS
    held: int = MAX_HELD

    def has(self, rows: int = 1, held: int = 0) -> bool:
        """Whether there is room for rows."""
        return self.rows >= rows and self.held >= held

    def take(self, rows: int = 1, held: int = 0) -> bool:
        """Take room for rows; False, and nothing taken, where there is not enough."""
        if not self.has(rows, held):
            return False
        self.rows -= rows
        self.held -= held
        return True


@dataclass(slots=True)
class Rest:
    """What of a trail does not fit into its first statement, by the statement that writes it."""

    checked: list[Row] = field(default_factory=list)
    evidence: list[Row] = field(default_factory=list)
    sentences: list[Row] = field(default_factory=list)
    paths: list[Row] = field(default_factory=list)
    lengths: dict[str, int] = field(default_factory=dict)

    def batches(self) -> Iterator[tuple[str, list[Row]]]:
        """Statements and their rows, each within what an engine may be made to hold."""
        for start in range(0, len(self.checked), MAX_ROWS):
            yield "trail/checked", _by_iteration(self.checked[start : start + MAX_ROWS])
        for rows in _parted(self.evidence, lambda row: _told(row[2]["summary"], row[2]["missing"])):
            yield "trail/evidence", rows
        for rows in _parted(self.sentences, lambda row: _held(self.lengths, row[1])):
            yield "trail/sentences", rows
        for start in range(0, len(self.paths), MAX_ROWS):
            yield "trail/paths", self.paths[start : start + MAX_ROWS]


@dataclass(slots=True)
class Parcel:
    """Trails that are written by one statement, and what follows it."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    rests: dict[str, Rest] = field(default_factory=dict)
    room: Room = field(default_factory=Room)

    def only(self, verification_ids: Iterable[str]) -> list[dict[str, Any]]:
        """The rows of some of its verifications."""
        wanted = set(verification_ids)
        return [row for row in self.rows if row["verification_id"] in wanted]


def parcels(verifications: Sequence[Verification]) -> Iterator[Parcel]:
    """Verifications of one process in as few parcels as their sizes allow."""
    parcel = Parcel()
    for verification in verifications:
        lengths = _lengths(verification)
        size = _size(verification, lengths)
        if parcel.rows and not parcel.room.take(*size):
            yield parcel
            parcel = Parcel()
        if not parcel.rows and not parcel.room.take(*size):
            yield _alone(verification, lengths)
            continue
        parcel.rows.append(_row(verification, Room(*size), Rest(lengths=lengths)))
    if parcel.rows:
        yield parcel


def _alone(verification: Verification, lengths: dict[str, int]) -> Parcel:
    """A trail that is too large for one statement."""
    rest = Rest(lengths=lengths)
    row = _row(verification, Room(), rest)
    return Parcel([row], {verification.verification_id: rest})


def _size(verification: Verification, lengths: dict[str, int]) -> tuple[int, int]:
    """Rows and characters of a whole trail."""
    rows = held = 0
    for iteration in verification.iterations:
        rows += len(iteration.checked)
        for found in iteration.summaries:
            rows += 1 + len(found.sentences)
            held += _told(found.text, found.missing)
            held += sum(lengths[cited.node_id] + len(cited.text) for cited in found.sentences)
    return rows + len(verification.paths) + 1, held


def _lengths(verification: Verification) -> dict[str, int]:
    """How long spans are at least, from where the sentences end that are cited from them.

    While it links a sentence, an engine holds the text of the whole span beside every row.
    """
    lengths: dict[str, int] = {}
    for iteration in verification.iterations:
        for found in iteration.summaries:
            for cited in found.sentences:
                end, node_id = cited.end, cited.node_id
                lengths[node_id] = max(lengths.get(node_id, 0), end)
    return lengths


def _row(verification: Verification, room: Room, rest: Rest) -> dict[str, Any]:
    """A verification with as much of its trail as there is room for; the rest goes to `rest`."""
    key = verification.verification_id
    paths: dict[str, list[Row]] = {}  # by their target, which the engine then looks up once
    for path in verification.paths:
        if room.take():
            paths.setdefault(path.target, []).append([path.source, *path_row(path)[2:]])
        else:
            rest.paths.append([key, path_row(path)])
    return {
        "verification_id": key,
        "claim_id": verification.claim_id,
        "properties": verification_row(verification),
        "iterations": [
            _iteration(verification, one, room, rest) for one in verification.iterations
        ],
        "paths": [[target, links] for target, links in paths.items()],
        "steps": [step_row(key, n, step) for n, step in enumerate(verification.steps)],
        "introduced": [node.node_id for node in verification.error_nodes],
        "propagated": [node.node_id for node in verification.propagated_nodes],
    }


def _iteration(
    verification: Verification, iteration: Iteration, room: Room, rest: Rest
) -> dict[str, Any]:
    key = verification.verification_id
    checked = []
    for ref in iteration.checked:
        if room.take():
            checked.append(ref.node_id)
        else:
            rest.checked.append([key, iteration.number, ref.node_id])
    return {
        "properties": iteration_row(key, iteration, verification.indicative),
        "checked": checked,
        "evidence": _evidence(key, iteration, room, rest),
    }


def _evidence(
    verification_id: str, iteration: Iteration, room: Room, rest: Rest
) -> list[dict[str, Any]]:
    here = []
    for place, found in enumerate(iteration.summaries):
        key = evidence_id(verification_id, iteration.number, place)
        properties = evidence_row(key, place, found)
        is_here = room.take(held=_told(found.text, found.missing))
        sentences = []
        for position, cited in enumerate(found.sentences):
            row = sentence_row(position, cited)
            if is_here and room.take(held=_held(rest.lengths, row)):
                sentences.append(row)
            else:
                rest.sentences.append([key, row])
        if is_here:
            here.append({"properties": properties, "sentences": sentences})
        else:
            rest.evidence.append([verification_id, iteration.number, properties])
    return here


def _parted(rows: Iterable[Row], held_by: Callable[[Row], int]) -> Iterator[list[Row]]:
    """Rows in parts that an engine may be made to hold; one that is too long goes alone."""
    room, part = Room(), list[Row]()
    for row in rows:
        held = held_by(row)
        if part and not room.has(held=held):
            yield part
            room, part = Room(), []
        room.take(held=min(held, room.held))
        part.append(row)
    if part:
        yield part


def _told(summary: str, missing: str | None) -> int:
    """Characters of what evidence says by itself."""
    return len(summary) + len(missing or "")


def _held(lengths: dict[str, int], sentence: Row) -> int:
    return lengths[sentence[0]] + len(sentence[4])


def _by_iteration(checked: list[Row]) -> list[Row]:
    """[verification_id, number, [node_ids]] from one row a node."""
    rows: list[Row] = []
    for key, number, node_id in checked:
        if not rows or rows[-1][:2] != [key, number]:
            rows.append([key, number, []])
        rows[-1][2].append(node_id)
    return rows
