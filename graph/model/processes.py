"""Processes, as they are read from the graph, listed and answered.

Source: VeriTrail 2 (processes), VeriTrail 3.2 (verdicts).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import ConfigDict, Field

from veritrail_graph.graph.model.noun import Answer
from veritrail_graph.graph.model.process import Process


class ProcessSummary(Answer):
    """A process in the list."""

    model_config = ConfigDict(title="ProcessInList")

    process_id: str = Field(examples=["harbour-summary"])
    name: str
    status: str = Field("ready", examples=["ready"])
    nodes: int = 0
    edges: int = 0
    claims: int = 0
    verdicts: dict[str, int] = Field(
        {},
        description="Claims by the verdict of their verification in force.",
        examples=[{"FULLY_SUPPORTED": 12, "NOT_FULLY_SUPPORTED": 3}],
    )
    indicative: bool = Field(
        False, description="Whether no language model gave one of these verdicts."
    )
    indicative_claims: int = Field(0, description="How many such verdicts.", exclude=True)

    @classmethod
    def of(cls, process: Process, verdicts: Mapping[str, int], indicative: int) -> Self:
        """Return a process with its verdicts.

        Args:
            process: The process.
            verdicts: Claims by the verdict of their verification in force.
            indicative: How many of these verdicts no model gave.
        """
        return cls(
            **cls._fields(process),
            verdicts=dict(verdicts),
            indicative=bool(indicative),
            indicative_claims=indicative,
        )

    @classmethod
    def _fields(cls, process: Process) -> dict[str, Any]:
        names = Process.model_fields.keys() & cls.model_fields.keys()
        return {name: getattr(process, name) for name in names}


class ProcessOverview(ProcessSummary):
    """One process."""

    model_config = ConfigDict(
        title="ProcessFound",
        json_schema_extra={
            "examples": [
                {
                    "process_id": "harbour-summary",
                    "name": "Harbour report",
                    "status": "ready",
                    "question": "How did the harbour grow?",
                    "source_format": "veritrail.process/1",
                    "content_hash": "6c0e4b5c" * 8,
                    "nodes": 33,
                    "edges": 32,
                    "claims": 24,
                    "verifications": 24,
                    "verdicts": {"FULLY_SUPPORTED": 17, "NOT_FULLY_SUPPORTED": 7},
                    "indicative": False,
                    "terminals": ["final"],
                    "stages": {"1": 14, "2": 14, "3": 4, "4": 1},
                    "stage_names": {"1": "source page"},
                    "warnings": [],
                }
            ]
        },
    )

    question: str | None = Field(None, description="What its final output answers.")
    source_format: str = ""
    content_hash: str = ""
    verifications: int = Field(
        0,
        description="Verifications of its claims, whatever their status; not those of questions.",
    )
    terminals: list[str] = Field([], description="node_ids of the final outputs.")
    stages: dict[str, int] = Field({}, description="Number of nodes by stage.")
    stage_names: dict[str, str] = Field({})
    warnings: list[str] = Field([])
    run_of_record: str | None = Field(
        None, description="The run whose verdicts count, where one is pinned."
    )
    project: str | None = Field(None, description="The pipeline that it is a run of.")
    tags: list[str] = Field([])

    @classmethod
    def _fields(cls, process: Process) -> dict[str, Any]:
        return {
            **super()._fields(process),
            "stages": {str(stage): nodes for stage, nodes in process.stages.items()},
            "stage_names": {str(stage): name for stage, name in process.stage_names.items()},
        }
