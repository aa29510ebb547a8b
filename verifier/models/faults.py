"""From an HTTP status and an error's body to the ways in which a call can fail.

Servers that speak the same protocol word the same fault differently; all wordings that are known
are listed here. A message holds a server's words made short, on one line and storable, and nothing
of a prompt, a header or a key.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from veritrail_graph.verifier.models.port import (
    ContextTooLong,
    EndpointRefused,
    Filtered,
    ModelError,
    RequestRejected,
    TransportFault,
)

SHOWN = 200
REPLACEMENT = "\ufffd"

# What no database and no document takes: halves of characters, and no characters at all.
_UNSTORABLE = re.compile("[\ud800-\udfff\ufffe\uffff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_PAGE = re.compile(r"\s*(<\?xml[^>]*>\s*)?<(!doctype html|html|head|body)\b", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]{0,100}>([^<]{1,200})", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]{0,200}>", re.IGNORECASE)

_A_KEY = re.compile(
    r"(?<![\w-])(?:(?:sk|pk|rk|gsk|xai|hf|key|pplx|nvapi|glpat|gh[a-z])[-_]"
    r"(?=[\w*-]*[\d*])[\w*-]{6,}"
    r"|AIza[\w*-]{8,}|AKIA[A-Z\d]{8,}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+)?)"
)
"""What looks like a key of a known vendor, also with a part of it starred out; a digit or a star
tells it from a word such as `key-value`."""
_BEARER = re.compile(r"\b(Bearer\s+)(?=[\w.~+/=-]*\d)[\w.~+/=-]{8,}", re.IGNORECASE)


def storable(text: str) -> str:
    """The text with a mark in place of what cannot be stored."""
    return _UNSTORABLE.sub(REPLACEMENT, text)


def is_page(text: str) -> bool:
    """Return whether a text is a page for a browser."""
    return _PAGE.match(text) is not None


def short_message(text: str, secret: str | None = None) -> str:
    """A server's words, fit for a message; of a page for a browser its title alone.

    The own key, and whatever else looks like one, is left out: a gateway may repeat its own.
    """
    if secret and len(secret) > 3:
        text = text.replace(secret, "…")
    text = _BEARER.sub(r"\1…", _A_KEY.sub("…", text))
    if is_page(text):
        title = _TITLE.search(text)
        text = f"an HTML page: {title[1]}" if title and title[1].strip() else "an HTML page"
    elif "</" in text:
        text = _TAG.sub(" ", text)
    text = " ".join(_CONTROL.sub(" ", storable(text)).split())
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


TRANSIENT = frozenset({408, 409, 425, 429})
NO_QUOTA = frozenset(
    {
        "insufficient_quota", "billing_hard_limit_reached", "billing_not_active",
        "insufficient_credits", "insufficient_balance", "credit_balance_too_low",
    }
)  # fmt: skip
NO_KEY = frozenset(
    {
        "invalid_api_key", "api_key_invalid", "incorrect_api_key", "authentication_error",
        "invalid_authentication", "unauthenticated", "account_deactivated",
    }
)  # fmt: skip
NO_MODEL = frozenset({"model_not_found", "modelnotfound", "deploymentnotfound", "unknown_model"})
TOO_LONG = frozenset(
    {
        "context_length_exceeded", "exceed_context_size_error", "string_above_max_length",
        "max_tokens_exceeded",
    }
)  # fmt: skip
FILTERED = frozenset(
    {
        "content_filter", "content_policy_violation", "responsibleaipolicyviolation",
        "moderation", "moderation_error", "content_moderation", "flagged", "safety",
    }
)  # fmt: skip

_WRONG = r"(not valid|invalid|incorrect|not found|missing|expired|revoked|disabled|required|wrong)"
_NO_KEY_TEXT = re.compile(
    rf"api[ _-]?key\b.{{0,40}}\b{_WRONG}|\b{_WRONG}.{{0,20}}\bapi[ _-]?key"
    r"|authentication (failed|error)|(invalid|incorrect) (credentials|authentication)"
    r"|\b(account|organi[sz]ation|project)\b.{0,40}\b(deactivated|suspended|disabled|terminated)",
    re.IGNORECASE | re.DOTALL,
)
_NO_QUOTA_TEXT = re.compile(
    r"\b(credits?|balance|quota|funds)\b.{0,30}(too low|insufficient|exhausted|depleted|used up)"
    r"|(insufficient|not enough|no more|out of) (account )?(credits?|balance|quota|funds)",
    re.IGNORECASE | re.DOTALL,
)
_FILTERED_TEXT = re.compile(
    r"\bmoderation\b|\bflagged\b|content[ _-](policy|filter|management|moderation)"
    r"|\bsafety\b|\busage polic|\bharmful\b|\binappropriate\b",
    re.IGNORECASE,
)
_BLOCKED_TEXT = re.compile(r"\b(prompt|input|content|request|message|you)\b.{0,40}\bblocked", re.I)
_NO_ACCESS_TEXT = re.compile(
    r"\bkeys?\b|permission|\baccess\b|credential|authori[sz]|authenticat|\bbilling\b"
    r"|\b(account|organi[sz]ation|project|subscription)\b|forbidden.{0,20}model|model.{0,40}forbidden",
    re.IGNORECASE | re.DOTALL,
)
_NO_MODEL_TEXT = re.compile(
    r"model\b.{0,80}\b(does not exist|not found|not exist|is not available|unknown)"
    r"|(unknown|no such|invalid) model\b",
    re.IGNORECASE | re.DOTALL,
)
_TOO_LONG_TEXT = re.compile(
    r"maximum context length|(exceed|longer|greater|larger|too (long|large)|beyond|over).{0,80}"
    r"(context (length|size|window|limit)|maximum model length|maximum number of tokens allowed)"
    r"|context (length|size|window|limit).{0,60}(exceed|too (long|large|small))"
    r"|(prompt|input|request).{0,20} is too long|too many (input |prompt )?tokens"
    r"|reduce the length of the (messages|prompt|input)|too large for model with",
    re.IGNORECASE | re.DOTALL,
)
_TOO_LARGE_TEXT = re.compile(r"request too large|tokens must be reduced", re.IGNORECASE)
_WINDOW_TEXT = re.compile(
    r"(?:maximum (?:context|model) length(?: is| of)?\D{0,12}|context limit: [\d +]*> ?"
    r"|tokens allowed \D{0,3}|tokens ?> ?|available context size \(|\"?n_ctx\"?\s*[:=]\s*"
    r"|context (?:length|window|size)(?: is| of|:)?\D{0,12})(\d{3,9})"
    r"|model with (\d{3,9}) maximum context",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Problem:
    """The error that the body of an endpoint's response describes.

    Attributes:
        message: Its words; may be empty.
        codes: Its codes and types, in lower case.
        parameter: The parameter that it complains about, if it names one.
        window: The context window that it states in a field of its own.
    """

    message: str
    codes: frozenset[str]
    parameter: str | None = None
    window: int | None = None

    @classmethod
    def read(cls, body: bytes) -> Problem:
        """Read the body of an error, in any of the forms that servers give it."""
        try:
            found = json.loads(body[:1_000_000])
        except (ValueError, RecursionError):
            return cls(body[:2_000].decode("utf-8", "replace"), frozenset())
        while isinstance(found, list) and found:  # some gateways wrap the object in a list
            found = found[0]
        if isinstance(found, Mapping):
            inner = found.get("error") or found.get("detail")
            if isinstance(inner, list) and inner and isinstance(inner[0], Mapping):
                return cls._of_validation(inner[0])
            found = inner if isinstance(inner, Mapping | str) else found
        return cls._of(found)

    @classmethod
    def _of_validation(cls, found: Mapping[str, Any]) -> Problem:
        """From the form of servers built on FastAPI, which names a place in the body."""
        message, place = found.get("msg"), found.get("loc")
        parameter = place[1] if isinstance(place, list) and len(place) > 1 else None
        return cls(
            message if isinstance(message, str) else "",
            frozenset({str(found.get("type")).lower()}),
            parameter if isinstance(parameter, str) else None,
        )

    @classmethod
    def _of(cls, found: Any) -> Problem:
        if not isinstance(found, Mapping):
            return cls(found if isinstance(found, str) else "", frozenset())
        inner = found.get("innererror")
        named = [found.get(key) for key in ("code", "type", "status", "error_type")]
        named.append(inner.get("code") if isinstance(inner, Mapping) else None)
        named += _reasons(found.get("details"))
        message, parameter, window = found.get("message"), found.get("param"), found.get("n_ctx")
        return cls(
            message if isinstance(message, str) else "",
            frozenset(str(code).lower() for code in named if code is not None),
            parameter if isinstance(parameter, str) else None,
            window if isinstance(window, int) and window > 0 else None,
        )

    def says(self, codes: frozenset[str]) -> bool:
        """Return whether it carries one of these codes."""
        return not self.codes.isdisjoint(codes)


@dataclass(frozen=True, slots=True)
class ErrorContext:
    """The facts besides the response that decide the meaning of an error.

    Attributes:
        prompt: What was sent. A server may repeat it, and its words say nothing about the error.
        has_answered: Whether the endpoint has answered any call: then its key is a good one.
    """

    prompt: str = ""
    has_answered: bool = False

    def finds(self, pattern: re.Pattern[str], problem: Problem) -> bool:
        """Return whether the server's own words match a pattern."""
        for found in pattern.finditer(problem.message):
            words = " ".join(found[0].split()).casefold()
            if words not in " ".join(self.prompt.split()).casefold():
                return True
        return False


