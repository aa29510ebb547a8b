"""Places of claims in the text of their node.

Source: VeriTrail 3.1 (Claimify: each claim comes from a sentence).
"""

from __future__ import annotations

from veritrail_graph.graph.model import Claim


def places(claim: Claim) -> tuple[tuple[int, int], ...]:
    """Where a claim is stated, as (start, end), its own place first."""
    if claim.start is None or claim.end is None:
        return claim.also
    return ((claim.start, claim.end), *claim.also)


def with_places_of(stored: Claim, found: Claim) -> Claim:
    """A stored claim with the places at which it was found and which it lacks.

    A place that it has stays its own; without one, the first that was found becomes its own.
    """
    if stored.node_id != found.node_id:  # offsets count in the text of one node
        return stored
    every = tuple(dict.fromkeys((*places(stored), *places(found))))
    if not every:
        return stored
    (start, end), *also = every
    return stored.replace(start=start, end=end, also=tuple(also))
