"""`veritrail serve`: the graph over HTTP."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated

import typer

from api.cli.terminal import say
from api.settings import Settings
from graph.errors import EngineUnavailable, InputError

LEAST_KEY = 16
"""Characters of a key."""


def serve(
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; any but this machine needs a key.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=1, max=65_535, help="Port to listen on.")
    ] = 8000,
) -> None:
    """Answer queries of the graph over REST until interrupted."""
    settings = Settings.load()
    key = api_key(settings)
    if key is None and not is_loopback(host):
        raise InputError(
            f"--host {host}: others could reach the service, so it needs a key. Set "
            "VERITRAIL_API_KEY (or VERITRAIL_API_KEY_FILE to a file that holds it)."
        )
    import uvicorn

    from api.rest.app import create_app

    say(f"Listening on http://{_shown(host)}:{port}, {'with' if key else 'without'} a key", "dim")
    config = uvicorn.Config(
        create_app(settings, key),
        host=host,
        port=port,
        log_level="warning",
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=10,
    )
    server = uvicorn.Server(config)
    try:
        server.run()
    except SystemExit:  # so uvicorn ends when it cannot listen; it has said why
        raise EngineUnavailable(f"{host}:{port} cannot be listened on; is it in use?") from None


def api_key(settings: Settings) -> str | None:
    """The key of the service, from VERITRAIL_API_KEY or the file that VERITRAIL_API_KEY_FILE names.

    Raises:
        InputError: The file cannot be read, or the key is too short.
    """
    key = settings.values.get("VERITRAIL_API_KEY")
    file = settings.values.get("VERITRAIL_API_KEY_FILE")
    if key is None and file is not None:
        try:
            key = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            raise InputError(f"VERITRAIL_API_KEY_FILE {file!r} cannot be read: {reason}") from None
    if key is not None and len(key) < LEAST_KEY:
        raise InputError(f"VERITRAIL_API_KEY must have at least {LEAST_KEY} characters")
    return key


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
