"""`veritrail serve`: the service over HTTP."""

from __future__ import annotations

import asyncio
import signal
import time
from typing import TYPE_CHECKING, Annotated

import typer

from veritrail_graph.api.cli.exits import ask
from veritrail_graph.api.cli.options import Format, Level, LogLevel, form_of
from veritrail_graph.api.cli.terminal import say
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.settings import Settings


def serve(
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; any but this machine needs a key.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65_535, help="Port; 0 takes any that is free.")
    ] = 8000,
    worker: Annotated[
        bool, typer.Option("--worker/--no-worker", help="Work on jobs in this process too.")
    ] = True,
    log_format: Format = None,
    log_level: Level = LogLevel.INFO,
) -> None:
    """Answer over REST, and work on jobs, until told to end."""
    from veritrail_graph.api.server.options import api_key, is_loopback
    from veritrail_graph.api.settings import Settings

    settings = Settings()
    key = api_key(settings)
    is_open = not is_loopback(host)
    if is_open and key is None and not ask(_has_key, as_json=False):
        raise InputError(
            f"--host {host}: others could reach the service, so it needs a key. Make one with "
            "`veritrail keys create`, or set VERITRAIL_API_KEY (or VERITRAIL_API_KEY_FILE to a "
            "file that holds it)."
        )
    import logging

    from veritrail_graph.api.server.app import Way, create_app
    from veritrail_graph.api.server.listening import Server, listen, shown
    from veritrail_graph.api.server.logs import start_logs

    with listen(host, port) as listening:
        start_logs(settings, form_of(log_format), log_level)
        app = create_app(settings, Way(key, is_open, worker))
        proxies = settings.proxies
        server = Server(app, proxy_headers=True, forwarded_allow_ips=proxies)
        url = f"http://{shown(host)}:{listening.getsockname()[1]}"
        log = logging.getLogger("veritrail")
        log.warning("Listening on %s", url, extra={"fields": {"url": url}})
        server.serve_on(listening)


async def _has_key(app: Application) -> bool:
    """Whether a key was made that opens now."""
    return any(key.state(time.time()) == "active" for key in await app.keys.all())


def worker(log_format: Format = None, log_level: Level = LogLevel.INFO) -> None:
    """Work on jobs until told to end; the same settings as those of the service are needed.

    Several workers share the work where VERITRAIL_JOBS_URL names a PostgreSQL database, or on one
    machine with one home folder. It opens no port.
    """
    from veritrail_graph.api.server.logs import start_logs
    from veritrail_graph.api.settings import Settings

    settings = Settings()
    start_logs(settings, form_of(log_format), log_level)
    asyncio.run(_work(settings))


async def _work(settings: Settings) -> None:
    from veritrail_graph.api.app import Application

    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, ended.set)
    async with Application(settings, works=True) as app:
        if await app.jobs.work(ended, lambda worker_id: say(f"Working as {worker_id}", "dim")):
            say("Ending: what was begun is handed back.", "dim")
