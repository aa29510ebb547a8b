"""Studies: readers judge or annotate sentences, and the time that takes is measured here.

The timer is the server's: it starts when a reader asks to see a sentence, and stops when the answer
or a pause arrives. So it is the same with and without scripts, and a page that is loaded again
changes nothing. While a page is open it says so every now and then; the time of a closed one does
not count.

Source: Error-tolerant attribution A.3, C.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from veritrail_eval.studies.model import MarkedPart, ReaderLabel, Study, StudyAnswer, StudyTask
from veritrail_eval.studies.repository import StudyRepository
from veritrail_eval.studies.rules import (
    MOST_DOCUMENTS,
    MOST_MARKS,
    MOST_NOTE,
    check_answer,
    heard,
    modes_of,
    order_of,
    stopped,
)
from veritrail_graph.api.app.part import Part
from veritrail_graph.api.work.sentences import sources_of
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import InputError, NotFound, Violation, shown
from veritrail_graph.graph.model.attribution import (
    Against,
    AttributedSentence,
    SourceMode,
)
from veritrail_graph.graph.sentences import SentenceSplitter

if TYPE_CHECKING:
    from veritrail_graph.api.auth.access import Caller
    from veritrail_graph.graph.model import Sentence
    from veritrail_graph.graph.store import Store

MOST_STUDIES = 50
"""Studies of a process that are listed, newest first."""

MOST_SENTENCES = 500
"""Sentences of a document."""

MOST_SOURCES = 500
"""Sources of a document."""

KEPT = 16
"""Documents that are held split."""

KEPT_TEXT = 4 * 1_000_000
"""Characters of texts that are held split: several documents may have the same sources."""

MOST_TEXT = 1_000_000
"""UTF-16 units of a document together with its sources."""


class DocumentTooLarge(InputError):
    """A document of a study that is too large to be read by a person.

    Attributes:
        words: What there is too much of.
    """

    code = "document_too_large"

    def __init__(self, node_id: str, words: str) -> None:
        super().__init__(f"Document {shown(node_id)} {words}.")
        self.words = words


@dataclass(frozen=True, slots=True)
class NewStudy:
    """A study as it is asked for.

    Attributes:
        nodes: The documents.
        task: What readers do.
        modes: How sources are shown; annotators see them plain.
        against: Which sources are shown.
        seed: What the assignment is drawn from.
    """

    nodes: Sequence[str]
    task: StudyTask = StudyTask.JUDGE
    modes: Sequence[SourceMode] = (SourceMode.PLAIN, SourceMode.HIGHLIGHTED)
    against: Against = Against.INPUTS
    seed: int = 0


@dataclass(frozen=True, slots=True)
class StudyText:
    """A text of a study with its sentences."""

    node_id: str
    text: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class StudyDocument:
    """A document of a study: the text whose sentences are judged, and its sources in order."""

    text: StudyText
    sources: tuple[StudyText, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """The progress of a reader in a study.

    Attributes:
        place: How many readers joined before.
        modes: How each document is shown to the reader.
        order: The documents in the order in which the reader is led through them.
        answers: What the reader said, drafts too, by document and sentence.
    """

    place: int
    modes: dict[str, SourceMode]
    order: list[str]
    answers: dict[tuple[str, int], StudyAnswer]


class Studies(Part):
    """The studies of processes."""

    @cached_property
    def _kept(self) -> OrderedDict[tuple[str, str, Against], StudyDocument]:
        """Documents that were read lately: splitting a long one takes a second."""
        return OrderedDict()

    @cached_property
    def _texts(self) -> OrderedDict[tuple[str, str], StudyText]:
        """Texts that were split lately, by the content of their process and their node."""
        return OrderedDict()

    @cached_property
    def _repository(self) -> StudyRepository:
        return StudyRepository(self._app.database)

    async def create(self, process_id: str, wanted: NewStudy, by: Caller) -> Study:
        """Make a study.

        Args:
            process_id: The process.
            wanted: What it is about.
            by: Who makes it.

        Raises:
            NotFound: There is no such process or node.
            InputError: There are too many documents or none; one has no text, no sources or too
                many; or one is to be highlighted and is not attributed.
        """
        store = await self._store()
        version = await store.versions.get(process_id)
        nodes = list(dict.fromkeys(wanted.nodes))
        if not nodes:
            raise InputError("A study needs documents; name some nodes.", code="study_empty")
        if len(nodes) > MOST_DOCUMENTS:
            raise InputError(
                f"A study has at most {MOST_DOCUMENTS} documents, and {len(nodes):,} are named.",
                code="study_too_large",
            )
        is_annotated = wanted.task is StudyTask.ANNOTATE
        modes = (SourceMode.PLAIN,) if is_annotated else tuple(dict.fromkeys(wanted.modes))
        if not modes or SourceMode.ATTRIBUTION in modes:
            raise InputError("A study shows sources plain, highlighted, or both.")
        study = Study(
            study_id=f"study-{uuid.uuid4().hex[:16]}",
            process_id=process_id,
            content_hash=version.content_hash,
            nodes=tuple(nodes),
            sentences=(),
            task=wanted.task,
            modes=modes,
            against=wanted.against,
            seed=wanted.seed,
            created_at=now(),
            created_by=by.name,
        )
        violations: list[Violation] = []
        counts = []
        for name in nodes:
            fault, count = await self._looked_at(store, study, name)
            violations += [] if fault is None else [fault]
            counts.append(count)
        if violations:
            raise InputError(
                f"{len(violations)} document(s) cannot be studied; name others.",
                violations,
                code="study_documents",
            )
        study = study.replace(sentences=tuple(counts))
        await self._repository.add(study, version)
        await self._record(by, "study.create", study.study_id, process_id=process_id)
        return study

    async def _looked_at(
        self, store: Store, study: Study, name: str
    ) -> tuple[Violation | None, int]:
        """Return why a document cannot be studied, and how many sentences it has."""
        where = f"node {shown(name)}"
        try:
            names = await self._names(store, study, name)
            # Sources are split when they are read: that takes seconds where they are long.
            (text,) = await self._split(store, study, [name])
            _check_sentences(text)
        except DocumentTooLarge as error:
            return Violation("document_too_large", where, error.words), 0
        count = len(text.sentences)
        if not count:
            return Violation("empty_node", where, "has no text"), 0
        if len(names) == 1:
            message = "has no sources to read it against"
            return Violation("unsourced_node", where, message), count
        if SourceMode.HIGHLIGHTED in study.modes:
            places = await store.attributions.places(study.process_id, [name])
            known = {place[1:] for place in places}
            lacking = [
                one.index for one in text.sentences if (one.index, one.start, one.end) not in known
            ]
            if len(lacking) == count:
                message = "is not attributed, so nothing can be highlighted"
                return Violation("not_attributed", where, message), count
            if lacking:
                some = ", ".join(map(str, lacking[:10])) + (", …" if len(lacking) > 10 else "")
                message = (
                    f"is attributed in part: {len(lacking):,} of its {count:,} sentences are not "
                    f"({some}), and would be shown without highlights; attribute them first"
                )
                return Violation("partly_attributed", where, message), count
        return None, count

    async def of_process(self, process_id: str) -> list[Study]:
        """The studies of a process, newest first.

        Raises:
            NotFound: There is no such process.
        """
        version = await self._app.versions.get(process_id)
        return await self._repository.of_process(version, MOST_STUDIES)

    async def get(self, process_id: str, study_id: str) -> Study:
        """A study.

        Raises:
            NotFound: There is none of that id.
        """
        version = await self._app.versions.get(process_id)
        found = await self._repository.get(version, study_id)
        if found is None:
            raise NotFound(f"Process {process_id!r} has no study {shown(study_id)}")
        return found

    async def reading(self, study: Study, reader: str) -> Reading:
        """Return what a reader has done; a reader joins when the first timer is started."""
        place = await self._repository.place(study.study_id, reader)
        answers = await self._repository.answers(study.study_id, reader)
        return Reading(
            place,
            modes_of(study, place),
            order_of(study, place),
            {(one.node_id, one.sentence): one for one in answers},
        )

    async def readers(self, study: Study) -> list[tuple[str, int]]:
        """The readers of a study by name, with how many answers each has saved."""
        return await self._repository.readers(study.study_id)

    async def answers(self, study: Study, reader: str | None = None) -> list[StudyAnswer]:
        """Return what readers, or one of them, said and saved, by reader, document and sentence."""
        found = await self._repository.answers(study.study_id, reader)
        return [one for one in found if one.answered_at is not None]

    async def document(self, study: Study, node_id: str) -> StudyDocument:
        """A document of a study with its sources, split into sentences as everywhere.

        Raises:
            NotFound: The node is not stored.
            InputError: There is too much of it to be read; or the process has other content now.
        """
        store = await self._store()
        process = await store.processes.get(study.process_id)
        if process.content_hash != study.content_hash:
            raise InputError(
                f"Process {study.process_id!r} has other content than when the study began. What "
                "was answered can still be downloaded.",
                code="study_outdated",
            )
        key = (study.content_hash, node_id, study.against)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        names = await self._names(store, study, node_id)
        document, *others = await self._split(store, study, names)
        _check_sentences(document)
        found = StudyDocument(document, tuple(others))
        self._kept[key] = found
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return found

    async def _names(self, store: Store, study: Study, node_id: str) -> list[str]:
        """A document and its sources, unless there is too much of them; no text is read."""
        await store.reading.node(study.process_id, node_id)
        read = partial(store.reading.source_nodes, study.process_id, with_texts=False)
        sources = await sources_of(read, node_id, study.against)
        names = [node_id, *(one.node_id for one in sources)]
        if len(sources) > MOST_SOURCES:
            raise DocumentTooLarge(
                node_id, f"has {len(sources):,} sources; a document may have {MOST_SOURCES}"
            )
        length = sum(one.length for one in await store.nodes.get(study.process_id, names))
        if length > MOST_TEXT:
            raise DocumentTooLarge(
                node_id,
                f"has {length:,} characters with its sources; a document may have {MOST_TEXT:,}",
            )
        return names

    async def _split(self, store: Store, study: Study, names: Sequence[str]) -> list[StudyText]:
        """Texts of the process with their sentences; those that were split lately are kept."""
        kept, splitter = self._texts, SentenceSplitter.for_language(self._app.settings.language)
        known = {name: kept[study.content_hash, name] for name in names
                 if (study.content_hash, name) in kept}  # fmt: skip
        missing = [name for name in names if name not in known]
        texts = await store.reading.texts(study.process_id, missing) if missing else {}

        def split() -> list[StudyText]:
            return [
                StudyText(name, texts[name], splitter.split(name, texts[name])) for name in missing
            ]

        for one in await asyncio.to_thread(split) if missing else ():
            known[one.node_id] = one
        for name in names:
            kept[study.content_hash, name] = known[name]
            kept.move_to_end((study.content_hash, name))
        held = sum(len(one.text) for one in kept.values())
        while held > KEPT_TEXT:
            held -= len(kept.popitem(last=False)[1].text)
        return [known[name] for name in names]

    async def start(self, study: Study, reader: str, node_id: str, sentence: int) -> StudyAnswer:
        """Start the timer of a sentence, or let it go on; no other timer of the reader runs then.

        Raises:
            NotFound: The study has no such document or sentence.
        """
        at = time.time()

        def change(one: StudyAnswer) -> StudyAnswer:
            going = one if one.running_since is not None else one.replace(running_since=at)
            return heard(going, at)

        def stop(one: StudyAnswer) -> StudyAnswer:
            return stopped(one, at, paused=True)

        return await self._change(study, reader, node_id, sentence, change, stop)

    async def heard(self, study: Study, reader: str, node_id: str, sentence: int) -> StudyAnswer:
        """Take down that the page of a sentence is open; a timer that does not run stays so.

        Raises:
            NotFound: The study has no such document or sentence.
        """
        at = time.time()
        return await self._change(
            study, reader, node_id, sentence, lambda one: heard(one, at, is_heartbeat=True)
        )

    async def pause(self, study: Study, reader: str, node_id: str, sentence: int) -> StudyAnswer:
        """Pause the timer of a sentence; one that does not run stays as it is.

        Raises:
            NotFound: The study has no such document or sentence.
        """
        at = time.time()
        return await self._change(
            study, reader, node_id, sentence, lambda one: stopped(one, at, paused=True)
        )

    async def answer(
        self,
        study: Study,
        reader: str,
        node_id: str,
        sentence: int,
        *,
        label: ReaderLabel | None,
        note: str,
        marks: Callable[[Sequence[AttributedSentence]], Sequence[AttributedSentence]] = tuple,
        parts: Callable[[Sequence[MarkedPart]], Sequence[MarkedPart]] = tuple,
        unfounded: str = "",
        is_draft: bool = False,
    ) -> StudyAnswer:
        """Take what a reader says of a sentence; unless it is a draft, the timer stops.

        Args:
            study: The study.
            reader: The reader.
            node_id: The document.
            sentence: The sentence.
            label: What the reader says.
            note: What the reader adds.
            marks: Gives the marked source sentences, of those marked before.
            parts: Gives the parts that marked source sentences bear on, of those named before.
            unfounded: Words of the sentence that rest on nothing, with `…` for gaps.
            is_draft: Whether it is kept for later, and not saved.

        Raises:
            NotFound: The study has no such document or sentence.
            InputError: The timer does not run; or something is missing or contradictory.
        """
        at = time.time()
        words = " ".join(unfounded.split())[:MOST_NOTE]
        judged = await self._sentence(study, node_id, sentence)
        spans = () if is_draft or not words else _spans(judged, words, "unfounded")

        def change(one: StudyAnswer) -> StudyAnswer:
            if one.running_since is None:
                raise InputError(
                    "The timer of this sentence does not run; start it first.",
                    code="timer_stopped",
                )
            one = heard(one, at)
            marked = tuple(marks(one.marks))[:MOST_MARKS]
            named = _of_marks(parts(one.parts), marked)
            if not is_draft:
                named = [part.replace(spans=_spans(judged, part.text, "part")) for part in named]
            made = one.replace(
                label=label,
                note=note,
                marks=marked,
                parts=tuple(named),
                unfounded=words,
                unfounded_spans=spans,
            )
            if is_draft:
                return made.replace(answered_at=None)
            check_answer(study, made)
            return stopped(made, at, paused=False).replace(answered_at=now())

        return await self._change(study, reader, node_id, sentence, change)

    async def _sentence(self, study: Study, node_id: str, sentence: int) -> Sentence:
        if node_id not in study.nodes:
            raise NotFound(f"The study has no document {shown(node_id)}")
        document = await self.document(study, node_id)
        if not 0 <= sentence < len(document.text.sentences):
            raise NotFound(f"Document {shown(node_id)} has no sentence {sentence}")
        return document.text.sentences[sentence]

    async def _change(
        self,
        study: Study,
        reader: str,
        node_id: str,
        sentence: int,
        change: Callable[[StudyAnswer], StudyAnswer],
        stop_others: Callable[[StudyAnswer], StudyAnswer] | None = None,
    ) -> StudyAnswer:
        await self._sentence(study, node_id, sentence)
        place = await self._repository.join(study.study_id, reader)
        first = StudyAnswer(
            study_id=study.study_id,
            reader=reader,
            node_id=node_id,
            sentence=sentence,
            mode=modes_of(study, place)[node_id],
        )
        number = study.nodes.index(node_id)
        return await self._repository.change(first, number, change, stop_others=stop_others)

    async def remove(self, study: Study, by: Caller) -> None:
        """Remove a study with all answers, drafts too; attributions stay.

        Args:
            study: The study.
            by: Who removes it.
        """
        await self._repository.remove(study.study_id)
        await self._record(by, "study.remove", study.study_id, process_id=study.process_id)

    async def forget(self, process_id: str) -> None:
        """Remove the studies of a process, which is removed."""
        await self._repository.forget(process_id)


def _check_sentences(document: StudyText) -> None:
    if len(document.sentences) > MOST_SENTENCES:
        raise DocumentTooLarge(
            document.node_id,
            f"has {len(document.sentences):,} sentences; a document may have {MOST_SENTENCES}",
        )


def _of_marks(parts: Sequence[MarkedPart], marks: Sequence[AttributedSentence]) -> list[MarkedPart]:
    """The parts of source sentences that are marked, with words that are not too many."""
    marked = {(one.node_id, one.sentence) for one in marks}
    return [
        one.replace(text=one.text[:MOST_NOTE], spans=())
        for one in parts
        if (one.node_id, one.sentence) in marked
    ]


def _spans(sentence: Sentence, words: str, where: str) -> tuple[tuple[int, int], ...]:
    """Return where words of a sentence stand in the text of its document.

    Raises:
        InputError: They do not stand in the sentence.
    """
    from veritrail_graph.verifier.attribution.propositions import stretches_of
    from veritrail_graph.verifier.models.port import InvalidAnswer

    try:
        found = stretches_of([words], sentence.text)
    except InvalidAnswer:
        message = (
            f"{shown(words[:80])} must be words of the sentence, in its order and as they are "
            "written there; write … for words between them that are left out"
        )
        fault = Violation("wrong_value", where, message)
        raise InputError("The answer was not saved", [fault], code="answer_incomplete") from None
    return tuple((sentence.start + start, sentence.start + end) for start, end in found)
