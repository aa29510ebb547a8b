"""Processes: list, get, ingest, export, copy, delete.

Source: VeriTrail 2 (the conceptual framework).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.app.answers import Ingested, Stage, Stages
from veritrail_graph.api.app.ingesting import IngestOptions, no_progress
from veritrail_graph.api.app.known_tables import remember, with_known_tables
from veritrail_graph.api.app.part import Part, ProcessInUse, Progress, forget_in_plugin_parts
from veritrail_graph.api.app.reading_ahead import (
    MOST_AHEAD,
    CheckedInput,
    ReadingAhead,
    store_together,
)
from veritrail_graph.graph.errors import (
    BeingWritten,
    EngineError,
    EngineUnavailable,
    InputError,
    NotFound,
    ProcessConflict,
    VeriTrailError,
)
from veritrail_graph.graph.importers.records import CopiedInput, ProcessInput
from veritrail_graph.graph.model.listed import Removed

if TYPE_CHECKING:
    from veritrail_graph.api.app.answers import Exported
    from veritrail_graph.api.app.application import Application
    from veritrail_graph.api.app.version_diff import VersionDifference
    from veritrail_graph.api.auth.access import Caller
    from veritrail_graph.graph.adjacency import Adjacency
    from veritrail_graph.graph.copying import Copied
    from veritrail_graph.graph.importers.registry import Found, ImportOptions
    from veritrail_graph.graph.ingest import CleanedUp, IngestReport
    from veritrail_graph.graph.ingest.check import Survey
    from veritrail_graph.graph.model import Process
    from veritrail_graph.graph.model.listed import OutcomeSummary, UnreadyProcess
    from veritrail_graph.graph.model.processes import ProcessOverview, ProcessSummary
    from veritrail_graph.graph.store import DatabaseAddress, Store


_log = logging.getLogger("veritrail.jobs")

_PAUSE, _LONGEST_PAUSE = 0.1, 2.0
MOST_ORDERED = 100_000
"""Processes that are put into the order of their times."""
MOST_STEPS = 1_000
"""Nodes that a process has at most for its stages to be called as the agents and tools in them."""
MOST_FAILED = 1_000
"""Processes of one call that cannot be read, one after the other, before reading ends."""


class Processes(Part):
    """The stored processes."""

    async def page(self, after: str = "", limit: int = 100) -> list[ProcessSummary]:
        """Processes behind an id, in the order of their ids, with their claims by verdict."""
        return await (await self._store()).processes.page(after, limit)

    async def all(self) -> list[ProcessSummary]:
        """All processes in the order of their ids."""
        found: list[ProcessSummary] = []
        while page := await self.page(found[-1].process_id if found else ""):
            found += page
        return found

    async def newest(self) -> list[ProcessSummary]:
        """All processes, the one that was stored last first."""
        names = await (await self._store()).processes.names(limit=MOST_ORDERED)
        stored_at = {one.process_id: one.created_at for one in names}
        return sorted(
            await self.all(), key=lambda one: stored_at.get(one.process_id, ""), reverse=True
        )

    async def get(self, process_id: str) -> Process:
        """Return a process; a stage that has no name is called as the one step that produced it.

        Raises:
            NotFound: There is none, or it is not whole yet.
        """
        store = await self._store()
        process = await store.processes.get(process_id)
        if process.nodes > MOST_STEPS or process.stages.keys() <= process.stage_names.keys():
            return process
        steps = await store.nodes.steps_of_stages(process_id)
        return process.replace(stage_names={**steps, **process.stage_names})

    async def adjacency(self, process_id: str) -> tuple[Process, Adjacency]:
        """A process with all its ids and edges, without any text.

        Raises:
            NotFound: There is none, or it is not whole yet.
            InputError: It was changed while it was read.
        """
        from veritrail_graph.graph.adjacency import Unfit

        store = await self._store()
        process = await store.processes.get(process_id)
        try:
            found = await store.reading.topology(process_id, process.nodes, process.edges)
        except Unfit as error:
            raise InputError(f"Process {process_id!r} was changed meanwhile: {error}.") from None
        return process, found

    async def overview(self, process_id: str) -> ProcessOverview:
        """A process with how many claims have each verdict, and how many verifications they have.

        Raises:
            NotFound: There is none.
        """
        return await (await self._store()).processes.overview(process_id)

    async def stages(self, process_id: str) -> Stages:
        """Per stage: nodes, claims with an error introduced there, sentences that are evidence.

        Raises:
            NotFound: There is no such process.
        """
        store = await self._store()
        process, found = await asyncio.gather(
            store.processes.get(process_id),
            store.queries.run("stage_summary", {"process_id": process_id}),
        )
        rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
        names = process.stage_names
        stages = [Stage.model_validate({**row, "name": names.get(row["stage"])}) for row in rows]
        return Stages(process_id=process_id, stages=stages, indicative=bool(found.indicative))

    async def ingest(
        self,
        path: Path,
        options: IngestOptions | None = None,
        *,
        progress: Progress = no_progress,
        by: Caller | None = None,
    ) -> Ingested:
        """Read a process in any supported format, check it, and store it.

        The source is read twice. What breaks rules is refused before the graph is opened.

        Args:
            path: A file or a folder.
            options: How it is stored.
            progress: Called as it goes on; what it raises in the first reading ends that.
            by: Who stores it, for the audit log and as recorder of the reviews in it.

        Raises:
            InputError: It cannot be read, or breaks rules; nothing was stored.
            ProcessConflict: Another content is stored under the id.
            BeingWritten: Another process wrote the same all the time.
            ProcessInUse: Jobs verify claims of what would be replaced.
            EngineError: The engine failed; what was stored of the process is not visible.
        """
        from veritrail_graph.graph.importers.registry import only_process

        chosen = options or IngestOptions()
        async with AsyncExitStack() as stack:
            found = await self._find([path], chosen, stack, by)
            source = await asyncio.to_thread(only_process, path, found)
            stored = await self.ingest_source(source, chosen, progress=progress, by=by)
        await remember(self._app.settings, [path], chosen.importing, by)
        return stored

    async def ingest_each(
        self,
        paths: Sequence[Path],
        options: IngestOptions | None = None,
        *,
        progress: Progress = no_progress,
        by: Caller | None = None,
        at_once: int = MOST_AHEAD,
    ) -> AsyncIterator[tuple[str, Ingested | VeriTrailError]]:
        """Store every process that paths hold; one that cannot be stored leaves the others alone.

        Small ones are stored several at once. After `MOST_FAILED` in a row that break rules no
        more are looked at.

        Args:
            paths: Files and folders.
            options: How they are stored; a process_id is refused where there are several.
            progress: Called as it goes on.
            by: Who stores them.
            at_once: The most processes that may be stored before the first of them is yielded.

        Yields:
            Where each is, and what became of it or why it was not stored.

        Raises:
            InputError: A path is in no known format, or a process_id was given for several.
            EngineError: The engine failed; what was yielded is stored.
        """
        chosen = options or IngestOptions()
        reading = ReadingAhead(chosen, self._app.settings.max_node_text, progress, by)
        async with AsyncExitStack() as stack:
            stack.callback(reading.left.set)
            found = await self._find(paths, chosen, stack, by)
            first = [one for _ in range(2) if (one := await asyncio.to_thread(next, found, None))]
            if len(first) > 1 and chosen.process_id is not None:
                raise InputError(
                    f"One process_id, {chosen.process_id!r}, cannot be that of several processes.",
                    code="one_id_for_many",
                )
            read = reading.ahead(chain(first, found), at_once=at_once)
            each = await stack.enter_async_context(aclosing(read))
            failed, is_remembered = 0, False
            async for some in each:
                new = await store_together(self._store, some)
                for where, given in some:
                    if failed >= MOST_FAILED:
                        words = f"{MOST_FAILED:,} processes in a row could not be read"
                        why = f"{words}; no more were looked at. See the first of them."
                        yield where, InputError(why)
                        return
                    became: Ingested | VeriTrailError
                    try:
                        if isinstance(given, VeriTrailError):
                            raise given
                        became = await self._stored(given, reading, new)
                        failed = 0
                        if not is_remembered:
                            is_remembered = True
                            await remember(self._app.settings, paths, chosen.importing, by)
                    except EngineError:
                        raise
                    except VeriTrailError as error:
                        became = error.with_traceback(None)  # else it holds all that is read here
                        failed += not isinstance(error, ProcessConflict)
                    yield where, became

    async def _find(
        self,
        paths: Sequence[Path],
        options: IngestOptions,
        stack: AsyncExitStack,
        by: Caller | None,
    ) -> Iterator[Found]:
        """The processes of paths, until the stack ends."""
        from veritrail_graph.graph.importers.apart import find_each
        from veritrail_graph.graph.importers.registry import address_of, folder_and_graph

        if (pair := folder_and_graph(paths)) is not None:
            folder, address = pair
            graph = await self._graph_to_read(address_of(address) or "", stack)
            importing = await self._importing(folder, options, stack, by)
            inputs = [(folder, replace(importing, graph=graph))]
        else:
            inputs = [(path, await self._importing(path, options, stack, by)) for path in paths]
        return await find_each(inputs, stack, format_name=options.format)

    async def ingest_source(
        self,
        source: ProcessInput,
        chosen: IngestOptions,
        *,
        progress: Progress = no_progress,
        by: Caller | None = None,
    ) -> Ingested:
        """Check a process that was opened, and store it; see `ingest`."""
        reading = ReadingAhead(chosen, self._app.settings.max_node_text, progress, by)
        try:
            read = await asyncio.to_thread(reading.checked, source)
            return await self._stored(read, reading, {})
        except asyncio.CancelledError:
            reading.left.set()
            raise

    async def _stored(
        self, read: CheckedInput, reading: ReadingAhead, new: Mapping[str, IngestReport]
    ) -> Ingested:
        """Store a process that was checked, unless it is among those that are stored already."""
        from veritrail_graph.graph import ingest as ingesting

        report, chosen = new.get(read.process_id), reading.options
        if report is not None and report.survey is read.survey:
            report = await ingesting.restore(await self._store(), read.source, report)
        else:
            report = await self._ingest(read, chosen, reading.watched)
        if isinstance(read.opened, CopiedInput):
            process_id = report.survey.process_id
            await ingesting.link_copies(await self._store(), process_id, read.opened)
        found = Ingested.of(report)
        await self._record_ingest(reading.by, found, force=chosen.force)
        return await self._with_claims(found) if chosen.stated else found

    async def _with_claims(self, found: Ingested) -> Ingested:
        """Return what was stored, with claims where it has none: what its final outputs state."""
        if found.claims:
            return found
        try:
            made = await self._app.claims.state(found.process_id)
        except InputError as error:
            if error.code != "nothing_stated":
                raise
            return found.model_copy(update={"not_stated": str(error)})
        return found.model_copy(update={"claims": len(made), "claims_added": len(made)})

    async def _importing(
        self, path: Path, options: IngestOptions, stack: AsyncExitStack, by: Caller | None
    ) -> ImportOptions:
        """The options of the importer of a path; with the login, where it is an address."""
        from veritrail_graph.graph.importers.registry import address_of

        importing = with_known_tables(self._app.settings, options.importing, by)
        address = address_of(path)
        if address is None:
            return importing
        return replace(importing, graph=await self._graph_to_read(address, stack))

    async def _graph_to_read(self, address: str, stack: AsyncExitStack) -> DatabaseAddress:
        """Return where the graph of an address is; the embedded engine is started when needed."""
        from veritrail_graph.api.configured.graph_connection import engine_settings, import_address
        from veritrail_graph.graph.importers.registry import EMBEDDED

        settings = self._app.settings
        if address != EMBEDDED:
            return import_address(settings, address)
        if settings.neo4j_uri is None:
            return await self._app.graph_address()
        from veritrail_graph.graph.embedded import running_engine

        return await stack.enter_async_context(running_engine(engine_settings(settings)))

    async def _ingest(
        self, read: CheckedInput, options: IngestOptions, progress: Progress
    ) -> IngestReport:
        from veritrail_graph.graph import ingest as ingesting

        source, found = read.source, read.survey
        if found is None:
            return await ingesting.append(
                await self._store(),
                source,
                process_id=options.process_id,
                max_node_text=self._app.settings.max_node_text,
                strict=options.strict,
                progress=progress,
            )
        store = await self._store()
        until, pause = time.monotonic() + options.patience, _PAUSE
        while True:
            try:
                return await self._keep(store, source, found, options, progress)
            except (BeingWritten, NotFound):  # or it was removed at that moment
                if time.monotonic() + pause > until:
                    raise
            # Most likely it is the same content, sent twice: then there is nothing left to do.
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _keep(
        self,
        store: Store,
        source: ProcessInput,
        found: Survey,
        options: IngestOptions,
        progress: Progress,
    ) -> IngestReport:
        from veritrail_graph.graph import ingest as ingesting
        from veritrail_graph.graph.copying import keep_version, with_kept
        from veritrail_graph.graph.ingest.restoring import restore
        from veritrail_graph.graph.store.states import READY

        kept_as: str | None = None
        is_forced = options.replace and options.force
        at_work = await self._at_work(found.process_id) if is_forced else []
        if options.replace and (options.keep or not options.force):
            state = await store.processes.state(found.process_id)
            if state is not None and state.status == READY and state.content_hash != found.hash:
                if not options.force:
                    await self._check_use(found.process_id)
                if options.keep:
                    kept = await keep_version(store, found.process_id, progress=progress)
                    kept_as = kept.survey.process_id
        report = await ingesting.store_process(
            store, source, found, replace=options.replace, progress=progress
        )
        if report.status == "replaced":
            await self._desert(found.process_id, "replaced", at_work)
        return await restore(store, source, await with_kept(store, report, kept_as))

    async def _record_ingest(self, by: Caller | None, found: Ingested, *, force: bool) -> None:
        added = {
            name: getattr(found, name)
            for name in ("verifications_added", "reviews_added")
            if getattr(found, name)
        }
        name, reviews = found.process_id, found.reviews_added
        await self._record(by, "process.ingest", name, status=found.status, force=force, **added)
        if reviews:
            await self._record(by, "review.add", name, reviews=reviews)

    async def diff(
        self, old: str, new: str, pairs: Sequence[tuple[str, str]] = ()
    ) -> VersionDifference:
        """Two versions of a process side by side.

        Args:
            old: The earlier version: another process, a content hash, or `last`.
            new: The process.
            pairs: claim_ids of the old version with those of the process that say the same in
                other words, as a person found.

        Raises:
            NotFound: One of them is not stored.
            InputError: The earlier version is not stored apart from the process, or a pair cannot
                be used.
        """
        from veritrail_graph.api.app.version_diff import compare_versions

        return await compare_versions(await self._store(), old, new, pairs)

    async def open_jobs(self, process_id: str) -> list[str]:
        """Ids of the jobs that verify claims of a process, oldest first."""
        return await self._app.jobs.of_process(process_id)

    async def _check_use(self, process_id: str) -> None:
        """See that no job verifies claims of a process.

        Raises:
            ProcessInUse: Some do.
        """
        jobs = await self.open_jobs(process_id)
        if jobs:
            raise ProcessInUse(process_id, jobs)

    async def _at_work(self, process_id: str) -> list[str]:
        """Ids of the jobs that end with a process which is removed by force."""
        if not self._app.has_database:
            return []
        try:
            return await self.open_jobs(process_id)
        except EngineUnavailable as error:
            _log.warning("jobs of process %r cannot be ended: %s", process_id, error)
            return []

    async def _desert(self, process_id: str, how: str, at_work: Sequence[str] = ()) -> None:
        """End the jobs of a process that was removed: those of killed commands, and some more."""
        if not self._app.has_database:
            return
        try:
            await self._app.jobs.desert(process_id, f"process {process_id!r} was {how}", at_work)
        except EngineUnavailable as error:
            _log.warning("jobs of process %r are still open: %s", process_id, error)

    async def _forget(self, process_id: str) -> None:
        """Remove what is kept of a process beside the graph, once nobody sees it any more.

        Raises:
            EngineUnavailable: A database cannot be reached.
        """
        app = self._app
        await app.traces.forget(process_id)
        await app.search.forget(process_id)
        if app.has_database:
            for part in (app.sharing.links, app.teamwork.repository):
                await part.forget(process_id)
            await forget_in_plugin_parts(app, process_id)

    async def delete(
        self, process_id: str, *, force: bool = False, by: Caller | None = None
    ) -> Removed:
        """Remove a process with its claims, verifications and reviews.

        A removal that was interrupted or failed is taken up by the next call.

        Args:
            process_id: The process; one that is damaged can be removed, too.
            force: Also while jobs verify its claims, which then fail or are cancelled.
            by: Who removes it, for the audit log.

        Raises:
            NotFound: There is none.
            ProcessInUse: Jobs verify its claims.
        """
        from veritrail_graph.graph.store.states import DELETING

        store = await self._store()
        at_work = await self._at_work(process_id) if force else []
        try:
            await store.processes.get(process_id)
        except NotFound as error:
            if error.facts.get("status") != DELETING:
                raise
        except EngineError as error:
            if error.code != "process_damaged":
                raise
        if not force:
            await self._check_use(process_id)
        verifications = await store.processes.count_verifications(process_id)
        reviews = await store.reviews.count(process_id)
        await store.processes.delete(process_id, lambda: self._forget(process_id))
        await self._desert(process_id, "deleted", at_work)
        await self._record(
            by, "process.delete", process_id, verifications=verifications, force=force
        )
        return Removed(verifications=verifications, reviews=reviews)

    async def export(
        self,
        process_id: str,
        format_name: str = "process",
        path: Path | None = None,
        *,
        force: bool = False,
        spreadsheet: bool = False,
        progress: Progress = no_progress,
    ) -> Exported:
        """Write a process with its claims and trails.

        Args:
            process_id: The process.
            format_name: One of `exporting.FORMATS`.
            path: A file, or a folder or .zip for tables; None: stdout.
            force: Whether what is there is replaced.
            spreadsheet: csv: whether spreadsheets are kept from taking texts for formulas.
            progress: Called as it goes on.

        Raises:
            InputError: There is no such format, or the path is not free.
            NotFound: There is no such process.
        """
        from veritrail_graph.api.app.exporting import check_export, export

        check_export(format_name, path, force=force, spreadsheet=spreadsheet)
        store = await self._store()

        async def written() -> Exported:
            return await export(store, process_id, format_name, path, force, spreadsheet, progress)

        if path is None:  # what was printed cannot be taken back
            return await written()
        return await store.versions.of_process(process_id, written)

    async def copy(
        self,
        process_id: str,
        target: Application,
        *,
        replace: bool = False,
        progress: Progress = no_progress,
    ) -> Copied:
        """Copy a process with its claims, trails and reviews to another graph, and compare.

        Raises:
            NotFound: There is no such process.
            ProcessConflict: The target has another content under the id.
            EngineError: An engine failed, or what arrived is not what was sent.
        """
        from veritrail_graph.graph.copying import copy_process

        source, other = await self._store(), await target.graph.store()
        return await copy_process(source, other, process_id, replace=replace, progress=progress)

    async def summaries(
        self, process_ids: Sequence[str], known: Mapping[str, OutcomeSummary] | None = None
    ) -> dict[str, OutcomeSummary]:
        """The claims of processes by result and what they cost; `known`: outcomes just read."""
        store = await self._store()

        async def outcomes() -> Mapping[str, OutcomeSummary]:
            return await store.processes.outcomes(process_ids) if known is None else known

        found, turns = await asyncio.gather(outcomes(), store.dialogues.costs(process_ids))
        return {
            name: one.with_turns(turns[name]) if name in turns else one
            for name, one in found.items()
        }

    async def unfinished(self) -> list[UnreadyProcess]:
        """Processes that are being written or removed now, or were left half-written."""
        from veritrail_graph.graph.model.listed import UnreadyProcess

        # Of a replacement that is being put in place both versions are there, the new one last.
        found = {
            one.replaces or one.process_id: one
            for one in await (await self._store()).processes.unfinished()
        }
        return [UnreadyProcess(name, one.status, one.is_abandoned) for name, one in found.items()]

    async def clean(self) -> list[CleanedUp]:
        """Remove or finish what killed commands left; returns what was done."""
        from veritrail_graph.graph.ingest import clean

        return await clean(await self._store())
