"""The record of a run beside its outcomes: a report needs nothing but the folder.

Source: ours (docs/evaluation.md).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from veritrail_eval.datasets.model import Shares
from veritrail_eval.runs.matrix import Configuration
from veritrail_eval.whole_file import read_kept, write_text_whole
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict
from veritrail_graph.graph.model.noun import Count, Many, Noun, OneOf, PublicId, Stage, Text

FORMAT = "veritrail.evaluation/1"
NAME = "run.json"


class AgentStep(Noun):
    """A message of a log of agents."""

    step: Count = Field(description="Its place in the log, from 0.")
    agent: Text = Field(description="Who wrote it.")


class RecordedMistake(AgentStep):
    """The message of a log that a person called the decisive mistake.

    Source: Zhang et al. 2025 (Who&When).
    """

    subset: str = Field(description="The folder or table that the log is from.")
    messages: Mapping[str, AgentStep] = Field(
        description="The messages that agents wrote, by node_id."
    )


class RecordedClaim(Noun):
    """A claim of a run, with the label that verdicts are compared with."""

    process_id: PublicId = Field(description="The process.")
    claim_id: PublicId = Field(description="The claim.")
    text: Text = Field(description="Its text.")
    label: OneOf[Verdict] = Field(description="The label.")
    error_stages: Many[Stage] | None = Field(
        default=None, description="Labelled error stages; null: not known."
    )
    fingerprint: str = Field(description="Hash of the claim and of the process's content.")
    nodes: Count = Field(
        description="Nodes of the process; of several answers on one index, of this answer."
    )
    steps: Mapping[int, Many[str]] = Field(
        default={},
        description="Of a claim with labelled error stages: which steps, such as agents, wrote at "
        "each stage of its process; empty where no step wrote at several.",
    )
    annotators: Shares | None = Field(
        default=None,
        description="The share of each verdict among the labels of several annotators; null: it "
        "is not known.",
    )
    mistake: RecordedMistake | None = Field(
        default=None, description="The noted mistake of a log of agents; null: none is noted."
    )

    @property
    def key(self) -> tuple[str, str]:
        """process_id and claim_id."""
        return self.process_id, self.claim_id


class JudgedDataset(Noun):
    """A data set of a run."""

    name: str = Field(description="Its name.")
    description: str | None = Field(default=None, description="What it holds.")
    licence: str | None = Field(default=None, description="Its licence.")
    sample: str | None = Field(default=None, description="The subset, in words; null: all of it.")
    claims: Many[RecordedClaim] = Field(description="The claims that are judged.")
    left_out: Count = Field(
        default=0, description="Claims whose label is no class of the evaluation."
    )
    root_stages: Many[Stage] = Field(
        default=(), description="Stages of roots; no error comes in there."
    )
    stage_names: Mapping[int, str] = Field(default={}, description="Names of stages, where given.")
    remarks: Many[str] = Field(default=(), description="What was passed over when it was read.")


class JudgingConfiguration(Noun):
    """A configuration of a run."""

    configuration_id: str = Field(description="Its id.")
    method: str = Field(description="The method's name.")
    label: str = Field(description="What tables call the method.")
    title: str = Field(description="Label and parameters, for people.")
    parameters: Mapping[str, Any] = Field(description="The values of its parameters.")
    datasets: Many[str] | None = Field(
        default=None, description="Names of the data sets that it judges; null: all of them."
    )

    def judges(self, dataset: str) -> bool:
        """Return whether it judges the claims of a data set."""
        return self.datasets is None or dataset in self.datasets

    @classmethod
    def of(cls, one: Configuration) -> JudgingConfiguration:
        """A configuration of a matrix."""
        return cls(
            configuration_id=one.configuration_id,
            method=one.kind.name,
            label=one.label,
            title=one.title,
            parameters=dict(one.parameters),
            datasets=one.datasets,
        )


class RunRecord(Noun):
    """The record of a run: its name, seed, configurations and data sets."""

    format: str = Field(default=FORMAT, description="The format.")
    name: str = Field(description="Name of the matrix.")
    seed: Count = Field(description="Where chance came from.")
    configurations: Many[JudgingConfiguration] = Field(description="In the matrix's order.")
    datasets: Many[JudgedDataset] = Field(description="In the matrix's order.")


def write_record(record: RunRecord, folder: Path) -> None:
    """Write the record of a run, whole or not at all.

    Raises:
        InputError: It cannot be written.
    """
    text = json.dumps(record.json_object(), ensure_ascii=False, indent=1)
    write_text_whole(folder / NAME, text)


def read_record(folder: Path) -> RunRecord:
    """The record of a run.

    Raises:
        InputError: The folder holds none, or one that cannot be read.
    """
    path = folder / NAME
    if not path.is_file():
        raise InputError(
            f"{folder} holds no evaluation: there is no {NAME} in it. Make one with: "
            f"veritrail eval run MATRIX -o {folder}"
        )
    advice = (
        "What was judged is kept; the record is made anew by: "
        f"veritrail eval run MATRIX -o {folder}"
    )
    record = read_kept(path, RunRecord, advice)
    if record.format != FORMAT:
        raise InputError(f"{path}: the format is {record.format!r}; known is {FORMAT!r}")
    return record
