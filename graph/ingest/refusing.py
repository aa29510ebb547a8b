"""The refusal of an input that breaks rules: every broken rule, and what may only follow."""

from __future__ import annotations

from collections.abc import Sequence

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InvalidProcess, Violation, first_of_each_kind

MAX_VIOLATIONS_OF_A_KIND = 1_000

_OF_WHAT_IS_MISSING = frozenset(
    {
        "unknown_node",
        "unknown_terminal",
        "no_edges",
        "claim_on_root",
        "claim_without_node",
        "root_stage",
        "unsourced",
    }
)
"""Violations that may only say that a node or an edge is missing."""
_PLACES_NAMED = 3


def refused(violations: Sequence[Violation], unread: Sequence[str] = ()) -> InvalidProcess:
    """The error for an input that breaks rules.

    Args:
        violations: The broken rules.
        unread: Places of nodes and edges that could not be read.
    """
    message = f"The process breaks {counted(len(violations), 'rule')}; nothing was stored"
    if unread and any(one.kind in _OF_WHAT_IS_MISSING for one in violations):
        more = f" and {len(unread) - _PLACES_NAMED:,} more" if len(unread) > _PLACES_NAMED else ""
        places = ", ".join(unread[:_PLACES_NAMED]) + more
        message += f". What seems to be missing may be in {places}, which could not be read"
    return InvalidProcess(message, first_of_each_kind(violations, MAX_VIOLATIONS_OF_A_KIND))
