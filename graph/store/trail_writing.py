"""Writing trails: many small ones in one statement, a huge one in several.

An engine holds what a statement touches. So a batch is bounded by its rows and by the texts
behind them; what a single huge trail has beyond that follows in statements of its own.

Source: VeriTrail 3.2.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.model import (
    CitedSentence,
    Evidence,
    EvidenceRole,
    Iteration,
    Status,
    StepRecord,
    Verification,
)
from veritrail_graph.graph.model.canonical import canonical
from veritrail_graph.graph.store.citing import (
    Place,
    part_lists,
    place_of,
    said_in,
    sentence_row,
)
from veritrail_graph.graph.store.database import Transaction
from veritrail_graph.graph.store.rows import MOST_HELD, in_words, properties, short

_ERRORS = ("introduced", "offered", "propagated")

MAX_ROWS = 5_000
"""Rows that one statement takes."""

HUGE_ROWS = 50_000
"""Rows of a trail that a transaction takes: an engine holds a whole one in memory."""

CLEARING = (
    "trail/clear_trail",
    "trail/clear_errors",
    "trail/clear_iterations",
    "trail/clear_steps",
)
"""What takes off all that hangs on a verification."""


def write_trails(tx: Transaction, verifications: Sequence[Verification]) -> None:
    """Write verifications with their trails in a transaction, replacing what was there.

    Raises:
        NotFound: A claim is not stored (any more).
    """
    # Of two under one id the later one counts, as if they had come one after the other.
    latest = {one.verification_id: one for one in verifications}
    groups: dict[tuple[str, str | None], list[Verification]] = {}
    for one in latest.values():
        groups.setdefault((one.process_id, one.content_hash), []).append(one)
    for (process_id, content_hash), some in groups.items():
        for batch in trail_batches(some):
            _write(tx, process_id, content_hash, batch)


def _write(tx: Transaction, process_id: str, content_hash: str | None, batch: TrailBatch) -> None:
    _write_rows(tx, process_id, content_hash, batch)
    for rest in batch.rests.values():
        for name, rows in rest.batches():
            tx.run(name, process_id=process_id, rows=rows)
    _link_reused(tx, batch)
    claim_ids = sorted({row["claim_id"] for row in batch.rows})
    tx.run("claims/put_in_force", process_id=process_id, claim_ids=claim_ids)
    batch.rows.clear()  # objects of the driver that refer to each other hold it for a while


def _link_reused(tx: Transaction, batch: TrailBatch) -> None:
    """Link what keeps an earlier verdict to it; what is imported is also linked the other way."""
    reused = [
        [row["verification_id"], row["properties"]["reused_from"]]
        for row in batch.rows
        if row["properties"]["reused_from"] is not None
    ]
    if reused:
        tx.run("trail/link_reused", rows=reused)


def _check_written(process_id: str, written: Mapping[str, bool], row: Mapping[str, Any]) -> None:
    if row["verification_id"] not in written:
        raise NotFound(
            f"Process {process_id!r} or its claim {row['claim_id']!r} was removed or replaced "
            "meanwhile; the verification was not stored."
        )


def _write_rows(
    tx: Transaction, process_id: str, content_hash: str | None, batch: TrailBatch
) -> None:
    ids = {"process_id": process_id, "content_hash": content_hash}
    written: dict[str, bool] = dict(tx.run("trail/write", rows=batch.rows, cleared=False, **ids))
    for row in batch.rows:
        _check_written(process_id, written, row)
    again = [verification_id for verification_id, existed in written.items() if existed]
    if again:
        for verification_id in again:
            for name in CLEARING:
                tx.run(name, verification_id=verification_id)
        tx.run("trail/write", rows=batch.only(again), cleared=True, **ids)


def is_huge(verification: Verification) -> bool:
    """Return whether a trail is too large for one transaction."""
    checked = sum(len(iteration.checked) for iteration in verification.iterations)
    return checked + 2 * len(verification.paths) > HUGE_ROWS


@dataclass(frozen=True, slots=True)
class HugeTrail:
    """A trail in several transactions; until the last one its verification is `running`.

    What a kill leaves is a verification that has not ended, which a resumed run writes again.

    Attributes:
        batch: Its first statement and what follows it.
    """

    batch: TrailBatch
    _verification: Verification

    @classmethod
    def of(cls, verification: Verification) -> HugeTrail:
        """The parts of a verification."""
        return cls(_alone(verification, _lengths(verification)), verification)

    def begin(self, tx: Transaction) -> None:
        """Write as much as one statement takes."""
        running = self._verification.replace(
            status=Status.RUNNING,
            verdict=None,
            error_nodes=(),
            propagated_nodes=(),
            located_by=None,
            value_place=None,
        )
        (row,) = self.batch.rows
        begun = TrailBatch([{**row, "properties": verification_row(running)}])
        _write_rows(tx, *self._where, begun)

    def parts(self) -> Iterator[list[tuple[str, list[Row]]]]:
        """Yield what follows, in parts that a transaction takes."""
        part: list[tuple[str, list[Row]]] = []
        for rest in self.batch.rests.values():
            for statement in rest.batches():
                part.append(statement)
                if len(part) * MAX_ROWS >= HUGE_ROWS:
                    yield part
                    part = []
        if part:
            yield part

    def end(self, tx: Transaction) -> None:
        """Write how it ended, so that it counts."""
        (row,) = self.batch.rows
        empty: dict[str, Row] = {
            name: [] for name in ("trail", "iterations", "links", "ends", "steps", *_ERRORS)
        }
        process_id, content_hash = self._where
        ids = {"process_id": process_id, "content_hash": content_hash}
        _check_written(
            process_id, dict(tx.run("trail/write", rows=[row | empty], cleared=False, **ids)), row
        )
        _link_reused(tx, self.batch)
        tx.run("claims/put_in_force", process_id=process_id, claim_ids=[row["claim_id"]])

    @property
    def _where(self) -> tuple[str, str | None]:
        return self._verification.process_id, self._verification.content_hash


Row = list[Any]


@dataclass(slots=True)
class Capacity:
    """The room that is left in a statement."""

    rows: int = field(default_factory=lambda: MAX_ROWS)
    held: int = MOST_HELD

    def has(self, rows: int = 1, held: int = 0) -> bool:
        """Return whether there is capacity for rows."""
        return self.rows >= rows and self.held >= held

    def take(self, rows: int = 1, held: int = 0) -> bool:
        """Take capacity for rows; False, and nothing taken, where there is not enough."""
        if not self.has(rows, held):
            return False
        self.rows -= rows
        self.held -= held
        return True


@dataclass(slots=True)
class Rest:
    """The rows of a trail that do not fit into its first statement, by the statement for them."""

    nodes: list[Row] = field(default_factory=list)
    links: list[Row] = field(default_factory=list)
    checked: list[Row] = field(default_factory=list)
    evidence: list[Row] = field(default_factory=list)
    sentences: list[Row] = field(default_factory=list)
    lengths: dict[str, int] = field(default_factory=dict)

    def batches(self) -> Iterator[tuple[str, list[Row]]]:
        """Statements and their rows, each within what an engine may be made to hold.

        Nodes of the trail come first: links and sentences need them.
        """
        for start in range(0, len(self.nodes), MAX_ROWS):
            yield "trail/nodes", self.nodes[start : start + MAX_ROWS]
        for start in range(0, len(self.links), MAX_ROWS):
            yield "trail/links", self.links[start : start + MAX_ROWS]
        for rows in _parted(self.checked, lambda row: len(row[2]), MAX_ROWS):
            yield "trail/checked", rows
        for rows in _parted(
            self.evidence, lambda row: _own_length(row[2]["summary"], row[2]["missing"])
        ):
            yield "trail/evidence", rows
        for rows in _parted(self.sentences, lambda row: _held(self.lengths, row[1])):
            yield "trail/sentences", rows


@dataclass(slots=True)
class TrailBatch:
    """Trails that are written by one statement, and what follows it."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    rests: dict[str, Rest] = field(default_factory=dict)
    capacity: Capacity = field(default_factory=Capacity)

    def only(self, verification_ids: Iterable[str]) -> list[dict[str, Any]]:
        """The rows of some of its verifications."""
        named = set(verification_ids)
        return [row for row in self.rows if row["verification_id"] in named]


