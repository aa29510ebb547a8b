"""The agreement of people with the judge, and with each other, as it is computed and answered.

Source: ours (docs/adr/0017-reviews.md).
"""

from __future__ import annotations

from pydantic import ConfigDict, Field

from veritrail_graph.graph.model.noun import Answer


class AgreementFigures(Answer):
    """Agreement of pairs of verdicts; null: there is no such figure."""

    model_config = ConfigDict(title="Figures")

    pairs: int = Field(description="How many pairs of verdicts were compared.")
    agreed: int
    share: float | None = Field(description="agreed / pairs.")
    interval: list[float] | None = Field(description="The share's interval of 95 % certainty.")
    kappa: float | None = Field(
        description="Cohen's kappa; null too where both gave one and the same verdict throughout."
    )
    small: bool = Field(description="Whether the pairs are too few to say much.")
    table: dict[str, dict[str, int]] = Field(
        description="Pairs by the model's (or first reviewer's) verdict, then by the other one."
    )


class JudgeFigures(AgreementFigures):
    """One engine and model against the reviewed verdicts."""

    model_config = ConfigDict(title="JudgeFigures")

    engine: str
    model: str | None


class ReviewerFigures(AgreementFigures):
    """The model against one reviewer."""

    model_config = ConfigDict(title="ReviewerFigures")

    reviewer: str
    reviews: int
    unclear: int = Field(description="Claims that the reviewer calls unclear; not compared.")


class PairFigures(AgreementFigures):
    """Two reviewers against each other."""

    model_config = ConfigDict(title="PairFigures")

    reviewers: list[str]
    unclear: int


class Agreement(Answer):
    """How far people agree with the judge, and with each other."""

    process_id: str
    reviews: int
    claims: int = Field(description="Claims that have a review.")
    unclear: int = Field(description="Those whose latest review calls them unclear.")
    disputed: int = Field(description="Those on which reviewers disagree.")
    overall: AgreementFigures = Field(
        description="The model against the latest review of each claim."
    )
    judges: list[JudgeFigures]
    reviewers: list[ReviewerFigures]
    between_reviewers: list[PairFigures]
