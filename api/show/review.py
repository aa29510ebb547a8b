"""Reviews as people read them: a line each, a table of them, and how far people agree.

Source: docs/adr/0017-reviews.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from veritrail_graph.api.show.document import (
    Block,
    Document,
    Fact,
    Facts,
    Line,
    Style,
    Table,
    name,
    ours,
    said,
    verdict,
)
from veritrail_graph.api.show.words import VERDICT_WORDS, judged_by, review_mark, share
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import Review, Verdict
from veritrail_graph.graph.model.agreement import Agreement, AgreementFigures
from veritrail_graph.graph.model.review import latest_of_each, reviewed_claims

NOT_SHOWN: Mapping[str, str] = MappingProxyType(
    {
        "Review.process_id": "a review is read beside its claim",
        "Review.claim": "a review is read beside its claim",
    }
)
AGREEMENT_NOT_SHOWN: Mapping[str, str] = MappingProxyType(
    {
        "AgreementFigures.table": "the table of all pairs is shown, of the parts it is in JSON",
        "JudgeFigures.table": "the table of all pairs is shown, of the parts it is in JSON",
        "ReviewerFigures.table": "the table of all pairs is shown, of the parts it is in JSON",
        "PairFigures.table": "the table of all pairs is shown, of the parts it is in JSON",
        "Agreement.process_id": "the reader named the process",
    }
)
"""Fields of the nouns that no writer shows, by class and name, and why."""


def review_line(review: Review, shown: str | None = None) -> Line:
    """Show a review on one line.

    Args:
        review: The review.
        shown: The verification beside which it stands; of another one it is said.
    """
    line: Line = (
        name(review.reviewer, Style.STRONG),
        ours(": "),
        verdict(review_mark(review.verdict)),
    )
    if review.model_verdict is not None:
        words = f" ({review.kind.value}; it was {VERDICT_WORDS[review.model_verdict]})"
        line += (ours(words, Style.QUIET),)
    if review.reason:
        line += (ours(", "), said(review.reason))
    line += (ours(f"  {review.created_at}{_how(review)}", Style.QUIET),)
    if review.recorded_by:
        line += (ours(", by key ", Style.QUIET), name(review.recorded_by, Style.QUIET))
    line += (ours("  "), name(review.review_id, Style.QUIET))
    if review.overrides is not None and review.overrides != shown:
        line += (ours(" (of ", Style.QUIET), name(review.overrides), ours(")", Style.QUIET))
    return line


def _how(review: Review) -> str:
    """Return what is special of a review, behind a comma; empty: nothing."""
    words = ", without the judge's verdict in view" if review.blind else ""
    return f"{words}, decides between reviewers" if review.adjudicates else words


def reviews_shown(reviews: Sequence[Review]) -> Document:
    """Show reviews of claims, newest first; of one that does not count any more it is said."""
    counting = {one.review_id for one in latest_of_each(reviews)}
    counting |= {one.latest.review_id for one in reviewed_claims(reviews).values()}
    rows = []
    for one in reviews:
        earlier = "" if one.review_id in counting else ", earlier"
        model = one.model_verdict
        rows.append(
            (
                (name(one.claim_id),),
                (ours(f"{one.kind.value}{earlier}{_how(one)}"),),
                (verdict(review_mark(one.verdict)),),
                (ours(VERDICT_WORDS[model] if model else ""),),
                (name(one.reviewer),),
                (ours(one.created_at),),
                (said(one.reason),),
            )
        )
    columns = ("claim", "review", "says", "judge's verdict", "reviewer", "when", "reason")
    return Document((Table(columns, tuple(rows)),))


def agreement_shown(found: Agreement) -> Document:
    """Show how far people agree with the judge: overall, by verdict, by judge and reviewer."""
    words = f"{found.reviews:,} of {counted(found.claims, 'claim')}; {found.unclear:,} called "
    words += f"unclear, {found.disputed:,} on which reviewers disagree."
    facts = (
        Fact("reviews", (ours(words),)),
        Fact("judge and people", (ours(agreement_words(found.overall)),)),
    )
    blocks: list[Block] = [Facts(facts)]
    if found.overall.pairs:
        blocks.append(_pairs(found.overall))
    rows = [
        *(_row((name(judged_by(one.engine, one.model)),), None, None, one)
          for one in found.judges),
        *(_row((name(one.reviewer),), one.reviews, one.unclear, one) for one in found.reviewers),
        *(_row((name(" and ".join(one.reviewers)),), None, one.unclear, one)
          for one in found.between_reviewers),
    ]  # fmt: skip
    numbers = ("reviews", "unclear", "compared", "agreed", "kappa")
    if rows:
        columns = ("who", *numbers, "95 % certain")
        blocks.append(Table(columns, tuple(rows), right=numbers))
    return Document(tuple(blocks))


def agreement_words(found: AgreementFigures) -> str:
    """Figures as a sentence; what is not defined is said to be so."""
    if found.share is None:
        return "nothing to compare yet."
    words = f"{share_words(found)} agreed ({found.agreed:,} of {found.pairs:,}; 95 % certain: "
    words += f"{interval_words(found)}), kappa {kappa_words(found)}."
    return f"{words} These are few: take it as a first impression." if found.small else words


def share_words(found: AgreementFigures) -> str:
    """Return the share of pairs that agree, or that there is none; only all of them are 100 %."""
    return "nothing to compare" if found.share is None else share(found.agreed, found.pairs)


def kappa_words(found: AgreementFigures) -> str:
    """Return Cohen's kappa, or why there is none; it is never 0 then."""
    if found.kappa is None:
        return "not defined: one verdict throughout" if found.pairs else "nothing to compare"
    return f"{found.kappa:.2f}"


def interval_words(found: AgreementFigures) -> str:
    """Return where the share lies with 95 % certainty; empty without a pair."""
    # What only rounding keeps from all or nothing is just that.
    return " to ".join(share(round(one, 9), 1) for one in found.interval or ())


def _pairs(found: AgreementFigures) -> Table:
    """Return how often which verdict of the judge met which of the reviewers."""
    words = tuple(VERDICT_WORDS[verdict] for verdict in Verdict)
    rows = tuple(
        (
            (ours(VERDICT_WORDS[one]),),
            *((ours(f"{found.table[one][other]:,}"),) for other in Verdict),
        )
        for one in Verdict
    )
    return Table(("judge \\ people", *words), rows, right=words)


def _row(
    who: Line, reviews: int | None, unclear: int | None, found: AgreementFigures
) -> tuple[Line, ...]:
    few = f"{interval_words(found)}{', few' if found.small else ''}" if found.pairs else ""
    cells = (
        "" if reviews is None else f"{reviews:,}",
        "" if unclear is None else f"{unclear:,}",
        f"{found.pairs:,}",
        share_words(found) if found.pairs else "",
        kappa_words(found) if found.pairs else "",
        few,
    )
    return (who, *((ours(cell),) for cell in cells))
