"""A decision model behind HTTP: an `Endpoint` whose prompts are requests of a dialect.

Source: ours; docs/adr/0076-decision-models.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from veritrail_graph.graph.model import Usage
from veritrail_graph.verifier.models.faults import storable
from veritrail_graph.verifier.models.json_endpoint import JsonEndpoint
from veritrail_graph.verifier.models.port import Completion, Request, StepCall, TransportFault
from veritrail_graph.verifier.models.tokens import counter

LONGEST_MODEL = 200
"""Characters of the name of a model that are kept."""


class DecisionEndpoint(JsonEndpoint):
    """One attempt at one call; what came from the cache of prefixes costs the same here."""

    async def send(self, request: Request, max_output_tokens: int | None) -> Completion:
        """Ask once; see `Endpoint`.

        What the model calls itself is recorded as what was asked, for its version is there alone.
        """
        completion = await super().send(request, max_output_tokens)
        try:
            document = json.loads(completion.text)
        except (ValueError, RecursionError):
            document = None
        usage = _usage(document, request)
        if not isinstance(document, dict) or "answers" not in document:
            raise TransportFault(
                f"{self.address} answered HTTP 200, and with no decisions",
                status=200,
                usage=usage.replace(calls=0),
            )
        return replace(completion, usage=usage, sent=_sent(document, request.call))


def _sent(document: Mapping[str, Any], call: StepCall) -> StepCall | None:
    model = document.get("model")
    if not isinstance(model, str) or not model.strip() or model == call.model:
        return None
    return call._replace(model=storable(" ".join(model.split()))[:LONGEST_MODEL])


def _usage(document: Any, request: Request) -> Usage:
    """Return what the answer says that it cost; what it does not say is estimated."""
    given = document.get("usage") if isinstance(document, dict) else None
    given = given if isinstance(given, dict) else {}
    read = _count(given.get("input_tokens"))
    if read is None and isinstance(document, dict):
        read = counter(request.call.model)(request.user)
    return Usage(
        calls=1, input_tokens=read or 0, output_tokens=_count(given.get("output_tokens")) or 0
    )


def _count(given: Any) -> int | None:
    is_number = isinstance(given, int) and not isinstance(given, bool)
    return given if is_number and 0 <= given < 2**53 else None
