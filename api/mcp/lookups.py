"""Tools that look around: search, nodes, runs and their comparison, projects, comments.

All but `comment_on_claim` only read. Answers are bounded, and texts are quoted, as everywhere here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from mcp_types import CallToolResult
from pydantic import BaseModel, Field

from veritrail_graph.api.app.projects import By
from veritrail_graph.api.app.runs import Change, ClaimOnBothSides, SideOfClaim
from veritrail_graph.api.client.local import AsyncLocal
from veritrail_graph.api.client.service import AsyncClient
from veritrail_graph.api.mcp.answering import answer_of, reported
from veritrail_graph.api.mcp.results import TEXT, quoted, verdict_words
from veritrail_graph.api.requests.job import Id
from veritrail_graph.api.show.document import Room
from veritrail_graph.api.show.node_names import names_of
from veritrail_graph.api.show.plain import text as written
from veritrail_graph.api.show.runs import comparison_shown, runs_shown
from veritrail_graph.api.show.texts import clean, one_line
from veritrail_graph.graph.errors import NotFound, shown
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.noun import MAX_NODE_ID

FOUND = 50
"""Hits of a search, at most."""
PART = 4_000
"""Characters of a node's text in one answer."""
LINKED = 40
RUNS = 50
CHANGED = 40
"""Claims of a comparison that changed."""
COMMENTS = 50
AUTHOR = "assistant"
"""Who writes comments, so that they are not taken for those of a person."""

ProcessId = Annotated[Id, Field(description="A process_id")]
ClaimId = Annotated[Id, Field(description="A claim_id")]
Count = Annotated[int, Field(ge=1, le=FOUND, description="The most hits")]


class FoundText(BaseModel):
    """A node or claim that holds the words."""

    kind: str
    process_id: str
    node_id: str
    claim_id: str | None
    excerpt: str
    verdict: str | None
    status: str | None = None
    indicative: bool = False


class FoundTexts(BaseModel):
    """The nodes and claims that hold all words, the best first."""

    results: list[FoundText]
    truncated: bool = Field(description="Whether there may be more")


class NodeShown(BaseModel):
    """A node with a part of its text."""

    process_id: str
    node_id: str
    title: str | None = Field(description="What people call it; null: its id")
    stage: int
    role: str
    text: str
    length: int = Field(description="Characters of the whole text")
    offset: int
    more: bool = Field(description="Whether text follows; ask again with `offset`")
    made_of: list[str] = Field(description="The nodes that it was made of")
    made_of_more: int


class ShownRun(BaseModel):
    """A run."""

    run_id: str
    created_at: str
    judge: str
    share: int | None = Field(
        description="Claims that one prompt asked about, at most; null: one, as the paper asks"
    )
    escalate_to: str | None = Field(
        description="The second judge of a cascade; null: one judge, as in the paper"
    )
    indicative: bool | None
    is_of_record: bool
    verdicts: dict[str, int]
    cost_usd: float | None
    mode: str | None = Field(description="live, or batch: asked in batches; null: not known")
    since: str | None = Field(
        description="The earlier version from which verdicts were kept; null: none, or not known"
    )
    kept: int | None = Field(description="Verdicts that were kept from an earlier version")


class ShownRuns(BaseModel):
    """The runs of a process, newest first."""

    process_id: str
    runs: list[ShownRun]
    truncated: bool


class ShownChange(BaseModel):
    """A claim of which the two sides say different things."""

    claim_id: str
    claim: str
    change: str
    a: str | None = Field(description="What the first side found; null: it did not verify it")
    b: str | None


class ShownComparison(BaseModel):
    """Two runs or judges over all claims."""

    process_id: str
    a: str
    b: str
    changes: dict[str, int]
    cost_usd: dict[str, float | None]
    claims: list[ShownChange]
    claims_left_out: int


class ShownGroup(BaseModel):
    """The claims of some processes of a project."""

    name: str
    processes: int
    judged: int
    unsupported: int
    undecided: int = 0
    indicative: int = 0
    share: float | None
    error_stages: dict[str, int]


class ShownTrend(BaseModel):
    """A project in groups; without a project the names of all of them."""

    project: str | None
    by: str
    projects: list[str]
    groups: list[ShownGroup]
    truncated: bool


class ShownComment(BaseModel):
    """A comment."""

    comment_id: str
    author: str
    recorded_by: str | None
    created_at: str
    text: str


class ShownComments(BaseModel):
    """The comments on a claim, oldest first."""

    process_id: str
    claim_id: str
    comments: list[ShownComment]
    left_out: int


