"""Webhooks of commands: sent a few times once the command has its result, which stays as it is."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.cli.terminal import say

if TYPE_CHECKING:
    from veritrail_graph.api.work.webhooks.target import Target


def deliver(target: Target, kind: str, data: Mapping[str, Any]) -> None:
    """Send a message; that it cannot be delivered is a warning.

    Args:
        target: Where it goes.
        kind: Its type.
        data: What it says.
    """
    from veritrail_graph.api.work.webhooks.message import Message
    from veritrail_graph.api.work.webhooks.target import NotDelivered, send_now

    try:
        asyncio.run(send_now(target, Message.of(kind, data)))
    except NotDelivered as error:
        say(f"The webhook could not be delivered: {error}", "yellow")
