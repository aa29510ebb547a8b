"""Evidence without a model: the sentences of nodes that share much with a claim.

Source: VeriTrail 3.1.2 (what is asked of a judge); the method is ours.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Protocol

from veritrail_graph.graph.model import CitedSentence, Evidence, EvidenceRole, Sentence
from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.engines.lexical.aligning import sequenced
from veritrail_graph.verifier.engines.lexical.comparing import (
    SentenceMatch,
    Term,
    compare,
    holds,
    terms,
    weight,
)
from veritrail_graph.verifier.engines.lexical.indexing import SentenceIndex, SentenceView
from veritrail_graph.verifier.engines.lexical.reading import (
    Number,
    Reading,
    Word,
    read,
)
from veritrail_graph.verifier.ports import ReadNode

_SENTENCE_END = re.compile(r"(?<=[.!?][\"\u201d)\s])\s*(?=[^\W\d_a-z])|(?<=[\u3002\uff01\uff1f])")
_LEAST_ITEMS = 2

_LEAST_SHARE = 0.3
_SHARE_OF_BEST = 0.6
_LEAST_ADDING_SHARE = 0.15
_LEAST_TERMS = 2
_MOST_A_NODE = 100
_LONGEST_SUMMARY = 4_000  # characters
_LITTLE = 1e-9
_FEW_TIMES = 8
"""To look up a number in a long list takes this many times as long as to go on in it by one."""
_ROOM = 1 + _LITTLE  # for sums whose terms are added in another order
LOOK_BACK = 3  # sentences in which a pronoun's name is looked for


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that shares something with the claim."""

    sentence: Sentence
    reading: Reading
    match: SentenceMatch

    @property
    def pull(self) -> float:
        """Return how strongly it speaks for or against the claim, from 0 to 1."""
        return self.match.likeness if self.match.conflicts else self.match.share

    @property
    def rank(self) -> tuple[float, str, int]:
        """Sort key: the strongest first, then by place."""
        return (-self.pull, self.sentence.node_id, self.sentence.index)


def _rank(candidate: Candidate) -> tuple[float, str, int]:
    return candidate.rank


def select(
    claim_text: str, nodes: Sequence[ReadNode], index: SentenceIndex | None = None
) -> tuple[Evidence, ...]:
    """The evidence in these nodes: one entry for each node that holds any, in their order.

    Args:
        claim_text: The claim.
        nodes: The nodes, each once.
        index: Through which many nodes are read; it changes nothing about what is found.
    """
    claim = read(claim_text)
    chosen = chosen_for(claim_text, nodes, index)
    found: list[Evidence] = []
    for node in with_chosen(chosen, nodes):
        cited = [
            CitedSentence.of(sentence, chosen[place])
            for sentence in node.sentences
            if (place := (sentence.node_id, sentence.index)) in chosen
        ]
        if cited:
            summary = " ".join(" ".join(part.text.split()) for part in cited)
            if len(summary) > _LONGEST_SUMMARY:
                summary = f"{summary[:_LONGEST_SUMMARY]}…"
            found.append(
                Evidence(text=summary, missing=_missing(claim, cited), sentences=tuple(cited))
            )
    return tuple(found)


def with_chosen(
    chosen: Collection[tuple[str, int]], nodes: Iterable[ReadNode]
) -> Iterator[ReadNode]:
    """The nodes of the chosen sentences: the others need not be split again."""
    names = {node_id for node_id, _ in chosen}
    return (node for node in nodes if node.ref.node_id in names)


