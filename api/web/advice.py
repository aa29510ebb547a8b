"""What a page says of an error, and what it advises a person to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_PREFIX = "urn:veritrail:problem:"


@dataclass(frozen=True, slots=True)
class FaultWords:
    """What is said of something that went wrong.

    Attributes:
        heading: What it is, in a few words.
        detail: What happened.
        todo: What to do about it.
        icon: The icon beside it.
    """

    heading: str
    detail: str
    todo: str
    icon: str = "failed"


ADVICE: Mapping[str, str] = {
    "already_written": "Send it again.",
    "append_too_large": "Or replace the whole process, which removes its verifications.",
    "claim_verified": "They are about the text that it has now.",
    "extraction_needs_model": "Name one in Model.",
    "model_needed": "Name it in Model, or let the service be set up with one.",
    "no_claims": "Give some.",
    "node_needed": "Choose the node.",
    "other_content": "It can be replaced.",
    "price_unknown": "Give it in Price as INPUT,OUTPUT: USD per million tokens.",
    "process_in_use": "Cancel them first.",
}
"""Advice by the code of an error, or the kind of a violation."""

_SAID: Mapping[int, tuple[str, str]] = {
    400: ("That could not be read", "Go back and try again."),
    401: ("You are signed out", "Sign in again."),
    403: ("Not allowed", "Sign in with a key that may do this, or ask whoever looks after it."),
    404: (
        "Not found",
        "It may have been removed while you were looking, or the address has a slip in it.",
    ),
    405: ("That does not work here", "Go back and use the buttons of the page."),
    408: ("It took too long to arrive", "Send it again; a wire may be slow at times."),
    409: ("It is in conflict with what is there", "Load the page again and look what has changed."),
    413: ("Too large", "Send less at a time, or pack it with gzip."),
    415: ("Of another kind", "Choose a process file: JSON or JSON Lines, gzipped or not."),
    421: ("Not from this machine", "Use the address of this machine, or make a key first."),
    422: ("Something is not as it must be", "Go back, put it right and send it again."),
    429: ("Too often", "Wait a moment, then load the page again."),
    500: ("A fault of the program", "Nothing was half-done. Tell whoever looks after the service."),
    503: ("It does not answer now", "Nothing is lost. Wait a moment and try again."),
    504: ("It took too long", "Ask for less at once, or try again later."),
    507: ("There is no room left", "Tell whoever looks after the service."),
}
_HEADINGS: Mapping[str, str] = {
    "engine-unavailable": "The graph does not answer now",
    "store-full": "The store is full",
    "read-only": "The graph takes no writes now",
    "process-in-use": "Claims of it are being verified",
}
_FORM_TODO = "Load the page again and send the form from there. Signing in anew is not needed."
_ELSEWHERE_TODO = (
    "Open the page here, at the address of the service, and send the form from there. If you did "
    "not send anything, another site tried to: nothing was changed."
)
_OTHER_403 = {
    "form-expired": ("The form is too old", _FORM_TODO),
    "cross-origin": ("It came from another site", _ELSEWHERE_TODO),
}
"""What is refused though the key may do it, by the kind of the problem: no other key helps."""


def words_of(problem: Mapping[str, Any]) -> FaultWords:
    """What is said of a problem."""
    status = int(problem["status"])
    heading, todo = _SAID.get(status, (str(problem["title"]), "Go back and try again."))
    kind = str(problem["type"]).removeprefix(_PREFIX)
    detail = str(problem["detail"])
    heading, todo = _OTHER_403.get(kind, (heading, todo))
    return FaultWords(
        _HEADINGS.get(kind, heading),
        detail,
        todo,
        "lost" if status in (404, 503) else "failed",
    )


_FIELDS: Mapping[str, str] = {
    "budget_usd": "Budget",
    "claims": "Claims",
    "cursor": "The place in the list",
    "error_stage": "Stage",
    "model": "Model",
    "node": "Node",
    "node_id": "Node",
    "part": "Part of the text",
    "price": "Price",
    "q": "q",
    "query.q": "Search",
    "reason": "Reason",
    "review": "Reviews",
    "stage": "Stage",
    "texts": "Claims",
    "verdict": "Verdict",
}


def field_words(where: str) -> str:
    """A field by the words that stand beside it on a page; what has none keeps its name."""
    name = where.rpartition(".")[2]
    return _FIELDS.get(where) or _FIELDS.get(name) or where.removeprefix("query.")


def faults_of(problem: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The broken rules of a problem: the field in words, and what is wrong with it."""
    found = problem.get("violations", [])
    return [(field_words(str(one["where"])), str(one["message"])) for one in found]
