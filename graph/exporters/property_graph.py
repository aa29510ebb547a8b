"""A stored process as labelled nodes and typed relationships, with keys that people know.

GraphML, the Cypher script and the files for `neo4j-admin` are three spellings of this stream.

Source: VeriTrail 2, 3.2; the labels are ours (docs/data-model.md).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.schema import RELATIONSHIPS, RelationshipType
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.export import StoredProcess, TrailParts
from veritrail_graph.graph.store.rows import Properties

Key = str | tuple[Any, ...]
"""A node's key among those of its label; see `graph.schema`."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """Some nodes of one label, as key and properties."""

    label: str
    rows: Sequence[tuple[Key, Properties]]


@dataclass(frozen=True, slots=True)
class Relationships:
    """Some relationships of one type, as keys of both ends and properties.

    Attributes:
        type: The type.
        rows: Keys of both ends and properties of each.
        ends: Labels of both ends, where the type has several.
    """

    type: str
    rows: Sequence[tuple[Key, Key, Properties]]
    ends: tuple[str, str] | None = None

    @property
    def kind(self) -> RelationshipType:
        """The relationship of the data model that they are."""
        return next(
            one
            for one in RELATIONSHIPS
            if one.type == self.type and self.ends in {None, (one.source, one.target)}
        )


Part = Nodes | Relationships


async def parts(store: Store, stored: StoredProcess) -> AsyncIterator[Part]:
    """Everything that is stored of a process; nodes come before what leads to them."""
    yield Nodes("Process", [(stored.process_id, stored.properties)])
    # Before all that they lead to: a review that is stored meanwhile is left out completely.
    reviews = [one async for page in stored.reviews() for one in page]
    async for spans in stored.spans():
        yield Nodes("Span", [(span["node_id"], span) for span in spans])
    ids = stored.ids
    outputs = stored.properties["terminals"]
    yield Relationships("HAS_FINAL_OUTPUT", [(stored.process_id, name, {}) for name in outputs])
    async for edges in stored.edges():
        yield Relationships(
            "INPUT_TO",
            [(ids[source], ids[target], facts.given) for source, target, facts in edges],
        )
    async for claims in stored.claims():
        yield Nodes("Claim", [(claim["claim_id"], claim) for claim in claims])
        yield Relationships(
            "EXTRACTED_FROM", [(claim["claim_id"], claim["node_id"], {}) for claim in claims]
        )
    async for page in stored.extractions():
        keys = [(one["node_id"], one["position"]) for one in page]
        yield Nodes("Extraction", list(zip(keys, page, strict=True)))
        yield Relationships("EXTRACTION_OF", [(key, key[0], {}) for key in keys])
    # Before the sentences: citations of a trail that is stored meanwhile are left out completely.
    names = await store.trails.all_ids(stored.process_id)
    names.reverse()
    async for page in stored.sentences():
        places = [(one["node_id"], one["index"], one["start"], one["end"]) for one in page]
        yield Nodes("Sentence", list(zip(places, page, strict=True)))
        yield Relationships("SENTENCE_OF", [(place, place[0], {}) for place in places])
    async for found in stored.attributions():
        yield Relationships("ATTRIBUTED_TO", found)
    async for page in stored.revisions():
        keys = [(one["revision_id"], one) for one in page]
        yield Nodes("Revision", keys)
        yield Relationships("REVISES", [(key, _sentence(one), {}) for key, one in keys])
    async for turns, judged in stored.turns():
        for part in turn_parts(turns, judged):
            if part.rows:
                yield part
    async for contradicting in stored.contradictions():
        yield Relationships("CONTRADICTS", contradicting)
    kept: list[tuple[Key, Key, Properties]] = []
    async for trails in stored.trails(names):
        for part in trail_parts(trails):
            if part.rows:
                yield part
        reused = [(one["verification_id"], one.get("reused_from")) for one in trails.verifications]
        kept += [(key, earlier, {}) for key, earlier in reused if earlier]
    own = set(names)  # a link leads to what is in the same file
    if within := [row for row in kept if row[1] in own]:
        yield Relationships("REUSED_FROM", within)
    for part in review_parts(reviews):
        if part.rows:
            yield part


_CITED_AS = ("role", "position", "says", "part", "sides")
"""The properties of a citation by evidence, in the order of its row."""


