"""A study as a reader sees it: documents, a sentence with its timer, and sources in parts.

What is not started is not shown: the time of a sentence begins when a reader asks to see it.

Source: Error-tolerant attribution A.3, C.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from veritrail_eval.app.studies import Reading, StudyDocument, StudyText
from veritrail_eval.studies.model import MarkedPart, ReaderLabel, Study, StudyAnswer, StudyTask
from veritrail_graph.api.page.views.attribution import Lit, Source, Stretch
from veritrail_graph.api.show.attribution_marks import CATEGORY_MARKS
from veritrail_graph.api.show.texts import clip, clip_start
from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.model.attribution import (
    AttributedSentence,
    AttributionCategory,
    SourceMode,
)

PART_ROOM = 90_000
"""Bytes of HTML for the sources of a page."""

PER_CHOICE = 1_100
"""Bytes of HTML of the choice of categories of a sentence."""

BEFORE = 3
"""Sentences that are shown before the one that is judged."""

SENTENCE_ROOM = 24_000
"""Bytes of HTML of one sentence."""

NEAR = 30
"""Sentences on either side of the open one that are linked."""

LABEL_WORDS: Mapping[ReaderLabel, str] = {
    ReaderLabel.FAITHFUL: "Faithful",
    ReaderLabel.UNFAITHFUL: "Unfaithful",
    ReaderLabel.UNSURE: "Unsure",
}
"""What a reader can say."""

MODE_WORDS: Mapping[SourceMode, str] = {
    SourceMode.PLAIN: "plain",
    SourceMode.HIGHLIGHTED: "highlighted",
    SourceMode.ATTRIBUTION: "attribution only",
}
"""How sources are shown."""


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document of the list.

    Attributes:
        number: Its number in the study, from 1.
        node_id: The node.
        mode: How it is shown to this reader.
        done: How many of its sentences this reader has judged.
        sentences: How many it has.
    """

    number: int
    node_id: str
    mode: str
    done: int
    sentences: int


@dataclass(frozen=True, slots=True)
class Step:
    """A sentence in the list beside the one that is judged.

    Attributes:
        number: Its number in the document, from 0.
        state: `saved`, `begun` or `open`.
        is_here: Whether it is the one of the page.
    """

    number: int
    state: str
    is_here: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """A source sentence that an annotator may mark.

    Attributes:
        key: Names it in the form.
        text: The sentence.
        chosen: The categories that are marked.
        about: The part of the judged sentence that it bears on; empty: all of it.
    """

    key: str
    text: str
    chosen: frozenset[AttributionCategory]
    about: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """The part of the sources that one page shows.

    Attributes:
        number: Its number, from 1.
        count: How many there are.
        sources: The texts, with marked sentences.
        choices: For annotators: the sentences of each source, by its node.
        lit: Other parts that hold marked sentences.
        places: The sentences of the part, as (source, sentence).
    """

    number: int
    count: int
    sources: tuple[Source, ...]
    choices: tuple[tuple[str, tuple[Choice, ...]], ...]
    lit: tuple[int, ...]
    places: frozenset[tuple[int, int]]


def document_rows(study: Study, reading: Reading) -> list[DocumentRow]:
    """The documents in the order in which the reader is led through them."""
    done: dict[str, int] = {}
    for (name, _), one in reading.answers.items():
        done[name] = done.get(name, 0) + (one.answered_at is not None)
    found = []
    for name in reading.order:
        at = study.nodes.index(name)
        mode = MODE_WORDS[reading.modes[name]]
        found.append(DocumentRow(at + 1, name, mode, done.get(name, 0), study.sentences[at]))
    return found


def steps_of(document: StudyDocument, reading: Reading, here: int) -> list[Step]:
    """The sentences around one, with the first and the last, and what has become of each."""
    found = []
    count = len(document.text.sentences)
    near = range(max(0, here - NEAR), min(count, here + NEAR + 1))
    for number in sorted({0, *near, count - 1}):
        one = reading.answers.get((document.text.node_id, number))
        state = "open" if one is None else "saved" if one.answered_at is not None else "begun"
        found.append(Step(number, state, number == here))
    return found


