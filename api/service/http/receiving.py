"""Bodies on their way to a file: bounded on the wire and unpacked, and removed when they were read.

A body is received before it takes a place among those that are stored: who sends slowly keeps
nobody else from storing. Exports have places of their own. No key has all of them.

Every server has a folder of its own under `uploads` in the home folder. Whatever ends a request
removes its file; what a killed server left is removed by the next one that starts.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gzip
import shutil
import time
import uuid
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from starlette.datastructures import Headers

from veritrail_graph.api.auth.access import Caller
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import EngineError, VeriTrailError
from veritrail_graph.graph.importers.process_file.reading import most_unpacked
from veritrail_graph.graph.private import make_private_folders, open_private, write_private
from veritrail_graph.graph.writers import is_alive, this_writer

UNPACKED = 8
"""So many times VERITRAIL_UPLOAD_MAX a body may have when it is unpacked."""

RECEIVED_AT_ONCE, RECEIVED_OF_KEY = 64, 16
"""Uploads that are received, or wait to be stored, at a time: in all, and of one key."""

AT_ONCE, OF_KEY = 4, 3
"""Uploads that are stored at a time, and exports that are written: in all, and of one key."""

WAIT_SECONDS = 60.0
"""How long they wait."""

FORGOTTEN_SECONDS = 6 * 3600.0
"""A file that was not written to for so long has no owner any more."""

_BLOCK = 1 << 20
_OWNER = "owner"


class Body(Protocol):
    """A body on its way: a request, or the file in a form."""

    @property
    def headers(self) -> Headers:
        """The headers of its request."""

    def stream(self) -> AsyncIterator[bytes]:
        """Its bytes, as they come."""


class UploadRefused(VeriTrailError):
    """A body that is not taken.

    Attributes:
        status: 400, 409, 411, 413, 415, 503 or 507.
        kind: The name of the problem.
        headers: Headers of the answer.
    """

    def __init__(
        self, status: int, kind: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.headers = headers


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """The largest sizes of a body.

    Attributes:
        wire: Bytes as they are sent.
        unpacked: Bytes when they are unpacked.
    """

    wire: int
    unpacked: int

    @classmethod
    def of(cls, settings: Settings) -> UploadLimits:
        """The limits that are set."""
        return cls(settings.upload_max, settings.upload_max * UNPACKED)


class Uploads:
    """Receives bodies into files.

    Args:
        settings: Where the home folder is, and how large a body may be.
    """

    def __init__(self, settings: Settings) -> None:
        self.limits = UploadLimits.of(settings)
        self._all = settings.home / "uploads"
        self._own = self._all / uuid.uuid4().hex
        self._receiving = Places(RECEIVED_AT_ONCE, RECEIVED_OF_KEY, "received", retry_after=30)
        self._storing = Places(AT_ONCE, OF_KEY, "stored", retry_after=30)
        self._writing = Places(AT_ONCE, OF_KEY, "written", retry_after=30)

    def sweep(self) -> int:
        """Remove what ended servers left; returns how many files."""
        gone = 0
        for folder in self._all.glob("*"):
            if folder != self._own and not _is_used(folder):
                shutil.rmtree(folder, ignore_errors=True)
                gone += 1
        return gone

    def close(self) -> None:
        """Remove everything that is ours."""
        shutil.rmtree(self._own, ignore_errors=True)

    @contextlib.asynccontextmanager
    async def received(self, body: Body, name: str, caller: Caller) -> AsyncIterator[Path]:
        """The body of a request as a file, which is removed afterwards.

        Args:
            body: The body.
            name: What the file is called; importers go by it.
            caller: Who sends it.

        Raises:
            UploadRefused: The body is too large, there is no room, or too much to do.
            ClientDisconnect: It was cut.
        """
        self._refuse_by_length(body)
        async with self._receiving.taken(caller, WAIT_SECONDS), self._folder() as folder:
            file = folder / name
            size = await self._write(body, file)
            async with self._storing.taken(caller, WAIT_SECONDS):
                await asyncio.to_thread(check_unpacked, file, size, self.limits.unpacked)
                yield file

    @contextlib.asynccontextmanager
    async def writing(self, name: str, caller: Caller) -> AsyncIterator[Path]:
        """A file that is to be written and sent, which is removed afterwards.

        On systems that allow it, a file that was opened meanwhile can be read to its end.

        Args:
            name: What the file is called.
            caller: Who asks for it.

        Raises:
            UploadRefused: There is no room, or too much to do.
        """
        async with self._writing.taken(caller, WAIT_SECONDS), self._folder() as folder:
            with has_room():
                yield folder / name

    @contextlib.asynccontextmanager
    async def _folder(self) -> AsyncIterator[Path]:
        """A folder of its own, which is removed afterwards."""
        folder = self._own / uuid.uuid4().hex
        try:
            with has_room():
                await asyncio.to_thread(self._make, folder)
            yield folder
        finally:
            # Also when the server is stopped: a thread goes on without its caller.
            await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))

    def _refuse_by_length(self, body: Body) -> None:
        said = body.headers.get("content-length", "0")
        if said.isdigit() and int(said) > self.limits.wire:
            raise self._too_large()

    def _too_large(self) -> UploadRefused:
        return UploadRefused(
            413,
            "body-too-large",
            f"The body is larger than {self.limits.wire:,} bytes. VERITRAIL_UPLOAD_MAX sets how "
            "large it may be; gzip makes it smaller.",
            {"Connection": "close"},
        )

    def _make(self, folder: Path) -> None:
        make_private_folders(self._all.parent, self._all, self._own)
        owner = self._own / _OWNER
        if not owner.exists():
            write_private(owner, this_writer())
        make_private_folders(folder)

    async def _write(self, body: Body, path: Path) -> int:
        """Write a body to a file as it comes; give its bytes."""
        size = 0
        held = bytearray()
        with has_room(), await asyncio.to_thread(open_private, path) as file:
            async for piece in body.stream():
                size += len(piece)
                if size > self.limits.wire:
                    raise self._too_large()
                held += piece
                if len(held) >= _BLOCK:
                    await asyncio.to_thread(file.write, bytes(held))
                    held.clear()
            await asyncio.to_thread(file.write, bytes(held))
        return size


@contextlib.contextmanager
def has_room() -> Iterator[None]:
    """Tell of a disk that is full, and of other faults of it, without the path.

    Raises:
        UploadRefused: There is no room left.
        EngineError: Something else is wrong with the disk.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None:  # a time-out or a lost connection, and none of the disk
            raise
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            words = "There is no room left where bodies and exports are kept for a moment."
            raise UploadRefused(507, "no-room", words) from None
        raise EngineError(f"The body could not be written: {error.strerror}") from None


