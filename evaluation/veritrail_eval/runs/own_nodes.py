"""The nodes of one answer among several that were made from one index.

Source: VeriTrail B.2.1 (each question has a graph of its own: the index, and what the query made),
D (the share of its nodes that claims are verified against).
"""

from __future__ import annotations

from collections import Counter

from veritrail_graph.verifier.held_process import HeldProcess

_SEVERAL = ""
"""Stands for more than one answer; no node has this id."""


class OwnNodes:
    """Counts the nodes of each answer of a process: the index, and what leads to it alone.

    The index ends at the highest stage of a node that leads to several answers.
    """

    def __init__(self, process: HeldProcess) -> None:
        self._process = process
        self._answer = _answer_of_each(process) if len(process.survey.terminals) > 1 else {}
        shared = [name for name, answer in self._answer.items() if answer == _SEVERAL]
        top = max((process.by_id[name].known_stage for name in shared), default=None)
        self._above = Counter(
            answer
            for name, answer in self._answer.items()
            if (top is None or process.by_id[name].known_stage > top)
            and not process.by_id[name].is_root
        )

    def of(self, node_id: str | None) -> int:
        """The number of nodes of the answer that a claim is about."""
        every = len(self._process.nodes)
        if not self._answer:
            return every
        own = self._answer.get(self._process.node_of(node_id).node_id, _SEVERAL)
        others = sum(count for answer, count in self._above.items() if answer != own)
        return every - others if own != _SEVERAL else every - sum(self._above.values())


def _answer_of_each(process: HeldProcess) -> dict[str, str]:
    """The terminal that each node leads to, or that it leads to several; others are left out."""
    found: dict[str, str] = {}
    for terminal in process.survey.terminals:
        waiting = [terminal]
        while waiting:
            # A node is met twice at most: for its first answer, and for the second one.
            changed = [name for name in waiting if found.get(name) not in (terminal, _SEVERAL)]
            for name in changed:
                found[name] = _SEVERAL if name in found else terminal
            refs = process.adjacency.source_nodes(changed).nodes if changed else ()
            waiting = [ref.node_id for ref in refs]
    return found
