"""The agreement page: how far people and the model agree, and where they do not."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from veritrail_graph.api import reviews
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import Calling, needs
from veritrail_graph.api.http.answers import answer
from veritrail_graph.api.web.pages.reviewer import reviewer_of
from veritrail_graph.api.web.rendering import render
from veritrail_graph.api.web.views.agreement import (
    WHOM,
    AgreementState,
    disputed,
    disputes_of,
    said_of,
)
from veritrail_graph.api.web.views.agreement_figures import confusion_of, figures_of, lines_of
from veritrail_graph.graph.agreement import agreement_report
from veritrail_graph.graph.exporters.reviews import agreement_json

router = APIRouter(include_in_schema=False)


async def _asked(
    process_id: str,
    whom: str | None = None,
    reviewer: str | None = None,
    after: str | None = None,
    blind: str | None = None,
) -> AgreementState:
    known = whom if whom in WHOM else "all"
    return AgreementState(process_id, known, reviewer or None, after or None, blind == "1")


Asked = Annotated[AgreementState, Depends(_asked)]


@router.get("/processes/{process_id}/agreement", dependencies=[needs(Scope.READ)])
async def show_agreement(request: Request, caller: Calling, asked: Asked) -> Response:
    """Figures, and the disagreements side by side."""
    store = await request.app.state.graph.store()
    name = asked.process_id
    process = await store.processes.get(name)
    who = reviewer_of(request, caller)
    every, judged = await asyncio.gather(store.reviews.queue(name), store.reviews.judged(name))
    report = agreement_report(judged)
    said = said_of(one.review for one in judged)
    found = disputed(asked, every, said, who.name)
    claims, reviewed = await asyncio.gather(
        store.reviews.claims(name, found.names), store.reviews.of_claims(name, found.names)
    )
    return render(
        request,
        "agreement.html",
        process=process,
        state=asked,
        who=who,
        report=report,
        overall=figures_of("Model and people", report.overall),
        confusion=confusion_of(report.overall),
        lines=lines_of(report),
        found=found,
        disputes=disputes_of(asked, found, claims, reviewed, who),
    )


@router.get("/processes/{process_id}/agreement.json", dependencies=[needs(Scope.READ)])
async def download_agreement(request: Request, process_id: str) -> Response:
    """The figures, as `veritrail reviews agreement --json` prints them."""
    store = await request.app.state.graph.store()
    found = agreement_json(process_id, await reviews.agreement(store, process_id))
    headers = {"Content-Disposition": 'attachment; filename="agreement.json"'}
    return answer(found, 200, headers)
