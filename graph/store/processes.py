"""Processes: opening, filling, showing, listing, replacing and removing them.

A process is `loading` until its last batch; whoever reads sees `ready` processes only.
What replaces a stored process is loaded beside it under a staged id and takes its place
when it is whole: from then on every interrupted step is taken up again, so that either
the old or the new content is there, and never half of one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import BeingWritten, NotFound
from veritrail_graph.graph.model import Claim, Process
from veritrail_graph.graph.model.listed import ProcessSummary
from veritrail_graph.graph.store.claims import ClaimStore
from veritrail_graph.graph.store.database import Database, Transaction
from veritrail_graph.graph.store.process_rows import process_from, process_row, readable
from veritrail_graph.graph.store.process_state import (
    DELETING,
    LOADING,
    REPLACING,
    StoredState,
    held,
    hold,
    marked,
    taken_from_us,
)
from veritrail_graph.graph.store.writers import this_writer

if TYPE_CHECKING:
    from veritrail_graph.graph.ingest.check import Survey

DELETE_BATCH = 5_000
TRAIL_BATCH = 100  # iterations; each may have checked thousands of spans
BEAT_SECONDS = 5.0
"""Seconds between two signs of life of whoever writes."""

_STAGED = "~"  # no process_id of a user can hold it


class ProcessStore:
    """Processes of one graph.

    Attributes:
        claim_store: Their claims.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.claim_store = ClaimStore(database)

    async def get(self, process_id: str) -> Process:
        """A process that is ready.

        Raises:
            NotFound: There is none; the message says whether one is being written.
        """
        rows = await self._database.read("process/get", process_id=process_id)
        if rows:
            properties, claims = rows[0]
            return process_from(properties, claims)
        state = await self.state(process_id)
        if state is None:
            raise NotFound(
                f"No process {process_id!r} is stored.",
                code="process_unknown",
                process_id=process_id,
            )
        raise NotFound(
            f"Process {process_id!r} is not ready: it is {state.status}.",
            code="process_not_ready",
            process_id=process_id,
            status=state.status,
        )

    async def page(self, after: str = "", limit: int = 100) -> list[ProcessSummary]:
        """Processes that can be read, by their ids behind `after`; fewer than `limit`: the last."""
        found: list[Mapping[str, Any]] = []
        while wanted := limit - len(found):
            rows = await self._database.read("process/page", after=after, limit=wanted)
            found += readable(properties for (properties,) in rows)
            if len(rows) < wanted:
                break
            after = rows[-1][0]["process_id"]
        counts = await self._verdicts([properties["process_id"] for properties in found])
        return [
            ProcessSummary(
                process_from(properties, sum(counts[properties["process_id"]].values())),
                {
                    verdict: number
                    for verdict, number in counts[properties["process_id"]].items()
                    if verdict
                },
            )
            for properties in found
        ]

    async def _verdicts(self, process_ids: list[str]) -> dict[str, dict[str, int]]:
        counts: dict[str, dict[str, int]] = {process_id: {} for process_id in process_ids}
        if process_ids:
            rows = await self._database.read("process/verdicts", process_ids=process_ids)
            for process_id, verdict, claims in rows:
                counts[process_id][verdict or ""] = claims
        return counts

    async def state(self, process_id: str) -> StoredState | None:
        """What is stored under an id, finished or not."""
        rows = await self._database.read("process/state", process_id=process_id)
        for status, content_hash, owner, beat, replaces, plan in rows:
            return StoredState(process_id, status, owner, beat, replaces, content_hash, plan)
        return None

    @staticmethod
    def staged_id(process_id: str) -> str:
        """The id under which a process is loaded that is to replace a stored one."""
        return f"{process_id}{_STAGED}new"

    async def unfinished(self) -> list[StoredState]:
        """Everything that is being loaded, replaced or deleted, or was left so."""
        rows = await self._database.read("process/unfinished")
        return [StoredState(*row) for row in rows]

    async def count_verifications(self, process_id: str) -> int:
        """How many verifications a process has."""
        rows = await self._database.read("process/count_verifications", process_id=process_id)
        return int(rows[0][0])

    async def begin(
        self, survey: Survey, *, replaces: str | None = None, plan: str | None = None
    ) -> str:
        """Open a process for loading and give the id to load it under.

        Args:
            survey: The checked input.
            replaces: The stored process that it is to replace.
            plan: Tells in what batches it is loaded; without one, nobody can go on with it.

        Raises:
            ProcessConflict: Somebody else opened it at the same time.
        """
        process_id = survey.process_id
        stored_id = process_id if replaces is None else self.staged_id(process_id)
        properties = {
            **process_row(survey),
            "process_id": stored_id,
            "status": LOADING,
            "owner": this_writer(),
            "beat": now(),
            "created_at": now(),
            "plan": plan,
        }
        if replaces is not None:
            properties["replaces"] = replaces
        await self._database.write("process/begin", properties=properties)
        return stored_id

    async def take_over(self, state: StoredState) -> None:
        """Become the one who writes what a dead writer left.

        Raises:
            BeingWritten: Somebody else took it over at the same time.
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
        """Leave a sign of life, unless somebody else has taken the process over."""
        await self._database.write("process/beat", **held(stored_id))

    async def release(self, stored_id: str) -> None:
        """Let go of a process that we were loading: the next ingest goes on with it."""
        await self._database.write("process/release", process_id=stored_id, owner=this_writer())

    async def mark(self, process_id: str, status: str, *, owner: str | None = None) -> None:
        """Give a process another status, which hides it unless it is ready."""
        await self._database.write("process/mark", **marked(process_id, status, owner))

    async def finish(self, stored_id: str, content_hash: str) -> None:
        """Make a loaded process visible.

        Raises:
            ProcessConflict: It was removed or taken over by somebody else.
        """
        rows = await self._database.write(
            "process/finish", process_id=stored_id, owner=this_writer(), content_hash=content_hash
        )
        if not rows:
            raise taken_from_us(stored_id)

    async def promote(self, staged_id: str, process_id: str) -> None:
        """Let a staged process take the place of the one that it replaces.

        Both are hidden in one transaction, the old one is removed, the new one renamed.
        Interrupted anywhere, the same call takes it up again.

        Raises:
            ProcessConflict: It was removed or taken over by somebody else.
        """

        def hide(tx: Transaction) -> None:
            hold(tx, staged_id)
            tx.run("process/mark", **marked(process_id, DELETING))
            tx.run("process/mark", **marked(staged_id, REPLACING))

        staged = await self.state(staged_id)
        if await self.state(process_id) is not None:  # else an earlier attempt removed it
            await self._database.write_with(hide, repeatable=True)
            await self._purge(process_id, staged_id)
        ids: dict[str, Any] = {"staged_id": staged_id, "process_id": process_id}
        for name in ("process/rename_spans", "process/rename_claims"):
            await self._in_batches(name, [staged_id], **ids)
        if await self._database.write("process/rename", owner=this_writer(), **ids):
            return
        # The first answer was lost, or somebody else has done it.
        state = await self.state(process_id)
        if state is None or staged is None or state.content_hash != staged.content_hash:
            raise taken_from_us(process_id)

    async def delete(self, process_id: str) -> None:
        """Hide a process and remove it in batches with everything that belongs to it."""
        await self.mark(process_id, DELETING)
        await self._purge(process_id)

    async def delete_own(self, process_id: str) -> None:
        """Remove a process that we were loading.

        Raises:
            ProcessConflict: Somebody else has taken it over.
        """

        def hide(tx: Transaction) -> None:
            hold(tx, process_id)
            tx.run("process/mark", **marked(process_id, DELETING))

        await self._database.write_with(hide, repeatable=True)
        await self._purge(process_id)

    async def settle(self, state: StoredState) -> None:
        """Take up what a dead writer left: finish a replacement, remove everything else."""
        if state.status == REPLACING and state.replaces is not None:
            await self.take_over(state)
            await self.promote(state.process_id, state.replaces)
        else:
            await self.delete(state.process_id)

    async def _purge(self, process_id: str, staged_id: str | None = None) -> None:
        whose: dict[str, Any] = {"process_id": process_id}
        beats = [process_id] if staged_id is None else [process_id, staged_id]
        # Twice: a trail that was being written when the process was hidden comes in after that.
        for _ in range(2):
            await self._in_batches("process/delete_trails", beats, TRAIL_BATCH, **whose)
            for kind in ("reviews", "verifications", "sentences", "claims", "extractions"):
                await self._in_batches(f"process/delete_{kind}", beats, **whose)
        # A span goes with its edges; one with too many of them for a transaction loses them first.
        hubs = await self._database.read("process/hubs", degree=DELETE_BATCH, **whose)
        for (node_id,) in hubs:
            await self._in_batches("process/delete_edges", beats, node_id=node_id, **whose)
        await self._in_batches("process/delete_spans", beats, **whose)
        await self._database.write("process/remove", process_id=process_id)

    async def _in_batches(
        self, name: str, beats: Sequence[str], limit: int | None = None, **parameters: Any
    ) -> None:
        """Run a statement until it finds nothing more to do, showing signs of life."""
        last_beat = time.monotonic()
        while True:
            rows = await self._database.write(name, limit=limit or DELETE_BATCH, **parameters)
            if not rows or rows[0][0] == 0:
                return
            if time.monotonic() - last_beat > BEAT_SECONDS:
                for stored_id in beats:
                    await self.beat(stored_id)
                last_beat = time.monotonic()

    async def add_claims(self, process_id: str, claims: Sequence[Claim]) -> int:
        """Store claims that are not there yet; see `ClaimStore.add`."""
        return await self.claim_store.add(process_id, claims)

    async def claims_by_id(self, process_id: str, claims: Sequence[Claim | str]) -> list[Claim]:
        """Stored claims among these; see `ClaimStore.by_id`."""
        return await self.claim_store.by_id(process_id, claims)

    async def claims(self, process_id: str) -> list[Claim]:
        """All claims of a process; see `ClaimStore.all`."""
        return await self.claim_store.all(process_id)
