"""The pages on which people label the claims of a dialogue: a turn at a time, and how far they are.

Source: VISTA C.2.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from veritrail_eval.app.turn_labels import TurnLabels
from veritrail_eval.dialogues.gold import gold_lines
from veritrail_eval.dialogues.sheets import LABEL_WORDS, Action
from veritrail_eval.dialogues.turn_answers import (
    MOST_CLAIM,
    MOST_NOTES,
    MOST_ROWS,
    ClaimAnswer,
    TurnAnswer,
    given_answers,
)
from veritrail_graph.api.app import Application
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.pages.review import Draft, keep_name, reviewer_of
from veritrail_graph.api.page.rendering import FromOurPage, render
from veritrail_graph.api.service.http.access import WITHOUT_LINKS, App, Calling, needs
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import ProcessId
from veritrail_graph.api.show.texts import clip, file_name
from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.reviewing import text_faults

router = APIRouter(route_class=OneVersion, include_in_schema=False)

SPARE = 1
"""Rows for new claims that are open at first; where nothing is proposed, `SPARE_ALONE`."""
SPARE_ALONE = 3
MORE = 3
"""Rows for new claims that a click adds."""
TURN_ROOM = 4_000
"""Characters that are shown of a turn, and of an earlier one."""
DOCUMENT_ROOM = 30_000
"""Characters that are shown of a document."""

ACTION_WORDS: Mapping[Action, str] = {
    Action.KEEP: "Keep",
    Action.EDIT: "Edit",
    Action.DELETE: "Delete",
}

_NUMBER = 2**31 - 1
_JSON_LINES = "application/jsonl; charset=utf-8"

TurnNumber = Annotated[int, Query(ge=0, le=_NUMBER)]


@router.get(
    "/processes/{process_id}/dialogue/labels", dependencies=[needs(Scope.READ), WITHOUT_LINKS]
)
async def show_labels(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    after: Annotated[int, Query(ge=-1, le=_NUMBER)] = -1,
) -> Response:
    """How far annotators are with the turns of a dialogue."""
    return await _overview(request, app, caller, process_id, after)


async def _overview(
    request: Request,
    app: Application,
    caller: Calling,
    process_id: str,
    after: int = -1,
    status: int = 200,
    *,
    draft: Draft | None = None,
    removing: str | None = None,
) -> Response:
    process = await app.processes.get(process_id)
    size = await app.dialogues.size(process_id)
    who = reviewer_of(request, caller)
    name = who.name if caller.may(Scope.REVIEW) else None
    annotators = await app.part(TurnLabels).annotators(process_id)
    return render(
        request,
        "turn_labels.html",
        status,
        process=process,
        size=size,
        who=who,
        part=await app.part(TurnLabels).part(process_id, name, after),
        is_first=after < 0,
        following=None if name is None else await app.part(TurnLabels).first_open(process_id, name),
        annotators=annotators,
        draft=draft or Draft(),
        removing=removing,
    )


@router.post(
    "/processes/{process_id}/dialogue/labels/annotator",
    dependencies=[needs(Scope.READ, Scope.REVIEW), FromOurPage],
)
async def begin(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    name: Annotated[str, Form()] = "",
) -> Response:
    """Keep the name of the annotator, where no key says it, and go on to the first turn."""
    if not reviewer_of(request, caller).by_key:
        if faults := text_faults("", name.strip()):
            draft = Draft(heading="That is no name", wrong=_words(faults))
            return await _overview(request, app, caller, process_id, status=422, draft=draft)
    else:
        name = caller.name
    first = await app.part(TurnLabels).first_open(process_id, name.strip())
    answer = RedirectResponse(_address(process_id, first), 303)
    keep_name(answer, name.strip())
    return answer


@router.post(
    "/processes/{process_id}/dialogue/labels/remove",
    dependencies=[needs(Scope.READ, Scope.WRITE), FromOurPage],
)
async def remove(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    annotator: Annotated[str, Form()] = "",
    sure: Annotated[str, Form()] = "",
) -> Response:
    """Remove what an annotator said, if the box says so."""
    if not sure:
        wrong = ("Tick the box to say that the labels may be lost.",)
        draft = Draft(heading="Nothing was removed", wrong=wrong)
        return await _overview(
            request, app, caller, process_id, status=422, draft=draft, removing=annotator
        )
    await app.part(TurnLabels).remove(process_id, annotator, caller)
    return RedirectResponse(_address(process_id, None), 303)


@router.get("/processes/{process_id}/dialogue/labels.jsonl", dependencies=[needs(Scope.READ)])
async def download(app: App, process_id: ProcessId) -> Response:
    """The dialogue with its labelled turns, as `veritrail eval` reads them."""
    found = await app.part(TurnLabels).labelled(process_id)
    lines = [json.dumps(line, ensure_ascii=False) for line in gold_lines(found.gold)]
    name = file_name(f"{process_id}.labels.jsonl")
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response("\n".join([*lines, ""]), media_type=_JSON_LINES, headers=headers)


@router.get(
    "/processes/{process_id}/dialogue/labels/turn", dependencies=[needs(Scope.READ, Scope.REVIEW)]
)
async def show_turn(
    request: Request, app: App, caller: Calling, process_id: ProcessId, number: TurnNumber
) -> Response:
    """A turn with its claims, to be labelled."""
    annotator = reviewer_of(request, caller).name
    if annotator is None:
        return RedirectResponse(_address(process_id, None), 303)
    return await _turn(request, app, process_id, number, annotator)


async def _turn(
    request: Request,
    app: Application,
    process_id: str,
    number: int,
    annotator: str,
    status: int = 200,
    *,
    draft: Draft | None = None,
    given: TurnAnswer | None = None,
) -> Response:
    process = await app.processes.get(process_id)
    desk = await app.part(TurnLabels).desk(process_id, number, annotator)
    answer = given or desk.answer
    proposed = [one for one in answer.claims if one.proposed is not None][:MOST_ROWS]
    added = [one for one in answer.claims if one.proposed is None]
    if given is None:
        empty = SPARE if proposed or added else SPARE_ALONE
        added += [ClaimAnswer(action=Action.ADD)] * empty
    return render(
        request,
        "turn_labels_turn.html",
        status,
        process=process,
        desk=desk,
        answer=answer,
        is_saved=desk.answer.answered_at is not None,
        annotator=annotator,
        proposed=proposed,
        added=added[:MOST_ROWS],
        text=clip(desk.turn.turn.text, TURN_ROOM),
        before=[(one, clip(one.turn.text, TURN_ROOM)) for one in desk.before],
        documents=[(name, clip(text, DOCUMENT_ROOM)) for name, text in desk.documents.items()],
        actions=ACTION_WORDS,
        labels=LABEL_WORDS,
        most_claim=MOST_CLAIM,
        most_notes=MOST_NOTES,
        draft=draft or Draft(),
    )


@router.post(
    "/processes/{process_id}/dialogue/labels/turn",
    dependencies=[needs(Scope.READ, Scope.REVIEW), FromOurPage],
)
async def save(
    request: Request, app: App, caller: Calling, process_id: ProcessId, number: TurnNumber
) -> Response:
    """Save what an annotator says of a turn and go on; or show more rows for new claims."""
    annotator = reviewer_of(request, caller).name
    if annotator is None:
        return RedirectResponse(_address(process_id, None), 303)
    form = await request.form()  # was read already, for its token
    fields = {name: value for name, value in form.items() if isinstance(value, str)}
    answer = TurnAnswer(
        turn_id=fields.get("turn_id") or "?",  # what is stored is the id of the stored turn
        number=number,
        said=fields.get("said", ""),
        annotator=annotator,
        claims=given_answers(
            {name: value.replace("\r\n", "\n") for name, value in fields.items()},
            _count(fields.get("proposed")),
            _count(fields.get("added")),
        ),
        is_empty=bool(fields.get("is_empty")),
        notes=fields.get("notes", "").replace("\r\n", "\n"),
    )
    if fields.get("then") == "more":
        rows = (*answer.claims, *[ClaimAnswer(action=Action.ADD)] * MORE)
        given = answer.replace(claims=rows)
        return await _turn(request, app, process_id, number, annotator, given=given)
    try:
        await app.part(TurnLabels).save(process_id, answer)
    except InputError as error:
        if error.code != "labels_incomplete":
            raise
        draft = Draft(heading="Not saved yet", wrong=_words(error.violations))
        return await _turn(
            request, app, process_id, number, annotator, 422, draft=draft, given=answer
        )
    following = await app.part(TurnLabels).first_open(process_id, annotator, number)
    return RedirectResponse(_address(process_id, following), 303)


def _count(given: str | None) -> int:
    """Return how many rows a form says that it has."""
    is_number = given is not None and given.isascii() and given.isdecimal() and len(given) < 9
    return int(given or 0) if is_number else 0


def _address(process_id: str, number: int | None) -> str:
    """The page of a turn; without one that of all turns."""
    place = ("processes", process_id, "dialogue", "labels")
    return url(*place) if number is None else url(*place, "turn", number=number)


def _words(faults: tuple[Violation, ...] | list[Violation]) -> tuple[str, ...]:
    """Faults in sentences."""
    return tuple(f"{one.where[:1].upper()}{one.where[1:]} {one.message}." for one in faults)
