"""Show a fault as a page: the reason, what to do, and the id of the request.

Routes, the guard and everything between them answer problems as they do over REST; here such an
answer becomes a page, where a page was asked for. Every page leaves with its headers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from veritrail_graph.api.advice import MODELS
from veritrail_graph.api.page.links import inside, sent, url
from veritrail_graph.api.page.rendering import render
from veritrail_graph.api.service.http.bodies import MAX_BODY
from veritrail_graph.api.service.http.guard import crosses, netloc
from veritrail_graph.api.service.http.problems import (
    MEDIA_TYPE,
    OWN_FAULT,
    PREFIX,
    STARTING,
    problem,
)


@dataclass(frozen=True, slots=True)
class FaultWords:
    """The words in which a fault is shown on a page.

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
    **MODELS,
    "azure_endpoint_needed": "The service needs AZURE_OPENAI_ENDPOINT.",
    "azure_key_needed": "The service needs AZURE_OPENAI_API_KEY.",
    "azure_version_needed": "The service needs OPENAI_API_VERSION, such as 2024-10-21.",
    "key_needed": "The service needs OPENAI_API_KEY, or OPENAI_BASE_URL of another endpoint.",
    "already_written": "Send it again.",
    "append_too_large": "Or replace the whole process, which removes its verifications.",
    "columns_unknown": (
        "Name them below, under the options: question=NAME,contexts=NAME,answer=NAME."
    ),
    "plain_text": "Put the answer and its sources into the fields of Check.",
    "claim_verified": "They are about the text that it has now.",
    "extraction_needs_model": "Name one in Model.",
    "model_needed": "Name it in Model, or let the service be set up with one.",
    "no_claims": "Give some.",
    "nothing_stated": "Type in what is to be checked.",
    "no_claims_of_dialogue": "The page of the conversation does so; or give some of your own.",
    "node_needed": "Choose the node.",
    "nodes_and_claims": "Choose one of the two.",
    "nothing_to_judge": "Tick one of them, or leave the mode as it is.",
    "nothing_to_recheck": "Tick that a wording is proposed.",
    "other_content": "It can be replaced.",
    "price_unknown": "Give it in Price as INPUT,OUTPUT: USD per million tokens.",
    "process_in_use": "Cancel them first.",
}
"""Advice by the code of an error, or the kind of a violation."""

_SAID: Mapping[int, tuple[str, str]] = {
    400: ("The request could not be read", "Go back and try again."),
    401: ("You are signed out", "Sign in again."),
    403: (
        "Not allowed",
        "Sign in with a key that may do this, or ask the administrator.",
    ),
    404: (
        "Not found",
        "It may have been removed meanwhile, or the address may be mistyped.",
    ),
    405: ("That does not work here", "Go back and use the buttons of the page."),
    408: ("It took too long to arrive", "Send it again. The connection may be slow."),
    409: ("It conflicts with what is stored", "Load the page again to see what has changed."),
    413: ("Too large", "Send less at a time, or compress it with gzip."),
    415: ("Wrong kind of file", "Choose a process file: JSON or JSON Lines, gzipped or not."),
    421: ("Not from this machine", "Use the address of this machine, or create a key first."),
    422: ("Something is wrong with the input", "Go back, correct it and send it again."),
    429: ("Too many requests", "Wait a moment, then load the page again."),
    500: ("Internal error", "Nothing was left half-done. Tell the administrator."),
    503: ("Not available now", "Nothing is lost. Wait a moment and try again."),
    504: ("It took too long", "Ask for less at once, or try again later."),
    507: ("No space left", "Tell the administrator."),
}
_HEADINGS: Mapping[str, str] = {
    "engine-unavailable": "The graph does not answer now",
    "store-full": "The store is full",
    "read-only": "The graph is read-only now",
    "process-in-use": "Its claims are being verified",
}
_FORM_TODO = "Load the page again and send the form from there. You need not sign in again."
_ELSEWHERE_TODO = (
    "Open the page here, at the address of the service, and send the form from there. If you did "
    "not send anything, another site tried to. Nothing was changed."
)
_OTHER_403 = {
    "form-expired": ("The form is too old", _FORM_TODO),
    "cross-origin": ("It came from another site", _ELSEWHERE_TODO),
}
"""What is refused though the key may do it, by the kind of the problem: no other key helps."""


def words_of(problem: Mapping[str, Any]) -> FaultWords:
    """Return what is said of a problem."""
    status = int(problem["status"])
    heading, todo = _SAID.get(status, (str(problem["title"]), "Go back and try again."))
    kind = str(problem["type"]).removeprefix(PREFIX)
    detail = str(problem["detail"])
    if detail == STARTING:
        return FaultWords("Starting, a few seconds", detail, "Nothing is wrong.", "lost")
    heading, todo = _OTHER_403.get(kind, (heading, todo))
    return FaultWords(
        _HEADINGS.get(kind, heading),
        detail,
        todo,
        "lost" if status in (404, 503) else "failed",
    )


