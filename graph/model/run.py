"""A run, as it is stored, listed and answered: what verified claims together.

Source: ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from veritrail_graph.graph.model.noun import Answer
from veritrail_graph.graph.model.trail import Status, Usage


@dataclass(frozen=True, slots=True)
class JudgeMode:
    """The mode in which a judge was asked.

    Attributes:
        share: Claims that one prompt asked about, at most; None: one claim a prompt.
        second: The model that a cascade asked where the first judge was not sure; None: there was
            one judge.
    """

    share: int | None = None
    second: str | None = None


PAPER_MODE = JudgeMode()
"""One judge, one claim a prompt: as the paper asks."""

Share = Annotated[
    int | None,
    Field(description="The most claims that a prompt asked about; null: each asked about one."),
]
SecondJudge = Annotated[
    str | None,
    Field(
        description="Of a cascade: the second judge, whose verdict counts wherever that of the "
        "first is not Fully Supported, or not by every sample; null: there was one judge."
    ),
]


class Spending(Answer):
    """What calls of models cost; `cost_usd` is null where it is not known, and never 0 then."""

    calls: int = 0
    cost_usd: float | None = None
    unpriced_calls: int = 0

    @classmethod
    def of(cls, usage: Usage) -> Spending:
        """The cost of some calls."""
        return cls(calls=usage.calls, cost_usd=usage.cost_usd, unpriced_calls=usage.unpriced_calls)


class Run(Answer):
    """A run: what verified claims together, on the command line or in a job."""

    model_config = ConfigDict(title="RunFound")

    run_id: str
    created_at: str
    engine: str
    model: str | None
    share: Share = None
    escalate_to: SecondJudge = None
    q: int | None = Field(description="Null: not known.")
    indicative: bool | None = Field(description="Whether no model judged.")
    is_of_record: bool = Field(description="Whether its verdicts count, whatever else there is.")
    verifications: int
    counts: dict[str, int] = Field(description="Its verifications by status.")
    verdicts: dict[str, int] = Field(description="Its verifications by verdict.")
    spent: Spending
    mode: Literal["live", "batch"] | None = Field(
        default=None,
        description="Whether models were asked call by call, or in batches; null: not known, as "
        "its job is not kept any more.",
    )
    since: str | None = Field(
        default=None,
        description="The process that the earlier version is stored as from which verdicts were "
        "kept; null: from none, or its job is not kept any more.",
    )
    kept: int | None = Field(
        default=None,
        description="Verdicts that were kept from an earlier version; null: not counted.",
    )

    @property
    def asking(self) -> JudgeMode:
        """The mode in which its judge was asked."""
        return JudgeMode(self.share, self.escalate_to)

    def without_verdict(self) -> int:
        """Return how many of its claims came to no result."""
        return sum(self.counts.get(status.value, 0) for status in Status if not status.is_result)


IN_PROCESS = {"run_id", "created_at", "engine", "model", "verifications", "counts"}
"""Fields of a run in what `list PROCESS --json` prints."""
