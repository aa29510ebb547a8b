"""The operations on verifications and jobs, each described once; see `api.client.calls`."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal
from urllib.parse import quote

from veritrail_graph.api.client.answers import Page
from veritrail_graph.api.client.call import (
    PAGE,
    Call,
    get_call,
    list_call,
    post_call,
    process_path,
    segment,
)
from veritrail_graph.api.client.trails import (
    Difference,
    ErrorOrigin,
    JobState,
    Provenance,
    Verification,
    VerificationHeader,
)

JobStatusName = Literal["queued", "running", "succeeded", "failed", "cancelled"]


def verify(
    process_id: str,
    claims: str | Sequence[str | Mapping[str, Any]] | None = None,
    *,
    claim_ids: Sequence[str] | None = None,
    extract: bool = False,
    node_id: str | None = None,
    q: int | None = None,
    engine: str | None = None,
    model: str | None = None,
    budget_usd: float | None = None,
    idempotency_key: str | None = None,
    **options: Any,
) -> Call[JobState]:
    """Begin to verify claims; without any, the stored ones.

    Args:
        process_id: The process.
        claims: Claims as text, or as objects of a process file.
        claim_ids: Stored claims.
        extract: Extract the claims from the node.
        node_id: The node that new claims are about; default: the only terminal.
        q: Consecutive Not Fully Supported verdicts that stop a walk.
        engine: The engine of judgement; default: as the service is set.
        model: The model that is asked.
        budget_usd: The most that it may cost.
        idempotency_key: The same key and arguments give the same job; default: one of its own, so
            that a submission whose answer is lost can be sent again.
        options: More fields of `POST /v1/verifications`.

    Raises:
        Missing: The process, a claim or the node is not stored.
        Rejected: A claim breaks a rule, or the node is a root.
        Conflict: The key was used with other arguments.
    """
    given = {
        "process_id": process_id,
        "claims": [claims] if isinstance(claims, str) else claims and list(claims),
        "claim_ids": claim_ids and list(claim_ids),
        "extract": extract or None,
        "node_id": node_id,
        "q": q,
        "engine": engine,
        "model": model,
        "budget_usd": budget_usd,
        **options,
    }
    body = {key: value for key, value in given.items() if value is not None}
    headers = {"Idempotency-Key": idempotency_key or f"client-{uuid.uuid4().hex}"}
    read = JobState.model_validate
    path = "/v1/verifications"
    return Call("verify", "POST", path, partial(_begun, read, process_id), {}, body, None, headers)


def job(job_id: str) -> Call[JobState]:
    """A job."""
    return get_call("job", _job(job_id), JobState)


def jobs(
    *, process_id: str | None = None, status: JobStatusName | None = None, page: int = PAGE
) -> Call[Page[JobState]]:
    """Jobs, newest first; those that ended are removed after a while.

    Args:
        process_id: Only those of a process.
        status: Only those that stand so.
        page: Jobs in one answer.
    """
    query = {"process_id": process_id, "status": status, "limit": page}
    return list_call("jobs", "/v1/jobs", JobState, query)


def cancel(job_id: str) -> Call[JobState]:
    """Stop a job; what is finished stays."""
    read = JobState.model_validate
    return post_call("cancel", f"{_job(job_id)}:cancel", read, {}, is_repeatable=True)


def resume(
    job_id: str, *, budget_usd: float | None = None, max_calls: int | None = None
) -> Call[JobState]:
    """Go on with what a job has left: what was cancelled, failed or over budget.

    Args:
        job_id: The job.
        budget_usd: What it may cost in all from now on; default: as it was.
        max_calls: The calls that it may make in all from now on; default: as it was.
    """
    limits = {"budget_usd": budget_usd, "max_calls": max_calls}
    body = {name: value for name, value in limits.items() if value is not None}
    read = JobState.model_validate
    return post_call("resume", f"{_job(job_id)}:resume", read, body, is_repeatable=True)


def verifications(process_id: str, *, page: int = PAGE) -> Call[Page[VerificationHeader]]:
    """The verifications of a process without their trails, newest first."""
    path = process_path(process_id, "verifications")
    return list_call("verifications", path, VerificationHeader, {"limit": page})


def verification(verification_id: str) -> Call[Verification]:
    """A verification with its whole trail."""
    return get_call("verification", _verification(verification_id), Verification)


def provenance(verification_id: str, *, limit: int | None = None) -> Call[Provenance]:
    """Paths of evidence, each from where it begins down to the verified node."""
    path = _verification(verification_id, "provenance")
    return get_call("provenance", path, Provenance, {"limit": limit})


def error(verification_id: str) -> Call[ErrorOrigin]:
    """Where unsupported content was introduced, and where it was inherited."""
    return get_call("error", _verification(verification_id, "error"), ErrorOrigin)


def diff(a: str, b: str) -> Call[Difference]:
    """Where two trails part."""
    return get_call("diff", _verification(a, "diff", b), Difference)


def _begun(
    read: Callable[[Any], JobState], process_id: str, document: Mapping[str, Any]
) -> JobState:
    """A job that was accepted; the answer need not say more than its ids."""
    return read({"status": "queued", "process_id": process_id, **document})


def _verification(verification_id: str, *more: str) -> str:
    return "/".join(("/v1/verifications", quote(verification_id, safe=""), *map(segment, more)))


def _job(job_id: str) -> str:
    return f"/v1/jobs/{quote(job_id, safe='')}"