def _bounded(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The strongest of each node: a node that repeats itself says no more by it."""
    counts: dict[str, int] = {}
    kept = []
    for candidate in candidates:
        node_id = candidate.sentence.node_id
        counts[node_id] = counts.get(node_id, 0) + 1
        if counts[node_id] <= _MOST_A_NODE:
            kept.append(candidate)
    return kept


def chosen_for(
    claim_text: str, nodes: Sequence[ReadNode], index: SentenceIndex | None = None
) -> dict[tuple[str, int], EvidenceRole]:
    """Return the sentences chosen for any sentence of a claim, by node and index."""
    chosen: dict[tuple[str, int], EvidenceRole] = {}
    view = index.view(nodes) if index is not None and index.takes(nodes) else None
    for part in parts_of(claim_text):
        for place, role in choose(read(part), nodes, view).items():
            if role is EvidenceRole.EVIDENCE or place not in chosen:
                chosen[place] = role
    return chosen


def choose(
    claim: Reading, nodes: Sequence[ReadNode], view: SentenceView | None = None
) -> dict[tuple[str, int], EvidenceRole]:
    """The chosen sentences by node and index, whatever the order of the nodes."""
    everything = terms(claim)
    least = min(_LEAST_TERMS, len(everything))
    if not least:
        return {}
    found: Sentences
    if view is None:
        found = _EverySentence(claim, nodes, least)
    else:
        found = _LikelySentences(claim, view, least)
    taken = _bounded(found.strong())
    if taken:
        taken += found.adding({term for one in taken for term in one.match.covered})
    chosen = {
        (candidate.sentence.node_id, candidate.sentence.index): EvidenceRole.EVIDENCE
        for candidate in taken
    }
    for place in _named_before(claim, nodes, taken):
        chosen.setdefault(place, EvidenceRole.CONTEXT)
    return chosen


class Sentences(Protocol):
    """The sentences of nodes beside a claim."""

    def strong(self) -> list[Candidate]:
        """The sentences that are evidence by themselves, the strongest first."""
        ...

    def adding(self, covered: Collection[Term]) -> list[Candidate]:
        """Weaker sentences that hold a part of the claim which no stronger one holds.

        Args:
            covered: The terms of the claim that are held already.
        """
        ...


def _bar(best: float) -> float:
    """The least pull of a sentence that is evidence where the best has this one."""
    return max(_LEAST_SHARE, _SHARE_OF_BEST * best)


def _compared(
    claim: Reading,
    sentence: Sentence,
    reading: Reading,
    least: int,
    weigh: Callable[[Term], float],
) -> Candidate | None:
    """The sentence beside the claim; None where it shares too little to say anything of it."""
    match = compare(claim, reading, weigh)
    if len(match.covered) >= least or (match.conflicts and match.covered):
        return Candidate(sentence, reading, match)
    return None


def _shares(claim: Reading, reading: Reading, least: int) -> bool:
    return len(claim.keys & reading.keys) + min(len(reading.numbers), 1) >= least


class _EverySentence:
    """All sentences of nodes, each of which is read."""

    def __init__(self, claim: Reading, nodes: Sequence[ReadNode], least: int) -> None:
        # Only readings that share something are kept: a frontier may have a million sentences.
        sharing: list[tuple[Sentence, Reading]] = []
        counts: Counter[str] = Counter()
        number = 0
        for node in nodes:
            for sentence in node.sentences:
                reading = read(sentence.text)
                counts.update(claim.keys & reading.keys)
                number += 1
                if _shares(claim, reading, least):
                    sharing.append((sentence, reading))
        weigh = _weigher(claim, counts, number)
        compared = (_compared(claim, *one, least, weigh) for one in sharing)
        self._found = sorted(filter(None, compared), key=_rank)
        best = self._found[0].pull if self._found else 0.0
        self._strong = sum(one.pull >= _bar(best) for one in self._found)

    def strong(self) -> list[Candidate]:
        """The sentences that are evidence by themselves."""
        return self._found[: self._strong]

    def adding(self, covered: Collection[Term]) -> list[Candidate]:
        """Weaker sentences that hold a part of the claim which no stronger one holds."""
        held = set(covered)
        return [one for one in self._found[self._strong :] if _adds(one, held)]


def _adds(candidate: Candidate, held: set[Term]) -> bool:
    """Return whether a sentence holds a term that is not held; then its terms are."""
    new = candidate.match.covered - held
    if candidate.match.share < _LEAST_ADDING_SHARE or all(term.light for term in new):
        return False
    held |= new
    return True


class _LikelySentences:
    """The sentences of an index, of which only those are read that may be chosen.

    What a sentence has of a claim's words bounds how strongly it can speak for or against it: at
    most by the weight of the terms that it may hold, as part of the weight of those that it cannot
    contradict. The sentences with the highest bounds are read until none can reach the bar.
    """

    def __init__(self, claim: Reading, view: SentenceView, least: int) -> None:
        self._claim, self._view, self._least = claim, view, least
        counts = Counter({key: view.count(key) for key in claim.keys})
        self._weigh = _weigher(claim, counts, view.number)
        self._weights = {term: self._weigh(term) for term in terms(claim)}
        self._total = sum(self._weights.values()) or 1.0
        self._known: dict[int, Candidate | None] = {}
        self._may_hold = {term: self._with(term) for term in self._weights}
        self._disputed = {
            term
            for term in self._weights
            if isinstance(term, Number)
            or (isinstance(term, Word) and term.key in words.opposites())
        }
        self._numbers = math.fsum(
            one for term, one in self._weights.items() if isinstance(term, Number)
        )
        disputed = math.fsum(self._weights[term] for term in self._disputed)
        self._sides = disputed - self._numbers
        self._floor = _LEAST_SHARE * (self._total - disputed) / _ROOM - _LITTLE
        self._common = self._common_terms(
            min(self._floor, _LEAST_ADDING_SHARE * self._total / _ROOM - _LITTLE)
        )
        gained: dict[int, float] = {}
        for term, one in self._weights.items():
            if term not in self._common:
                for number in self._may_hold[term]:
                    gained[number] = gained.get(number, 0.0) + one
        for term in self._common:
            self._add_common(term, gained)
        self._gained = gained
        self._strong = self._read_strong()

    def _common_terms(self, least: float) -> set[Term]:
        """The terms of most sentences that weigh too little, all together, for one to count."""
        found: set[Term] = set()
        for term in sorted(self._weights, key=lambda one: -len(self._may_hold[one])):
            least -= self._weights[term]
            if least <= 0:
                break
            found.add(term)
        return found

    def _add_common(self, term: Term, gained: dict[int, float]) -> None:
        """Add the weight of a term to what sentences with others gain."""
        found, one = self._may_hold[term], self._weights[term]
        if len(found) < _FEW_TIMES * len(gained):
            for number in found:
                if number in gained:
                    gained[number] += one
            return
        for number in gained:
            at = bisect_left(found, number)
            if at < len(found) and found[at] == number:
                gained[number] += one

    def _with(self, term: Term) -> Sequence[int]:
        if isinstance(term, Word):
            return self._view.with_key(term.key)
        if isinstance(term, Number):
            return self._view.with_number(term)
        return self._view.with_name(term)

    def _most_pull(self, number: int, gained: float) -> float:
        """Return what its pull is at most."""
        disputed = self._sides + (self._numbers if self._view.may_have_number(number) else 0.0)
        if disputed:
            disputed -= sum(
                self._weights[term] for term in self._disputed if self._may_have(number, term)
            )
        left = self._total - max(0.0, disputed)
        return min(1.0, _ROOM * gained / left) if left > _LITTLE else 1.0

    def _may_have(self, number: int, term: Term) -> bool:
        found = self._may_hold[term]
        at = bisect_left(found, number)
        return at < len(found) and found[at] == number

    def _read_strong(self) -> list[Candidate]:
        bounds = [
            (bound, number)
            for number, gained in self._gained.items()
            if gained >= self._floor and (bound := self._most_pull(number, gained)) >= _LEAST_SHARE
        ]
        bounds.sort(key=lambda one: (-one[0], one[1]))
        best, found = 0.0, []
        for bound, number in bounds:
            if bound < _bar(best):
                break
            candidate = self._read(number)
            if candidate is not None:
                found.append(candidate)
                best = max(best, candidate.pull)
        return sorted((one for one in found if one.pull >= _bar(best)), key=_rank)

    def _read(self, number: int) -> Candidate | None:
        if number not in self._known:
            sentence = self._view.sentence(number)
            reading = read(sentence.text)
            self._known[number] = (
                _compared(self._claim, sentence, reading, self._least, self._weigh)
                if _shares(self._claim, reading, self._least)
                else None
            )
        return self._known[number]

    def strong(self) -> list[Candidate]:
        """The sentences that are evidence by themselves."""
        return self._strong

    def adding(self, covered: Collection[Term]) -> list[Candidate]:
        """Weaker sentences that hold a part of the claim which no stronger one holds.

        They are read in the order of the most that they can pull, and none that may hold nothing
        else than what is held by then.
        """
        held, strong = set(covered), {id(one) for one in self._strong}
        open_ = [term for term in self._weights if not term.light and term not in held]
        least = _LEAST_ADDING_SHARE * self._total / _ROOM
        gains = self._gained
        numbers = {
            number
            for term in open_
            for number in self._may_hold[term]
            if gains.get(number, 0.0) >= least
        }
        waiting: list[tuple[float, str, int, Candidate | None]] = [
            (-self._most_pull(number, gains[number]), "", number, None) for number in numbers
        ]
        heapify(waiting)
        added: list[Candidate] = []
        while waiting:
            _, _, number, candidate = heappop(waiting)
            if candidate is not None:
                if _adds(candidate, held):
                    added.append(candidate)
            elif any(term not in held and self._may_have(number, term) for term in open_):
                candidate = self._read(number)
                if candidate is not None and id(candidate) not in strong:
                    heappush(waiting, (*candidate.rank, candidate))
        return added


def _weigher(claim: Reading, counts: Counter[str], number: int) -> Callable[[Term], float]:
    """Weights by rarity: a word in every sentence of the frontier says little.

    Args:
        claim: The claim.
        counts: In how many sentences each of its keys is.
        number: How many sentences there are.
    """
    scale = math.log(number + 1) or 1.0
    rarity = {key: math.log((number + 1) / (counts[key] + 1)) / scale for key in claim.keys}

    def weigh(term: Term) -> float:
        if isinstance(term, Number):
            return 1.5 * weight(term)
        keys = (term.key,) if isinstance(term, Word) else term.parts
        return weight(term) * (0.5 + max((rarity[key] for key in keys), default=1.0))

    return weigh


def _named_before(
    claim: Reading, nodes: Sequence[ReadNode], taken: Sequence[Candidate]
) -> list[tuple[str, int]]:
    """Sentences that name whom a chosen sentence only calls "he" or "it"."""
    referring = {one.sentence.node_id for one in taken if one.reading.refers_back}
    if not referring:
        return []
    sentences = {one.ref.node_id: one.sentences for one in nodes if one.ref.node_id in referring}
    places: list[tuple[str, int]] = []
    for candidate in taken:
        if not candidate.reading.refers_back:
            continue
        before = sentences.get(candidate.sentence.node_id, ())[: candidate.sentence.index]
        for name in pronoun_names(claim, candidate.match):
            for earlier in reversed(before[-LOOK_BACK:]):
                if holds(read(earlier.text), name):
                    places.append((earlier.node_id, earlier.index))
                    break
    return places


def pronoun_names(claim: Reading, match: SentenceMatch) -> list[Term]:
    """Names and subject of the claim that a sentence does not hold itself."""
    subject = [word for word in claim.words if word.key == claim.subject]
    wanted: list[Term] = [*claim.names, *subject]
    return [term for term in wanted if term not in match.covered]


def _missing(claim: Reading, cited: Sequence[CitedSentence]) -> str | None:
    readings = [read(part.text) for part in cited]
    absent = [
        term
        for term in terms(claim)
        if not term.light and not any(holds(reading, term) for reading in readings)
    ]
    return ("Not found here: " + listed(absent) + ".") if absent else None


def listed(found: Sequence[Term]) -> str:
    """Terms for a person to read: “Brakke”, 1,200, “closed”."""
    shown = [
        term.surface if isinstance(term, Number) else f"“{term.surface}”" for term in found[:12]
    ]
    more = len(found) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def parts_of(claim_text: str) -> list[str]:
    """Return the sentences of a claim; one that says next to nothing goes with the next."""
    parts: list[str] = []
    start = 0
    for end in (*(match.start() for match in _SENTENCE_END.finditer(claim_text)), len(claim_text)):
        if len(sequenced(claim_text[start:end]).items) >= _LEAST_ITEMS:
            parts.append(claim_text[start:end])
            start = end
    if start < len(claim_text):
        rest = claim_text[start:]
        if not parts:
            parts = [rest]
        elif sequenced(rest).items:
            parts[-1] += rest
    return parts
