"""`veritrail reviews`: what people say of verdicts, and how far they agree with the judge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from veritrail_graph.api.cli import teamwork as team
from veritrail_graph.api.cli.claims import label
from veritrail_graph.api.cli.exits import ask_about
from veritrail_graph.api.cli.options import AsJson, ProcessId, read_text
from veritrail_graph.api.cli.terminal import VERDICT_STYLE, print_json, say, show, table
from veritrail_graph.api.show.review import review_line
from veritrail_graph.api.show.terminal import text
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.api.show.words import VERDICT_WORDS
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import ReviewVerdict, Verdict
from veritrail_graph.graph.model.review import latest_of_each

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.graph.model import Review, Reviewed
    from veritrail_graph.graph.model.agreement import Agreement, AgreementFigures


app = typer.Typer(
    help="Add and list what people say of verdicts; compare them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ClaimId = Annotated[str, typer.Argument(metavar="CLAIM", help="The claim, by its claim_id.")]


@app.command("add")
def add(
    process: ProcessId,
    claim: ClaimId,
    verdict: Annotated[
        str | None,
        typer.Option(
            metavar="VERDICT",
            help="FULLY_SUPPORTED, NOT_FULLY_SUPPORTED, INCONCLUSIVE, or UNCLEAR: the claim is.",
        ),
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Say the same as the verdict that is reviewed.")
    ] = False,
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="Why; needed unless the review confirms.")
    ] = "",
    reviewer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Who reviews; default: VERITRAIL_REVIEWER, else your login."
        ),
    ] = None,
    overrides: Annotated[
        str | None,
        typer.Option(
            metavar="VERIFICATION",
            help="The verification that is reviewed; default: the claim's latest with a verdict.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Review the verdict of a claim. The review is kept beside it; no verdict is changed."""
    from veritrail_graph.graph.reviewing import NewReview

    if confirm == (verdict is not None):
        raise InputError("Give either --verdict or --confirm")
    said = verdict.upper() if verdict is not None else None

    async def added(app: Application, process_id: str) -> Review:
        name = reviewer if reviewer is not None else app.reviews.default_reviewer()
        return await app.reviews.add(process_id, claim, NewReview(said, reason, name, overrides))

    _, made = ask_about(process, added, as_json=as_json)
    if as_json:
        print_json(made.json_object())
        return

    show(text(review_line(made)))


@app.command("import")
def import_(
    process: ProcessId,
    table_file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="CSV: claim_id and verdict; also reason and reviewer."),
    ],
    reviewer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who reviews, in rows without a name."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add the reviews of a table. The same table again adds nothing."""
    from veritrail_graph.api.app.claim_tables import read_reviews

    rows = read_reviews(read_text(table_file))

    async def added(app: Application, process_id: str) -> list[Review]:
        name = reviewer if reviewer is not None else app.reviews.default_reviewer()
        return await app.reviews.add_all(process_id, rows, name)

    process, made = ask_about(process, added, as_json=as_json)
    if as_json:
        print_json({"process_id": process, "reviews": [one.json_object() for one in made]})
    else:
        say(f"{len(made):,} review(s) are stored.")