def context_of(text: StudyText, sentence: int) -> list[str]:
    """The sentences before one, so that what it refers to can be understood."""
    before = text.sentences[max(0, sentence - BEFORE) : sentence]
    return [clip_start(one.text, SENTENCE_ROOM // 6).text for one in before]


def next_sentence(
    study: Study, reading: Reading, node_id: str | None = None, here: int = -1
) -> tuple[int, int] | None:
    """Return what is judged next, as (document from 1, sentence); None: all is done.

    Args:
        study: The study.
        reading: What the reader has done.
        node_id: The document that is being read; None: none yet.
        here: The sentence of it that was judged last.
    """
    saved = {place for place, one in reading.answers.items() if one.answered_at is not None}
    at = 0 if node_id is None else reading.order.index(node_id)
    for name in [*reading.order[at:], *reading.order[:at]]:
        number = study.nodes.index(name)
        count = study.sentences[number]
        begin = here + 1 if name == node_id else 0
        for sentence in [*range(begin, count), *range(min(begin, count))]:
            if (name, sentence) not in saved:
                return number + 1, sentence
    return None


def part_of(
    document: StudyDocument,
    study: Study,
    answer: StudyAnswer,
    attributed: Sequence[AttributedSentence],
    wanted: int | None,
) -> Part:
    """A part of the sources: the one asked for, else the first with a marked sentence.

    Args:
        document: The document.
        study: The study.
        answer: What the reader said so far.
        attributed: What is highlighted; nothing in plain mode.
        wanted: The number of the part, from 1.
    """
    is_annotated = study.task is StudyTask.ANNOTATE
    index = _index(document)
    lit = {
        (index[one.node_id], one.sentence): Lit(number, one.node_id, one.sentence, "", ())
        for number, one in enumerate(attributed, start=1)
        if one.node_id in index
    }
    parts = _parts(document, study)
    holding = [
        number for number, places in enumerate(parts, start=1) if any(one in lit for one in places)
    ]
    number = min(max(wanted or (holding[0] if holding else 1), 1), len(parts))
    places = parts[number - 1]
    shown: dict[int, list[int]] = {}
    for source, sentence in places:
        shown.setdefault(source, []).append(sentence)
    return Part(
        number,
        len(parts),
        () if is_annotated else _sources(document, shown, lit),
        _choices(document, shown, answer) if is_annotated else (),
        tuple(one for one in holding if one != number),
        frozenset(places),
    )


def _index(document: StudyDocument) -> dict[str, int]:
    """The numbers of the sources of a document, by their node_ids."""
    return {text.node_id: number for number, text in enumerate(document.sources)}


def _sources(
    document: StudyDocument,
    shown: Mapping[int, Sequence[int]],
    lit: Mapping[tuple[int, int], Lit],
) -> tuple[Source, ...]:
    """Sources with those of their sentences that a part shows."""
    return tuple(
        _source(document.sources[source], source, numbers, lit) for source, numbers in shown.items()
    )


def _choices(
    document: StudyDocument, shown: Mapping[int, Sequence[int]], answer: StudyAnswer
) -> tuple[tuple[str, tuple[Choice, ...]], ...]:
    """Return what an annotator may mark in a part, by the node_ids of the sources."""
    marked = {(one.node_id, one.sentence): frozenset(one.categories) for one in answer.marks}
    about = {(one.node_id, one.sentence): one.text for one in answer.parts}
    found = []
    for source, numbers in shown.items():
        text = document.sources[source]
        choices = (
            Choice(
                f"{source}.{one}",
                _words(text.sentences[one].text),
                marked.get((text.node_id, one), frozenset()),
                about.get((text.node_id, one), ""),
            )
            for one in numbers
        )
        found.append((text.node_id, tuple(choices)))
    return tuple(found)


def _parts(document: StudyDocument, study: Study) -> list[list[tuple[int, int]]]:
    """The sentences of all sources in parts that fit on a page, as (source, sentence)."""
    sources = document.sources
    more = PER_CHOICE if study.task is StudyTask.ANNOTATE else 0
    parts: list[list[tuple[int, int]]] = [[]]
    room = PART_ROOM
    for number, source in enumerate(sources):
        for one in source.sentences:
            size = len(escape(_words(one.text)).encode("utf-8", "replace")) + more
            if size > room and parts[-1]:
                parts.append([])
                room = PART_ROOM
            parts[-1].append((number, one.index))
            room -= size
    return parts


def _words(text: str) -> str:
    cut = clip(text, SENTENCE_ROOM)
    return f"{cut.text}…" if cut.is_cut else text


def _source(
    text: StudyText, source: int, numbers: Sequence[int], lit: Mapping[tuple[int, int], Lit]
) -> Source:
    """Sentences of a source, one behind the other, with the white space between them."""
    stretches: list[Stretch] = []
    for number in numbers:
        one = text.sentences[number]
        is_last = number + 1 == len(text.sentences)
        end = len(text.text) if is_last else text.sentences[number + 1].start
        mark = lit.get((source, number))
        words, behind = _words(one.text), text.text[one.end : end]
        if mark is not None:
            stretches += [Stretch(words, mark), Stretch(behind)]
        elif stretches and stretches[-1].lit is None:
            stretches[-1] = Stretch(stretches[-1].text + words + behind)
        else:
            stretches.append(Stretch(words + behind))
    is_whole = len(numbers) == len(text.sentences)
    if stretches and numbers[0] > 0:
        first = stretches[0]
        stretches[0] = Stretch(first.text, first.lit, is_gap=True)
    count = sum(1 for one in stretches if one.lit)
    return Source(text.node_id, tuple(stretches), is_whole, count)


def marks_given(
    document: StudyDocument,
    study: Study,
    given: Sequence[str],
    part: int,
    before: Sequence[AttributedSentence],
) -> list[AttributedSentence]:
    """Return the marks of a form and of other parts before, in the order of the sources.

    Args:
        document: The document.
        study: The study.
        given: `SOURCE.SENTENCE.CATEGORY` each.
        part: The number of the part that the form showed, from 1; the nearest one that there is.
        before: What was marked before.

    Raises:
        InputError: Something names no sentence of the part or no category.
    """
    index = _index(document)
    parts = _parts(document, study)
    places = frozenset(parts[min(max(part, 1), len(parts)) - 1])
    marked: dict[tuple[int, int], list[AttributionCategory]] = {
        (index[one.node_id], one.sentence): list(one.categories)
        for one in before
        if one.node_id in index and (index[one.node_id], one.sentence) not in places
    }
    for one in given:
        try:
            source, sentence, name = one.split(".")
            place, category = (int(source), int(sentence)), AttributionCategory(name)
        except ValueError:
            place, category = (-1, -1), AttributionCategory.EVIDENCE
        if place not in places:
            fault = Violation("wrong_value", "mark", f"{one[:80]!r} names no sentence of the page")
            raise InputError("The marks were not saved", [fault], code="wrong_mark")
        marked.setdefault(place, []).append(category)
    found = []
    for source_number, number in sorted(marked):
        text = document.sources[source_number]
        sentence_ = text.sentences[number]
        chosen = set(marked[source_number, number])
        found.append(
            AttributedSentence(
                node_id=text.node_id,
                sentence=number,
                start=sentence_.start,
                end=sentence_.end,
                text=sentence_.text,
                categories=tuple(one for one in CATEGORY_MARKS if one in chosen),
            )
        )
    return found


def parts_given(
    document: StudyDocument,
    study: Study,
    given: Mapping[str, str],
    part: int,
    before: Sequence[MarkedPart],
) -> list[MarkedPart]:
    """The parts of the sentence that a form names, with those named before in other parts.

    Args:
        document: The document.
        study: The study.
        given: The words of each source sentence, by `SOURCE.SENTENCE`.
        part: The number of the part that the form showed, from 1; the nearest one that there is.
        before: What was named before.
    """
    index = _index(document)
    parts = _parts(document, study)
    places = parts[min(max(part, 1), len(parts)) - 1]
    here = {(document.sources[source].node_id, sentence) for source, sentence in places}
    kept = [
        one for one in before if one.node_id in index and (one.node_id, one.sentence) not in here
    ]
    for source, sentence in places:
        words = " ".join(given.get(f"{source}.{sentence}", "").split())
        if words:
            node_id = document.sources[source].node_id
            kept.append(MarkedPart(node_id=node_id, sentence=sentence, text=words))
    return kept
