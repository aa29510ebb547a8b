"""The edges of a process of the shape of the paper's GraphRAG runs, as arrays.

The stages are chunks, extracted entities and relationships, summarized ones, community reports,
map-level answers, and final answers.

Source: VeriTrail B.2.1 (stages and their node counts); how the edges lie is ours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

STAGE_NODES = (3_199, 95_465, 11_974, 3_650, 107, 1)
NODES, EDGES = sum(STAGE_NODES), 309_061


def stage_edges(
    stages: Sequence[int], edges: int, stage: int
) -> list[tuple[int, Numbers, Numbers]]:
    """The edges into the nodes of one stage.

    Args:
        stages: How many nodes each of the six stages has, roots first.
        edges: How many edges the whole has; community reports take what the others leave.
        stage: Which one, from 1; stage 0 are the roots.

    Returns:
        (source stage, places of the sources, places of the targets) in the order in which the
        sources of one target follow each other.
    """
    chunks, extractions, descriptions, reports, answers, finals = stages
    everything = np.arange(extractions, dtype=np.int64)
    merged = everything[everything % 10 < 7]
    single = everything[everything % 10 >= 7]
    if stage == 1:  # every extraction comes from one chunk
        return [(0, everything * chunks // extractions, everything)]
    if stage == 2:  # what several chunks say of one thing is merged
        return [(1, merged, np.arange(len(merged)) % descriptions)]
    if stage == 3:  # communities overlap: the levels of a hierarchy
        taken = extractions + len(merged) + len(single) + reports + answers
        wanted = max(0, min(edges - taken, descriptions * reports))
        level, place = np.divmod(np.arange(wanted, dtype=np.int64), descriptions)
        return [
            (1, single, np.arange(len(single)) % reports),
            (2, place, (place * 7_919 + level) % reports),
        ]
    if stage == 4:
        place = np.arange(reports, dtype=np.int64)
        return [(3, place, place * answers // reports)]
    place = np.arange(answers, dtype=np.int64)  # one, up to the paper's size; larger ones have more
    return [(4, place, place * finals // answers)]