def _reasons(details: Any) -> list[Any]:
    """Codes in the details that Google's servers give."""
    rows = details[:10] if isinstance(details, list) else []
    return [row.get("reason") for row in rows if isinstance(row, Mapping)]


def fault(
    status: int,
    problem: Problem,
    headers: Mapping[str, str],
    reply: str,
    context: ErrorContext = ErrorContext(),
) -> ModelError:
    """Return what an error of the endpoint means.

    Args:
        status: The HTTP status.
        problem: What the body says.
        headers: Headers of the answer, by name in lower case.
        reply: The endpoint and what it reply, as a message begins.
        context: What was sent, and whether the endpoint has answered before.
    """
    if problem.says(NO_QUOTA) or status == 402:
        return _refused(reply, "no_credit")
    if 300 <= status < 400:
        return _elsewhere(headers, reply)
    if status == 429 and _TOO_LARGE_TEXT.search(problem.message):
        return ContextTooLong(reply)  # more than the tokens of a minute: waiting does not help
    if status in TRANSIENT or status >= 500:
        return TransportFault(reply, status=status, retry_after=retry_after(headers))
    if status == 401:
        return _refused(reply, "key_refused")
    if status == 403:
        return _forbidden(problem, reply, context)
    if status in (404, 410) or problem.says(NO_MODEL):
        return _refused(reply, "model_or_address_unknown")
    if status == 405:
        return _refused(reply, "no_chat_completions")
    if status in (400, 413, 422):
        return _about_request(status, problem, reply, context)
    return RequestRejected(reply)


