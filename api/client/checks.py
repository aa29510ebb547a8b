"""Checking for programs: `check`, and its result as a notebook and an assertion show it."""

from __future__ import annotations

import asyncio
import html
import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import PrivateAttr

from veritrail_graph.api.app.checked import cost_of
from veritrail_graph.api.client import uploads
from veritrail_graph.api.client.answers import (
    Answer,
    Claim,
    JobState,
    Listed,
    Process,
    Verification,
    frame,
)
from veritrail_graph.api.client.calls import Call, Source
from veritrail_graph.api.client.carrying import CarriedOut
from veritrail_graph.api.client.following import AsyncJob
from veritrail_graph.api.requests.importing import Columns
from veritrail_graph.api.show import markdown, notebook
from veritrail_graph.api.show.findings import (
    as_text,
    counts_words,
    failure_line,
    judge_words,
    process_table,
    sum_of,
)
from veritrail_graph.api.show.picture_svg import svg
from veritrail_graph.api.show.picture_turn import finding_picture
from veritrail_graph.api.show.tables import csv_text
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.dialogue import is_dialogue
from veritrail_graph.graph.model.finding import (
    Checked,
    CheckedClaim,
    CheckedProcess,
    CheckFailure,
    CheckJudge,
    Finding,
    Findings,
)
from veritrail_graph.graph.model.noun import Many
from veritrail_graph.graph.model.trail import NO_USAGE

if TYPE_CHECKING:
    from pandas import DataFrame

Text = str | PathLike[str]
Sources = Text | Mapping[str, str] | Sequence[Text | Mapping[str, str]]
MOST_PICTURES = 200
"""Wrong claims whose trails are read, so that they can be drawn."""
CHECK_SECONDS = 3_600.0
_PAGE = 1_000
_STORING = ("replace", "keep", "force")
"""Options that say how an input is stored; what is stored already needs none."""
_PROCESS_KEYS = frozenset({"nodes", "format"})


@dataclass(frozen=True, slots=True)
class HowRead:
    """The way that an input is read.

    Attributes:
        question: The question that an answer answers.
        columns: The columns of a table, as text.
    """

    question: str | None = None
    columns: str | None = None


class CheckFinding(Finding):
    """A wrong claim; `picture()` draws where it went wrong."""

    _trail: Verification | None = PrivateAttr(None)

    def picture(self) -> str:
        """Return the way of the claim from its source text to the answer, as SVG.

        Of a claim of a dialogue's turn it is what the claim contradicts, or that nothing says it.

        Raises:
            LookupError: Its trail was not read: a check reads those of the first wrong claims.
        """
        if self.category is not None:
            return svg(finding_picture(self))
        if self._trail is None:
            raise LookupError(
                f"the trail of {self.verification_id} was not read; "
                "client.verification(finding.verification_id).svg() draws it"
            )
        return self._trail.svg()

    def _repr_html_(self) -> str:
        return self.picture() if self.is_drawn else f"<div>{html.escape(self.claim)}</div>"

    @property
    def is_drawn(self) -> bool:
        """Return whether `picture()` can draw it."""
        return self._trail is not None or self.category is not None


class CheckResultProcess(CheckedProcess):
    """A process that was checked."""

    wrong: Many[CheckFinding] = ()


