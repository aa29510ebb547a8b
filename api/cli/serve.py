"""`veritrail serve`: the graph over HTTP."""

from __future__ import annotations

import ipaddress
import socket
from pathlib import Path
from typing import Annotated

import typer

from api.cli.terminal import say
from api.settings import Settings
from graph.errors import InputError

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

    config = uvicorn.Config(
        create_app(settings, key),
        host=host,
        port=port,
        log_level="warning",
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=10,
    )
    listening = _listen(host, port)
    say(f"Listening on http://{_shown(host)}:{port}, {'with' if key else 'without'} a key", "dim")
    with listening:
        uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        InputError: The address is not known here, or the port is taken or not allowed.
    """
    try:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError:
        raise InputError(f"--host {host!r} is no address of this machine") from None
    listening = socket.socket(family, kind)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        listening.close()
        raise InputError(
            f"{_shown(host)}:{port} cannot be listened on ({error.strerror}); is it in use? "
            "--port takes another one"
        ) from None
    return listening


def api_key(settings: Settings) -> str | None:
    """The key of the service, from VERITRAIL_API_KEY or the file that VERITRAIL_API_KEY_FILE names.

    Raises:
        InputError: The file cannot be read, or the key is too short.
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
    return key


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
