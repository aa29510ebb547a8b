"""The documents of reviews and of agreement: every writer makes all fields of the nouns of them."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.shown_fields import WRITERS, fields_of, left_out

from veritrail_graph.api.show.document import Branch, Document, Tree
from veritrail_graph.api.show.review import (
    AGREEMENT_NOT_SHOWN,
    NOT_SHOWN,
    agreement_shown,
    review_line,
    reviews_shown,
)
from veritrail_graph.graph.model import Review, ReviewVerdict, Verdict
from veritrail_graph.graph.model.agreement import Agreement

REVIEW = Review(
    review_id="review-1", process_id="process-1", claim_id="claim-1", claim="It snowed.",
    verdict=ReviewVerdict.FULLY_SUPPORTED, reason="page 3", reviewer="Ada", recorded_by="desk",
    created_at="2026-01-31T09:30:00Z", overrides="v-1", model_verdict=Verdict.INCONCLUSIVE,
    blind=True, adjudicates=True,
)  # fmt: skip
WORDS = {
    "Review.verdict": "Fully Supported",
    "Review.blind": "without the judge's verdict in view",
    "Review.adjudicates": "decides between reviewers",
}


def figures(kappa: float, **more: Any) -> dict[str, Any]:
    table = {one: dict.fromkeys(Verdict, 41) for one in Verdict}
    return {"pairs": 43, "agreed": 37, "share": 0.86, "interval": [0.71, 0.94], "kappa": kappa,
            "small": True, "table": table, **more}  # fmt: skip


AGREEMENT = Agreement.model_validate(
    {
        "process_id": "process-1", "reviews": 53, "claims": 47, "unclear": 23, "disputed": 29,
        "overall": figures(0.31),
        "judges": [figures(0.32, engine="an-engine", model="a-model")],
        "reviewers": [figures(0.33, reviewer="Ada", reviews=59, unclear=61)],
        "between_reviewers": [figures(0.34, reviewers=["Bo", "Cy"], unclear=67)],
    }
)  # fmt: skip
OF_FIGURES = {"share": "86 %", "interval": "71 % to 94 %", "small": "few"}
FIGURES_WORDS = {
    f"{name}.{field}": words
    for name in ("AgreementFigures", "JudgeFigures", "ReviewerFigures", "PairFigures")
    for field, words in OF_FIGURES.items()
}


@pytest.mark.parametrize("writer", WRITERS)
def test_every_field_of_a_review_stands_in_what_a_writer_makes(writer: str) -> None:
    assert set(NOT_SHOWN) <= fields_of([REVIEW])
    line = Tree((), (Branch(review_line(REVIEW)),))
    document = Document((line, *reviews_shown([REVIEW]).blocks))
    assert left_out(writer, [REVIEW], [document], WORDS, NOT_SHOWN) == {}


@pytest.mark.parametrize("writer", WRITERS)
def test_every_field_of_agreement_stands_in_what_a_writer_makes(writer: str) -> None:
    assert set(AGREEMENT_NOT_SHOWN) <= fields_of([AGREEMENT])
    document = agreement_shown(AGREEMENT)
    left = left_out(writer, [AGREEMENT], [document], FIGURES_WORDS, AGREEMENT_NOT_SHOWN)
    assert left == {}