def trail_batches(verifications: Sequence[Verification]) -> Iterator[TrailBatch]:
    """Verifications of one process in as few batchs as their sizes allow."""
    batch = TrailBatch()
    for verification in verifications:
        lengths = _lengths(verification)
        size = _size(verification, lengths)
        if batch.rows and not batch.capacity.take(*size):
            yield batch
            batch = TrailBatch()
        if not batch.rows and not batch.capacity.take(*size):
            yield _alone(verification, lengths)
            continue
        batch.rows.append(_row(verification, Capacity(*size), Rest(lengths=lengths)))
    if batch.rows:
        yield batch


def _alone(verification: Verification, lengths: dict[str, int]) -> TrailBatch:
    """A trail that is too large for one statement."""
    rest = Rest(lengths=lengths)
    row = _row(verification, Capacity(), rest)
    return TrailBatch([row], {verification.verification_id: rest})


def _size(verification: Verification, lengths: dict[str, int]) -> tuple[int, int]:
    """Rows and characters of a whole trail."""
    rows = held = 0
    for iteration in verification.iterations:
        rows += len(iteration.checked)
        held += sum(_own_length(one.text, one.missing) for one in iteration.judged)
        held += sum(len(cited.text) for one in iteration.judged for cited in one.sentences)
        for found in iteration.summaries:
            rows += 1 + len(found.sentences)
            held += _own_length(found.text, found.missing)
            held += sum(lengths[cited.node_id] + len(cited.text) for cited in found.sentences)
    return rows + 2 * len(verification.paths) + 1, held  # of every source of paths a node


