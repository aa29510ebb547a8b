"""A body that arrived whole, on its way into the graph."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import Request

from veritrail_graph.api.http.receiving import UploadRefused
from veritrail_graph.api.rest.processes import in_use
from veritrail_graph.api.rest.recording import RecordedInput
from veritrail_graph.graph.errors import BeingWritten, InputError, Violation
from veritrail_graph.graph.store.process_state import READY

if TYPE_CHECKING:
    from veritrail_graph.graph.importers.records import ProcessInput
    from veritrail_graph.graph.ingest import IngestReport
    from veritrail_graph.graph.store import Store
    from veritrail_graph.graph.survey import Survey

PATIENCE_SECONDS = 60.0
"""How long others that write the same process are waited for."""

_PAUSE, _LONGEST_PAUSE = 0.1, 2.0


@dataclass(frozen=True, slots=True)
class How:
    """How a process is stored.

    Attributes:
        process_id: Takes the place of the body's own.
        replace: Whether another content under the id is replaced.
        append: Whether what is new is added to what is stored.
        force: Whether it is replaced while jobs verify its claims.
        recorder: Name of the key that sends it, which recorded the reviews in it; None: no key is
            asked for.
    """

    process_id: str | None = None
    replace: bool = False
    append: bool = False
    force: bool = False
    recorder: str | None = None


class Storing:
    """Reads a body and stores what it holds, as the command does.

    Args:
        request: The request.
        file: Its body.
        how: How it is stored.
    """

    def __init__(self, request: Request, file: Path, how: How) -> None:
        self._request = request
        self._file = file
        self._how = how
        self._most = request.app.state.settings.max_node_text
        self._left = threading.Event()

    async def run(self) -> IngestReport:
        """Store it.

        Raises:
            InputError: It breaks rules; nothing was stored, and no message names a folder of ours.
            ProcessConflict: Another content has the id.
            BeingWritten: Somebody was writing it all the time.
            UploadRefused: Jobs verify claims of what it would replace.
            EngineError: The engine failed.
        """
        try:
            return await self._run()
        except asyncio.CancelledError:
            self._left.set()  # ends the thread that reads
            raise
        except InputError as error:
            if str(self._file) not in str(error):
                raise
            # Whoever sent the body knows nothing of the file that it was kept in.
            raise InputError(self._named(str(error)), self._faults(error)) from None

    async def _run(self) -> IngestReport:
        from veritrail_graph.graph import ingest as ingesting

        # A broken body is told before the graph is needed.
        source = await asyncio.to_thread(self._open)
        if self._how.append:
            return await ingesting.append(
                await self._store(),
                source,
                process_id=self._how.process_id,
                max_node_text=self._most,
                progress=self._progress(),
            )
        found = await ingesting.read_and_check(
            source,
            process_id=self._how.process_id,
            max_node_text=self._most,
            progress=self._progress(),
        )
        store = await self._store()
        until, pause = time.monotonic() + PATIENCE_SECONDS, _PAUSE
        while True:
            try:
                return await self._stored(store, source, found)
            except BeingWritten:
                if time.monotonic() + pause > until:
                    raise
            # Most likely it is the same content, sent twice: then there is nothing left to do.
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _stored(self, store: Store, source: ProcessInput, found: Survey) -> IngestReport:
        from veritrail_graph.graph import ingest as ingesting
        from veritrail_graph.graph.restoring import restore

        if self._how.replace and not self._how.force:
            await self._check_use(store, found)
        report = await ingesting.store_process(store, source, found, replace=self._how.replace)
        return await restore(store, source, report)

    async def _check_use(self, store: Store, found: Survey) -> None:
        """Look whether jobs need what would be replaced.

        Raises:
            UploadRefused: They do.
        """
        state = await store.processes.state(found.process_id)
        if state is None or state.status != READY or state.content_hash == found.hash:
            return
        words = await in_use(self._request, found.process_id)
        if words is not None:
            raise UploadRefused(409, "process-in-use", words)

    async def _store(self) -> Store:
        store: Store = await self._request.app.state.graph.store()
        return store

    def _open(self) -> ProcessInput:
        from veritrail_graph.api.wiring import importers
        from veritrail_graph.graph.importers.registry import ImportOptions

        options = ImportOptions(max_node_text=self._most)
        source = importers().open(self._file, format_name="process", options=options)
        return RecordedInput(source, self._how.recorder)

    def _progress(self) -> Callable[[str, int, int], None]:
        def progress(_what: str, _done: int, _total: int) -> None:
            if self._left.is_set():
                raise InterruptedError

        return progress

    def _named(self, text: str) -> str:
        return text.replace(str(self._file), "The body").replace(self._file.name, "body")

    def _faults(self, error: InputError) -> list[Violation]:
        name = self._file.name
        return [
            Violation(one.kind, re.sub(rf"^{re.escape(name)}$", "body", one.where), one.message)
            for one in error.violations
        ]
