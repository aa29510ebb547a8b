"""The value leads to the culprit: where a value came in that the sources do not have.

A step that turns a figure may be read by one that says the same in other words. By verdicts of a
judge that compares words the last one is blamed, since it is the last that agrees with the claim.
So the value is followed, not the sentence: backward from the verified node to the sources, through
every node that has it, or another one in its place, where it speaks about the same matter.

What a sentence is about is told by words, which may fail. So no node is blamed whose inputs have
the value at all, and none but the verified one that has the value of its inputs as well.

Like the walk it is a generator without I/O: it yields what it must read, and takes the texts.

Source: ours (docs/adr/0050-value-leads-to-the-culprit.md).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

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
from veritrail_graph.verifier.value_graph import ReadGraph
from veritrail_graph.verifier.value_holding import Wanted
from veritrail_graph.verifier.value_reading import Asked
from veritrail_graph.verifier.value_turned import TurnedAt, may_be_turned, turned_on_the_way
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
    """The place where a value came in, with the nodes themselves.

    Attributes:
        place: The place, as it is kept; None where it cannot be told.
        error: The same as nodes.
        not_blamed: The verified node, if there is no place, but a step before it has the value.
        turned: The pair of sentences that shows by itself that the claim is not supported, if any.
    """

    place: ValuePlace | None
    error: ErrorLocation = field(default_factory=ErrorLocation)
    not_blamed: str | None = None
    turned: TurnedAt | None = None


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
        """Return how much it is about the matter of the claim."""
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
    """The evidence of the nodes that were read for one value of the claim.

    Attributes:
        has: The sentence with the claim's value, by node.
        rivals: The sentence with another one in its place, by node.
        perhaps: The sentence with the claim's value that differs from the claim in another one, by
            node: it proves no culprit, but nobody is blamed for what stood in it before.
        held: All sentences with the claim's value, of whatever matter, by node: nobody is blamed
            for what stood in them before either.
        far: Nodes with the name of the claim in sentences that share no other word with it.
    """

    has: dict[str, _Said] = field(default_factory=dict)
    rivals: dict[str, _Said] = field(default_factory=dict)
    perhaps: dict[str, _Said] = field(default_factory=dict)
    held: dict[str, list[_Said]] = field(default_factory=dict)
    far: set[str] = field(default_factory=set)

    @property
    def with_value(self) -> dict[str, _Said]:
        """All nodes that have the claim's value in its matter, sure or not."""
        return self.perhaps | self.has

    @property
    def holding(self) -> set[str]:
        """All nodes that have the claim's value, of whatever matter."""
        return self.with_value.keys() | self.held.keys()

    @property
    def speaking(self) -> set[str]:
        """All nodes that say something of it."""
        return self.holding | self.rivals.keys()

    def first(self, name: str) -> _Said:
        """The sentence of a node with the claim's value, best one of its matter."""
        return self.has.get(name) or self.perhaps.get(name) or self.held[name][0]

    def take(self, said: _Said, *, agrees: bool, is_sure: bool) -> None:
        """Note a sentence, where the node has none that is closer to the claim."""
        kept = (self.has if is_sure else self.perhaps) if agrees else self.rivals
        known = kept.get(said.ref.node_id)
        if known is None or said.rank > known.rank:
            kept[said.ref.node_id] = said


@dataclass(frozen=True, slots=True)
class _Turned:
    """A node that wrote a value, and the sentence before it that has another one in its place."""

    ref: NodeRef
    wrote: _Said
    source: _Said
    followed: _Followed


def follow_value(
    claim: Claim, node: NodeRef, iterations: Sequence[Iteration], *, is_open: bool = False
) -> Reading:
    """Follow the values of a claim that is not fully supported to where they came in.

    Args:
        claim: The claim.
        node: The verified node.
        iterations: What the walk found.
        is_open: Whether it has no verdict, so that only a value counts which tells one by itself.

    Yields:
        What must be read next; send the answer back.

    Returns:
        The place; None where no value leads anywhere.
    """
    asked = Asked.of(claim.text)
    if not asked.values or (is_open and not any(map(may_be_turned, asked.values))):
        return None
    sought = [n for n, value in enumerate(asked.values) if not is_open or may_be_turned(value)]
    graph = ReadGraph()
    followed = [_Followed() for _ in asked.values]
    evidence = {name for one in iterations for name in one.node_ids_with_evidence}
    level: tuple[NodeRef, ...] = (node,)
    while level:
        graph.refs.update((ref.node_id, ref) for ref in level)
        texts = yield NeedTexts(level)
        assert isinstance(texts, tuple)  # noqa: S101 (it was asked for texts)
        for read in texts:
            graph.texts[read.ref.node_id] = read
            if not is_open:
                _listen(asked, claim, read, followed)
            if not is_open or asked.may_stand_in(read.text, sought):
                _look(asked, read, sought, followed)
        if is_open and _all_stand_in_sources(asked, graph, followed):
            return None
        made = tuple(ref for ref in level if not (ref.is_root or ref.is_unsourced))
        if not made:
            break
        answer = yield NeedSources(made, True)
        assert isinstance(answer, SourceNodes)  # noqa: S101 (it was asked for source nodes)
        graph.sources.update(answer.sources)
        level = tuple(ref for ref in answer.nodes if ref.node_id not in graph.refs)
        if len(level) > MOST_AT_ONCE:
            level = tuple(ref for ref in level if ref.node_id in evidence)
            graph.is_whole = False
    found = _turned_place(claim, asked, graph, node, followed)
    return found if found or is_open else _place(asked, graph, node, followed)