def _lengths(verification: Verification) -> dict[str, int]:
    """Return how long spans are at least, from where the sentences end that are cited from them.

    While it links a sentence, an engine holds the text of the whole span beside every row.
    """
    lengths: dict[str, int] = {}
    for iteration in verification.iterations:
        for found in iteration.summaries:
            for cited in found.sentences:
                end, node_id = cited.end, cited.node_id
                lengths[node_id] = max(lengths.get(node_id, 0), end)
    return lengths


def _row(verification: Verification, capacity: Capacity, rest: Rest) -> dict[str, Any]:
    """A verification with as much of its trail as fits; the rest goes to `rest`."""
    key = verification.verification_id
    trail = _trail(verification)
    here: set[str] = set()  # spans whose node of the trail the first statement writes
    nodes: list[Row] = []
    for name, node in trail.items():
        if capacity.take():
            here.add(name)
            nodes.append(node)
        else:
            rest.nodes.append([key, node])
    links: dict[str, list[Row]] = {}  # by their target, which the engine then looks up once
    ends: list[Row] = []
    for path in verification.paths:
        source, target, via = path.source, path.target, list(path.via)
        is_last = target == verification.node_id
        if not (source in here and (is_last or target in here) and capacity.take()):
            rest.links.append([key, source, None if is_last else target, via])
        elif is_last:
            ends.append([source, via])
        else:
            links.setdefault(target, []).append([source, via])
    citing = _Citing(key, here, set(trail), capacity, rest, said_in(verification))
    return {
        "verification_id": key,
        "claim_id": verification.claim_id,
        "properties": verification_row(verification),
        "trail": nodes,
        "links": [[target, some] for target, some in links.items()],
        "ends": ends,
        "iterations": [_iteration(verification, one, citing) for one in verification.iterations],
        "steps": [step_row(key, n, step) for n, step in enumerate(verification.steps)],
        "introduced": error_rows(verification, [node.node_id for node in verification.error_nodes]),
        "offered": error_rows(verification, offered_nodes(verification)),
        "propagated": [node.node_id for node in verification.propagated_nodes],
    }


def _trail(verification: Verification) -> dict[str, Row]:
    """Nodes of the trail by span: [node_id, iteration, caption], in the order of the paths."""
    found_in: dict[str, int] = {}
    captions: dict[str, str] = {}
    for iteration in verification.iterations:
        for cited in (one for found in iteration.summaries for one in found.sentences):
            found_in.setdefault(cited.node_id, iteration.number)
            if cited.role is EvidenceRole.EVIDENCE:
                captions.setdefault(cited.node_id, short(cited.text or cited.node_id))
    found_in.update((path.source, path.iteration) for path in reversed(verification.paths))
    names = dict.fromkeys(path.source for path in verification.paths)
    names |= dict.fromkeys(path.target for path in verification.paths)
    if all(path.source != verification.node_id for path in verification.paths):
        names.pop(verification.node_id, None)  # the verification itself is the end
    return {name: [name, found_in.get(name), captions.get(name, short(name))] for name in names}


