"""Engine `openai`: any OpenAI-compatible endpoint, wherever its base URL points."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.engines import EndpointSettings, Engine, prompted_judge

if TYPE_CHECKING:
    from veritrail_graph.verifier.models.port import Endpoint

OPENAI_HOST = "api.openai.com"


def _check(settings: EndpointSettings) -> None:
    host = urlsplit(settings.base_url or "").hostname or OPENAI_HOST
    if settings.api_key is None and host == OPENAI_HOST:
        raise InputError(
            f"Engine openai needs a key for {OPENAI_HOST}, and none is set.", code="key_needed"
        )


def _endpoint(settings: EndpointSettings) -> Endpoint:
    from veritrail_graph.verifier.models.openai_endpoint import OpenAiEndpoint

    _check(settings)
    return OpenAiEndpoint(
        settings.base_url,
        settings.api_key,
        attempt_timeout=settings.attempt_timeout,
        connections=settings.connections,
    )


ENGINE = Engine(
    "openai",
    "language models of any OpenAI-compatible endpoint",
    prompted_judge("openai"),
    _endpoint,
    check=_check,
)
