"""Engine `openai`: any OpenAI-compatible endpoint, wherever its base URL points."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.engines import EndpointSettings, Engine, prompted_judge

if TYPE_CHECKING:
    from veritrail_graph.verifier.models.port import Endpoint

OPENAI_HOST = "api.openai.com"


def _endpoint(settings: EndpointSettings) -> Endpoint:
    from veritrail_graph.verifier.models.openai_endpoint import OpenAiEndpoint

    host = urlsplit(settings.base_url or "").hostname or OPENAI_HOST
    if settings.api_key is None and host == OPENAI_HOST:
        raise InputError(
            "No key is set: put it into OPENAI_API_KEY, or set OPENAI_BASE_URL to an endpoint "
            "that needs none, such as a server on this machine.",
            code="key_needed",
        )
    return OpenAiEndpoint(
        settings.base_url,
        settings.api_key,
        attempt_timeout=settings.attempt_timeout,
        connections=settings.connections,
    )


ENGINE = Engine(
    "openai",
    "language models of any OpenAI-compatible endpoint (OPENAI_BASE_URL)",
    prompted_judge("openai"),
    _endpoint,
)