class CheckResult(Checked):
    """The result of a check, with its findings."""

    processes: Many[CheckResultProcess] = ()

    @property
    def claims(self) -> Listed[CheckedClaim]:
        """All claims that were checked."""
        return Listed(one for process in self.processes for one in process.results)

    @property
    def wrong(self) -> Listed[CheckFinding]:
        """The claims that are not supported, each with where it went wrong."""
        return Listed(one for process in self.processes for one in process.wrong)

    @property
    def undecided(self) -> Listed[CheckedClaim]:
        """The claims that cannot be told without a model."""
        return Listed(one for process in self.processes for one in process.undecided)

    def to_pandas(self) -> DataFrame:
        """Return a row a claim; pandas must be there."""
        return frame(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        """A row a claim, with where it went wrong."""
        found = {(one.process_id, one.claim_id): one for one in self.wrong}
        rows = []
        for claim in self.claims:
            one = found.get((claim.process_id, claim.claim_id))
            about: dict[str, Any] = {"culprit": None, "source": None, "wrote": None}
            if one is not None:
                about["culprit"] = one.culprit.node_id if one.culprit is not None else None
                about["source"] = one.source.text if one.source is not None else None
                about["wrote"] = one.wrote.text if one.wrote is not None else None
            rows.append({**claim.model_dump(mode="json"), **about})
        return rows

    def report(self, path: Text) -> Path:
        """Write what was found: .html with pictures, .md or .txt as lines, .json, .csv.

        Raises:
            InputError: The file has another ending, or cannot be written.
        """
        from veritrail_graph.api.show.reports.files import as_bytes, whole_file

        place = Path(path)
        kind = place.suffix.lower()
        if kind in (".html", ".htm"):
            head = "<!doctype html><meta charset='utf-8'><title>Check</title>"
            text = (
                f"{head}<body style='font-family:sans-serif'>{self._html(len(self.wrong))}</body>"
            )
        elif kind == ".txt":
            text = as_text(self) + "\n"
        elif kind == ".md":
            text = markdown.fenced(as_text(self))
        elif kind == ".json":
            text = json.dumps(self.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"
        elif kind == ".csv":
            rows = self._rows()
            columns = list(dict.fromkeys(name for row in rows for name in row))
            text = csv_text(columns, ([row.get(name) for name in columns] for row in rows))
        else:
            raise InputError(f"{place}: name a file that ends in .html, .md, .txt, .json or .csv")
        with whole_file(place) as file:
            file.write(as_bytes(text))
        return place

    def assert_supported(self, max_unsupported: int = 0, max_undecided: int | None = None) -> None:
        """Raise an assertion that shows the findings, where more claims are wrong than may be.

        What could not be checked fails, too: a failure is no verdict. So do claims of which none
        could be decided, unless `max_undecided` allows as many.

        Args:
            max_unsupported: Wrong claims that may be.
            max_undecided: Undecided claims that may be; None: any number, where at least one claim
                was decided.
        """
        __tracebackhide__ = True  # pytest shows the line of the test
        faults = []
        if len(self.wrong) > max_unsupported:
            faults.append(
                f"{counted(len(self.wrong), 'claim')} not supported, {max_unsupported} allowed"
            )
        if max_undecided is not None and len(self.undecided) > max_undecided:
            faults.append(
                f"{counted(len(self.undecided), 'claim')} undecided, {max_undecided} allowed"
            )
        if max_undecided is None and self.undecided and not any(map(_is_decided, self.claims)):
            faults.append(
                f"none of {counted(len(self.claims), 'claim')} could be decided: name a model that "
                f"judges, or allow it with max_undecided={len(self.undecided)}"
            )
        lost = len(self.failed) + sum(one.is_failed or one.is_waiting for one in self.claims)
        if lost:
            faults.append(f"{lost} could not be checked")
        if faults:
            raise AssertionError(f"{'; '.join(faults)}\n{as_text(self)}")

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        counts, claims = sum_of(self.processes)
        return f"<CheckResult {counts_words(counts, claims)}>"

    def _repr_html_(self) -> str:
        return notebook.box(self._html(1))

    def _html(self, pictures: int) -> str:
        """The pictures of the first wrong claims, the counts, and the claims as a table."""
        drawn = [one for one in self.wrong if one.is_drawn][:pictures]
        counts, claims = sum_of(self.processes)
        total = f"{counts_words(counts, claims)}. {judge_words(self.judge, self.cost_usd)}"
        parts = [*(one.picture() for one in drawn), f"<div>{html.escape(total)}</div>"]
        rows = [
            notebook.row(
                [
                    notebook.text(one.claim),
                    notebook.text(one.verdict or one.category or one.status or ""),
                    notebook.text(one.reason or ""),
                ]
            )
            for one in self.claims[: notebook.ROWS_SHOWN]
        ]
        if rows:
            parts.append(notebook.grid(("claim", "verdict", ""), "".join(rows)))
            parts.append(notebook.rest(len(self.claims)))
        if len(self.processes) > 1:
            table = process_table(self.processes)
            cells = [
                notebook.row([notebook.text("".join(run.text for run in cell)) for cell in line])
                for line in table.rows
            ]
            parts.append(notebook.grid(table.columns, "".join(cells)))
        parts += [f"<div>{html.escape(failure_line(one))}</div>" for one in self.failed]
        return "".join(parts)


def _is_decided(claim: CheckedClaim) -> bool:
    return claim.verdict is not None or claim.category is not None


class Begun(Answer):
    """A check that a service began."""

    process_id: str
    job_id: str
    checks: list[dict[str, Any]]


class CheckOperations(CarriedOut):
    """Checks of answers over their sources, files, rows and stored processes."""

    async def check(
        self,
        /,
        what: Source | Sequence[Text] | None = None,
        sources: Sources | None = None,
        *,
        answer: Text | None = None,
        question: str | None = None,
        columns: Columns | None = None,
        max: int | None = None,  # noqa: A002  # the option's name
        budget: float | None = None,
        **options: Any,
    ) -> CheckResult:
        """Check an answer over its sources, or any other input, and wait for the findings.

        Args:
            what: With `sources` the answer. Else the path of a file or folder, the id of a stored
                process, a process as a document, rows of a log, or several of these.
            sources: What the answer was made from: texts, texts by name, or objects with `name`
                and `text`. A path (`pathlib.Path`) is read.
            answer: The answer, in place of `what`.
            question: The question that the answer answers.
            columns: Of tables: what columns hold, such as `{"contexts": "knowledge", "answer":
                "right_answer"}` or `"contexts=knowledge,answer=right_answer"`.
            max: Processes that are checked at most.
            budget: The most that it may cost in USD.
            options: How claims are verified: `model`, `engine`, `again` and other fields of
                `POST /v1/verifications`; and `replace`: other content under the id is replaced,
                with `keep` kept as process PROCESS.HASH; over a service, `force`: also while jobs
                verify its claims.

        Raises:
            Rejected: It cannot be read, or an option is wrong.
            TypeError: Nothing is given, or an answer twice or without its sources.
        """
        if (what is None) == (answer is None) or (answer is not None and sources is None):
            raise TypeError("check(answer, sources), or check(what) of whatever there is")
        if sources is not None and columns is not None:
            raise TypeError("columns are those of a table: check(what, columns=…), without sources")
        what = what if answer is None else answer
        given = {name: value for name, value in options.items() if value is not None}
        if budget is not None:
            given["budget_usd"] = budget
        how = HowRead(question, uploads.columns_text(columns))
        result = await self._checked(what, sources, how, max, given)
        drawn = [one for one in result.wrong if one.category is None]
        for one in drawn[:MOST_PICTURES]:
            one._trail = await self.verification(one.verification_id)
        return result

    async def show(self, process_id: str, claim_id: str | None = None) -> Verification | Findings:
        """Return the trail of a claim, or of a process what is wrong.

        Args:
            process_id: The process.
            claim_id: The claim; None: the process.

        Raises:
            LookupError: The claim was never verified.
            Missing: The process or the claim is not stored.
        """
        if claim_id is None:
            return await self.findings(process_id)
        claim = await self.claim(process_id, claim_id)
        if claim.verification_id is None:
            raise LookupError(f"claim {claim_id} has no verdict yet: verify({process_id!r})")
        return await self.verification(claim.verification_id)

    async def findings(self, process_id: str, run_id: str | None = None) -> Findings:
        """Return what counts for the claims of a process, a finding for each wrong one.

        Args:
            process_id: The process.
            run_id: A run of it: what that found, whether or not it counts.
        """
        pages: list[Findings] = []
        while not pages or pages[-1].nextCursor is not None:
            cursor = pages[-1].nextCursor if pages else None
            query = {"limit": _PAGE, "cursor": cursor, "run_id": run_id}
            path = "/v1/processes/{}/findings"
            call = Call("findings", "GET", path, (process_id,), query)
            pages.append(await self._one(call, Findings))
        return Findings.of_pages(pages)

    async def _checked(
        self,
        what: Any,
        sources: Sources | None,
        how: HowRead,
        most: int | None,
        options: dict[str, Any],
    ) -> CheckResult:
        """Have a service check it: its jobs are waited for, and their findings are read."""
        begun: list[dict[str, Any]] = []
        storing = {name: options.pop(name) for name in _STORING if name in options}
        if sources is not None:
            body = {"answer": text_of(what), "sources": source_texts(sources), "options": options}
            if how.question is not None:
                body["question"] = how.question
            call = Call("check", "POST", "/v1/check", (), storing, body, seconds=CHECK_SECONDS)
            begun += (await self._one(call, Begun)).checks
        else:
            for one in parts_of(what):
                begun += await self._begin(one, how, storing, options)
        return await self._gathered(begun[:most])

    async def _begin(
        self, one: Any, how: HowRead, storing: dict[str, Any], options: dict[str, Any]
    ) -> list[dict[str, Any]]:
        if isinstance(one, str) and not await asyncio.to_thread(is_path, one):
            job = await self._begin_stored(one, options)
            return [{"source": one, "process_id": one, "job_id": job.job_id}]
        query = {
            "format": "detect",
            "filename": uploads.name_of(one) or "rows.jsonl",
            "question": how.question,
            "columns": how.columns,
            **storing,
            **options,
        }
        call = Call("check", "POST", "/v1/check", (), query, source=one, seconds=CHECK_SECONDS)
        return (await self._one(call, Begun)).checks

    async def _begin_stored(self, process_id: str, options: dict[str, Any]) -> JobState:
        """Begin to verify the claims of a stored process, or the turns of a dialogue."""
        process = await self.process(process_id)
        if not is_dialogue(process.terminals):
            return await self.begin_job({"process_id": process_id, **options}, None)
        given = {name: value for name, value in options.items() if name != "again"}
        return await self.begin_job(
            {"dialogue_id": process_id, **given}, None, name="verify_dialogue"
        )

    async def _gathered(self, begun: Sequence[Mapping[str, Any]]) -> CheckResult:
        processes: list[dict[str, Any]] = []
        failed: list[CheckFailure] = []
        judge, usage = None, NO_USAGE
        for one in begun:
            if one.get("job_id") is None:
                failed.append(CheckFailure.model_validate({**one, "process_id": None}))
                continue
            state = JobState.model_validate(
                {"job_id": one["job_id"], "status": "queued", "process_id": one["process_id"]}
            )
            job = await AsyncJob(self, state).wait()
            # What it found itself: other verdicts may be in force, and say nothing of this check.
            found = await self.findings(one["process_id"], job.run_id)
            where = str(one.get("source", "")) or one["process_id"]
            for each in found.failed:
                turn = each.source.removeprefix(found.process_id)
                failed.append(each.model_copy(update={"source": f"{where}{turn}"}))
            judge = judge or found.judge
            usage += job.usage
            processes.append(
                {
                    "process_id": found.process_id,
                    "name": found.name,
                    "question": found.question,
                    "status": "stored",
                    "claims": found.claims,
                    "verdicts": found.verdicts.model_dump(),
                    "wrong": [each.model_dump(mode="json") for each in found.findings],
                    "undecided": [each for each in found.results if each.is_undecided],
                    "failed": [each for each in found.results if each.is_failed],
                    "results": found.results,
                    "where": str(one.get("source", "")),
                    "cost_usd": cost_of(job.usage),
                    "run_id": job.run_id,
                    "not_in_force": found.not_in_force,
                    "kept_by": found.kept_by,
                }
            )
        return CheckResult.model_validate(
            {
                "judge": judge or CheckJudge(engine="unknown", indicative=True),
                "cost_usd": cost_of(usage),
                "processes": processes,
                "failed": failed,
            }
        )

    @abstractmethod
    async def claim(self, process_id: str, claim_id: str) -> Claim:
        """Return a stored claim."""

    @abstractmethod
    async def process(self, process_id: str) -> Process:
        """Return a stored process."""

    @abstractmethod
    async def verification(self, verification_id: str) -> Verification:
        """Return a verification with its whole trail."""


def is_path(text: str) -> bool:
    """Return whether a text names a file or folder that is there."""
    from veritrail_graph.graph.importers.files import is_there

    return is_there(Path(text).expanduser())


def parts_of(what: Any) -> list[Any]:
    """Return what is checked as single inputs: paths, ids, documents, or the rows of one log.

    Raises:
        InputError: It is an answer without its sources.
    """
    if isinstance(what, str):
        if not what.strip():
            raise InputError("An empty text is no path, no id and no answer.")
        if any(sign.isspace() for sign in what.strip()) and not is_path(what):
            raise InputError("Give what the answer was made from: check(answer, sources).")
        return [what]
    if isinstance(what, PathLike):
        return [what]
    if isinstance(what, Mapping):
        return [what] if _PROCESS_KEYS & what.keys() else [[what]]
    if not isinstance(what, Iterable):
        raise TypeError("check(answer, sources), or check(what) of whatever there is")
    every = list(what)
    if not every:
        raise InputError("There is nothing to check: the list is empty.")
    if all(isinstance(one, str | PathLike) for one in every):
        return every
    if any(isinstance(one, Mapping) and "nodes" in one for one in every):
        return every
    return [every]


def text_of(answer: Any) -> str:
    """Return the text of an answer; a path is read.

    Raises:
        InputError: It is no text, or cannot be read.
    """
    if isinstance(answer, str):
        return answer
    if isinstance(answer, PathLike):
        from veritrail_graph.graph.importers.plain import read_text

        return read_text(Path(answer))
    raise InputError("The answer is a text, or a pathlib.Path of one.")


def process_over(answer: str, sources: Sequence[str], question: str | None) -> dict[str, Any]:
    """Return an answer over its sources as a process document, a node each; they are not cut."""
    nodes: list[dict[str, Any]] = [
        {"node_id": f"source-{number}", "text": text, "stage": 1, "kind": "source"}
        for number, text in enumerate(sources, start=1)
    ]
    edges = [{"source": node["node_id"], "target": "answer"} for node in nodes]
    nodes.append({"node_id": "answer", "text": answer, "stage": 2, "kind": "answer"})
    document: dict[str, Any] = {
        "format": "veritrail.process/1",
        "stages": {"1": "source", "2": "answer"},
        "nodes": nodes,
        "edges": edges,
        "terminals": ["answer"],
    }
    if question:
        document |= {"name": question[:200], "question": question}
    return document


def source_texts(sources: Sources) -> list[dict[str, str]]:
    """Return the sources of an answer, each with a name of its own.

    Raises:
        InputError: One is no text, or cannot be read.
    """
    if isinstance(sources, Mapping) and set(sources) != {"name", "text"}:
        return [{"name": str(name), "text": str(text)} for name, text in sources.items()]
    every: Iterable[Any] = (
        [sources] if isinstance(sources, str | PathLike | Mapping) else list(sources)
    )
    found: list[dict[str, str]] = []
    for number, one in enumerate(every, start=1):
        if isinstance(one, str):
            found.append({"name": f"source-{number}", "text": one})
        elif isinstance(one, PathLike):
            from veritrail_graph.graph.importers.plain import read_sources

            found += [
                {"name": text.name, "text": text.text} for text in read_sources([Path(fspath(one))])
            ]
        elif isinstance(one, Mapping) and isinstance(one.get("text"), str):
            found.append({"name": str(one.get("name") or f"source-{number}"), "text": one["text"]})
        else:
            raise InputError(
                f"sources[{number - 1}] is neither a text nor a path nor has a `text`."
            )
    return found
