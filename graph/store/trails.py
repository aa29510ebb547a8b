"""Trails: writing a verification with all that explains it, and reading it back whole.

A verification is written in one transaction; writing it again replaces what was there.

Source: VeriTrail 3.2.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.model import (
    Claim,
    Evidence,
    EvidencePath,
    Iteration,
    NodeRef,
    StepRecord,
    Verification,
)
from veritrail_graph.graph.model.listed import RunSummary, TrailOutline
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.runs import (
    ids_of_run,
    same_verifications,
    summaries,
    write_ends,
)
from veritrail_graph.graph.store.trail_records import (
    evidence_from,
    iteration_from,
    node_from,
    noun_from,
    verification_from,
)
from veritrail_graph.graph.store.trail_writing import write_all

_READ_AT_ONCE = 100


class TrailStore:
    """Verifications of one graph."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # Claims of one run touch the same spans; written at once they would only conflict and
        # wait for their retries.
        self._writing = asyncio.Lock()

    async def write(self, *verifications: Verification) -> None:
        """Write a verification with its trail, or several together, in one transaction.

        Their claims must be stored. Calling it again with the same id replaces what was written.

        Raises:
            NotFound: A claim is not stored (any more); nothing was written.
        """
        async with self._writing:
            await write_all(self._database, verifications)

    async def write_ends(self, verifications: Sequence[Verification]) -> None:
        """Write how verifications ended that were not made, all or none, without trails.

        One that has a verdict stays; one whose process or claim is not stored is left out.
        """
        async with self._writing:
            await write_ends(self._database, verifications)

    async def of_run(self, run_id: str, process_id: str | None = None) -> list[Verification]:
        """The verifications of a run without their trails, in their order.

        Args:
            run_id: The run.
            process_id: Its process, which spares a look at those of all others.
        """
        return await self.headers(await ids_of_run(self._database, run_id, process_id))

    async def runs(self, process_id: str) -> list[RunSummary]:
        """The runs of a process, newest first."""
        return await summaries(self._database, process_id)

    async def same(
        self, process_id: str, claims: Sequence[Claim], settings: str, content_hash: str
    ) -> dict[str, str]:
        """The latest verification of each claim that need not be made again, by claim_id.

        That is one that succeeded with the same settings, on the same content and for the same
        claim: text, node and sub-claims are what they are now.
        """
        return await same_verifications(self._database, process_id, claims, settings, content_hash)

    async def read(self, verification_ids: Sequence[str]) -> list[Verification]:
        """Verifications with their trails, in the order asked for; unknown ids are left out."""
        found: list[Verification] = []
        for start in range(0, len(verification_ids), _READ_AT_ONCE):
            some = await self._read_some(list(verification_ids[start : start + _READ_AT_ONCE]))
            found += [one.verification for one in some]
        return found

    async def outlines(self, verification_ids: Sequence[str]) -> list[TrailOutline]:
        """Verifications with their evidence, in the order asked for; unknown ids are left out.

        Of the nodes that an iteration checked, those without evidence are only counted.
        """
        found: list[TrailOutline] = []
        for start in range(0, len(verification_ids), _READ_AT_ONCE):
            ids = list(verification_ids[start : start + _READ_AT_ONCE])
            found += await self._read_some(ids, whole=False)
        return found

    async def headers(self, verification_ids: Sequence[str]) -> list[Verification]:
        """Verifications without their trails, but with where an error was introduced."""
        found: list[Verification] = []
        for start in range(0, len(verification_ids), _READ_AT_ONCE * 10):
            ids = list(verification_ids[start : start + _READ_AT_ONCE * 10])
            rows = await self._database.read("trail/read_verifications", verification_ids=ids)
            errors = await self._errors(ids)
            found += [verification_from(properties, errors) for (properties,) in rows]
        return found

    async def get(self, verification_id: str) -> Verification:
        """One verification with its trail.

        Raises:
            NotFound: There is none.
        """
        found = await self.read([verification_id])
        if not found:
            raise NotFound(
                f"No verification {verification_id!r} is stored.",
                code="verification_unknown",
                verification_id=verification_id,
            )
        return found[0]

    async def page(
        self, process_id: str, before: str = "", limit: int = 1_000
    ) -> tuple[list[str], str | None]:
        """Ids of a process's verifications, newest first, and the cursor of the next page."""
        rows = await self._database.read(
            "trail/page", process_id=process_id, before=before, limit=limit
        )
        cursor = rows[-1][1] if len(rows) == limit else None
        return [verification_id for verification_id, _ in rows], cursor

    async def all_ids(self, process_id: str) -> list[str]:
        """Ids of all verifications of a process, newest first."""
        ids, cursor = await self.page(process_id)
        while cursor is not None:
            more, cursor = await self.page(process_id, before=cursor)
            ids += more
        return ids

    async def _read_some(self, ids: list[str], *, whole: bool = True) -> list[TrailOutline]:
        read = partial(self._database.read, verification_ids=ids)
        verifications, rounds, evidence, paths, steps, errors = await asyncio.gather(
            read("trail/read_verifications"),
            read("trail/read_iterations" if whole else "trail/outline"),
            read("trail/read_evidence"),
            read("trail/read_paths"),
            read("trail/read_steps"),
            self._errors(ids),
        )
        evidence_of: dict[tuple[str, int], list[Evidence]] = {}
        for verification_id, number, properties, sentences in evidence:
            found = evidence_from(properties, sentences)
            evidence_of.setdefault((verification_id, number), []).append(found)
        iterations_of: dict[str, list[Iteration]] = {}
        checked_of: dict[str, dict[int, int]] = {}
        for properties, nodes in rounds:
            verification_id, number = properties["verification_id"], properties["number"]
            found_now = evidence_of.get((verification_id, number), [])
            iteration = iteration_from(properties, nodes, found_now)
            iterations_of.setdefault(verification_id, []).append(iteration)
            count = properties.get("checked_count")
            checked = len(iteration.checked) if whole or count is None else count
            checked_of.setdefault(verification_id, {})[number] = checked
        paths_of: dict[str, list[EvidencePath]] = {}
        for verification_id, source, target, number, via in paths:
            path = EvidencePath(
                source=source, target=target, iteration=number, via=tuple(via or ())
            )
            paths_of.setdefault(verification_id, []).append(path)
        steps_of: dict[str, list[StepRecord]] = {}
        for (properties,) in steps:
            steps_of.setdefault(properties["verification_id"], []).append(
                noun_from(StepRecord, properties)
            )
        return [
            TrailOutline(
                verification_from(
                    properties,
                    errors,
                    iterations_of.get(name, ()),
                    paths_of.get(name, ()),
                    steps_of.get(name, ()),
                ),
                checked_of.get(name, {}),
            )
            for (properties,) in verifications
            for name in (properties["verification_id"],)
        ]

    async def _errors(self, ids: list[str]) -> dict[tuple[str, bool], list[NodeRef]]:
        """Error localization by verification_id and by whether it was introduced there."""
        rows = await self._database.read("trail/read_errors", verification_ids=ids)
        errors: dict[tuple[str, bool], list[NodeRef]] = {}
        for verification_id, introduced, node in rows:
            errors.setdefault((verification_id, introduced), []).append(node_from(node))
        return errors
