"""Engine `azure`: models deployed on Azure OpenAI; a model's name is its deployment's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.engines import EndpointSettings, Engine, prompted_judge

if TYPE_CHECKING:
    from veritrail_graph.verifier.models.port import Endpoint


def _check(settings: EndpointSettings) -> None:
    if settings.base_url is None:
        raise InputError(
            "Engine azure needs the address of the resource.", code="azure_endpoint_needed"
        )
    if settings.api_key is None:
        raise InputError("Engine azure needs a key, and none is set.", code="azure_key_needed")
    if settings.api_version is None:
        raise InputError(
            "Engine azure needs a version of the interface.", code="azure_version_needed"
        )


def _endpoint(settings: EndpointSettings) -> Endpoint:
    from veritrail_graph.verifier.models.openai_endpoint import OpenAiEndpoint

    _check(settings)
    assert settings.base_url is not None  # noqa: S101  # was checked
    return OpenAiEndpoint(
        settings.base_url,
        settings.api_key,
        api_version=settings.api_version,
        attempt_timeout=settings.attempt_timeout,
        connections=settings.connections,
    )


ENGINE = Engine(
    "azure",
    "language models deployed on Azure OpenAI",
    prompted_judge("azure"),
    _endpoint,
    check=_check,
)
