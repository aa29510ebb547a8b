"""Verdicts without a model: a sentence of the evidence says the claim, or says otherwise.

One of them says it in the same words, or says otherwise in one place, or words alone cannot tell.

Source: VeriTrail 3.1.3 (what is asked of a judge); the method is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from veritrail_graph.graph.model import Evidence, EvidenceRole, Sentence, Verdict
from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.engines.lexical.additions import opening_pronoun
from veritrail_graph.verifier.engines.lexical.aligning import (
    Alignment,
    ItemKind,
    Sequenced,
    aligned,
    sequenced,
)
from veritrail_graph.verifier.engines.lexical.comparing import terms
from veritrail_graph.verifier.engines.lexical.deciding import (
    WordsReplaced,
    difference,
    has_another_value,
    says_the_same,
)
from veritrail_graph.verifier.engines.lexical.indexing import SentenceIndex
from veritrail_graph.verifier.engines.lexical.ordering import in_other_orders
from veritrail_graph.verifier.engines.lexical.reading import (
    read,
)
from veritrail_graph.verifier.engines.lexical.selecting import (
    LOOK_BACK,
    chosen_for,
    parts_of,
    with_chosen,
)
from veritrail_graph.verifier.ports import ReadNode
from veritrail_graph.verifier.values import Value, ValueKind, same_matter
from veritrail_graph.verifier.values.derived import may_be_derived
from veritrail_graph.verifier.values.model import NUMERIC
from veritrail_graph.verifier.values.reading import text_of

PREFIX = "Indicative (lexical, no model): "
CANNOT_TELL = "Cannot tell without a model: "
"""How the reason begins where there is no verdict."""
_NOTHING_SHARED = "no sentence shares enough words with the claim."
SILENCE = CANNOT_TELL + _NOTHING_SHARED
"""Why it tells nothing that no sentence was selected."""

_LONGEST_QUOTE = 160
_KIND_WORDS = {
    ValueKind.FIGURE: "figure",
    ValueKind.MONEY: "sum",
    ValueKind.PERCENT: "share",
    ValueKind.DATE: "date",
    ValueKind.TIME: "time",
}
_AROUND = 2
"""Sentences before and behind one from which a figure of it may follow."""
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
    """The sentences of the evidence that speak for or against one sentence of the claim.

    Attributes:
        claim: The sentence of the claim.
        same: The sentences that say it in its words.
        against: Those that say otherwise, with the difference.
        doubts: Those that say all of it with another value, which may be of something else.
        nearest: Beside the sentence that says most of it.
    """

    claim: Sequenced
    same: tuple[_Piece, ...]
    against: tuple[tuple[_Piece, WordsReplaced], ...]
    doubts: tuple[_Piece, ...]
    nearest: tuple[_Piece, Alignment] | None


def decide(
    claim_text: str,
    evidence: Sequence[Evidence],
    roots: Sequence[ReadNode],
    index: SentenceIndex | None = None,
) -> tuple[Verdict | None, str]:
    """Decide on a claim, with the reason for a person; None: words alone cannot tell.

    Fully supported: each sentence of the claim is said by one sentence in the same words. Not
    fully supported: a sentence says otherwise, and none says the same.
    """
    if not any(not term.light for term in terms(read(claim_text))):
        reason = "the claim has no words, numbers or names to compare."
        return (None, CANNOT_TELL + reason)
    pieces = _pieces(claim_text, evidence, roots, index)
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


def _pieces(
    claim_text: str,
    evidence: Sequence[Evidence],
    roots: Sequence[ReadNode],
    index: SentenceIndex | None,
) -> list[_Piece]:
    """The sentences that count, in their order, with what was cited or read before them."""
    cited = {
        (part.node_id, part.sentence): (part.as_sentence(), part.role)
        for found in evidence
        for part in found.sentences
    }
    known = {place: sentence for place, (sentence, _) in cited.items()}
    chosen = chosen_for(claim_text, roots, index)
    for node in with_chosen(chosen, roots):
        sentences = node.sentences
        for at, sentence in enumerate(sentences):
            place = (sentence.node_id, sentence.index)
            if place in chosen:
                cited.setdefault(place, (sentence, chosen[place]))
                for near in sentences[max(0, at - LOOK_BACK) : at + 2]:
                    known[near.node_id, near.index] = near
    pieces: list[_Piece] = []
    for (node_id, at), (sentence, role) in sorted(cited.items()):
        if role is EvidenceRole.EVIDENCE:
            places = ((node_id, at - back) for back in range(LOOK_BACK, 0, -1))
            before = tuple(sequenced(known[place].text) for place in places if place in known)
            beside = [known.get((node_id, at + step)) for step in (-1, 1)]
            pieces.append(_Piece(sentence, before, any(map(_may_take_back, beside))))
    return pieces


def _may_take_back(sentence: Sentence | None) -> bool:
    """Return whether a sentence may say of the one beside it that it is not so: "It was false."."""
    if sentence is None:
        return False
    found = [token.lower for token in text_of(sentence.text).tokens]
    return len(found) <= _LONGEST_COMMENT and not words.ABOUT_TRUTH.isdisjoint(found)


def _told(claim: Sequenced, pieces: Sequence[_Piece], roots: Sequence[ReadNode]) -> _Told:
    same: list[_Piece] = []
    against: list[tuple[_Piece, WordsReplaced]] = []
    doubts: list[_Piece] = []
    others: list[_Piece] = []
    nearest: tuple[_Piece, Alignment] | None = None
    other_orders = in_other_orders(claim)
    for piece in pieces:
        sentence = sequenced(piece.sentence.text)
        alignment = aligned(claim, sentence)
        orders = [alignment, *(aligned(other, sentence) for other in other_orders)]
        if nearest is None or len(alignment.missing) < len(nearest[1].missing):
            nearest = (piece, alignment)
        if not piece.is_disputed and any(says_the_same(one, piece.before) for one in orders):
            same.append(piece)
        elif not piece.is_disputed and (found := next(filter(None, map(difference, orders)), None)):
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
            or _may_be_right(found, found.value, piece, roots)
        )
    ]
    sure = tuple(certain if not same else against)
    return _Told(claim, tuple(same), sure, tuple(doubts), nearest)


def _has(piece: _Piece, value: Value, claim: Sequenced) -> bool:
    text = piece.sentence.text
    held = any(_may_say(placed.value, value) for placed in text_of(text).placed)
    return held and same_matter(claim.text.plain, text, value)


def _may_be_right(
    found: WordsReplaced, value: Value, piece: _Piece, roots: Sequence[ReadNode]
) -> bool:
    """Return whether a claim may be right though a sentence has another value in its place."""
    if value.kind is ValueKind.NAME:
        return not _is_of_another(found, value, piece, roots)
    return _stands_elsewhere(value, piece, roots) or _follows_from_around(value, piece, roots)


def _is_of_another(
    found: WordsReplaced, name: Value, piece: _Piece, roots: Sequence[ReadNode]
) -> bool:
    """Return whether the sources know a claim's name as that of somebody or something else.

    Beijing may be another name of Peking, so a name that stands in no other sentence of them tells
    nothing. Neither does one of which, or of its rival, they say how it is called.
    """
    is_known = False
    for node in roots:
        for sentence in node.sentences:
            text = text_of(sentence.text)
            has_name = any(
                name.agrees(placed.value) and placed.value.agrees(name) for placed in text.placed
            )
            if not has_name and found.sentence not in text.plain:
                continue
            if any(token.lower in words.NAMING for token in text.tokens):
                return False
            is_known = is_known or (has_name and sentence != piece.sentence)
    return is_known


def _may_say(its: Value, value: Value) -> bool:
    """Return whether a value of a text says another one; 5:10 may say 17:10."""
    return value.may_be(its) if value.kind is ValueKind.TIME else value.agrees(its)


def _stands_elsewhere(value: Value, piece: _Piece, roots: Sequence[ReadNode]) -> bool:
    """Return whether another sentence of a source has the value, even of something else."""
    wanted = value.amount if value.kind in NUMERIC else None
    return any(
        _may_say(placed.value, value)
        or (wanted and placed.value.kind in NUMERIC and placed.value.amount == wanted)
        for node in roots
        for sentence in node.sentences
        if sentence != piece.sentence
        for placed in text_of(sentence.text).placed
    )


def _follows_from_around(value: Value, piece: _Piece, roots: Sequence[ReadNode]) -> bool:
    """Return whether a figure may follow from figures of the sentences around one of a source."""
    if value.kind not in NUMERIC:
        return False
    sentence = piece.sentence
    near = [
        other.text
        for node in roots
        if node.ref.node_id == sentence.node_id
        for other in node.sentences
        if abs(other.index - sentence.index) <= _AROUND
    ]
    others = [placed.value for text in near for placed in text_of(text).placed]
    return may_be_derived(value, others, sentence.text)


def _pair(difference: WordsReplaced) -> str:
    mine = f"\u201c{difference.claim}\u201d" if difference.claim else "no denial"
    its = f"\u201c{difference.sentence}\u201d" if difference.sentence else "no denial"
    return f"{mine} in the claim, {its} in the sentence"


def _not_found(told: _Told) -> str:
    if told.nearest is None:
        return _NOTHING_SHARED
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
    if (pronoun := opening_pronoun(told.claim)) is not None:
        who = f"it opens with \u201c{pronoun}\u201d"
        return f"{who}, and words do not tell whom or what that means here: {piece.quoted}."
    return f"its words stand in a sentence, but not said in the same way: {piece.quoted}."
