"""The value leads to the culprit: where a value came in that the sources do not have.

A step that turns a figure may be read by one that says the same in other words. By verdicts of a
judge that compares words the last one is blamed, since it is the last that agrees with the claim.
So the value is followed, not the sentence: backward from the verified node to the sources, through
every node that has it, or another one in its place, where it speaks about the same matter.

Like the walk it is a generator without I/O: it yields what it must read, and takes the texts.

Source: ours (docs/adr/0050-value-leads-to-the-culprit.md).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, field

from veritrail_graph.graph.model import (
    Claim,
    ErrorLocation,
    Iteration,
    LocatedBy,
    MarkedSentence,
    NodeRef,
    Sentence,
    ValueDifference,
    ValuePlace,
    frontier_order,
    in_order,
)
from veritrail_graph.verifier.ports import ReadNode, SourceNodes
from veritrail_graph.verifier.value_reading import Asked
from veritrail_graph.verifier.values import Value, ValueKind
from veritrail_graph.verifier.walk import NeedSources

MOST_AT_ONCE = 5_000
"""Nodes of a level from which on only those are followed that the walk found evidence in."""

CLEARLY_MORE = 2
"""Values of the claim that a source has more than one that speaks of something else."""

MOST_NODES = 50
"""Candidates, and nodes that carried a value on, which are named."""


@dataclass(frozen=True, slots=True)
class NeedTexts:
    """Asks for the texts of nodes; answered with them, in this order."""

    nodes: tuple[NodeRef, ...]


Reading = Generator[
    NeedSources | NeedTexts, SourceNodes | tuple[ReadNode, ...] | None, "FoundPlace | None"
]


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """Where a value came in, with the nodes themselves.

    Attributes:
        place: The place, as it is kept.
        error: The same as nodes.
    """

    place: ValuePlace
    error: ErrorLocation


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence about the matter of the claim, and its word that counts."""

    ref: NodeRef
    sentence: Sentence
    value: Value
    likeness: float
    others: int

    @property
    def rank(self) -> tuple[int, float]:
        """How much it is about the matter of the claim."""
        return self.others, self.likeness

    @property
    def marked(self) -> MarkedSentence:
        one, value = self.sentence, self.value
        return MarkedSentence(
            node_id=one.node_id,
            stage=self.ref.stage,
            sentence=one.index,
            start=one.start,
            end=one.end,
            text=one.text,
            marked=((value.start, value.end),),
        )


@dataclass(slots=True)
class _Followed:
    """What the nodes that were read say of one value of the claim.

    Attributes:
        has: The sentence with the claim's value, by node.
        rivals: The sentence with another one in its place, by node.
        perhaps: The sentence with the claim's value that differs from the claim in another one, by
            node: it proves no culprit, but nobody is blamed for what stood in it before.
    """

    has: dict[str, _Said] = field(default_factory=dict)
    rivals: dict[str, _Said] = field(default_factory=dict)
    perhaps: dict[str, _Said] = field(default_factory=dict)

    @property
    def with_value(self) -> dict[str, _Said]:
        """All nodes that have the claim's value, sure or not."""
        return self.perhaps | self.has

    @property
    def speaking(self) -> set[str]:
        """All nodes that say something of it."""
        return self.with_value.keys() | self.rivals.keys()

    def take(self, said: _Said, *, agrees: bool, is_sure: bool) -> None:
        """Note a sentence, where the node has none that is closer to the claim."""
        kept = (self.has if is_sure else self.perhaps) if agrees else self.rivals
        known = kept.get(said.ref.node_id)
        if known is None or said.rank > known.rank:
            kept[said.ref.node_id] = said


