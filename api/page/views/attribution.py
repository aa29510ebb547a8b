"""The reading page of a node: its sentences on one side, what they rest on in the sources.

Nothing here grows with the data: sentences come by the page, and of the sources windows around what
the open sentence rests on, cut by their size in HTML.

Source: Error-tolerant attribution A.3, C.4 (the interfaces).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from veritrail_graph.api.show.attribution_marks import (
    CategoryMark,
    CorrectionChange,
    PropositionView,
    category_marks,
    changes,
    dropped_words,
    label_mark,
    proposition_views,
)
from veritrail_graph.api.show.texts import clip, clip_start
from veritrail_graph.api.show.twists import revision_lines
from veritrail_graph.api.show.words import Mark
from veritrail_graph.graph.model.attribution import (
    NO_SOURCE_TEXT,
    AttributedSentence,
    SentenceAttribution,
)

AT_A_TIME = 40
"""Sentences on a page."""

SENTENCES_ROOM = 40_000
"""Bytes of HTML for the sentences of a page, and for what lies between them."""

SOURCES_ROOM = 56_000
"""Bytes of HTML for the texts of all sources of a page."""

MOST_SOURCES = 12
"""Sources whose texts are shown."""

MOST_LIT = 40
"""Source sentences of one sentence that are shown."""

MOST_PROPOSED = 6
"""Proposed wordings of one sentence that are shown."""

MOST_FAILED = 10
"""Failed sentences that are shown in one place."""

SENTENCE_ROOM = 4_000
"""Bytes of HTML for one sentence."""

AROUND = 600
"""Bytes of HTML on either side of a sentence in a source that is not shown whole."""

BEGINNING = 900
"""Bytes of HTML of a source in which nothing is marked, where not all sources can be shown."""


@dataclass(frozen=True, slots=True)
class Lit:
    """A source sentence that the open sentence rests on.

    Attributes:
        number: Its number among those of the open sentence, from 1.
        node_id: Its node.
        sentence: Its number in the node, from 0.
        text: The sentence, cut where it is very long.
        marks: What it is to the open sentence; empty where a reader is not to know it.
        is_contradictory: Whether it is evidence and something else at once.
    """

    number: int
    node_id: str
    sentence: int
    text: str
    marks: tuple[CategoryMark, ...]
    is_contradictory: bool = False


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a source.

    Attributes:
        text: The text.
        lit: The sentence that it is, where the open sentence rests on it.
        is_gap: Whether text was left out before it.
    """

    text: str
    lit: Lit | None = None
    is_gap: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """A source as it is shown beside the sentences.

    Attributes:
        node_id: The node.
        stretches: What is shown of its text.
        is_whole: Whether that is all of it.
        lit: How many of its sentences are marked.
    """

    node_id: str
    stretches: tuple[Stretch, ...]
    is_whole: bool
    lit: int


