"""Options of the service that its settings give: its key, what the guard goes by.

A wrong one is refused before the service listens.
"""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.http.guard import Rules

LEAST_KEY = 16
"""Characters of a key."""

MOST_SECONDS = 3_600.0


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