@dataclass(slots=True)
class _Graph:
    """The verified node and what it was made from, as far as it was read."""

    refs: dict[str, NodeRef] = field(default_factory=dict)
    sources: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def upstream(self, name: str, stops: Collection[str] = ()) -> list[str]:
        """The nodes that a node was made from, and what these were made from.

        Args:
            name: The node.
            stops: Nodes behind which no way goes on; if there are any, only they are given.
        """
        found: list[str] = []
        seen = {name}
        queue = deque([name])
        while queue:
            for source in self.sources.get(queue.popleft(), ()):
                if source in seen or source not in self.refs:
                    continue
                seen.add(source)
                if source in stops:
                    found.append(source)
                else:
                    queue.append(source)
        return found if stops else [one for one in seen if one != name]

    def downstream(self, names: Collection[str]) -> set[str]:
        """All nodes that some were inputs to, themselves left aside."""
        targets: dict[str, list[str]] = {}
        for target, sources in self.sources.items():
            for source in sources:
                targets.setdefault(source, []).append(target)
        found: set[str] = set()
        queue = list(names)
        while queue:
            for target in targets.get(queue.pop(), ()):
                if target not in found:
                    found.add(target)
                    queue.append(target)
        return found.difference(names)


def follow_value(claim: Claim, node: NodeRef, iterations: Sequence[Iteration]) -> Reading:
    """Follow the values of a claim that is not fully supported to where they came in.

    Args:
        claim: The claim.
        node: The verified node.
        iterations: What the walk found.

    Yields:
        What must be read next; send the answer back.

    Returns:
        The place; None where no value leads anywhere.
    """
    asked = Asked.of(claim)
    if not asked.values:
        return None
    graph = _Graph()
    followed = [_Followed() for _ in asked.values]
    evidence = {name for one in iterations for name in one.node_ids_with_evidence}
    level: tuple[NodeRef, ...] = (node,)
    while level:
        graph.refs.update((ref.node_id, ref) for ref in level)
        texts = yield NeedTexts(level)
        assert isinstance(texts, tuple)  # noqa: S101 (it was asked for texts)
        for read in texts:
            _listen(asked, claim, read, followed)
        made = tuple(ref for ref in level if not (ref.is_root or ref.is_unsourced))
        if not made:
            break
        answer = yield NeedSources(made, True)
        assert isinstance(answer, SourceNodes)  # noqa: S101 (it was asked for source nodes)
        graph.sources.update(answer.sources)
        level = tuple(ref for ref in answer.nodes if ref.node_id not in graph.refs)
        if len(level) > MOST_AT_ONCE:
            level = tuple(ref for ref in level if ref.node_id in evidence)
    return _place(asked, graph, node, followed)


def _listen(asked: Asked, claim: Claim, read: ReadNode, followed: Sequence[_Followed]) -> None:
    """Note what the sentences of a node say of the values of the claim."""
    ref = read.ref
    places: tuple[tuple[int, int], ...] = ()
    if ref.node_id == claim.node_id and claim.start is not None and claim.end is not None:
        places = ((claim.start, claim.end), *claim.also)
    for sentence in read.sentences:
        is_own = any(sentence.start < end and start < sentence.end for start, end in places)
        for number, saying in asked.heard(sentence.text, is_own=is_own):
            said = _Said(ref, sentence, saying.value, saying.likeness, saying.others)
            followed[number].take(said, agrees=saying.agrees, is_sure=saying.is_sure)


def _place(
    asked: Asked, graph: _Graph, node: NodeRef, followed: Sequence[_Followed]
) -> FoundPlace | None:
    """The node nearest to the sources that wrote a value; of several, all of them."""
    followed = [_of_the_matter(graph, one) for one in followed]
    turned: list[tuple[NodeRef, _Followed]] = []
    for is_name in (False, True):  # names only where no other value leads anywhere
        for value, one in zip(asked.values, followed, strict=True):
            if (value.kind is ValueKind.NAME) is is_name:
                turned += [(graph.refs[name], one) for name in _turned(graph, one)]
        if turned:
            break
    else:
        return None
    nearest = min(ref.stage or 0 for ref, _ in turned)
    first = {ref.node_id: one for ref, one in reversed(turned) if (ref.stage or 0) == nearest}
    nodes = in_order([graph.refs[name] for name in first])[:MOST_NODES]
    at_first = first[nodes[0].node_id]
    wrote = at_first.has[nodes[0].node_id]
    source = _source(graph, nodes[0], at_first)
    names = [ref.node_id for ref in nodes]
    behind = graph.downstream(names)
    has = {name for one in first.values() for name in one.has}
    carried = [graph.refs[name] for name in behind & has if name != node.node_id]
    propagated = in_order(carried)[: MOST_NODES - 1]
    if node.node_id not in names:
        propagated = (*propagated, node)
    place = ValuePlace(
        culprit=names[0] if len(names) == 1 else None,
        candidates=tuple(names) if len(names) > 1 else (),
        source=source.marked,
        wrote=wrote.marked,
        difference=ValueDifference(source=source.value.surface, wrote=wrote.value.surface),
        carried_on=tuple(ref.node_id for ref in propagated),
    )
    return FoundPlace(place, ErrorLocation(nodes, propagated))


