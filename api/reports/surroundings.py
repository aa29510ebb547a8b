"""What stands around cited sentences in their nodes: one sentence each way.

Only a piece of the text on either side is looked at, so that a node of ten million characters
costs no more than one of a thousand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from veritrail_graph.api.reports.data import Place, Surroundings
from veritrail_graph.graph.model import Verification
from veritrail_graph.graph.sentences import SentenceSplitter

_LOOKED_AT = 400
"""Characters on either side."""

_SHOWN = 300
"""Characters of a sentence that is context."""

_SPLITTER = SentenceSplitter.for_language()


@dataclass(slots=True)
class Cited:
    """What stands around cited sentences, by node.

    Attributes:
        by_node: Surroundings by start and end, by node_id.
    """

    by_node: dict[str, dict[tuple[int, int], Surroundings]] = field(default_factory=dict)

    def add(self, node_id: str, found: dict[tuple[int, int], Surroundings]) -> None:
        """Take those of a node."""
        self.by_node[node_id] = found

    def of(self, verification: Verification) -> dict[Place, Surroundings]:
        """Those of the sentences that a verification cites."""
        found: dict[Place, Surroundings] = {}
        for name, places in cited_places([verification]).items():
            known = self.by_node.get(name, {})
            found |= {(name, *place): known[place] for place in places if place in known}
        return found


def named_nodes(found: Verification) -> list[str]:
    """The nodes that a trail shows: with evidence, on a path, with an error; each once."""
    names: dict[str, None] = {found.claim.node_id: None}
    for iteration in found.iterations:
        names |= dict.fromkeys(iteration.node_ids_with_evidence)
        names |= dict.fromkeys(node.node_id for node in iteration.carried_roots)
    for path in found.paths:
        names |= dict.fromkeys((path.source, *path.via, path.target))
    names |= dict.fromkeys(node.node_id for node in (*found.error.nodes, *found.error.propagated))
    return list(names)


def cited_places(trails: Iterable[Verification]) -> dict[str, list[tuple[int, int]]]:
    """Start and end of every sentence that is cited, each once, by node_id."""
    places: dict[str, dict[tuple[int, int], None]] = {}
    for trail in trails:
        for iteration in trail.iterations:
            for evidence in iteration.evidence:
                for cited in evidence.sentences:
                    one = cited.sentence
                    places.setdefault(one.node_id, {})[one.start, one.end] = None
    return {name: sorted(each) for name, each in places.items()}


def surroundings(
    text: str, places: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], Surroundings]:
    """What stands around these places of a node's text; what is cited itself is no context.

    Args:
        text: The text.
        places: Starts and ends, ascending.
    """
    found: dict[tuple[int, int], Surroundings] = {}
    starts = [start for start, _ in places]
    end_before = 0
    for number, (start, end) in enumerate(places):
        next_start = starts[number + 1] if number + 1 < len(places) else len(text)
        found[start, end] = Surroundings(
            _before(
                text,
                max(end_before, start - _LOOKED_AT),
                start,
                is_shared=number > 0 and start - end_before <= _LOOKED_AT,
            ),
            _after(text, end, min(next_start, end + _LOOKED_AT)),
        )
        end_before = max(end_before, end)
    return found


def _before(text: str, first: int, start: int, *, is_shared: bool) -> str | None:
    piece = text[first:start]
    if not piece.strip():  # the sentence before is cited too, or there is none
        return None
    sentences = _SPLITTER.split("", piece)
    if is_shared and len(sentences) == 1:  # it stands behind the sentence before already
        return None
    last = sentences[-1]
    is_cut = last.start == 0 and first > 0 and first == start - _LOOKED_AT
    words = last.text if len(last.text) <= _SHOWN else last.text[-_SHOWN:]
    return f"…{words}" if is_cut or words != last.text else words


def _after(text: str, end: int, behind: int) -> str | None:
    piece = text[end:behind]
    if not piece.strip():
        return None
    first = _SPLITTER.split("", piece)[0]
    is_cut = first.end == len(piece) and behind < len(text) and behind == end + _LOOKED_AT
    words = first.text[:_SHOWN]
    return f"{words}…" if is_cut or words != first.text else words