@app.command("list")
def list_(
    process: ProcessId,
    claim: Annotated[
        str | None, typer.Argument(metavar="CLAIM", help="Only the reviews of this claim.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the reviews of a process or of one claim, newest first."""
    from veritrail_graph.graph.model.review import reviewed_json

    if claim is None:
        process, every = ask_about(
            process, lambda app, name: app.reviews.of_process(name), as_json=as_json, reads=True
        )
        reviews = [one.review for one in every]
        about: dict[str, Any] = {"process_id": process}
    else:
        process, of_claim = ask_about(
            process,
            lambda app, name: app.reviews.of_claim(name, claim),
            as_json=as_json,
            reads=True,
        )
        reviews, state = of_claim.reviews, of_claim.reviewed
        verdict = state.verdict.value if state and state.verdict else None
        about = {"process_id": process, "claim_id": claim, "verdict": verdict}
        about |= reviewed_json(state)
    if as_json:
        print_json({**about, "reviews": [review.json_object() for review in reviews]})
    elif not reviews:
        say(NO_REVIEWS)
    else:
        show(reviews_table(reviews))


@app.command("agreement")
def agreement(process: ProcessId, as_json: AsJson = False) -> None:
    """Show how far people agree with the judge, and with each other."""
    process, found = ask_about(
        process, lambda app, name: app.reviews.agreement(name), as_json=as_json, reads=True
    )
    if as_json:
        print_json(found.json_object())
    elif not found.reviews:
        say(NO_REVIEWS)
    else:
        show_agreement(found)


NO_REVIEWS = "There are no reviews yet. Add one with: veritrail reviews add"
_UNCLEAR = "Unclear"


def said(verdict: ReviewVerdict) -> tuple[str, str]:
    """A reviewer's verdict in words, with its style."""
    if verdict is ReviewVerdict.UNCLEAR:
        return _UNCLEAR, "magenta"
    found = Verdict(verdict.value)
    return VERDICT_WORDS[found], VERDICT_STYLE[found]


def reviews_table(reviews: Sequence[Review]) -> Table:
    """One line a review, newest first; those that do not count any more are dim."""
    counting = {one.review_id for one in latest_of_each(reviews)}
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("claim", "review", "says", "judge's verdict", "reviewer", "when", "reason"):
        table.add_column(name, overflow="fold")
    for review in reviews:
        words, style = said(review.verdict)
        model = review.model_verdict
        table.add_row(
            Text(review.claim_id),
            review.kind.value,
            Text(words, style=style),
            VERDICT_WORDS[model] if model else "",
            Text(one_line(review.reviewer)),
            review.created_at,
            Text(one_line(review.reason)),
            style=None if review.review_id in counting else "dim",
        )
    return table


def state_words(found: Reviewed | None) -> str:
    """The summary of the reviews of a claim, for a cell of a table."""
    if found is None:
        return ""
    words = found.kind.value
    if found.kind.value == "overridden":
        words = f"{words}: {said(found.latest.verdict)[0]}"
    return f"{words}, disputed" if found.disputed else words


def show_agreement(found: Agreement) -> None:
    """Print the figures: overall, as a table of verdicts, and by judge and reviewer."""
    show(
        f"{found.reviews:,} review(s) of {found.claims:,} claim(s); {found.unclear:,} called "
        f"unclear, {found.disputed:,} on which reviewers disagree."
    )
    show(f"Judge and people: {agreement_words(found.overall)}")
    if found.overall.pairs:
        show("")
        _show_pairs(found.overall)
    rows = [
        *(_row(f"{judge.engine} {judge.model or ''}", None, None, judge)
          for judge in found.judges),
        *(_row(reviewer.reviewer, reviewer.reviews, reviewer.unclear, reviewer)
          for reviewer in found.reviewers),
        *(_row(" and ".join(pair.reviewers), None, pair.unclear, pair)
          for pair in found.between_reviewers),
    ]  # fmt: skip
    show("")
    numbers = ("reviews", "unclear", "compared", "agreed", "kappa")
    table(("who", *numbers), rows, right=numbers)


def agreement_words(found: AgreementFigures) -> str:
    """Figures as a sentence; what is not defined is said to be so."""
    if found.share is None:
        return "nothing to compare yet."
    low, high = found.interval or (0.0, 1.0)
    words = f"{found.share:.0%} agreed ({found.agreed:,} of {found.pairs:,}"
    words += f"; 95 % between {low:.0%} and {high:.0%}), kappa {_kappa(found)}."
    return f"{words} These are few: take it as a first impression." if found.small else words


def _kappa(found: AgreementFigures) -> str:
    if found.kappa is None:
        return "not defined (one and the same verdict throughout)" if found.pairs else ""
    return f"{found.kappa:.2f}"


def _show_pairs(found: AgreementFigures) -> None:
    """Print how often which verdict of the judge met which of the reviewers."""
    words = [VERDICT_WORDS[verdict] for verdict in Verdict]
    rows = [
        [VERDICT_WORDS[one], *(f"{found.table[one][other]:,}" for other in Verdict)]
        for one in Verdict
    ]
    table(("judge \\ people", *words), rows, right=words)


def _row(who: str, reviews: int | None, unclear: int | None, found: AgreementFigures) -> list[str]:
    return [
        one_line(who),
        "" if reviews is None else f"{reviews:,}",
        "" if unclear is None else f"{unclear:,}",
        f"{found.pairs:,}",
        "" if found.share is None else f"{found.share:.0%}",
        "" if found.kappa is None else f"{found.kappa:.2f}",
    ]


app.command("rounds")(team.rounds)
app.command("draw")(team.draw)
app.command("decide")(team.decide)
app.command("export")(team.export)
app.command("comment")(team.comment)
app.command("label")(label)
