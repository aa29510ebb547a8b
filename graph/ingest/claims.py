"""The rules of claims: an id, a node that has sources, a text, places in the node's text."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from veritrail_graph.graph.content_hash import derived_claim_id
from veritrail_graph.graph.errors import Violation, shown
from veritrail_graph.graph.importers.records import ClaimRecord
from veritrail_graph.graph.ingest.hidden import HiddenCharacters
from veritrail_graph.graph.ingest.topology import Topology
from veritrail_graph.graph.model import Claim, Verdict
from veritrail_graph.graph.model.canonical import canonical


def check_claims(
    records: Sequence[ClaimRecord],
    topology: Topology,
    lengths: array[int],
    terminals: tuple[str, ...] | None,
) -> tuple[tuple[Claim, ...], list[Violation], list[str]]:
    """Claims with their ids and nodes filled in, what is wrong with them, and warnings.

    Args:
        records: The claims of the input.
        topology: The shape of the process.
        lengths: Length of each node's text in characters, by number.
        terminals: The terminals; None where they are unknown, which breaks no rule of claims.
    """
    names = terminals or ()
    known = terminals is not None and topology.numbers.keys() >= set(names)
    in_degrees = topology.in_degrees()
    claims: dict[str, Claim] = {}
    violations: list[Violation] = []
    warnings: list[str] = []
    for record in records:
        faults = []
        node_id = record.node_id
        if node_id is None and known and len(names) == 1:
            node_id = names[0]
        if node_id is None and not known:
            faults += _text_faults(record)
        elif node_id is None:
            message = f"node_id is missing, and the process has {len(names)} terminals"
            faults += [
                Violation("claim_without_node", record.where, message),
                *_text_faults(record),
            ]
        elif node_id in topology.numbers:
            number = topology.numbers[node_id]
            is_root = topology.is_root(number, in_degrees[number])
            faults += _root_faults(record, node_id) if is_root else []
            faults += claim_faults(record, lengths[number])
        else:
            message = f"no node has the node_id {shown(node_id)}"
            faults += [Violation("unknown_node", record.where, message), *_text_faults(record)]
        violations += faults
        if faults or node_id is None:
            continue
        claim = claim_from(record, node_id, derived_claim_id(node_id, record.text))
        if claim.claim_id not in claims:
            claims[claim.claim_id] = claim
        elif record.claim_id is None and claims[claim.claim_id].text == claim.text:
            warnings.append(f"{record.where}: this claim is repeated; it is kept once")
        else:
            message = f"the claim_id {claim.claim_id!r} is used earlier in the input"
            violations.append(Violation("duplicate_claim_id", record.where, message))
    hidden = HiddenCharacters("claim")
    for claim in claims.values():
        hidden.add(claim.claim_id, "\n".join((claim.text, *claim.sub_claims)))
    return tuple(claims.values()), violations, [*warnings, *hidden.warnings()]


def claim_from(record: ClaimRecord, node_id: str, derived_id: str) -> Claim:
    """A claim whose record keeps every rule."""
    return Claim(
        claim_id=record.claim_id or derived_id,
        text=record.text,
        node_id=node_id,
        start=record.start,
        end=record.end,
        sub_claims=record.sub_claims,
        label=Verdict(record.label) if record.label is not None else None,
        also=record.also,
        origin=record.origin,
        said=record.said,
    )


def claim_faults(record: ClaimRecord, length: int) -> list[Violation]:
    """Return what is wrong with a claim about a node whose text has `length` characters."""
    return [*_text_faults(record), *_offset_faults(record, length)]


def _root_faults(record: ClaimRecord, node_id: str) -> list[Violation]:
    message = f"{shown(node_id)} is a root: it has no sources to check a claim against"
    return [Violation("claim_on_root", record.where, message)]


def _offset_faults(record: ClaimRecord, length: int) -> list[Violation]:
    start, end = record.start, record.end
    if (start is None) != (end is None):
        message = "start and end are given together; one of them is missing"
        return [Violation("single_offset", record.where, message)]
    if start is None or end is None:
        message = "also gives further places of a claim: start and end give the first"
        return [Violation("single_offset", record.where, message)] if record.also else []
    faults = []
    for number, (first, behind) in enumerate([(start, end), *record.also]):
        what = f"also[{number - 1}]: " if number else ""
        if first > behind:
            message = f"{what}start {first} is after end {behind}"
            faults.append(Violation("reversed_offsets", record.where, message))
        elif behind > length:
            message = f"{what}end {behind} is outside the node's text of {length} characters"
            faults.append(Violation("offset_out_of_range", record.where, message))
    return faults


def _text_faults(record: ClaimRecord) -> list[Violation]:
    if not record.text.strip():
        return [Violation("empty_text", record.where, "text is empty")]
    try:
        canonical([record.text, *record.sub_claims])
    except UnicodeEncodeError:
        message = "text contains a lone surrogate, which is not a character and cannot be stored"
        return [Violation("lone_surrogate", record.where, message)]
    return []
