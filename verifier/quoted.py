"""Evidence without a written summary: the selected sentences themselves stand for it.

Source: ours; VeriTrail 3.1.2 has a model write the summary.
"""

from __future__ import annotations

from collections.abc import Iterable

from veritrail_graph.graph.model import CitedSentence, Evidence, Sentence

LONGEST_SUMMARY = 4_000
"""Characters."""


def quoted(sentences: Iterable[Sentence]) -> tuple[Evidence, ...]:
    """Evidence of sentences: one entry for each node, in the order of the nodes."""
    by_node: dict[str, list[Sentence]] = {}
    for sentence in sentences:
        by_node.setdefault(sentence.node_id, []).append(sentence)
    found = []
    for cited in by_node.values():
        summary = " ".join(" ".join(one.text.split()) for one in cited)
        if len(summary) > LONGEST_SUMMARY:
            summary = f"{summary[:LONGEST_SUMMARY]}…"
        found.append(
            Evidence(
                text=summary,
                missing=None,
                sentences=tuple(CitedSentence.of(one) for one in cited),
            )
        )
    return tuple(found)
