"""`veritrail reviews`: what people say of verdicts, and how far they agree with the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.exits import run
from veritrail_graph.api.cli.ingest import say_starting
from veritrail_graph.api.cli.options import AsJson, ProcessId
from veritrail_graph.api.cli.terminal import print_json, say, show
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.reviews import ClaimReviews
    from veritrail_graph.graph.agreement import AgreementReport
    from veritrail_graph.graph.model import Review
    from veritrail_graph.graph.reviewing import NewReview

app = typer.Typer(
    help="What people say of verdicts: add a review, list them, see how far they agree.",
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
    from veritrail_graph.api.reviews import reviewer_named
    from veritrail_graph.graph.reviewing import NewReview

    if confirm == (verdict is not None):
        raise InputError("Give either --verdict or --confirm")
    settings = Settings.load()
    said = verdict.upper() if verdict is not None else None
    name = reviewer_named(reviewer, settings.values)
    made = run(
        _add(settings, process, claim, NewReview(said, reason, name, overrides)), as_json=as_json
    )
    if as_json:
        from veritrail_graph.graph.exporters.reviews import review_json

        print_json(review_json(made))
        return
    from veritrail_graph.api.cli.review_output import review_line

    show(review_line(made))


async def _add(settings: Settings, process_id: str, claim_id: str, given: NewReview) -> Review:
    from veritrail_graph.api.graph_connection import open_graph
    from veritrail_graph.api.reviews import add_review

    async with open_graph(settings, say_starting) as store:
        return await add_review(store, process_id, claim_id, given)


@app.command("list")
def list_(
    process: ProcessId,
    claim: Annotated[
        str | None, typer.Argument(metavar="CLAIM", help="Only the reviews of this claim.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the reviews of a process or of one claim, newest first."""
    if claim is None:
        reviews = run(_of_process(Settings.load(), process), as_json=as_json)
        told: dict[str, Any] = {"process_id": process}
    else:
        found = run(_of_claim(Settings.load(), process, claim), as_json=as_json)
        reviews = found.reviews
    if as_json and claim is not None:
        from veritrail_graph.api.reviews import claim_reviews_json

        print_json(claim_reviews_json(process, claim, found))
    elif as_json:
        from veritrail_graph.graph.exporters.reviews import review_json

        print_json({**told, "reviews": [review_json(review) for review in reviews]})
    elif not reviews:
        say("Nobody has reviewed anything here yet. Begin with: veritrail reviews add")
    else:
        from veritrail_graph.api.cli.review_output import reviews_table

        show(reviews_table(reviews))


async def _of_process(settings: Settings, process_id: str) -> list[Review]:
    from veritrail_graph.api.graph_connection import open_graph
    from veritrail_graph.api.reviews import reviews_of_process

    async with open_graph(settings, say_starting) as store:
        return [one.review for one in await reviews_of_process(store, process_id)]


async def _of_claim(settings: Settings, process_id: str, claim_id: str) -> ClaimReviews:
    from veritrail_graph.api.graph_connection import open_graph
    from veritrail_graph.api.reviews import reviews_of_claim

    async with open_graph(settings, say_starting) as store:
        return await reviews_of_claim(store, process_id, claim_id)


@app.command("agreement")
def agreement(process: ProcessId, as_json: AsJson = False) -> None:
    """Show how far people agree with the model, and with each other."""
    found = run(_agreement(Settings.load(), process), as_json=as_json)
    if as_json:
        from veritrail_graph.graph.exporters.reviews import agreement_json

        print_json(agreement_json(process, found))
    elif not found.reviews:
        say("Nobody has reviewed anything here yet. Begin with: veritrail reviews add")
    else:
        from veritrail_graph.api.cli.review_output import show_agreement

        show_agreement(found)


async def _agreement(settings: Settings, process_id: str) -> AgreementReport:
    from veritrail_graph.api.graph_connection import open_graph
    from veritrail_graph.api.reviews import agreement as agreement_of

    async with open_graph(settings, say_starting) as store:
        return await agreement_of(store, process_id)
