"""Nodes as they stand in lists, a piece of a node's text, and what of a node was cited.

Source: VeriTrail 2 (nodes, source nodes), VeriTrail 3.2 (traceability).
"""

from __future__ import annotations

from veritrail_graph.graph.model import Role, Verdict
from veritrail_graph.graph.model.listed import CitedSentenceHere, ListedNode, Neighbour
from veritrail_graph.graph.store.database import Row


def listed_from(row: Row) -> ListedNode:
    """A node from a row of a list."""
    node_id, stage, position, role, *others = row
    return ListedNode(node_id, stage, position, Role(role), *others)


def neighbour_from(row: Row) -> Neighbour:
    """A neighbour from a row of a list."""
    node_id, stage, position, role, kind, excerpt = row
    return Neighbour(node_id, stage, position, Role(role), kind, excerpt)


def citation_from(row: Row) -> CitedSentenceHere:
    """A cited sentence from a row."""
    index, text, claim_id, claim, verification_id, verdict, indicative, is_evidence = row
    verdict = Verdict(verdict)
    return CitedSentenceHere(
        index, text, claim_id, claim, verification_id, verdict, bool(indicative), is_evidence
    )
