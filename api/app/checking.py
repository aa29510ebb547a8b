"""Checking: an input is stored, gets claims where it has none, and is verified.

The result names the wrong claims, where each went wrong, and what could not be checked.

Source: ours (docs/adr/0066-check.md).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.app.addresses import traces_at
from veritrail_graph.api.app.check_at_work import CheckAtWork
from veritrail_graph.api.app.check_terms import (
    CheckDone,
    CheckOptions,
    CheckWatch,
    StoredProcess,
    What,
)
from veritrail_graph.api.app.checked import (
    checked_claim,
    findings_of,
    judge_of_headers,
    judges_in_force,
)
from veritrail_graph.api.app.checked_dialogue import (
    checked_turns,
    dialogue_request,
    failures_of_turns,
    judge_of_turns,
)
from veritrail_graph.api.app.part import Part
from veritrail_graph.api.jobs.model import is_job_id, job_id_of
from veritrail_graph.graph.errors import InputError, NotFound, VeriTrailError, shown
from veritrail_graph.graph.importers.addresses.fetching import ToolTraces
from veritrail_graph.graph.model.dialogue import is_dialogue
from veritrail_graph.graph.model.finding import (
    CheckedClaim,
    CheckFailure,
    FindingCounts,
    Findings,
)
from veritrail_graph.graph.model.job import JobKind, JobStatus

if TYPE_CHECKING:
    from veritrail_graph.api.requests.check import CheckBody
    from veritrail_graph.api.requests.dialogue import DialogueRequest
    from veritrail_graph.api.requests.verify import VerifyRequest
    from veritrail_graph.graph.importers.records import ProcessInput
    from veritrail_graph.graph.model import Process
    from veritrail_graph.graph.model.dialogue import DialogueRun
    from veritrail_graph.graph.model.job import Job
    from veritrail_graph.graph.model.listed import JudgedClaim

_PAGE = 500
"""Claims that are read at a time."""

_UNFINISHED = (JobStatus.FAILED, JobStatus.CANCELLED)
_LIKE_A_PATH = re.compile(r"[/\\]|\.(?:json|jsonl|ndjson|csv|tsv|parquet|gz|txt|md|pb)$")


class Checking(Part):
    """Checks of files, folders, answers over their sources, and stored processes."""

    async def named(
        self, given: str, folder: Callable[[], Path], since: str | None = None
    ) -> Path | StoredProcess | ToolTraces:
        """Return what a text names: a path that is there, the traces of a tool, a stored process.

        Args:
            given: The text.
            folder: Gives where traces of a tool are put until they are stored.
            since: The age of the oldest traces of a tool, where the address says none.

        Raises:
            InputError: It is an address that cannot be read.
            NotFound: There is neither such a path nor such a process; the message says what is
                near.
        """
        from veritrail_graph.graph.importers.addresses.address import is_address
        from veritrail_graph.graph.importers.files import is_there
        from veritrail_graph.graph.importers.registry import address_of

        if not given.strip():
            raise InputError("An empty name is no file, folder or stored process.")
        if is_address(given):
            return traces_at(given, folder(), since)
        path = Path(given)
        if await asyncio.to_thread(is_there, path) or address_of(path) is not None:
            return path
        try:
            return StoredProcess(await self._app.names.process(given))
        except NotFound as error:
            if _LIKE_A_PATH.search(given):
                raise InputError(f"{given}: no such file or folder") from None
            raise NotFound(
                f"{given}: no such file or folder, and {_begun_small(str(error))}",
                (),
                code=error.code,
                **error.facts,
            ) from None

    async def answer_over(self, body: CheckBody) -> ProcessInput:
        """Return the process of an answer and the texts that it was made from.

        A child cuts large texts, as it reads large files.

        Raises:
            InputError: Two sources have one name, or cutting them takes too long.
        """
        from veritrail_graph.graph.importers.apart import SMALL, reader_for
        from veritrail_graph.graph.importers.plain import PlainText, answer_over
        from veritrail_graph.graph.sentences import SentenceSplitter

        given = body.texts()
        answer = PlainText("answer", body.answer)
        language, question = self._app.settings.language, body.question
        size = sum(len(one.text) for one in (answer, *given))
        if size <= SMALL:
            splitter = SentenceSplitter.for_language(language)
            return await asyncio.to_thread(answer_over, answer, given, splitter, question=question)
        async with reader_for(size) as reader:
            made: ProcessInput = await asyncio.to_thread(
                reader.ask, "answer", answer, given, language, question
            )
            return made

    async def expect_judge(self, request: VerifyRequest) -> None:
        """See that claims can be verified as a request asks, before anything is stored.

        Raises:
            InputError: There is no such engine, key or price, or its values contradict each other.
        """
        from veritrail_graph.api.configured.judge import configure_judge, judge_options

        settings = self._app.settings
        async with configure_judge(settings, judge_options(settings, request)):
            pass

    async def check(
        self, what: Sequence[What], options: CheckOptions, watch: CheckWatch | None = None
    ) -> CheckDone:
        """Store what is new, take claims where there are none, verify, and return what is wrong.

        What is stored and unchanged is not stored again, and what has a verdict of the same judge
        and settings is not verified again. Several processes are verified at the same time; one
        that fails leaves the others alone.

        Args:
            what: What is checked.
            options: How.
            watch: What is called on the way.

        Raises:
            InputError: The judge cannot be made as it was asked for, or a single path cannot be
                read.
        """
        return await CheckAtWork(self._app, options, watch or CheckWatch()).carry_out(what)

    async def request_of(self, request: VerifyRequest) -> VerifyRequest | DialogueRequest:
        """Return what a job of a check is asked for: the claims of a process, or its turns.

        Raises:
            NotFound: There is no such process.
        """
        process = await self._app.processes.get(request.process_id)
        return dialogue_request(request) if is_dialogue(process.terminals) else request

    async def findings(
        self,
        process_id: str,
        after: tuple[int, str] = (-1, ""),
        limit: int = 100,
        run_id: str | None = None,
    ) -> tuple[Findings, tuple[int, str] | None]:
        """Return what counts for the claims of a process, with a finding for each that is wrong.

        Args:
            process_id: The process.
            after: The place of the last claim of the page before.
            limit: The most claims of a page.
            run_id: A run or the run of a job: what it found, whether or not that counts.

        Returns:
            The findings, and the place of the last claim; None: there are no more.

        Raises:
            NotFound: There is no such process, or no such run of it.
        """
        if run_id is not None:
            process = await self._app.processes.get(process_id)
            return await self._findings_of_run(process, run_id, after[0] + 1, limit)
        process, tally = await asyncio.gather(
            self._app.processes.get(process_id), self._app.claims.tally(process_id)
        )
        if is_dialogue(process.terminals) and await self._app.dialogues.categories(process_id):
            run = await self._app.dialogues.result(process_id)
            return await self._findings_of_turns(process, run, after[0] + 1, limit)
        claims, last = await self._app.claims.search(process_id, after=after, limit=limit)
        names = [one.verification_id for one in claims if one.verification_id is not None]
        found = {one.verification_id: one for one in await self._app.verifications.read(names)}
        errors = {
            name: tuple(node.node_id for node in one.error_nodes) for name, one in found.items()
        }
        results = [
            CheckedClaim(
                process_id=process_id,
                claim_id=one.claim_id,
                claim=one.text,
                verdict=one.verdict,
                status=one.status,
                verification_id=one.verification_id,
                error_nodes=errors.get(one.verification_id or "", ()),
                reason=one.error,
            )
            for one in claims
        ]
        store = await self._store()
        return Findings(
            process_id=process_id,
            name=process.name or process_id,
            question=process.question,
            claims=process.claims,
            verdicts=FindingCounts.of_states(tally.states),
            judge=judge_of_headers(list(found.values()), self._app.settings.home),
            findings=await findings_of(store, process, list(found.values())),
            results=tuple(results),
        ), last

    async def _findings_of_run(
        self, process: Process, run_id: str, first: int, limit: int
    ) -> tuple[Findings, tuple[int, str] | None]:
        """Return what a run found, from a claim on: its verdicts, what is undecided and failed."""
        name = process.process_id
        job = await self._job_of(name, run_id)
        if is_dialogue(process.terminals) and (job is None or job.kind is JobKind.DIALOGUE):
            with suppress(NotFound):  # a job that came to no turn, or a run of claims
                run = await self._app.dialogues.result(name, run_id)
                found, last = await self._findings_of_turns(process, run, first, limit)
                failed = failures_of_turns(name, run)
                return _of_run(found, run_id, job, failed), last
        store = await self._store()
        if job is not None:  # it holds what it did not verify again, too
            made = await self._app.verifications.headers(job.verification_ids)
        else:
            made = await store.trails.of_run(run_id, name)
            if not made:
                raise NotFound(
                    f"Process {name!r} has no run {shown(run_id)}.",
                    code="run_unknown",
                    run_id=run_id,
                )
        made = [one for one in made if one.origin is None]
        page = made[first : first + limit]
        read = await self._app.verifications.read([one.verification_id for one in page])
        results = tuple(map(checked_claim, read))
        kept = await self._app.verifications.outweighed(name, results)
        found = Findings(
            process_id=name,
            name=process.name or name,
            question=process.question,
            claims=len(made),
            verdicts=FindingCounts.of(map(checked_claim, made)),
            judge=judge_of_headers(made, self._app.settings.home),
            findings=await findings_of(store, process, read),
            results=results,
            not_in_force=tuple(one.claim_id for one in kept),
            kept_by=judges_in_force(kept),
        )
        last = (first + limit - 1, "") if first + limit < len(made) else None
        return _of_run(found, run_id, job), last

    async def outweighed(self, job: Job) -> list[JudgedClaim]:
        """Return the claims of which another result counts than that of a job."""
        if job.kind is not JobKind.VERIFICATION:
            return []
        made = await self._app.verifications.headers(job.verification_ids)
        return await self._app.verifications.outweighed(job.process_id, made)

    async def _job_of(self, process_id: str, run_id: str) -> Job | None:
        """Return the job that carries out a run of a process; None: none is kept."""
        job_id = job_id_of(run_id)
        if not (self._app.has_database and is_job_id(job_id)):
            return None
        try:
            job = await self._app.jobs.get(job_id)
        except NotFound:
            return None
        return job if job.process_id == process_id and job.run_id == run_id else None

    async def _findings_of_turns(
        self, process: Process, run: DialogueRun, first: int, limit: int
    ) -> tuple[Findings, tuple[int, str] | None]:
        """Return what a run found of the claims of turns, from a claim on."""
        name = process.process_id
        claims = await checked_turns(await self._store(), process, run)
        results = claims.results[first : first + limit]
        shown = {one.claim_id for one in results}
        return Findings(
            process_id=name,
            name=process.name or name,
            question=process.question,
            claims=len(claims.results),
            verdicts=FindingCounts.of(claims.results),
            judge=judge_of_turns(run),
            findings=tuple(one for one in claims.wrong if one.claim_id in shown),
            results=results,
        ), (first + limit - 1, "") if first + limit < len(claims.results) else None

    async def all_findings(self, process_id: str) -> Findings:
        """Return what counts for every claim of a process.

        Args:
            process_id: The process.

        Raises:
            NotFound: There is no such process.
        """
        pages: list[Findings] = []
        last: tuple[int, str] | None = (-1, "")
        while last is not None:
            page, last = await self.findings(process_id, last, _PAGE)
            pages.append(page)
        return Findings.of_pages(pages)


def _of_run(
    found: Findings,
    run_id: str,
    job: Job | None,
    turns: Sequence[tuple[str, VeriTrailError]] = (),
) -> Findings:
    """Return findings as those of a run, with what failed of it and no claim tells.

    Args:
        found: The findings.
        run_id: The run.
        job: Its job, where one is kept.
        turns: Turns that failed, each with why.
    """
    failed = [(where, str(error)) for where, error in turns]
    if job is not None and job.error is not None:
        failed.insert(0, (found.process_id, job.error))
    elif job is not None and job.status in _UNFINISHED and not (failed or found.verdicts.failed):
        failed.append((found.process_id, f"The job ended as {job.status.value}."))
    return found.model_copy(
        update={
            "run_id": run_id,
            "failed": tuple(
                CheckFailure(
                    source=where,
                    process_id=found.process_id,
                    error={"message": why, "violations": []},
                )
                for where, why in failed
            ),
        }
    )


def _begun_small(text: str) -> str:
    return text[:1].lower() + text[1:]
