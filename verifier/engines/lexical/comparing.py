"""A claim beside one sentence by its terms: which of them it holds, and what it says otherwise.

Source: VeriTrail gives no lexical method; this is ours, and indicative only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.engines.lexical.reading import Name, Number, Reading, Word
from veritrail_graph.verifier.values import ValueKind

Term = Word | Name | Number

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
