"""The pair that explains a claim: what the source says, and what the step at fault wrote.

It is read off the trail. Where sentences of the error nodes are attributed, `twists` tell more
beside it. Pages, reports and notebooks show it in the picture of the claim (`picture.py`), all else
as the quotes of a document.

Source: VeriTrail 3.2 (error localization); the choice of the two sentences is ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from veritrail_graph.api.show.located import quote_pieces, went_wrong
from veritrail_graph.api.show.trail_view import TrailView
from veritrail_graph.api.show.twists import MOST_CHANGES, turned_words
from veritrail_graph.api.show.words import selects_by_words
from veritrail_graph.graph.evidence_pair import (
    MOST_CHARACTERS,
    ComparedPair,
    SelectedSentence,
    compared_pair,
    evidence_pair,
)
from veritrail_graph.graph.model import MarkedSentence, Role, ValuePlace, Verdict
from veritrail_graph.graph.word_diff import Piece

MOST_NAMED = 5
"""Missing words that are named."""


@dataclass(frozen=True, slots=True)
class Quote:
    """One side of the pair.

    Attributes:
        node_id: The node whose text it is.
        place: Its stage, in words; empty: not known.
        pieces: The sentence; changed where the other side has other words.
        is_root: Whether the node is a source text.
        sentence: The number of the sentence in the node; None: it is the claim in the answer.
    """

    node_id: str
    place: str
    pieces: tuple[Piece, ...]
    is_root: bool = False
    sentence: int | None = None

    @property
    def text(self) -> str:
        """The sentence without marks."""
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Contrast:
    """A source sentence beside the sentence that was written from it.

    Attributes:
        source: The sentence upstream that is closest; None: none was selected there.
        not_found: In place of the source: what was looked for, and where.
        wrote: The sentence that states the claim, of the node at fault or of the answer.
        words: What differs, in a sentence; None: nothing is compared.
        is_at_fault: Whether `wrote` is where unsupported content came in.
        among: How many nodes may be at fault.
        is_asked: Whether `wrote` is a question that the answer is not known to say.
        where: Of a pair by a value: where it went wrong, and how that was found.
        writer: What wrote it, where that is no claim: a step, or the answer.
    """

    source: Quote | None
    wrote: Quote
    words: str | None
    is_at_fault: bool
    among: int = 1
    not_found: str = ""
    is_asked: bool = False
    where: str = ""
    writer: str = "step"

    @property
    def source_heading(self) -> str:
        """Return what stands above the source."""
        if self.source is None:
            return "Looked for"
        if not self.source.place:
            return "The text before says"
        return "The source says" if self.source.is_root else "The step before says"

    @property
    def wrote_heading(self) -> str:
        """Return what stands above what was written."""
        if self.wrote.sentence is not None:
            return f"The {self.writer} wrote"
        return "You asked" if self.is_asked else "The answer says"


def contrast_of(view: TrailView) -> Contrast | None:
    """The pair of a verification; None where it has no verdict, or nothing was selected.

    Where a value leads to its culprit, it is the two sentences with the value. Else of the error
    nodes that one is taken whose evidence has most words of the claim. Beside it
    stands the sentence of its inputs that is closest to what it wrote. Words are compared only
    where the claim is not fully supported: elsewhere other words are no error.
    """
    one = view.verification
    if one.value_place is not None:
        return _by_value(view, one.value_place)
    pair = evidence_pair(one, view.nodes)
    if pair is None:
        return None
    at_fault = {each.node_id for each in view.introduced}
    if pair.wrote is None:
        text, wrote = one.claim, Quote(one.node_id, "the answer", ())
    else:
        text, wrote = pair.wrote.cited.text, _quote(pair.wrote, view)
    if pair.source is None:
        return Contrast(
            None,
            _with(wrote, (Piece(_cut(text)),)),
            None,
            bool(at_fault),
            len(at_fault) or 1,
            _not_found(view),
        )
    said = _cut(pair.source.cited.text)
    before: tuple[Piece, ...] = (Piece(said),)
    after: tuple[Piece, ...] = (Piece(_cut(text)),)
    words = None
    is_asked = pair.wrote is None and view.unsaid is not None
    if one.verdict is Verdict.NOT_FULLY_SUPPORTED and not is_asked:
        compared = compared_pair(said, _cut(text), one.claim)
        before, after = compared.source, compared.wrote
        words = _words_of(compared, "The answer" if pair.wrote is None else "The step")
    found = _with(_quote(pair.source, view), before)
    wrote = _with(wrote, after)
    at = (bool(at_fault), len(at_fault) or 1)
    return Contrast(found, wrote, words, *at, is_asked=is_asked)


def _by_value(view: TrailView, place: ValuePlace) -> Contrast:
    """The sentence that a value was turned in, beside the one that has the other value."""
    is_answer = place.culprit == view.verification.node_id
    writer = "answer" if is_answer else "step"
    where = went_wrong(view.verification, view.stage_names) or ""
    if place.carried_on:
        names = ", ".join(place.carried_on[:MOST_NAMED])
        more = len(place.carried_on) - MOST_NAMED
        where += f"; carried on by {names}" + (f" and {more:,} more" if more > 0 else "")
    return Contrast(
        _marked_quote(place.source, view),
        _marked_quote(place.wrote, view),
        f"The {writer} turned “{place.difference.source}” into “{place.difference.wrote}”.",
        is_at_fault=True,
        among=len(place.node_ids),
        where=f"{where[:1].upper()}{where[1:]}.",
        writer=writer,
    )


def _marked_quote(said: MarkedSentence, view: TrailView) -> Quote:
    name = view.stage_names.get(said.stage) if said.stage is not None else None
    known = view.node(said.node_id)
    # Of a node that the walk found nothing in no role is known here: sources have the first stage.
    role = known.ref.role if known is not None else None
    is_root = (said.stage or 0) <= 1 if role is None else role is Role.ROOT
    pieces = quote_pieces(said, MOST_CHARACTERS // 2)
    return Quote(said.node_id, name or f"stage {said.stage}", pieces, is_root, said.sentence)


def _not_found(view: TrailView) -> str:
    """Return what was looked for upstream of a step, and not found."""
    if not any(node.ref.is_root for node in view.nodes):
        return view.not_found
    if selects_by_words(view.verification.engine):
        return "No sentence of what this step was made from says this in these words."
    return "No sentence was selected from what this step was made from."


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def _quote(said: SelectedSentence, view: TrailView) -> Quote:
    stage = said.node.ref.stage
    names = {level.stage: level.name for level in view.levels}
    place = "" if stage is None else names.get(stage) or f"stage {stage}"
    return Quote(said.node.node_id, place, (), said.node.ref.is_root, said.cited.sentence)


def _with(quote: Quote, pieces: tuple[Piece, ...]) -> Quote:
    return Quote(quote.node_id, quote.place, pieces, quote.is_root, quote.sentence)


def _words_of(compared: ComparedPair, subject: str) -> str:
    """Say what differs, in a sentence."""
    changes = compared.changes
    if changes is None:
        words = []
        if compared.missing:
            named = ", ".join(f"“{one}”" for one in compared.missing[:MOST_NAMED])
            more = len(compared.missing) - MOST_NAMED
            left = f" and {more} more" if more > 0 else ""
            words.append(f"Not in the earlier sentence: {named}{left}.")
        if compared.denied:
            named = ", ".join(f"“{one}”" for one in compared.denied[:MOST_NAMED])
            words.append(f"Only in the earlier sentence: {named}.")
        return " ".join(words) or "The two sentences share few words."
    if not changes:
        return "The two sentences have the same words."
    if len(changes) > MOST_CHANGES:
        return f"The two sentences differ in {len(changes)} places."
    return f"{subject} {turned_words(changes)}."
