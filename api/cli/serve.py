"""`veritrail serve`: the service over HTTP."""

from __future__ import annotations

import asyncio
import ipaddress
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from veritrail_graph.api.cli.exits import run
from veritrail_graph.api.cli.options import Format, Level, LogLevel, form_of
from veritrail_graph.api.cli.terminal import say
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.auth.database import ServiceDatabase
    from veritrail_graph.api.http.guard import Rules
    from veritrail_graph.api.jobs.events import EventLog
    from veritrail_graph.api.jobs.worker import Worker


LEAST_KEY = 16
"""Characters of a key."""

MOST_SECONDS = 3_600.0


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
    settings = Settings.load()
    key = api_key(settings)
    rules = rules_of(settings)
    is_open = not is_loopback(host)
    if is_open and key is None and not run(_has_key(settings), as_json=False):
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
        app = create_app(settings, Way(key, is_open, worker, rules))
        proxies = settings.values.get("VERITRAIL_PROXIES", "127.0.0.1")
        server = Server(app, proxy_headers=True, forwarded_allow_ips=proxies)
        url = f"http://{shown(host)}:{listening.getsockname()[1]}"
        log = logging.getLogger("veritrail")
        log.warning("Listening on %s", url, extra={"fields": {"url": url}})
        server.serve_on(listening)


async def _has_key(settings: Settings) -> bool:
    """Whether a key was made that opens now."""
    import time

    from veritrail_graph.api.auth.database import ServiceDatabase, service_url
    from veritrail_graph.api.auth.keys import Keys

    service = ServiceDatabase(service_url(settings))
    try:
        return any(key.state(time.time()) == "active" for key in await Keys(service).all())
    finally:
        service.close()


def rules_of(settings: Settings) -> Rules:
    """What the guard goes by, from VERITRAIL_RATE, VERITRAIL_CORS_ORIGINS, VERITRAIL_BODY_SECONDS.

    Raises:
        InputError: One has a value that it cannot have.
    """
    from veritrail_graph.api.http.guard import Rules

    values = settings.values
    rate = values.get("VERITRAIL_RATE")
    if rate is not None and not (rate.isdecimal() and 0 < int(rate) <= 1_000_000):
        raise InputError(f"VERITRAIL_RATE={rate!r}: must be a number of requests a minute")
    origins = frozenset(values.get("VERITRAIL_CORS_ORIGINS", "").replace(",", " ").split())
    for origin in origins:
        _check_origin(origin)
    given = values.get("VERITRAIL_BODY_SECONDS", "20")
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds <= MOST_SECONDS:
        raise InputError(f"VERITRAIL_BODY_SECONDS={given!r}: must be a number of seconds above 0")
    return Rules(int(rate) if rate else None, origins, seconds)


def _check_origin(origin: str) -> None:
    try:
        parts = urlsplit(origin)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_whole = False
    if not is_whole or origin != f"{parts.scheme}://{parts.netloc}":
        raise InputError(
            f"VERITRAIL_CORS_ORIGINS: {origin!r} is no origin; write each as "
            "https://example.org, without a path, and with blanks between them"
        )


def api_key(settings: Settings) -> str | None:
    """The key of the service, from VERITRAIL_API_KEY or the file that VERITRAIL_API_KEY_FILE names.

    Raises:
        InputError: The file cannot be read, the key is too short, or it is one that was made.
    """
    name, key = "VERITRAIL_API_KEY", settings.values.get("VERITRAIL_API_KEY")
    file = settings.values.get("VERITRAIL_API_KEY_FILE")
    if key is None and file is not None:
        try:
            key = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            raise InputError(f"VERITRAIL_API_KEY_FILE {file!r} cannot be read: {reason}") from None
        name = f"VERITRAIL_API_KEY_FILE {file!r}"
    if key is not None and (len(key) < LEAST_KEY or not key.isascii() or not key.isprintable()):
        raise InputError(
            f"{name} must hold at least {LEAST_KEY} characters, all of them printable ASCII: it "
            "goes into a header"
        )
    if key is not None and is_made(key):
        raise InputError(
            f"{name} holds a key that `veritrail keys create` made. Here it would open everything, "
            "and could not be revoked. Unset it: the service knows the keys that were made."
        )
    return key


def is_made(key: str) -> bool:
    """Whether a key is one of those that are made, with scopes and an end of their own."""
    from veritrail_graph.api.auth.keys import split_key

    return split_key(key) is not None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def worker(log_format: Format = None, log_level: Level = LogLevel.INFO) -> None:
    """Work on jobs until told to end; the same settings as those of the service are needed.

    Several workers share the work where VERITRAIL_JOBS_URL names a PostgreSQL database, or on one
    machine with one home folder. It opens no port.
    """
    from veritrail_graph.api.server.logs import start_logs

    settings = Settings.load()
    start_logs(settings, form_of(log_format), log_level)
    asyncio.run(_work(settings))


async def _work(settings: Settings) -> None:
    from veritrail_graph.api.auth.database import ServiceDatabase, service_url
    from veritrail_graph.api.jobs.events import EventLog
    from veritrail_graph.api.jobs.worker import Worker

    service = ServiceDatabase(service_url(settings))
    log = EventLog(service)
    worker = Worker(settings, service, log)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, ended.set)
    starting = asyncio.create_task(worker.start())
    waiting = asyncio.create_task(ended.wait())
    await asyncio.wait([starting, waiting], return_when=asyncio.FIRST_COMPLETED)
    try:
        if not ended.is_set():
            starting.result()
            say(f"Working as {worker.worker_id}", "dim")
            await waiting
            say("Ending: what was begun is handed back.", "dim")
    finally:
        await _end(worker, starting, service, log)


async def _end(
    worker: Worker, starting: asyncio.Task[None], service: ServiceDatabase, log: EventLog
) -> None:
    worker.end()
    await asyncio.wait([starting])
    await worker.stop()
    await asyncio.to_thread(log.close)
    service.close()