@dataclass(slots=True)
class _Citing:
    """The place of sentences of a trail: in its first statement, or in what follows.

    Attributes:
        key: The verification.
        here: Spans whose node of the trail the first statement writes.
        trail: All spans in the trail.
        capacity: The room in the first statement.
        rest: What does not fit.
        said: What each sentence says in the whole trail, where a judge said it.
        cited: Places of the sentences that a node of the trail cites already.
    """

    key: str
    here: set[str]
    trail: set[str]
    capacity: Capacity
    rest: Rest
    said: Mapping[Place, str]
    cited: set[Place] = field(default_factory=set)

    def row(self, position: int, cited: CitedSentence) -> Row:
        """A cited sentence, and whether the node of the trail cites it: evidence, and once."""
        place = place_of(cited)
        is_first = (
            cited.role is EvidenceRole.EVIDENCE
            and cited.node_id in self.trail
            and place not in self.cited
        )
        if is_first:
            self.cited.add(place)
        return [*sentence_row(position, cited), self.said.get(place), is_first]


def _iteration(verification: Verification, iteration: Iteration, citing: _Citing) -> dict[str, Any]:
    key, rest = citing.key, citing.rest
    checked: list[str] = []
    left: list[str] = []
    for ref in iteration.checked:
        (checked if citing.capacity.take() else left).append(ref.node_id)
    parts = (left[start : start + MAX_ROWS] for start in range(0, len(left), MAX_ROWS))
    rest.checked += [[key, iteration.number, part] for part in parts]
    return {
        "properties": {
            **iteration_row(key, iteration, verification.indicative),
            # Only of the content that is stored: of another one it is not known today.
            "frontier_hash": frontier_hash(iteration) if verification.content_hash else None,
        },
        "checked": checked,
        "evidence": _evidence(iteration, citing),
    }


def _evidence(iteration: Iteration, citing: _Citing) -> list[dict[str, Any]]:
    here = []
    capacity, rest = citing.capacity, citing.rest
    for place, found in enumerate(iteration.summaries):
        key = evidence_id(citing.key, iteration.number, place)
        properties = evidence_row(key, place, found)
        is_here = capacity.take(held=_own_length(found.text, found.missing))
        sentences = []
        for position, cited in enumerate(found.sentences):
            row = citing.row(position, cited)
            has_node = not row[-1] or cited.node_id in citing.here
            if is_here and has_node and capacity.take(held=_held(rest.lengths, row)):
                sentences.append(row)
            else:
                rest.sentences.append([key, row, citing.key])
        if is_here:
            here.append({"properties": properties, "sentences": sentences})
        else:
            rest.evidence.append([citing.key, iteration.number, properties])
    return here


def _parted(
    rows: Iterable[Row], held_by: Callable[[Row], int], most: int = MOST_HELD
) -> Iterator[list[Row]]:
    """Rows in parts that an engine may be made to hold; one that is too long goes alone."""
    capacity, part = Capacity(held=most), list[Row]()
    for row in rows:
        held = held_by(row)
        if part and not capacity.has(held=held):
            yield part
            capacity, part = Capacity(held=most), []
        capacity.take(held=min(held, capacity.held))
        part.append(row)
    if part:
        yield part


def _own_length(summary: str, missing: str | None) -> int:
    """Characters of the text of evidence."""
    return len(summary) + len(missing or "")


def _held(lengths: dict[str, int], sentence: Row) -> int:
    return lengths[sentence[0]] + len(sentence[4])


def verification_caption(verification: Verification) -> str:
    """Return what came of a verification, in words: its verdict or, without one, its status."""
    if verification.verdict is None:
        return verification.status.value.replace("_", " ").capitalize()
    return in_words(verification.verdict, verification.indicative)


def verification_row(verification: Verification) -> dict[str, Any]:
    """Properties of a verification; what it found are nodes of their own."""
    return {
        **properties(verification, IN_NODES),
        **part_lists(verification.parts),
        "value_place": value_place_text(verification),
        "appeals": appeals_text(verification),
        "error_stages": list(verification.error_stages),
        "caption": verification_caption(verification),
        "place": verification.place,
    }


