"""What was found for a claim, by stage: from the answer back to the sources.

In blind mode every stage of the process stands there for every claim, and a stage that was never
reached looks like one where nothing was found: how far the walk went tells its verdict.

Source: VeriTrail 3.2 (the evidence trail).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from veritrail_graph.graph.model import NodeRef, Sentence, Verification, frontier_order

NODES = 4
"""Nodes of a level that are shown unless it is opened."""

SENTENCES = 3
"""Sentences of a node that are shown unless its level is opened."""

OPENED_NODES = 40
OPENED_SENTENCES = 40

STAGES = 12
"""Stages that are shown at most."""

LONGEST = 600
"""Code points of a sentence that are shown unless its level is opened."""


@dataclass(frozen=True, slots=True)
class LevelNode:
    """A node with evidence.

    Attributes:
        node_id: The node.
        sentences: What was selected from it, in the order of its text, long ones cut.
        more: How many further sentences were selected.
    """

    node_id: str
    sentences: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Level:
    """The evidence of one stage.

    Attributes:
        stage: The stage.
        name: What it is called, where the process says.
        nodes: Nodes with evidence.
        more: How many further nodes have some.
        is_cut: Whether opening the level shows more.
        is_open: Whether it is opened.
        is_sources: Whether the roots stand here.
    """

    stage: int
    name: str
    nodes: tuple[LevelNode, ...]
    more: int
    is_cut: bool
    is_open: bool
    is_sources: bool


def levels_of(
    verification: Verification | None,
    stages: Sequence[int],
    names: Mapping[int, str],
    *,
    top: int | None = None,
    opened: int | None = None,
    every: bool = False,
) -> tuple[Level, ...]:
    """Levels from the answer to the sources.

    Args:
        verification: The verification with its trail; None: there is none.
        stages: The stages of the process.
        names: What they are called.
        top: The stage of the node that the claim is about; None: not known.
        opened: The stage that is shown whole.
        every: Whether stages without evidence are shown too, whether they were reached or not.
    """
    found = _by_stage(verification) if verification is not None else {}
    below = {one for one in stages if every and (top is None or one < top)}
    shown = sorted(below | found.keys(), reverse=True)
    if len(shown) > STAGES:
        shown = [*shown[: STAGES - 1], shown[-1]]
    lowest = min(stages, default=0)
    return tuple(
        _level(stage, names.get(stage, ""), found.get(stage, {}), stage == opened, stage == lowest)
        for stage in shown
    )


def _by_stage(verification: Verification) -> dict[int, dict[NodeRef, dict[int, Sentence]]]:
    """Selected sentences by stage, node and place; each once, whatever iteration found it."""
    refs = {ref.node_id: ref for round_ in verification.iterations for ref in round_.checked}
    found: dict[int, dict[NodeRef, dict[int, Sentence]]] = {}
    for round_ in verification.iterations:
        for evidence in round_.evidence:
            for cited in evidence.sentences:
                ref = refs.get(cited.sentence.node_id)
                if ref is not None:
                    nodes = found.setdefault(ref.stage, {})
                    nodes.setdefault(ref, {})[cited.sentence.index] = cited.sentence
    return found


def _level(
    stage: int,
    name: str,
    found: Mapping[NodeRef, Mapping[int, Sentence]],
    is_open: bool,
    is_sources: bool,
) -> Level:
    most, sentences = (OPENED_NODES, OPENED_SENTENCES) if is_open else (NODES, SENTENCES)
    refs = sorted(found, key=frontier_order)
    nodes = tuple(_node(ref, found[ref], sentences, is_open) for ref in refs[:most])
    more = len(refs) - len(nodes)
    was_cut = any(len(one.text) > LONGEST for each in found.values() for one in each.values())
    is_cut = not is_open and (more > 0 or was_cut or any(node.more for node in nodes))
    return Level(stage, name, nodes, more, is_cut, is_open, is_sources)


def _node(ref: NodeRef, found: Mapping[int, Sentence], most: int, is_open: bool) -> LevelNode:
    chosen = [found[index] for index in sorted(found)]
    longest = LONGEST * 10 if is_open else LONGEST
    texts = tuple(cut(one.text, longest) for one in chosen[:most])
    return LevelNode(ref.node_id, texts, len(chosen) - len(texts))


def cut(text: str, longest: int) -> str:
    """A text that is no longer than that; what was cut off is shown as an ellipsis."""
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
