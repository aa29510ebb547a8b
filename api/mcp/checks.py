"""The tool that checks an answer, or a stored process, and says which claims are wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BaseModel, Field

from veritrail_graph.api.client.checks import process_over
from veritrail_graph.api.client.following import AsyncJob
from veritrail_graph.api.client.local import AsyncLocal
from veritrail_graph.api.client.service import AsyncClient
from veritrail_graph.api.mcp.answering import answer_of, reported
from veritrail_graph.api.requests.job import Id
from veritrail_graph.api.show.document import Room
from veritrail_graph.api.show.findings import (
    counts_words,
    failure_line,
    finding_lines,
    kept_note,
)
from veritrail_graph.api.show.plain import line
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.dialogue import is_dialogue
from veritrail_graph.graph.model.finding import (
    CheckFailure,
    CheckJudge,
    Finding,
    FindingCounts,
    Findings,
)

MOST_SOURCES = 100
TABLES = "rag"
"""The format of rows of question, contexts and answer."""
SHOWN = 20
"""Wrong claims of one answer."""
_TEXT = 600
ROOM = Room(characters=_TEXT)

Follow = Callable[[Callable[..., Awaitable[AsyncJob]], Context[Any, Any]], Awaitable[AsyncJob]]
"""Begins a job with the owner's terms, and waits for its end."""


class CheckFound(BaseModel):
    """The findings of a process."""

    process_id: str
    run_id: str | None = Field(description="The run that found this.")
    claims: int
    verdicts: FindingCounts
    judge: CheckJudge | None
    findings: list[Finding]
    failed: list[CheckFailure] = Field(
        description="What could not be checked, with why: first claims, then what no claim tells."
    )
    not_in_force: list[str] = Field(
        description="Claims for which another result counts than this one, by their claim_id."
    )
    truncated: bool = Field(description="Whether there are more wrong claims.")


class Checks:
    """The tool.

    Args:
        door: The operations.
        follow: Begins a job and waits for it.
        options: What every verification is asked with.
    """

    def __init__(
        self, door: AsyncLocal | AsyncClient, follow: Follow, options: dict[str, Any]
    ) -> None:
        self._door, self._follow, self._options = door, follow, options

    @reported
    async def check(
        self,
        context: Context[Any, Any],
        answer: Annotated[
            str | None, Field(max_length=200_000, description="The answer that is checked")
        ] = None,
        sources: Annotated[
            list[Annotated[str, Field(min_length=1, max_length=1_000_000)]] | None,
            Field(max_length=MOST_SOURCES, description="The texts that it was made from"),
        ] = None,
        question: Annotated[
            str | None, Field(max_length=10_000, description="The question that it answers")
        ] = None,
        process_id: Annotated[
            Id | None, Field(description="A stored process, instead of an answer")
        ] = None,
        row: Annotated[
            dict[str, Any] | None,
            Field(description="One row of a log, with question, contexts and answer, instead"),
        ] = None,
        columns: Annotated[
            dict[str, Annotated[str, Field(max_length=500)]] | None,
            Field(
                max_length=4,
                description="With row, where its columns have other names: the column of the "
                "question, contexts, answer or reference, such as {'contexts': 'knowledge'}",
            ),
        ] = None,
    ) -> Annotated[CallToolResult, CheckFound]:
        """Check an answer against its sources, or a stored process, and show the wrong claims.

        Give the answer and its sources, or a row of a log, which are stored, or a process_id. For
        each wrong claim it says where it went wrong, what the source says and what was written. It
        may take minutes, and cost money up to the limit that this server was started with. What
        this judge has given a verdict on is not paid for again.
        """
        given = [process_id is not None, answer is not None and bool(sources), row is not None]
        if given.count(True) != 1:
            raise InputError("Give either `answer` and `sources`, or `row`, or `process_id`.")
        if columns is not None and row is None:
            raise InputError("`columns` are those of a `row`: leave them out.")
        name = process_id or ""

        async def begin(**options: Any) -> AsyncJob:
            nonlocal name
            if not name:  # stored only once it is known that it may be verified
                if row is not None:
                    stored = await self._door.ingest([row], format=TABLES, columns=columns)
                else:
                    document = process_over(answer or "", sources or [], question)
                    stored = await self._door.ingest(document)
                name = stored.process_id
            process = await self._door.process(name)
            if is_dialogue(process.terminals):
                return await self._door.verify_dialogue(process.process_id, **options)
            return await self._door.verify(process.process_id, **self._options, **options)

        job = await self._follow(begin, context)
        found = await self._door.findings(name, job.run_id)
        shown = found.findings[:SHOWN]
        made = CheckFound(
            process_id=name,
            run_id=found.run_id,
            claims=found.claims,
            verdicts=found.verdicts,
            judge=found.judge,
            findings=list(shown),
            failed=[*_failures(found), *found.failed][:SHOWN],
            not_in_force=list(found.not_in_force),
            truncated=len(found.findings) > SHOWN,
        )
        return answer_of(made, _text(found, made))


def _failures(found: Findings) -> list[CheckFailure]:
    """Return why claims have no result."""
    return [
        CheckFailure(
            source=one.claim_id,
            process_id=one.process_id,
            error={"message": one.reason or str(one.status), "violations": []},
        )
        for one in found.results
        if one.is_failed
    ]


def _text(found: Findings, made: CheckFound) -> str:
    """The findings, a line a part; every text from outside is in quotation marks."""
    lines = [f"Process {found.process_id}: {counts_words(found.verdicts, found.claims)}."]
    if found.judge is not None and found.judge.indicative:
        lines.append("Indicative only: words were compared, no language model judged.")
    if found.verdicts.undecided:
        lines.append("What is undecided cannot be told without a model; it is not unsupported.")
    for one in made.findings:
        lines.append(f"Wrong: claim {one.claim_id}")
        lines += [line(each, ROOM) for each in finding_lines(one, _TEXT)]
    lines += [f"Not checked: {failure_line(one)}" for one in made.failed]
    if (note := kept_note(found)) is not None:
        lines.append(f"Other verdicts stay in force: {note}")
    if made.truncated:
        lines.append(f"… and {len(found.findings) - SHOWN} more wrong claims")
    return "\n".join(lines)
