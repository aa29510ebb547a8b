"""Answers of operations that are no nouns of the graph: what was stored, removed, written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from veritrail_graph.graph.ingest import IngestReport


def _is_none(value: object) -> bool:
    return value is None


class Ingested(BaseModel):
    """What an ingest did: what `veritrail ingest --json` prints."""

    model_config = ConfigDict(frozen=True)

    process_id: str = Field(examples=["harbour-2025"])
    name: str
    status: str = Field(description="created, unchanged, replaced or appended.")
    nodes: int
    edges: int
    claims: int
    claims_added: int
    verifications_added: int
    reviews_added: int
    terminals: list[str]
    stages: dict[str, int] = Field(
        description="Number of nodes by stage.", examples=[{"1": 12, "2": 1}]
    )
    warnings: list[str]
    removed_verifications: int | None = Field(None, exclude_if=_is_none)
    removed_reviews: int | None = Field(None, exclude_if=_is_none)
    nodes_added: int | None = Field(None, exclude_if=_is_none)
    edges_added: int | None = Field(None, exclude_if=_is_none)
    resumed: bool | None = Field(None, exclude_if=_is_none)
    stage_names: dict[int, str] = Field(default={}, exclude=True)

    @classmethod
    def of(cls, report: IngestReport) -> Ingested:
        """The answer for a report of the store."""
        found = report.survey
        stages: dict[str, int] = {}
        for stage in sorted(found.topology.stages):
            stages[str(stage)] = stages.get(str(stage), 0) + 1
        is_replaced, is_appended = report.status == "replaced", found.onto is not None
        return cls(
            process_id=found.process_id,
            name=found.header.name or found.process_id,
            status=report.status,
            nodes=len(found.topology.ids),
            edges=len(found.topology.edge_sources),
            claims=report.claims,
            claims_added=report.claims_added,
            verifications_added=report.verifications_added,
            reviews_added=report.reviews_added,
            terminals=list(found.terminals),
            stages=stages,
            warnings=list(found.warnings),
            removed_verifications=report.removed_verifications if is_replaced else None,
            removed_reviews=report.removed_reviews if is_replaced else None,
            nodes_added=report.nodes_added if is_appended else None,
            edges_added=report.edges_added if is_appended else None,
            resumed=True if report.resumed else None,
            stage_names=dict(found.header.stage_names),
        )


class Stage(BaseModel):
    """A stage. Each claim counts by its latest verification that succeeded."""

    model_config = ConfigDict(frozen=True)

    stage: int
    name: str | None = Field(description="The input's name of the stage.")
    nodes: int
    claims_with_errors: int = Field(description="Claims with an error introduced here.")
    sentences_cited: int = Field(description="Different sentences of its nodes that are evidence.")


class Stages(BaseModel):
    """The stages of a process, ascending."""

    model_config = ConfigDict(
        frozen=True,
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


@dataclass(frozen=True, slots=True)
class Removed:
    """What was removed, and what went with it.

    Attributes:
        claims: Claims that were removed by themselves.
        verifications: Verifications that went with them.
        reviews: Reviews that went with them.
    """

    claims: int = 0
    verifications: int = 0
    reviews: int = 0


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote.

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


@dataclass(frozen=True, slots=True)
class Leftover:
    """A process that a killed command left half-written.

    Attributes:
        process_id: Its id.
        status: `loading` or `deleting`.
    """

    process_id: str
    status: str


Names = Sequence[str]
