"""Splitting a sentence into propositions, each of which is attributed by itself.

A model quotes the words of each proposition, because models cannot count characters; the words are
found in the sentence here. What cannot be found is no answer.

Source: Error-tolerant attribution A.2 (breaking the summary sentence into propositions).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from veritrail_graph.graph.model import Sentence
from veritrail_graph.graph.model.attribution import (
    AttributedSentence,
    AttributionCategory,
    Proposition,
    implied_label,
)
from veritrail_graph.verifier.answers import final_object
from veritrail_graph.verifier.attribution.attributor import Attribution, Attributor
from veritrail_graph.verifier.attribution.prompted import sentence_line
from veritrail_graph.verifier.models.port import InvalidAnswer, Meter
from veritrail_graph.verifier.ports import ReadNode
from veritrail_graph.verifier.prompted import PromptedStep, begun, results

Spans: TypeAlias = tuple[tuple[int, int], ...]
"""Stretches [start, end) of a text, in order and without overlap."""

MOST_PROPOSITIONS = 40
"""Propositions of one sentence."""
MOST_PIECES = 20
"""Pieces of one proposition."""
GAP = " … "
"""What stands in a proposition's text for what is left out between its stretches."""
_SHORTEST_WORD = 4
_LONGEST_LINK = 30
_ELLIPSIS = re.compile(r"…|\.\.\.|\[\.\.\.\]|\[…\]")
_WORD = re.compile(r"\w+")


def read_propositions(text: str, sentence: str) -> tuple[Spans, ...]:
    """Read an answer to a prompt that asks for propositions, and find their words in the sentence.

    Repetitions are left out, and the propositions are put in the order in which they begin and end.

    Args:
        text: The answer.
        sentence: The sentence.

    Returns:
        The stretches of each proposition, as offsets in the sentence.

    Raises:
        InvalidAnswer: It is none; it quotes words that do not stand in the sentence in this order;
            or a part of the sentence that says something is in no proposition.
    """
    answer = final_object(text, "propositions")
    named = answer["propositions"]
    if not isinstance(named, list) or not named:
        raise InvalidAnswer("`propositions` is not a list of propositions")
    if len(named) > MOST_PROPOSITIONS:
        raise InvalidAnswer(f"`propositions` has more than {MOST_PROPOSITIONS} entries")
    stretches = {stretches_of(_pieces(one), sentence) for one in named}
    found = sorted(stretches, key=lambda spans: (spans[0][0], spans[-1][1], spans))
    if left := _left_out(found, sentence):
        raise InvalidAnswer(f"`propositions` leaves out {left[:80]!r}")
    return tuple(found)


def _pieces(given: Any) -> list[str]:
    """The pieces of a proposition; one that is a text is a single piece."""
    pieces = [given] if isinstance(given, str) else given
    if (
        not isinstance(pieces, list)
        or not pieces
        or len(pieces) > MOST_PIECES
        or not all(isinstance(one, str) and _WORD.search(one) for one in pieces)
    ):
        raise InvalidAnswer("a proposition is not a list of pieces of text")
    return pieces


def stretches_of(pieces: Iterable[str], sentence: str) -> Spans:
    """Return where the pieces of a proposition stand; pieces without a gap are one stretch.

    Args:
        pieces: The words of the sentence, from left to right; an ellipsis in a piece is a gap.
        sentence: The sentence.

    Raises:
        InvalidAnswer: A piece does not stand in the sentence behind the others.
    """
    found: list[tuple[int, int]] = []
    at = 0
    for piece in pieces:
        parts = [piece]
        if _find(piece, sentence, at) is None:  # a gap may be written into one piece
            parts = [bare for part in _ELLIPSIS.split(piece) if (bare := part.strip())]
        for part in parts:
            place = _find(part, sentence, at)
            if place is None:
                raise InvalidAnswer(
                    f"a proposition quotes {part[:80]!r}, which is not in the sentence"
                    + (" behind its other pieces" if found else "")
                )
            if found and not sentence[found[-1][1] : place[0]].strip():
                found[-1] = (found[-1][0], place[1])
            else:
                found.append(place)
            at = place[1]
    if not found:
        raise InvalidAnswer("a proposition has no words")
    return tuple(found)


