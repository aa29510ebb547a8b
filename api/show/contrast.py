"""The pair that explains a claim: what the source says, and what the step at fault wrote.

It is read off the trail. Where sentences of the error nodes are attributed, `twists` tell more
beside it. The page shows it with `parts/contrast.html`, all else as the quotes of a document.

Source: VeriTrail 3.2 (error localization); the choice of the two sentences is ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from veritrail_graph.api.show.located import quote_pieces, went_wrong
from veritrail_graph.api.show.trail_view import EvidenceNode, TrailView
from veritrail_graph.api.show.twists import MOST_CHANGES, turned_words
from veritrail_graph.api.show.words import selects_by_words
from veritrail_graph.graph.model import (
    CitedSentence,
    EvidenceRole,
    MarkedSentence,
    Role,
    ValuePlace,
    Verdict,
)
from veritrail_graph.graph.word_diff import Change, Piece, word_diff

MOST_READ = 2_000
"""Sentences of one side among which the pair is looked for."""
LEAST_ALIKE = 0.5
"""The share of words in common below which nothing is aligned: missing words are named instead."""
SHORTEST_WORD = 4
"""Letters of a word that is named as missing; figures always are."""
MOST_NAMED = 5
"""Missing words that are named."""
MOST_CHARACTERS = 600
"""Characters of a sentence that are compared and shown."""

_WORD = re.compile(r"\w+(?:[.,]\d+)*")


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
    """What a source says, and what was written of it.

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
        """What stands above the source."""
        if self.source is None:
            return "Looked for"
        if not self.source.place:
            return "The text before says"
        return "The source says" if self.source.is_root else "The step before says"

    @property
    def wrote_heading(self) -> str:
        """What stands above what was written."""
        if self.wrote.sentence is not None:
            return f"The {self.writer} wrote"
        return "You asked" if self.is_asked else "The answer says"


@dataclass(frozen=True, slots=True)
class _Said:
    node: EvidenceNode
    cited: CitedSentence


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
    if one.verdict is None or not view.nodes:
        return None
    claim = one.claim
    answer = one.node_id
    at_fault = {each.node_id for each in view.introduced}
    stated = _closest(_said(node for node in view.nodes if node.node_id in at_fault), claim)
    if stated is None:
        if any(node.ref.role is None for node in view.nodes):
            return None  # read from JSON: which of them is a source is not known
        text, here = claim, answer
        wrote = Quote(answer, "the answer", ())
    else:
        text, here = stated.cited.text, stated.node.node_id
        wrote = _quote(stated, view)
    source = _closest(_said(_upstream(view, here, answer)), text)
    if source is None:
        return Contrast(
            None,
            _with(wrote, (Piece(_cut(text)),)),
            None,
            bool(at_fault),
            len(at_fault) or 1,
            _not_found(view),
        )
    said = _cut(source.cited.text)
    before: tuple[Piece, ...] = (Piece(said),)
    after: tuple[Piece, ...] = (Piece(_cut(text)),)
    words = None
    is_asked = stated is None and view.unsaid is not None
    if one.verdict is Verdict.NOT_FULLY_SUPPORTED and not is_asked:
        subject = "The answer" if stated is None else "The step"
        before, after, words = _compared(said, _cut(text), claim, subject)
    found = _with(_quote(source, view), before)
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
    """What was looked for upstream of a step, and not found."""
    if not any(node.ref.is_root for node in view.nodes):
        return view.not_found
    if selects_by_words(view.verification.engine):
        return "No sentence of what this step was made from says this in these words."
    return "No sentence was selected from what this step was made from."


def _upstream(view: TrailView, here: str, answer: str) -> Iterator[EvidenceNode]:
    """The nodes to compare with: those that fed a step; of the answer itself, the sources."""
    at_fault = {each.node_id for each in view.introduced}
    if here != answer or here in at_fault:
        yield from (node for node in view.nodes if here in node.feeds)
        return
    roots = [node for node in view.nodes if node.ref.is_root]
    yield from roots or view.nodes