class Lookups:
    """The tools.

    Args:
        door: The operations, in process or of a service.
    """

    def __init__(self, door: AsyncLocal | AsyncClient) -> None:
        self._door = door

    @reported
    async def search(
        self,
        words: Annotated[
            str, Field(min_length=1, max_length=400, description="Words, all of which are needed")
        ],
        kind: Annotated[
            Literal["node", "claim"] | None, Field(description="Only nodes, or only claims")
        ] = None,
        process_id: Annotated[Id | None, Field(description="Only of this process")] = None,
        limit: Count = 20,
    ) -> Annotated[CallToolResult, FoundTexts]:
        """Find nodes and claims of all processes by the words of their texts."""
        found = []
        async for one in self._door.search(
            words, kind=kind, process_id=process_id, page=min(limit + 1, FOUND)
        ):
            found.append(one)
            if len(found) > limit:
                break
        results = [
            FoundText(
                kind=one.kind,
                process_id=one.process_id,
                node_id=one.node_id,
                claim_id=one.claim_id,
                excerpt=one_line(one.excerpt, TEXT),
                verdict=one.verdict,
                status=one.status,
                indicative=one.indicative,
            )
            for one in found[:limit]
        ]
        lines = [
            f"- {one.kind} {quoted(one.claim_id or one.node_id)} of {one.process_id}"
            + (f" ({_found_words(one)})" if one.verdict or one.status else "")
            + f": {quoted(one.excerpt)}"
            for one in results
        ]
        value = FoundTexts(results=results, truncated=len(found) > limit)
        return answer_of(value, "\n".join(lines) or "Nothing holds all of these words.")

    @reported
    async def show_node(
        self,
        process_id: ProcessId,
        node_id: Annotated[
            str, Field(min_length=1, max_length=MAX_NODE_ID, description="A node_id")
        ],
        offset: Annotated[int, Field(ge=0, description="Where the shown part begins")] = 0,
    ) -> Annotated[CallToolResult, NodeShown]:
        """Show a node: its text from `offset` on, its stage, and what it was made of."""
        nodes = await self._door.nodes_by_id(process_id, [node_id], with_metadata=True)
        if not nodes:
            raise NotFound(f"Process {process_id!r} has no node {shown(node_id)}.")
        (node,) = nodes
        around = await self._door.lineage(process_id, node_id, limit=LINKED + 1)
        above = [one.node_id for one in around.nodes if one.node_id != node_id]
        count = next((one.upstream_count for one in around.nodes if one.node_id == node_id), 0)
        made_of = (
            await self._door.nodes_by_id(
                process_id, above[:LINKED], with_text=False, with_metadata=True
            )
            if above
            else []
        )
        called = names_of((one.node_id, one.metadata) for one in (node, *made_of))
        text = node.text or ""
        value = NodeShown(
            process_id=process_id,
            node_id=node_id,
            title=called.get(node_id),
            stage=node.stage,
            role=str(node.role),
            text=clean(text[offset : offset + PART]),
            length=len(text),
            offset=offset,
            more=len(text) > offset + PART,
            made_of=above[:LINKED],
            made_of_more=max(0, count - len(above[:LINKED])),
        )
        lines = [
            f"Node {_called(node_id, called)} of {process_id}: stage {value.stage}, {value.role}, "
            f"{value.length:,} characters",
            f"Text from {offset:,} on: {json.dumps(value.text, ensure_ascii=False)}",
        ]
        if value.more:
            lines.append(f"More follows: offset={offset + PART}")
        if value.made_of:
            more = f" and {value.made_of_more:,} more" if value.made_of_more else ""
            names = ", ".join(_called(one, called) for one in value.made_of)
            lines.append(f"Made of: {names}{more}")
        return answer_of(value, "\n".join(lines))

    @reported
    async def list_runs(self, process_id: ProcessId) -> Annotated[CallToolResult, ShownRuns]:
        """List the runs of a process, newest first: judge, verdicts, cost, run of record."""
        found = (await self._door.runs(process_id)).runs
        runs = [
            ShownRun(
                run_id=one.run_id,
                created_at=one.created_at,
                judge=one.model or one.engine,
                share=one.share,
                escalate_to=one.escalate_to,
                indicative=one.indicative,
                is_of_record=one.is_of_record,
                verdicts=one.verdicts | _undecided(one.counts),
                cost_usd=one.spent.cost_usd,
                mode=one.mode,
                since=one.since,
                kept=one.kept,
            )
            for one in found[:RUNS]
        ]
        value = ShownRuns(process_id=process_id, runs=runs, truncated=len(found) > RUNS)
        words = written(runs_shown(found), Room({"row": RUNS}, TEXT))
        return answer_of(value, words or "No claim of this process was verified yet.")

    @reported
    async def compare_runs(
        self,
        process_id: ProcessId,
        a: Annotated[Id, Field(description="A run_id, or the name of a model or engine")],
        b: Annotated[Id, Field(description="The other side")],
    ) -> Annotated[CallToolResult, ShownComparison]:
        """Compare two runs, or two judges, over all claims: gained, lost, moved, and the cost."""
        found = await self._door.compare_runs(process_id, a, b)
        changed = [one for one in found.claims if one.change is not Change.SAME]
        value = ShownComparison(
            process_id=process_id,
            a=a,
            b=b,
            changes={name.value: count for name, count in found.changes.items()},
            cost_usd={"a": found.a.spent.cost_usd, "b": found.b.spent.cost_usd},
            claims=[_change(one) for one in changed[:CHANGED]],
            claims_left_out=max(0, len(changed) - CHANGED),
        )
        return answer_of(value, written(comparison_shown(found), Room({"row": CHANGED}, TEXT)))

    @reported
    async def show_trend(
        self,
        project: Annotated[
            str | None, Field(max_length=200, description="A project; without it: list all")
        ] = None,
        by: Annotated[By, Field(description="What makes a group")] = "day",
    ) -> Annotated[CallToolResult, ShownTrend]:
        """Show how much of a project is unsupported, and which stages introduced that."""
        if project is None:
            names = [one.project for one in (await self._door.projects()).projects]
            value = ShownTrend(
                project=None, by=by, projects=names[:FOUND], groups=[], truncated=len(names) > FOUND
            )
            lines = [f"- {quoted(name)}" for name in value.projects]
            return answer_of(value, "\n".join(lines) or "No process names a project.")
        found = await self._door.trend(project, by=by)
        groups = [
            ShownGroup.model_validate(one.model_dump(include=set(ShownGroup.model_fields)))
            for one in found.groups[:FOUND]
        ]
        value = ShownTrend(
            project=project,
            by=by,
            projects=[project],
            groups=groups,
            truncated=found.truncated or len(found.groups) > FOUND,
        )
        lines = [
            f"- {quoted(one.name)}: {one.unsupported:,} of {one.judged:,} claims not fully "
            f"supported, {one.processes:,} processes"
            + (f", {one.undecided:,} claims undecided" if one.undecided else "")
            + (f", {one.indicative:,} verdicts indicative" if one.indicative else "")
            for one in groups
        ]
        return answer_of(value, "\n".join(lines) or "No process has this project.")

    @reported
    async def list_comments(
        self, process_id: ProcessId, claim_id: ClaimId
    ) -> Annotated[CallToolResult, ShownComments]:
        """List the comments on a claim, oldest first."""
        found = (await self._door.comments(process_id, claim_id)).comments
        value = ShownComments(
            process_id=process_id,
            claim_id=claim_id,
            comments=[_comment(one) for one in found[-COMMENTS:]],
            left_out=max(0, len(found) - COMMENTS),
        )
        lines = [
            f"- {quoted(one.author)} on {one.created_at[:10]}: {quoted(one.text)}"
            for one in value.comments
        ]
        return answer_of(value, "\n".join(lines) or "This claim has no comment yet.")

    @reported
    async def comment_on_claim(
        self,
        process_id: ProcessId,
        claim_id: ClaimId,
        text: Annotated[str, Field(min_length=1, max_length=5_000, description="The comment")],
    ) -> Annotated[CallToolResult, ShownComment]:
        """Leave a comment on a claim for its readers; no verdict and no review changes.

        Its author is shown as `assistant`.
        """
        made = _comment(await self._door.comment(process_id, claim_id, text, author=AUTHOR))
        return answer_of(made, f"The comment {made.comment_id} is stored.")


