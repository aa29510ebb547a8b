"""The operations in this process: no server, no port; the graph is opened when it is needed.

Answers and errors are those of a service. Ingesting reads every format that the command line
reads, and jobs run in this process.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from typing_extensions import override

from veritrail_graph.api.advice import PYTHON
from veritrail_graph.api.app import Application, answers
from veritrail_graph.api.app.ingesting import IngestOptions
from veritrail_graph.api.auth.access import LOCAL, Caller, Scope
from veritrail_graph.api.client.answers import Event, Health
from veritrail_graph.api.client.blocking import Blocking
from veritrail_graph.api.client.calls import Call, Source
from veritrail_graph.api.client.checks import (
    CheckResult,
    HowRead,
    Sources,
    parts_of,
    source_texts,
    text_of,
)
from veritrail_graph.api.client.faults import Problem
from veritrail_graph.api.client.operations import AsyncOperations
from veritrail_graph.api.requests.importing import import_options
from veritrail_graph.graph.errors import EngineUnavailable, InputError, VeriTrailError
from veritrail_graph.graph.temporary import late_folder, temporary_folder

if TYPE_CHECKING:
    from veritrail_graph.api.app.check_terms import What
    from veritrail_graph.api.settings import Settings

T = TypeVar("T")


class AsyncLocal(AsyncOperations):
    """The operations in this process, to be awaited.

    Args:
        settings: Where the graph is and who judges; default: as the environment says.
        home: Folder of the embedded engine, in place of the one in the settings.
        advice: What errors advise, by code.

    Raises:
        InputError: A setting of the environment has a value that it cannot have.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        home: str | PathLike[str] | None = None,
        advice: Mapping[str, str] = PYTHON,
    ) -> None:
        from veritrail_graph.api.settings import Settings

        settings = settings or Settings()
        own = {} if home is None else {"home": Path(home)}
        self.settings = settings.model_copy(update=own)
        self.app = Application(self.settings, is_local=True)
        self._advice = advice

    @cached_property
    def _user(self) -> Caller:
        return replace(LOCAL, writes_as=self.app.reviews.default_reviewer())

    @property
    def _caller(self) -> Caller:
        """The caller in whose name everything is done."""
        return self._user

    @property
    def _by(self) -> Caller | None:
        """The caller that the audit log names for what is stored; None: it names none."""
        return None

    def __repr__(self) -> str:
        where = self.settings.neo4j_uri or f"the embedded engine in {self.settings.home}"
        return f"<AsyncLocal: {where}>"

    @override
    async def aclose(self) -> None:
        await self.app.close()

    @override
    async def perform(self, call: Call, read: Callable[[Any], T]) -> T:
        # The routes bring FastAPI, which a program that calls a service elsewhere never needs.
        from veritrail_graph.api.client.routes import answered

        own: Mapping[str, Callable[..., Awaitable[Any]]] = {
            "health": self._health,
            "ready": self._ready,
            "ingest": self._ingest,
            "ingest_all": self._ingest_all,
        }
        try:
            if call.name in own:
                given = {name: value for name, value in call.query.items() if value is not None}
                if call.source is not None:
                    given["source"] = call.source
                return read(await own[call.name](**given))
            return read(await answered(self.app, self._caller, call, self._advice))
        except Problem:
            raise
        except VeriTrailError as error:
            if isinstance(error, EngineUnavailable):
                await self.app.graph.lost()
            raise _problem(error, self._advice) from error

    @override
    async def events(self, job_id: str, after: str | None) -> AsyncIterator[Event]:
        try:
            self._caller.expect(Scope.VERIFY)
            if after is not None and not after.isdigit():
                raise InputError(f"{after!r} is no id of an event")
            async for event in self.app.jobs.follow(job_id, int(after or 0)):
                yield Event(id=str(event.seq), kind=event.kind, data=json.loads(event.data))
        except VeriTrailError as error:
            raise _problem(error, self._advice) from error

    @override
    async def _checked(
        self,
        what: Any,
        sources: Sources | None,
        how: HowRead,
        most: int | None,
        options: dict[str, Any],
    ) -> CheckResult:
        """Check it in this process, as the command does."""
        from veritrail_graph.api.app.check_terms import CheckOptions, HeldInput, OpenedProcess
        from veritrail_graph.api.requests.check import CheckBody
        from veritrail_graph.api.requests.verify import VerifyRequest

        checking = self.app.checking
        try:
            own: dict[str, Any] = {
                name: options.pop(name) for name in ("replace", "keep") if name in options
            }
            request = VerifyRequest.checked({**options, "process_id": "-"})
            importing = import_options(question=how.question, columns=how.columns)
            storing = _ingest_options({"force": True, **own})
            storing = replace(storing, importing=importing)
            with late_folder() as folder:
                found: list[What] = []
                if sources is not None:
                    body = CheckBody.checked(
                        {
                            "answer": text_of(what),
                            "sources": source_texts(sources),
                            "question": how.question,
                        }
                    )
                    found.append(OpenedProcess("answer", await checking.answer_over(body)))
                    storing = replace(storing, importing=None)
                else:
                    for number, one in enumerate(parts_of(what)):
                        if isinstance(one, str):
                            found.append(await checking.named(one, folder))
                            continue
                        inside = folder() / str(number)
                        await asyncio.to_thread(inside.mkdir)
                        path = await asyncio.to_thread(_on_disk, one, inside)
                        found.append(HeldInput(path, _called(one, path)))
                given = CheckOptions(request, storing, most, advice=self._advice)
                done = await checking.check(found, given)
        except VeriTrailError as error:
            raise _problem(error, self._advice) from error
        result = CheckResult.model_validate(done.checked.model_dump(mode="json"))
        fault = done.fault
        if not result.processes and done.faults:
            fault = done.faults[0]
        if fault is not None:
            problem = _problem(fault, self._advice)
            problem.checked = result  # what is finished is paid
            raise problem from fault
        return result

    async def _health(self) -> Health:
        return Health(status="ok")

    async def _ready(self) -> Health:
        await self.app.check()
        return Health(status="ready")

    async def _ingest(self, source: Source, **given: Any) -> answers.Ingested:
        with temporary_folder() as folder:
            path = await asyncio.to_thread(_on_disk, source, folder)
            options = _ingest_options(given)
            try:
                return await self.app.processes.ingest(path, options, by=self._by)
            except VeriTrailError as error:
                raise error.at_place(path, _called(source, path)) from error

    async def _ingest_all(self, source: Source, **given: Any) -> answers.IngestedMany:
        found: list[tuple[str, answers.Ingested | VeriTrailError]] = []
        with temporary_folder() as folder:
            path = await asyncio.to_thread(_on_disk, source, folder)
            each = self.app.processes.ingest_each([path], _ingest_options(given), by=self._by)
            called = _called(source, path)
            async for where, one in each:
                made = one.at_place(path, called) if isinstance(one, VeriTrailError) else one
                found.append((where.replace(str(path), called), made))
        if not found:
            raise InputError(f"{called}: there is no process in it")
        if len(found) == 1 and isinstance(found[0][1], VeriTrailError):
            raise found[0][1]
        return answers.IngestedMany.of_outcomes(found, self._advice)


