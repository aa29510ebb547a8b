"""Cut the sentences of a frontier into prompts, without writing any prompt.

It is what `verifier.excerpts.pack` does with sentences of equal length, for a hundred thousand
sentences at once; a test holds the two against each other.

Source: VeriTrail 3.1.2, E.2, G (context for cut nodes).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veritrail_eval.simulation.process_shape import Numbers
from veritrail_graph.verifier.excerpts import CONTEXT_SENTENCES

LABEL = AROUND = 4
"""Tokens that packing counts for a block's label, and around a sentence."""


@dataclass(frozen=True, slots=True)
class Packed:
    """Prompts over the sentences of some nodes, which are counted through.

    Attributes:
        bounds: Number of the first sentence of each prompt, and one behind the last.
        blocks: How many blocks all prompts show together.
        context: How many sentences they show as context of cut nodes.
    """

    bounds: Numbers
    blocks: int
    context: int

    @property
    def prompts(self) -> int:
        """Return how many prompts."""
        return len(self.bounds) - 1


def packed(sizes: Numbers, limit: int | None, room: int, tokens: int) -> Packed:
    """Cut nodes of these sizes into prompts.

    Args:
        sizes: Sentences of each node, in order; at least one.
        limit: The most sentences of a prompt; None: as many as there is room for.
        room: The most tokens that the excerpts of a prompt may have.
        tokens: Tokens of a sentence.
    """
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    if total == 0:
        return Packed(np.zeros(1, dtype=np.int64), 0, 0)
    # The most that a prompt of `limit` sentences can take: every sentence a block of its own.
    most = (
        None
        if limit is None
        else limit * (tokens + AROUND + LABEL) + _overhead(CONTEXT_SENTENCES, tokens)
    )
    if limit is not None and most is not None and most <= room:
        bounds = np.append(np.arange(0, total, limit), total)
    else:
        bounds = _greedy(sizes, ends, total, limit, room, tokens)
    begins = ends - sizes
    cuts = bounds[1:-1]
    inside = cuts - begins[np.searchsorted(ends, cuts, side="right")]
    cut = int(np.count_nonzero(inside))
    context = int(np.minimum(inside, CONTEXT_SENTENCES).sum())
    return Packed(bounds, len(sizes) + cut, context)


def _greedy(
    sizes: Numbers, ends: Numbers, total: int, limit: int | None, room: int, tokens: int
) -> Numbers:
    """Prompt by prompt, as many sentences as there is room for."""
    begins, cost = ends - sizes, tokens + AROUND
    spent = ends * cost + LABEL * np.arange(len(ends))  # up to the end of each node, from the first
    bounds = [0]
    while bounds[-1] < total:
        start = bounds[-1]
        node = int(np.searchsorted(ends, start, side="right"))
        context = min(start - int(begins[node]), CONTEXT_SENTENCES)
        left = room - _overhead(context, tokens)
        before = start * cost + LABEL * node
        last = int(np.searchsorted(spent, left + before, side="right"))  # does not fit whole
        end = start + max(0, left // cost) if last == node else int(ends[last - 1])
        if node < last < len(ends):
            end += max(0, (left + before - int(spent[last - 1]) - LABEL) // cost)
        size = min(max(end - start, 1), total - start)
        bounds.append(start + (size if limit is None else min(size, limit)))
    return np.array(bounds, dtype=np.int64)


def _overhead(context: int, tokens: int) -> int:
    return LABEL + context * (tokens + AROUND)
