"""Evidence and verdicts without a model: sentences that hold much of a claim, or deny it.

Evidence are the sentences that share much with the claim. One of them says it in the same words,
or says otherwise in one place, or words alone cannot tell.

Source: VeriTrail 3.1.2 and 3.1.3 (what is asked of a judge); the method is ours.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from veritrail_graph.graph.model import CitedSentence, Evidence, EvidenceRole, Sentence, Verdict
from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.engines.lexical.aligning import (
    Alignment,
    ItemKind,
    Sequenced,
    aligned,
    sequenced,
)
from veritrail_graph.verifier.engines.lexical.deciding import (
    Difference,
    difference,
    has_another_value,
    says_the_same,
)
from veritrail_graph.verifier.engines.lexical.reading import (
    Name,
    Number,
    Reading,
    Word,
    read,
)
from veritrail_graph.verifier.ports import ReadNode
from veritrail_graph.verifier.values import Value, ValueKind, same_matter
from veritrail_graph.verifier.values.model import NUMERIC
from veritrail_graph.verifier.values.reading import text_of

Term = Word | Name | Number

_WEIGHT_WORD = 1.0
_WEIGHT_STRICT = 2.0  # numbers and names: one wrong is a wrong claim
_LIGHT = 0.3


@dataclass(frozen=True, slots=True)
class Match:
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
    """What a term counts for, wherever it occurs."""
    base = _WEIGHT_WORD if isinstance(term, Word) else _WEIGHT_STRICT
    return base * _LIGHT if term.light else base


def compare(claim: Reading, other: Reading, weigh: Callable[[Term], float] = weight) -> Match:
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
    return Match(covered, gained / total, likeness, phrases, len(numbers))


def holds(other: Reading, term: Term) -> bool:
    """Whether a sentence holds a term of the claim."""
    if isinstance(term, Word):
        return term.key in other.keys
    if isinstance(term, Number):
        numbers = (n for n in other.numbers if term.is_cited or not n.is_cited)
        return any(number.agrees_with(term) for number in numbers)
    return _holds_name(other, term)


def _holds_name(other: Reading, name: Name) -> bool:
    """Whether a name is in a sentence; its last part may stand for the whole.

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
_LOOK_BACK = 3  # sentences in which a pronoun's name is looked for


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that shares something with the claim."""

    sentence: Sentence
    reading: Reading
    match: Match

    @property
    def pull(self) -> float:
        """How strongly it speaks for or against the claim, from 0 to 1."""
        return self.match.likeness if self.match.conflicts else self.match.share

    @property
    def rank(self) -> tuple[float, str, int]:
        """Sort key: the strongest first, then by place."""
        return (-self.pull, self.sentence.node_id, self.sentence.index)


def select(claim_text: str, nodes: Sequence[ReadNode]) -> tuple[Evidence, ...]:
    """The evidence in these nodes: one entry for each node that holds any, in their order."""
    claim = read(claim_text)
    chosen = chosen_for(claim_text, nodes)
    found: list[Evidence] = []
    for node in _with_chosen(chosen, nodes):
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


def _with_chosen(
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


def chosen_for(claim_text: str, nodes: Sequence[ReadNode]) -> dict[tuple[str, int], EvidenceRole]:
    """Return the sentences chosen for any sentence of a claim, by node and index."""
    chosen: dict[tuple[str, int], EvidenceRole] = {}
    for part in parts_of(claim_text):
        for place, role in choose(read(part), nodes).items():
            if role is EvidenceRole.EVIDENCE or place not in chosen:
                chosen[place] = role
    return chosen


def choose(claim: Reading, nodes: Sequence[ReadNode]) -> dict[tuple[str, int], EvidenceRole]:
    """The chosen sentences by node and index, whatever the order of the nodes."""
    candidates = _candidates(claim, nodes)
    if not candidates:
        return {}
    candidates.sort(key=lambda candidate: candidate.rank)
    bar = max(_LEAST_SHARE, _SHARE_OF_BEST * candidates[0].pull)
    strong = sum(candidate.pull >= bar for candidate in candidates)
    taken = _bounded(candidates[:strong])
    if taken:
        taken += _adding(candidates[strong:], taken)
    chosen = {
        (candidate.sentence.node_id, candidate.sentence.index): EvidenceRole.EVIDENCE
        for candidate in taken
    }
    for place in _named_before(claim, nodes, taken):
        chosen.setdefault(place, EvidenceRole.CONTEXT)
    return chosen


def _candidates(claim: Reading, nodes: Sequence[ReadNode]) -> list[Candidate]:
    everything = terms(claim)
    least = min(_LEAST_TERMS, len(everything))
    if not least:
        return []
    # Only readings that share something are kept: a frontier may have a million sentences.
    sharing: list[tuple[Sentence, Reading]] = []
    counts: Counter[str] = Counter()
    number = 0
    for node in nodes:
        for sentence in node.sentences:
            reading = read(sentence.text)
            shared = claim.keys & reading.keys
            counts.update(shared)
            number += 1
            if len(shared) + min(len(reading.numbers), 1) >= least:
                sharing.append((sentence, reading))
    weigh = _weigher(claim, counts, number)
    found: list[Candidate] = []
    for sentence, reading in sharing:
        match = compare(claim, reading, weigh)
        if len(match.covered) >= least or (match.conflicts and match.covered):
            found.append(Candidate(sentence, reading, match))
    return found


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


def _adding(others: Sequence[Candidate], taken: Sequence[Candidate]) -> list[Candidate]:
    """Weaker sentences that hold a part of the claim which no stronger one holds."""
    covered = {term for candidate in taken for term in candidate.match.covered}
    added: list[Candidate] = []
    for candidate in others:
        new = candidate.match.covered - covered
        if candidate.match.share < _LEAST_ADDING_SHARE or all(term.light for term in new):
            continue
        added.append(candidate)
        covered |= new
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
            for earlier in reversed(before[-_LOOK_BACK:]):
                if holds(read(earlier.text), name):
                    places.append((earlier.node_id, earlier.index))
                    break
    return places


def pronoun_names(claim: Reading, match: Match) -> list[Term]:
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


PREFIX = "Indicative (lexical, no model): "
CANNOT_TELL = "Cannot tell without a model: "
"""How the reason begins where there is no verdict."""
SILENCE = CANNOT_TELL + "no sentence shares enough words with the claim."
"""Why it tells nothing that no sentence was selected."""

_LONGEST_QUOTE = 160
_KIND_WORDS = {
    ValueKind.FIGURE: "figure",
    ValueKind.MONEY: "sum",
    ValueKind.PERCENT: "share",
    ValueKind.DATE: "date",
    ValueKind.TIME: "time",
}
_SENTENCE_END = re.compile(r"(?<=[.!?][\"\u201d)\s])\s*(?=[^\W\d_a-z])|(?<=[\u3002\uff01\uff1f])")
_LEAST_ITEMS = 2
_LONGEST_COMMENT = 20  # tokens


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence of the evidence, with those that stand before it in its node.

    Attributes:
        sentence: The sentence.
        before: Up to three before it, the nearest last.
        is_disputed: Whether the one before or behind may say that it is not so.
    """

    sentence: Sentence
    before: tuple[Sequenced, ...]
    is_disputed: bool

    @property
    def quoted(self) -> str:
        """The sentence for a person, on one line and not too long."""
        text = " ".join(self.sentence.text.split())
        return f"\u201c{_shortened(text)}\u201d"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1] + "\u2026"


