"""Evidence and verdicts without a model: sentences that hold much of a claim, or deny it.

A sentence is compared with the claim term by term; the chosen ones together must hold all of it,
and none may say otherwise.

Source: VeriTrail 3.1.2 and 3.1.3 (what is asked of a judge); the method is ours.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from veritrail_graph.graph.model import CitedSentence, Evidence, EvidenceRole, Sentence, Verdict
from veritrail_graph.verifier.engines.lexical.reading import (
    Name,
    Number,
    NumberKind,
    Reading,
    Word,
    read,
)
from veritrail_graph.verifier.ports import ReadNode
from veritrail_graph.verifier.vocabulary import UNIVERSAL_KEY, opposites

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
        qualified: What it denies in some way only while the claim denies it outright, each as a
            phrase for a person: no contradiction, and no support.
    """

    covered: frozenset[Term]
    share: float
    likeness: float
    conflicts: tuple[str, ...] = ()
    other_numbers: int = 0
    qualified: tuple[str, ...] = ()


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
    qualified = _qualified_denials(claim, other)
    return Match(covered, gained / total, likeness, phrases, len(numbers), qualified)


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
        siblings = [own for own in claim.numbers if own.kind is number.kind and holds(other, own)]
        if siblings and number.kind is not NumberKind.COUNT:
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
            if any(pair == name for name, _ in opposites().get(word.key, ()))
        )
        found.append((f"the opposite of “{_phrase(claim, ours, about)}”", ours))
    return found


def _phrase(claim: Reading, ours: tuple[Word, ...], about: str) -> str:
    if ours:
        return ours[0].surface
    surfaces = {word.key: word.surface for word in claim.words}
    surfaces |= {f"#{number.value}": number.surface for number in claim.numbers}
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
        if key in surfaces and key not in opposites()
    ]


def _qualified_denials(claim: Reading, other: Reading) -> tuple[str, ...]:
    """What is denied in some way only: not immediately, where the claim says not at all."""
    surfaces = {word.key: word.surface for word in claim.words}
    return tuple(
        f"“{surfaces[key]}” only with “{other.qualified[key]}”"
        for key in sorted(claim.denied_first & surfaces.keys() & other.qualified.keys())
        if key not in claim.qualified
    )


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
    chosen = choose(claim, nodes)
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


def is_strict(term: Term) -> bool:
    """Whether a term must be held: numbers and names, unless in [brackets]."""
    return isinstance(term, (Number, Name)) and not term.light


PREFIX = "Indicative (lexical, no model): "
CANNOT_TELL = "Cannot tell without a model: "
"""How the reason begins where there is no verdict."""
SILENCE = CANNOT_TELL + "no sentence says this in the same words, and others may say it."
"""Why it tells nothing that no sentence was selected."""

