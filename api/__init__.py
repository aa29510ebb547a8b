"""The doors: the command line, REST, Python, MCP, and the one place where adapters are chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from api.client import AsyncClient, AsyncLocal, Client, Local

__all__ = ["AsyncClient", "AsyncLocal", "Client", "Local"]


def __getattr__(name: str) -> Any:
    """The clients, imported when they are first asked for: the command line needs none."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from api import client

    return getattr(client, name)
