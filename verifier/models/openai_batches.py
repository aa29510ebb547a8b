"""The files and batches of an OpenAI-compatible endpoint, through the official client.

Source: the batch interface of OpenAI (`/files`, `/batches`), as Azure, Groq, Together and others
offer it too. Names of states come in either case; some endpoints drop the metadata of a batch, so
the id of its file tells it as well.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Final, TypeVar

from veritrail_graph.verifier.models.batch_port import BatchFault, BatchReport, BatchState, Gone
from veritrail_graph.verifier.models.faults import ErrorContext, Problem, fault, short_message
from veritrail_graph.verifier.models.openai_endpoint import broken_off
from veritrail_graph.verifier.models.port import EndpointRefused, RequestRejected, TransportFault

if TYPE_CHECKING:
    import openai

T = TypeVar("T")

LINE_URL: Final = "/v1/chat/completions"
WINDOW: Final = "24h"
METADATA = "veritrail_batch"
FILE_SECONDS = 600.0
"""Of one upload, and between two parts of a download."""
LEAST_RATE = 10_000
"""Bytes a second of a download, beside these seconds."""
LOOKED_THROUGH = 10
"""Pages of a list that are looked through for one file or batch, newest first."""
PAGE = 100
MAX_LINE = 8_000_000
"""Bytes of a line of answers; a longer one counts as missing."""
_AT_ONCE = 65_536
_BLANK_LINES = re.compile(rb"\n\s*\n")
"""A packed file may hold a thousand million of them, which are looked at one by one otherwise."""


async def in_time(
    blocks: AsyncIterator[bytes], seconds: float = FILE_SECONDS
) -> AsyncIterator[bytes]:
    """Give the blocks of a file as they come, at a least rate after the first seconds.

    Raises:
        TimeoutError: They come too slowly.
    """
    left = seconds
    while True:
        begun = time.monotonic()
        try:
            async with asyncio.timeout(min(seconds, left)):
                block = await anext(blocks)
        except StopAsyncIteration:
            return
        left += len(block) / LEAST_RATE - (time.monotonic() - begun)
        yield block


def batch_line(line_id: str, body: dict[str, Any]) -> bytes:
    """One line of a file of calls."""
    line = {"custom_id": line_id, "method": "POST", "url": LINE_URL, "body": body}
    return json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


async def short_lines(blocks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Yield the lines of a file of answers but blank ones, and but those that grow too long.

    Args:
        blocks: The bytes of the file as they come.
    """
    begun, is_too_long = bytearray(), False
    async for block in blocks:
        for start in range(0, len(block), _AT_ONCE):
            await asyncio.sleep(0)  # others run meanwhile: a block need not be waited for
            some = _BLANK_LINES.sub(b"\n", block[start : start + _AT_ONCE])
            *ended, rest = some.split(b"\n")
            for end in ended:
                if not is_too_long and len(begun) + len(end) <= MAX_LINE:
                    line = (begun + end).decode("utf-8", "replace")
                    if line.strip():
                        yield line
                begun.clear()
                is_too_long = False
            is_too_long = is_too_long or len(begun) + len(rest) > MAX_LINE
            if is_too_long:
                begun.clear()
            else:
                begun += rest
    line = begun.decode("utf-8", "replace")
    if line.strip():
        yield line


