"""A sentence that keeps what another one says, with another value in its place.

A step that joins sentences, leaves words out and puts them into another order says nothing "in the
same words". But where it keeps the words of a sentence that it read, with one other figure, date or
time, which stands in no source and does not follow from what the sources say, it turned that value.
A claim that has the value from there is not supported, whatever words it is put in.

Source: ours (docs/adr/0050-value-leads-to-the-culprit.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from veritrail_graph.graph.model import NodeRef, Sentence, in_order
from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.value_graph import ReadGraph
from veritrail_graph.verifier.value_holding import Wanted
from veritrail_graph.verifier.value_signs import shared_at_most, signs_of
from veritrail_graph.verifier.values import Value, ValueKind
from veritrail_graph.verifier.values.derived import (
    follow_each_other,
    is_cut,
    is_rounded,
    may_be_derived,
    may_be_sum,
    may_follow,
)
from veritrail_graph.verifier.values.matter import comparable, content_keys
from veritrail_graph.verifier.values.model import NUMERIC
from veritrail_graph.verifier.values.rates import rates_of
from veritrail_graph.verifier.values.reading import Placed, Text, at, text_of

LEAST_KEPT = 2
"""Words of a sentence that one with another value has to keep."""
SHARE_KEPT = 0.5
"""The share of them."""
SHARE_READ = 0.34
"""The share of the words of the other sentence that are in it: it may join several."""
LEAST_LINKED = 2
"""Words that a claim shares with the sentence that it has its value from; one, if it is telling."""
LEAST_COUNTED = 20
"""Bare figures below may have been counted: they decide nothing."""
TELLING = 4
"""Digits of a bare figure that hardly stands in two matters."""
STEM = 4
"""Letters of a word of one sentence of which another has at least one."""
MOST_PAIRS = 10
"""Sentences with another value that are looked at closely, the likest ones."""
NEAR = 2
"""Sentences before and behind one from which a value of it may follow."""

_KINDS = NUMERIC | {ValueKind.DATE, ValueKind.TIME}
# These say when, and from where on; no value is another one by them.
_FREE = {words.SMALL_WORDS[word] for word in ("before", "after", "till", "since", "from", "by")}
_SMALL = words.SMALL_WORDS.keys() | words.DENIALS | words.TITLES
# What follows a value that is measured from something else: longer, more, ahead.
_COMPARES = re.compile(r"[a-z]{2,}er|more|less|above|below|ahead|behind|apart|short|ago|extra")
_BEHIND = 2
_DUTY, _GUESS = "must", ("must", "have")
_CACHED = 4_096


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence as it is compared.

    Attributes:
        words: The words that it says something with.
        keys: What stands for them in comparisons.
        names: The keys of the last parts of its names.
        values: Its figures, dates and times.
        denials: How many words deny something.
        doubts: The words by which it says something not as a fact.
        limits: Small words that say of how much, or in which case, it holds.
        bounds: Small words that say from when or till when: before, until.
        rates: The times that it counts by: per day.
        beyond: Words behind its values that measure from something else: 60 metres longer.
        asks: Whether it is a question.
        is_english: Whether it has small words of English, and none of other languages alone.
        is_foreign: Whether it has such words.
    """

    words: frozenset[str]
    keys: frozenset[str]
    names: frozenset[str]
    values: tuple[Value, ...]
    denials: int
    doubts: frozenset[str]
    limits: frozenset[str]
    bounds: frozenset[str]
    rates: frozenset[str]
    beyond: frozenset[str]
    asks: bool
    is_english: bool
    is_foreign: bool

    def states_as(self, other: Statement) -> bool:
        """Return whether both state, and deny as much; what is denied is known of English alone."""
        is_read = (self.is_english or other.is_english) and not (
            self.is_foreign or other.is_foreign
        )
        return is_read and not (self.asks or other.asks) and self.denials == other.denials


