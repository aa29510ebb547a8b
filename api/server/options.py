"""The key of the service, and which addresses only this machine can reach."""

from __future__ import annotations

import ipaddress
from enum import StrEnum
from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.settings import Settings

LEAST_KEY = 16
"""Characters of a key."""


def api_key(settings: Settings) -> str | None:
    """The key of the service, from VERITRAIL_API_KEY or the file that VERITRAIL_API_KEY_FILE names.

    Raises:
        InputError: The key is too short, or it is one that was made.
    """
    name, key = "VERITRAIL_API_KEY", settings.api_key
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
    """Return whether a key is one of those that are made, with scopes and an end of their own."""
    from veritrail_graph.api.auth.keys import split_key

    return split_key(key) is not None


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class LogFormat(StrEnum):
    """A format of log lines."""

    JSON = "json"
    TEXT = "text"


class LogLevel(StrEnum):
    """From which weight on lines are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
