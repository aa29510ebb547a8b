"""The refusal of an input that breaks rules: every broken rule, and what was not checked.

Source: ours (docs/adr/0048-faults-that-follow.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

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
"""Violations that say that a node or an edge is missing; one that could not be read may be it."""
_PLACES_NAMED = 3


def refused(violations: Iterable[Violation], unread: Collection[str] = ()) -> InvalidProcess:
    """The error for an input that breaks rules.

    Args:
        violations: The broken rules.
        unread: Places of nodes and edges that could not be read: what only follows from that is
            left out.
    """
    facts = [one for one in violations if not unread or one.kind not in _OF_WHAT_IS_MISSING]
    message = f"The process breaks {counted(len(facts), 'rule')}; nothing was stored"
    if unread:
        places = ", ".join([*unread][:_PLACES_NAMED])
        more = len(unread) - _PLACES_NAMED
        places += f" and {more:,} more" if more > 0 else ""
        they = "it" if len(unread) == 1 else "they"
        message += f". What depends on {places} was not checked, as {they} could not be read"
    return InvalidProcess(message, first_of_each_kind(facts, MAX_VIOLATIONS_OF_A_KIND))