@dataclass(frozen=True, slots=True)
class _Told:
    """What the sentences of the evidence tell of one sentence of the claim.

    Attributes:
        claim: The sentence of the claim.
        same: The sentences that say it in its words.
        against: Those that say otherwise, with the difference.
        doubts: Those that say all of it with another value, which may be of something else.
        nearest: Beside the sentence that says most of it.
    """

    claim: Sequenced
    same: tuple[_Piece, ...]
    against: tuple[tuple[_Piece, Difference], ...]
    doubts: tuple[_Piece, ...]
    nearest: tuple[_Piece, Alignment] | None


def decide(
    claim_text: str, evidence: Sequence[Evidence], roots: Sequence[ReadNode]
) -> tuple[Verdict | None, str]:
    """Decide on a claim, with the reason for a person; None: words alone cannot tell.

    Fully supported: each sentence of the claim is said by one sentence in the same words. Not
    fully supported: a sentence says otherwise, and none says the same.
    """
    if not any(not term.light for term in terms(read(claim_text))):
        reason = "the claim has no words, numbers or names to compare."
        return (None, CANNOT_TELL + reason)
    pieces = _pieces(claim_text, evidence, roots)
    told = [_told(sequenced(part), pieces, roots) for part in parts_of(claim_text)]
    for one in told:
        if one.same and one.against:
            piece, difference = one.against[0]
            reason = f"{one.same[0].quoted} says so, but {_pair(difference)}: {piece.quoted}."
            return (None, CANNOT_TELL + reason)
        if one.same and one.doubts:
            reason = f"{one.same[0].quoted} says so, but another sentence has another value: "
            return (None, f"{CANNOT_TELL}{reason}{one.doubts[0].quoted}.")
    for one in told:
        if one.against:
            piece, difference = one.against[0]
            return (Verdict.NOT_FULLY_SUPPORTED, f"{PREFIX}{_pair(difference)}: {piece.quoted}.")
    for one in told:
        if not one.same:
            return (None, CANNOT_TELL + _not_found(one))
        sources = {node.ref.node_id for node in roots}
        if sources and not any(piece.sentence.node_id in sources for piece in one.same):
            reason = f"no source that was read says so, only a later text: {one.same[0].quoted}."
            return (None, CANNOT_TELL + reason)
    quotes = "; ".join(dict.fromkeys(one.same[0].quoted for one in told))
    return (Verdict.FULLY_SUPPORTED, f"{PREFIX}said in the same words: {quotes}.")


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