@dataclass(frozen=True, slots=True)
class Failed:
    """A sentence whose attribution did not succeed.

    Attributes:
        number: Its number in the node, from 0.
        mark: How it ended, and why.
        job_id: The job.
        submitted: When the job was submitted.
    """

    number: int
    mark: Mark
    job_id: str
    submitted: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """The text between two attributed sentences.

    Attributes:
        text: The text, cut where it is long; empty: it was not read, or there is none.
        failed: The first of its sentences that failed.
        left_out: How many more these are.
    """

    text: str
    failed: tuple[Failed, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class SentenceRow:
    """A sentence of the list.

    Attributes:
        number: Its number in the node, from 0.
        text: The sentence, cut where it is very long.
        is_cut: Whether it was cut.
        mark: Its label, or why it has none.
        marks: The categories of what it rests on.
        rests_on: How many source sentences those are.
        is_disputed: Whether the judge says another thing than the categories imply.
        is_contradictory: Whether a source sentence is evidence and something else at once.
        is_open: Whether it is the open one.
        gap: What before it is not attributed; None: nothing.
        again: How a newer attempt to attribute it failed; None: none did.
    """

    number: int
    text: str
    is_cut: bool
    mark: Mark
    marks: tuple[CategoryMark, ...]
    rests_on: int
    is_disputed: bool
    is_contradictory: bool
    is_open: bool
    gap: Gap | None
    again: Failed | None = None


@dataclass(frozen=True, slots=True)
class Open:
    """The open sentence.

    Attributes:
        sentence: The sentence.
        mark: Its label, or why it has none.
        implied: The mark of what its categories imply, where there is an attribution.
        judged: The mark of what a judge said, where one was asked.
        lit: What it rests on.
        left_out: How many more sentences those are.
        changes: What its proposed correction changes; empty: there is none.
        corrected: The mark of what the judge said of the correction.
        propositions: Its propositions with what each rests on, where it was split into several.
    """

    sentence: SentenceAttribution
    mark: Mark
    implied: Mark | None
    judged: Mark | None
    lit: tuple[Lit, ...]
    left_out: int
    changes: tuple[CorrectionChange, ...] = field(default=())
    corrected: Mark | None = None
    propositions: tuple[PropositionView, ...] = ()

    @property
    def has_no_source_text(self) -> bool:
        """Return whether nothing was asked because its sources hold no text."""
        return self.sentence.judged_reason == NO_SOURCE_TEXT

    @property
    def dropped(self) -> str:
        """Return how many ids a model named that it was not shown; empty: none."""
        return dropped_words(self.sentence)

    @property
    def change_words(self) -> list[str]:
        """Return what the correction changes, in words."""
        return [one.words for one in self.changes if one.words]

    @property
    def proposed(self) -> list[str]:
        """The proposed wordings with rank and mode, and what became of each."""
        lines = revision_lines(self.sentence.revisions[:MOST_PROPOSED])
        return [clip(one, SENTENCE_ROOM).text for one in lines]


def rows_of(
    sentences: Sequence[SentenceAttribution],
    opened: int | None,
    text: str | None,
    begin: int,
    failed: Sequence[Failed] = (),
) -> list[SentenceRow]:
    """The sentences of a page, with what between them is not attributed.

    Args:
        sentences: The sentences, in their order.
        opened: The number of the open one.
        text: The text of the node; None: it is too long to be read.
        begin: Where the page begins in the text.
        failed: The sentences that failed, in their order.
    """
    found, previous = [], -1
    share = max(SENTENCES_ROOM // (2 * max(len(sentences), 1)), 200)
    for one in sentences:
        here = [other for other in failed if previous < other.number < one.sentence]
        gap = gap_of(None if text is None else text[begin : one.start], here, share)
        previous = one.sentence
        cut = clip(one.text, min(SENTENCE_ROOM, share))
        found.append(
            SentenceRow(
                one.sentence,
                cut.text,
                cut.is_cut,
                label_mark(one),
                category_marks(name for source in one.attributed for name in source.categories),
                len(one.attributed),
                one.is_disputed,
                bool(one.contradictory),
                one.sentence == opened,
                gap,
                _failed_since(one, failed),
            )
        )
        begin = max(begin, one.end)
    return found


def _failed_since(one: SentenceAttribution, failed: Sequence[Failed]) -> Failed | None:
    """Return how an attempt failed that is newer than the attribution of a sentence."""
    at = getattr(one, "attributed_at", None) or ""
    return next(
        (each for each in failed if each.number == one.sentence and each.submitted > at), None
    )


def gap_of(text: str | None, failed: Sequence[Failed], room: int = BEGINNING) -> Gap | None:
    """Return what stands where nothing is attributed; None: nothing but white space.

    Args:
        text: The text; None: it was not read.
        failed: Those of its sentences that failed.
        room: Bytes of HTML for the text.
    """
    cut = clip((text or "").strip(), room).text
    if not cut and not failed:
        return None
    return Gap(cut, tuple(failed[:MOST_FAILED]), max(0, len(failed) - MOST_FAILED))


def lit_of(
    attributed: Sequence[AttributedSentence],
    *,
    named: bool = True,
    contradictory: Iterable[AttributedSentence] = (),
) -> tuple[Lit, ...]:
    """Return what a sentence rests on, as it is marked in the sources.

    Args:
        attributed: The source sentences.
        named: Whether the categories are shown.
        contradictory: Those that are evidence and something else at once.
    """
    odd = {(one.node_id, one.sentence) for one in contradictory}
    room = max(SOURCES_ROOM // (2 * max(len(attributed[:MOST_LIT]), 1)), 400)
    return tuple(
        Lit(
            number,
            one.node_id,
            one.sentence,
            clip(one.text, min(SENTENCE_ROOM, room)).text,
            category_marks(one.categories) if named else (),
            (one.node_id, one.sentence) in odd,
        )
        for number, one in enumerate(attributed[:MOST_LIT], start=1)
    )


def open_view(sentence: SentenceAttribution) -> Open:
    """The open sentence with everything that is known of it."""
    lit = lit_of(sentence.attributed, contradictory=sentence.contradictory)
    implied, judged, corrected = (
        label_mark(sentence.replace(judged_label=label, implied_label=None)) if label else None
        for label in (sentence.implied_label, sentence.judged_label, sentence.corrected_label)
    )
    made = () if sentence.correction is None else changes(sentence.text, sentence.correction)
    return Open(
        sentence,
        label_mark(sentence),
        implied,
        judged,
        lit,
        max(0, len(sentence.attributed) - MOST_LIT),
        made,
        corrected,
        tuple(
            replace(one, text=clip(one.text, SENTENCE_ROOM).text)
            for one in proposition_views(sentence)
        ),
    )


def shown_sources(inputs: Iterable[str], attributed: Iterable[AttributedSentence]) -> list[str]:
    """The sources whose texts are shown: those with marked sentences, and the first others."""
    lit = dict.fromkeys(one.node_id for one in attributed)
    known = list(dict.fromkeys([*inputs, *lit]))
    others = [name for name in known if name not in lit][: max(0, MOST_SOURCES - len(lit))]
    chosen = {*list(lit)[:MOST_SOURCES], *others}
    return [name for name in known if name in chosen]


def sources_of(
    names: Sequence[str],
    texts: Mapping[str, str],
    attributed: Sequence[AttributedSentence],
    lit: Sequence[Lit],
    beginnings: Mapping[str, str] = MappingProxyType({}),
) -> list[Source]:
    """The sources as they are shown beside a sentence.

    Args:
        names: The nodes, in their order.
        texts: Their texts; of one that is too long to be read, only marked sentences are shown.
        attributed: What the open sentence rests on.
        lit: The same, as it is marked; those beyond the end are not marked.
        beginnings: How sources begin, for those that were not read.
    """
    marked: dict[str, list[tuple[AttributedSentence, Lit]]] = {name: [] for name in names}
    for one, mark in zip(attributed, lit, strict=False):
        if one.node_id in marked:
            marked[one.node_id].append((one, mark))
    room = SOURCES_ROOM // max(len(names), 1)
    is_all = sum(len(one) for one in texts.values()) * 6 <= SOURCES_ROOM
    found = []
    for name in names:
        text, here = texts.get(name), marked[name]
        here.sort(key=lambda pair: (pair[0].start, pair[0].end))
        if text is not None and (is_all or _fits(text, room)):
            stretches, is_whole = _whole(text, here), True
        elif here:
            share = max(AROUND // 4, min(AROUND, room // (3 * len(here))))
            stretches, is_whole = _windows(text, here, share), False
        else:
            cut = clip(beginnings.get(name, "") if text is None else text, min(BEGINNING, room))
            stretches, is_whole = [Stretch(cut.text)], text is not None and not cut.is_cut
        found.append(Source(name, tuple(stretches), is_whole, len(here)))
    return found


def _fits(text: str, room: int) -> bool:
    return len(text) <= room and not clip(text, room).is_cut


_Marked = Sequence[tuple[AttributedSentence, Lit]]


def _whole(text: str, marked: _Marked) -> list[Stretch]:
    """A whole text, with its marked sentences."""
    found, at = [], 0
    for one, lit in marked:
        if one.start < at:
            continue
        if one.start > at:
            found.append(Stretch(text[at : one.start]))
        found.append(Stretch(text[one.start : one.end], lit))
        at = one.end
    if at < len(text):
        found.append(Stretch(text[at:]))
    return found


def _windows(text: str | None, marked: _Marked, around: int) -> list[Stretch]:
    """Marked sentences with what stands around them; without the text, the sentences alone."""
    found: list[Stretch] = []
    shown_to = 0
    for place, (one, lit) in enumerate(marked):
        if text is None:
            found.append(Stretch(lit.text, lit, is_gap=True))
            continue
        if one.start < shown_to and place:  # it overlaps the one before
            continue
        between = text[shown_to : one.start]
        follows = place + 1 < len(marked)
        before = clip_start(between, around)
        if before.text:
            found.append(Stretch(before.text, is_gap=before.is_cut))
            found.append(Stretch(lit.text, lit))
        else:
            found.append(Stretch(lit.text, lit, is_gap=before.is_cut))
        ahead = marked[place + 1][0].start if follows else len(text)
        after = clip(text[one.end : max(ahead, one.end)], around)
        if after.text:
            found.append(Stretch(after.text))
        shown_to = one.end + len(after.text)
    return found
