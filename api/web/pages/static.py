"""Style sheets, scripts and icons."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request, Response

from veritrail_graph.api.web.assets import PREFIX, assets

router = APIRouter(include_in_schema=False)

FOR_EVER = "public, max-age=31536000, immutable"


@router.get(PREFIX + "{name}")
async def get_static(request: Request, name: str, v: str | None = None) -> Response:
    """A file; kept for ever where the address names its content, else asked for each time."""
    asset = assets().get(name)
    if asset is None:
        raise HTTPException(404)
    tag = f'"{asset.version}"'
    keep = FOR_EVER if v == asset.version else "no-cache"
    headers = {"Cache-Control": keep, "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(asset.content, media_type=asset.media_type, headers=headers)


@router.get("/favicon.ico")
async def favicon() -> Response:
    """The mark, for browsers that ask for it by its old name."""
    asset = assets()["mark.svg"]
    headers = {"Cache-Control": "public, max-age=86400"}
    return Response(asset.content, media_type=asset.media_type, headers=headers)