def _all_stand_in_sources(asked: Asked, graph: ReadGraph, followed: Sequence[_Followed]) -> bool:
    """Return whether a source has each value of a claim that might have been turned."""
    return all(
        any(graph.refs[name].is_root for name in one.held)
        for value, one in zip(asked.values, followed, strict=True)
        if may_be_turned(value)
    )


def _listen(asked: Asked, claim: Claim, read: ReadNode, followed: Sequence[_Followed]) -> None:
    """Note what the sentences of a node say of the values of the claim."""
    ref = read.ref
    places: tuple[tuple[int, int], ...] = ()
    if ref.node_id == claim.node_id and claim.start is not None and claim.end is not None:
        places = ((claim.start, claim.end), *claim.also)
    before = ""
    for sentence in read.sentences:
        is_own = any(sentence.start < end and start < sentence.end for start, end in places)
        for number, saying in asked.heard(sentence.text, before=before, is_own=is_own):
            said = _Said(ref, sentence, saying.value, saying.likeness, saying.others)
            followed[number].take(said, agrees=saying.agrees, is_sure=saying.is_sure)
        before = sentence.text


def _look(
    asked: Asked, read: ReadNode, sought: Sequence[int], followed: Sequence[_Followed]
) -> None:
    """Note which sentences of a node have a value that is sought, whatever they speak of."""
    ref = read.ref
    for sentence in read.sentences:
        for number, value, is_far in asked.held(sentence.text, sought):
            if is_far:
                followed[number].far.add(ref.node_id)
            else:
                kept = followed[number].held.setdefault(ref.node_id, [])
                kept.append(_Said(ref, sentence, value, 0.0, 0))


def _turned_place(
    claim: Claim, asked: Asked, graph: ReadGraph, node: NodeRef, followed: Sequence[_Followed]
) -> FoundPlace | None:
    """The node nearest to the sources that kept a sentence but for a value that no source has."""
    places: list[tuple[TurnedAt, _Turned]] = []
    for wanted, one in zip(asked.wanted, followed, strict=True):
        held = {name: [said.sentence for said in found] for name, found in one.held.items()}
        for at in turned_on_the_way(claim.text, graph, node, held, wanted.value):
            wrote = wanted.within(at.wrote.text)
            read = Wanted(at.found.read).within(at.read.text)
            if wrote is not None and read is not None:
                marked = _Said(at.ref, at.wrote, wrote, 1.0, 0)
                source = _Said(at.source, at.read, read, 1.0, 0)
                places.append((at, _Turned(at.ref, marked, source, one)))
    if not places:
        return None
    nearest = min(turned.ref.stage or 0 for _, turned in places)
    first = [(at, turned) for at, turned in places if (turned.ref.stage or 0) == nearest]
    found = _found(graph, node, [turned for _, turned in first])
    return replace(found, turned=first[0][0])


def _place(
    asked: Asked, graph: ReadGraph, node: NodeRef, followed: Sequence[_Followed]
) -> FoundPlace | None:
    """The node nearest to the sources that wrote a value; of several, all of them."""
    values = [
        (wanted, _of_the_matter(graph, one))
        for wanted, one in zip(asked.wanted, followed, strict=True)
    ]
    for is_name in (False, True):  # names only where no other value leads anywhere
        turned: list[_Turned] = []
        unclear: list[_Turned] = []
        for wanted, one in values:
            if (wanted.value.kind is ValueKind.NAME) is is_name:
                sure, others = _origins(asked, graph, node, one)
                turned += sure
                unclear += [] if is_name else others
        if turned:
            nearest = min(one.ref.stage or 0 for one in turned)
            return _found(graph, node, [one for one in turned if (one.ref.stage or 0) == nearest])
        if len({one.ref.node_id for one in unclear}) > 1:
            return _found(graph, node, unclear)
    for one in followed:
        before = _with_it_before(graph, node.node_id, one)
        if one.rivals and not all(graph.refs[name].is_root for name in before):
            return FoundPlace(None, not_blamed=node.node_id)
    return None


