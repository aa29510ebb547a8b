"""Verifications: writing them with their trails, reading them back, and the runs that they form.

A verification is written in one transaction; writing it again replaces what was there. A run is
no node of its own: its verifications carry its run_id, and their place in it.

Source: VeriTrail 3.2.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.judge_mode import judge_mode_of_settings
from veritrail_graph.graph.model import (
    Claim,
    EvidencePath,
    Review,
    Status,
    Usage,
    Verdict,
    Verification,
)
from veritrail_graph.graph.model.listed import Cost, TrailOutline
from veritrail_graph.graph.model.run import Run, Spending
from veritrail_graph.graph.model.trail import MATCHED
from veritrail_graph.graph.sent_settings import possible_settings
from veritrail_graph.graph.store.database import Database, Row, Transaction
from veritrail_graph.graph.store.reviews import reviews_of
from veritrail_graph.graph.store.rows import batches
from veritrail_graph.graph.store.trail_reading import path_from, read_trails, verification_from
from veritrail_graph.graph.store.trail_writing import (
    MAX_ROWS,
    HugeTrail,
    frontier_hash,
    is_huge,
    verification_row,
    write_trails,
)

T = TypeVar("T")

_READ_AT_ONCE = 100


class EarlierOutline(NamedTuple):
    """A verification that succeeded on a content, as far as a claim is compared with it."""

    verification_id: str
    claim_id: str
    claim: str
    node_id: str
    sub_claims: list[str] | None
    is_decomposed: bool
    has_same_settings: bool

    def has_sub_claims_of(self, claim: Claim) -> bool:
        """Return whether the claim would have sub-claims: given ones, or those of a model."""
        is_same_list = claim.sub_claims == tuple(self.sub_claims or ())
        return is_same_list or (self.is_decomposed and not claim.sub_claims)


class FoundOfClaim(NamedTuple):
    """The result of a verification for a claim, without its trail."""

    claim_id: str
    claim: str
    verification_id: str
    status: str
    verdict: str | None
    error_stages: list[int]
    run_id: str | None
    engine: str
    model: str | None
    q: int
    indicative: bool
    created_at: str
    calls: int
    cost_usd: float | None
    unpriced_calls: int


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
        A huge trail takes transactions of its own; until the last one it is `running`.

        Raises:
            NotFound: A claim is not stored (any more); nothing was written.
        """
        huge = [one for one in verifications if is_huge(one)]
        usual = [one for one in verifications if not is_huge(one)] if huge else verifications
        async with self._writing:
            # What an attempt that is in doubt has stored is replaced by the next one.
            if usual:
                await self._database.write_with(lambda tx: write_trails(tx, usual), repeatable=True)
            for one in huge:
                await self._write_huge(one)

    async def _write_huge(self, verification: Verification) -> None:
        """Write a trail in several transactions; what is in doubt is not sent a second time."""
        limit = {"verification_id": verification.verification_id, "limit": MAX_ROWS}
        while (await self._database.write("trail/uncheck", **limit))[0][0]:
            pass
        trail = await asyncio.to_thread(HugeTrail.of, verification)
        await self._database.write_with(trail.begin)
        process_id = verification.process_id
        for part in trail.parts():

            def work(tx: Transaction, part: list[tuple[str, list[Any]]] = part) -> None:
                for name, rows in part:
                    tx.run(name, process_id=process_id, rows=rows)

            await self._database.write_with(work)
            for _, rows in part:
                rows.clear()  # objects of the driver that refer to each other hold it for a while
        await self._database.write_with(trail.end, repeatable=True)

    async def link_reused(self, process_id: str) -> None:
        """Link kept verdicts to the earlier ones, whichever of the two was stored first.

        Args:
            process_id: The process of the one or the other.
        """
        async with self._writing:
            await self._database.write("trail/link_reused_of_process", process_id=process_id)

    async def write_ends(self, verifications: Sequence[Verification]) -> None:
        """Write how verifications ended that were not made, all or none, without trails.

        One that has a verdict or is undecided stays; one whose process or claim is not stored is
        left out.
        """
        groups: dict[tuple[str, str | None], list[dict[str, Any]]] = {}
        for one in verifications:
            groups.setdefault((one.process_id, one.content_hash), []).append(verification_row(one))

        def work(tx: Transaction) -> None:
            for (process_id, content_hash), rows in groups.items():
                ids = {"process_id": process_id, "content_hash": content_hash}
                for batch in batches(rows):
                    tx.run("trail/write_ends", rows=batch, **ids)

        async with self._writing:
            await self._database.write_with(work, repeatable=True)

    async def of_run(self, run_id: str, process_id: str | None = None) -> list[Verification]:
        """The verifications of a run without their trails, in their order.

        Args:
            run_id: The run.
            process_id: Its process, which spares a look at those of all others.
        """
        rows = await self._database.read("trail/of_run", run_id=run_id, process_id=process_id)
        return await self.headers([verification_id for (verification_id,) in rows])

    async def of_claim(self, process_id: str, claim_id: str, limit: int) -> list[Verification]:
        """The latest verifications of a claim without their trails, newest first."""
        rows = await self._database.read(
            "trail/of_claim", process_id=process_id, claim_id=claim_id, limit=limit
        )
        return await self.headers([verification_id for (verification_id,) in rows])

    async def pin(self, process_id: str, run_id: str | None) -> None:
        """Make a run the run of record of its process; None: let no run be.

        Its verdicts then count, whatever was verified before or after it.

        Raises:
            NotFound: The process is not stored.
        """

        def work(tx: Transaction) -> bool:
            if not tx.run("trail/pin", process_id=process_id, run_id=run_id):
                return False
            ids = [claim_id for (claim_id,) in tx.run("claims/verified", process_id=process_id)]
            for batch in batches(ids):
                tx.run("claims/put_in_force", process_id=process_id, claim_ids=batch)
            return True

        async with self._writing:
            if not await self._database.write_with(work, repeatable=True):
                raise NotFound(
                    f"No process {process_id!r} is stored.",
                    code="process_unknown",
                    process_id=process_id,
                )

    async def runs(self, process_id: str) -> list[Run]:
        """The runs of a process, newest first."""
        rows_of: dict[str, list[Row]] = {}
        for run_id, *rest in await self._database.read("trail/runs", process_id=process_id):
            rows_of.setdefault(run_id, []).append(tuple(rest))
        found = [_run(run_id, rows) for run_id, rows in rows_of.items()]
        return sorted(found, key=lambda run: (run.created_at, run.run_id), reverse=True)

    async def compared(
        self, process_id: str, run_id: str | None, judge: str | None, *, asked: bool = False
    ) -> list[FoundOfClaim]:
        """Return what one run or one judge found of the claims of a process, one of each claim.

        That with the highest q, then the latest; one that came to no result counts only where no
        other did.

        Args:
            process_id: The process.
            run_id: The run; None: whatever the run.
            judge: The model, or the engine of verifications without one; None: any.
            asked: Whether questions count as claims.
        """
        rows = await self._database.read(
            "trail/compared", process_id=process_id, run_id=run_id, judge=judge, asked=asked
        )
        found: dict[str, list[FoundOfClaim]] = {}
        for row in rows:
            found.setdefault(row[0], []).append(FoundOfClaim(*row))
        return [_counting(every) for every in found.values()]

    async def same(
        self, process_id: str, claims: Sequence[Claim], settings: str, content_hash: str
    ) -> dict[str, str]:
        """The latest verification of each claim that need not be made again, by claim_id.

        That is one with a result and the same settings, on the same content and for the same
        claim: text, node and sub-claims are what they are now. A verdict that was kept from a
        claim with another text counts only in the run in which a person matched the two.
        """
        found: dict[str, str] = {}
        for some in batches(claims):
            batch = {claim.claim_id: claim for claim in some}
            rows = await self._database.read(
                "trail/same",
                process_id=process_id,
                content_hash=content_hash,
                settings=possible_settings(settings),
                claim_ids=list(batch),
                matched=MATCHED,
            )
            found |= {  # oldest first, so that the latest stays
                claim_id: verification_id
                for verification_id, claim_id, *verified in rows
                if _is_same(batch[claim_id], *verified)
            }
        return found

    async def earlier(
        self, process_id: str, content_hash: str, settings: str
    ) -> list[EarlierOutline]:
        """All that succeeded on a content, oldest first, to compare claims of another one with.

        Args:
            process_id: The process that holds them.
            content_hash: The content.
            settings: The settings that theirs are compared with.
        """
        rows = await self._database.read(
            "trail/earlier",
            process_id=process_id,
            content_hash=content_hash,
            settings=possible_settings(settings),
        )
        return [EarlierOutline(*row) for row in rows]

    async def contents(self, process_id: str) -> list[tuple[str, str]]:
        """Content hashes that have a verdict, each with when the newest was given, oldest first."""
        return [
            (one, at)
            for one, at in await self._database.read("trail/contents", process_id=process_id)
        ]

    async def moved(self, verifications: Sequence[Verification]) -> set[str]:
        """Return the verifications that read nodes whose places have changed since then.

        Those made before anything was known of this are among them.
        """
        then: dict[str, dict[int, str | None]] = {}
        for batch in batches(verifications, _READ_AT_ONCE):
            ids = [one.verification_id for one in batch]
            for name, number, kept in await self._database.read(
                "trail/frontiers", verification_ids=ids
            ):
                then.setdefault(name, {})[number] = kept
        return {
            one.verification_id
            for one in verifications
            if any(
                then.get(one.verification_id, {}).get(it.number) != frontier_hash(it)
                for it in one.iterations
            )
        }

    async def read(self, verification_ids: Sequence[str]) -> list[Verification]:
        """Verifications with their trails, in the order asked for; unknown ids are left out."""
        found: list[Verification] = []
        for ids in batches(verification_ids, _READ_AT_ONCE):
            found += (await self._database.read_with(partial(read_trails, ids=ids))).verifications
        return found

    async def headers(self, verification_ids: Sequence[str]) -> list[Verification]:
        """Verifications without their trails, but with where an error was introduced."""
        found: list[Verification] = []
        for ids in batches(verification_ids):
            rows = await self._database.read(
                "trail/read_verifications", verification_ids=ids, ends=False
            )
            found += [verification_from(properties, errors) for properties, errors, _ in rows]
        return found

    async def get(self, verification_id: str) -> Verification:
        """One verification with its trail.

        Raises:
            NotFound: There is none.
        """
        return _only(await self.read([verification_id]), verification_id)

    async def with_reviews(self, verification_id: str) -> tuple[Verification, list[Review], bool]:
        """One verification with its trail, and the reviews of its claim, newest first.

        Returns:
            Both, and whether sentences of its error nodes are attributed: only then is there more
            to read of them.

        Raises:
            NotFound: There is none.
        """

        def work(tx: Transaction) -> tuple[Verification, list[Review], bool]:
            read = read_trails(tx, [verification_id], ends=True)
            found = _only(read.verifications, verification_id)
            reviews = reviews_of(tx, found.process_id, found.claim_id)
            return found, [one.review for one in reviews], bool(read.explained)

        return await self._database.read_with(work)

    async def outlines(self, verification_ids: Sequence[str]) -> list[TrailOutline]:
        """Verifications with their evidence, in the order asked for; unknown ids are left out.

        Of the nodes that an iteration checked, those without evidence are only counted; source
        texts by themselves, where none of them has evidence.
        """
        found: list[TrailOutline] = []
        for ids in batches(verification_ids, _READ_AT_ONCE):
            read = await self._database.read_with(
                partial(read_trails, ids=ids, rounds="trail/outline")
            )
            counts: dict[str, dict[int, int]] = {}
            for row, nodes in read.rounds:
                count = row.get("checked_count", len(nodes))
                counts.setdefault(row["verification_id"], {})[row["number"]] = count
            unfound = [one.verification_id for one in read.verifications if not _has_source(one)]
            sources: dict[str, int] = {}
            if unfound:
                rows = await self._database.read("trail/sources_read", verification_ids=unfound)
                sources = dict(rows)
            found += [
                TrailOutline(
                    one,
                    counts.get(one.verification_id, {}),
                    sources.get(one.verification_id),
                )
                for one in read.verifications
            ]
        return found

    async def paths(self, verification_id: str) -> list[EvidencePath]:
        """The evidence trail of a verification, as links between nodes."""
        rows = await self._database.read("trail/read_paths", verification_ids=[verification_id])
        return [path_from(row) for row in rows]

    async def nodes_verified(self, verification_ids: Sequence[str]) -> dict[str, int]:
        """Return how many nodes verifications read; those without iterations are left out."""
        found: dict[str, int] = {}
        for ids in batches(verification_ids):
            found |= dict(await self._database.read("trail/nodes_verified", verification_ids=ids))
        return found

    async def cited(self, verification_id: str) -> dict[str, int]:
        """Return how many sentences of each node a verification cites."""
        return dict(await self._database.read("trail/cited_nodes", verification_id=verification_id))

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

    async def outcomes(self, verification_ids: Sequence[str]) -> dict[str, int]:
        """Return how many verifications have each outcome; unknown ids are left out."""
        if not verification_ids:
            return {}
        return dict(
            await self._database.read("trail/outcomes", verification_ids=list(verification_ids))
        )

    async def cost(self, process_id: str) -> Cost:
        """Return what the verifications of a process cost together."""
        ((verifications, questions, *rest),) = await self._database.read(
            "process/spent", process_id=process_id
        )
        calls, cached, tokens_in, cached_in, tokens_out, cost, unpriced, modelled, unmetered = rest
        usage = Usage(
            calls=calls,
            cached_calls=cached,
            input_tokens=tokens_in,
            cached_input_tokens=cached_in,
            output_tokens=tokens_out,
            cost_usd=None if unpriced else cost,
            unpriced_calls=unpriced,
        )
        return Cost(verifications, usage, modelled, unmetered, questions)


