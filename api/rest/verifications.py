"""Submitting claims to be verified: a job is begun, and its ids are told at once."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Request, Response

from veritrail_graph.api.app.verify_request import VerifyRequest
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import Calling, needs, record
from veritrail_graph.api.http.answers import answer
from veritrail_graph.api.http.names import CHECKED
from veritrail_graph.api.http.problems import problems_of
from veritrail_graph.api.rest.job_models import JobAccepted
from veritrail_graph.graph.errors import InputError, Violation

router = APIRouter(prefix="/v1/verifications", tags=["verifications"], dependencies=[CHECKED])

Key = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=255,
        pattern=r"^[\x20-\x7e]+$",
        description="Whoever sends the same again under the same key is given the same job.",
    ),
]


@router.post(
    "",
    status_code=202,
    response_model=JobAccepted,
    responses=problems_of(404, 409),
    dependencies=[needs(Scope.VERIFY)],
)
async def submit(
    request: Request,
    caller: Calling,
    wanted: VerifyRequest,
    idempotency_key: Key = None,
) -> Response:
    """Have claims verified; `Location` says where the job is.

    What was verified with the same settings before belongs to the job and is not paid for again.
    """
    jobs = request.app.state.jobs
    if len(request.headers.getlist("idempotency-key")) > 1:
        raise InputError(
            "The request is not as it must be.",
            [Violation("wrong_value", "header.idempotency-key", "stands twice; send one")],
        )
    job, is_new = await jobs.submit(caller, wanted, idempotency_key)
    if is_new:
        await record(request, caller, "job.start", job.job_id, process_id=job.process_id)
    accepted = {"job_id": job.job_id, "verification_ids": list(job.verification_ids)}
    return answer(accepted, 202, {"Location": f"/v1/jobs/{job.job_id}"})
