"""Verdict generation without a model: is all of the claim held, and does nothing deny it?

Source: VeriTrail 3.1.3 and 2 (the three verdicts); the method is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from veritrail_graph.graph.model import Evidence, EvidenceRole, Sentence, Verdict
from veritrail_graph.verifier.engines.lexical.comparison import Match, Term, compare, holds, terms
from veritrail_graph.verifier.engines.lexical.numbers import Number
from veritrail_graph.verifier.engines.lexical.reading import Name, Reading, Word, read
from veritrail_graph.verifier.engines.lexical.selection import (
    choose,
    is_strict,
    listed,
    pronoun_names,
)
from veritrail_graph.verifier.engines.lexical.vocabulary import UNIVERSAL_KEY
from veritrail_graph.verifier.ports import ReadNode

PREFIX = "Indicative (lexical, no model): "

_LEAST_ANCHOR = 0.4  # at least one sentence holds this much of the claim
_LEAST_SHARE = 0.15  # and each other one this much
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
) -> tuple[Verdict, str]:
    """The verdict on a claim, with the reason for a person."""
    claim = read(claim_text)
    if not any(not term.light for term in terms(claim)):
        reason = "the claim has no words, numbers or names to compare."
        return (Verdict.NOT_FULLY_SUPPORTED, PREFIX + reason)
    pieces, context = _pieces(claim, evidence, roots)
    against = [piece for piece in pieces if piece.match.conflicts]
    against = [piece for piece in against if piece.match.likeness >= _CONTRADICTS]
    backing = _backing(pieces)
    held = _held(claim, backing, context)
    missing = [term for term in terms(claim) if term not in held and not term.light]
    if not _enough(claim, backing, missing):
        return (Verdict.NOT_FULLY_SUPPORTED, PREFIX + _why_not(backing, missing, against, held))
    best = max(piece.match.share for piece in backing)
    rivals = [p for p in against if p.match.likeness >= best - _RIVALS and _same_matter(claim, p)]
    if rivals:
        reason = f"{_matched(held, backing)}, but {_otherwise(rivals)}: the evidence conflicts."
        return (Verdict.INCONCLUSIVE, PREFIX + reason)
    reason = _matched(held, backing)
    reason += f"; not found: {listed(missing)}." if missing else "; nothing is missing."
    return (Verdict.FULLY_SUPPORTED, PREFIX + reason)


def _pieces(
    claim: Reading, evidence: Sequence[Evidence], roots: Sequence[ReadNode]
) -> tuple[list[_Piece], dict[str, list[Reading]]]:
    """The sentences that count, best first, and the context sentences by node."""
    cited = {
        (part.sentence.node_id, part.sentence.index): (part.sentence, part.role)
        for found in evidence
        for part in found.sentences
    }
    chosen = choose(claim, roots)
    for node in roots:
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
    return [p for p in pieces if not p.match.conflicts and p.match.share >= _LEAST_SHARE]


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
    held: frozenset[Term],
) -> str:
    if against:
        return f"{_otherwise(against)}."
    if not held:
        return "no sentence holds enough of the claim."
    reason = _matched(held, backing)
    if missing:
        return f"{reason}; missing: {listed(missing)}."
    return f"{reason}, but no single sentence holds enough of it."


def _otherwise(pieces: Sequence[_Piece]) -> str:
    first = pieces[0]
    quote = " ".join(first.sentence.text.split())
    quote = quote if len(quote) <= 160 else quote[:159] + "…"
    return f"a sentence says otherwise ({'; '.join(first.match.conflicts)}): “{quote}”"