def _pieces(
    claim_text: str, evidence: Sequence[Evidence], roots: Sequence[ReadNode]
) -> list[_Piece]:
    """The sentences that count, in their order, with what was cited or read before them."""
    cited = {
        (part.node_id, part.sentence): (part.as_sentence(), part.role)
        for found in evidence
        for part in found.sentences
    }
    known = {place: sentence for place, (sentence, _) in cited.items()}
    chosen = chosen_for(claim_text, roots)
    for node in _with_chosen(chosen, roots):
        sentences = node.sentences
        for index, sentence in enumerate(sentences):
            place = (sentence.node_id, sentence.index)
            if place in chosen:
                cited.setdefault(place, (sentence, chosen[place]))
                for near in sentences[max(0, index - _LOOK_BACK) : index + 2]:
                    known[near.node_id, near.index] = near
    pieces: list[_Piece] = []
    for (node_id, index), (sentence, role) in sorted(cited.items()):
        if role is EvidenceRole.EVIDENCE:
            places = ((node_id, index - back) for back in range(_LOOK_BACK, 0, -1))
            before = tuple(sequenced(known[place].text) for place in places if place in known)
            beside = [known.get((node_id, index + step)) for step in (-1, 1)]
            pieces.append(_Piece(sentence, before, any(map(_may_take_back, beside))))
    return pieces


def _may_take_back(sentence: Sentence | None) -> bool:
    """Whether a sentence may say of the one beside it that it is not so: "It was false."."""
    if sentence is None:
        return False
    found = [token.lower for token in text_of(sentence.text).tokens]
    return len(found) <= _LONGEST_COMMENT and not words.ABOUT_TRUTH.isdisjoint(found)


def _told(claim: Sequenced, pieces: Sequence[_Piece], roots: Sequence[ReadNode]) -> _Told:
    same: list[_Piece] = []
    against: list[tuple[_Piece, Difference]] = []
    doubts: list[_Piece] = []
    others: list[_Piece] = []
    nearest: tuple[_Piece, Alignment] | None = None
    for piece in pieces:
        alignment = aligned(claim, sequenced(piece.sentence.text))
        if nearest is None or len(alignment.missing) < len(nearest[1].missing):
            nearest = (piece, alignment)
        if says_the_same(alignment, piece.before) and not piece.is_disputed:
            same.append(piece)
        elif not piece.is_disputed and (found := difference(alignment)) is not None:
            against.append((piece, found))
        else:
            others.append(piece)
            if has_another_value(alignment):
                doubts.append(piece)
    # Where another sentence on the matter has the value of the claim, the texts do not agree.
    certain = [
        (piece, found)
        for piece, found in against
        if found.value is None
        or not (
            any(_has(other, found.value, claim) for other in others)
            or _stands_elsewhere(found.value, piece, roots)
        )
    ]
    sure = tuple(certain if not same else against)
    return _Told(claim, tuple(same), sure, tuple(doubts), nearest)


def _has(piece: _Piece, value: Value, claim: Sequenced) -> bool:
    text = piece.sentence.text
    held = any(value.agrees(placed.value) for placed in text_of(text).placed)
    return held and same_matter(claim.text.plain, text, value)


def _stands_elsewhere(value: Value, piece: _Piece, roots: Sequence[ReadNode]) -> bool:
    """Whether another sentence of a source has the claim's value, be it of something else."""
    wanted = value.amount if value.kind in NUMERIC else None
    return any(
        value.agrees(placed.value)
        or (wanted and placed.value.kind in NUMERIC and placed.value.amount == wanted)
        for node in roots
        for sentence in node.sentences
        if sentence != piece.sentence
        for placed in text_of(sentence.text).placed
    )


def _pair(difference: Difference) -> str:
    mine = f"\u201c{difference.claim}\u201d" if difference.claim else "no denial"
    its = f"\u201c{difference.sentence}\u201d" if difference.sentence else "no denial"
    return f"{mine} in the claim, {its} in the sentence"


def _not_found(told: _Told) -> str:
    if told.nearest is None:
        return "no sentence shares enough words with the claim."
    piece, alignment = told.nearest
    missing = [told.claim.items[number] for number in alignment.missing]
    values = [item for item in missing if item.kind is ItemKind.VALUE and item.value is not None]
    if values:
        kind = _KIND_WORDS.get(values[0].value.kind, "value") if values[0].value else "value"
        value = values[0].surface
        return f"its {kind} {value} does not stand in the nearest sentence: {piece.quoted}."
    if missing:
        absent = ", ".join(dict.fromkeys(f"\u201c{item.surface}\u201d" for item in missing[:12]))
        return f"no sentence says it in the same words; the nearest lacks {absent}: {piece.quoted}."
    if alignment.sentence.asks:
        return f"its words stand in a question: {piece.quoted}."
    if piece.is_disputed:
        return f"the sentence beside its words may say that it is not so: {piece.quoted}."
    return f"its words stand in a sentence, but not said in the same way: {piece.quoted}."
