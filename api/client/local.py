"""The same operations in this process: no server, no port; the graph is opened when it is needed.

Answers and errors are those of a service. Ingesting reads every format that the command line
reads, and jobs run in this process.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from typing_extensions import override

from veritrail_graph.api.advice import PYTHON
from veritrail_graph.api.app import Application, answers, findings
from veritrail_graph.api.app.changes import Changes
from veritrail_graph.api.app.ingesting import IngestOptions
from veritrail_graph.api.app.job_answers import JobModel, JobSummary
from veritrail_graph.api.app.jobs import JobStatus
from veritrail_graph.api.app.projects import By, ProjectList, Trend
from veritrail_graph.api.app.runs import RunComparison, RunList
from veritrail_graph.api.app.search import Kind
from veritrail_graph.api.app.sharing import NewShare, ShareList
from veritrail_graph.api.app.teamwork import Comment, CommentList, NewRound, Round, RoundList
from veritrail_graph.api.app.version_diff import VersionDifference
from veritrail_graph.api.auth.access import LOCAL
from veritrail_graph.api.client.answers import Event, Health
from veritrail_graph.api.client.blocking import Blocking
from veritrail_graph.api.client.calls import Call, Source
from veritrail_graph.api.client.carrying import SUBMITTED
from veritrail_graph.api.client.faults import Problem, problem_of
from veritrail_graph.api.client.operations import AsyncOperations
from veritrail_graph.api.requests.attribute import AttributeRequest
from veritrail_graph.api.requests.bodies import check_body
from veritrail_graph.api.requests.dialogue import DialogueRequest
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.graph.errors import EngineUnavailable, InputError, VeriTrailError
from veritrail_graph.graph.model import Verdict
from veritrail_graph.graph.model.dialogue import DialogueRun

if TYPE_CHECKING:
    from veritrail_graph.api.settings import Settings

MOST_JOBS = 1_000
LOCAL_PATIENCE = 600.0
"""Seconds that a search waits for the index: nothing else brings it up to date."""

T = TypeVar("T")

_Document = dict[str, Any]
_OF_PROCESS, _OF_VERIFICATION = "/v1/processes/{}", "/v1/verifications/{}"


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

    def __repr__(self) -> str:
        where = self.settings.neo4j_uri or f"the embedded engine in {self.settings.home}"
        return f"<AsyncLocal: {where}>"

    @override
    async def aclose(self) -> None:
        await self.app.close()

    @override
    async def perform(self, call: Call, read: Callable[[Any], T]) -> T:
        operation = getattr(self, f"_{call.name}")
        try:
            check_body(call.name, call.body or {})
        except InputError as error:
            raise _problem(error, self._advice) from error
        given = {**call.query, **(call.body or {})}
        if call.source is not None:
            given["source"] = call.source
        if call.name in SUBMITTED:
            given = {"request": call.body, "key": call.headers["Idempotency-Key"]}
        try:
            given = {name: value for name, value in given.items() if value is not None}
            return read(await self._of_one_version(call, partial(operation, *call.ids, **given)))
        except VeriTrailError as error:
            if isinstance(error, EngineUnavailable):
                await self.app.graph.lost()
            raise _problem(error, self._advice) from error

    async def _of_one_version(self, call: Call, operate: Callable[[], Awaitable[T]]) -> T:
        """Carry out a call; one that reads a process or a verification sees one version of it."""
        if call.method == "GET" and call.path.startswith(_OF_PROCESS):
            return await self.app.versions.of_process(call.ids[0], operate)
        if call.method == "GET" and call.path.startswith(_OF_VERIFICATION):
            for verification_id in call.ids:
                operate = partial(self.app.versions.of_verification, verification_id, operate)
        return await operate()

    @override
    async def events(self, job_id: str, after: str | None) -> AsyncIterator[Event]:
        try:
            if after is not None and not after.isdigit():
                raise InputError(f"{after!r} is no id of an event")
            async for event in self.app.jobs.follow(job_id, int(after or 0)):
                yield Event(id=str(event.seq), kind=event.kind, data=json.loads(event.data))
        except VeriTrailError as error:
            raise _problem(error, self._advice) from error

    # One method for each operation, with the parameters of its REST call.

    async def _health(self) -> Health:
        return Health(status="ok")

    async def _ready(self) -> Health:
        await self.app.check()
        return Health(status="ready")

    async def _ingest(self, source: Source, **given: Any) -> answers.Ingested:
        with tempfile.TemporaryDirectory(prefix="veritrail-") as folder:
            path = await asyncio.to_thread(_on_disk, source, Path(folder))
            return await self.app.processes.ingest(path, _ingest_options(given))

    async def _ingest_all(self, source: Source, **given: Any) -> answers.IngestedMany:
        found: list[tuple[str, answers.Ingested | VeriTrailError]] = []
        with tempfile.TemporaryDirectory(prefix="veritrail-") as folder:
            path = await asyncio.to_thread(_on_disk, source, Path(folder))
            each = self.app.processes.ingest_each([path], _ingest_options(given))
            found = [one async for one in each]
        if not found:
            raise InputError(f"{path}: there is no process in it")
        if len(found) == 1 and isinstance(found[0][1], VeriTrailError):
            raise found[0][1]
        return answers.IngestedMany.of_outcomes(found, self._advice)

    async def _processes(self, limit: int, cursor: str = "") -> _Document:
        found = await self.app.processes.page(cursor, limit)
        last = found[-1].process.process_id if len(found) == limit else None
        listed = [answers.ProcessInList.of(one) for one in found]
        return {"processes": listed, "nextCursor": last}

    async def _process(self, process_id: str) -> answers.ProcessFound:
        return answers.ProcessFound.of_overview(await self.app.processes.overview(process_id))

    async def _delete(self, process_id: str, force: bool = False) -> None:
        await self.app.processes.delete(process_id, force=force, by=LOCAL)

    async def _nodes(
        self,
        process_id: str,
        limit: int,
        cursor: tuple[int, int] = (-1, -1),
        fields: str = "",
        **filters: Any,
    ) -> _Document:
        found = await self.app.nodes.search(
            process_id, after=cursor, limit=limit, with_content=bool(fields), **filters
        )
        last = (found.nodes[-1].stage, found.nodes[-1].position) if found.more else None
        return {"nodes": answers.Node.all_of(found, [fields] if fields else []), "nextCursor": last}

    async def _nodes_by_id(
        self, process_id: str, node_ids: Sequence[str], fields: Sequence[str]
    ) -> _Document:
        found = await self.app.nodes.get(process_id, node_ids, with_content=bool(fields))
        return {"nodes": answers.Node.all_of(found, fields)}

    async def _lineage(self, process_id: str, node_id: str, **walk: Any) -> answers.LineageFound:
        return answers.LineageFound.of(await self.app.nodes.lineage(process_id, node_id, **walk))

    async def _stages(self, process_id: str) -> _Document:
        return {"stages": (await self.app.processes.stages(process_id)).stages}

    async def _claims(
        self, process_id: str, limit: int, cursor: tuple[int, str] = (-1, ""), **filters: Any
    ) -> _Document:
        found, last = await self.app.claims.search(process_id, after=cursor, limit=limit, **filters)
        return {"claims": [findings.ClaimFound.of_judged(one) for one in found], "nextCursor": last}

    async def _near_duplicates(self, process_id: str) -> _Document:
        return {"near_duplicates": await self.app.claims.near_duplicates(process_id)}

    async def _claim(self, process_id: str, claim_id: str) -> findings.ClaimFound:
        return findings.ClaimFound.of_judged(await self.app.claims.get(process_id, claim_id))

    async def _add_claims(
        self, process_id: str, claims: Sequence[Any], node_id: str | None = None
    ) -> findings.ClaimsStored:
        records = self.app.claims.records_of(claims)
        stored, added = await self.app.claims.add(process_id, records, node_id)
        return findings.ClaimsStored(process_id=process_id, claims=list(stored), claims_added=added)

    async def _edit_claim(
        self, process_id: str, claim_id: str, text: str, force: bool = False
    ) -> findings.ClaimFound:
        await self.app.claims.edit(process_id, claim_id, text, force=force, by=LOCAL)
        return await self._claim(process_id, claim_id)

    async def _delete_claim(self, process_id: str, claim_id: str, force: bool = False) -> None:
        await self.app.claims.remove(process_id, [claim_id], force=force, by=LOCAL)

    async def _merge_claims(
        self, process_id: str, claim_id: str, claim_ids: Sequence[str], force: bool = False
    ) -> findings.ClaimMerged:
        claim, removed = await self.app.claims.merge(
            process_id, claim_id, claim_ids, force=force, by=LOCAL
        )
        return findings.ClaimMerged.of(process_id, claim, removed)

    async def _label_claims(
        self, process_id: str, labels: Mapping[str, str | None]
    ) -> findings.ClaimsLabelled:
        given = {name: Verdict(one) if one else None for name, one in labels.items()}
        count = await self.app.claims.label(process_id, given, by=LOCAL)
        return findings.ClaimsLabelled(process_id=process_id, labelled=count)

    async def _import_reviews(
        self, process_id: str, reviews: Sequence[Mapping[str, Any]]
    ) -> _Document:
        from veritrail_graph.api.app.claim_tables import GivenReview

        rows = [GivenReview(f"reviews[{place}]", **one) for place, one in enumerate(reviews)]
        name = self.app.reviews.default_reviewer()
        made = await self.app.reviews.add_all(process_id, rows, name, by=LOCAL)
        return {"reviews": [one.json_object() for one in made]}

    async def _search(
        self, q: str, limit: int, kind: Kind | None = None, process_id: str | None = None,
        cursor: int = 0,
    ) -> _Document:  # fmt: skip
        found, behind = await self.app.search.find(
            q, kind=kind, process_id=process_id, after=cursor, limit=limit, patience=LOCAL_PATIENCE
        )
        return {"results": found.results, "nextCursor": behind}

    async def _review(
        self, process_id: str, claim_id: str, reviewer: str | None = None, **given: Any
    ) -> _Document:
        from veritrail_graph.graph.reviewing import NewReview

        name = self.app.reviews.default_reviewer() if reviewer is None else reviewer
        new = NewReview(reviewer=name, **given)
        return (await self.app.reviews.add(process_id, claim_id, new, by=LOCAL)).json_object()

    async def _reviews(
        self, process_id: str, claim_id: str | None = None, *, limit: int, cursor: str = ""
    ) -> _Document:

        found, behind = await self.app.reviews.page(process_id, claim_id, cursor, limit)
        return {"reviews": [one.json_object() for one in found], "nextCursor": behind}

    async def _pin(self, run_id: str) -> findings.RunOfRecord:
        return await self.app.verifications.pin(run_id)

    async def _unpin(self, run_id: str) -> findings.RunOfRecord:
        return await self.app.verifications.pin(run_id, on=False)

    async def _projects(self) -> ProjectList:
        return await self.app.projects.all()

    async def _tag(
        self, process_id: str, project: str | None = None, tags: Sequence[str] = ()
    ) -> answers.ProcessFound:
        await self.app.projects.tag(process_id, project, tags, by=LOCAL)
        return answers.ProcessFound.of_overview(await self.app.processes.overview(process_id))

    async def _trend(self, project: str, by: By = "day") -> Trend:
        return await self.app.projects.trend(project, by)

    async def _comments(self, process_id: str, claim_id: str) -> CommentList:
        return await self.app.teamwork.comments(process_id, claim_id, by=LOCAL)

    async def _comment(
        self, process_id: str, claim_id: str, text: str, author: str | None = None
    ) -> Comment:
        name = self.app.reviews.default_reviewer() if author is None else author
        return await self.app.teamwork.comment(process_id, claim_id, text, name, by=LOCAL)

    async def _review_rounds(self, process_id: str) -> RoundList:
        return await self.app.teamwork.rounds(process_id)

    async def _begin_round(self, process_id: str, **wanted: Any) -> Round:
        return await self.app.teamwork.begin(process_id, NewRound(**wanted), by=LOCAL)

    async def _decide(
        self, process_id: str, claim_id: str, reviewer: str | None = None, **given: Any
    ) -> _Document:
        from veritrail_graph.graph.reviewing import NewReview

        name = self.app.reviews.default_reviewer() if reviewer is None else reviewer
        new = NewReview(reviewer=name, **given)
        made = await self.app.teamwork.decide(process_id, claim_id, new, by=LOCAL)
        return made.json_object()

    async def _share(self, process_id: str, days: float, note: str = "") -> NewShare:
        return await self.app.sharing.create(process_id, days=days, note=note, by=LOCAL)

    async def _shares(self, process_id: str) -> ShareList:
        return await self.app.sharing.of_process(process_id)

    async def _end_share(self, process_id: str, share_id: str) -> None:
        await self.app.sharing.revoke(process_id, share_id, by=LOCAL)

    async def _runs(self, process_id: str) -> RunList:
        return await self.app.runs.of_process(process_id)

    async def _compare_runs(self, process_id: str, a: str, b: str) -> RunComparison:
        return await self.app.runs.compare(process_id, a, b)

    async def _agreement(self, process_id: str) -> findings.Agreement:
        found = await self.app.reviews.agreement(process_id)
        return findings.Agreement.of(process_id, found)

    async def _verifications(self, process_id: str, limit: int, cursor: str = "") -> _Document:
        found, behind = await self.app.verifications.page(process_id, cursor, limit)
        listed = [one.header for one in found]
        return {"verifications": listed, "nextCursor": behind or None}

    async def _verification(self, verification_id: str) -> _Document:
        found = await self.app.verifications.get(verification_id)
        return await self.app.verifications.as_document(found)

    async def _provenance(self, verification_id: str, limit: int = 100) -> findings.Provenance:
        return await self.app.verifications.provenance(verification_id, limit)

    async def _error(self, verification_id: str) -> findings.ErrorOrigin:
        return await self.app.verifications.error(verification_id)

    async def _diff(self, a: str, b: str) -> findings.DifferenceFound:
        return findings.DifferenceFound.of(await self.app.verifications.diff(a, b))

    async def _queries(self) -> _Document:
        library = self.app.queries
        return {"queries": [library.described(one) for one in library.all()]}

    async def _query(self, name: str, params: Mapping[str, Any]) -> findings.QueryRows:
        return findings.QueryRows.of(await self.app.queries.run(name, params))

    async def _jobs(
        self, limit: int, status: JobStatus | None = None, process_id: str | None = None
    ) -> _Document:
        del limit  # they are few
        found = await self.app.jobs.page(process_id=process_id, status=status, limit=MOST_JOBS)
        return {
            "jobs": [JobSummary.of(one).model_dump(mode="json") for one in found],
            "nextCursor": None,
        }

    async def _verify(self, request: Mapping[str, Any], key: str) -> _Document:
        wanted = VerifyRequest.checked(request, "body.")
        return JobModel.of((await self.app.jobs.submit(LOCAL, wanted, key))[0]).model_dump(
            mode="json"
        )

    async def _attribute(self, request: Mapping[str, Any], key: str) -> _Document:
        wanted = AttributeRequest.checked(request, "body.")
        return JobModel.of((await self.app.jobs.submit(LOCAL, wanted, key))[0]).model_dump(
            mode="json"
        )

    async def _attributions(
        self,
        process_id: str,
        node_id: str,
        limit: int,
        run_id: str | None = None,
        cursor: tuple[int, int] = (-1, -1),
    ) -> _Document:
        found = await self.app.attributions.of_node(process_id, node_id, run_id, cursor, limit)
        last = (found.sentences[-1].start, found.sentences[-1].end) if found.more else None
        return {"attributions": found.sentences, "nextCursor": last}

    async def _attributed_nodes(
        self, process_id: str, limit: int, cursor: tuple[int, int] = (-1, -1)
    ) -> _Document:
        found, more = await self.app.attributions.nodes(process_id, cursor, limit)
        last = (found[-1].stage, found[-1].position) if more else None
        return {"attributed_nodes": found, "nextCursor": last}

    async def _verify_dialogue(self, request: Mapping[str, Any], key: str) -> _Document:
        wanted = DialogueRequest.checked(request, "body.")
        return JobModel.of((await self.app.jobs.submit(LOCAL, wanted, key))[0]).model_dump(
            mode="json"
        )

    async def _dialogue(self, dialogue_id: str, run_id: str | None = None) -> DialogueRun:
        return await self.app.dialogues.result(dialogue_id, run_id)

    async def _dialogue_runs(self, dialogue_id: str) -> _Document:
        return {"dialogue_runs": await self.app.dialogues.runs(dialogue_id)}

    async def _verified_turns(
        self,
        dialogue_id: str,
        limit: int,
        run_id: str | None = None,
        from_turn: str | None = None,
        cursor: int | None = None,
    ) -> _Document:
        if cursor is None:
            cursor, _ = await self.app.dialogues.before(dialogue_id, from_turn)
        found, behind = await self.app.dialogues.page(dialogue_id, run_id, cursor, limit)
        return {"turns": found.turns, "nextCursor": behind}

    async def _turns(
        self,
        dialogue_id: str,
        limit: int,
        from_turn: str | None = None,
        cursor: tuple[int, int] | None = None,
    ) -> _Document:
        if cursor is None:
            cursor = await self.app.dialogues.before(dialogue_id, from_turn)
        found = await self.app.dialogues.turns(dialogue_id, cursor, limit + 1)
        behind = found[limit - 1].place if len(found) > limit else None
        return {"turns": [one.turn for one in found[:limit]], "nextCursor": behind}

    async def _job(self, job_id: str) -> _Document:
        return JobModel.of(await self.app.jobs.get(job_id)).model_dump(mode="json")

    async def _changes(self, job_id: str) -> Changes:
        return await self.app.jobs.changes(job_id)

    async def _compare_versions(
        self, process_id: str, since: str, match: Sequence[str] = ()
    ) -> VersionDifference:
        pairs = [(earlier, now) for earlier, _, now in (one.partition(",") for one in match)]
        return await self.app.processes.diff(since, process_id, pairs)

    async def _cancel(self, job_id: str) -> _Document:
        return JobModel.of(await self.app.jobs.cancel(job_id)).model_dump(mode="json")

    async def _resume(self, job_id: str, **limits: float) -> _Document:
        return JobModel.of(await self.app.jobs.resume(job_id, limits)).model_dump(mode="json")


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
    """How a source is stored, from the parameters of the REST call."""
    from veritrail_graph.graph.importers.registry import ImportOptions

    if given.get("infer") not in (None, "overlap"):
        raise InputError(f"infer {given['infer']!r}: the only further way is `overlap`")
    if given.get("keep") and not given.get("replace"):
        raise InputError("keep keeps what is replaced: name replace, too")
    names = ("process_id", "replace", "keep", "append", "force", "strict")
    format_name = given.get("format")
    return IngestOptions(
        **{name: given[name] for name in names if name in given},
        format=None if format_name == "detect" else format_name,
        importing=ImportOptions(
            only_explicit=given.get("only_explicit", False),
            infer_overlap=given.get("infer") is not None,
            grouping=given.get("grouping"),
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


def _problem(error: VeriTrailError, advice: Mapping[str, str]) -> Problem:
    """An error of the application as a service sends it."""
    from veritrail_graph.api.http.problems import answer_of

    answer = answer_of(error, advice)
    after = answer.headers.get("retry-after", "")
    document = json.loads(bytes(answer.body))
    return problem_of(answer.status_code, document, float(after) if after.isdigit() else None)