_REFUSALS = {
    "no_credit": "the account has no quota or credit left",
    "key_refused": "the key is not accepted; check it, and the address",
    "model_or_address_unknown": "check the model's name and the address",
    "no_chat_completions": "what is asked for is not served there; check the address",
}


def _refused(reply: str, code: str) -> EndpointRefused:
    return EndpointRefused(f"{reply}: {_REFUSALS[code]}", code=code)


def _elsewhere(headers: Mapping[str, str], reply: str) -> ModelError:
    """A redirect is not followed: prompts and the key go to the named address only."""
    try:
        parts = urlsplit(headers.get("location", ""))
    except ValueError:
        parts = urlsplit("")
    host = parts.netloc.rpartition("@")[2]
    if not host:
        return EndpointRefused(f"{reply}: it redirects, and is not followed; check the address")
    place = short_message(f"{parts.scheme or 'https'}://{host}{parts.path}")
    return EndpointRefused(
        f"{reply}: it redirects to {place} and is not followed; if that is the endpoint that you"
        " want, make it the base URL, without /chat/completions"
    )


def _forbidden(problem: Problem, reply: str, context: ErrorContext) -> ModelError:
    """HTTP 403: of the key, or of what this one prompt says."""
    is_worded = not is_page(problem.message)  # a page says the same of everything
    if not problem.says(NO_KEY) and not context.finds(_NO_KEY_TEXT, problem):
        if problem.says(FILTERED) or (is_worded and context.finds(_FILTERED_TEXT, problem)):
            return Filtered(f"{reply}: a content filter withheld the answer")
        no_access = is_worded and context.finds(_NO_ACCESS_TEXT, problem)
        is_telling = is_worded or context.has_answered
        if is_telling and not no_access and context.finds(_BLOCKED_TEXT, problem):
            return Filtered(f"{reply}: a content filter withheld the answer")
        if not no_access and context.has_answered:
            return RequestRejected(reply)
    return _refused(reply, "key_refused")


def _about_request(status: int, problem: Problem, reply: str, context: ErrorContext) -> ModelError:
    if problem.says(FILTERED):
        return Filtered(f"{reply}: a content filter withheld the answer")
    if status == 413 or problem.says(TOO_LONG) or _TOO_LONG_TEXT.search(problem.message):
        return ContextTooLong(reply, problem.window or window(problem.message))
    if problem.says(NO_KEY) or context.finds(_NO_KEY_TEXT, problem):
        return _refused(reply, "key_refused")
    if context.finds(_NO_QUOTA_TEXT, problem):
        return _refused(reply, "no_credit")
    if context.finds(_FILTERED_TEXT, problem):
        return Filtered(f"{reply}: a content filter withheld the answer")
    if not context.has_answered and context.finds(_NO_MODEL_TEXT, problem):
        return _refused(reply, "model_or_address_unknown")
    return RequestRejected(reply)


def window(message: str) -> int | None:
    """The context window in tokens that a message states, if it does."""
    found = _WINDOW_TEXT.search(message.replace(",", ""))
    return int(found[1] or found[2]) if found else None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait before the next attempt, as the endpoint asks; None: it does not."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if seconds >= 0:  # not so for nan
            return min(seconds, 1e9)
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, date.timestamp() - time.time())
    except (ValueError, TypeError, OverflowError, OSError):
        return None
