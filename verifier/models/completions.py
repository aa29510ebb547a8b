"""Reading the body of a chat completion: the answer's text and what it cost.

Source: the model protocol (docs/model-protocol.md).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from veritrail_graph.graph.model import Usage
from veritrail_graph.verifier.models.port import (
    Completion,
    CutOff,
    EmptyAnswer,
    Filtered,
    Refused,
    Request,
    TransportFault,
)
from veritrail_graph.verifier.models.tokens import estimate
from veritrail_graph.verifier.models.wording import shown


def read_completion(body: bytes, content_type: str, request: Request, told: str) -> Completion:
    """Read an answer with a status of success.

    Args:
        body: The body.
        content_type: The header of that name; empty: there was none.
        request: What was asked.
        told: Who answered, fit to be shown.

    Raises:
        TransportFault: It is no completion; its status is 200.
        InvalidAnswer: It is a refusal, filtered, cut off or empty.
    """
    if content_type and "json" not in content_type:
        kind = shown(content_type)[:60]
        raise TransportFault(f"{told}: the answer is {kind}, not JSON", status=200)
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise TransportFault(f"{told}: the answer is not JSON", status=200) from None
    choice = _choice(found)
    if choice is None:
        lost = _stated(found, request)
        raise TransportFault(f"{told}: the answer holds no completion", status=200, usage=lost)
    message = choice["message"]
    text = _text(message.get("content"))
    usage = _usage(found.get("usage"), request, text)
    _check(choice.get("finish_reason"), text, message.get("refusal"), usage)
    return Completion(text, usage)


def _choice(found: Any) -> Mapping[str, Any] | None:
    """The first choice, if there is one that holds a message."""
    choices = found.get("choices") if isinstance(found, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    return choices[0] if isinstance(choices[0].get("message"), dict) else None


def _text(content: Any) -> str:
    if isinstance(content, list):  # some servers answer in parts
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _check(reason: Any, text: str, refusal: Any, usage: Usage) -> None:
    if reason == "content_filter":
        raise Filtered("a content filter withheld the answer", usage)
    blank = not text.strip()
    if blank and isinstance(refusal, str) and refusal.strip():
        raise Refused(f"the model declined to answer: {shown(refusal)}", usage)
    if reason == "length":
        raise CutOff("the answer was cut off by the limit on its length", usage)
    if blank:
        raise EmptyAnswer("the answer holds no text", usage)


def _usage(found: Any, request: Request, text: str) -> Usage:
    """Tokens as the endpoint counted them; an estimate where it does not say."""
    if not isinstance(found, dict):
        found = {}
    prompt = _count(found, "prompt_tokens")
    completion = _count(found, "completion_tokens")
    cached = _count(_part(found, "prompt_tokens_details"), "cached_tokens")
    if cached is None:
        cached = _count(found, "prompt_cache_hit_tokens")  # as DeepSeek calls it
    if prompt is None:
        prompt = estimate(request.system) + estimate(request.user)
    if completion is None:
        completion = estimate(text)
    reasoning = _count(_part(found, "completion_tokens_details"), "reasoning_tokens")
    return Usage(
        calls=1,
        input_tokens=prompt,
        cached_input_tokens=min(cached or 0, prompt),
        output_tokens=completion,
        reasoning_tokens=min(reasoning or 0, completion),
    )


def _stated(found: Any, request: Request) -> Usage:
    """Tokens that are billed although there is no answer; no call, and nothing is estimated."""
    usage = found.get("usage") if isinstance(found, dict) else None
    if not isinstance(usage, dict) or not _count(usage, "prompt_tokens"):
        return Usage()
    return replace(_usage(usage, request, ""), calls=0)


def _part(found: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = found.get(key)
    return part if isinstance(part, dict) else {}


def _count(found: Mapping[str, Any], key: str) -> int | None:
    value = found.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 53:
        return None
    return value
