"""`veritrail mcp`: the graph for assistants, over the Model Context Protocol."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from veritrail_graph.api.cli.exits import INTERRUPTED, on_ctrl_c, run
from veritrail_graph.api.cli.options import Budget, EngineName, MaxCalls, Model, Price
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.client.local import AsyncLocal
    from veritrail_graph.api.client.service import AsyncClient
    from veritrail_graph.api.mcp.server import Terms
    from veritrail_graph.api.settings import Settings

ANSWER_SECONDS = 20.0
"""How long a service may be away before the assistant, and who waits for it, is told."""

LEAVING_SECONDS = 10.0
"""How long what runs may take to be kept, when the server is told to end."""


def mcp(
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Ask a service instead of the graph; its key is taken from VERITRAIL_API_KEY.",
        ),
    ] = None,
    engine: EngineName = None,
    model: Model = None,
    budget: Budget = None,
    max_calls: MaxCalls = None,
    price: Price = None,
) -> None:
    """Serve assistants over the Model Context Protocol on stdin and stdout.

    Tools: list_processes, verify_claim, show_trail, run_query. What all verifications may cost
    together is said here, by --budget or --max-calls; no assistant can change it.
    """
    from veritrail_graph.api.settings import Settings

    settings = Settings()
    _check_limits(settings, url, engine, model, budget, max_calls)
    from veritrail_graph.api.mcp.allowance import Allowance
    from veritrail_graph.api.mcp.server import Terms

    terms = Terms(engine, model, price, Allowance(budget, max_calls))
    run(_serve(settings, url, terms), as_json=False)


def _check_limits(
    settings: Settings,
    url: str | None,
    engine: str | None,
    model: str | None,
    budget: float | None,
    max_calls: int | None,
) -> None:
    """See that no assistant can spend without a limit.

    Raises:
        InputError: Models may be asked and no limit is set; or there is no such engine.
    """
    from veritrail_graph.verifier.engines import engine_named

    if url is None:
        asks_models = engine_named(settings.engine_name(engine, model)).asks_models
    else:  # what a service does by itself is not known here
        asks_models = engine is None or engine_named(engine).asks_models
    if asks_models and budget is None and max_calls is None:
        raise InputError(
            "Say what assistants may spend: --budget USD or --max-calls N"
            + ("; or --engine lexical, which asks no model" if engine is None else "")
        )


async def _serve(settings: Settings, url: str | None, terms: Terms) -> None:
    from veritrail_graph.api.mcp.server import create_server

    if url is None:
        await _try_out(settings, terms)
    async with _door(settings, url) as door:
        leaving: list[asyncio.Task[None]] = []
        on_ctrl_c(lambda: leaving.append(asyncio.ensure_future(_leave(door))))
        await create_server(door, terms).run_stdio_async()


async def _try_out(settings: Settings, terms: Terms) -> None:
    """See that claims can be verified on these terms, before an assistant finds that they cannot.

    No model is asked.

    Raises:
        InputError: There is no key, a price is not known, or a setting is wrong.
    """
    from veritrail_graph.api.app.verify_request import VerifyRequest
    from veritrail_graph.api.configured_judge import configure_judge, judge_options

    allowed = terms.allowance
    request = VerifyRequest.checked(
        {
            "process_id": "-",  # whichever an assistant names
            "engine": terms.engine,
            "model": terms.model,
            "price": terms.price,
            "budget_usd": allowed.budget_usd,
            "max_calls": allowed.max_calls,
        }
    )
    async with configure_judge(settings, judge_options(settings, request)):
        return


async def _leave(door: AsyncLocal | AsyncClient) -> NoReturn:
    """End the process in order: nothing else wakes the thread that waits for the next line."""
    try:
        async with asyncio.timeout(LEAVING_SECONDS):
            await door.aclose()
    finally:
        os._exit(INTERRUPTED)


def _door(settings: Settings, url: str | None) -> AsyncLocal | AsyncClient:
    """The way to the graph: in this process, or a service."""
    if url is None:
        from veritrail_graph.api.client.local import AsyncLocal

        return AsyncLocal(settings)
    from veritrail_graph.api.client.service import AsyncClient

    key = settings.api_key
    return AsyncClient(url, key, patience=ANSWER_SECONDS)
