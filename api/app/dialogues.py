"""Dialogues: the assistant's turns verified claim by claim, and what was found of them.

Source: VISTA 3.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.app.going_on import begin_here
from veritrail_graph.api.app.jobs import (
    OPEN,
    JobStatus,
    LocalOptions,
    LocalResult,
    LocalRun,
    Progress,
)
from veritrail_graph.api.app.part import Part
from veritrail_graph.api.configured.dialogue import DialogueOptions as DialogueOptions
from veritrail_graph.api.configured.dialogue import configure_dialogue
from veritrail_graph.api.jobs.model import is_job_id, job_id_of
from veritrail_graph.api.requests.dialogue import DialogueRequest
from veritrail_graph.api.work.dialogue_progress import DialogueProgress as DialogueProgress
from veritrail_graph.api.work.dialogue_progress import DialogueVerified as DialogueVerified
from veritrail_graph.api.work.runs import is_held
from veritrail_graph.graph.errors import InputError, NotFound, shown
from veritrail_graph.graph.model.conversation import DialogueCost, LinkedClaims, course_of
from veritrail_graph.graph.model.dialogue import TURN, DialogueRun, Speaker
from veritrail_graph.graph.store.dialogues import WHOLE

if TYPE_CHECKING:
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.api.jobs.storage import JobRow
    from veritrail_graph.graph.model.conversation import (
        ClaimPlace,
        DialogueSize,
        FoundTurn,
        SaidTurn,
        TurnCounts,
    )
    from veritrail_graph.graph.model.dialogue import (
        ClaimCategory,
        DialogueRunSummary,
        TurnClaim,
        TurnVerification,
    )
    from veritrail_graph.graph.model.turn_claim import TurnClaimFound

DIALOGUES_AT_ONCE = 64
"""Dialogues that are verified side by side; the model's own limit is what bounds the calls."""