def _called(node_id: str, names: Mapping[str, str]) -> str:
    """Return an id, and before it what people call the node."""
    return f"{quoted(names[node_id])} ({node_id})" if node_id in names else quoted(node_id)


def _comment(found: Any) -> ShownComment:
    return ShownComment(
        comment_id=found.comment_id,
        author=one_line(found.author, TEXT),
        recorded_by=found.recorded_by,
        created_at=found.created_at,
        text=one_line(found.text, 2 * TEXT),
    )


def _change(found: ClaimOnBothSides) -> ShownChange:
    return ShownChange(
        claim_id=found.claim_id,
        claim=one_line(found.claim, TEXT),
        change=found.change.value,
        a=_side(found.a),
        b=_side(found.b),
    )


def _side(found: SideOfClaim | None) -> str | None:
    if found is None:
        return None
    stages = f" (stage {', '.join(map(str, found.error_stages))})" if found.error_stages else ""
    return (verdict_words(found.verdict) if found.verdict else found.status) + stages


def _found_words(one: FoundText) -> str:
    """The verdict of a claim that was found, else its status."""
    if one.verdict is None:
        return str(one.status)
    return verdict_words(one.verdict) + (", indicative" if one.indicative else "")


def _undecided(counts: dict[str, int]) -> dict[str, int]:
    """The claims that a run left undecided, beside its verdicts; empty where there are none."""
    name = Status.UNDECIDED.value
    return {name: counts[name]} if counts.get(name) else {}