_LEAST_ANCHOR = 0.4  # at least one sentence holds this much of the claim
_LEAST_BACKING_SHARE = 0.15  # and each other one this much
_MISSING_WORDS = 0.2
_CONTRADICTS = 0.6
_RIVALS = 0.3  # a rival may leave out this much that the best sentence holds


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence of the evidence beside the claim; `reading` without, `match` with it."""

    sentence: Sentence
    reading: Reading
    match: Match


def decide(
    claim_text: str, evidence: Sequence[Evidence], roots: Sequence[ReadNode]
) -> tuple[Verdict | None, str]:
    """Decide on a claim, with the reason for a person; None: words alone cannot tell."""
    claim = read(claim_text)
    if not any(not term.light for term in terms(claim)):
        reason = "the claim has no words, numbers or names to compare."
        return (None, CANNOT_TELL + reason)
    pieces, context = _pieces(claim, evidence, roots)
    against = [piece for piece in pieces if piece.match.conflicts]
    against = [piece for piece in against if piece.match.likeness >= _CONTRADICTS]
    backing = _backing(pieces)
    held = _held(claim, backing, context)
    missing = [term for term in terms(claim) if term not in held and not term.light]
    if not _enough(claim, backing, missing):
        partly = [piece for piece in pieces if piece.match.qualified]
        reason = _why_not(backing, missing, against, partly, held)
        if against:
            return (Verdict.NOT_FULLY_SUPPORTED, PREFIX + reason)
        return (None, CANNOT_TELL + reason)
    best = max(piece.match.share for piece in backing)
    rivals = [p for p in against if p.match.likeness >= best - _RIVALS and _same_matter(claim, p)]
    if rivals:
        reason = f"{_matched(held, backing)}, but {_otherwise(rivals)}: the evidence conflicts."
        return (None, CANNOT_TELL + reason)
    reason = _matched(held, backing)
    reason += f"; not found: {listed(missing)}." if missing else "; nothing is missing."
    return (Verdict.FULLY_SUPPORTED, PREFIX + reason)


def _pieces(
    claim: Reading, evidence: Sequence[Evidence], roots: Sequence[ReadNode]
) -> tuple[list[_Piece], dict[str, list[Reading]]]:
    """The sentences that count, best first, and the context sentences by node."""
    cited = {
        (part.node_id, part.sentence): (part.as_sentence(), part.role)
        for found in evidence
        for part in found.sentences
    }
    chosen = choose(claim, roots)
    for node in _with_chosen(chosen, roots):
        for sentence in node.sentences:
            place = (sentence.node_id, sentence.index)
            if place in chosen:
                cited.setdefault(place, (sentence, chosen[place]))
    pieces: list[_Piece] = []
    context: dict[str, list[Reading]] = {}
    for sentence, role in cited.values():
        reading = read(sentence.text)
        context.setdefault(sentence.node_id, []).append(reading)
        if role is EvidenceRole.EVIDENCE:
            pieces.append(_Piece(sentence, reading, compare(claim, reading)))
    pieces.sort(key=lambda p: (-p.match.share, p.sentence.node_id, p.sentence.index))
    return pieces, context


def _backing(pieces: Sequence[_Piece]) -> list[_Piece]:
    """The pieces that say nothing otherwise and hold a fair part of the claim."""
    agreeing = (p for p in pieces if not p.match.conflicts and not p.match.qualified)
    return [p for p in agreeing if p.match.share >= _LEAST_BACKING_SHARE]


def _same_matter(claim: Reading, piece: _Piece) -> bool:
    """Whether a piece that says otherwise speaks of the same case, not of another one.

    "In 2020 it sold 3 boats" says nothing against "In 2021 it sold 4 boats", nor does
    what somebody else sold.
    """
    named = piece.reading.refers_back or not pronoun_names(claim, piece.match)
    return named and piece.match.other_numbers < 2


def _held(
    claim: Reading, backing: Sequence[_Piece], context: dict[str, list[Reading]]
) -> frozenset[Term]:
    """The terms that the backing pieces hold together.

    The name behind a pronoun may come from another chosen sentence of the same node.
    """
    held: set[Term] = set()
    for piece in backing:
        held |= piece.match.covered
        if piece.reading.refers_back:
            nearby = context.get(piece.sentence.node_id, [])
            for name in pronoun_names(claim, piece.match):
                if any(holds(reading, name) for reading in nearby):
                    held.add(name)
    return frozenset(held)


def _enough(claim: Reading, backing: Sequence[_Piece], missing: Sequence[Term]) -> bool:
    if not backing or backing[0].match.share < _LEAST_ANCHOR:
        return False
    if any(is_strict(term) for term in missing):
        return False
    absent = [term for term in missing if isinstance(term, Word)]
    # What the claim opens with is mostly whom it is about; "all" is never a detail.
    if {word.key for word in absent} & {claim.subject, UNIVERSAL_KEY}:
        return False
    required = sum(not word.light for word in claim.words)
    return len(absent) <= int(_MISSING_WORDS * required)


def _matched(held: frozenset[Term], backing: Sequence[_Piece]) -> str:
    found = sorted(held, key=lambda term: term.surface)
    parts = [_counted(sum(isinstance(term, Word) for term in found), "key word")]
    for kind in (Number, Name):
        some = [term for term in found if isinstance(term, kind)]
        if some:
            label = _counted(len(some), kind.__name__.lower())
            parts.append(f"{label} ({listed(some)})")
    where = _counted(len(backing), "sentence")
    return f"{', '.join(parts)} of the claim found in {where}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _why_not(
    backing: Sequence[_Piece],
    missing: Sequence[Term],
    against: Sequence[_Piece],
    partly: Sequence[_Piece],
    held: frozenset[Term],
) -> str:
    if against:
        return f"{_otherwise(against)}."
    if partly:
        denials = "; ".join(partly[0].match.qualified)
        return f"a sentence denies {denials}: “{_quote(partly[0])}”."
    if not held:
        return "no sentence holds enough of the claim."
    reason = _matched(held, backing)
    if missing:
        return f"{reason}; missing: {listed(missing)}."
    return f"{reason}, but no single sentence holds enough of it."


def _otherwise(pieces: Sequence[_Piece]) -> str:
    conflicts = "; ".join(pieces[0].match.conflicts)
    return f"a sentence says otherwise ({conflicts}): “{_quote(pieces[0])}”"


def _quote(piece: _Piece) -> str:
    text = " ".join(piece.sentence.text.split())
    return text if len(text) <= 160 else text[:159] + "…"