_FIELDS: Mapping[str, str] = {
    "answer": "Answer",
    "batch_finish": "Finish batches live",
    "batch_price_factor": "Price in a batch",
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
    "question": "Question",
    "reason": "Reason",
    "review": "Reviews",
    "sources": "Sources",
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


_FORM = "application/x-www-form-urlencoded"
_TYPED = {
    "answer": "Answer",
    "question": "Question",
    "sources": "Sources",
    "verdict": "Verdict",
    "reason": "Reason",
    "texts": "Claims",
    "name": "Name",
    "node_id": "Node",
}
"""The fields that people fill in by hand; never a key, and nothing that a page has put there."""
_MOST_FIELDS = 60


@dataclass(frozen=True, slots=True)
class Typed:
    """The input of a form that a fault page gives back.

    Attributes:
        fields: What was typed, by the word for its field.
        claim: The page of the claim that it is about; None: it is about none.
        page: The page that it was sent from.
    """

    fields: tuple[tuple[str, str], ...]
    claim: str | None
    page: str


class Form:
    """A form on its way in, of which is kept what passes by.

    Args:
        scope: The request.
        receive: Gives its body.
    """

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._headers = Headers(scope=scope)
        self._path: str = scope["path"]
        self._receive = receive
        self._body = bytearray()
        kind = self._headers.get("content-type", "").partition(";")[0].strip().lower()
        # A page from elsewhere shall not have its words shown on ours.
        self._is_kept = (
            scope["method"] == "POST" and kind == _FORM and not crosses(self._headers, frozenset())
        )

    async def receive(self) -> Message:
        """The next piece of the body."""
        message = await self._receive()
        if self._is_kept:
            self._body += message.get("body", b"")[: MAX_BODY - len(self._body)]
        return message

    @property
    def page(self) -> str:
        """The page that it was sent from, as the browser says; it has to be one of ours."""
        referer = self._headers.get("referer", "")
        host = netloc(referer)
        if not host or host != self._headers.get("host"):
            return "/"
        sent_from = urlsplit(referer)
        query = f"?{sent_from.query}" if sent_from.query else ""
        return inside(sent_from.path + query)

    @property
    def typed(self) -> Typed | None:
        """Return what was typed into it; None: nothing."""
        try:
            found = parse_qs(
                bytes(self._body).decode("utf-8", "replace"), max_num_fields=_MOST_FIELDS
            )
        except ValueError:
            return None
        fields = tuple(
            (words, found[name][0]) for name, words in _TYPED.items() if found.get(name, [""])[0]
        )
        if not any(name in found for name in ("reason", "texts", "name")):
            return None
        return Typed(fields, self._claim(found.get("claim_id", [""])[0]), self.page)

    def _claim(self, claim_id: str) -> str | None:
        parts = self._path.split("/")
        if not claim_id or len(parts) != 4 or parts[1] != "processes":
            return None
        return url("processes", parts[2], "claims", claim_id)


POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "private, no-store",
    "referrer-policy": "same-origin",
    "permissions-policy": ("camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    "cross-origin-opener-policy": "same-origin",
}
"""Headers of every page that does not say something else itself.

The Referer goes to our own pages alone: a form that is refused says where it was.
"""

_OTHERS = ("/v1/", "/docs/", "/static/")
_OTHER = frozenset({"/v1", "/docs", "/healthz", "/readyz", "/metrics", "/openapi.json", "/mcp"})
_KEPT = ("retry-after", "connection", "allow")
"""What of a problem's headers its page has too."""

_LONGEST_PROBLEM = 1_000_000


def is_page(path: str) -> bool:
    """Return whether a page is asked for, and not something that programs read."""
    return path not in _OTHER and not path.startswith(_OTHERS)


class Faults:
    """Turns problems into pages, and gives pages their headers.

    Args:
        app: What answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or not is_page(scope["path"]):
            await self._app(scope, receive, send)
            return
        form = Form(scope, receive)
        answer = _Answer(scope, form, send)
        try:
            await self._app(scope, form.receive, answer.send)
        except ClientDisconnect:
            raise
        except Exception:
            # The caller writes it down; nothing more is sent where something was.
            if not answer.is_begun:
                await problem(500, "fault", OWN_FAULT)(scope, receive, answer.send)
            raise


class _Answer:
    """One answer on its way out; a problem is kept until it is whole."""

    def __init__(self, scope: Scope, form: Form, send: Send) -> None:
        self._scope = scope
        self._form = form
        self._send = send
        self._start: Message | None = None
        self.is_begun = False
        self._body = bytearray()

    async def send(self, message: Message) -> None:
        self.is_begun = True
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if headers.get("content-type", "").startswith(MEDIA_TYPE):
                self._start = message
                return
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        if self._start is None:
            await self._send(message)
            return
        self._body += message.get("body", b"")[: _LONGEST_PROBLEM - len(self._body)]
        if not message.get("more_body", False):
            page = _page(Request(self._scope), self._start, self._body, self._form)
            await page(self._scope, self._form.receive, self._send)


def _page(request: Request, start: Message, body: bytes | bytearray, form: Form) -> Response:
    """A problem as a page; who has to show a key first is sent to where that is done."""
    headers = Headers(scope=start)
    kept = {name: headers[name] for name in _KEPT if name in headers}
    found: dict[str, Any] = json.loads(bytes(body))
    words: FaultWords = words_of(found)
    sign_in = _sign_in(request, form) if start["status"] == 401 else None
    if start["status"] in (401, 403) and (typed := form.typed) is not None:
        known = {"fault": words, "typed": typed, "sign_in": sign_in}
        return render(request, "typed_kept.html", start["status"], {**HEADERS, **kept}, **known)
    if sign_in is not None:
        return RedirectResponse(sign_in, 303, {**HEADERS, **kept})
    return render(
        request,
        "fault.html",
        start["status"],
        {**HEADERS, **kept},
        fault=words,
        violations=faults_of(found),
        retry_after=headers.get("retry-after"),
        is_repeatable=request.method in ("GET", "HEAD"),
    )


def _sign_in(request: Request, form: Form) -> str:
    """Say where a key is shown; one comes back to where one was, but a form is not sent again."""
    here = sent(request.scope) if request.method in ("GET", "HEAD") else form.page
    return url("sign-in", next=None if here == "/" else here)
