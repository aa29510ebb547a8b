"""Addresses of tools such as `langfuse://PROJECT?since=1d`, as every door takes them.

Source: docs/adr/0071-addresses.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from veritrail_graph.api.app.answers import Ingested, format_name
from veritrail_graph.api.app.ingesting import IngestOptions, no_progress
from veritrail_graph.api.settings.values import duration
from veritrail_graph.graph.errors import (
    EngineError,
    InputError,
    ProcessConflict,
    VeriTrailError,
)
from veritrail_graph.graph.importers.addresses.address import read_address
from veritrail_graph.graph.importers.addresses.fetching import ToolTraces

if TYPE_CHECKING:
    from veritrail_graph.api.app.application import Application
    from veritrail_graph.api.app.part import Progress
    from veritrail_graph.graph.importers.addresses.connection import ToolConnection
    from veritrail_graph.graph.importers.addresses.tool import Tool


def traces_at(given: str, folder: Path, since: str | None = None) -> ToolTraces:
    """Return the traces of an address; nothing is fetched yet.

    Args:
        given: The address.
        folder: Where its traces are put until they are stored.
        since: The age of the oldest traces, where the address says none.

    Raises:
        InputError: It is none.
    """
    return ToolTraces(read_address(given, duration, since), folder)


async def ingest_traces(
    app: Application,
    traces: ToolTraces,
    options: IngestOptions,
    *,
    progress: Progress = no_progress,
    most: int | None = None,
) -> AsyncGenerator[tuple[str, Ingested | VeriTrailError]]:
    """Store each trace of an address that is new before the next is fetched.

    Args:
        app: The application.
        traces: The traces.
        options: How they are stored; to replace, what is stored is fetched again.
        progress: Called as it goes on.
        most: The most traces; None: as many as one run takes.

    Yields:
        Where each is, and what became of it or why it was not stored.

    Raises:
        InputError: The tool cannot be read; what was yielded is stored.
        EngineError: The engine failed.
    """
    if options.process_id is not None:
        raise InputError(f"{traces}: its traces have ids of their own; leave out the process_id.")

    if options.importing is not None:  # columns are of the tables beside the address
        options = replace(options, importing=replace(options.importing, columns=None))

    async def stored(trace_ids: Sequence[str]) -> set[str]:
        if options.replace:
            return set()
        places = await _fetched_from(app, trace_ids)
        return {name for name in trace_ids if traces.place in places.get(name, ())}

    async with aclosing(traces.parts(stored, most)) as parts:
        async for trace_id, path in parts:
            where = f"{traces}#{trace_id}"
            if path is None:
                yield where, await _known_trace(app, traces, trace_id)
                continue
            is_empty = True
            try:
                each = app.processes.ingest_each([path], options, progress=progress)
                async for _, became in each:
                    is_empty = False
                    if isinstance(became, VeriTrailError):
                        became = await _clash(app, traces, became.at_place(path, where))
                    elif traces.place is not None and became.status != "appended":
                        await (await app.graph.store()).database.write(
                            "process/note_fetched_from",
                            process_id=became.process_id,
                            place=traces.place,
                        )
                    yield where, became
                if is_empty:
                    raise InputError(f"{where}: there is no process in it")
            except EngineError:
                raise
            except InputError as error:
                yield where, error.at_place(path, where)
            finally:
                await asyncio.to_thread(path.unlink)


async def _clash(app: Application, traces: ToolTraces, error: VeriTrailError) -> VeriTrailError:
    """Return why a trace was not stored; of one whose id another has, whose trace that is."""
    if error.code != "other_content" or not isinstance(error, ProcessConflict):
        return error
    name = str(error.facts.get("process_id"))
    places = (await _fetched_from(app, [name])).get(name, ())
    came = f"from {', '.join(places)}" if places else "from no address that is known"
    return ProcessConflict(
        f"{traces}#{name}: another content is stored under this id, {came}: it is the trace of "
        "another project or tool, or an earlier state of this one. Nothing was checked and "
        "nothing written back.",
        code="trace_id_taken",
        process_id=name,
        address=f"{traces}?id={quote(name, safe='')}",
    )


async def _fetched_from(app: Application, process_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return the places of tools that hold the content of stored processes, by process_id."""
    store = await app.graph.store()
    rows = await store.database.read("process/fetched_from", process_ids=list(process_ids))
    return {process_id: list(places) for process_id, places in rows}


async def _known_trace(
    app: Application, traces: ToolTraces, trace_id: str
) -> Ingested | VeriTrailError:
    found = await known(app, trace_id)
    if found.format == traces.address.format:
        return found
    words = "a process that is no trace of this tool is stored under its id"
    return InputError(f"{traces}#{trace_id}: {words}.")


async def write_back(app: Application, traces: ToolTraces, process_id: str) -> int:
    """Write the verdicts of a process to the trace that it was made from; give how many things.

    Raises:
        InputError: The tool refuses them.
    """
    from veritrail_graph.graph.exporters.verdicts import write_verdicts
    from veritrail_graph.graph.store.export import StoredProcess

    store = await app.graph.store()
    connection, tool, form = _open_writable(traces)
    async with connection:
        document = BytesIO()
        stored = await StoredProcess.open(store.database, process_id)
        await write_verdicts(form, store, stored, document.write)
        return await tool.write_back(document.getvalue())


def expect_writable(traces: ToolTraces) -> None:
    """See that verdicts can be written to a tool, before anything is checked.

    Raises:
        InputError: It takes none, or the environment holds no key of it.
    """
    _open_writable(traces)


def _open_writable(traces: ToolTraces) -> tuple[ToolConnection, Tool, str]:
    """Return a connection to the tool of some traces, the tool, and how it takes verdicts.

    Raises:
        InputError: It takes none, or the environment holds no key of it.
    """
    from veritrail_graph.graph.importers.addresses.tool import open_tool

    connection, tool = open_tool(traces.address, traces.environ, traces.bounds)
    if tool.form is None:
        raise InputError(f"{traces}: verdicts are not written back to this tool.")
    return connection, tool, tool.form


async def known(app: Application, process_id: str) -> Ingested:
    """Return what is known of a process that is stored already, as if it had just been read.

    Raises:
        NotFound: There is none.
    """
    process = await app.processes.get(process_id)
    return Ingested.model_construct(
        process_id=process_id,
        name=process.name or process_id,
        status="unchanged",
        nodes=process.nodes,
        edges=process.edges,
        claims=process.claims,
        format=format_name(process.source_format),
    )
