"""What the scripted server sends: completions, errors and faults, as OpenAI shapes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fakes.model_answers import Answer
from fakes.model_faults import Fault
from fakes.model_prompts import EVIDENCE_SELECTION, VERDICT

WORDS = "Let me go through the excerpts one by one.\n\n"
REASONS = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 408: "Request Timeout",
    409: "Conflict", 429: "Too Many Requests", 500: "Internal Server Error",
    503: "Service Unavailable",
}  # fmt: skip
PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in</body></html>"
RETRY_AFTER = "1"


@dataclass(frozen=True)
class Reply:
    """One HTTP answer."""

    status: int
    body: bytes
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()

    def encode(self) -> bytes:
        """The bytes on the wire."""
        lines = [f"HTTP/1.1 {self.status} {REASONS[self.status]}"]
        lines += [f"content-type: {self.content_type}", f"content-length: {len(self.body)}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


@dataclass(frozen=True)
class Counts:
    """Tokens of a prompt, and how many of them come from a known prefix."""

    prompt: int
    cached: int = 0


def as_json(value: Any, status: int = 200, **headers: str) -> Reply:
    """An answer that holds a JSON document."""
    named = tuple((name.replace("_", "-"), text) for name, text in headers.items())
    return Reply(status, json.dumps(value).encode(), headers=named)


def error(status: int, message: str, code: str | None = None, param: str | None = None) -> Reply:
    """An error in the shape of the OpenAI API."""
    kinds = {429: "rate_limit_error", 500: "server_error", 503: "server_error"}
    kind = kinds.get(status, "invalid_request_error")
    about = {"message": message, "type": kind, "param": param, "code": code}
    return as_json({"error": about}, status)


def tokens(text: str) -> int:
    """Tokens of a text: one for each four characters."""
    return -(-len(text) // 4)


def completion(
    number: int,
    model: str,
    step: str,
    answer: Answer,
    counts: Counts,
    fault: Fault | None,
    reasoning: int = 0,
) -> Reply:
    """A chat completion with this answer, or with what a fault leaves of it."""
    text = answer_text(step, answer, fault)
    finish, content, refusal = "stop", text, ""
    match fault:
        case Fault.CUT_OFF:
            finish, content = "length", text[: len(text) // 2]
        case Fault.REFUSAL:
            refusal, content = "I cannot help with that.", ""
        case Fault.CONTENT_FILTER:
            finish, content = "content_filter", ""
        case Fault.EMPTY_CONTENT:
            content = ""
    message = {"role": "assistant", "content": content, "refusal": refusal or None}
    if refusal:
        message["content"] = None
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    written = tokens(content or refusal or "") + reasoning
    return as_json({
        "id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1_700_000_000 + number,
        "model": model, "choices": [] if fault is Fault.EMPTY_CHOICES else [choice],
        "usage": {
            "prompt_tokens": counts.prompt,
            "completion_tokens": written,
            "total_tokens": counts.prompt + written,
            "prompt_tokens_details": {"cached_tokens": counts.cached},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        },
    })  # fmt: skip


def answer_text(step: str, answer: Answer, fault: Fault | None) -> str:
    """The whole text of an answer: some words, then the JSON object, changed by a fault."""
    if isinstance(answer, str):
        return answer[: len(answer) // 2] if fault is Fault.MALFORMED_JSON else answer
    match fault:
        case Fault.MALFORMED_JSON:
            return WORDS + json.dumps(answer)[:-1] + ","
        case Fault.NO_JSON:
            return WORDS + "I am done."
        case Fault.SEVERAL_OBJECTS:
            return f"{WORDS}At first: {json.dumps(_another(step))}\nNo, rather:\n" + _fenced(answer)
        case Fault.UNKNOWN_VERDICT if step == VERDICT:
            return WORDS + json.dumps({**answer, "verdict": "MOSTLY_SUPPORTED"})
        case Fault.EMPTY_SUMMARY if answer.get("sentence_ids"):
            return WORDS + json.dumps({**answer, "summary": ""})
        case Fault.MISSING_KEYS | Fault.UNKNOWN_VERDICT | Fault.EMPTY_SUMMARY:
            return WORDS + json.dumps(dict(list(answer.items())[1:]))
    return WORDS + json.dumps(_odd_ids(answer, fault) if step == EVIDENCE_SELECTION else answer)


def _another(step: str) -> Mapping[str, Any]:
    """An answer that would be valid, were it the last one."""
    if step == VERDICT:
        return {"verdict": "INCONCLUSIVE", "reason": "At first sight."}
    if step == EVIDENCE_SELECTION:
        return {"sentence_ids": [0], "context_ids": [], "summary": "Wrong.", "missing": None}
    return {"claims": ["Wrong."], "outcome": "clear", "sentence": "Wrong."}


def _fenced(answer: Mapping[str, Any]) -> str:
    return f"```json\n{json.dumps(answer, indent=2)}\n```"


def _odd_ids(answer: Mapping[str, Any], fault: Fault | None) -> Mapping[str, Any]:
    ids = answer["sentence_ids"]
    if fault is Fault.IDS_OUT_OF_RANGE:
        return {**answer, "sentence_ids": [100_000, *ids, -3, "99990-99993", "none", None]}
    if fault is Fault.RANGES_AS_STRINGS:
        return {**answer, "sentence_ids": as_ranges(ids)}
    return answer


def as_ranges(ids: Sequence[int]) -> list[str]:
    """Runs of consecutive ids as strings: `[1, 2, 3, 7]` is `["1-3", "7"]`."""
    runs: list[list[int]] = []
    for number in sorted(ids):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return [f"{first}-{last}" if last > first else str(first) for first, last in runs]


def failure(fault: Fault) -> Reply | None:
    """The answer of a fault that needs no completion; None for the others."""
    match fault:
        case Fault.STATUS_429_RETRY_AFTER:
            limited = error(429, "Rate limit reached.", "rate_limit_exceeded")
            return Reply(429, limited.body, headers=(("retry-after", RETRY_AFTER),))
        case Fault.STATUS_429:
            return error(429, "Rate limit reached.", "rate_limit_exceeded")
        case Fault.STATUS_408 | Fault.STATUS_409 | Fault.STATUS_500 | Fault.STATUS_503:
            return error(int(fault), "The server had an error.")
        case Fault.WRONG_CONTENT_TYPE:
            return Reply(200, PAGE, "text/html; charset=utf-8")
        case Fault.BROKEN_BODY:
            return Reply(200, b'{"id": "chatcmpl-0", "object": "chat.comp')
    return None
