"""The operations that every client offers, over REST and in process; to be awaited.

`blocking` makes plain methods of the same ones.
"""

from __future__ import annotations

from collections.abc import (
    Mapping,
    Sequence,
)
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

from veritrail_graph.api.app.answers import LineageFound
from veritrail_graph.api.app.findings import ClaimMerged, ClaimsLabelled, ErrorOrigin, RunOfRecord
from veritrail_graph.api.app.version_diff import VersionDifference
from veritrail_graph.api.client import uploads
from veritrail_graph.api.client.answers import (
    AddedClaims,
    Agreement,
    Claim,
    Health,
    Ingested,
    IngestedMany,
    JobState,
    Listed,
    Node,
    Process,
    Provenance,
    Query,
    Review,
    Rows,
    Stage,
    Verification,
)
from veritrail_graph.api.client.attributions import AttributionOperations
from veritrail_graph.api.client.calls import AsyncPages, Call, Source
from veritrail_graph.api.client.carrying import PAGE as PAGE
from veritrail_graph.api.client.checks import CheckOperations
from veritrail_graph.api.client.dialogues import DialogueOperations
from veritrail_graph.api.client.following import AsyncJob
from veritrail_graph.api.client.runs import RunOperations
from veritrail_graph.api.client.teamwork import TeamOperations
from veritrail_graph.api.requests.importing import Columns
from veritrail_graph.graph.model import VerificationHeader
from veritrail_graph.graph.model.difference import Difference
from veritrail_graph.graph.near_duplicates import NearDuplicate

T = TypeVar("T")
A = TypeVar("A", bound=BaseModel)

Direction = Literal["upstream", "downstream", "both"]
JobStatusName = Literal["queued", "running", "succeeded", "failed", "cancelled"]
ReviewName = Literal["none", "any", "confirmed", "overridden", "unclear"]
ReviewVerdict = Literal["FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED", "INCONCLUSIVE", "UNCLEAR"]
VerdictLabel = Literal["FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED", "INCONCLUSIVE"]
VerdictName = Literal[
    "FULLY_SUPPORTED",
    "NOT_FULLY_SUPPORTED",
    "INCONCLUSIVE",
    "none",
    "undecided",
    "failed",
    "unchecked",
]


INGEST_SECONDS = 3_600.0
"""How long the answer to an upload may take: a large process is stored meanwhile."""

_PROCESS = "/v1/processes/{}"
_CLAIM = "/v1/processes/{}/claims/{}"
_VERIFICATION = "/v1/verifications/{}"
_JOB = "/v1/jobs/{}"


