"""Evidence without a model: the sentences of nodes that share much with a claim.

Source: VeriTrail 3.1.2 (what is asked of a judge); the method is ours.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from veritrail_graph.graph.model import CitedSentence, Evidence, EvidenceRole, Sentence
from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.engines.lexical.aligning import sequenced
from veritrail_graph.verifier.engines.lexical.indexing import SentenceIndex, SentenceView
from veritrail_graph.verifier.engines.lexical.reading import (
    Name,
    Number,
    Reading,
    Word,
    read,
)
from veritrail_graph.verifier.ports import ReadNode
from veritrail_graph.verifier.values import ValueKind

Term = Word | Name | Number

_SENTENCE_END = re.compile(r"(?<=[.!?][\"\u201d)\s])\s*(?=[^\W\d_a-z])|(?<=[\u3002\uff01\uff1f])")
_LEAST_ITEMS = 2

_WEIGHT_WORD = 1.0
_WEIGHT_STRICT = 2.0  # numbers and names: one wrong is a wrong claim
_LIGHT = 0.3


@dataclass(frozen=True, slots=True)
class SentenceMatch:
    """One sentence beside the claim.

    Attributes:
        covered: The terms of the claim that the sentence holds.
        share: Their part of the claim's weight, from 0 to 1.
        likeness: The same, leaving aside the terms it contradicts.
        conflicts: What the sentence says otherwise, each as a phrase for a person.
        other_numbers: In how many numbers it differs.
    """

    covered: frozenset[Term]
    share: float
    likeness: float
    conflicts: tuple[str, ...] = ()
    other_numbers: int = 0


def terms(claim: Reading) -> tuple[Term, ...]:
    """Everything of the claim that evidence can hold."""
    return (*claim.words, *claim.names, *claim.numbers)


def weight(term: Term) -> float:
    """Return what a term counts for, wherever it occurs."""
    base = _WEIGHT_WORD if isinstance(term, Word) else _WEIGHT_STRICT
    return base * _LIGHT if term.light else base


def compare(
    claim: Reading, other: Reading, weigh: Callable[[Term], float] = weight
) -> SentenceMatch:
    """Compare a claim with one sentence."""
    everything = terms(claim)
    covered = frozenset(term for term in everything if holds(other, term))
    total = sum(map(weigh, everything)) or 1.0
    gained = sum(map(weigh, (term for term in everything if term in covered)))
    numbers = _number_conflicts(claim, other)
    found = [*numbers, *_side_conflicts(claim, other), *_denial_conflicts(claim, other)]
    disputed = {term for _, about in found for term in about} - covered
    rest = total - sum(map(weigh, (term for term in everything if term in disputed)))
    likeness = gained / rest if rest > 0 else 0.0
    phrases = tuple(phrase for phrase, _ in found)
    return SentenceMatch(covered, gained / total, likeness, phrases, len(numbers))


def holds(other: Reading, term: Term) -> bool:
    """Return whether a sentence holds a term of the claim."""
    if isinstance(term, Word):
        return term.key in other.keys
    if isinstance(term, Number):
        numbers = (n for n in other.numbers if term.is_cited or not n.is_cited)
        return any(number.agrees_with(term) for number in numbers)
    return _holds_name(other, term)


def _holds_name(other: Reading, name: Name) -> bool:
    """Return whether a name is in a sentence; its last part may stand for the whole.

    Not where that part belongs to somebody else's name (Mary Smith for John Smith).
    """
    if not name.parts:
        return True
    last, mine = name.parts[-1], set(name.parts)
    if last in other.keys:
        bearers = [set(found.parts) for found in other.names if last in found.parts]
        return not bearers or any(its <= mine or mine <= its for its in bearers)
    return any(_abbreviates(name, found) or _abbreviates(found, name) for found in other.names)


def _abbreviates(short: Name, long: Name) -> bool:
    initials = "".join(part[:1] for part in long.parts)
    return len(initials) > 1 and short.surface.isupper() and short.surface.casefold() == initials


_Conflict = tuple[str, tuple[Term, ...]]


def _number_conflicts(claim: Reading, other: Reading) -> list[_Conflict]:
    found: list[_Conflict] = []
    for number in claim.numbers:
        if holds(other, number):
            continue
        others = (rival for rival in other.numbers if not rival.is_cited)
        rivals = [rival.surface for rival in others if number.excludes(rival)]
        # A sentence that agrees in one sum may list others besides.
        siblings = [
            own
            for own in claim.numbers
            if own.value.kind is number.value.kind and holds(other, own)
        ]
        if siblings and not (number.value.kind is ValueKind.FIGURE and not number.value.unit):
            continue
        if rivals:
            found.append((f"{rivals[0]} instead of {number.surface}", (number,)))
    return found


def _side_conflicts(claim: Reading, other: Reading) -> list[_Conflict]:
    found: list[_Conflict] = []
    for pair, about, side in sorted(claim.sides - other.sides):
        if (pair, about, -side) not in other.sides or (pair, about, -side) in claim.sides:
            continue
        ours = tuple(
            word
            for word in claim.words
            if any(pair == name for name, _ in words.opposites().get(word.key, ()))
        )
        found.append((f"the opposite of “{_phrase(claim, ours, about)}”", ours))
    return found


def _phrase(claim: Reading, ours: tuple[Word, ...], about: str) -> str:
    if ours:
        return ours[0].surface
    surfaces = {word.key: word.surface for word in claim.words}
    surfaces |= {f"#{number.value.canonical}": number.surface for number in claim.numbers}
    return f"before/after or more/less: {surfaces.get(about, about)}"


def _denial_conflicts(claim: Reading, other: Reading) -> list[_Conflict]:
    """One denies what the other says. Words with an opposite are left to the sides."""
    surfaces = {word.key: word for word in claim.words}
    affirmed = other.asserted - other.denied
    denied = other.denied - other.asserted
    withheld = {key for key in claim.denied_first if key in affirmed}
    opposed = (other.denied_first & denied & claim.asserted) - claim.denied
    shared = claim.keys & other.keys & surfaces.keys()
    if len(shared) > 1 and shared <= denied and not claim.denied:
        opposed |= shared  # "nobody expects that …": all of it stands in the denial
    return [
        (f"“{surfaces[key].surface}” {what}", (surfaces[key],))
        for keys, what in ((withheld, "without the denial"), (opposed, "denied"))
        for key in sorted(keys)
        if key in surfaces and key not in words.opposites()
    ]


_LEAST_SHARE = 0.3
_SHARE_OF_BEST = 0.6
_LEAST_ADDING_SHARE = 0.15
_LEAST_TERMS = 2
_MOST_A_NODE = 100
_LONGEST_SUMMARY = 4_000  # characters
_LITTLE = 1e-9
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
    view = index.view(nodes) if index is not None and len(nodes) >= index.least_nodes else None
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
        covered = {term for candidate in taken for term in candidate.match.covered}
        taken += _adding(found.holding(covered), covered)
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

    def holding(self, covered: Collection[Term]) -> list[Candidate]:
        """The others, the strongest first; at least those that may hold more of the claim.

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

    def holding(self, covered: Collection[Term]) -> list[Candidate]:
        """All others."""
        del covered
        return self._found[self._strong :]


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
        self._may_hold: dict[Term, Iterable[int]] = {}
        gained: dict[int, float] = {}
        disputable: dict[int, float] = {}  # of what is gained, the terms that may be contradicted
        self._numbers = self._sides = 0.0
        for term, one in self._weights.items():
            found = self._may_hold[term] = self._with(term)
            is_side = isinstance(term, Word) and term.key in words.opposites()
            for number in found:
                gained[number] = gained.get(number, 0.0) + one
            if isinstance(term, Number) or is_side:
                for number in found:
                    disputable[number] = disputable.get(number, 0.0) + one
                self._numbers += 0.0 if is_side else one
                self._sides += one if is_side else 0.0
        self._gained, self._disputable = gained, disputable
        self._strong = self._read_strong()

    def _with(self, term: Term) -> Iterable[int]:
        if isinstance(term, Word):
            return self._view.with_key(term.key)
        if isinstance(term, Number):
            return self._view.with_number(term)
        return self._view.with_name(term)

    def _most_pull(self, number: int, gained: float) -> float:
        """Return what its pull is at most."""
        disputed = self._sides + (self._numbers if self._view.may_have_number(number) else 0.0)
        left = self._total - max(0.0, disputed - self._disputable.get(number, 0.0))
        return min(1.0, _ROOM * gained / left) if left > _LITTLE else 1.0

    def _read_strong(self) -> list[Candidate]:
        bounds = [
            (bound, number)
            for number, gained in self._gained.items()
            if (bound := self._most_pull(number, gained)) >= _LEAST_SHARE
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

    def holding(self, covered: Collection[Term]) -> list[Candidate]:
        """The others that may hold a term besides those covered, and weigh enough."""
        strong = {id(one) for one in self._strong}
        least = _LEAST_ADDING_SHARE * self._total / _ROOM
        numbers = {
            number
            for term, found in self._may_hold.items()
            if not term.light and term not in covered
            for number in found
            if self._gained[number] >= least
        }
        read_ = filter(None, map(self._read, numbers))
        return sorted((one for one in read_ if id(one) not in strong), key=_rank)


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


def _adding(others: Sequence[Candidate], covered: Collection[Term]) -> list[Candidate]:
    """Weaker sentences that hold a part of the claim which no stronger one holds."""
    held = set(covered)
    added: list[Candidate] = []
    for candidate in others:
        new = candidate.match.covered - held
        if candidate.match.share < _LEAST_ADDING_SHARE or all(term.light for term in new):
            continue
        added.append(candidate)
        held |= new
    return added


def _named_before(
    claim: Reading, nodes: Sequence[ReadNode], taken: Sequence[Candidate]
) -> list[tuple[str, int]]:
    """Sentences that name whom a chosen sentence only calls "he" or "it"."""
    referring = {one.sentence.node_id for one in taken if one.reading.refers_back}
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