def _find(piece: str, sentence: str, at: int) -> tuple[int, int] | None:
    """Return where words stand behind a place; whole words are preferred."""
    words = piece.split()
    for given in (words, [*words[:-1], words[-1].rstrip(".,;:!?")]):
        if not given[-1]:
            continue
        pattern = r"\s+".join(map(re.escape, given))
        for form in (rf"(?<!\w){pattern}(?!\w)", pattern):
            if match := re.compile(form, re.IGNORECASE).search(sentence, at):
                return match.span()
    return None


def _left_out(found: Iterable[Spans], sentence: str) -> str:
    """A part of a sentence that says something and is in no proposition; empty: there is none.

    Words that link propositions may be left out: one longer word with short ones around it. A
    number, or two words of four letters, say something.
    """
    at = 0
    inside = sorted(span for spans in found for span in spans)
    for start, end in [*inside, (len(sentence), len(sentence))]:
        gap = sentence[at:start] if start > at else ""
        words = [one for one in _WORD.findall(gap) if len(one) >= _SHORTEST_WORD]
        has_number = any(one[0].isdecimal() for one in _WORD.findall(gap))
        if has_number or len(words) > 1 or (words and len(gap.strip()) > _LONGEST_LINK):
            return gap.strip()
        at = max(at, end)
    return ""


async def split_sentence(sentence: Sentence, step: PromptedStep, meter: Meter) -> tuple[Spans, ...]:
    """Ask a model for the propositions of a sentence; one without words is one, and none is asked.

    Args:
        sentence: The sentence.
        step: The prompt and the model.
        meter: Records every call.

    Returns:
        The stretches of each proposition, as offsets in the sentence's own text.

    Raises:
        ModelError: No answer could be had.

    Source: Error-tolerant attribution A.2.
    """
    if not _WORD.search(sentence.text):  # nothing that a model could split, such as `* * *`
        return (((0, len(sentence.text)),),)
    line = sentence_line(sentence.text)
    calls = step.calls(line, lambda text: read_propositions(text, sentence.text), meter)
    (found,) = results(await asyncio.gather(*begun(calls), return_exceptions=True))
    return found


async def attribute_propositions(
    sentence: Sentence,
    sources: Sequence[ReadNode],
    attributor: Attributor,
    step: PromptedStep,
    meter: Meter,
) -> tuple[tuple[Proposition, ...], Attribution]:
    """Attribute each proposition of a sentence by itself.

    A sentence that is one proposition is asked about as a whole.

    Args:
        sentence: The sentence.
        sources: What it may rest on, in the order in which prompts show them.
        attributor: Finds what a proposition rests on.
        step: Splits the sentence.
        meter: Records every call.

    Returns:
        The propositions; and what they rest on together, which is what the sentence rests on.

    Raises:
        VeriTrailError: No answer could be had for the sentence, or for one proposition.
    """
    split = await split_sentence(sentence, step, meter)
    texts = [GAP.join(sentence.text[start:end] for start, end in spans) for spans in split]
    shown = texts if len(texts) > 1 else [sentence.text]
    asked = (attributor.attribute(text, sources, meter) for text in shown)
    answers = results(await asyncio.gather(*asked, return_exceptions=True))
    propositions = tuple(
        Proposition(
            spans=tuple((sentence.start + start, sentence.start + end) for start, end in spans),
            text=text,
            attributed=answer.sentences,
            implied_label=implied_label(answer.sentences),
        )
        for spans, text, answer in zip(split, texts, answers, strict=True)
    )
    together = united((answer.sentences for answer in answers), sources)
    return propositions, Attribution(together, sum(answer.dropped_ids for answer in answers))


def united(
    parts: Iterable[Sequence[AttributedSentence]], sources: Sequence[ReadNode]
) -> tuple[AttributedSentence, ...]:
    """All source sentences of several attributions, each once with the categories of all.

    Args:
        parts: The attributions.
        sources: The source nodes, whose order they get.
    """
    order = {node.ref.node_id: place for place, node in enumerate(sources)}
    found: dict[tuple[str, int], AttributedSentence] = {}
    for part in parts:
        for one in part:
            place = (one.node_id, one.sentence)
            before = found.get(place, one)
            named = {*before.categories, *one.categories}
            categories = tuple(each for each in AttributionCategory if each in named)
            found[place] = before.replace(categories=categories)
    return tuple(found[place] for place in sorted(found, key=lambda one: (order[one[0]], one[1])))