def closest_sentence(node: EvidenceNode, text: str) -> CitedSentence | None:
    """Return the sentence that was selected from a node and has most words of a text.

    Evidence comes before context.
    """
    found = _closest(_said([node]), text)
    if found is None:
        found = _closest((_Said(node, cited) for cited in node.cited), text)
    return None if found is None else found.cited


def _said(nodes: Iterable[EvidenceNode]) -> Iterator[_Said]:
    for node in nodes:
        for cited in node.cited:
            if cited.role is EvidenceRole.EVIDENCE:
                yield _Said(node, cited)


def _closest(said: Iterable[_Said], text: str) -> _Said | None:
    """The first of those that have most words of a text, each word counted once."""
    wanted = _words(text)
    best, most = None, -1.0
    for _, one in zip(range(MOST_READ), said, strict=False):
        words = _words(one.cited.text)
        # Of two with the same words, the shorter one says it with less beside it.
        alike = len(wanted & words) + 1 / (1 + len(words))
        if alike > most:
            best, most = one, alike
    return best


def _words(text: str) -> set[str]:
    return {one.casefold() for one in _WORD.findall(text[: 4 * MOST_CHARACTERS])}


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def _quote(said: _Said, view: TrailView) -> Quote:
    stage = said.node.ref.stage
    names = {level.stage: level.name for level in view.levels}
    place = "" if stage is None else names.get(stage) or f"stage {stage}"
    return Quote(said.node.node_id, place, (), said.node.ref.is_root, said.cited.sentence)


def _with(quote: Quote, pieces: tuple[Piece, ...]) -> Quote:
    return Quote(quote.node_id, quote.place, pieces, quote.is_root, quote.sentence)


def _compared(
    source: str, wrote: str, claim: str, subject: str
) -> tuple[tuple[Piece, ...], tuple[Piece, ...], str]:
    """Both sentences with what differs, as far as the claim is about it."""
    diff = word_diff(source, wrote)
    if diff.alike < LEAST_ALIKE:
        return (Piece(source),), *_without(source, wrote, claim)
    if not diff.changes:
        return (Piece(source),), (Piece(wrote),), "The two sentences have the same words."
    changes = _about(diff.changes, claim)
    before = _marked(diff.before, [one.before for one in changes])
    after = _marked(diff.after, [one.after for one in changes])
    if len(changes) > MOST_CHANGES:
        return before, after, f"The two sentences differ in {len(changes)} places."
    return before, after, f"{subject} {turned_words(changes)}."


def _without(source: str, wrote: str, claim: str) -> tuple[tuple[Piece, ...], str]:
    """What was written, with the claim's words marked that the source sentence does not have."""
    known, wanted = _words(source), _words(claim)
    pieces: list[Piece] = []
    missing: dict[str, None] = {}
    here = 0
    for found in _WORD.finditer(wrote):
        word = found[0].casefold()
        is_heavy = len(word) >= SHORTEST_WORD or any(one.isdigit() for one in word)
        if is_heavy and word in wanted and word not in known:
            pieces += [Piece(wrote[here : found.start()]), Piece(found[0], is_changed=True)]
            here = found.end()
            missing[found[0]] = None
    pieces.append(Piece(wrote[here:]))
    words = "The two sentences share few words."
    if missing:
        named = ", ".join(f"“{one}”" for one in list(missing)[:MOST_NAMED])
        more = len(missing) - MOST_NAMED
        left = f" and {more} more" if more > 0 else ""
        words = f"Not in the earlier sentence: {named}{left}."
    return tuple(one for one in pieces if one.text), words


def _about(changes: Sequence[Change], claim: str) -> tuple[Change, ...]:
    """The changes of which at least half of the new words are the claim's; else all."""
    wanted = _words(claim)
    found = []
    for one in changes:
        words = _words(one.after)
        if words and 2 * len(words & wanted) >= len(words):
            found.append(one)
    return tuple(found or changes)


def _marked(pieces: Iterable[Piece], changes: Sequence[str]) -> tuple[Piece, ...]:
    wanted = set().union(*map(_words, changes)) if changes else set()
    return tuple(
        Piece(one.text, one.is_changed and bool(_words(one.text) & wanted)) for one in pieces
    )
