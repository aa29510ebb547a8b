"""Verifications that are in flight: the graph does not have them, the database of jobs does.

Lists, pages and queries show them beside what the graph has. A verification that is taken up again
is shown as it ended before, until it has ended again.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.app.part import Part
from veritrail_graph.api.jobs.model import OPEN_CLAIMS
from veritrail_graph.graph.errors import EngineUnavailable
from veritrail_graph.graph.model import Status, Verdict

if TYPE_CHECKING:
    from veritrail_graph.api.jobs.model import JobClaim
    from veritrail_graph.api.jobs.storage import JobRow
    from veritrail_graph.graph.model import Verification
    from veritrail_graph.graph.model.listed import JudgedClaim, PlacedClaim
    from veritrail_graph.graph.model.queried import QueryRows
    from veritrail_graph.graph.model.run import Run

_log = logging.getLogger("veritrail.jobs")

InFlightClaim = tuple["JobRow", "JobClaim"]

QUERIES = ("verifications", "unfinished_verifications")
"""Queries of the library to whose rows verifications in flight are added."""
MOST_ROWS = 100
"""Rows of these queries where no other number is given."""


class InFlight(Part):
    """Claims of jobs that have not ended."""

    async def claims(
        self, process_id: str | None = None, claim_ids: Collection[str] | None = None
    ) -> list[InFlightClaim]:
        """Claims in flight, the newest first, each with its job.

        Where the database of jobs does not answer, or was never made, there are none.
        """
        processes = [process_id] if process_id is not None else None
        try:
            found = await self._claims(process_ids=processes)
        except EngineUnavailable as error:
            _log.warning("what is in flight is not shown: %s", error)
            return []
        return [one for one in found if claim_ids is None or one[1].claim_id in claim_ids]

    async def by_id(self, verification_ids: Collection[str]) -> dict[str, Verification]:
        """Verifications that the graph did not have, as their jobs know them, by id.

        One that has ended since is read from the graph; one that was deleted there is left out.

        Raises:
            EngineUnavailable: The graph or the database of jobs does not answer.
        """
        if not verification_ids:
            return {}
        claims = await self._claims(verification_ids=verification_ids)
        found = await self._made([one for one in claims if one[1].status in OPEN_CLAIMS])
        names = [one.verification_id for _, one in claims if one.status not in OPEN_CLAIMS]
        if names:
            found += await (await self._store()).trails.read(names)
        return {one.verification_id: one for one in found}

    async def verifications(self, claims: Sequence[InFlightClaim]) -> list[Verification]:
        """Claims in flight as verifications; those that the graph has are left out."""
        made, missing = await asyncio.gather(self._made(claims), self._missing(claims))
        names = {one.verification_id for _, one in missing}
        return [one for one in made if one.verification_id in names]

    async def _missing(self, claims: Sequence[InFlightClaim]) -> list[InFlightClaim]:
        """Claims in flight whose verification the graph does not have."""
        if not claims:
            return []
        names = [one.verification_id for _, one in claims]
        known = {one.verification_id for one in await (await self._store()).trails.headers(names)}
        return [one for one in claims if one[1].verification_id not in known]

    async def _latest(self, process_id: str, claim_ids: Sequence[str]) -> dict[str, Status]:
        """The state of the latest verification in flight of each claim that has one."""
        found = await self._missing(await self.claims(process_id, claim_ids))
        return {one.claim_id: one.status for _, one in reversed(found)}

    async def mark(self, process_id: str, claims: Sequence[JudgedClaim]) -> list[JudgedClaim]:
        """Claims with the state of their latest verification, one in flight included."""
        found = await self._latest(process_id, [one.claim_id for one in claims])
        return [
            one.replace(status=found[one.claim_id], error=None, verifications=one.verifications + 1)
            if one.claim_id in found
            else one
            for one in claims
        ]

    async def mark_placed(
        self, process_id: str, claims: Sequence[PlacedClaim]
    ) -> list[PlacedClaim]:
        """Return the same for claims in a text."""
        found = await self._latest(process_id, [one.claim_id for one in claims])
        return [
            replace(one, status=found[one.claim_id], error=None) if one.claim_id in found else one
            for one in claims
        ]

    async def runs(self, process_id: str, stored: Sequence[Run]) -> list[Run]:
        """Runs of a process, newest first, with what is in flight of each."""
        runs = {one.run_id: one for one in stored}
        for job, claim in await self._missing(await self.claims(process_id)):
            run = runs.get(job["run_id"]) or _begun(job)
            status = claim.status.value
            runs[run.run_id] = run.replace(
                verifications=run.verifications + 1,
                counts={**run.counts, status: run.counts.get(status, 0) + 1},
                created_at=min(run.created_at, job["created_at"]),
            )
        return sorted(runs.values(), key=lambda run: (run.created_at, run.run_id), reverse=True)

    async def add_rows(
        self, name: str, parameters: Mapping[str, Any], found: QueryRows
    ) -> QueryRows:
        """The answer of a query of the library with what is in flight."""
        if name not in QUERIES:
            return found
        limit = int(parameters.get("limit") or MOST_ROWS)
        claim_id = parameters.get("claim_id")
        claims = [
            one
            for one in await self.claims(parameters.get("process_id"), claim_id and [claim_id])
            if parameters.get("status") in (None, one[1].status.value)
        ]
        rows = [
            [{**one.json_object(), "failure": one.error}.get(name) for name in found.columns]
            for one in await self.verifications(claims[:limit])
        ]
        if not rows:
            return found
        newest, both = found.columns.index("created_at"), [*rows, *found.rows]
        both.sort(key=lambda row: str(row[newest]), reverse=True)
        truncated = found.truncated or len(both) > limit
        return found.replace(rows=both[:limit], truncated=truncated)

    async def _made(self, claims: Sequence[InFlightClaim]) -> list[Verification]:
        """Claims of jobs as verifications, without those whose claim was removed meanwhile."""
        from veritrail_graph.api.jobs.unmade import unmade

        ids: dict[str, dict[str, None]] = {}
        for job, claim in claims:
            ids.setdefault(job["process_id"], {})[claim.claim_id] = None
        stored = {
            (process_id, one.claim_id): one
            for process_id, names in ids.items()
            for one in await (await self._store()).claims.by_id(process_id, [*names])
        }
        return [
            unmade(job, one, stored[job["process_id"], one.claim_id])
            for job, one in claims
            if (job["process_id"], one.claim_id) in stored
        ]

    async def _claims(self, **chosen: Any) -> list[InFlightClaim]:
        if not self._app.has_database:
            return []
        from veritrail_graph.api.jobs.storage.reading import claims_by_job
        from veritrail_graph.api.work.runs import is_held

        found: list[InFlightClaim] = []
        for job, claims in await self._app.database.read(lambda one: claims_by_job(one, **chosen)):
            # A command that was killed has nothing running; its claims wait to be resumed.
            is_left = job["is_local"] and not is_held(self._app.settings, job["run_id"])
            for claim in claims:
                waits = is_left and claim.status is Status.RUNNING
                found.append((job, replace(claim, status=Status.QUEUED) if waits else claim))
        return sorted(found, key=_order, reverse=True)


def _begun(job: JobRow) -> Run:
    """A run of which nothing is stored yet."""
    from veritrail_graph.graph.judge_mode import judge_mode_of_settings
    from veritrail_graph.graph.model.run import Run, Spending

    header, asking = json.loads(job["header"]), judge_mode_of_settings(job["settings"])
    return Run(
        run_id=job["run_id"],
        created_at=job["created_at"],
        engine=header["engine"],
        model=header["model"],
        share=asking.share,
        escalate_to=asking.second,
        q=header.get("q"),
        indicative=None,
        is_of_record=False,
        verifications=0,
        counts={},
        verdicts=dict.fromkeys((verdict.value for verdict in Verdict), 0),
        spent=Spending(),
        kept=0,
    )


def _order(one: InFlightClaim) -> tuple[str, str]:
    return one[0]["created_at"], one[1].verification_id