def _only(found: Sequence[Verification], verification_id: str) -> Verification:
    if not found:
        raise NotFound(
            f"No verification {verification_id!r} is stored.",
            code="verification_unknown",
            verification_id=verification_id,
        )
    return found[0]


def _counting(every: list[FoundOfClaim]) -> FoundOfClaim:
    """That of the verifications of a claim, oldest first, by which a judge is compared."""
    results = [one for one in every if Status(one.status).is_result]
    if not results:
        return every[-1]
    same = [one for one in reversed(results) if one.claim == results[-1].claim]
    return max(same, key=lambda one: one.q)  # of equal ones the first, which is the latest


def _run(run_id: str, rows: list[Row]) -> Run:
    counts = Counter[str]()
    verdicts = dict.fromkeys((verdict.value for verdict in Verdict), 0)
    usage = Usage()
    for status, verdict, number, *_, calls, cost, unpriced, _, _ in rows:
        counts[status] += number
        if verdict is not None:
            verdicts[verdict] += number
        usage += Usage(calls=calls, cost_usd=cost, unpriced_calls=unpriced)
    first = min(((*row[3:8], row[-2]) for row in rows), key=lambda row: row[0])
    created_at, engine, model, q, indicative, settings = first
    asking = judge_mode_of_settings(settings)
    return Run(
        run_id=run_id,
        created_at=created_at,
        engine=engine,
        model=model,
        share=asking.share,
        escalate_to=asking.second,
        q=q,
        indicative=indicative,
        is_of_record=False,
        verifications=counts.total(),
        counts=dict(counts),
        verdicts=verdicts,
        spent=Spending.of(usage),
        kept=sum(row[-1] for row in rows),
    )


def _is_same(
    claim: Claim, text: str, node_id: str, sub_claims: list[str] | None, decomposed: bool
) -> bool:
    """Return whether a claim equals the verified one, apart from sub-claims of a model."""
    stored = EarlierOutline("", "", text, node_id, sub_claims, decomposed, True)
    is_same_claim = (claim.text, claim.node_id) == (text, node_id)
    return is_same_claim and stored.has_sub_claims_of(claim)


def _has_source(found: Verification) -> bool:
    """Return whether an outline names a source text, which then has evidence."""
    return any(ref.is_root for one in found.iterations for ref in one.checked)
