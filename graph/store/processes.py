"""Processes: opening, filling, showing, listing, replacing and removing them.

A process is `loading` until its last batch; readers see `ready` processes only. What replaces a
stored process is loaded beside it under a staged id and takes its place when it is whole: from
then on every interrupted step is taken up again, so that either the old or the new content is
there, and never half of one. A reader that finds no ready process finishes a replacement whose
writer has ended.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import BeingWritten, EngineError, NotFound, ProcessConflict
from veritrail_graph.graph.model import Process, Usage
from veritrail_graph.graph.model.listed import Named, OutcomeSummary
from veritrail_graph.graph.model.processes import ProcessOverview, ProcessSummary
from veritrail_graph.graph.store.database import Database, Row, Transaction
from veritrail_graph.graph.store.removing import purge
from veritrail_graph.graph.store.replacing import put_in_place
from veritrail_graph.graph.store.rows import first_fault, process_row
from veritrail_graph.graph.store.states import (
    DELETING,
    LOADING,
    READY,
    REPLACING,
    StoredState,
    being_written,
    held,
    hidden,
    hold,
    marked,
    taken_from_us,
)
from veritrail_graph.graph.writers import this_writer

if TYPE_CHECKING:
    from veritrail_graph.graph.ingest.check import Survey

SWITCH_SECONDS = 10.0
"""A reader waits that long for a live replacement to be put in place."""
_SWITCH_PAUSE = 0.1
_LISTINGS = 10  # of a page, until no replacement hides one of its processes

_STAGED = "~"  # no process_id of a user can hold it
_log = logging.getLogger("veritrail.store")


class ProcessStore:
    """Processes of one graph."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, process_id: str) -> Process:
        """A process that is ready.

        Raises:
            NotFound: There is none; the message says whether one is being written.
        """
        return await ready_process(self._database, process_id)

    async def overview(self, process_id: str) -> ProcessOverview:
        """A process with how many claims have each verdict, and how many verifications it has.

        Raises:
            NotFound: There is none.
        """

        def work(tx: Transaction) -> ProcessOverview | None:
            rows = tx.run("process/get", process_id=process_id)
            verdicts = tx.run("process/verdicts", process_ids=[process_id])
            ((all_of_it, asked),) = tx.run("process/count_verifications", process_id=process_id)
            if not rows:
                return None
            counts = {verdict: claims for _, verdict, claims, _ in verdicts if verdict}
            indicative = sum(count for *_, count in verdicts)
            process, seen = process_from(*rows[0]), all_of_it - asked
            overview = ProcessOverview.of(process, counts, indicative)
            return overview.replace(verifications=seen)

        found = await self._database.read_with(work)
        while found is None:
            await ready_process(self._database, process_id)
            found = await self._database.read_with(work)
        return found

    async def page(self, after: str = "", limit: int = 100) -> list[ProcessSummary]:
        """Processes that can be read, by their ids behind `after`; fewer than `limit`: the last.

        One whose replacement is being put in place would be missing: that is waited for.
        """
        found = await self._ready(after, limit)
        for _ in range(_LISTINGS):
            end = found[-1]["process_id"] if len(found) == limit else None
            if not await self._are_hidden(after, end, {one["process_id"] for one in found}):
                break
            found = await self._ready(after, limit)
        counts: dict[str, dict[str, int]] = defaultdict(dict)
        indicative_claims: dict[str, int] = defaultdict(int)
        if found:
            ids = [properties["process_id"] for properties in found]
            rows = await self._database.read("process/verdicts", process_ids=ids)
            for process_id, verdict, claims, indicative in rows:
                counts[process_id][verdict or ""] = claims
                indicative_claims[process_id] += indicative
        made = []
        for properties in found:
            verdicts = counts[properties["process_id"]]
            process = process_from(properties, sum(verdicts.values()))
            shown = {key: n for key, n in verdicts.items() if key}
            indicative = indicative_claims[process.process_id]
            made.append(ProcessSummary.of(process, shown, indicative))
        return made

    async def _ready(self, after: str, limit: int) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        while left := limit - len(found):
            rows = await self._database.read("process/page", after=after, limit=left)
            found += _readable(properties for (properties,) in rows)
            if len(rows) < left:
                break
            after = rows[-1][0]["process_id"]
        return found

    async def _are_hidden(self, after: str, end: str | None, found: Collection[str]) -> bool:
        """Return whether a list may lack hidden processes; finish their replacements."""
        hidden = [
            state.replaces
            for state in await self.unfinished()
            if state.status == REPLACING and state.replaces is not None
            if state.replaces > after and (end is None or state.replaces <= end)
        ]
        for process_id in hidden:
            await self.finish_replacement(process_id)
        if hidden:
            return True
        # One may have come back between the two looks.
        most = len(found) if end is not None else len(found) + 1
        there = await self.names(after, most) if most else []
        return any(one.process_id not in found for one in there)

    async def names(self, after: str = "", limit: int = 1_000) -> list[Named]:
        """Processes that are ready, in the order of their ids, behind the id `after`."""
        rows = await self._database.read("process/names", after=after, limit=limit)
        return [
            Named(process_id, str(name or process_id), nodes or 0, created_at or "")
            for process_id, name, nodes, created_at in rows
        ]

    async def outcomes(self, process_ids: Sequence[str]) -> dict[str, OutcomeSummary]:
        """Outcomes and cost of processes, by id; unknown ones are left out.

        Source: VeriTrail 2 (the three verdicts).
        """
        if not process_ids:
            return {}
        rows = await self._database.read("process/outcomes", process_ids=list(process_ids))
        of: dict[str, list[Row]] = defaultdict(list)
        for process_id, *rest in rows:
            of[process_id].append(tuple(rest))
        return {process_id: _outcomes(found) for process_id, found in of.items()}

    async def state(self, process_id: str) -> StoredState | None:
        """Return what is stored under an id, finished or not."""
        return (await self.states([process_id])).get(process_id)

    async def states(self, process_ids: Sequence[str]) -> dict[str, StoredState]:
        """Return what is stored under some ids, finished or not; of the others there is nothing."""
        rows = await self._database.read("process/state", process_ids=list(process_ids))
        return {row[0]: StoredState(*row) for row in rows}

    async def of_content(self, digits: str) -> list[tuple[str, str]]:
        """process_id and content hash of the processes whose content hash begins with digits."""
        rows = await self._database.read("process/of_content", digits=digits)
        return [(process_id, content_hash) for process_id, content_hash in rows]

    @staticmethod
    def staged_id(process_id: str) -> str:
        """The id under which a process is loaded that is to replace a stored one."""
        return f"{process_id}{_STAGED}new"

    async def unfinished(self) -> list[StoredState]:
        """Everything that is being loaded, replaced or deleted, or was left so."""
        rows = await self._database.read("process/unfinished")
        return [StoredState(*row) for row in rows]

    async def count_verifications(self, process_id: str) -> int:
        """Return how many verifications a process has, those of questions among them."""
        rows = await self._database.read("process/count_verifications", process_id=process_id)
        return int(rows[0][0])

    async def begin(
        self, survey: Survey, *, stored_id: str | None = None, plan: str | None = None
    ) -> None:
        """Open a process for loading.

        Args:
            survey: The checked input.
            stored_id: `staged_id` of the process, where it is to replace a stored one; None: its
                own id.
            plan: Hash of its batches; None: no other writer can go on with it.

        Raises:
            ProcessConflict: Another writer opened it at the same time.
        """
        process_id = survey.process_id
        properties = {
            **process_row(survey),
            "process_id": stored_id or process_id,
            "status": LOADING,
            "owner": this_writer(),
            "beat": now(),
            "created_at": now(),
            "plan": plan,
        }
        if stored_id not in (None, process_id):
            properties["replaces"] = process_id
        await self._database.write("process/begin", properties=properties)

    async def take_over(self, state: StoredState) -> None:
        """Become the one who writes what a dead writer left.

        Raises:
            BeingWritten: Another writer took it over at the same time.
        """
        taken = await self._database.write(
            "process/take_over",
            status=state.status,
            former=state.owner,
            former_beat=state.beat,
            **held(state.process_id),
        )
        if not taken:
            raise BeingWritten(
                f"Process {state.process_id!r} was taken up by another writer. Wait for it to end."
            )

    async def beat(self, stored_id: str) -> None:
        """Leave a sign of life, unless another writer has taken the process over."""
        await self._database.write("process/beat", **held(stored_id))

    async def release(self, stored_id: str) -> None:
        """Let go of a process that we were loading or putting in place: another goes on with it."""
        await self._database.write("process/release", process_id=stored_id, owner=this_writer())

    async def mark(self, process_id: str, status: str, *, owner: str | None = None) -> None:
        """Give a process another status, which hides it unless it is ready."""
        await self._database.write("process/mark", **marked(process_id, status, owner))

    async def finish(self, stored_id: str, content_hash: str) -> None:
        """Make a loaded process visible.

        Raises:
            ProcessConflict: It was removed or taken over by another writer.
        """
        rows = await self._database.write(
            "process/finish", process_id=stored_id, owner=this_writer(), content_hash=content_hash
        )
        if not rows:
            raise taken_from_us(stored_id)

    async def promote(self, staged_id: str, process_id: str) -> None:
        """Let a staged process take the place of the one that it replaces.

        Interrupted anywhere, the same call takes it up again, and the next reader makes it.

        Raises:
            ProcessConflict: It was removed or taken over by another writer.
        """
        staged = await self.state(staged_id)
        try:
            await put_in_place(self._database, staged_id, process_id)
        except ProcessConflict:
            await self._let_go(staged_id)
            # The answer to the last step was lost, or another writer has done it.
            state = await self.state(process_id)
            if staged is None or state is None or state.status != READY:
                raise
            if state.content_hash != staged.content_hash:
                raise
        except BaseException:
            await self._let_go(staged_id)
            raise

    async def _let_go(self, staged_id: str) -> None:
        """Release a replacement: this program may live on for days and would count as at work."""
        with suppress(EngineError):
            await self.release(staged_id)

    async def hide(self, process_id: str) -> None:
        """Hide a process that is to be removed; one that is being removed is hidden already.

        Raises:
            BeingWritten: It is being loaded or put in place.
        """
        if not await self._database.write("process/hide", **held(process_id)):
            state = await self.state(process_id)
            if state is not None:
                raise being_written(process_id)

    async def delete(
        self, process_id: str, first: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Hide a process and remove it in batches with everything that belongs to it.

        Several may remove one process together. After a fault it is let go of: another call, or
        whoever stores something under its id, goes on.

        Args:
            process_id: The process.
            first: What is done when nobody sees it any more, before anything of it is removed.

        Raises:
            BeingWritten: It is being loaded or put in place.
        """
        await self.hide(process_id)
        await self._remove_hidden(process_id, first)

    async def _remove_hidden(
        self, process_id: str, first: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        def hold_deleted(tx: Transaction) -> bool:
            return bool(tx.run("process/hold_hidden", **hidden(process_id, DELETING)))

        async def beat() -> None:
            await self.beat(process_id)

        try:
            if first is not None:
                await first()
            await purge(self._database, process_id, hold_deleted, beat)
        except BaseException:
            with suppress(EngineError):
                await self.release(process_id)
            raise

    async def delete_own(self, process_id: str) -> None:
        """Remove a process that we were loading.

        Raises:
            ProcessConflict: Another writer has taken it over.
        """

        def hide(tx: Transaction) -> None:
            hold(tx, process_id)
            tx.run("process/mark", **marked(process_id, DELETING))

        await self._database.write_with(hide, repeatable=True)
        await self._remove_hidden(process_id)

    async def settle(self, state: StoredState) -> None:
        """Take up what a dead writer left: finish a replacement, remove everything else.

        Raises:
            ProcessConflict: Another writer took it up at the same time.
        """
        if state.status == REPLACING and state.replaces is None:
            # It keeps the id for what replaces it, which is what has to be settled.
            staged = await self.state(self.staged_id(state.process_id))
            if staged is not None and not staged.is_abandoned:
                raise being_written(state.process_id)
            state = staged or state
        await self.take_over(state)
        if state.status == REPLACING and state.replaces is not None:
            await self.promote(state.process_id, state.replaces)
        else:
            await self.delete_own(state.process_id)

    async def finish_replacement(self, process_id: str) -> None:
        """Finish the replacement of a process whose writer has ended; for a live one wait a little.

        Readers of one program wait for the same attempt. It goes on when they are cancelled:
        else this program would be taken for its live writer.
        """
        under_way = self._database.finishing
        if process_id not in under_way:
            under_way[process_id] = asyncio.ensure_future(self._finish_replacement(process_id))
        task = under_way[process_id]
        try:
            await asyncio.shield(task)
        finally:
            if task.done() and under_way.get(process_id) is task:  # another may have begun
                del under_way[process_id]

    async def _finish_replacement(self, process_id: str) -> None:
        until = time.monotonic() + SWITCH_SECONDS
        while True:
            staged = await self.state(self.staged_id(process_id))
            if staged is None or staged.status != REPLACING:
                return
            if staged.is_abandoned:
                with suppress(ProcessConflict):  # another program was first
                    await self.settle(staged)
                return
            if time.monotonic() > until:
                return
            await asyncio.sleep(_SWITCH_PAUSE)


async def ready_process(database: Database, process_id: str) -> Process:
    """A process that is ready.

    Raises:
        NotFound: There is none; the message says whether one is being written.
    """
    rows = await database.read("process/get", process_id=process_id)
    if not rows:
        rows = await _read_behind_replacement(database, process_id)
    return process_from(*rows[0])


async def _read_behind_replacement(database: Database, process_id: str) -> list[Row]:
    """The row of a process that was not ready, once a replacement of it was finished.

    Raises:
        NotFound: It is not ready.
    """
    await ProcessStore(database).finish_replacement(process_id)
    rows = await database.read("process/get", process_id=process_id)
    if rows:
        return rows
    fault = await _not_ready(database, process_id)
    # A live writer may have put it in place between the two reads.
    rows = await database.read("process/get", process_id=process_id)
    if not rows:
        raise fault
    return rows


async def _not_ready(database: Database, process_id: str) -> NotFound:
    state = await ProcessStore(database).state(process_id)
    if state is None:
        return NotFound(
            f"No process {process_id!r} is stored.", code="process_unknown", process_id=process_id
        )
    return NotFound(
        f"Process {process_id!r} is not ready: it is {state.status}.",
        code="process_not_ready",
        process_id=process_id,
        status=state.status,
    )


def _outcomes(rows: Iterable[Sequence[Any]]) -> OutcomeSummary:
    outcomes: dict[str, int] = {}
    usage, changed, modelled, unmetered, verified, of_turns = Usage(), "", 0, 0, 0, 0
    indicative = 0
    for outcome, claims, cost, priced, calls, unpriced, judged, silent, changed_at, *rest in rows:
        number, turns, by_no_model = rest
        indicative += by_no_model or 0
        if claims:
            outcomes[outcome] = claims
        changed = max(changed, changed_at or "")
        known = cost if priced and not unpriced else None
        modelled, unmetered = modelled + (judged or 0), unmetered + (silent or 0)
        verified, of_turns = verified + (number or 0), of_turns + (turns or 0)
        usage += Usage(calls=calls or 0, cost_usd=known, unpriced_calls=unpriced or 0)
    latest = changed or None
    return OutcomeSummary(
        outcomes, usage, latest, modelled, unmetered, verified, of_turns, indicative
    )


def process_from(properties: Mapping[str, Any], claims: int) -> Process:
    """A process from its properties and the number of its claims.

    Raises:
        EngineError: They do not describe one: another program wrote or changed the node.
    """
    try:
        names = json.loads(properties["stage_names"])
        stages = zip(properties["stages"], properties["stage_counts"], strict=True)
        return Process.model_validate(
            {key: value for key, value in properties.items() if value is not None}
            | {
                "stages": dict(stages),
                "stage_names": {int(stage): name for stage, name in names.items()},
                "claims": claims,
            }
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = first_fault(error) if isinstance(error, ValidationError) else str(error)
        if isinstance(error, KeyError):
            reason = f"it has no `{error.args[0]}`"
        name = properties.get("process_id")
        raise EngineError(
            f"Process {name!r} is damaged: its node in the graph does not describe a process "
            f"({reason}). Another program made or changed it. Deleting the process removes it "
            "with everything that is stored under this id.",
            code="process_damaged",
            process_id=str(name),
        ) from None


def _readable(found: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those that describe a process; a warning tells of each other one."""
    whole = []
    for properties in found:
        try:
            process_from(properties, 0)
        except EngineError as error:
            _log.warning("Left out: %s", error)
        else:
            whole.append(properties)
    return whole