def _found(graph: ReadGraph, node: NodeRef, turned: Sequence[_Turned]) -> FoundPlace:
    """The place by the nodes that wrote a value, and those behind them that have it."""
    first: dict[str, _Turned] = {}
    for one in turned:
        first.setdefault(one.ref.node_id, one)
    nodes = in_order([one.ref for one in first.values()])[:MOST_NODES]
    at_first = first[nodes[0].node_id]
    names = [ref.node_id for ref in nodes]
    behind = graph.downstream(names).difference(names)
    has = {name for one in first.values() for name in (*one.followed.has, *one.followed.held)}
    carried = [graph.refs[name] for name in behind & has if name != node.node_id]
    propagated = in_order(carried)[: MOST_NODES - 1]
    if node.node_id not in names:
        propagated = (*propagated, node)
    source, wrote = at_first.source, at_first.wrote
    place = ValuePlace(
        culprit=names[0] if len(names) == 1 else None,
        candidates=tuple(names) if len(names) > 1 else (),
        source=source.marked,
        wrote=wrote.marked,
        difference=ValueDifference(source=source.value.surface, wrote=wrote.value.surface),
        carried_on=tuple(ref.node_id for ref in propagated),
    )
    return FoundPlace(place, ErrorLocation(nodes, propagated))