class AsyncOperations(
    AttributionOperations, CheckOperations, DialogueOperations, RunOperations, TeamOperations
):
    """The operations. Each raises a `Problem` where it is refused, or cannot be done."""

    async def health(self) -> Health:
        """Return whether the service lives; it says nothing of the graph."""
        return await self._one(Call("health", "GET", "/healthz"), Health)

    async def ready(self) -> Health:
        """Return whether the graph engine answers too."""
        return await self._one(Call("ready", "GET", "/readyz"), Health)

    async def ingest(
        self,
        source: Source,
        *,
        process_id: str | None = None,
        replace: bool = False,
        keep: bool = False,
        append: bool = False,
        force: bool = False,
        strict: bool = False,
        format: str | None = None,  # noqa: A002  # its name everywhere
        only_explicit: bool = False,
        infer: Literal["overlap"] | None = None,
        grouping: int | None = None,
        columns: Columns | None = None,
    ) -> Ingested:
        """Store a process.

        Args:
            source: The path of a process file (also gzipped), a document, or its lines; with
                `format` the path of a file in that format.
            process_id: Takes the place of the source's own.
            replace: Whether another content under the id is replaced, with its verifications.
            keep: With `replace`: keep the earlier content as process PROCESS.HASH.
            append: Whether what is new is added to the stored process.
            force: Replace also while jobs verify its claims, which then fail or are cancelled.
            strict: Whether generated text without recorded inputs is refused.
            format: The format of the source, or `detect`; one with several processes is refused
                (see `ingest_all`). None: a process file.
            only_explicit: Whether edges that the source does not name are left out.
            infer: `overlap`: traces also get edges from words in common, which makes false ones.
            grouping: Of summaries: how many of a level one of the next level summarises.
            columns: With `format`, of tables: what columns hold, such as
                `{"contexts": "knowledge", "answer": "right_answer"}`.

        Raises:
            Rejected: It breaks rules; `violations` lists all of them, and nothing was stored.
            Conflict: Another content is stored under the id, or jobs verify its claims.
        """
        query = {
            "process_id": process_id,
            "replace": replace or None,
            "keep": keep or None,
            "append": append or None,
            "force": force or None,
            "strict": strict or None,
            "only_explicit": only_explicit or None,
            "infer": infer,
            "grouping": grouping,
            "columns": uploads.columns_text(columns),
        }
        if format is not None:
            query |= {"format": format, "filename": uploads.name_of(source), "only_one": True}
        path, long = "/v1/processes", INGEST_SECONDS
        call = Call("ingest", "POST", path, (), query, source=source, seconds=long)
        return await self._one(call, Ingested)

    async def ingest_all(
        self,
        source: Source,
        *,
        format: str = "detect",  # noqa: A002  # its name everywhere
        replace: bool = False,
        keep: bool = False,
        force: bool = False,
        strict: bool = False,
        only_explicit: bool = False,
        infer: Literal["overlap"] | None = None,
        grouping: int | None = None,
        columns: Columns | None = None,
    ) -> IngestedMany:
        """Store every process of a file; one that cannot be stored leaves the others alone.

        Args:
            source: The path of the file.
            format: Its format; `detect`: it is found by the content.
            replace: Whether other contents under their ids are replaced, with verifications.
            keep: With `replace`: keep the earlier content as process PROCESS.HASH.
            force: Replace also while jobs verify claims, which then fail or are cancelled.
            strict: Whether generated text without recorded inputs is refused.
            only_explicit: Whether edges that the source does not name are left out.
            infer: `overlap`: traces also get edges from words in common, which makes false ones.
            grouping: Of summaries: how many of a level one of the next level summarises.
            columns: Of tables: what columns hold, such as
                `{"contexts": "knowledge", "answer": "right_answer"}`.

        Raises:
            Rejected: The file is in no known format, or its only process breaks rules.
        """
        query = {
            "format": format,
            "filename": uploads.name_of(source),
            "replace": replace or None,
            "keep": keep or None,
            "force": force or None,
            "strict": strict or None,
            "only_explicit": only_explicit or None,
            "infer": infer,
            "grouping": grouping,
            "columns": uploads.columns_text(columns),
        }
        path, long = "/v1/processes", INGEST_SECONDS
        call = Call("ingest_all", "POST", path, (), query, source=source, seconds=long)
        return await self.perform(call, IngestedMany.of_answer)

    def processes(self, *, page: int = PAGE) -> AsyncPages[Process]:
        """The stored processes, in the order of their ids."""
        return self._pages(Call("processes", "GET", "/v1/processes", (), {"limit": page}), Process)

    async def process(self, process_id: str) -> Process:
        """One process, with its counts and verdicts."""
        return await self._one(Call("process", "GET", _PROCESS, (process_id,)), Process)

    async def delete(self, process_id: str, *, force: bool = False) -> None:
        """Delete a process with its claims and verifications.

        Args:
            process_id: The process.
            force: Also while jobs verify its claims, which then fail or are cancelled.
        """
        query = {"force": force or None}
        await self.perform(Call("delete", "DELETE", _PROCESS, (process_id,), query), _none)

    def nodes(
        self,
        process_id: str,
        *,
        stage: int | None = None,
        role: str | None = None,
        text: str | None = None,
        with_text: bool = False,
        page: int = PAGE,
    ) -> AsyncPages[Node]:
        """The nodes of a process.

        Args:
            process_id: The process.
            stage: Only those of a stage.
            role: Only root, intermediate, terminal or unsourced nodes.
            text: Only those whose text holds this.
            with_text: Whether the texts come along.
            page: Nodes in one answer.
        """
        query = {"stage": stage, "role": role, "text": text, "limit": page}
        query["fields"] = "text" if with_text else None
        return self._pages(Call("nodes", "GET", f"{_PROCESS}/nodes", (process_id,), query), Node)

    async def nodes_by_id(
        self,
        process_id: str,
        node_ids: Sequence[str],
        *,
        with_text: bool = True,
        with_metadata: bool = False,
    ) -> Listed[Node]:
        """Some nodes by their ids, with what is asked for of each."""
        wanted = {"text": with_text, "metadata": with_metadata}
        fields = [name for name, is_wanted in wanted.items() if is_wanted]
        body = {"node_ids": list(node_ids), "fields": fields}
        path = f"{_PROCESS}/nodes:batchGet"
        return await self._all(
            Call("nodes_by_id", "POST", path, (process_id,), {}, body), Node, "nodes"
        )

    async def lineage(
        self,
        process_id: str,
        node_id: str,
        *,
        direction: Direction = "upstream",
        depth: int = 1,
        limit: int | None = None,
    ) -> LineageFound:
        """The nodes that a node was made of, or that were made of it.

        Args:
            process_id: The process.
            node_id: Where to begin.
            direction: `upstream`: against the data flow; `downstream`: with it.
            depth: How far; 1: direct neighbours.
            limit: The most nodes.
        """
        query = {"node_id": node_id, "direction": direction, "depth": depth, "limit": limit}
        call = Call("lineage", "GET", f"{_PROCESS}/lineage", (process_id,), query)
        return await self._one(call, LineageFound)

    async def stages(self, process_id: str) -> Listed[Stage]:
        """The stages of a process: nodes, claims with errors introduced there, sentences cited."""
        call = Call("stages", "GET", f"{_PROCESS}/stages", (process_id,))
        return await self._all(call, Stage, "stages")

    def claims(
        self,
        process_id: str,
        *,
        verdict: VerdictName | None = None,
        error_stage: int | None = None,
        review: ReviewName | None = None,
        node_id: str | None = None,
        asked: bool = False,
        page: int = PAGE,
    ) -> AsyncPages[Claim]:
        """The claims of a process, with their verdicts in force and reviews.

        Args:
            process_id: The process.
            verdict: Only those with this verdict; `none`: without one.
            error_stage: Only those with an error that was introduced at this stage.
            review: Only those with such a review; `none`: without one.
            node_id: Only those about this node.
            asked: Questions that were asked, instead of the claims of the answer.
            page: Claims in one answer.
        """
        query = {
            "verdict": verdict,
            "error_stage": error_stage,
            "review": review,
            "node_id": node_id,
            "asked": asked or None,
            "limit": page,
        }
        return self._pages(Call("claims", "GET", f"{_PROCESS}/claims", (process_id,), query), Claim)

    async def near_duplicates(self, process_id: str) -> Listed[NearDuplicate]:
        """Claims that may repeat others of their node, by their words; nothing is removed."""
        call = Call("near_duplicates", "GET", f"{_PROCESS}/near-duplicates", (process_id,))
        return await self._all(call, NearDuplicate, "near_duplicates")

    async def claim(self, process_id: str, claim_id: str) -> Claim:
        """A claim with its verdict in force and its reviews."""
        return await self._one(Call("claim", "GET", _CLAIM, (process_id, claim_id)), Claim)

    async def add_claims(
        self,
        process_id: str,
        claims: Sequence[str | Mapping[str, Any]],
        *,
        node_id: str | None = None,
    ) -> AddedClaims:
        """Store claims, all or none; nothing is verified.

        Args:
            process_id: The process.
            claims: Texts, or objects as in a process file.
            node_id: The node of claims that name none; default: the only terminal.
        """
        body = {"claims": list(claims), **({"node_id": node_id} if node_id is not None else {})}
        call = Call("add_claims", "POST", f"{_PROCESS}/claims", (process_id,), {}, body)
        return await self._one(call, AddedClaims)

    async def edit_claim(
        self, process_id: str, claim_id: str, text: str, *, force: bool = False
    ) -> Claim:
        """Give a claim another text; with `force` also when it was verified."""
        query = {"force": force or None}
        call = Call("edit_claim", "PATCH", _CLAIM, (process_id, claim_id), query, {"text": text})
        return await self._one(call, Claim)

    async def delete_claim(self, process_id: str, claim_id: str, *, force: bool = False) -> None:
        """Remove a claim; with `force` its verifications and reviews go too."""
        query = {"force": force or None}
        call = Call("delete_claim", "DELETE", _CLAIM, (process_id, claim_id), query)
        await self.perform(call, _none)

    async def merge_claims(
        self, process_id: str, claim_id: str, claim_ids: Sequence[str], *, force: bool = False
    ) -> ClaimMerged:
        """Let a claim stand for others of its node: it gets their places, they are removed.

        Args:
            process_id: The process.
            claim_id: The claim that stays.
            claim_ids: The others.
            force: Also when they were verified or reviewed; that goes with them.
        """
        query, body = {"force": force or None}, {"claim_ids": list(claim_ids)}
        ids = (process_id, claim_id)
        call = Call("merge_claims", "POST", f"{_CLAIM}:merge", ids, query, body)
        return await self._one(call, ClaimMerged)

    async def label_claims(
        self, process_id: str, labels: Mapping[str, VerdictLabel | None]
    ) -> ClaimsLabelled:
        """Label claims for evaluation, all or none; None takes a label away."""
        path, body = f"{_PROCESS}/claims:label", {"labels": dict(labels)}
        call = Call("label_claims", "POST", path, (process_id,), {}, body)
        return await self._one(call, ClaimsLabelled)

    async def import_reviews(
        self, process_id: str, reviews: Sequence[Mapping[str, Any]]
    ) -> Listed[Review]:
        """Append reviews of several claims; the same ones again are not stored twice.

        Args:
            process_id: The process.
            reviews: Objects with `claim_id`, `verdict`, and where needed `reason`, `reviewer`,
                `blind`, `adjudicates`.
        """
        path, body = f"{_PROCESS}/reviews:import", {"reviews": list(reviews)}
        call = Call("import_reviews", "POST", path, (process_id,), {}, body)
        return await self._all(call, Review, "reviews")

    async def review(
        self,
        process_id: str,
        claim_id: str,
        *,
        verdict: ReviewVerdict,
        reason: str = "",
        reviewer: str | None = None,
        overrides: str | None = None,
    ) -> Review:
        """Append a person's verdict on a claim; the model's verdict stays beside it.

        Args:
            process_id: The process.
            claim_id: The claim.
            verdict: The person's verdict; UNCLEAR: the claim itself is unclear.
            reason: Why; may be empty only where it confirms the model's verdict.
            reviewer: Who says so; default: the name of the key, or in process the login.
            overrides: The verification that is reviewed; default: the latest that succeeded.
        """
        given = {"verdict": verdict, "reason": reason, "reviewer": reviewer, "overrides": overrides}
        body = {name: value for name, value in given.items() if value is not None}
        ids = (process_id, claim_id)
        call = Call("review", "POST", f"{_CLAIM}/reviews", ids, {}, body, is_repeatable=False)
        return await self._one(call, Review)

    def reviews(
        self, process_id: str, claim_id: str | None = None, *, page: int = PAGE
    ) -> AsyncPages[Review]:
        """The reviews of a process, or of one of its claims, newest first."""
        ids = (process_id,) if claim_id is None else (process_id, claim_id)
        path = f"{_PROCESS if claim_id is None else _CLAIM}/reviews"
        return self._pages(Call("reviews", "GET", path, ids, {"limit": page}), Review)

    async def agreement(self, process_id: str) -> Agreement:
        """Return how far people agree with the judge, and with each other, as figures."""
        call = Call("agreement", "GET", f"{_PROCESS}/reviews/agreement", (process_id,))
        return await self._one(call, Agreement)

    def verifications(self, process_id: str, *, page: int = PAGE) -> AsyncPages[VerificationHeader]:
        """The verifications of a process without their trails, newest first."""
        query = {"limit": page}
        call = Call("verifications", "GET", f"{_PROCESS}/verifications", (process_id,), query)
        return self._pages(call, VerificationHeader)

    async def pin(self, run_id: str, *, on: bool = True) -> RunOfRecord:
        """Let the verdicts of a run count whatever else was verified; `on=False` ends that."""
        act = "pin" if on else "unpin"
        return await self._one(Call(act, "POST", f"/v1/runs/{{}}:{act}", (run_id,)), RunOfRecord)

    async def verification(self, verification_id: str) -> Verification:
        """A verification with its whole trail."""
        call = Call("verification", "GET", _VERIFICATION, (verification_id,))
        return await self._one(call, Verification)

    async def provenance(self, verification_id: str, *, limit: int = 100) -> Provenance:
        """Paths of evidence, each from where it begins down to the verified node."""
        path, query = f"{_VERIFICATION}/provenance", {"limit": limit}
        return await self._one(
            Call("provenance", "GET", path, (verification_id,), query), Provenance
        )

    async def error(self, verification_id: str) -> ErrorOrigin:
        """Return where unsupported content was introduced, and where it was inherited."""
        call = Call("error", "GET", f"{_VERIFICATION}/error", (verification_id,))
        return await self._one(call, ErrorOrigin)

    async def diff(self, a: str, b: str) -> Difference:
        """Return where two trails part."""
        return await self._one(
            Call("diff", "GET", f"{_VERIFICATION}/diff/{{}}", (a, b)), Difference
        )

    async def compare_versions(
        self, process_id: str, since: str, match: Sequence[Mapping[str, str]] = ()
    ) -> VersionDifference:
        """An earlier version and a process side by side: nodes, texts, stages, claims, verdicts.

        Args:
            process_id: The process.
            since: The earlier version: another process, a content hash, or `last`.
            match: Claims with other texts that say the same, as a person found: objects with
                `earlier` and `claim_id`, as for `verify`.

        Raises:
            Missing: One of them is not stored.
        """
        pairs = [f"{one['earlier']},{one['claim_id']}" for one in match]
        query = {"since": since, "match": pairs or None}
        call = Call("compare_versions", "GET", f"{_PROCESS}/diff", (process_id,), query)
        return await self._one(call, VersionDifference)

    async def queries(self) -> Listed[Query]:
        """The query library, with parameters and columns."""
        return await self._all(Call("queries", "GET", "/v1/queries"), Query, "queries")

    async def query(self, name: str, /, *values: Any, **params: Any) -> Rows:
        """Ask the graph a named question; the parameters are those of the query.

        Args:
            name: The query.
            values: Parameters in the order in which the query has them.
            params: Parameters by their names.

        Raises:
            TypeError: There are more values than parameters, or one is given twice.
        """
        if values:
            params = {**await self._named(name, values, params), **params}
        call = Call("query", "POST", "/v1/queries/{}", (name,), {}, {"params": params})
        return await self._one(call, Rows)

    async def _named(
        self, name: str, values: Sequence[Any], params: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return values by the names of the parameters of a query."""
        same = name.replace("-", "_")
        found = [one for one in await self.queries() if one.name.replace("-", "_") == same]
        names = [parameter.name for one in found for parameter in one.parameters]
        given = dict(zip(names, values, strict=False))
        if found and (len(values) > len(names) or given.keys() & params.keys()):
            raise TypeError(f"query {name} takes {', '.join(names) or 'no parameter'}, each once")
        return given

    async def verify(
        self,
        /,
        process_id: str,
        claims: str | Sequence[str | Mapping[str, Any]] | None = None,
        *,
        claim_ids: Sequence[str] | None = None,
        extract: bool = False,
        explain: bool = False,
        node_id: str | None = None,
        q: int | None = None,
        engine: str | None = None,
        model: str | None = None,
        budget_usd: float | None = None,
        idempotency_key: str | None = None,
        **options: Any,
    ) -> AsyncJob:
        """Begin to verify claims; without any, the stored ones, or what the final outputs state.

        Args:
            process_id: The process.
            claims: Claims as text, or as objects of a process file.
            claim_ids: Stored claims.
            extract: Extract the claims from the node.
            explain: Attribute, behind the verdicts, the sentences of error nodes that carried
                the claims.
            node_id: The node that new claims are about; default: the only terminal.
            q: Consecutive Not Fully Supported verdicts that stop a walk.
            engine: The engine of judgement; default: as the service is set.
            model: The model that is asked.
            budget_usd: The most that it may cost.
            idempotency_key: The same key and arguments give the same job; default: a new key, so
                that a submission whose answer is lost can be sent again.
            options: More fields of `POST /v1/verifications`.

        Raises:
            Missing: The process, a claim or the node is not stored.
            Rejected: A claim breaks a rule, or the node is a root.
            Conflict: The key was used with other arguments.
        """
        given = {
            "process_id": process_id,
            "claims": [claims] if isinstance(claims, str) else claims and list(claims),
            "claim_ids": claim_ids and list(claim_ids),
            "extract": extract or None,
            "explain": explain or None,
            "node_id": node_id,
            "q": q,
            "engine": engine,
            "model": model,
            "budget_usd": budget_usd,
            **options,
        }
        return AsyncJob(self, await self.begin_job(given, idempotency_key))

    async def job(self, job_id: str) -> AsyncJob:
        """A job."""
        return AsyncJob(self, await self.job_state(job_id))

    def jobs(
        self,
        *,
        process_id: str | None = None,
        status: JobStatusName | None = None,
        page: int = PAGE,
    ) -> AsyncPages[JobState]:
        """Jobs, newest first; those that ended are removed after a while.

        Args:
            process_id: Only those of a process.
            status: Only those with this status.
            page: Jobs in one answer.
        """
        query = {"process_id": process_id, "status": status, "limit": page}
        return self._pages(Call("jobs", "GET", "/v1/jobs", (), query), JobState)


def _none(_document: Any) -> None:
    """The answer to a removal."""