class Local(Blocking):
    """The operations in this process, for plain callers.

    Args:
        settings: Where the graph is and who judges; default: as the environment says.
        home: Folder of the embedded engine, in place of the one in the settings.

    Raises:
        InputError: A setting of the environment has a value that it cannot have.
    """

    def __init__(
        self, settings: Settings | None = None, *, home: str | PathLike[str] | None = None
    ) -> None:
        super().__init__(AsyncLocal(settings, home=home))


def _ingest_options(given: Mapping[str, Any]) -> IngestOptions:
    """Return how a source is stored, from the parameters of the REST call."""
    if given.get("keep") and not given.get("replace"):
        raise InputError("keep keeps what is replaced: name replace, too")
    names = ("process_id", "replace", "keep", "append", "force", "strict")
    format_name = given.get("format")
    return IngestOptions(
        **{name: given[name] for name in names if name in given},
        format=None if format_name == "detect" else format_name,
        importing=import_options(
            only_explicit=given.get("only_explicit", False),
            infer=given.get("infer"),
            grouping=given.get("grouping"),
            columns=given.get("columns"),
        ),
    )


def _on_disk(source: Source, folder: Path) -> Path:
    """A source as a file that can be read twice."""
    from veritrail_graph.api.client import uploads

    path = uploads.path_of(source)
    if path is not None:
        return path
    if isinstance(source, Mapping):
        document = folder / "process.json"
        document.write_bytes(uploads.written(source))
        return document
    assert not isinstance(source, str | PathLike)  # noqa: S101  # those are paths
    lines = folder / "process.jsonl"
    with lines.open("wb") as file:
        for record in source:
            if not isinstance(record, Mapping):
                raise InputError("a process is a path, a document, or the objects of its lines")
            file.write(uploads.written(record) + b"\n")
    return lines


def _called(source: Any, path: Path) -> str:
    """Return what a caller calls a source that was put into a file, or that is one."""
    if isinstance(source, str | PathLike):
        return str(path)
    return "the document" if isinstance(source, Mapping) else "the rows"


def _problem(error: VeriTrailError, advice: Mapping[str, str]) -> Problem:
    """An error of the application as a service sends it."""
    from veritrail_graph.api.client.routes import problem_from
    from veritrail_graph.api.service.http.problems import answer_of

    return problem_from(answer_of(error, advice))