class OpenAiBatches:
    """A `BatchService`; the endpoint owns the connections."""

    def __init__(
        self, client: openai.AsyncOpenAI, address: str, key: str | None, timeout: float
    ) -> None:
        self._client, self._address, self._key = client, address, key
        self._timeout = timeout

    async def upload(self, name: str, content: bytes) -> str:
        """See `BatchService`."""
        made = await self._asked(
            self._client.files.create(
                file=(_file_name(name), content, "application/jsonl"),
                purpose="batch",
                timeout=FILE_SECONDS,
            ),
            seconds=FILE_SECONDS,
        )
        return self._id(made)

    async def uploaded(self, name: str) -> str | None:
        """See `BatchService`."""
        after: str | None = None
        for _page in range(LOOKED_THROUGH):
            query = {"purpose": "batch", "limit": PAGE, **({"after": after} if after else {})}
            page = await self._listed("/files", query)
            for one in page:
                if one.get("filename") == _file_name(name) and isinstance(one.get("id"), str):
                    return str(one["id"])
            after = page[-1].get("id") if len(page) == PAGE else None
            if after is None:
                break
        return None

    async def create(self, file_id: str, name: str) -> BatchReport:
        """See `BatchService`."""
        made = await self._asked(
            self._client.batches.create(
                input_file_id=file_id,
                endpoint=LINE_URL,
                completion_window=WINDOW,
                metadata={METADATA: name},
            )
        )
        return self._report(made.model_dump())

    async def created(self, file_id: str, name: str) -> BatchReport | None:
        """See `BatchService`."""
        after: str | None = None
        for _page in range(LOOKED_THROUGH):
            query = {"limit": PAGE, **({"after": after} if after else {})}
            page = await self._listed("/batches", query)
            for one in page:
                metadata = one.get("metadata")
                named = metadata.get(METADATA) if isinstance(metadata, dict) else None
                if named == name or (file_id and one.get("input_file_id") == file_id):
                    return self._report(one)
            after = page[-1].get("id") if len(page) == PAGE else None
            if after is None:
                break
        return None

    async def look(self, batch_id: str) -> BatchReport:
        """See `BatchService`."""
        found = await self._asked(self._client.batches.retrieve(batch_id), of_one=True)
        return self._report(found.model_dump())

    async def cancel(self, batch_id: str) -> None:
        """See `BatchService`."""
        await self._asked(self._client.batches.cancel(batch_id), of_one=True)

    async def lines(self, file_id: str) -> AsyncIterator[str]:
        """See `BatchService`."""
        import httpx2
        import openai

        opened = self._client.files.with_streaming_response.content(file_id, timeout=FILE_SECONDS)
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(FILE_SECONDS):
                    response = await stack.enter_async_context(opened)
                async for line in short_lines(in_time(response.iter_bytes())):
                    yield line
        except TimeoutError:
            raise TransportFault(f"{self._address} sends a file too slowly") from None
        except openai.APIStatusError as error:
            raise self._fault(error, of_one=True) from None
        except openai.APIConnectionError as error:
            raise broken_off(error.__cause__, self._address, self._key) from None
        except httpx2.HTTPError as error:
            why = short_message(str(error) or type(error).__name__, self._key)
            raise TransportFault(f"{self._address} broke off within a file: {why}") from None

    async def delete(self, file_id: str) -> None:
        """See `BatchService`."""
        try:
            await self._asked(self._client.files.delete(file_id), of_one=True)
        except Gone:
            return

    async def _listed(self, path: str, query: dict[str, Any]) -> list[dict[str, Any]]:
        import httpx2

        response = await self._asked(
            self._client.get(path, cast_to=httpx2.Response, options={"params": query})
        )
        try:
            found = json.loads(response.content)
        except (ValueError, RecursionError):
            found = None
        data = found.get("data") if isinstance(found, dict) else found
        if not isinstance(data, list):
            raise TransportFault(f"{self._address}: the answer is no list", status=200)
        return [one for one in data if isinstance(one, dict)]

    async def _asked(
        self, call: Awaitable[T], *, of_one: bool = False, seconds: float | None = None
    ) -> T:
        """Await a call of the client; its faults become ours.

        Args:
            call: The call.
            of_one: Whether it names a file or a batch, so that 404 says that it is gone.
            seconds: How long all of it may take; None: as long as an attempt.
        """
        import openai

        seconds = seconds or self._timeout

        try:
            async with asyncio.timeout(seconds):
                return await call
        except TimeoutError:
            late = f"no answer from {self._address} within {seconds:g} s"
            raise TransportFault(late) from None
        except openai.APIStatusError as error:
            raise self._fault(error, of_one=of_one) from None
        except openai.APIConnectionError as error:
            raise broken_off(error.__cause__, self._address, self._key) from None
        except (openai.OpenAIError, ValueError) as error:
            why = short_message(str(error), self._key)
            raise TransportFault(f"{self._address}: the answer cannot be read: {why}") from None

    def _fault(self, error: openai.APIStatusError, *, of_one: bool) -> Exception:
        status = error.response.status_code
        problem = Problem.read(error.response.content) if error.response.is_closed else None
        words = short_message(problem.message, self._key) if problem else ""
        reply = f"{self._address} answered HTTP {status}" + (f" ({words})" if words else "")
        if status in (404, 410) and of_one:
            return Gone(reply)
        if status in (404, 405, 501):
            return EndpointRefused(
                f"{reply}: it takes no batches; a new run with single calls does without them",
                code="no_batches",
            )
        if status == 409:
            return RequestRejected(reply)
        known = problem or Problem(words, frozenset())
        return fault(status, known, error.response.headers, reply, ErrorContext())

    def _id(self, made: Any) -> str:
        if not isinstance(made.id, str) or not made.id:
            raise TransportFault(f"{self._address}: the answer names no file", status=200)
        return made.id

    def _report(self, found: dict[str, Any]) -> BatchReport:
        """A batch from the form that the endpoint gives it."""
        batch_id = found.get("id")
        if not isinstance(batch_id, str) or not batch_id:
            raise TransportFault(f"{self._address}: the answer names no batch", status=200)
        counts = found.get("request_counts")
        counts = counts if isinstance(counts, dict) else {}
        errors = found.get("errors")
        listed = errors.get("data") if isinstance(errors, dict) else None
        return BatchReport(
            batch_id,
            _state(found.get("status")),
            _number(counts.get("completed")),
            _number(counts.get("failed")),
            _text(found.get("output_file_id")),
            _text(found.get("error_file_id")),
            tuple(
                self._batch_fault(one)
                for one in (listed if isinstance(listed, list) else ())
                if isinstance(one, dict)
            ),
        )

    def _batch_fault(self, found: dict[str, Any]) -> BatchFault:
        line = found.get("line")
        return BatchFault(
            short_message(str(found.get("code") or ""), self._key),
            short_message(str(found.get("message") or ""), self._key),
            line if isinstance(line, int) else None,
            short_message(_text(found.get("param")) or "", self._key) or None,
        )


def _file_name(name: str) -> str:
    return f"{name}.jsonl"


def _state(status: Any) -> BatchState:
    """The state of a batch; one that is not known means that it goes on."""
    word = str(status or "").lower()
    return BatchState(word) if word in set(BatchState) else BatchState.IN_PROGRESS


def _number(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 31 else 0


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
