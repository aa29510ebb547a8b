"""Sending a message a few times, from a command that ends soon."""

from __future__ import annotations

import time
from collections.abc import Sequence

from veritrail_graph.api.webhooks.message import Message
from veritrail_graph.api.webhooks.target import NotDelivered, Target

WAITS = (1.0, 3.0, 9.0)


def send_now(target: Target, message: Message, waits: Sequence[float] | None = None) -> None:
    """Send a message, and again after growing waits while it is not accepted.

    Raises:
        NotDelivered: It was not accepted in the end.
    """
    for wait in WAITS if waits is None else waits:
        try:
            target.send(message)
        except NotDelivered:
            time.sleep(wait)
        else:
            return
    target.send(message)
