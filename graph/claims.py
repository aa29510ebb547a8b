"""Claims as an input gives them: the rules that they keep, and their ids and nodes filled in.

Source: VeriTrail 3.1 (claims are extracted from a node that the process produced).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from veritrail_graph.graph.content_hash import canonical, derived_claim_id
from veritrail_graph.graph.errors import Violation
from veritrail_graph.graph.importers.records import ClaimRecord
from veritrail_graph.graph.model import Claim, Verdict
from veritrail_graph.graph.rules import shown
from veritrail_graph.graph.topology import Topology


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
        terminals: The terminals; None where they cannot be told, which is no claim's fault.
    """
    names = terminals or ()
    told = terminals is not None and topology.numbers.keys() >= set(names)
    in_degrees = topology.in_degrees()
    claims: dict[str, Claim] = {}
    violations: list[Violation] = []
    warnings: list[str] = []
    for record in records:
        faults = []
        node_id = record.node_id
        if node_id is None and told and len(names) == 1:
            node_id = names[0]
        if node_id is None and not told:
            faults += _text_faults(record)
        elif node_id is None:
            message = f"node_id is missing, and the process has {len(names)} terminals"
            faults += [
                Violation("claim_without_node", record.where, message),
                *_text_faults(record),
            ]
        elif node_id in topology.numbers:
            number = topology.numbers[node_id]
            faults += _node_faults(record, node_id, in_degrees[number])
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
            warnings.append(f"{record.where}: the same claim stands before; it is kept once")
        else:
            message = f"the claim_id {claim.claim_id!r} stands in the input before"
            violations.append(Violation("duplicate_claim_id", record.where, message))
    return tuple(claims.values()), violations, warnings


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
    )


def claim_faults(record: ClaimRecord, length: int) -> list[Violation]:
    """What is wrong with a claim about a node whose text has `length` characters."""
    return [*_text_faults(record), *_offset_faults(record, length)]


def _node_faults(record: ClaimRecord, node_id: str, in_degree: int) -> list[Violation]:
    if in_degree:
        return []
    message = f"{shown(node_id)} is a root: there is nothing to check it against"
    return [Violation("claim_on_root", record.where, message)]


def _offset_faults(record: ClaimRecord, length: int) -> list[Violation]:
    start, end = record.start, record.end
    if (start is None) != (end is None):
        message = "start and end come together; one of them is missing"
        return [Violation("single_offset", record.where, message)]
    if start is None or end is None:
        message = "also names further places of a claim: start and end name the first"
        return [Violation("single_offset", record.where, message)] if record.also else []
    faults = []
    for number, (first, behind) in enumerate([(start, end), *record.also]):
        what = f"also[{number - 1}]: " if number else ""
        if first > behind:
            message = f"{what}start {first} lies behind end {behind}"
            faults.append(Violation("reversed_offsets", record.where, message))
        elif behind > length:
            message = f"{what}end {behind} lies outside the node's text of {length} characters"
            faults.append(Violation("offset_out_of_range", record.where, message))
    return faults


def _text_faults(record: ClaimRecord) -> list[Violation]:
    if not record.text.strip():
        return [Violation("empty_text", record.where, "text is empty")]
    try:
        canonical([record.text, *record.sub_claims])
    except UnicodeEncodeError:
        message = "text holds a lone surrogate, which is no character and cannot be stored"
        return [Violation("lone_surrogate", record.where, message)]
    return []
