"""Answers of operations: JSON objects that every door shows, made from what the graph holds.

Verifications, claims and reviews are nouns of their own (`graph.model`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    ConfigDict,
    Field,
)

from veritrail_graph.graph.errors import (
    InputError,
    VeriTrailError,
    violation_with_advice,
    with_advice,
)
from veritrail_graph.graph.model.nodes import Node
from veritrail_graph.graph.model.noun import Answer, is_none
from veritrail_graph.graph.model.processes import ProcessSummary

if TYPE_CHECKING:
    from veritrail_graph.graph.ingest import IngestReport
    from veritrail_graph.graph.model import EdgeFacts
    from veritrail_graph.graph.model.lineage import Lineage


class Page(Answer):
    """A page of a list."""

    nextCursor: Annotated[  # noqa: N815
        str | None, Field(description="Where the next page begins; null: there is none.")
    ] = None


class Ingested(Answer):
    """What an ingest did: what `veritrail ingest --json` prints."""

    process_id: str = Field(examples=["harbour-2025"])
    name: str
    status: str = Field(description="created, unchanged, replaced or appended.")
    nodes: int
    edges: int
    claims: int
    claims_added: int = 0
    verifications_added: int = 0
    reviews_added: int = 0
    terminals: list[str] = Field([])
    stages: dict[str, int] = Field(
        {}, description="Number of nodes by stage.", examples=[{"1": 12, "2": 1}]
    )
    warnings: list[str] = Field([])
    format: str = Field("process", description="The format that was read.")
    unsourced: int = Field(
        0, description="Nodes without recorded inputs that are no source text, all of the process."
    )
    inferred_edges: dict[str, int] = Field(
        {}, description="Edges that the input does not name, by how they were found."
    )
    explained: float | None = Field(
        None,
        description="Share of the characters that generating steps were given which edges account "
        "for; null where the input does not record what they were given.",
    )
    removed_verifications: int | None = Field(
        None,
        description="With status replaced: verifications that are stored nowhere any more.",
        exclude_if=is_none,
    )
    removed_reviews: int | None = Field(None, exclude_if=is_none)
    nodes_added: int | None = Field(None, exclude_if=is_none)
    edges_added: int | None = Field(None, exclude_if=is_none)
    resumed: bool | None = Field(None, exclude_if=is_none)
    kept_as: str | None = Field(
        None, description="The process that what was replaced is kept as.", exclude_if=is_none
    )
    kept_verifications: int | None = Field(
        None, description="Verifications that are kept there.", exclude_if=is_none
    )
    kept_reviews: int | None = Field(
        None, description="Reviews that are kept there.", exclude_if=is_none
    )
    stage_names: dict[int, str] = Field(default={}, exclude=True)
    not_stated: str = Field(
        default="", description="Why no claims could be taken from its outputs.", exclude=True
    )

    @classmethod
    def of(cls, report: IngestReport) -> Ingested:
        """The answer for a report of the store."""
        found = report.survey
        is_replaced, is_appended = report.status == "replaced", found.onto is not None
        is_kept = report.kept_as is not None
        return cls(
            process_id=found.process_id,
            name=found.header.name or found.process_id,
            status=report.status,
            nodes=found.nodes,
            edges=found.edges,
            claims=report.claims,
            claims_added=report.claims_added,
            verifications_added=report.verifications_added,
            reviews_added=report.reviews_added,
            terminals=list(found.terminals),
            stages={str(stage): nodes for stage, nodes in found.stages.items()},
            warnings=list(found.warnings),
            format=format_name(found.header.source_format),
            unsourced=found.unsourced,
            inferred_edges=found.inferred_edges,
            explained=found.header.explained,
            removed_verifications=report.removed_verifications if is_replaced else None,
            removed_reviews=report.removed_reviews if is_replaced else None,
            nodes_added=report.nodes_added if is_appended else None,
            edges_added=report.edges_added if is_appended else None,
            resumed=True if report.resumed else None,
            kept_as=report.kept_as,
            kept_verifications=report.kept_verifications if is_kept else None,
            kept_reviews=report.kept_reviews if is_kept else None,
            stage_names=dict(found.header.stage_names),
        )


def format_name(source_format: str) -> str:
    """The name of the importer: a process file says its format with its version."""
    is_file = source_format.startswith("veritrail.process/")
    return "process" if is_file else source_format


def fault_object(error: VeriTrailError, advice: Mapping[str, str]) -> dict[str, Any]:
    """An error as a JSON object, with the advice of a door: `message` and `violations`."""
    violations = error.violations if isinstance(error, InputError) else ()
    return {
        "message": with_advice(error, advice),
        "violations": [
            {"kind": one.kind, "where": one.where, "message": violation_with_advice(one, advice)}
            for one in violations
        ],
    }


class Refused(Answer):
    """A process that was not stored, of an input that holds several."""

    source: str = Field(description="Where it is, such as `log.jsonl#17`.")
    error: dict[str, Any] = Field(description="`message` and `violations`, as for one process.")


class IngestedMany(Answer):
    """What an ingest of several processes did."""

    processes: list[Ingested | Refused]
    created: int = 0
    unchanged: int = 0
    replaced: int = 0
    appended: int = 0
    failed: int = 0

    @classmethod
    def of(cls, processes: Sequence[Ingested | Refused]) -> IngestedMany:
        """The answer, with how many of them came to what."""
        counts = Counter("failed" if isinstance(one, Refused) else one.status for one in processes)
        return cls(processes=list(processes), **counts)

    @classmethod
    def of_outcomes(
        cls, outcomes: Iterable[tuple[str, Ingested | VeriTrailError]], advice: Mapping[str, str]
    ) -> IngestedMany:
        """The answer for what became of each process, with the advice of a door."""
        return cls.of(
            [
                Refused(source=where, error=fault_object(one, advice))
                if isinstance(one, VeriTrailError)
                else one
                for where, one in outcomes
            ]
        )


class Stage(Answer):
    """A stage. Each claim counts by its verification in force."""

    stage: int
    name: str | None = Field(description="The input's name of the stage.")
    nodes: int
    claims_with_errors: int = Field(
        description="Claims with an error that was, or may have been, introduced here."
    )
    claims_counted: float = Field(
        description="These claims, each counted once over all stages: one with k possible stages "
        "as 1/k at each."
    )
    sentences_cited: int = Field(description="Different sentences of its nodes that are evidence.")


class Stages(Answer):
    """The stages of a process, ascending."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "process_id": "harbour-summary",
                    "stages": [
                        {
                            "stage": 1,
                            "name": "source page",
                            "nodes": 14,
                            "claims_with_errors": 0,
                            "claims_counted": 0.0,
                            "sentences_cited": 21,
                        }
                    ],
                    "indicative": True,
                }
            ]
        },
    )

    process_id: str
    stages: list[Stage]
    indicative: bool = Field(description="Whether a verdict counts here that no model gave.")


