"""Files of the page: they are made whole before the first byte is sent."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator

from veritrail_graph.api.service.http.held_file import HeldFile
from veritrail_graph.api.show.reports.files import as_bytes
from veritrail_graph.api.show.texts import file_name

_IN_MEMORY = 4_000_000


async def download(pieces: AsyncIterator[str], name: str, media_type: str) -> HeldFile:
    """A file to download, which is held on disk where it is large.

    Args:
        pieces: Its text; what they raise is answered in place of the file.
        name: What it is called.
        media_type: What it is.
    """
    file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 (closed when it was sent)
    try:
        async for piece in pieces:
            file.write(as_bytes(piece))
            await asyncio.sleep(0)  # others are served meanwhile
    except BaseException:
        file.close()
        raise
    size = file.tell()
    file.seek(0)
    return HeldFile(file, size, file_name(name), media_type)