class Dialogues(Part):
    """Dialogues, and what was found of their turns."""

    async def verify(
        self,
        dialogue_ids: Sequence[str],
        options: DialogueOptions,
        progress: DialogueProgress | None = None,
        shared: Shared | None = None,
    ) -> list[DialogueVerified]:
        """Verify the assistant's turns of dialogues, each in a job of this process.

        Each turn is stored as soon as it has ended; turns of one dialogue are verified one after
        the other, dialogues side by side.

        Args:
            dialogue_ids: The dialogues.
            options: Which turns, and how.
            progress: What is called on the way.
            shared: What its models share with those of other runs; None: nothing.

        Returns:
            What was done, in the order of the dialogues.

        Raises:
            InputError: A process is no dialogue, a turn is unknown or not the assistant's, or a
                setting is wrong.
            NotFound: A dialogue, or the run to resume, is not stored.
        """
        from veritrail_graph.verifier.prompted import results

        progress = progress or DialogueProgress()
        names = list(dict.fromkeys(dialogue_ids))
        if (options.resume or options.request.turn_ids) and len(names) > 1:
            raise InputError(
                "Turns and a run to resume are those of one dialogue; name a single one.",
                code="one_dialogue",
            )
        if shared is None and len(names) > 1:
            shared = _shared(options)
        here = LocalOptions(
            prompts=options.prompts,
            concurrency=options.concurrency,
            shared=shared,
            is_attended=True,
        )
        slots = asyncio.Semaphore(DIALOGUES_AT_ONCE)

        async def begun(name: str) -> LocalRun:
            async with slots:
                return await self._begun(name, options, here, progress)

        async def carried_out(run: LocalRun) -> LocalResult:
            async with slots:
                return await run.carry_out()

        runs = await asyncio.gather(*map(begun, names), return_exceptions=True)
        if any(isinstance(one, BaseException) for one in runs):
            for one in runs:
                if isinstance(one, LocalRun):  # nothing is done where something is refused
                    await self._app.jobs.cancel(one.job_id)
        works = results(runs)

        def stop() -> None:
            for run in works:
                run.cancel()

        sizes = [len((await self._app.jobs.get(run.job_id)).turn_ids) for run in works]
        progress.begun(stop, sum(sizes))
        ended = results(await asyncio.gather(*map(carried_out, works), return_exceptions=True))
        return [one.outcome for one in ended if isinstance(one.outcome, DialogueVerified)]

    async def _begun(
        self, name: str, options: DialogueOptions, here: LocalOptions, progress: DialogueProgress
    ) -> LocalRun:
        """The run of a dialogue, as a job of this process; one that goes on, where that is asked.

        Raises:
            InputError: The process is no dialogue, a turn is unknown or not the assistant's, a
                setting is wrong, or the run to resume cannot go on so.
            NotFound: The dialogue, or the run to resume, is not stored.
        """
        fields = {**dict(options.request), "dialogue_id": name}
        request = DialogueRequest.of_any_length(fields)
        watched = Progress(
            begins=lambda run, _turns: progress.run(name, run.run_id),
            call_made=progress.answer,
            verified=lambda found, kept: progress.turn(name, found, kept),
        )
        run_id, is_job = await self._run_to_go_on(name, request, options, here)
        if not is_job:  # a run without a job goes on in a new one of its name
            here, run_id = replace(here, run_id=run_id), None
        return await begin_here(self._app.jobs, request, run_id, here=here, progress=watched)

    async def _run_to_go_on(
        self, name: str, request: DialogueRequest, options: DialogueOptions, here: LocalOptions
    ) -> tuple[str | None, bool]:
        """The run that goes on, and whether a job of it is kept; None: a new one begins.

        Raises:
            InputError: The run to resume has other settings or turns.
            NotFound: The run to resume, or the dialogue, is not stored.
        """
        from veritrail_graph.api.work.dialogue import other_settings, unknown_run

        if options.resume is None and not options.reuses:
            return None, False
        async with configure_dialogue(self._app.settings, options, here.shared) as made:
            settings = made.settings
        stored = {one.run_id: one.settings for one in await self.runs(name)}
        content = (await (await self._store()).processes.get(name)).content_hash
        if options.resume is None:
            stored = {run_id: one for run_id, one in stored.items() if is_job_id(job_id_of(run_id))}
            same = [run_id for run_id, of_run in stored.items() if of_run == settings]
            job = await self._app.jobs.kept(same[0]) if same else None
            if job is None:
                return (same[0] if same else None), False
            is_same = job["content_hash"] == content and _turns_of(job) == request.turn_ids
            is_at_work = is_held(self._app.settings, same[0]) or (
                JobStatus(job["status"]) in OPEN and not job["is_local"]
            )
            return (same[0], True) if is_same and not is_at_work else (None, False)
        job = await self._app.jobs.kept(options.resume)
        is_of_this = job is not None and (job["process_id"], job["content_hash"]) == (name, content)
        if not is_job_id(job_id_of(options.resume)) or (
            options.resume not in stored and not is_of_this
        ):
            raise unknown_run(name, options.resume)
        if settings != (stored[options.resume] if job is None else job["settings"]):
            raise other_settings(options.resume)
        if job is not None and request.turn_ids not in (None, _turns_of(job)):
            raise InputError(
                f"Run {shown(options.resume)} goes on with its turns; leave other turns out.",
                code="dialogue_run_turns",
                run_id=options.resume,
            )
        return options.resume, job is not None

    async def result(self, dialogue_id: str, run_id: str | None = None) -> DialogueRun:
        """Return what is stored of the turns of a dialogue.

        Args:
            dialogue_id: The dialogue.
            run_id: The run; None: what counts for each turn, under the latest run of these.

        Raises:
            NotFound: The dialogue or the run is not stored, or nothing was verified.
        """
        from veritrail_graph.api.work.dialogue import usage_of

        summary = await self._summary(dialogue_id, run_id)
        turns = await (await self._store()).dialogues.results(dialogue_id, run_id)
        return DialogueRun.of_turns(turns, usage=usage_of(turns), **_of_run(dialogue_id, summary))

    async def claim(self, dialogue_id: str, claim_id: str) -> TurnClaimFound:
        """Return a claim of a turn as it counts, with what is wrong with it.

        Args:
            dialogue_id: The dialogue.
            claim_id: The claim.

        Raises:
            NotFound: The dialogue is not stored, or no turn that was verified has the claim.
        """
        from veritrail_graph.api.app.checked_dialogue import turn_claim

        run = await self.result(dialogue_id)
        store = await self._store()
        process = await self._app.processes.get(dialogue_id)
        found = await turn_claim(store, process, run, claim_id)
        if found is None:
            raise NotFound(
                f"No turn of {shown(dialogue_id)} that was verified has the claim "
                f"{shown(claim_id)}.",
                code="claim_unverified",
                process_id=dialogue_id,
            )
        return found

    async def runs(self, dialogue_id: str) -> list[DialogueRunSummary]:
        """The runs of a dialogue, newest first.

        Raises:
            NotFound: The dialogue is not stored.
        """
        store = await self._store()
        await store.processes.get(dialogue_id)
        return await store.dialogues.runs(dialogue_id)

    async def page(
        self, dialogue_id: str, run_id: str | None = None, after: int = -1, limit: int = 200
    ) -> tuple[DialogueRun, int | None]:
        """A page of what is stored of the turns; score, course and usage are those of all turns.

        Args:
            dialogue_id: The dialogue.
            run_id: The run; None: what counts for each turn, under the latest run of these.
            after: Number of the last turn before the page; -1 at first.
            limit: At most this many turns.

        Returns:
            The page, and the number behind which the next one begins; None: there is none.

        Raises:
            NotFound: The dialogue or the run is not stored, or nothing was verified.
        """
        store = await self._store()
        summary = await self._summary(dialogue_id, run_id)
        found, counts, costs = await asyncio.gather(
            store.dialogues.page(dialogue_id, run_id, after, limit + 1),
            store.dialogues.counts(dialogue_id, run_id),
            store.dialogues.costs([dialogue_id], run_id, counting=run_id is None),
        )
        turns, course = found[:limit], course_of(counts)
        run = DialogueRun(
            turns=tuple(one.found for one in turns),
            course=tuple(course.get(one.stage) for one in turns),
            score=list(course.values())[-1] if course else None,
            usage=costs.get(dialogue_id, DialogueCost()).usage,
            **_of_run(dialogue_id, summary),
        )
        return run, turns[-1].stage if len(found) > limit else None

    async def size(self, dialogue_id: str) -> DialogueSize:
        """Return how many turns a dialogue has.

        Raises:
            InputError: The process is no dialogue.
            NotFound: It is not stored.
        """
        store = await self._store()
        await store.processes.get(dialogue_id)
        found = await store.dialogues.size(dialogue_id)
        if not found.assistant_turns:
            from veritrail_graph.api.work.dialogue import not_a_dialogue

            raise not_a_dialogue(dialogue_id, found.turns)
        return found

    async def turns(
        self,
        dialogue_id: str,
        after: tuple[int, int] = (-1, -1),
        limit: int = 100,
        *,
        until: int = WHOLE,
        longest: int = WHOLE,
    ) -> list[SaidTurn]:
        """A page of the turns as they were said, with the ids of their documents.

        Args:
            dialogue_id: The dialogue.
            after: Stage and position of the last turn before the page.
            limit: At most this many.
            until: Number of the last turn that is wanted.
            longest: At most this many characters of a text.

        Raises:
            InputError: The process is no dialogue.
            NotFound: It is not stored.
        """
        store = await self._store()
        await store.processes.get(dialogue_id)
        found = await store.dialogues.said(dialogue_id, after, limit, until=until, longest=longest)
        if not any(one.turn.role is Speaker.ASSISTANT for one in found):
            await self.size(dialogue_id)
        return found

    async def before(self, dialogue_id: str, turn_id: str | None) -> tuple[int, int]:
        """Stage and position behind which a page begins with a turn; None: with the first turn.

        Raises:
            InputError: The process is no dialogue, or the turn is not in it.
            NotFound: It is not stored.
        """
        if turn_id is None:
            return (-1, WHOLE)
        found = await self._app.drawings.among(dialogue_id, [f"{TURN}{turn_id}"])
        if not found:
            await self.size(dialogue_id)
            raise InputError(f"Turn {shown(turn_id)} is not in the dialogue.", code="wrong_turns")
        return (found[0].stage - 1, WHOLE)  # a turn is all of its stage

    async def found(
        self, dialogue_id: str, run_id: str | None, after: int, limit: int
    ) -> list[FoundTurn]:
        """A page of what was found of the turns; see `page`, which also says of which run."""
        return await (await self._store()).dialogues.page(dialogue_id, run_id, after, limit)

    async def counts(self, dialogue_id: str, run_id: str | None = None) -> list[TurnCounts]:
        """Return how many claims of each kind every turn has, in their order."""
        return await (await self._store()).dialogues.counts(dialogue_id, run_id)

    async def categories(self, dialogue_id: str) -> dict[str, ClaimCategory | None]:
        """The categories that count, by claim_id; None: undecided. Without a dialogue empty."""
        return await (await self._store()).dialogues.categories(dialogue_id)

    async def places(
        self, dialogue_id: str, claim_ids: Sequence[str], longest: int = WHOLE
    ) -> dict[str, ClaimPlace]:
        """Claims by their ids, with the turns that make them; one that is gone is left out."""
        return await (await self._store()).dialogues.places(dialogue_id, claim_ids, longest)

    async def linked(
        self,
        dialogue_id: str,
        run_id: str | None,
        said: Sequence[SaidTurn],
        found: Mapping[int, TurnVerification],
        claims: Sequence[TurnClaim],
        opened: str | None = None,
        most: tuple[int, int, int] = (WHOLE, WHOLE, WHOLE),
    ) -> LinkedClaims:
        """Return what the claims of some turns are linked with.

        Args:
            dialogue_id: The dialogue.
            run_id: The run; None: what counts for each turn.
            said: The turns.
            found: What was found of them, by number.
            claims: The claims.
            opened: The claim whose background is read.
            most: At most this many linked claims of a claim, claims of a background, characters.
        """
        others, background, longest = most
        store = await self._store()
        names = [name for one in claims for name in one.contradicts[:others]]
        for one in claims:
            names += one.compared_with[:background] if one.claim_id == opened else ()
        facts = [name for one in claims for name in one.contradicts_knowledge[:others]]
        checks = [one.turn_check for one in found.values() if one.turn_check is not None]
        quoted = [f"{TURN}{one.turn_id}" for one in checks if one.turn_id is not None]
        left = [
            one.turn.node_id
            for one in said
            if one.turn.role is Speaker.ASSISTANT and one.stage not in found and run_id is None
        ]
        of = [one.claim_id for one in claims]
        places, denied, knowledge, turns, unfinished = await asyncio.gather(
            self.places(dialogue_id, list(dict.fromkeys(names)), longest),
            store.dialogues.denied(dialogue_id, of, run_id, others, longest),
            self._app.nodes.texts(dialogue_id, list(dict.fromkeys(facts))),
            self._app.drawings.among(dialogue_id, list(dict.fromkeys(quoted))),
            store.dialogues.unfinished(dialogue_id, left),
        )
        return LinkedClaims(
            places,
            denied,
            knowledge,
            {one.node_id.removeprefix(TURN): one.stage for one in turns},
            {name.removeprefix(TURN): one for name, one in unfinished.items()},
            opened,
        )

    async def _summary(self, dialogue_id: str, run_id: str | None) -> DialogueRunSummary:
        """The run; without one the latest of those that count, or else of all.

        Raises:
            NotFound: The dialogue or the run is not stored, or nothing was verified.
        """
        found = [one for one in await self.runs(dialogue_id) if run_id in (None, one.run_id)]
        counting = [one for one in found if one.counting] or found
        if not counting:
            await self.size(dialogue_id)  # what is no dialogue cannot be verified either
            from veritrail_graph.api.work.dialogue import unknown_run

            raise unknown_run(dialogue_id, run_id)
        return counting[0]


def _of_run(dialogue_id: str, summary: DialogueRunSummary) -> dict[str, Any]:
    """Return what a result says of its run."""
    return {
        "run_id": summary.run_id,
        "dialogue_id": dialogue_id,
        "engine": summary.engine,
        "model": summary.model,
        "indicative": summary.indicative,
        "created_at": summary.created_at,
        "settings": summary.settings,
    }


def _turns_of(job: JobRow) -> tuple[str, ...] | None:
    """The turns that the request of a job names; None: all of the assistant's."""
    return DialogueRequest.of_row(job["request"]).turn_ids


def _shared(options: DialogueOptions) -> Shared:
    """Return what dialogues may spend together, with the slots of their endpoints."""
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.verifier.models.retrying import Spending

    asked = options.request
    return Shared(Spending(asked.budget_usd, asked.max_calls))
