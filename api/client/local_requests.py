"""What a call of `verify` asks for, checked as a service checks it, as values of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from veritrail_graph.api.jobs.model import JobRequest
from veritrail_graph.api.jobs.settings import records_of
from veritrail_graph.api.models import ModelOptions
from veritrail_graph.api.rest.job_models import VerificationsWanted
from veritrail_graph.api.verification import What
from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.model import Usage


def request_of(body: Mapping[str, Any]) -> JobRequest:
    """What a call asks for.

    Raises:
        InputError: Something is not as it must be; all of it is listed.
    """
    try:
        return VerificationsWanted.model_validate(body).request()
    except ValidationError as error:
        faults = [
            Violation(one["type"], ".".join(map(str, ("body", *one["loc"]))), one["msg"])
            for one in error.errors()
        ]
        raise InputError("The request is not as it must be.", faults) from None


def what_of(request: JobRequest) -> What:
    """Which claims are verified.

    Raises:
        InputError: A claim breaks a rule; all violations are listed.
    """
    return What(
        process_id=request.process_id,
        records=records_of(request),
        claim_ids=request.claim_ids,
        node=request.node_id,
        extract=request.extract,
        unfinished=request.unfinished,
        retry_failed=request.retry_failed,
        again=request.again,
    )


def limits_left(limits: Mapping[str, Any], used: Usage) -> ModelOptions:
    """What a run may spend from now on, where it is said what it may spend in all."""
    budget, calls = limits.get("budget_usd"), limits.get("max_calls")
    return ModelOptions(
        budget=None if budget is None else max(0.0, budget - (used.cost_usd or 0.0)),
        max_calls=None if calls is None else max(0, calls - used.calls),
    )