def trail_parts(trails: TrailParts) -> Iterator[Part]:
    """Verifications with everything that hangs on them."""
    headers = [(one["verification_id"], one) for one in trails.verifications]
    yield Nodes("Verification", headers)
    yield Relationships("VERIFIES", [(key, one["claim_id"], {}) for key, one in headers])
    yield Relationships("IN_FORCE", [(claim_id, key, {}) for claim_id, key in trails.in_force])
    rounds = [(_round(one), one, checked) for one, checked in trails.iterations]
    yield Nodes("Iteration", [(key, one) for key, one, _ in rounds])
    yield Relationships("HAS_ITERATION", [(key[0], key, {}) for key, _, _ in rounds])
    yield Relationships("CHECKED", [(key, node, {}) for key, _, nodes in rounds for node in nodes])
    evidence = trails.evidence
    yield Nodes("Evidence", [(one["evidence_id"], one) for _, _, one, _ in evidence])
    yield Relationships(
        "FOUND", [((name, number), one["evidence_id"], {}) for name, number, one, _ in evidence]
    )
    yield Relationships(
        "CITES",
        [
            (one["evidence_id"], tuple(row[:4]), dict(zip(_CITED_AS, row[4:], strict=True)))
            for _, _, one, cited in evidence
            for row in sorted(cited, key=lambda row: (row[5] is None, row[5]))
            if row[0] is not None
        ],
    )
    steps = [((one["verification_id"], one["position"]), one) for one in trails.steps]
    yield Nodes("Step", steps)
    yield Relationships("TOOK", [(key[0], key, {}) for key, _ in steps])
    yield from _trail_parts(trails)
    for kind in ("ERROR_INTRODUCED_AT", "ERROR_OFFERED_AT", "ERROR_PROPAGATED_THROUGH"):
        yield Relationships(
            kind, [(name, node, one) for name, type_, node, one in trails.errors if type_ == kind]
        )


def _trail_parts(trails: TrailParts) -> Iterator[Part]:
    """The evidence trails: their nodes, what these cite, and how they lead to the verification."""
    nodes = [((one["verification_id"], one["node_id"]), one, cited) for one, cited in trails.trail]
    yield Nodes("TrailNode", [(key, one) for key, one, _ in nodes])
    yield Relationships("AT", [(key, key[1], {}) for key, _, _ in nodes])
    cites: list[tuple[Key, Key, Properties]] = [
        (key, tuple(place), {"says": says})
        for key, _, cited in nodes
        for *place, says in sorted(cited, key=lambda row: row[:4])
    ]
    yield Relationships("CITES", cites, ("TrailNode", "Sentence"))
    within: list[tuple[Key, Key, Properties]] = []
    last: list[tuple[Key, Key, Properties]] = []
    for name, source, target, one in trails.links:
        if target is None:
            last.append(((name, source), name, one))
        else:
            within.append(((name, source), (name, target), one))
    yield Relationships("LEADS_TO", within, ("TrailNode", "TrailNode"))
    yield Relationships("LEADS_TO", last, ("TrailNode", "Verification"))


def turn_parts(
    turns: Sequence[Properties], judged: Sequence[tuple[Properties, Sequence[tuple[int, str]]]]
) -> Iterator[Part]:
    """Yield what was found of turns, with the verifications of their claims."""
    keys = [((one["node_id"], one["run_id"]), one) for one in turns]
    yield Nodes("TurnVerification", keys)
    yield Relationships("OF_TURN", [(key, key[0], {}) for key, _ in keys])
    headers = [(one["verification_id"], one) for one, _ in judged]
    yield Nodes("Verification", headers)
    yield Relationships("VERIFIES", [(key, one["claim_id"], {}) for key, one in headers])
    yield Relationships(
        "PART_OF", [(key, (one["node_id"], one["run_id"]), {}) for key, one in headers]
    )
    yield Relationships(
        "COMPARED_WITH",
        [
            (one["verification_id"], name, {"position": place})
            for one, compared in judged
            for place, name in compared
        ],
    )


def review_parts(reviews: Sequence[Properties]) -> Iterator[Part]:
    """Reviews with the claims and the verifications that they are about."""
    keys = [(one["review_id"], one) for one in reviews]
    yield Nodes("Review", keys)
    yield Relationships("REVIEWS", [(key, one["claim_id"], {}) for key, one in keys])
    considered = [(key, one.get("verification_id")) for key, one in keys]
    yield Relationships("CONSIDERS", [(key, name, {}) for key, name in considered if name])


def _sentence(properties: Properties) -> Key:
    """The key of the sentence that a wording was proposed for."""
    return tuple(properties[name] for name in ("node_id", "index", "start", "end"))


def _round(properties: Properties) -> tuple[str, int]:
    return properties["verification_id"], properties["number"]


def counts_of(kinds: dict[str, int], part: Part) -> None:
    """Add what a part holds to the numbers by label and type."""
    name = part.label if isinstance(part, Nodes) else part.type
    kinds[name] = kinds.get(name, 0) + len(part.rows)
