"""Options of a report of an evaluation."""

from __future__ import annotations

from pydantic import Field

from veritrail_eval.figures.options import RESAMPLES, Inconclusive, Resampling
from veritrail_graph.graph.model.noun import Many, Noun, OneOf


class ReportOptions(Noun):
    """Options of a report's figures; the same options and outcomes give the same figures."""

    inconclusive: OneOf[Inconclusive] = Field(
        default=Inconclusive.ANY, description="What happens to Inconclusive verdicts."
    )
    seed: int = Field(default=0, description="Where resampling starts.")
    resamples: int = Field(default=RESAMPLES, ge=1, description="How often claims are drawn anew.")
    human_cost: Many[str] = Field(
        default=(), description="What a person's judgement of a claim costs, as typed."
    )
    extraction_cost: Many[str] = Field(
        default=(), description="What the extraction of a claim cost, as typed."
    )
    only: Many[str] = Field(
        default=(),
        description="Labels of the methods that are compared; empty: all. What others call "
        "Inconclusive leaves no table then.",
    )

    @property
    def resampling(self) -> Resampling:
        """Number of resamples and seed."""
        return Resampling(self.resamples, self.seed)
