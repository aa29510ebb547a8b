"""The messages of webhooks: ids, counts and names, never a text, a key or an address.

A message has one id and one body, however often it is sent; the signature covers the time of
sending. Headers and signature are those of Standard Webhooks.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.clock import now

JOB_FINISHED, GATE_FAILED = "job.finished", "gate.failed"


@dataclass(frozen=True, slots=True)
class Message:
    """A message.

    Attributes:
        message_id: Its id; a receiver drops a message whose id it has seen.
        body: JSON with `type`, `timestamp` and `data`.
    """

    message_id: str
    body: str

    @classmethod
    def of(cls, kind: str, data: Mapping[str, Any]) -> Message:
        """A new message."""
        content = {"type": kind, "timestamp": now(), "data": dict(data)}
        return cls(f"msg_{uuid.uuid4().hex}", json.dumps(content, separators=(",", ":")))


def headers(message: Message, secret: bytes, sent_at: int) -> dict[str, str]:
    """The headers of a message.

    Args:
        message: The message.
        secret: The secret.
        sent_at: When it is sent, in seconds since 1970.
    """
    signed = f"{message.message_id}.{sent_at}.{message.body}".encode()
    digest = hmac.new(secret, signed, hashlib.sha256).digest()
    return {
        "Content-Type": "application/json",
        "User-Agent": "veritrail-graph",
        "webhook-id": message.message_id,
        "webhook-timestamp": str(sent_at),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
