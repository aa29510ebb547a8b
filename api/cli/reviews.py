"""`veritrail reviews`: what people say of verdicts, and how far they agree with the judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli import teamwork as team
from veritrail_graph.api.cli.claims import label
from veritrail_graph.api.cli.exits import ask_about
from veritrail_graph.api.cli.options import AsJson, ProcessId, read_text
from veritrail_graph.api.cli.terminal import print_json, say, show, show_parts
from veritrail_graph.api.show.review import agreement_shown, review_line, reviews_shown
from veritrail_graph.api.show.terminal import text
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.graph.model import Review


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
        show_parts(reviews_shown(reviews))


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
        show_parts(agreement_shown(found))


NO_REVIEWS = "There are no reviews yet. Add one with: veritrail review add"

app.command("rounds")(team.rounds)
app.command("draw")(team.draw)
app.command("decide")(team.decide)
app.command("export")(team.export)
app.command("comment")(team.comment)
app.command("label")(label)