def check_unpacked(path: Path, size: int, most: int) -> None:
    """Look how large a gzipped file is unpacked, without keeping anything.

    One of more than a megabyte may not grow by more than a factor. The reader of a damaged stream
    reports it.

    Raises:
        UploadRefused: It is larger than it may be.
    """
    with path.open("rb") as file:
        if file.read(2) != b"\x1f\x8b":
            return
    unpacked, most = 0, min(most, most_unpacked(size))
    try:
        with gzip.open(path) as stream:
            while block := stream.read(_BLOCK):
                unpacked += len(block)
                if unpacked > most:
                    words = (
                        f"The body has more than {most:,} bytes once it is unpacked, which is "
                        f"more than one of {size:,} may have. Send it unpacked, or in parts."
                    )
                    raise UploadRefused(413, "body-too-large", words)
    except (OSError, EOFError, zlib.error):
        return


def _is_used(folder: Path) -> bool:
    """Say whether the server that a folder belongs to is at work; of other machines: was lately."""
    try:
        # Whether a server of another machine lives cannot be seen, so that its files are left.
        if not is_alive((folder / _OWNER).read_text(encoding="utf-8"), now()):
            return False
        latest = max(one.stat().st_mtime for one in (folder, *folder.rglob("*")))
    except (OSError, ValueError):
        return False
    return time.time() - latest < FORGOTTEN_SECONDS