@lru_cache(maxsize=_CACHED)
def statement_of(sentence: str) -> Statement:
    """Return a sentence as it is compared."""
    text = text_of(sentence)
    lower = [token.lower for token in text.tokens]
    dates = {
        place
        for placed in text.placed
        if placed.value.kind is ValueKind.DATE
        for place in range(placed.first, placed.behind)
    }
    said = [one for place, one in enumerate(lower) if place not in dates]  # 7 May is no doubt
    denials = sum(one in words.DENIALS or one.endswith("n't") for one in lower)
    limits = frozenset(words.SMALL_WORDS[one] for one in lower if one in words.SMALL_WORDS)
    doubts = {words.DOUBTS[one] for one in said if one in words.DOUBTS}
    if _DUTY in doubts and any(pair == _GUESS for pair in pairwise(lower)):
        doubts.add(" ".join(_GUESS))
    small = {words.key(one) for one in lower if one in _SMALL or one in words.DOUBTS}
    keys = content_keys(text, ()) - small
    asks = any(token.form in ("?", "\uff1f") for token in text.tokens[-2:])
    content = frozenset(one for one in lower if words.key(one) in keys)
    names = frozenset(
        words.key(placed.value.canonical.split()[-1])
        for placed in text.placed
        if placed.value.kind is ValueKind.NAME and placed.value.canonical.split()
    )
    is_foreign = not words.FOREIGN.isdisjoint(token.form for token in text.tokens)
    is_english = not (is_foreign or words.ENGLISH.isdisjoint(lower))
    beyond = frozenset(
        token.lower
        for placed in text.placed
        if placed.value.kind in _KINDS
        for token in (at(text.tokens, placed.behind + step) for step in range(_BEHIND))
        if _COMPARES.fullmatch(token.lower)
    )
    return Statement(
        content,
        keys,
        names,
        _values_of(text),
        denials,
        frozenset(doubts),
        limits - _FREE,
        limits & _FREE,
        rates_of(text),
        beyond,
        asks,
        is_english,
        is_foreign,
    )


def _values_of(text: Text) -> tuple[Value, ...]:
    return tuple(
        placed.value
        for placed in text.placed
        if placed.value.kind in _KINDS and not _says_which(text, placed)
    )


def _values_in(sentence: str) -> tuple[Value, ...]:
    """The values of a sentence as it is compared, which is read only where it may have any."""
    return _values_of(text_of(sentence)) if signs_of(sentence).may_state else ()


def _says_which(text: Text, placed: Placed) -> bool:
    """Return whether a figure says which one, not how many: section 4, or the point of a list."""
    before, behind = at(text.tokens, placed.first - 1), at(text.tokens, placed.behind)
    is_point = placed.first == 0 and behind.form in (".", ")")
    return before.lower in words.NUMBERED or is_point


@dataclass(frozen=True, slots=True)
class Turned:
    """A value in the place of another.

    Attributes:
        wrote: The value that was written.
        read: The one that stands in its place in the sentence that was read.
    """

    wrote: Value
    read: Value


def turned(wrote: Statement, read: Statement) -> Turned | None:
    """Return the value that a sentence has in the place of another one's, all else being kept.

    Args:
        wrote: The sentence that may have turned it.
        read: The sentence that it may have been made of.
    """
    kept = len(wrote.keys & read.keys)
    least = max(SHARE_KEPT * len(read.keys), SHARE_READ * len(wrote.keys), LEAST_KEPT)
    if kept < least:
        return None
    hedges = (
        (wrote.doubts, wrote.limits, wrote.rates, wrote.beyond),
        (read.doubts, read.limits, read.rates, read.beyond),
    )
    if not wrote.states_as(read) or hedges[0] != hedges[1]:
        return None
    if wrote.names - read.keys and read.names - wrote.keys:
        return None  # it speaks of somebody else
    if _take_sides(wrote.keys - read.keys, read.keys - wrote.keys):
        return None
    lost = [one for one in read.values if not any(_agree(one, other) for other in wrote.values)]
    added = [one for one in wrote.values if not any(_agree(one, other) for other in read.values)]
    pairs = [
        Turned(mine, its)
        for mine in added
        for its in lost
        if mine.excludes(its) and comparable(mine, its)
    ]
    if len(pairs) != 1:
        return None
    mine, its = pairs[0].wrote, pairs[0].read
    if _may_be_counted(mine):
        return None
    if wrote.bounds != read.bounds and follow_each_other(mine, its):
        return None  # until 31 May, before 1 June
    return None if is_cut(mine, its) or is_rounded(mine, its, least=1) else pairs[0]


def _may_be_counted(value: Value) -> bool:
    """Return whether a figure is so small that somebody may have counted: three of them run."""
    is_bare = value.kind is ValueKind.FIGURE and value.unit in ("", "ordinal")
    return is_bare and value.figure is not None and value.figure < LEAST_COUNTED


def _take_sides(mine: frozenset[str], its: frozenset[str]) -> bool:
    """Return whether a word of one is the opposite of a word of the other: import, export."""
    sides = {pair: side for key in mine for pair, side in words.opposites().get(key, ())}
    return any(
        sides.get(pair) == -side for key in its for pair, side in words.opposites().get(key, ())
    )