def _of_the_matter(graph: ReadGraph, followed: _Followed) -> _Followed:
    """Return what was heard of a value, without what a source says with it of something else.

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
    held = {
        name: said for name, said in followed.held.items() if name not in other or len(said) > 1
    }
    return _Followed(has, followed.rivals, perhaps, held, followed.far)


def _with_it_before(graph: ReadGraph, name: str, followed: _Followed) -> list[str]:
    """The nearest nodes before one that have the claim's value, of whatever matter.

    A name that is far from the matter does not count beside a node that is no nearer to the
    sources and has another name in its place.
    """
    before = graph.upstream(name, followed.speaking | followed.far)
    denied = [graph.refs[one].stage or 0 for one in before if one in followed.rivals]
    most = max(denied, default=-1)
    return [
        one
        for one in before
        if one in followed.holding or (one in followed.far and (graph.refs[one].stage or 0) > most)
    ]


def _origins(
    asked: Asked, graph: ReadGraph, node: NodeRef, followed: _Followed
) -> tuple[list[_Turned], list[_Turned]]:
    """The nodes that have the claim's value while nothing before them has it.

    Returns:
        Those that surely turned it, and, where there are none, those that may have: nodes that
        may speak of something else, and what repeats them up to the first that surely does not.
    """
    refs, holding = graph.refs, followed.holding
    sure: list[_Turned] = []
    unclear: list[_Turned] = []
    origins = in_order(
        [
            refs[name]
            for name in holding
            if not refs[name].is_root and not _with_it_before(graph, name, followed)
        ]
    )
    for ref in origins[:MOST_NODES]:
        name, wrote = ref.node_id, followed.first(ref.node_id)
        is_verified = name == node.node_id
        if said := _contradicted(asked, graph, ref, followed, is_verified=is_verified):
            sure.append(_Turned(ref, wrote, said[0], followed))
        elif (denied := _rivals(graph, ref, followed)) and not ref.is_unsourced:
            unclear.append(_Turned(ref, wrote, denied[0], followed))
    if sure or not unclear:
        return sure, []
    source = unclear[0].source
    found = [one.ref.node_id for one in unclear]
    for name in found:  # it grows
        if len(found) > MOST_NODES:
            return [], []  # everybody may have: that tells nothing
        others = [followed.rivals[one] for one in graph.upstream(name) if one in followed.rivals]
        is_clear = name in followed.has and not any(_has(graph, name, one) for one in others)
        if not is_clear:
            behind = sorted(graph.next_behind(name, holding).difference(found))
            found += behind
            unclear += [_Turned(refs[one], followed.first(one), source, followed) for one in behind]
    return [], unclear


def _contradicted(
    asked: Asked, graph: ReadGraph, ref: NodeRef, followed: _Followed, *, is_verified: bool
) -> tuple[_Said, ...]:
    """The sentences before a node that have another value where it has the claim's; best first.

    None are given where it is not certain that the node speaks of the matter of the claim, or
    where it has the other value as well. The verified node is certain: the claim was made of it.
    """
    name = ref.node_id
    by_claim = _rivals(graph, ref, followed)
    if name in followed.has and by_claim:
        if is_verified or not any(_has(graph, name, one) for one in by_claim):
            return by_claim
        others = [one.value for one in by_claim]
    elif name in followed.rivals or name in followed.perhaps:
        return ()
    else:
        others = []
    by_sentence = () if ref.is_unsourced else _denied_sentence(asked, graph, ref, followed)
    if others:  # what it says of two matters, its own sentence tells apart
        by_sentence = tuple(
            one for one in by_sentence if not any(other.agrees(one.value) for other in others)
        )
    elif not all(one.value.agrees(said.value) for one in by_claim for said in by_sentence):
        return ()
    is_both = any(_has(graph, name, one) for one in by_sentence)
    return () if is_both and not is_verified else by_sentence


def _rivals(graph: ReadGraph, ref: NodeRef, followed: _Followed) -> tuple[_Said, ...]:
    """The sentences with another value before a node: of roots where any has it, else nearest."""
    name = ref.node_id
    before = [one for one in graph.upstream(name, followed.speaking) if one in followed.rivals]
    near = [followed.rivals[one] for one in before]
    above = [followed.rivals[one] for one in graph.upstream(name) if one in followed.rivals]
    if ref.is_unsourced:  # it was made from nothing that is known: the sources say otherwise
        above = list(followed.rivals.values())
        near = [one for one in above if one.ref.is_root]
    elif not near:
        return ()
    closest = max(near, key=lambda said: said.rank, default=None)
    same = [one for one in above if closest is None or one.value.agrees(closest.value)]
    roots = [one for one in same if one.ref.is_root]
    return tuple(
        sorted(
            roots or near,
            key=lambda one: (-one.others, -one.likeness, frontier_order(one.ref)),
        )
    )


def _denied_sentence(
    asked: Asked, graph: ReadGraph, ref: NodeRef, followed: _Followed
) -> tuple[_Said, ...]:
    """Return what sources of a node say against its only sentence with the value.

    The claim may put it in words that the source has not: then the sentence between tells that the
    source is about it. All three share a word that is no mere "cost".
    """
    held = followed.held.get(ref.node_id, [])
    if len(held) != 1:
        return ()
    text, value = held[0].sentence.text, held[0].value
    own = Asked.of(text)
    numbers = [n for n, one in enumerate(own.values) if (one.start, one.end) == _span(value)]
    if value.kind is ValueKind.NAME or not numbers:
        return ()
    found: list[_Said] = []
    for name in graph.upstream(ref.node_id):
        for sentence in graph.sentences(name):
            for number, saying in own.heard(sentence.text):
                is_rival = number in numbers and not saying.agrees
                if is_rival and asked.shares_matter(text, sentence.text):
                    found.append(
                        _Said(
                            graph.refs[name], sentence, saying.value, saying.likeness, saying.others
                        )
                    )
    return tuple(sorted(found, key=lambda one: (not one.ref.is_root, -one.others, -one.likeness)))


def _has(graph: ReadGraph, name: str, said: _Said) -> bool:
    """Return whether a node has the other value as well, of whatever matter."""
    wanted = Wanted(said.value)
    return any(wanted.within(one.text) is not None for one in graph.sentences(name))


def _span(value: Value) -> tuple[int, int]:
    return value.start, value.end


def located(
    error: ErrorLocation,
    found: FoundPlace | None,
    *,
    indicative: bool,
    by_sides: ErrorLocation = ErrorLocation(),
) -> dict[str, object]:
    """Return what a verification says of where its error came in.

    Where no model judged, the value's place is the place: verdicts by words blame the last step
    that has the claim's words. Where a model judged, the paper's rule tells the place. If it tells
    none, the value's place is an offer beside it; if it names the same node, or several with it,
    the sentences are kept.

    Args:
        error: The place by the interim verdicts.
        found: The place by a value.
        indicative: Whether no model judged.
        by_sides: The place by the sides of evidence, for where the verdicts tell none.
    """
    by, place = (LocatedBy.VERDICTS if error.nodes else None), None
    if not error.nodes and by_sides.nodes:
        error, by = by_sides, LocatedBy.SIDES
    blamed = {ref.node_id for ref in error.nodes}
    if found is not None and found.place is None:
        if indicative and blamed == {found.not_blamed}:
            error, by = ErrorLocation(), None
    elif found is not None and found.place is not None:
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