IN_NODES = {
    "iterations": True, "paths": True, "steps": True, "error_nodes": True, "propagated_nodes": True,
    "place": True, "value_place": True, "appeals": True, "parts": True,
}  # fmt: skip
"""What of a verification the graph keeps as nodes and relationships; the place comes last."""


def iteration_row(verification_id: str, iteration: Iteration, indicative: bool) -> dict[str, Any]:
    """Properties of an iteration of a verification that is indicative, or is not."""
    leave_out = {"checked": True, "evidence": True, "summaries": True, "usage": True}
    leave_out |= {"judged": True, "parts": True}
    return {
        "verification_id": verification_id,
        **properties(iteration, leave_out),
        **part_lists(iteration.parts),
        "judged": judged_text(iteration),
        "checked_count": len(iteration.checked),
        "evidence_count": sum(len(found.sentences) for found in iteration.summaries),
        # Enough to read a carried root back without another look at the process.
        "carried_places": [
            value for root in iteration.carried_roots for value in (root.stage, root.position)
        ],
        "caption": f"{iteration.number}: {_interim(iteration, indicative)}",
    }


def frontier_hash(iteration: Iteration) -> str:
    """Hash of what decides how a prompt shows the nodes of an iteration, their texts left aside.

    Those are their ids in their order and whether each is a root; of roots also their places,
    which decide their order among the roots of other iterations. It is that of `canonical` of a
    list of them, which is made part by part: whole it takes a third of a kilobyte a node.
    """
    total = hashlib.sha256(b"[")
    for start in range(0, len(iteration.checked), MAX_ROWS):
        shown = [
            [ref.node_id, *([ref.stage, ref.position] if ref.is_root else [])]
            for ref in iteration.checked[start : start + MAX_ROWS]
        ]
        total.update((b"," if start else b"") + canonical(shown)[1:-1])
    total.update(b"]")
    return total.hexdigest()


def judged_text(iteration: Iteration) -> str | None:
    """Return what the verdict saw after reruns, as JSON text; None: what was selected first."""
    if not iteration.judged:
        return None
    return json.dumps([one.json_object() for one in iteration.judged], ensure_ascii=False)


def value_place_text(verification: Verification) -> str | None:
    """Return the place of a value, with its two sentences, as JSON text; None without a place."""
    place = verification.value_place
    return None if place is None else json.dumps(place.json_object(), ensure_ascii=False)


def appeals_text(verification: Verification) -> str | None:
    """The cited sentences that speak to their reader, as JSON text; None: there are none."""
    found = [one.json_object() for one in verification.appeals]
    return json.dumps(found, ensure_ascii=False) if found else None


def offered_nodes(verification: Verification) -> tuple[str, ...]:
    """The nodes at which a value came in, where a model's verdicts tell no place."""
    offered = verification.offered_place
    return () if offered is None else offered.node_ids


def error_rows(verification: Verification, names: Sequence[str]) -> list[Row]:
    """Return the places of an error: [node_id, properties], with both values where they came in."""
    place = verification.value_place
    values = {} if place is None else place.difference.json_object()
    at = () if place is None else place.node_ids
    by = verification.located_by
    return [
        [
            name,
            {
                "position": n,
                "located_by": None if by is None else by.value,
                **(values if name in at else {}),
            },
        ]
        for n, name in enumerate(names)
    ]


def _interim(iteration: Iteration, indicative: bool) -> str:
    if iteration.verdict is None:
        return Status.UNDECIDED.value.capitalize()
    return in_words(iteration.verdict, indicative)


def step_row(verification_id: str, position: int, step: StepRecord) -> dict[str, Any]:
    """Properties of a step, with its place among those of its verification."""
    return {
        "verification_id": verification_id,
        "position": position,
        **properties(step),
        "caption": short(f"{step.iteration}: {step.step}"),
    }


def evidence_id(verification_id: str, number: int, position: int) -> str:
    """The key of evidence: its place among that of an iteration."""
    return f"{verification_id}/{number}/{position}"


def evidence_row(key: str, position: int, found: Evidence) -> dict[str, Any]:
    """Properties of evidence."""
    return {
        "evidence_id": key,
        "position": position,
        "summary": found.text,
        "missing": found.missing,
        "caption": short(found.text or "Evidence"),
    }
