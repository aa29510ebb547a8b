"""What somebody typed into a form that was refused before any page could read it.

A session that ended, or a service that was started anew, must not cost anybody their words.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope

from veritrail_graph.api.http.bodies import MAX_BODY
from veritrail_graph.api.http.guard import crosses, netloc
from veritrail_graph.api.web.links import inside, url

_FORM = "application/x-www-form-urlencoded"
_TYPED = {
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
    """What is given back of a form.

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
        """What was typed into it; None: nothing."""
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
