"""Endpoints that several runs share: one connection pool, closed once."""

from __future__ import annotations

import asyncio

from fakes.settings_of import settings_of

from veritrail_graph.api.configured.models import ModelOptions, open_models
from veritrail_graph.api.configured.shared import Endpoints, Shared
from veritrail_graph.verifier.engines import engine_named
from veritrail_graph.verifier.models.retrying import Spending


def test_runs_that_share_endpoints_keep_the_connections_until_all_are_closed() -> None:
    settings = settings_of({"VERITRAIL_MODEL": "m", "OPENAI_API_KEY": "k"})

    async def whole() -> None:
        endpoints = Endpoints()
        shared = Shared(Spending(), endpoints=endpoints)
        options, clients = ModelOptions(use_cache=False), []
        for _ in range(2):
            async with open_models(settings, engine_named("openai"), options, shared) as models:
                clients.append(models.steps.verdict.model._endpoint._client)  # type: ignore[attr-defined]
        assert clients[0] is clients[1]
        assert not clients[0].is_closed()
        await endpoints.close()
        assert clients[0].is_closed()
        async with open_models(settings, engine_named("openai"), options) as models:
            own = models.steps.verdict.model._endpoint._client  # type: ignore[attr-defined]
        assert own.is_closed()

    asyncio.run(whole())
