"""`/docs`: the description for people, by Swagger UI; nothing on it is loaded from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib import resources
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse, Response

router = APIRouter(include_in_schema=False)

ASSETS = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon.png": "image/png",
}
"""Files of `fastapi_offline`, with their media types."""

Asset = Literal["swagger-ui-bundle.js", "swagger-ui.css", "favicon.png"]

_INLINE = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


@router.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    """The page; its policy allows its own files and the one script that starts it."""
    page = get_swagger_ui_html(
        openapi_url="/openapi.json",
        title=f"{request.app.title}: REST",
        swagger_js_url="/docs/swagger-ui-bundle.js",
        swagger_css_url="/docs/swagger-ui.css",
        swagger_favicon_url="/docs/favicon.png",
        # The validator is a service elsewhere; highlighting sets styles that the policy forbids.
        swagger_ui_parameters={"validatorUrl": None, "syntaxHighlight": False},
    )
    hashes = " ".join(_hash(script) for script in _INLINE.findall(bytes(page.body)))
    page.headers["Content-Security-Policy"] = (
        f"default-src 'none'; script-src 'self' {hashes}; style-src 'self'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    return page


def _hash(script: bytes) -> str:
    digest = base64.b64encode(hashlib.sha256(script).digest()).decode("ascii")
    return f"'sha256-{digest}'"


@router.get("/docs/{name}")
def asset(name: Asset) -> Response:
    """A file that the page loads."""
    content = resources.files("fastapi_offline").joinpath("static", name).read_bytes()
    headers = {"Cache-Control": "public, max-age=3600"}
    return Response(content, media_type=ASSETS[name], headers=headers)
