"""HEAD of everything that can be got: the answer to GET without its body.

Source: RFC 9110, section 9.3.2.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Head:
    """Asks what is below for the answer to GET, and sends its status and headers alone.

    It stands outside of compression, so that the length told is that of the body as GET sends it.

    Args:
        app: What answers GET.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def only_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                # The answer is whole: a stream finds that nobody listens any more, and ends.
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        asked = {**scope, "method": "GET"}
        try:
            await self._app(asked, receive, only_headers)
        finally:
            if "route" in asked:  # for the log and the figures, which say HEAD
                scope["route"] = asked["route"]
