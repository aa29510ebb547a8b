"""The pages of studies: make one, read and judge sentences against the clock, take the answers."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterable, Sequence
from typing import Annotated

from fastapi import APIRouter, Form, Path, Query, Request, Response
from fastapi.responses import RedirectResponse

from veritrail_eval.app.studies import NewStudy, Reading, Studies, StudyDocument
from veritrail_eval.pages.study_view import (
    LABEL_WORDS,
    MODE_WORDS,
    SENTENCE_ROOM,
    context_of,
    document_rows,
    marks_given,
    next_sentence,
    part_of,
    parts_given,
    steps_of,
)
from veritrail_eval.studies.files import CSV_TYPE, GOLD_TYPE, csv_of, gold_of
from veritrail_eval.studies.model import (
    MOST_IDLE,
    MOST_SILENT,
    ReaderLabel,
    Study,
    StudyAnswer,
    StudyTask,
)
from veritrail_eval.studies.rules import MOST_NOTE
from veritrail_graph.api.app import Application
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.pages.review import Draft, keep_name, reviewer_of, words_of
from veritrail_graph.api.page.rendering import FromOurPage, render
from veritrail_graph.api.service.http.access import WITHOUT_LINKS, App, Calling, needs
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import ProcessId
from veritrail_graph.api.show.attribution_marks import CATEGORY_MARKS
from veritrail_graph.api.show.texts import clip
from veritrail_graph.graph.errors import InputError, NotFound, Violation
from veritrail_graph.graph.model import Sentence
from veritrail_graph.graph.model.attribution import Against, AttributedSentence, SourceMode
from veritrail_graph.graph.reviewing import text_faults

router = APIRouter(route_class=OneVersion, include_in_schema=False)

OFFERED = 200
"""Nodes that are offered as documents."""

_SEEDS = 10**6

_ABOUT = "about."
"""How the fields begin that name the part of the sentence that a source sentence bears on."""

StudyId = Annotated[str, Path(max_length=160, description="The study, by its study_id.")]
SentenceNumber = Annotated[int, Query(ge=0, le=10**6)]


@router.get("/processes/{process_id}/studies", dependencies=[needs(Scope.READ), WITHOUT_LINKS])
async def show_studies(request: Request, app: App, process_id: ProcessId) -> Response:
    """The studies of a process, and a form for a new one."""
    return await _studies(request, app, process_id)


@router.post(
    "/processes/{process_id}/studies", dependencies=[needs(Scope.READ, Scope.WRITE), FromOurPage]
)
async def create(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    node: Annotated[list[str] | None, Form()] = None,
    names: Annotated[str, Form()] = "",
    task: Annotated[str, Form()] = "judge",
    modes: Annotated[str, Form()] = "both",
    against: Annotated[str, Form()] = "inputs",
    seed: Annotated[str, Form()] = "",
) -> Response:
    """Make a study, and go on to it."""
    try:
        new = NewStudy(
            [*(node or ()), *(one for one in map(str.strip, names.splitlines()) if one)],
            StudyTask(_one_of(task, "task", StudyTask)),
            _MODES[_one_of(modes, "modes", _MODES)],
            Against(_one_of(against, "against", Against)),
            _seed(seed),
        )
        made = await app.part(Studies).create(process_id, new, caller)
    except InputError as error:
        wrong = words_of(error.violations) or (str(error),)
        draft = Draft(heading="No study was made", wrong=wrong)
        return await _studies(request, app, process_id, 422, draft=draft)
    return RedirectResponse(url("processes", process_id, "studies", made.study_id), 303)


_MODES = {
    "both": (SourceMode.PLAIN, SourceMode.HIGHLIGHTED),
    "plain": (SourceMode.PLAIN,),
    "highlighted": (SourceMode.HIGHLIGHTED,),
}


def _one_of(given: str, where: str, known: Iterable[str]) -> str:
    words = [str(one) for one in known]
    if given not in words:
        fault = Violation("wrong_value", where, f"must be one of {', '.join(words)}")
        raise InputError("No study was made", [fault], code="wrong_value")
    return given


def _seed(given: str) -> int:
    if not given.strip():
        return secrets.randbelow(_SEEDS)
    if not (given.strip().isascii() and given.strip().isdecimal() and len(given.strip()) < 16):
        fault = Violation("wrong_value", "seed", "must be a whole number from 0")
        raise InputError("No study was made", [fault], code="wrong_value")
    return int(given)


async def _studies(
    request: Request,
    app: Application,
    process_id: str,
    status: int = 200,
    *,
    draft: Draft | None = None,
) -> Response:
    process = await app.processes.get(process_id)
    offered, more = await app.attributions.nodes(process_id, limit=OFFERED)
    attributed = [one.node_id for one in offered]
    return render(
        request,
        "studies.html",
        status,
        process=process,
        studies=await app.part(Studies).of_process(process_id),
        attributed=attributed,
        more=more,
        others=[one for one in process.terminals[:OFFERED] if one not in set(attributed)],
        draft=draft or Draft(),
        modes=MODE_WORDS,
    )


@router.get(
    "/processes/{process_id}/studies/{study_id}", dependencies=[needs(Scope.READ), WITHOUT_LINKS]
)
async def show_study(
    request: Request, app: App, caller: Calling, process_id: ProcessId, study_id: StudyId
) -> Response:
    """The documents of a study, and how far the reader is."""
    return await _study(request, app, caller, process_id, study_id)


@router.post(
    "/processes/{process_id}/studies/{study_id}/reader",
    dependencies=[needs(Scope.READ, Scope.REVIEW), FromOurPage],
)
async def begin(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    study_id: StudyId,
    name: Annotated[str, Form()] = "",
) -> Response:
    """Keep the name of the reader, where no key says it."""
    answer = RedirectResponse(url("processes", process_id, "studies", study_id), 303)
    if reviewer_of(request, caller).by_key:
        return answer
    if faults := text_faults("", name.strip()):
        draft = Draft(heading="That is no name", wrong=words_of(faults))
        return await _study(request, app, caller, process_id, study_id, 422, draft=draft)
    keep_name(answer, name.strip())
    return answer


@router.post(
    "/processes/{process_id}/studies/{study_id}/remove",
    dependencies=[needs(Scope.READ, Scope.WRITE), FromOurPage],
)
async def remove(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    study_id: StudyId,
    sure: Annotated[str, Form()] = "",
) -> Response:
    """Remove a study with its answers, if the box says so."""
    if not sure:
        wrong = ("Tick the box to say that the answers may be lost.",)
        draft = Draft(heading="Nothing was removed", wrong=wrong)
        return await _study(
            request, app, caller, process_id, study_id, 422, draft=draft, removing=True
        )
    await app.part(Studies).remove(await app.part(Studies).get(process_id, study_id), caller)
    return RedirectResponse(url("processes", process_id, "studies"), 303)


async def _study(
    request: Request,
    app: Application,
    caller: Calling,
    process_id: str,
    study_id: str,
    status: int = 200,
    *,
    draft: Draft | None = None,
    removing: bool = False,
) -> Response:
    study = await app.part(Studies).get(process_id, study_id)
    process = await app.processes.get(process_id)
    who = reviewer_of(request, caller)
    may = caller.may(Scope.REVIEW) and who.name is not None and (draft is None or removing)
    reading = await app.part(Studies).reading(study, who.name or "") if may else None
    readers = await app.part(Studies).readers(study)
    return render(
        request,
        "study.html",
        status,
        process=process,
        study=study,
        who=who,
        rows=document_rows(study, reading) if reading else [],
        following=next_sentence(study, reading) if reading else None,
        readers=readers,
        sentences=sum(study.sentences),
        is_outdated=process.content_hash != study.content_hash,
        modes=MODE_WORDS,
        draft=draft or Draft(),
        removing=removing,
        answered=sum(count for _, count in readers),
    )


@router.get(
    "/processes/{process_id}/studies/{study_id}/read",
    dependencies=[needs(Scope.READ, Scope.REVIEW)],
)
async def show_reading(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    study_id: StudyId,
    document: Annotated[int, Query(ge=1, le=10**6)] = 1,
    sentence: SentenceNumber = 0,
    part: Annotated[int | None, Query(ge=1, le=10**6)] = None,
) -> Response:
    """A sentence of a document; it and its sources are shown while its timer runs."""
    study, reader = await _asked(request, app, caller, process_id, study_id)
    if reader is None:
        return RedirectResponse(url("processes", process_id, "studies", study_id), 303)
    return await _reading(request, app, study, reader, document, sentence, part)


async def _asked(
    request: Request, app: Application, caller: Calling, process_id: str, study_id: str
) -> tuple[Study, str | None]:
    study = await app.part(Studies).get(process_id, study_id)
    return study, reviewer_of(request, caller).name


def _node(study: Study, document: int) -> str:
    if not 1 <= document <= len(study.nodes):
        raise NotFound(f"The study has no document {document}.")
    return study.nodes[document - 1]


async def _highlights(
    app: Application, study: Study, answer: StudyAnswer, sentence: Sentence
) -> tuple[tuple[AttributedSentence, ...], bool]:
    """Return what is highlighted for a sentence, and whether an attribution of it is stored."""
    if answer.mode is not SourceMode.HIGHLIGHTED:
        return (), False
    found = await app.attributions.of_node(
        study.process_id, answer.node_id, after=(sentence.start, -1), limit=1
    )
    for one in found.sentences:
        if one.sentence == sentence.index:
            return tuple(one.attributed), True
    return (), False


async def _reading(
    request: Request,
    app: Application,
    study: Study,
    reader: str,
    number: int,
    sentence: int,
    part: int | None,
    status: int = 200,
    *,
    draft: Draft | None = None,
    given: tuple[str, str, str] | None = None,
) -> Response:
    name = _node(study, number)
    document = await app.part(Studies).document(study, name)
    if sentence >= len(document.text.sentences):
        raise NotFound(f"Document {number} of the study has no sentence {sentence}.")
    reading = await app.part(Studies).reading(study, reader)
    answer = _answer(study, reading, reader, name, sentence)
    at = time.time()
    is_idle = answer.is_idle(at) and draft is None
    is_running = answer.running_since is not None and not is_idle
    judged = document.text.sentences[sentence]
    highlights, is_attributed = (
        await _highlights(app, study, answer, judged) if is_running else ((), False)
    )
    sources = {one.node_id for one in document.sources}
    label = answer.label.value if answer.label else ""
    return render(
        request,
        "study_read.html",
        status,
        process_id=study.process_id,
        process=await app.processes.get(study.process_id),
        study=study,
        number=number,
        place_number=reading.order.index(name) + 1,
        answer=answer,
        is_running=is_running,
        is_idle=is_idle,
        idle=answer.idle_seconds,
        most_silent=MOST_SILENT,
        most_idle=MOST_IDLE,
        elapsed=answer.elapsed(at),
        mode=MODE_WORDS[answer.mode],
        is_highlighted=answer.mode is SourceMode.HIGHLIGHTED,
        is_attributed=is_attributed,
        marked=sum(1 for one in highlights if one.node_id in sources),
        steps=steps_of(document, reading, sentence),
        sentence=sentence,
        text=clip(judged.text, SENTENCE_ROOM),
        before=context_of(document.text, sentence),
        part=part_of(document, study, answer, highlights, part) if is_running else None,
        labels=LABEL_WORDS,
        label=label if given is None else given[0],
        note_text=answer.note if given is None else given[1],
        unfounded=answer.unfounded if given is None else given[2],
        categories=CATEGORY_MARKS,
        draft=draft or Draft(),
    )


def _answer(study: Study, reading: Reading, reader: str, name: str, sentence: int) -> StudyAnswer:
    known = reading.answers.get((name, sentence))
    return known or StudyAnswer(
        study_id=study.study_id,
        reader=reader,
        node_id=name,
        sentence=sentence,
        mode=reading.modes[name],
    )


@router.post(
    "/processes/{process_id}/studies/{study_id}/timer",
    dependencies=[needs(Scope.READ, Scope.REVIEW), FromOurPage],
)
async def turn_timer(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    study_id: StudyId,
    document: Annotated[int, Form()] = 1,
    sentence: Annotated[int, Form()] = 0,
    act: Annotated[str, Form()] = "start",
) -> Response:
    """Start the timer of a sentence, pause it, or let it go on; or say that its page is open."""
    study, reader = await _asked(request, app, caller, process_id, study_id)
    if reader is None:
        return RedirectResponse(url("processes", process_id, "studies", study_id), 303)
    if act == "heartbeat":
        await app.part(Studies).heard(study, reader, _node(study, document), sentence)
        return Response(status_code=204)
    turn = app.part(Studies).pause if act == "pause" else app.part(Studies).start
    await turn(study, reader, _node(study, document), sentence)
    return _to(study, document, sentence)


def _to(study: Study, document: int, sentence: int, part: int | None = None) -> Response:
    place = ("processes", study.process_id, "studies", study.study_id, "read")
    return RedirectResponse(url(*place, document=document, sentence=sentence, part=part), 303)


@router.post(
    "/processes/{process_id}/studies/{study_id}/answer",
    dependencies=[needs(Scope.READ, Scope.REVIEW), FromOurPage],
)
async def save(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    study_id: StudyId,
    document: Annotated[int, Form()] = 1,
    sentence: Annotated[int, Form()] = 0,
    label: Annotated[str, Form()] = "",
    note: Annotated[str, Form()] = "",
    part: Annotated[int, Form()] = 1,
    mark: Annotated[list[str] | None, Form()] = None,
    unfounded: Annotated[str, Form()] = "",
    then: Annotated[str, Form()] = "next",
) -> Response:
    """Save an answer and go on; or keep a draft, and show another part or stop the clock."""
    study, reader = await _asked(request, app, caller, process_id, study_id)
    if reader is None:
        return RedirectResponse(url("processes", process_id, "studies", study_id), 303)
    name = _node(study, document)
    note = note.replace("\r\n", "\n")
    chosen = re.fullmatch("part-([0-9]{1,9})", then)
    other = int(chosen.group(1)) if chosen else None
    is_draft = other is not None or then == "pause"
    found = await app.part(Studies).document(study, name)
    form = await request.form()
    about = {
        key.removeprefix(_ABOUT): words
        for key, words in form.items()
        if key.startswith(_ABOUT) and isinstance(words, str)
    }

    async def take(*, is_draft: bool) -> None:
        await app.part(Studies).answer(
            study,
            reader,
            name,
            sentence,
            label=ReaderLabel(label) if label in set(ReaderLabel) else None,
            note=note[:MOST_NOTE] if is_draft else note,
            marks=lambda before: _marks(study, found, part, mark or (), before),
            parts=lambda before: parts_given(found, study, about, part, before),
            unfounded=unfounded if study.task is StudyTask.ANNOTATE else "",
            is_draft=is_draft,
        )

    try:
        await take(is_draft=is_draft)
    except InputError as error:
        if error.code in ("study_outdated", "wrong_mark"):
            raise
        if error.code == "answer_incomplete":  # what was marked is not lost
            await take(is_draft=True)
        wrong = words_of(error.violations) or (str(error),)
        draft = Draft(heading="Not saved yet", wrong=wrong)
        return await _reading(
            request, app, study, reader, document, sentence, part, 422, draft=draft,
            given=(label, note, unfounded),
        )  # fmt: skip
    if then == "pause":
        await app.part(Studies).pause(study, reader, name, sentence)
        return _to(study, document, sentence)
    if other is not None:
        return _to(study, document, sentence, other)
    following = next_sentence(study, await app.part(Studies).reading(study, reader), name, sentence)
    if following is None:
        return RedirectResponse(url("processes", process_id, "studies", study_id), 303)
    if then == "start":
        await app.part(Studies).start(study, reader, _node(study, following[0]), following[1])
    return _to(study, *following)


def _marks(
    study: Study,
    document: StudyDocument,
    part: int,
    given: Sequence[str],
    before: Sequence[AttributedSentence],
) -> Sequence[AttributedSentence]:
    """Return what a form marks; where readers judge, nothing can be marked."""
    if study.task is not StudyTask.ANNOTATE:
        return before
    return marks_given(document, study, given, part, before)


@router.get(
    "/processes/{process_id}/studies/{study_id}/answers.csv", dependencies=[needs(Scope.READ)]
)
async def download_answers(app: App, process_id: ProcessId, study_id: StudyId) -> Response:
    """The answers of all readers, a row each."""
    study = await app.part(Studies).get(process_id, study_id)
    text = csv_of(study, await app.part(Studies).answers(study))
    return _file(text, CSV_TYPE, f"{study_id}.csv")


@router.get(
    "/processes/{process_id}/studies/{study_id}/gold.jsonl", dependencies=[needs(Scope.READ)]
)
async def download_gold(
    app: App,
    process_id: ProcessId,
    study_id: StudyId,
    reader: Annotated[str, Query(max_length=200)],
) -> Response:
    """The annotations of a reader, as `veritrail eval attribution` reads them."""
    study = await app.part(Studies).get(process_id, study_id)
    text = gold_of(study, await app.part(Studies).answers(study, reader))
    return _file(text, GOLD_TYPE, f"{study_id}.jsonl")


def _file(text: str, media_type: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=media_type, headers=headers)