def _agree(one: Value, other: Value) -> bool:
    return one.agrees(other) or other.agrees(one)


def value_from(claim: Statement, wrote: Statement, found: Turned) -> Value | None:
    """Return the value that a claim has from a sentence which turned it; None where it has none.

    What must be done by then says the value as a fact, other than what must have been.
    """
    if not (claim.states_as(wrote) and claim.doubts - {_DUTY} <= wrote.doubts):
        return None
    if any(_agree(value, found.read) for value in claim.values):
        return None
    for value in claim.values:
        if value.agrees(found.wrote) and found.wrote.agrees(value) and value.excludes(found.read):
            return value
    return None


def is_linked(claim: Statement, wrote: Statement, found: Turned) -> bool:
    """Return whether a claim shares enough words with a sentence to speak of the same matter."""
    least = min(1 if _is_telling(found.wrote) else LEAST_LINKED, len(wrote.keys))
    return len(claim.keys & wrote.keys) >= least


def _is_telling(value: Value) -> bool:
    """Return whether a value hardly stands in two matters by chance."""
    digits = sum(sign.isdigit() for sign in value.canonical)
    has_unit = bool(value.unit) or value.kind in (ValueKind.PERCENT, ValueKind.TIME)
    return digits >= TELLING or (has_unit and digits > 1)


def may_be_turned(value: Value) -> bool:
    """Return whether a value is a figure, a date or a time: names stand in many places."""
    return value.kind in _KINDS


@dataclass(frozen=True, slots=True)
class TurnedAt:
    """The place where a value was turned.

    Attributes:
        claim: The value as the claim has it.
        found: The pair.
        ref: The node that wrote it.
        wrote: Its sentence.
        source: The node that has the other value in its place, a source where one has.
        read: Its sentence.
    """

    claim: Value
    found: Turned
    ref: NodeRef
    wrote: Sentence
    source: NodeRef
    read: Sentence


def turned_on_the_way(
    claim: str, graph: ReadGraph, node: NodeRef, held: dict[str, list[Sentence]], value: Value
) -> Iterator[TurnedAt]:
    """Yield where a value of a claim was turned that no source has.

    Args:
        claim: The claim.
        graph: The verified node and all that it was made from.
        node: The verified node.
        held: The sentences with the value, of whatever matter, by node.
        value: The value.
    """
    if not may_be_turned(value) or not graph.is_whole:
        return
    if any(_is_source(graph.refs[name]) for name in held) or _ends_a_span(value, graph):
        return
    whole = statement_of(claim)
    if value not in whole.values:
        return
    for name in held:
        upstream = graph.upstream(name)
        if not held.keys().isdisjoint(upstream):
            continue  # it stood before
        is_verified = name == node.node_id
        said = {one.text: one for one in held[name]}
        if not is_verified and len(said) != 1:
            continue  # one of them may speak of something else
        for text in [claim] if is_verified else said:
            wrote = statement_of(text)
            for found, source, read in _turned_by(wrote, graph, upstream):
                was_read = statement_of(read.text)
                is_english = wrote.is_english or was_read.is_english  # they keep the same words
                if value_from(whole, replace(wrote, is_english=is_english), found) != value:
                    continue
                if not is_verified and _has(graph, (name,), found.read):
                    continue
                if not is_linked(whole, wrote, found) and (
                    not _is_from(name, held, graph, whole, found)
                    or _may_be_found(claim, node, graph, found)
                ):
                    continue
                if not _follows(graph, found, was_read):
                    at_first = said.get(text, held[name][0])
                    yield TurnedAt(value, found, graph.refs[name], at_first, source, read)
                    break


def _is_from(
    name: str, held: Mapping[str, object], graph: ReadGraph, claim: Statement, found: Turned
) -> bool:
    """Return whether a claim can have its value from nowhere else, whatever words it shares.

    The node is the only one that has the value first, and the value hardly stands in two matters.
    """
    firsts = [one for one in held if held.keys().isdisjoint(graph.upstream(one))]
    counts = any(set(value.nouns) & set(found.wrote.nouns) for value in claim.values)
    return claim.is_english and firsts == [name] and (counts or _is_telling(found.wrote))


def _may_be_found(claim: str, node: NodeRef, graph: ReadGraph, found: Turned) -> bool:
    """Return whether the value may follow from anything that the verified node was made from."""
    texts = [one.text for name in graph.upstream(node.node_id) for one in graph.sentences(name)]
    others = (
        value for text in texts for value in _values_in(text) if not _agree(value, found.wrote)
    )
    return may_follow(found.wrote, others, " ".join([claim, *texts]))