def _of_the_matter(graph: _Graph, followed: _Followed) -> _Followed:
    """What was heard of a value, without what a source says with it of something else.

    A source that has the claim's value ends it: the value did not come in on the way. But where
    another source has `CLEARLY_MORE` of the claim's other values, and another one in place of this,
    that one speaks of the claim's matter: "41 per cent were expected" is no source of "from January
    to August it was 41". Then what the first one says does not count, nor what was made from it.
    """
    refs, nothing = graph.refs, _Followed()
    with_value = followed.with_value
    sources = {name for name in with_value if refs[name].is_root}
    if not sources:
        return followed
    denied = [said.others for name, said in followed.rivals.items() if refs[name].is_root]
    bar = max(denied, default=0) - CLEARLY_MORE
    other = {name for name, said in with_value.items() if said.others <= bar}
    if not sources <= other <= sources | graph.downstream(sources):
        return nothing
    has, perhaps = (
        {name: said for name, said in kept.items() if name not in other}
        for kept in (followed.has, followed.perhaps)
    )
    return _Followed(has, followed.rivals, perhaps)


def _turned(graph: _Graph, followed: _Followed) -> list[str]:
    """The nodes that have the claim's value while what they were made from has another one."""
    refs = graph.refs
    speaking, with_value = followed.speaking, followed.with_value
    is_denied = any(refs[name].is_root for name in followed.rivals)
    found = []
    for name in followed.has:
        if refs[name].is_unsourced:
            # It was made from nothing that is known: the sources say otherwise, or it is left be.
            if is_denied:
                found.append(name)
            continue
        before = graph.upstream(name, speaking)
        if before and not any(one in with_value for one in before):
            found.append(name)
    return found


def _source(graph: _Graph, culprit: NodeRef, followed: _Followed) -> _Said:
    """The sentence with the other value, of a root where any has it, else of the nearest node."""
    name = culprit.node_id
    before = [one for one in graph.upstream(name, followed.speaking) if one in followed.rivals]
    near = [followed.rivals[one] for one in before]
    above = [followed.rivals[one] for one in graph.upstream(name) if one in followed.rivals]
    if culprit.is_unsourced:
        above = list(followed.rivals.values())
    closest = max(near, key=lambda said: said.rank, default=None)
    same = [one for one in above if closest is None or one.value.agrees(closest.value)]
    roots = [one for one in same if one.ref.is_root]
    return min(roots or near, key=lambda one: (-one.others, -one.likeness, frontier_order(one.ref)))


def located(
    error: ErrorLocation, found: FoundPlace | None, *, indicative: bool
) -> dict[str, object]:
    """What a verification says of where its error came in.

    Where no model judged, the value's place is the place: verdicts by words blame the last step
    that has the claim's words. Where a model judged, the paper's rule tells the place. If it tells
    none, the value's place is an offer beside it; if it names the same node, or several with it,
    the sentences are kept.

    Args:
        error: The place by the interim verdicts.
        found: The place by a value.
        indicative: Whether no model judged.
    """
    by, place = (LocatedBy.VERDICTS if error.nodes else None), None
    if found is not None:
        blamed = {ref.node_id for ref in error.nodes}
        if indicative:
            error, by, place = found.error, LocatedBy.VALUE, found.place
        elif not blamed:
            by, place = LocatedBy.VALUE, found.place
        elif blamed.issuperset(found.place.node_ids):
            place = found.place
    return {
        "error_nodes": error.nodes,
        "propagated_nodes": error.propagated,
        "located_by": by,
        "value_place": place,
    }
