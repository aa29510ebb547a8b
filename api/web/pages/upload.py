"""Uploading a process: the form, what was wrong with the file, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.requests import ClientDisconnect

from veritrail_graph.api.app.errors import ProcessInUse
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import Calling, needs
from veritrail_graph.api.http.receiving import UploadRefused
from veritrail_graph.api.http.uploading import store_body, upload_options
from veritrail_graph.api.http.wording import worded
from veritrail_graph.api.rest.jobs import PROCESS_ID
from veritrail_graph.api.web.forms import FIELD, check_token
from veritrail_graph.api.web.links import url
from veritrail_graph.api.web.rendering import render
from veritrail_graph.api.web.sent_file import SentFile
from veritrail_graph.api.web.wording import plain
from veritrail_graph.graph.errors import InputError, ProcessConflict, Violation
from veritrail_graph.graph.store.overview import read_overview

router = APIRouter(include_in_schema=False, dependencies=[needs(Scope.WRITE)])

SHOWN = 50
"""Broken rules that are listed; a file that breaks one often breaks it everywhere."""


@router.get("/upload")
async def show_upload(
    request: Request, stored: str | None = None, how: str | None = None
) -> Response:
    """The form; after an upload, what came of it."""
    found = None
    if stored is not None:
        found = await read_overview((await request.app.state.graph.store()).database, stored)
    return _form(request, found=found, how=how)


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
        return _form(request, 409, wrong=f"{error} Cancel them first.", sent=sent)
    except ProcessConflict as error:
        is_other = "is stored with another content" in str(error)
        words = _said(error)
        if is_other:
            words = words.partition(" It can be replaced.")[0]
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
    kind = "application/x-ndjson" if _is_lines(sent.name) else "application/octet-stream"
    options = upload_options(wanted, replace=replace)
    found = await store_body(request, caller, sent, options, kind)
    there = url("upload", stored=found.process_id, how=found.status)
    return RedirectResponse(there, 303)


def _is_lines(name: str) -> bool:
    return name.lower().removesuffix(".gz").endswith((".jsonl", ".ndjson"))


def _said(error: Exception) -> str:
    """An error about a body, for whoever sent a file in a form."""
    words = plain(worded(str(error)))
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
    found: Any = None,
    how: str | None = None,
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
        most=request.app.state.uploads.limits.wire,
        found=found,
        how=how if how in ("created", "unchanged", "replaced") else "created",
    )
