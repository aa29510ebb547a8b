"""Claims that are planted in a process, so that it is known what is true of them.

A claim says one or more facts. Each fact of a supported claim comes from a sentence of a source
text and is passed on, node by node, on a shortest way to the verified node; each node of that way
has one sentence that says it. Of an unsupported claim one fact comes up in a node that is no source
text: from there to the verified node every node says it, and nothing before it does.

Source: ours; VeriTrail 3.2 for the stage in which an error is introduced.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from veritrail_eval.simulation.draws import key, uniform
from veritrail_eval.simulation.process_shape import ROOT, Numbers, ProcessShape
from veritrail_graph.graph.errors import InputError


@dataclass(frozen=True, slots=True)
class PlantedClaim:
    """A claim of which everything is known.

    Attributes:
        number: Its number, from 0.
        key: What its draws depend on.
        evidence: Facts by sentence of the process, which is a node and a place in it.
        facts: How many facts it says.
        error_node: Where the error was introduced; None: the claim is supported.
        error_stage: The stage of that node.
    """

    number: int
    key: int
    evidence: dict[tuple[int, int], int]
    facts: int
    error_node: int | None = None
    error_stage: int | None = None
    nodes: Numbers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def is_supported(self) -> bool:
        """Return whether the source text supports it."""
        return self.error_node is None


class Planter:
    """Plants claims in a process.

    Args:
        shape: The process.
        seed: What everything is drawn from.
        facts: How many facts a claim says.
        unsupported: The share of claims with an error.
        error_stages: In which stages errors are introduced, each equally often; empty: in all
            stages with a node that is no source text and went into the verified node.

    Raises:
        InputError: There is no source text below the verified node, or no such stage.
    """

    def __init__(
        self,
        shape: ProcessShape,
        seed: int,
        *,
        facts: int = 1,
        unsupported: float = 0.25,
        error_stages: Sequence[int] = (),
    ) -> None:
        self._shape, self._seed = shape, seed
        self._facts, self._unsupported = facts, unsupported
        reached = np.flatnonzero(shape.distances >= 0)
        is_root = shape.roles[reached] == ROOT
        self._roots, others = reached[is_root], reached[~is_root]
        if not len(self._roots) or shape.roles[shape.node] == ROOT:
            raise InputError(
                f"{shape.name}: nothing can be verified about node {shape.node}: no source text "
                "went into it. Name another node."
            )
        of_others = shape.stages[others]
        self._places = {int(stage): others[of_others == stage] for stage in np.unique(of_others)}
        if error_stages:
            unknown = [stage for stage in error_stages if stage not in self._places]
            if unknown:
                known = ", ".join(map(str, list(self._places)[:20]))
                raise InputError(
                    f"error_stages={unknown[0]}: no node of that stage can bring an error into the "
                    f"verified node. Stages that can: {known}."
                )
            self._places = {stage: self._places[stage] for stage in sorted(set(error_stages))}

    def claim(self, number: int) -> PlantedClaim:
        """The claim of a number; always the same one."""
        of_claim = key(self._seed, 1, number)
        draw = random.Random(of_claim)  # noqa: S311 - nothing secret
        # Claims alternate as evenly as the share says, so that no class is missing by chance.
        is_wrong = int((number + 1) * self._unsupported) > int(number * self._unsupported)
        origin = stage = None
        evidence: dict[tuple[int, int], int] = {}
        if is_wrong:
            stage = draw.choice(list(self._places))
            origin = int(self._places[stage][draw.randrange(len(self._places[stage]))])
        for fact in range(self._facts):
            root = int(self._roots[draw.randrange(len(self._roots))])
            self._pass_on(
                origin if is_wrong and fact == 0 else root, of_claim, fact, evidence, draw
            )
        nodes = np.unique(np.array([node for node, _ in evidence], dtype=np.int64))
        return PlantedClaim(number, of_claim, evidence, self._facts, origin, stage, nodes)

    def _pass_on(
        self,
        node: int | None,
        of_claim: int,
        fact: int,
        evidence: dict[tuple[int, int], int],
        draw: random.Random,
    ) -> None:
        """Put a fact into this node and into those on a shortest way to the verified one."""
        shape = self._shape
        starts, nearer = shape.nearer
        while node is not None and node != shape.node:
            size = int(shape.sentences[node])
            place = int(uniform(key(of_claim, 2, fact), node) * size)
            for _ in range(size):  # another sentence, where this one says another fact
                if (node, place) not in evidence:
                    break
                place = (place + 1) % size
            evidence.setdefault((node, place), fact)
            node = int(nearer[draw.randrange(starts[node], starts[node + 1])])
