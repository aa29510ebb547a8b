"""The finding of a verification: where it went wrong, and the two sentences that show it.

Source: VeriTrail 3.2 (error localization); docs/adr/0066-check.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from veritrail_graph.graph.evidence_nodes import evidence_nodes
from veritrail_graph.graph.evidence_pair import (
    MOST_CHARACTERS,
    EvidencePair,
    SelectedSentence,
    compared_pair,
    evidence_pair,
)
from veritrail_graph.graph.model import (
    Claim,
    MarkedSentence,
    ValueDifference,
    ValuePlace,
    Verdict,
    Verification,
)
from veritrail_graph.graph.model.finding import FailedPart, Finding, FindingNode, FindingQuote
from veritrail_graph.graph.model.nodes import Node
from veritrail_graph.graph.model.part import FAILED
from veritrail_graph.graph.word_diff import Piece

_NAMES = ("title", "name", "tool")
"""Keys of metadata that say what people call a node."""
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    """The facts of a process beside its verifications.

    Attributes:
        nodes: Nodes by node_id.
        stage_names: What the input calls the stages.
        claims: Claims by claim_id, with their places.
    """

    nodes: Mapping[str, Node] = field(default_factory=dict)
    stage_names: Mapping[int, str] = field(default_factory=dict)
    claims: Mapping[str, Claim] = field(default_factory=dict)

    def node(self, node_id: str, stage: int | None = None) -> FindingNode:
        """Return what a finding says of a node."""
        return FindingNode(**self._about(node_id, stage))

    def quote(
        self,
        node_id: str,
        text: str,
        marked: Sequence[tuple[int, int]] = (),
        *,
        stage: int | None = None,
        sentence: int | None = None,
        start: int | None = None,
        end: int | None = None,
    ) -> FindingQuote:
        """Return a sentence of a node."""
        return FindingQuote(
            **self._about(node_id, stage),
            sentence=sentence,
            start=start,
            end=end,
            text=text,
            marked=tuple(marked),
        )

    def _about(self, node_id: str, stage: int | None) -> dict[str, Any]:
        node = self.nodes.get(node_id)
        stage = node.stage if node is not None else stage
        return {
            "node_id": node_id,
            "name": node_name(node) if node is not None else node_id,
            "stage": stage,
            "stage_name": self.stage_names.get(stage) if stage is not None else None,
            "step": node.step if node is not None else None,
            "model": node.model if node is not None else None,
        }


def node_name(node: Node) -> str:
    """Return what people call a node: its title or name, else its id."""
    return name_in(node.metadata) or node.node_id


def name_in(metadata: object) -> str | None:
    """Return the title or name that metadata of a node hold; None: they hold none."""
    if not isinstance(metadata, Mapping):
        return None
    for key in _NAMES:
        name = metadata.get(key)
        if isinstance(name, str) and name.strip():
            return " ".join(name.split())[:_LONGEST_NAME]
    return None


def nodes_of_findings(found: Iterable[Verification]) -> list[str]:
    """Return the ids of the nodes that the findings of verifications name, each once."""
    names: dict[str, None] = {}
    for one in found:
        names[one.node_id] = None
        if one.value_place is not None:
            names.update(dict.fromkeys(one.value_place.named))
        names.update((ref.node_id, None) for ref in (*one.error_nodes, *one.propagated_nodes))
        pair = evidence_pair(one, evidence_nodes(one))
        if pair is not None and pair.source is not None:
            names[pair.source.node.node_id] = None
    return list(names)


def finding_of(one: Verification, facts: ProcessFacts) -> Finding:
    """Return the finding of a verification of a claim that is not supported."""
    place = one.value_place
    by_value = place is not None and (
        not one.error_nodes or {ref.node_id for ref in one.error_nodes} == set(place.node_ids)
    )
    if place is not None and by_value:
        introduced, carried = place.node_ids, place.carried_on
        source, wrote, difference = _by_value(place, facts)
    else:
        introduced = tuple(ref.node_id for ref in one.error_nodes)
        carried = tuple(ref.node_id for ref in one.propagated_nodes)
        source, wrote, difference = _by_evidence(one, facts)
    nodes = tuple(facts.node(name) for name in introduced)
    return Finding(
        process_id=one.process_id,
        claim_id=one.claim_id,
        claim=one.claim,
        verdict=one.verdict,
        verification_id=one.verification_id,
        located_by=one.located_by,
        culprit=nodes[0] if len(nodes) == 1 else None,
        candidates=nodes if len(nodes) > 1 else (),
        source=source,
        wrote=wrote,
        difference=difference,
        carried_on=tuple(facts.node(name) for name in carried if name not in introduced),
        reasoning=one.reasoning,
        failed_parts=_failed(one),
        correction=one.correction,
    )


def _failed(one: Verification) -> tuple[FailedPart, ...]:
    return tuple(
        FailedPart(text=one.part_text(part.part), verdict=part.verdict, reason=part.reason)
        for part in one.parts
        if part.verdict in FAILED
    )


_Sides = tuple[FindingQuote | None, FindingQuote | None, ValueDifference | None]


def _by_value(place: ValuePlace, facts: ProcessFacts) -> _Sides:
    return _marked(place.source, facts), _marked(place.wrote, facts), place.difference


def _marked(said: MarkedSentence, facts: ProcessFacts) -> FindingQuote:
    return facts.quote(
        said.node_id,
        said.text,
        said.marked,
        stage=said.stage,
        sentence=said.sentence,
        start=said.start,
        end=said.end,
    )


def _by_evidence(one: Verification, facts: ProcessFacts) -> _Sides:
    """The pair that the evidence of the walk gives; of an answer at fault, the claim itself."""
    pair = evidence_pair(one, evidence_nodes(one))
    if pair is None:
        said = one.is_unsaid or one.is_saying_open
        return None, None if said else _claim_itself(one, facts, one.claim, ()), None
    written = pair.written.text if pair.written is not None else one.claim
    marks: tuple[tuple[Piece, ...], tuple[Piece, ...]] = ((), ())
    difference = None
    if pair.source is not None and one.verdict is Verdict.NOT_FULLY_SUPPORTED:
        said_before = pair.source.cited.text
        if max(len(said_before), len(written)) <= MOST_CHARACTERS:
            compared = compared_pair(said_before, written, one.claim)
            marks = compared.source, compared.wrote
            if compared.changes is not None and len(compared.changes) == 1:
                (change,) = compared.changes
                difference = ValueDifference(source=change.before, wrote=change.after)
    source = None
    if pair.source is not None:
        source = _selected(pair.source, facts, places_of(marks[0]))
    return source, _wrote(one, pair, facts, written, places_of(marks[1])), difference


def _wrote(
    one: Verification,
    pair: EvidencePair,
    facts: ProcessFacts,
    text: str,
    marked: Sequence[tuple[int, int]],
) -> FindingQuote:
    if pair.wrote is not None:
        return _selected(pair.wrote, facts, marked)
    return _claim_itself(one, facts, text, marked)


def _claim_itself(
    one: Verification, facts: ProcessFacts, text: str, marked: Sequence[tuple[int, int]]
) -> FindingQuote:
    claim = facts.claims.get(one.claim_id)
    start, end = (claim.start, claim.end) if claim is not None else (None, None)
    return facts.quote(one.node_id, text, marked, start=start, end=end)


def _selected(
    said: SelectedSentence, facts: ProcessFacts, marked: Sequence[tuple[int, int]]
) -> FindingQuote:
    return facts.quote(
        said.node.node_id,
        said.cited.text,
        marked,
        stage=said.node.ref.stage,
        sentence=said.cited.sentence,
        start=said.cited.start,
        end=said.cited.end,
    )


def places_of(pieces: Iterable[Piece]) -> list[tuple[int, int]]:
    """Return the places of the changed pieces in the text that all pieces make."""
    found, here = [], 0
    for one in pieces:
        if one.is_changed:
            found.append((here, here + len(one.text)))
        here += len(one.text)
    return found
