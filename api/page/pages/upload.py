"""Uploading a process: the form, read piece by piece, what was wrong, and what came of it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect

from veritrail_graph.api.app.part import ProcessInUse
from veritrail_graph.api.auth.access import Caller, Scope
from veritrail_graph.api.configured.judge import judge_options
from veritrail_graph.api.page.faults import ADVICE
from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.pages.starting import start
from veritrail_graph.api.page.rendering import FIELD, check_token, render
from veritrail_graph.api.page.views.jobs import Filled, request_of
from veritrail_graph.api.requests.importing import import_options
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.pages import PROCESS_ID
from veritrail_graph.api.service.http.receiving import UploadRefused
from veritrail_graph.api.service.http.uploading import DETECT, store_any, upload_options
from veritrail_graph.api.show.ingested import (
    SharedWarning,
    StoredLine,
    edge_words,
    explained_words,
    shared_warnings,
)
from veritrail_graph.graph.errors import (
    InputError,
    ProcessConflict,
    VeriTrailError,
    Violation,
    with_advice,
)
from veritrail_graph.graph.model.dialogue import is_dialogue

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.answers import Ingested
    from veritrail_graph.graph.importers.registry import ImportOptions


MOST_FIELD = 10_000
"""Bytes of one field that is no file, or of the headers of one part."""

_Event = tuple[str, bytes]


class SentFile:
    """A form whose last field is a file.

    Args:
        request: The request; nothing of its body was read.

    Attributes:
        headers: Its headers.
        fields: The fields before the file, once `begin` was called.
        name: What the sender called the file.

    Raises:
        InputError: It is no form with a file.
    """

    def __init__(self, request: Request) -> None:
        kind, options = parse_options_header(request.headers.get("content-type", ""))
        if kind != b"multipart/form-data" or not options.get(b"boundary"):
            raise InputError("The form was not sent as one with a file. Load the page again.")
        self.headers: Headers = request.headers
        self.fields: dict[str, str] = {}
        self.name = ""
        self._body = request.stream()
        self._events: deque[_Event] = deque()
        callbacks: MultipartCallbacks = {
            "on_part_begin": lambda: self._note("part"),
            "on_header_field": lambda data, start, end: self._note("header", data[start:end]),
            "on_header_value": lambda data, start, end: self._note("value", data[start:end]),
            "on_header_end": lambda: self._note("header_end"),
            "on_headers_finished": lambda: self._note("headers"),
            "on_part_data": lambda data, start, end: self._note("data", data[start:end]),
            "on_part_end": lambda: self._note("part_end"),
            "on_end": lambda: self._note("end"),
        }
        self._parser = MultipartParser(options[b"boundary"], callbacks)
        self._is_over = False

    def _note(self, what: str, data: bytes = b"") -> None:
        self._events.append((what, data))

    async def begin(self) -> None:
        """Read the fields up to the file.

        Raises:
            InputError: It is no form of ours, or has no file.
        """
        header, value, data = bytearray(), bytearray(), bytearray()
        said: dict[str, str] = {}
        field: str | None = None
        while (event := await self._next()) is not None:
            what, piece = event
            if what == "part":
                said, field = {}, None
                data.clear()
            elif what == "header":
                header += piece
            elif what == "value":
                value += piece
            elif what == "header_end":
                said[header.decode("latin-1").lower()] = value.decode("utf-8", "replace")
                header.clear()
                value.clear()
            elif what == "headers":
                field, name = _disposition(said.get("content-disposition", ""))
                if name is not None:
                    self.name = name
                    return
            elif what == "data":
                data += piece
            elif what == "part_end" and field is not None:
                self.fields[field] = data.decode("utf-8", "replace")
            if len(header) + len(value) + len(data) > MOST_FIELD or len(self.fields) > 20:
                raise InputError("The form has more in it than it can have.")
        raise InputError("The form has no file in it. Choose one and send it again.")

    async def stream(self) -> AsyncIterator[bytes]:
        """The bytes of the file, as they come.

        Raises:
            InputError: The form is damaged.
        """
        while (event := await self._next()) is not None:
            what, piece = event
            if what == "data":
                yield piece
            elif what == "part_end":
                break
        else:
            raise InputError("The file did not arrive whole. Send it again.")
        while not self._is_over:  # what comes behind it is nothing that is asked for
            self._events.clear()
            await self._feed()

    async def _next(self) -> _Event | None:
        """The next thing that was read; None: there is nothing more."""
        while not self._events and not self._is_over:
            await self._feed()
        return self._events.popleft() if self._events else None

    async def _feed(self) -> None:
        piece = await anext(self._body, b"")
        if not piece:
            self._is_over = True
            return
        try:
            self._parser.write(piece)
        except FormParserError:
            raise InputError("The form cannot be read. Load the page and send it again.") from None


def _disposition(header: str) -> tuple[str | None, str | None]:
    """Name of a field, and of its file where it is one."""
    _, options = parse_options_header(header.encode("utf-8", "replace"))
    name, file = options.get(b"name"), options.get(b"filename")
    return (
        name.decode("utf-8", "replace") if name is not None else None,
        file.decode("utf-8", "replace") if file is not None else None,
    )


router = APIRouter(include_in_schema=False, dependencies=[needs(Scope.WRITE)])

MOST_CHECKED = 100
"""Processes of one file that are checked as they are uploaded."""

MOST_LISTED = 500
"""Processes of one file that are listed."""

_OPTIONS = ("columns", "grouping", "only_explicit", "infer")

SHOWN = 50
"""Broken rules that are listed; a file that breaks one often breaks it everywhere."""


_Count = Annotated[int, Query(ge=0)]


@router.get("/upload")
async def show_upload(
    request: Request,
    app: App,
    caller: Calling,
    stored: str | None = None,
    how: str | None = None,
    explained: Annotated[float | None, Query(ge=0, le=1)] = None,
    exact: _Count = 0,
    normalised: _Count = 0,
    overlap: _Count = 0,
    order: _Count = 0,
) -> Response:
    """The form; after an upload, what came of it, for a caller who may read that."""
    found, facts = None, ("", "")
    if stored is not None and caller.may(Scope.READ):
        found = await app.processes.overview(stored)
        ways = {"exact": exact, "normalised": normalised, "overlap": overlap, "order": order}
        facts = (edge_words(found.edges, ways), explained_words(explained))
    return _form(request, stored=stored, found=found, facts=facts, how=how)


def _report(found: Ingested) -> str:
    """The address of the page that tells of a process; what the graph does not keep is in it."""
    told: dict[str, Any] = {how: count for how, count in found.inferred_edges.items() if count}
    if found.explained is not None:
        told["explained"] = found.explained
    return url("upload", stored=found.process_id, how=found.status, **told)


@router.post("/upload")
async def upload(request: Request, caller: Calling) -> Response:
    """Store the file of a form, as POST of a process file does."""
    sent = SentFile(request)
    try:
        await sent.begin()
        check_token(request, sent.fields.get(FIELD, ""))
        return await _stored(request, caller, sent)
    except ClientDisconnect:
        return _form(request, 400, wrong="The file did not arrive whole. Send it again.")
    except UploadRefused as error:
        return _form(request, error.status, error.headers, wrong=_said(error), sent=sent)
    except ProcessInUse as error:
        return _form(request, 409, wrong=_said(error), sent=sent)
    except ProcessConflict as error:
        is_other = error.code == "other_content"
        words = str(error) if is_other else _said(error)
        return _form(request, 409, wrong=words, may_replace=is_other, sent=sent)
    except InputError as error:
        return _form(request, 422, wrong=_said(error), violations=error.violations, sent=sent)


async def _stored(request: Request, caller: Calling, sent: SentFile) -> Response:
    wanted = sent.fields.get("process_id", "").strip() or None
    if wanted is not None and not re.fullmatch(PROCESS_ID, wanted):
        raise InputError(
            "An id has up to 128 letters, digits and . _ : - and begins with a letter or a digit."
        )
    if not sent.name:
        raise InputError("Choose a file first.")
    replace = sent.fields.get("replace") == "1"
    options = upload_options(
        caller, wanted, replace=replace, format_name=DETECT, importing=_importing(sent.fields)
    )
    outcomes = await store_any(request, caller, sent, options, sent.name)
    if not outcomes:
        raise InputError("There is no process in the file.")
    if len(outcomes) > 1:
        many = [
            StoredLine.refused(where, _said(one), getattr(one, "violations", ()))
            if isinstance(one, VeriTrailError)
            else StoredLine.of(where, one)
            for where, one in outcomes
        ]
        kept = [one for _, one in outcomes if not isinstance(one, VeriTrailError)]
        if _is_checked(sent, caller):
            for one in kept[:MOST_CHECKED]:
                await _check(request.app.state.app, caller, one)
        return _form(request, 207, many=many, shared=shared_warnings(kept), sent=sent)
    ((_, found),) = outcomes
    if isinstance(found, VeriTrailError):
        raise found
    if _is_checked(sent, caller):
        checked = await _check(request.app.state.app, caller, found, waits=True)
        if checked is not None:
            return checked
    return RedirectResponse(_report(found), 303)


def _is_checked(sent: SentFile, caller: Caller) -> bool:
    """Return whether what a file holds is to be verified, too, and may be."""
    return sent.fields.get("check") == "1" and caller.may(Scope.READ) and caller.may(Scope.VERIFY)


async def _check(
    app: Application, caller: Caller, found: Ingested, *, waits: bool = False
) -> Response | None:
    """Verify what was stored; a model is not asked before somebody saw what that may cost.

    Returns:
        Where to go on, where somebody waits for it; None: nothing was begun.
    """
    page = url("processes", found.process_id)
    filled = Filled(which="unverified" if found.claims else "answer")
    wanted = request_of(found.process_id, filled)
    try:
        if judge_options(app.settings, wanted).calls_models:
            return RedirectResponse(url("processes", found.process_id, "verify"), 303)
        job = await app.checking.request_of(wanted)
        if waits:
            return await start(app, caller, job, "", result=page)
        await app.jobs.submit(caller, job)
    except InputError:  # it states nothing, or all of it was verified before: its page says so
        return RedirectResponse(page, 303)
    return None


def _importing(fields: Mapping[str, str]) -> ImportOptions:
    """The options of the importer in a form.

    Raises:
        InputError: The grouping is no number, or the columns are none.
    """
    grouping = fields.get("grouping", "").strip()
    if grouping and not re.fullmatch("[1-9][0-9]{0,5}", grouping):
        raise InputError("Texts of a level in one of the next: must be a number from 1.")
    return import_options(
        only_explicit=fields.get("only_explicit") == "1",
        infer=fields.get("infer") or None,
        grouping=int(grouping) if grouping else None,
        columns=fields.get("columns", "").strip() or None,
    )


def _said(error: VeriTrailError) -> str:
    """An error about a body, for a caller who sent a file in a form."""
    words = with_advice(error, ADVICE)
    return words.replace("The body", "The file").replace("the body", "the file")


def _form(
    request: Request,
    status: int = 200,
    headers: Any = None,
    *,
    wrong: str | None = None,
    violations: Sequence[Violation] = (),
    may_replace: bool = False,
    sent: SentFile | None = None,
    stored: str | None = None,
    found: Any = None,
    facts: Sequence[str] = (),
    how: str | None = None,
    many: Sequence[StoredLine] = (),
    shared: Sequence[SharedWarning] = (),
) -> Response:
    return render(
        request,
        "upload.html",
        status,
        headers,
        wrong=wrong,
        violations=violations[:SHOWN],
        more=max(0, len(violations) - SHOWN),
        may_replace=may_replace,
        file=sent.name if sent is not None else None,
        process_id=sent.fields.get("process_id", "") if sent is not None else "",
        check=sent is not None and sent.fields.get("check") == "1",
        most=request.app.state.uploads.limits.wire,
        stored=stored,
        found=found,
        can_state=found is not None and not (found.claims or is_dialogue(found.terminals)),
        is_dialogue=found is not None and is_dialogue(found.terminals),
        facts=[one for one in facts if one],
        shared=shared[:SHOWN],
        options={name: sent.fields.get(name, "") for name in _OPTIONS} if sent else {},
        many=many[:MOST_LISTED],
        left_out=max(0, len(many) - MOST_LISTED),
        failed=sum(one.process_id is None for one in many),
        how=how if how in ("created", "unchanged", "replaced") else "created",
    )
