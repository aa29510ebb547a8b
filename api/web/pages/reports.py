"""Reports and dossiers to download: the same files that `veritrail report` writes.

A file is made whole before anything of it is sent, so that nobody keeps half of one.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterable
from typing import IO, Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import needs
from veritrail_graph.api.http.names import ClaimId, ProcessId
from veritrail_graph.api.reports.formats import MEDIA_TYPES, SUFFIXES, Asked, pieces
from veritrail_graph.api.reports.material import Wanted
from veritrail_graph.api.reports.stored import StoredOrigin
from veritrail_graph.api.reports.wanted import states_named
from veritrail_graph.api.reports.writing import as_bytes, file_name
from veritrail_graph.graph.errors import NotFound

router = APIRouter(prefix="/processes/{process_id}", include_in_schema=False)

_IN_MEMORY = 4_000_000
_PIECE = 256_000
_READ = [needs(Scope.READ)]

Kinds = Annotated[list[str], Query()]
Nodes = Annotated[list[str], Query()]

_FORMATS = {suffix: name for name, suffix in SUFFIXES.items()}
_DOSSIERS = ("html", "json")


@router.get("/report.{suffix}", dependencies=_READ)
async def download_report(
    request: Request,
    process_id: ProcessId,
    suffix: str,
    verdict: Kinds = [],  # noqa: B006 (FastAPI copies it)
    node: Nodes = [],  # noqa: B006
    strict: bool = False,
) -> StreamingResponse:
    """A report of a process, or of the claims that are asked for."""
    _check_suffix("report", suffix, _FORMATS)
    wanted = Wanted(node_ids=tuple(node), states=states_named(verdict))
    asked = Asked(_FORMATS[suffix], strict=strict)
    return await _file(request, process_id, wanted, asked, f"{process_id}-report.{suffix}")


@router.get("/dossier.{suffix}", dependencies=_READ)
async def download_dossier(
    request: Request, process_id: ProcessId, suffix: str
) -> StreamingResponse:
    """All there is of every claim of a process, for somebody without access."""
    _check_suffix("dossier", suffix, _DOSSIERS)
    asked = Asked(suffix, dossier=True)
    return await _file(request, process_id, Wanted(), asked, f"{process_id}-dossier.{suffix}")


@router.get("/claims/{claim_id}/dossier.{suffix}", dependencies=_READ)
async def download_claim_dossier(
    request: Request, process_id: ProcessId, claim_id: ClaimId, suffix: str
) -> StreamingResponse:
    """All there is of one claim."""
    _check_suffix("dossier", suffix, _DOSSIERS)
    asked = Asked(suffix, dossier=True)
    name = f"{process_id}-{claim_id}-dossier.{suffix}"
    return await _file(request, process_id, Wanted(claim_ids=(claim_id,)), asked, name)


def _check_suffix(what: str, suffix: str, known: Iterable[str]) -> None:
    if suffix not in known:
        names = ", ".join(f"{what}.{one}" for one in known)
        raise NotFound(f"There is no {what}.{suffix[:20]}; there are {names}.")


async def _file(
    request: Request, process_id: str, wanted: Wanted, asked: Asked, name: str
) -> StreamingResponse:
    store = await request.app.state.graph.store()
    origin = await StoredOrigin.read(store, process_id, wanted)
    file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 (closed when it was sent)
    try:
        async for piece in pieces(origin, asked):
            file.write(as_bytes(piece))
            await asyncio.sleep(0)  # others are served meanwhile
    except BaseException:
        file.close()
        raise
    size = file.tell()
    file.seek(0)
    headers = {
        "Content-Disposition": f'attachment; filename="{file_name(name)}"',
        "Content-Length": str(size),
        "Cache-Control": "private, no-store",
    }
    return StreamingResponse(_sent(file), media_type=MEDIA_TYPES[asked.format], headers=headers)


async def _sent(file: IO[bytes]) -> AsyncIterator[bytes]:
    try:
        while piece := file.read(_PIECE):
            yield piece
    finally:
        file.close()
