"""Claims of a process: list, add, edit, remove, extract.

Source: VeriTrail 3.1 (claims are extracted with Claimify).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.app.part import Part
from veritrail_graph.graph.errors import InputError, InvalidProcess, Violation

if TYPE_CHECKING:
    from veritrail_graph.api.app.application import Application
    from veritrail_graph.api.app.estimation import Estimated
    from veritrail_graph.api.auth.access import Caller
    from veritrail_graph.api.configured.judge import JudgeOptions
    from veritrail_graph.api.configured.models import ModelOptions
    from veritrail_graph.api.requests.verify import VerifyRequest
    from veritrail_graph.api.work.extraction import ExtractionReport
    from veritrail_graph.graph.importers.records import ClaimRecord
    from veritrail_graph.graph.model import Claim, Usage, Verdict
    from veritrail_graph.graph.model.extraction import ExtractedSentence
    from veritrail_graph.graph.model.listed import (
        ClaimFilter,
        ClaimNeighbours,
        JudgedClaim,
        PlacedClaim,
        Removed,
        Tally,
    )
    from veritrail_graph.graph.near_duplicates import NearDuplicate

MOST_ALIKE = 16
"""Lists of claims for which it is kept which are alike."""

COMPLETIONS = 3
"""Completions of selection and disambiguation, where nothing is said."""


@dataclass(frozen=True, slots=True)
class ExtractOptions:
    """Options of a claim extraction.

    Attributes:
        node: The node; None: the only terminal.
        engine: An engine that asks models; None: as the settings say.
        models: The model that extracts claims, and what it may cost.
        prompts: A folder of the user's own prompts.
        completions: Completions of selection and disambiguation; more than half must agree.
    """

    node: str | None = None
    engine: str | None = None
    models: ModelOptions | None = None
    prompts: Path | str | None = None
    completions: int = COMPLETIONS


@dataclass(frozen=True, slots=True)
class Extracted:
    """The result of a claim extraction.

    Attributes:
        report: The sentences and their claims.
        model: The model that was asked.
        warnings: What a person should know, such as a cache that cannot be used.
    """

    report: ExtractionReport
    model: str
    warnings: Sequence[str] = field(default=())


class Claims(Part):
    """The claims of processes.

    Args:
        app: The application.
    """

    def __init__(self, app: Application) -> None:
        super().__init__(app)
        self._alike: dict[bytes, list[NearDuplicate]] = {}
        self._looking = asyncio.Lock()

    async def page(
        self,
        process_id: str,
        wanted: ClaimFilter,
        after: tuple[int, str] = (-1, ""),
        limit: int = 100,
    ) -> tuple[list[JudgedClaim], tuple[int, str] | None]:
        """Claims in the order of the input, each with its verdict in force and its reviews.

        Returns:
            The claims, and the place of the last one; None: there are no more.

        Raises:
            NotFound: There is no such process.
        """
        store = await self._store()
        claims, last = await store.claims.page(process_id, wanted, after, limit)
        if not claims:
            await store.processes.get(process_id)  # ready now, perhaps by another reader
            claims, last = await store.claims.page(process_id, wanted, after, limit)
        return await self._app.in_flight.mark(process_id, claims), last

    async def by_attention(
        self,
        process_id: str,
        ranks: Mapping[str, int],
        after: tuple[int, int, str] = (-1, -1, ""),
        limit: int = 100,
    ) -> tuple[list[JudgedClaim], tuple[int, int, str] | None]:
        """Claims of the answer, those first that need attention, each with its reviews.

        Args:
            process_id: The process.
            ranks: The place of each state: of the verdicts, of undecided, failed and unchecked.
            after: The place of the last claim of the page before.
            limit: At most this many.

        Returns:
            The claims, and the place of the last one; None: there are no more.

        Raises:
            NotFound: There is no such process.
        """
        store = await self._store()
        claims, last = await store.claims.by_attention(process_id, ranks, after, limit)
        if not claims:
            await store.processes.get(process_id)  # ready now, perhaps by another reader
            claims, last = await store.claims.by_attention(process_id, ranks, after, limit)
        return await self._app.in_flight.mark(process_id, claims), last

    async def search(
        self,
        process_id: str,
        *,
        verdict: str | None = None,
        error_stage: int | None = None,
        review: str | None = None,
        node_id: str | None = None,
        asked: bool = False,
        after: tuple[int, str] = (-1, ""),
        limit: int = 100,
    ) -> tuple[list[JudgedClaim], tuple[int, str] | None]:
        """Claims with a verdict, an error stage, a review or about a node; see `page`.

        Questions that were asked are none of them, and are given instead where they are wanted.

        Raises:
            NotFound: There is no such process.
        """
        from veritrail_graph.graph.model.listed import ClaimFilter

        wanted = ClaimFilter(verdict, error_stage, review, node_id, asked)
        return await self.page(process_id, wanted, after, limit)

    @staticmethod
    def records_of(claims: Sequence[str | Mapping[str, Any]]) -> list[ClaimRecord]:
        """Claims that are given as texts, or as objects of a process file.

        Raises:
            InvalidProcess: Some break rules; all faults are listed.
        """
        from veritrail_graph.graph.importers.process_file.schema import read_claim
        from veritrail_graph.graph.importers.records import ClaimRecord

        records: list[ClaimRecord] = []
        violations: list[Violation] = []
        for place, value in enumerate(claims):
            claim = {"text": value} if isinstance(value, str) else dict(value)
            found = read_claim(claim, f"claims[{place}]")
            if isinstance(found, ClaimRecord):
                records.append(found)
            else:
                violations += found
        if violations:
            raise InvalidProcess("Claims break rules; nothing was stored", violations)
        return records

    async def near_duplicates(self, process_id: str) -> list[NearDuplicate]:
        """Claims that may repeat others of their node, by their words; nothing is removed.

        Raises:
            NotFound: There is no such process.
        """
        return await self.alike(await self.all(process_id))

    async def alike(self, claims: Sequence[Claim]) -> list[NearDuplicate]:
        """Return which of these claims may repeat others of their node, by their words.

        What was found is kept for the same claims, and looked for once at a time.
        """
        from veritrail_graph.graph.near_duplicates import near_duplicates

        said = sha256()
        for claim in claims:
            said.update(repr((claim.claim_id, claim.node_id, claim.text)).encode())
        async with self._looking:
            found = self._alike.pop(said.digest(), None)
            if found is None:
                found = await asyncio.to_thread(near_duplicates, claims)
            self._alike[said.digest()] = found  # the latest stands last
            while len(self._alike) > MOST_ALIKE:
                self._alike.pop(next(iter(self._alike)))
        return found

    async def all(self, process_id: str, node: str | None = None) -> list[Claim]:
        """The claims of a process or of one of its nodes, in the order of the input.

        Raises:
            NotFound: There is no such process or node.
        """
        store = await self._store()
        await store.processes.get(process_id)
        if node is not None:
            await store.reading.node(process_id, node)
        claims = await store.claims.all(process_id)
        return [claim for claim in claims if node in {None, claim.node_id}]

    async def sentences(self, process_id: str, node: str | None = None) -> list[ExtractedSentence]:
        """The sentences that extraction looked at, with the claims of each or why it has none."""
        return await (await self._store()).claims.sentences(process_id, node)

    async def get(self, process_id: str, claim_id: str) -> JudgedClaim:
        """A claim with its verdict in force and its reviews.

        Raises:
            NotFound: There is no such process or claim.
        """
        found = await (await self._store()).claims.get(process_id, claim_id)
        return (await self._app.in_flight.mark(process_id, [found]))[0]

    async def some(self, process_id: str, claim_ids: Sequence[str]) -> dict[str, JudgedClaim]:
        """Claims with their verdicts in force by claim_id; one that is unknown is left out."""
        found = await (await self._store()).claims.judged(process_id, claim_ids)
        marked = await self._app.in_flight.mark(process_id, list(found.values()))
        return dict(zip(found, marked, strict=True))

    async def tally(self, process_id: str) -> Tally:
        """The claims of a process by result, and the stages where unsupported content came in."""
        return await (await self._store()).claims.tally(process_id)

    async def in_text(
        self, process_id: str, node_id: str, start: int, end: int
    ) -> tuple[list[PlacedClaim], bool]:
        """Claims that touch a part of a node's text, and whether these are all of the node."""
        found, is_whole = await (await self._store()).claims.in_text(
            process_id, node_id, start, end
        )
        return await self._app.in_flight.mark_placed(process_id, found), is_whole

    async def nodes(self, process_id: str, limit: int) -> list[tuple[str, int]]:
        """The nodes that claims are about, each with the number of its claims."""
        return await (await self._store()).claims.nodes(process_id, limit)

    async def numbered(
        self, process_id: str, claim_ids: Sequence[str] | None = None
    ) -> tuple[list[Claim], dict[str, int]]:
        """Claims in the order of the input, and by claim_id the place of each, counted from 1.

        Args:
            process_id: The process.
            claim_ids: These claims; unknown ones are left out. None: all of the process.
        """
        return await (await self._store()).claims.numbered(process_id, claim_ids)

    async def neighbours(self, process_id: str, claim_id: str) -> ClaimNeighbours:
        """The claims before and behind one, in the order of the input.

        Raises:
            NotFound: There is no such claim.
        """
        return await (await self._store()).claims.neighbours(process_id, claim_id)

    async def add(
        self, process_id: str, records: Sequence[ClaimRecord], node: str | None = None
    ) -> tuple[list[Claim], int]:
        """Store claims, all or none; nothing is verified.

        Args:
            process_id: The process.
            records: The claims.
            node: The node of those that name none; None: the only terminal.

        Returns:
            The claims as they are stored, and how many of them are new.

        Raises:
            InputError: A claim breaks a rule, or its node is a root.
            NotFound: The process or a node is not stored.
            ProcessConflict: Another text is stored under some of the claim_ids.
        """
        from veritrail_graph.api.work.claims import store_claims

        return await store_claims(await self._store(), process_id, records, node)

    async def lacking(self, process_id: str, node: str | None = None) -> bool:
        """Return whether a process, or one of its nodes, has no claims, so that a run makes some.

        Raises:
            NotFound: There is no such process.
        """
        from veritrail_graph.api.work.stated import lacks_claims

        store = await self._store()
        return await lacks_claims(store, await store.processes.get(process_id), node)

    async def state(self, process_id: str, node: str | None = None) -> list[Claim]:
        """Store what final outputs state as claims, a sentence each, where there are none.

        Args:
            process_id: The process.
            node: The node whose sentences are taken; None: every final output.

        Returns:
            The claims; none where it has some already, or is a dialogue.

        Raises:
            InputError: The outputs state nothing.
            NotFound: The process or the node is not stored.
        """
        from veritrail_graph.api.work.claims import store_claims
        from veritrail_graph.api.work.stated import lacks_claims, stated_claims
        from veritrail_graph.graph.sentences import SentenceSplitter

        store = await self._store()
        process = await store.processes.get(process_id)
        if not await lacks_claims(store, process, node):
            return []
        splitter = SentenceSplitter.for_language(self._app.settings.language)
        records = await stated_claims(store, process, splitter, node)
        return (await store_claims(store, process_id, records, node))[0]

    async def edit(
        self,
        process_id: str,
        claim_id: str,
        text: str,
        *,
        force: bool = False,
        by: Caller | None = None,
    ) -> Claim:
        """Give a claim another text; its id, its place and what was verified stay.

        Raises:
            NotFound: There is no such process or claim.
            ClaimInUse: It was verified or reviewed, and `force` is not set.
        """
        store = await self._store()
        await store.processes.get(process_id)
        claim = await store.claims.edit(process_id, claim_id, text, force=force)
        await self._app.search.spoil(process_id)
        await self._record(by, "claim.edit", process_id, claim_id=claim_id)
        return claim

    async def remove(
        self,
        process_id: str,
        claim_ids: Sequence[str],
        *,
        force: bool = False,
        by: Caller | None = None,
    ) -> Removed:
        """Remove claims; with `force` their verifications and reviews go too.

        Raises:
            NotFound: There is no such process or claim.
            ClaimInUse: One was verified or reviewed, and `force` is not set.
        """
        store = await self._store()
        await store.processes.get(process_id)
        removed = await store.claims.remove(process_id, list(claim_ids), force=force)
        for claim_id in claim_ids:
            await self._record(by, "claim.delete", process_id, claim_id=claim_id)
        return removed

    async def merge(
        self,
        process_id: str,
        claim_id: str,
        others: Sequence[str],
        *,
        force: bool = False,
        by: Caller | None = None,
    ) -> tuple[Claim, Removed]:
        """Let one claim stand for others: it gets their places, and they are removed.

        Args:
            process_id: The process.
            claim_id: The claim that stays.
            others: The claims that are removed; they are about the same node.
            force: Also when they were verified or reviewed; that goes with them.
            by: Who does it, for the audit log.

        Returns:
            The claim as it is stored now, and what was removed.

        Raises:
            NotFound: There is no such process or claim; nothing was changed.
            InputError: One of the others is about another node, or is the claim itself.
            ClaimInUse: One of the others has verifications or reviews, and `force` is not set.
        """
        store = await self._store()
        await store.processes.get(process_id)
        names = list(dict.fromkeys(others))
        if not names or claim_id in names:
            raise InputError("A claim is merged with other claims; name some.", code="merge_self")
        claim, removed = await store.claims.merge(process_id, claim_id, names, force=force)
        await self._record(by, "claim.merge", process_id, claim_id=claim_id, merged=len(names))
        return claim, removed

    async def label(
        self,
        process_id: str,
        labels: Mapping[str, Verdict | None],
        *,
        by: Caller | None = None,
    ) -> int:
        """Label claims for evaluation, all or none; None takes a label away.

        Raises:
            NotFound: There is no such process, or one of the claims; nothing was changed.
        """
        store = await self._store()
        await store.processes.get(process_id)
        count = await store.claims.label(process_id, labels)
        await self._record(by, "claim.label", process_id, claims=count)
        return count

    async def estimate(
        self,
        request: VerifyRequest,
        options: JudgeOptions,
        records: Sequence[ClaimRecord] | None = None,
        on_progress: Callable[[int, int, int], None] = lambda _done, _claims, _prompts: None,
    ) -> Estimated:
        """Say what verifying claims would cost; no model is asked, and no claim is stored.

        Args:
            request: Which claims.
            options: How they would be verified.
            records: The claims that are given; None: those of `request.claims`.
            on_progress: Called with how many claims are done, how many there are, and how many
                prompts were looked at.

        Raises:
            InputError: A claim, a node, a setting or a prompt is wrong.
        """
        from veritrail_graph.api.app.estimation import estimate_claims

        store = await self._store()
        settings = self._app.settings
        return await estimate_claims(settings, store, options, request, records, on_progress)

    async def extract(
        self,
        process_id: str,
        options: ExtractOptions,
        *,
        on_sentence: Callable[[int, int], None] = lambda _done, _total: None,
        on_answer: Callable[[Usage], None] = lambda _usage: None,
    ) -> Extracted:
        """Extract the claims of a node with a language model, and store them.

        Args:
            process_id: The process.
            options: From which node, and how.
            on_sentence: Called with how many sentences are done, 0 at first, and how many there
                are.
            on_answer: Called with the usage of each call.

        Raises:
            InputError: The engine asks no model, or the node is not named or a root.
            NotFound: The process or the node is not stored.
            OverBudget: The budget is used up; nothing was stored.
        """
        from veritrail_graph.api.configured.models import ModelOptions, open_models
        from veritrail_graph.api.work.extraction import extract_claims
        from veritrail_graph.graph.sentences import SentenceSplitter
        from veritrail_graph.verifier.engines import engine_named
        from veritrail_graph.verifier.limits import Samples
        from veritrail_graph.verifier.models.port import Meter
        from veritrail_graph.verifier.prompts import load_prompts

        settings = self._app.settings
        chosen = options.models or ModelOptions()
        named = chosen.model or settings.claims.model
        engine = engine_named(settings.engine_name(options.engine, named))
        if engine.calls_models:
            chosen = replace(chosen, model=named)
        if not engine.writes:
            raise InputError(
                f"Extracting claims needs a language model, and engine {engine.name} asks none.",
                code="extraction_needs_model",
                engine=engine.name,
            )
        prompts = load_prompts(options.prompts)
        splitter = SentenceSplitter.for_language(settings.language)
        async with open_models(settings, engine, chosen) as models:
            store = await self._store()
            report = await extract_claims(
                store,
                await store.processes.get(process_id),
                options.node,
                models.steps.claims,
                prompts,
                splitter,
                Meter(on_record=on_answer),
                completions=Samples(
                    options.completions,
                    options.completions // 2 + 1,
                    needs_temperature=False,
                ),
                on_sentence=on_sentence,
            )
            return Extracted(report, models.steps.claims.model.model, list(models.warnings))
