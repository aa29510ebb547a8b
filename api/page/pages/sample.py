"""Loading the sample: a first process to look at, on a service that has none."""

from __future__ import annotations

from importlib import resources

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from veritrail_graph.api.app.ingesting import IngestOptions
from veritrail_graph.api.app.samples import FOLDER, SAMPLES
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.pages.starting import start
from veritrail_graph.api.page.rendering import FromOurPage
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.graph.model import Verdict

router = APIRouter(include_in_schema=False, dependencies=[needs(Scope.WRITE)])

ENGINE = "recorded"
"""The answers that come with the sample, whatever the service is set up with: they cost nothing."""


@router.post("/sample", dependencies=[FromOurPage])
async def load_sample(request: Request, app: App, caller: Calling) -> Response:
    """Store the sample, and verify its claims where the caller may.

    Raises:
        ProcessConflict: Another content is stored under its id.
    """
    sample = SAMPLES[0]
    with resources.as_file(FOLDER / f"{sample}.json") as path:
        found = await app.processes.ingest(path, IngestOptions(), by=caller)
    tally = await app.claims.tally(found.process_id)
    is_judged = any(tally.states.get(one.value) for one in Verdict)
    if is_judged or not caller.may(Scope.VERIFY):
        return RedirectResponse(url("processes", found.process_id), 303)
    asked = {"process_id": found.process_id, "engine": ENGINE, "verdict_engine": ENGINE}
    wanted = VerifyRequest.checked(asked)
    return await start(app, caller, wanted, "")