class ProcessPage(Page):
    """A page of processes, in the order of their ids."""

    processes: list[ProcessSummary]


class NodesPage(Page):
    """A page of nodes, by stage and place in the input."""

    nodes: list[Node]


class NodesFound(Answer):
    """Nodes in the order asked for, and ids that no node has."""

    nodes: list[Node]
    missing: list[str]


class LineageNode(Answer):
    """A node, with how many neighbours it has and how many of them are not shown."""

    node_id: str
    stage: int
    upstream_count: int = 0
    downstream_count: int = 0
    hidden_upstream: int = 0
    hidden_downstream: int = 0


class LineageEdge(Answer):
    """`source` was an input to the step that produced `target`, whichever way was walked."""

    source: str
    target: str
    inferred: str | None = Field(
        None, description="How it was found, where the input does not name it.", exclude_if=is_none
    )
    score: float | None = Field(
        None, description="How sure that is, from 0 to 1.", exclude_if=is_none
    )

    @classmethod
    def of(cls, source: str, target: str, facts: EdgeFacts | None) -> LineageEdge:
        """The answer for an edge of the graph, and what is known of it if anything is."""
        return cls.model_construct(source=source, target=target, **(facts.given if facts else {}))


class LineageFound(Answer):
    """A part of a process around one node."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "root": "final",
                    "nodes": [
                        {
                            "node_id": "r1",
                            "stage": 3,
                            "upstream_count": 4,
                            "downstream_count": 1,
                            "hidden_upstream": 4,
                            "hidden_downstream": 0,
                        },
                        {
                            "node_id": "final",
                            "stage": 4,
                            "upstream_count": 1,
                            "downstream_count": 0,
                            "hidden_upstream": 0,
                            "hidden_downstream": 0,
                        },
                    ],
                    "edges": [{"source": "r1", "target": "final"}],
                    "complete": False,
                    "truncated_by": "depth",
                }
            ]
        }
    )

    root: str
    nodes: list[LineageNode] = Field(description="The root among them, by stage and place.")
    edges: list[LineageEdge] = Field(description="Every edge between two of the nodes.")
    complete: bool = Field(description="Whether everything that way is shown.")
    truncated_by: str | None = Field(None, description="depth, limit or time; null when complete.")

    @classmethod
    def of(cls, found: Lineage) -> LineageFound:
        """The answer for a lineage of the graph."""
        return cls.model_construct(
            root=found.root,
            nodes=[
                LineageNode.model_construct(
                    node_id=node.node_id,
                    stage=node.stage,
                    upstream_count=node.upstream,
                    downstream_count=node.downstream,
                    hidden_upstream=node.hidden_upstream,
                    hidden_downstream=node.hidden_downstream,
                )
                for node in found.nodes
            ],
            edges=[
                LineageEdge.of(source, target, found.inferred.get((source, target)))
                for source, target in found.edges
            ],
            complete=found.truncated_by is None,
            truncated_by=found.truncated_by,
        )


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export.

    Attributes:
        process_id: The process.
        format: The format.
        path: Where it is; None: stdout.
        counts: How much of each kind.
        replaced: Characters that the format cannot hold and that became U+FFFD.
        formulas: Cells that a spreadsheet would take for a formula.
        command: The command that imports it, where there is one.
    """

    process_id: str
    format: str
    path: Path | None
    counts: dict[str, int] = field(default_factory=dict)
    replaced: int = 0
    formulas: int = 0
    command: str | None = None
