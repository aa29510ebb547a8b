"""Stored verifications: trails, provenance, where errors came in, and what sets two apart.

Source: VeriTrail 3.2 (traceability, error localization).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.app.findings import (
    ErrorOrigin,
    ErrorStep,
    PathStep,
    Provenance,
    RunOfRecord,
)
from veritrail_graph.api.app.part import Part
from veritrail_graph.graph.errors import InputError, NotFound

if TYPE_CHECKING:
    from veritrail_graph.api.auth.access import Caller
    from veritrail_graph.graph.model import Review, Verification
    from veritrail_graph.graph.model.attribution import CarriedSentence
    from veritrail_graph.graph.model.difference import Difference
    from veritrail_graph.graph.model.finding import CheckedClaim
    from veritrail_graph.graph.model.listed import Cost, JudgedClaim, TrailOutline
    from veritrail_graph.graph.model.run import Run
    from veritrail_graph.graph.store import Store


def ended_json(one: Verification, carried: Sequence[CarriedSentence]) -> dict[str, Any]:
    """The JSON of a verification, with the end of its trail where there is one."""
    end = [sentence.json_object() for sentence in carried]
    return one.json_object() | ({"carried": end} if end else {})


class Verifications(Part):
    """Stored verifications."""

    async def get(self, verification_id: str) -> Verification:
        """A verification with its whole trail.

        Raises:
            NotFound: There is none.
        """
        try:
            return await (await self._store()).trails.get(verification_id)
        except NotFound:
            found = await self._app.in_flight.by_id([verification_id])
            if not found:
                raise
            return found[verification_id]

    async def read(self, verification_ids: Sequence[str]) -> list[Verification]:
        """Verifications with their trails, in the order asked for; unknown ids are left out."""
        found = await (await self._store()).trails.read(verification_ids)
        return await self._with_missing(verification_ids, found)

    async def whole(
        self, verification_id: str
    ) -> tuple[Verification, list[Review], tuple[CarriedSentence, ...]]:
        """A verification with its trail, the reviews of its claim, and what ends the trail.

        Returns:
            The verification; the reviews, newest first; the sentences of its error nodes that
            carried the claim, as far as they are attributed.

        Raises:
            NotFound: There is none.
        """
        return await self._app.versions.of_verification(
            verification_id, lambda: self._whole(verification_id)
        )

    async def _whole(
        self, verification_id: str
    ) -> tuple[Verification, list[Review], tuple[CarriedSentence, ...]]:
        store = await self._store()
        try:
            found, reviews, is_explained = await store.trails.with_reviews(verification_id)
        except NotFound:
            found = await self.get(verification_id)
            stored = await store.reviews.all(found.process_id, found.claim_id)
            return found, [one.review for one in stored], ()
        carried = await self.carried([found]) if is_explained else {}
        return found, reviews, carried.get(verification_id, ())

    async def header(self, verification_id: str) -> Verification:
        """A verification without its trail.

        Raises:
            NotFound: There is none.
        """
        found = await self.headers([verification_id])
        if not found:
            raise NotFound(f"No verification {verification_id!r} is stored.")
        return found[0]

    async def page(
        self, process_id: str, before: str = "", limit: int = 100
    ) -> tuple[list[Verification], str | None]:
        """Verifications of a process without their trails, newest first.

        Args:
            process_id: The process.
            before: Where the page begins, as the page before gave it; empty: at the newest.
            limit: The most verifications.

        Returns:
            The verifications, and where the next page begins; None: there is none.

        Raises:
            NotFound: There is no such process.
        """
        store = await self._store()
        names, behind = await store.trails.page(process_id, before, limit)
        found = await store.trails.headers(names) if names else []
        claims = [
            one
            for one in await self._app.in_flight.claims(process_id)
            if not before or _sort_key(one[0]["created_at"], one[1].verification_id) < before
        ]
        waiting = await self._app.in_flight.verifications(claims[:limit])
        if not found and not waiting:  # those of a process that is not ready are left out
            await store.processes.get(process_id)
        if not waiting:
            return found, behind
        both = _newest_first([*found, *waiting])
        if behind is not None or len(both) > limit:
            behind = _sort_key(both[:limit][-1].created_at, both[:limit][-1].verification_id)
        return both[:limit], behind

    async def all(self, process_id: str) -> list[Verification]:
        """All verifications of a process without their trails, newest first.

        Raises:
            NotFound: There is no such process.
        """
        store = await self._store()
        await store.processes.get(process_id)
        return await self.headers_of(process_id)

    async def headers(self, verification_ids: Sequence[str]) -> list[Verification]:
        """Verifications without their trails; unknown ids are left out."""
        found = await (await self._store()).trails.headers(verification_ids)
        return await self._with_missing(verification_ids, found)

    async def _with_missing(
        self, verification_ids: Sequence[str], found: list[Verification]
    ) -> list[Verification]:
        """Add those that only their jobs know."""
        made = {one.verification_id: one for one in found}
        missing = [name for name in verification_ids if name not in made]
        made |= await self._app.in_flight.by_id(missing)
        return [made[name] for name in verification_ids if name in made]

    async def headers_of(
        self, process_id: str, claim_ids: Sequence[str] | None = None
    ) -> list[Verification]:
        """All verifications of a process, or of some of its claims, without their trails."""
        store = await self._store()
        if claim_ids is None:
            found = await store.trails.headers(await store.trails.all_ids(process_id))
            in_flight = self._app.in_flight
            waiting = await in_flight.verifications(await in_flight.claims(process_id))
            return _newest_first([*found, *waiting]) if waiting else found
        rows = await store.database.read(
            "trail/of_claims", process_id=process_id, claim_ids=claim_ids
        )
        return await store.trails.headers([name for _, name in rows])

    async def outcomes(self, verification_ids: Sequence[str]) -> dict[str, int]:
        """Return how many of these verifications have each verdict or status."""
        return await (await self._store()).trails.outcomes(verification_ids)

    async def nodes_verified(self, verification_ids: Sequence[str]) -> dict[str, int]:
        """Return how many nodes verifications read; those without iterations are left out."""
        return await (await self._store()).trails.nodes_verified(verification_ids)

    async def cost(self, process_id: str) -> Cost:
        """Return what the verifications of a process, those of turns among them, cost together."""
        store = await self._store()
        cost, dialogues = await asyncio.gather(
            store.trails.cost(process_id), store.dialogues.costs([process_id])
        )
        turns = dialogues.get(process_id)
        if turns is None:
            return cost
        return replace(
            cost,
            usage=cost.usage + turns.usage,
            modelled=cost.modelled + turns.modelled,
            unmetered=cost.unmetered + turns.unmetered,
            turns=turns.turns,
        )

    async def of_claim(self, process_id: str, claim_id: str, limit: int) -> list[Verification]:
        """The latest verifications of a claim without their trails, newest first."""
        store = await self._store()
        found = await store.trails.of_claim(process_id, claim_id, limit)
        in_flight = self._app.in_flight
        waiting = await in_flight.verifications(await in_flight.claims(process_id, [claim_id]))
        return _newest_first([*found, *waiting])[:limit]

    async def outline(
        self, process_id: str, claim_id: str, verification_id: str | None
    ) -> TrailOutline | None:
        """A verification of a claim with its evidence; of nodes without evidence only their number.

        None where there is no such verification, or it is one of another claim.
        """
        found = await self.outlines([verification_id]) if verification_id is not None else []
        of_claim = [
            one
            for one in found
            if (one.verification.process_id, one.verification.claim_id) == (process_id, claim_id)
        ]
        return of_claim[0] if of_claim else None

    async def outlines(self, verification_ids: Sequence[str]) -> list[TrailOutline]:
        """Verifications with their evidence; of nodes without evidence only their number."""
        from veritrail_graph.graph.model.listed import TrailOutline

        found = await (await self._store()).trails.outlines(verification_ids)
        known = {one.verification.verification_id for one in found}
        missing = [name for name in verification_ids if name not in known]
        waiting = await self._app.in_flight.by_id(missing)
        return [*found, *map(TrailOutline, waiting.values())]

    async def carried(
        self, found: Sequence[Verification]
    ) -> dict[str, tuple[CarriedSentence, ...]]:
        """Say what the error nodes of verifications did with their sources, as far as it is stored.

        Args:
            found: Verifications of one process with their evidence.

        Returns:
            By verification_id: the sentences of its error nodes that carried the claim and that
            are attributed; those without any are left out.
        """
        from veritrail_graph.api.work.sentences import carrying_places
        from veritrail_graph.graph.sentences import SentenceSplitter

        wrong = [one for one in found if one.error_nodes]
        if not wrong:
            return {}
        store, process_id = await self._store(), wrong[0].process_id
        nodes = list(dict.fromkeys(ref.node_id for one in wrong for ref in one.error_nodes))
        attributed = await store.attributions.places(process_id, nodes)
        if not attributed:
            return {}
        known = set(attributed)
        own = {place[0] for place in attributed} & {one.node_id for one in wrong}
        splitter = SentenceSplitter.for_language(self._app.settings.language)
        asked = {
            one.verification_id: [
                place
                for place in await carrying_places(store, splitter, one, own)
                if place in known
            ]
            for one in wrong
        }
        places = list(dict.fromkeys(place for each in asked.values() for place in each))
        read = {
            (one.node_id, one.sentence, one.start, one.end): one
            for one in await store.attributions.of_sentences(process_id, places)
        }
        carried = {
            name: tuple(read[place] for place in each if place in read)
            for name, each in asked.items()
        }
        return {name: each for name, each in carried.items() if each}

    async def as_document(self, one: Verification) -> dict[str, Any]:
        """The JSON of a verification, with the end of its trail in `carried` where it is stored."""
        return ended_json(one, (await self.carried([one])).get(one.verification_id, ()))

    async def runs(self, process_id: str) -> list[Run]:
        """The runs of a process, with how many verifications of each have each status."""
        stored = await (await self._store()).trails.runs(process_id)
        return await self._app.in_flight.runs(process_id, stored)

    async def pin(self, run_id: str, *, on: bool = True, by: Caller | None = None) -> RunOfRecord:
        """Make a run the run of record of its process, or end that.

        Its verdicts count from then on, in lists, queries, reports and the gate, whatever was or
        is verified besides it. One run of a process can be pinned; the next one takes its place.

        Args:
            run_id: The run.
            on: False: the run is pinned no more, and the strongest judge's latest verdicts count.
            by: Who does it, for the audit log.

        Raises:
            NotFound: No such run is stored.
            InputError: It has no verdict; or it is not the one that is pinned.
        """
        store = await self._store()
        found = await store.trails.of_run(run_id)
        if not found:
            raise NotFound(f"No run {run_id!r} is stored.", code="run_unknown", run_id=run_id)
        process_id = found[0].process_id
        judged = sum(one.status.is_result for one in found)
        if not on:
            pinned = (await store.processes.get(process_id)).run_of_record
            if pinned != run_id:
                other = f"{pinned} is" if pinned else "none is"
                raise InputError(
                    f"Run {run_id} is not the run of record of process {process_id!r}: {other}.",
                    code="run_not_pinned",
                    process_id=process_id,
                )
        elif not judged:
            raise InputError(
                f"Run {run_id} came to no result, so it cannot be the run of record.",
                code="run_without_verdict",
            )
        await store.trails.pin(process_id, run_id if on else None)
        await self._record(by, "run.pin" if on else "run.unpin", run_id)
        return RunOfRecord(
            process_id=process_id, run_of_record=run_id if on else None, claims=judged
        )

    async def outweighed(
        self, process_id: str, made: Sequence[Verification | CheckedClaim]
    ) -> list[JudgedClaim]:
        """Claims that have a result among these verifications, and for which another one counts.

        A result is a verdict, or that the claim is undecided.

        Args:
            process_id: The process.
            made: Verifications of it, or claims that were checked by some.
        """
        judged = {
            one.verification_id: one.claim_id
            for one in made
            if one.status is not None and one.status.is_result
        }
        names = list(dict.fromkeys(judged.values()))
        found = await (await self._store()).claims.judged(process_id, names) if names else {}
        known = [found[name] for name in names if name in found]
        return [one for one in known if one.verification_id and one.verification_id not in judged]

    async def provenance(self, verification_id: str, limit: int = 100) -> Provenance:
        """Paths of evidence, each from where it begins down to the verified node.

        Raises:
            NotFound: There is no such verification.
            QueryTimeout: The paths took longer to find than a query may.
        """
        store = await self._store()
        found = await self.header(verification_id)
        rows, truncated = await _ask(store, "provenance", found, limit=limit)
        whole = [bool(row["complete"]) for row in rows]
        return Provenance(
            **_about(found),
            paths=[[_step(step) for step in row["path"]] for row in rows],
            paths_complete=whole,
            complete=bool(whole) and all(whole) and not truncated,
            truncated=truncated,
            path_count=rows[0]["path_count"] if rows else 0,
            complete_path_count=rows[0]["complete_path_count"] if rows else 0,
        )

    async def error(self, verification_id: str) -> ErrorOrigin:
        """Return where unsupported content was introduced, and the later nodes that inherited it.

        Raises:
            NotFound: There is no such verification.
            QueryTimeout: It took longer to find than a query may.
        """
        store = await self._store()
        found = await self.header(verification_id)
        rows, _ = await _ask(store, "error_path", found)
        parts: dict[str, list[ErrorStep]] = {"introduced": [], "carried_on": []}
        for row in rows:
            parts[row["part"]].append(ErrorStep.model_validate(row))
        return ErrorOrigin(
            **_about(found),
            error_stages=list(found.error_stages),
            introduced=parts["introduced"],
            inherited=parts["carried_on"],
            located_by=found.located_by,
            value_place=found.value_place,
        )

    async def diff(self, a: str, b: str) -> Difference:
        """Return where two trails part.

        Raises:
            NotFound: One of them is not stored.
        """
        from veritrail_graph.graph.comparing import compare

        return compare(await self.get(a), await self.get(b))  # the first that is missing is named


def _sort_key(created_at: str, verification_id: str) -> str:
    """Return what the pages of a process's verifications are sorted by."""
    return f"{created_at} {verification_id}"


def _newest_first(found: Sequence[Verification]) -> list[Verification]:
    return sorted(
        found, key=lambda one: _sort_key(one.created_at, one.verification_id), reverse=True
    )


async def _ask(
    store: Store, name: str, found: Verification, **more: Any
) -> tuple[list[dict[str, Any]], bool]:
    """Rows of a query of the library about a verification, by column."""
    subject = {
        "process_id": found.process_id,
        "claim_id": found.claim_id,
        "verification_id": found.verification_id,
    }
    answer = await store.queries.run(name, {**subject, **more})
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    return rows, answer.truncated


def _about(found: Verification) -> dict[str, Any]:
    return {
        "verification_id": found.verification_id,
        "process_id": found.process_id,
        "claim_id": found.claim_id,
        "node_id": found.node_id,
        "status": found.status.value,
        "verdict": found.verdict.value if found.verdict else None,
        "indicative": found.indicative,
    }


def _step(step: dict[str, Any]) -> PathStep:
    return PathStep.model_validate({**step, "via": list(step.get("via") or ())})
