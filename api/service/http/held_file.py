"""Answers that are a file: made whole before the first byte is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import IO

from fastapi.responses import StreamingResponse

_PIECE = 1 << 18


class HeldFile(StreamingResponse):
    """A file to download, which is closed when it was sent, or when the answer is dropped.

    Args:
        file: An open file, at its beginning.
        size: Its bytes.
        name: What it is called.
        media_type: What it is.
        headers: More headers.
    """

    def __init__(
        self,
        file: IO[bytes],
        size: int,
        name: str,
        media_type: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._file = file
        about = {
            "Content-Disposition": f'attachment; filename="{name}"',
            "Content-Length": str(size),
            "Cache-Control": "private, no-store",
            **(headers or {}),
        }
        super().__init__(self._pieces(), media_type=media_type, headers=about)

    def close(self) -> None:
        """Let go of a file that is not sent."""
        self._file.close()

    async def _pieces(self) -> AsyncIterator[bytes]:
        with self._file:
            while piece := await asyncio.to_thread(self._file.read, _PIECE):
                yield piece
