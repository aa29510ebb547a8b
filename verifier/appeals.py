"""Sentences that speak to their reader or judge instead of about a matter.

A text may try to dictate a verdict. What it says is marked for people: orders to the reader, keys
of a judge's answer, words of verdicts, markup of chats, and text that is hidden. Few and certain
marks are wanted; a text that speaks about such sentences is marked as well. A mark changes no
verdict.

Source: ours (docs/adr/0059-what-nobody-sees.md).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from veritrail_graph.graph.model import Appeal, AppealKind, Iteration
from veritrail_graph.graph.unseen import Unseen, counts, places, without_unseen
from veritrail_graph.verifier.appeal_signs import SIGNS
from veritrail_graph.verifier.ports import ReadNode

MOST_MARKED = 20
"""Sentences of a verification that are named."""

HIDDEN_AT_ONCE = 8
"""Zero-width characters or selectors that follow each other and hide a message."""

_CAPITALS = re.compile(r"\bFULLY[ -]SUPPORTED\b(?! BY\b)")
_RUN = re.compile(
    f"[\u200b-\u200d\u2060-\u2064\ufeff\ufe00-\ufe0f\U000e0100-\U000e01ef]{{{HIDDEN_AT_ONCE}}}"
)


def appeal_kinds(text: str) -> tuple[AppealKind, ...]:
    """How a text speaks to its reader, each way once; nothing where it does not."""
    found = {AppealKind.HIDDEN_TEXT} if _hides(text) else set()
    read = text if text.isascii() else unicodedata.normalize("NFKC", without_unseen(text))
    if _CAPITALS.search(read):
        found.add(AppealKind.VERDICT_WORD)
    small = read.lower()
    found.update(signs.kind for signs in SIGNS if signs.kind not in found and signs.are_in(small))
    return tuple(kind for kind in AppealKind if kind in found)


def _hides(text: str) -> bool:
    """Whether tags, or many characters without width, hide a message."""
    if text.isascii():
        return False
    return _RUN.search(text) is not None or (
        Unseen.TAG in counts(text) and any(len(place[0]) > 1 for place in places(text))
    )


Kinds = dict[int, tuple[AppealKind, ...]]


@dataclass(slots=True)
class AppealFinder:
    """Finds the sentences of nodes that speak to their reader; each node is looked at once."""

    _of: dict[str, Kinds] = field(default_factory=dict)

    def new(self, nodes: Iterable[ReadNode]) -> list[ReadNode]:
        """The nodes that were not looked at yet."""
        return [node for node in nodes if node.ref.node_id not in self._of]

    def look_at(self, nodes: Iterable[ReadNode]) -> None:
        """Look at nodes."""
        for node in nodes:
            self._of[node.ref.node_id] = _kinds_of(node)

    def cited(self, iterations: Sequence[Iteration]) -> tuple[Appeal, ...]:
        """The cited sentences that speak to their reader, in their order; the first of many."""
        found: dict[tuple[str, int], Appeal] = {}
        for iteration in iterations:
            for one in iteration.evidence:
                key = one.node_id, one.sentence
                if key not in found and (kinds := appeal_kinds(one.text)):
                    found[key] = Appeal(node_id=one.node_id, sentence=one.sentence, why=kinds)
        return tuple(found.values())[:MOST_MARKED]

    def read(self, iterations: Sequence[Iteration]) -> int:
        """How many sentences of the nodes that were read speak to their reader."""
        names = {ref.node_id for iteration in iterations for ref in iteration.checked}
        return sum(len(self._of[name]) for name in names if name in self._of)


_NOTHING: Kinds = {}


def _kinds_of(node: ReadNode) -> Kinds:
    """The sentences of a node that speak to their reader; what spans several is the first one."""
    if not (whole := appeal_kinds(node.text)):
        return _NOTHING
    found = {one.index: kinds for one in node.sentences if (kinds := appeal_kinds(one.text))}
    return found or {0: whole}
