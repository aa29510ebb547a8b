"""Checking an answer: it is stored with its sources, as by `POST /v1/check`, and verified."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request, Response
from starlette.datastructures import UploadFile

from veritrail_graph.api.app import Application
from veritrail_graph.api.app.engines import engine_choices, usual_engine
from veritrail_graph.api.auth.access import Caller, Scope
from veritrail_graph.api.configured.judge import judge_options
from veritrail_graph.api.page.faults import field_words
from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.pages.jobs import price
from veritrail_graph.api.page.pages.starting import answered, broken_engines, start
from veritrail_graph.api.page.rendering import FromOurPage, render
from veritrail_graph.api.page.views.checking import CheckForm
from veritrail_graph.api.page.views.jobs import request_of
from veritrail_graph.api.requests.check import CheckBody, SourceText
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.uploading import upload_options
from veritrail_graph.graph.errors import InputError, Violation

router = APIRouter(
    include_in_schema=False, dependencies=[needs(Scope.READ, Scope.INGEST, Scope.VERIFY)]
)

_LONGEST_NAME = 200


@router.get("/check")
async def show_check(request: Request) -> Response:
    """The form."""
    return await _form(request, CheckForm().anew())


@router.post("/check", dependencies=[FromOurPage])
async def check(request: Request, app: App, caller: Calling) -> Response:
    """Store an answer with its sources, and verify it; with a model, say first what that costs."""
    sent = await request.form()  # was read already, for its token
    filled = CheckForm.of(sent)
    given = (file for file in sent.getlist("files") if isinstance(file, UploadFile))
    files = [file for file in given if file.filename]

    async def work() -> Response:
        body = filled.body([await _source(file) for file in files])
        # What is wrong with it is said before anything is stored.
        await app.checking.expect_judge(request_of("-", filled.verifying(0)))
        return await _checked(request, app, caller, body, filled)

    async def again(
        form: CheckForm, status: int, wrong: str | None, violations: Sequence[Violation]
    ) -> Response:
        return await _form(
            request, form, status, wrong, violations, [file.filename for file in files]
        )

    return await answered(filled, again, work)


async def _source(file: UploadFile) -> SourceText:
    """Read a source that was sent as a file.

    Raises:
        InputError: It is empty, or no text.
    """
    name = (file.filename or "file")[:_LONGEST_NAME]
    try:
        text = (await file.read()).decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not UTF-8: byte {error.start} cannot be read. Save it as text."
        ) from None
    if not text:
        raise InputError(f"{name} has no text in it.")
    return SourceText(name=name, text=text)


async def _checked(
    request: Request, app: Application, caller: Caller, body: CheckBody, filled: CheckForm
) -> Response:
    made = await app.checking.answer_over(body)
    storing = upload_options(caller, None, replace=False)
    stored = await app.processes.ingest_source(made, storing, by=caller)
    app.summaries.forget()
    verifying = filled.verifying(stored.claims)
    wanted = request_of(stored.process_id, verifying)
    if judge_options(app.settings, wanted).calls_models:
        process = await app.processes.get(stored.process_id)
        return await price(request, app, caller, process, verifying)
    page = url("processes", stored.process_id)
    return await start(app, caller, wanted, filled.once, result=page)


async def _form(
    request: Request,
    filled: CheckForm,
    status: int = 200,
    wrong: str | None = None,
    violations: Sequence[Violation] = (),
    files: Sequence[str | None] = (),
) -> Response:
    settings = request.app.state.settings
    engines = engine_choices(settings)
    return render(
        request,
        "check.html",
        status,
        filled=filled,
        wrong=wrong,
        violations=violations,
        field_words=field_words,
        files=files,
        engines=engines,
        usual=usual_engine(settings, engines),
        broken=broken_engines(engines),
        default_engine=settings.engine_name(),
        default_model=settings.model,
    )