class Places:
    """The places for operations of one kind that run at a time: in all, and for one key.

    A caller waits for a place of its key first: however many it asks for, only a few of them stand
    before others.

    Args:
        total: Places in all.
        of_key: Places that one key may have.
        doing: What is done there, such as `stored`; for the refusal.
        retry_after: Seconds after which a sender should come again.
    """

    def __init__(self, total: int, of_key: int, doing: str, *, retry_after: int) -> None:
        self._total = asyncio.Semaphore(total)
        self._of_key = of_key
        self._doing = doing
        self._retry_after = retry_after
        self._keys: dict[str | None, asyncio.Semaphore] = {}
        self._callers: Counter[str | None] = Counter()

    @contextlib.asynccontextmanager
    async def taken(self, caller: Caller, wait: float) -> AsyncIterator[None]:
        """A place for a caller, until the block ends.

        Args:
            caller: Who wants it.
            wait: Seconds to wait for one.

        Raises:
            UploadRefused: None got free in time.
        """
        key = caller.key_id
        own = self._keys.setdefault(key, asyncio.Semaphore(self._of_key))
        self._callers[key] += 1
        try:
            async with contextlib.AsyncExitStack() as held:
                try:
                    async with asyncio.timeout(wait):
                        for places in (own, self._total):
                            await held.enter_async_context(places)
                except TimeoutError:
                    words = f"Too many bodies are being {self._doing} already. Come again."
                    headers = {"Retry-After": str(self._retry_after)}
                    raise UploadRefused(503, "busy", words, headers) from None
                yield
        finally:
            self._callers[key] -= 1
            if not self._callers[key]:  # nobody holds or waits for a place of this key
                del self._callers[key], self._keys[key]


def parse_name(content_type: str) -> str:
    """The file name of a body, by its media type: JSON Lines are recognised by their name.

    Raises:
        UploadRefused: It can hold no process file.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind.startswith(("multipart/", "image/", "audio/", "video/")):
        raise UploadRefused(415, "unsupported-media-type", _NO_FORM)
    return f"body{_ENDINGS.get(kind, '')}"


_ENDINGS = {
    "application/x-ndjson": ".jsonl",
    "application/jsonl": ".jsonl",
    "application/x-jsonlines": ".jsonl",
}
_MORE_ENDINGS = {
    **_ENDINGS,
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/vnd.apache.parquet": ".parquet",
    "application/x-protobuf": ".pb",
    "application/protobuf": ".pb",
}


def any_name(content_type: str) -> str:
    """The file name of a body in any format, by its media type; importers go by its ending.

    Raises:
        UploadRefused: It is a form, or no data.
    """
    name = parse_name(content_type)
    kind = content_type.partition(";")[0].strip().lower()
    return f"body{_MORE_ENDINGS[kind]}" if kind in _MORE_ENDINGS else name


_NO_FORM = (
    "A process file is the body itself, not a part of a form: send it as application/json, "
    "application/x-ndjson (JSON Lines) or application/gzip, such as `curl --data-binary @FILE`."
)


def check_encoding(header: str, start: bytes) -> None:
    """Check that a body is encoded as its header says.

    Raises:
        UploadRefused: It is not, or in a way that is not known here.
    """
    encoding = header.strip().lower()
    if encoding in {"", "identity"}:
        return
    if encoding not in {"gzip", "x-gzip"}:
        words = f"Content-Encoding {encoding[:40]!r} is not known here; send gzip or nothing."
        raise UploadRefused(415, "unsupported-media-type", words, {"Accept-Encoding": "gzip"})
    if start[:2] != b"\x1f\x8b":
        words = "Content-Encoding says gzip, and the body is not gzipped."
        raise UploadRefused(400, "bad-request", words)
