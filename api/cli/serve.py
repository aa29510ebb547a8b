"""`veritrail serve`: the service over HTTP."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from veritrail_graph.api.cli import keys
from veritrail_graph.api.cli.exits import INTERRUPTED, ask, on_ctrl_c, run
from veritrail_graph.api.cli.options import (
    Budget,
    EngineName,
    EscalateTo,
    Format,
    Level,
    LogLevel,
    MaxCalls,
    Model,
    Price,
    Share,
    VerdictModel,
    form_of,
)
from veritrail_graph.api.cli.terminal import quoted, say
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.private import check_home

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.client.local import AsyncLocal
    from veritrail_graph.api.client.service import AsyncClient
    from veritrail_graph.api.mcp.server import Terms
    from veritrail_graph.api.server.capture import Capture
    from veritrail_graph.api.settings import Settings


app = typer.Typer(rich_markup_mode=None)
app.add_typer(keys.app, name="keys")
app.command("audit")(keys.audit)

COLLECTIONS = (10_000, 20, 10)
"""Thresholds of the garbage collector while a service lives: those of a command find no cycles."""


@app.callback(invoke_without_command=True)
def serve(
    context: typer.Context,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; any but this machine needs a key.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65_535, help="Port; 0 takes any that is free.")
    ] = 8000,
    worker: Annotated[
        bool, typer.Option("--worker/--no-worker", help="Work on jobs in this process too.")
    ] = True,
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser once it can be reached.")
    ] = False,
    capture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Only receive spans over OTLP, and write them to this file until Ctrl-C.",
        ),
    ] = None,
    log_format: Format = None,
    log_level: Level = LogLevel.INFO,
) -> None:
    """Start the web page and REST API, with a worker.

    The page is at the address of the service, its description with try-out at /docs.
    """
    if context.invoked_subcommand is not None:
        return
    if capture is not None:
        _capture(capture, host, port)
        return
    from veritrail_graph.api.server.options import api_key, is_loopback
    from veritrail_graph.api.settings import Settings

    settings = Settings()
    check_home(settings.home)
    key = api_key(settings)
    is_open = not is_loopback(host)
    if is_open and key is None and not ask(_has_key, as_json=False):
        raise InputError(
            f"--host {host}: others could reach the service, so it needs a key. Make one with "
            "`veritrail keys create`, or set VERITRAIL_API_KEY (or VERITRAIL_API_KEY_FILE to a "
            "file that holds it)."
        )
    from veritrail_graph.api.server.application import Way, create_app
    from veritrail_graph.api.server.listening import Server, listen
    from veritrail_graph.api.server.logs import start_logs

    with listen(host, port) as listening:
        start_logs(settings, form_of(log_format), log_level)
        service = create_app(settings, Way(key, is_open, worker, opens_graph=True))
        service.state.app.check_database()

        def listens(url: str) -> None:
            if sys.stderr.isatty():
                say(f"VeriTrail is at {url} (page) and {url}/docs (REST). Ctrl-C stops it.", "bold")
            if open_page:
                import webbrowser

                threading.Thread(target=webbrowser.open, args=[url], daemon=True).start()

        _collect_cycles()
        Server(service, listens, settings.proxies).serve_on(listening)


def _collect_cycles() -> None:
    """Let the collector look for cycles in what is made from now on, not in what was loaded."""
    gc.set_threshold(*COLLECTIONS)
    gc.freeze()


def _capture(path: Path, host: str, port: int) -> None:
    """Receive spans until Ctrl-C, and say what was written."""
    from veritrail_graph.api.server.capture import Capture, open_capture
    from veritrail_graph.api.server.listening import Server, listen
    from veritrail_graph.api.server.options import is_loopback

    if not is_loopback(host):
        raise InputError(f"--host {host}: --capture takes spans of this machine alone, without key")

    def listens(url: str) -> None:
        say(f"Writing spans to {path}. Ctrl-C ends it. Start the program with", "bold")
        say(f"  OTEL_EXPORTER_OTLP_ENDPOINT={url}")
        say("  OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf")

    with listen(host, port) as listening, open_capture(path) as file:
        capture = Capture(file)
        try:
            Server(capture.app(), listens).serve_on(listening)
        finally:
            for line in received(path, capture):
                say(line, None if capture.spans else "yellow")
            if not capture.spans:
                path.unlink(missing_ok=True)


def received(path: Path, capture: Capture) -> Iterator[str]:
    """Yield what was received, where it is and what comes next, and what was refused and why."""
    spans = counted(capture.spans, "span or log record", "spans and log records")
    if capture.spans:
        traces = counted(len(capture.traces), "trace")
        yield f"{path} holds {spans} of {traces}. Next:"
        yield f"  veritrail check {quoted(str(path))}"
    else:
        yield "No span came that could be read, so no file was left."
    if capture.reasons:
        many = counted(capture.rejected, "span or log record", "spans and log records")
        what = f"{many} could not be read" if capture.rejected else "A request was refused"
        first, *rest = (one.rstrip(".") for one in capture.reasons)
        yield f"{what}: {first}{f'; and {len(rest):,} more reasons' if rest else ''}."


async def _has_key(app: Application) -> bool:
    """Return whether a key was made that opens now."""
    return any(key.state(time.time()) == "active" for key in await app.keys.all())


def worker(log_format: Format = None, log_level: Level = LogLevel.INFO) -> None:
    """Start a worker for jobs, with the settings of the service.

    Several workers share the work where VERITRAIL_JOBS_URL names a PostgreSQL database, or on one
    machine with one home folder. It opens no port.
    """
    from veritrail_graph.api.server.logs import start_logs
    from veritrail_graph.api.settings import Settings

    settings = Settings()
    check_home(settings.home)
    start_logs(settings, form_of(log_format), log_level)
    _collect_cycles()
    asyncio.run(_work(settings))


async def _work(settings: Settings) -> None:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.threads import wait_for_no_threads

    wait_for_no_threads()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, ended.set)
    async with Application(settings, works=True) as app:
        app.check_database()
        if await app.jobs.work(ended, lambda worker_id: say(f"Working as {worker_id}", "dim")):
            say("Ending: what was begun is handed back.", "dim")


ANSWER_SECONDS = 20.0
"""How long a service may be away before the assistant gets an error."""

LEAVING_SECONDS = 10.0
"""How long running work may take to be saved when the server is stopped."""


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
    verdict_model: VerdictModel = None,
    escalate_to: EscalateTo = None,
    share: Share = 1,
) -> None:
    """Serve assistants over the Model Context Protocol (MCP).

    It speaks on stdin and stdout. Tools: list_processes, check, verify_claim, show_trail,
    show_attribution, attribute_sentences, show_dialogue, verify_turns, run_query, search,
    show_node, list_runs, compare_runs, show_trend, list_comments, comment_on_claim. What all that
    asks models may cost together is said here, by --budget or --max-calls; no assistant can change
    it.
    """
    from veritrail_graph.api.settings import Settings

    settings = Settings()
    _check_limits(settings, url, engine, model, budget, max_calls)
    from veritrail_graph.api.mcp.allowance import Allowance
    from veritrail_graph.api.mcp.server import Terms

    allowance = Allowance(budget, max_calls)
    terms = Terms(engine, model, price, allowance, verdict_model, escalate_to, share)
    _collect_cycles()
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
        selecting = settings.engine_name(engine, model)
        names = (selecting, settings.verdict_engine_name(selecting))
        asks_models = any(engine_named(name).calls_models for name in names if name is not None)
    else:  # the settings of the service are not known here
        asks_models = engine is None or engine_named(engine).calls_models
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
    from veritrail_graph.api.configured.judge import configure_judge, judge_options
    from veritrail_graph.api.requests.verify import VerifyRequest

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
        from veritrail_graph.api.mcp.advice import ADVICE

        return AsyncLocal(settings, advice=ADVICE)
    from veritrail_graph.api.client.service import AsyncClient

    key = settings.api_key
    return AsyncClient(url, key, patience=ANSWER_SECONDS, caller="mcp")