def _turned_by(
    wrote: Statement, graph: ReadGraph, upstream: Sequence[str]
) -> Iterator[tuple[Turned, NodeRef, Sentence]]:
    """The pairs of a sentence and those before it with another value; the likest ones first.

    Where a step that is no source was read, the source with that value is given.
    """
    pairs: list[tuple[float, Turned, NodeRef, Sentence]] = []
    stems = {word[:STEM] for word in wrote.words}
    least = max(SHARE_READ * len(wrote.keys), LEAST_KEPT)
    for ref in in_order([graph.refs[name] for name in upstream]):
        for sentence in graph.sentences(ref.node_id):
            lowered = sentence.text.casefold()
            if stems and not any(stem in lowered for stem in stems):
                continue  # most share no word, and reading them takes longer
            if (
                not signs_of(sentence.text).may_state
                or shared_at_most(wrote.keys, sentence.text) < least
            ):
                continue
            read = statement_of(sentence.text)
            found = turned(wrote, read)
            if found is not None:
                kept = len(wrote.keys & read.keys)
                likeness = kept / len(read.keys) + kept / len(wrote.keys)
                pairs.append((likeness, found, ref, sentence))
    pairs.sort(key=lambda pair: (-pair[0], not pair[2].is_root))
    for _, found, ref, sentence in pairs[:MOST_PAIRS]:
        if ref.is_root:
            yield found, ref, sentence
        elif source := _said_by_source(graph, found, statement_of(sentence.text)):
            yield found, *source


def _said_by_source(
    graph: ReadGraph, found: Turned, read: Statement
) -> tuple[NodeRef, Sentence] | None:
    """Return the sentence of a source with the value that was read, nearest in its words."""
    wanted = Wanted(found.read)
    said = [
        (len(statement_of(one.text).keys & read.keys), graph.refs[name], one)
        for name in _sources(graph)
        for one in graph.sentences(name)
        if wanted.within(one.text) is not None
    ]
    if not said:
        return None
    _, ref, sentence = max(said, key=lambda one: one[0])
    return ref, sentence


def _is_source(ref: NodeRef) -> bool:
    return ref.is_root or ref.is_unsourced


def _ends_a_span(value: Value, graph: ReadGraph) -> bool:
    """Return whether a source has a year by its last digits: 2007-08."""
    if value.kind is not ValueKind.DATE or not value.canonical[2:4].isdigit():
        return False
    ending = re.compile(rf"(?:\d{{4}}\s*[-\u2013\u2014/]+\s*|['\u2019]){value.canonical[2:4]}\b")
    return any(ending.search(one.text) for name in _sources(graph) for one in graph.sentences(name))


def _sources(graph: ReadGraph) -> list[str]:
    return [name for name, ref in graph.refs.items() if ref.is_root]


def _source_values(graph: ReadGraph) -> Iterator[Value]:
    """Yield the values of all sources."""
    for name in _sources(graph):
        for sentence in graph.sentences(name):
            yield from _values_in(sentence.text)


def _has(graph: ReadGraph, names: Sequence[str], value: Value) -> bool:
    """Return whether a node has a value, of whatever matter."""
    wanted = Wanted(value)
    return any(
        wanted.within(one.text) is not None for name in names for one in graph.sentences(name)
    )


def _follows(graph: ReadGraph, found: Turned, read: Statement) -> bool:
    """Return whether the value may follow from what the sources say.

    Of its matter they speak where they have the value that was read, and in sentences with the
    same words. A sum may have parts that no word ties to it: two plants and both together.
    """
    if may_be_sum(found.wrote, found.read, _source_values(graph)):
        return True
    wanted = Wanted(found.read)
    near: dict[tuple[str, int], str] = {}
    least = max(LEAST_KEPT, SHARE_KEPT * len(read.keys))
    for name in _sources(graph):
        sentences = graph.sentences(name)
        for place, sentence in enumerate(sentences):
            if wanted.within(sentence.text) is not None:
                around = range(max(0, place - NEAR), min(len(sentences), place + NEAR + 1))
                near |= {(name, index): sentences[index].text for index in around}
            elif (
                shared_at_most(read.keys, sentence.text) >= least
                and len(statement_of(sentence.text).keys & read.keys) >= least
            ):
                near[name, place] = sentence.text
    others = [value for text in near.values() for value in _values_in(text)]
    return may_be_derived(found.wrote, others, " ".join(near.values()))
