"""Work in a team: `veritrail comment`, `veritrail reviews rounds`, `draw`, `decide`, `export`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veritrail_graph.api.cli.exits import ask_about
from veritrail_graph.api.cli.options import AsJson, ProcessId
from veritrail_graph.api.cli.terminal import print_json, say, table
from veritrail_graph.api.show.texts import clean, one_line
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.teamwork import AnnotationFormat, Comment, CommentList
    from veritrail_graph.graph.model import Review


def rounds(process: ProcessId, as_json: AsJson = False) -> None:
    """List the rounds of review, with what each reviewer has done."""
    process, found = ask_about(
        process, lambda app, name: app.teamwork.rounds(name), as_json=as_json, reads=True
    )
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    if not found.rounds:
        say(f"There is no round. Begin one: veritrail review draw {process} --reviewer NAME")
    for one in found.rounds:
        say(f"{one.round.name}: {one.round.drawn:,} of {one.round.of:,}, seed {one.round.seed}")
        table(
            ("reviewer", "assigned", "reviewed", "blind"),
            [
                (one_line(line.reviewer, 60), *map(str, (line.assigned, line.done, line.blind)))
                for line in one.reviewers
            ],
            right=("assigned", "reviewed", "blind"),
        )
        if one.disputed:
            say(f"Reviewers differ on {', '.join(one.disputed[:20])}.", "yellow")


def draw(
    process: ProcessId,
    reviewers: Annotated[
        list[str],
        typer.Option("--reviewer", metavar="NAME", help="Who reviews; may be repeated."),
    ],
    size: Annotated[
        int, typer.Option(min=1, metavar="N", help="Claims to draw (default 50).")
    ] = 50,
    each: Annotated[
        int, typer.Option(min=1, metavar="K", help="Reviewers of a claim (default 1).")
    ] = 1,
    name: Annotated[str, typer.Option(metavar="TEXT", help="What the round is called.")] = "",
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="The same seed draws the same claims.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Draw claims by lot, stratified by verdict, and assign them."""
    from veritrail_graph.api.app.teamwork import NewRound

    wanted = NewRound(reviewers, size, each, name, seed)
    _, made = ask_about(
        process, lambda app, name: app.teamwork.begin(name, wanted), as_json=as_json
    )
    if as_json:
        print_json(made.model_dump(mode="json"))
    else:
        say(f"Drew {made.drawn:,} of {made.of:,} claims for {', '.join(made.reviewers)}.")


def decide(
    process: ProcessId,
    claim: Annotated[str, typer.Argument(metavar="CLAIM", help="The claim, by its claim_id.")],
    verdict: Annotated[str, typer.Option(metavar="VERDICT", help="The verdict that counts.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why.")],
    reviewer: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who decides; default: as for `add`.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Decide between reviewers: it counts before their reviews, which stay."""
    from veritrail_graph.api.cli.terminal import show
    from veritrail_graph.api.show.review import review_line
    from veritrail_graph.api.show.terminal import text
    from veritrail_graph.graph.reviewing import NewReview

    async def decided(app: Application, name: str) -> Review:
        who = reviewer if reviewer is not None else app.reviews.default_reviewer()
        return await app.teamwork.decide(name, claim, NewReview(verdict.upper(), reason, who))

    _, made = ask_about(process, decided, as_json=as_json)
    if as_json:
        print_json(made.json_object())
    else:
        show(text(review_line(made)))


def export(
    process: ProcessId,
    format_name: Annotated[
        str, typer.Option("--format", metavar="NAME", help="label-studio or inception.")
    ] = "label-studio",
    blind: Annotated[
        bool, typer.Option("--blind", help="Leave verdicts, labels and reviews out.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it here.")
    ] = None,
) -> None:
    """Write the claims for Label Studio or INCEpTION, as JSON."""
    if format_name not in ("label-studio", "inception"):
        raise InputError(f"{format_name!r} is no format; there are: label-studio, inception")
    wanted: AnnotationFormat = "inception" if format_name == "inception" else "label-studio"
    _, found = ask_about(
        process,
        lambda app, name: app.teamwork.export(name, wanted, blind=blind),
        as_json=False,
        reads=True,
    )
    if output is None:
        print_json(found)
        return
    try:
        output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{output}: {error.strerror or error}") from None
    say(f"Wrote {output}.")


def comment(
    process: ProcessId,
    claim: Annotated[
        str, typer.Argument(metavar="CLAIM", help="The claim, by its claim_id or its beginning.")
    ],
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="The comment; without it, comments are listed."),
    ] = None,
    author: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Who comments; default: VERITRAIL_REVIEWER, else your login."
        ),
    ] = None,
    remove: Annotated[
        str | None, typer.Option(metavar="ID", help="Remove this comment instead.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Comment on a claim, or list its comments; no verdict changes."""
    if remove is not None and text is not None:
        raise InputError("Give either a text or --remove")
    if text is None and remove is None:
        _list(process, claim, as_json=as_json)
        return

    async def changed(app: Application, name: str) -> Comment | None:
        if remove is not None:
            await app.teamwork.remove_comment(name, remove)
            return None
        claim_id = (await app.names.claim(name, claim)).claim_id
        who = author if author is not None else app.reviews.default_reviewer()
        return await app.teamwork.comment(name, claim_id, text or "", who)

    process, made = ask_about(process, changed, as_json=as_json)
    if made is None:
        if as_json:
            print_json({"process_id": process, "comment_id": remove, "status": "removed"})
        else:
            say(f"The comment {remove} is removed.")
    elif as_json:
        print_json(made.model_dump(mode="json"))
    else:
        say(f"The comment is stored: {made.comment_id}")


def _list(process: str, claim: str, *, as_json: bool) -> None:
    async def found(app: Application, name: str) -> CommentList:
        claim_id = (await app.names.claim(name, claim)).claim_id
        return await app.teamwork.comments(name, claim_id)

    process, listed = ask_about(process, found, as_json=as_json, reads=True)
    if as_json:
        print_json(listed.model_dump(mode="json"))
        return
    if not listed.comments:
        say("This claim has no comment yet.")
    for one in listed.comments:
        by = ""
        if one.recorded_by and one.recorded_by != one.author:
            by = f", sent with the key {one_line(one.recorded_by)}"
        say(f"{one_line(one.author)}{by}, {one.created_at[:16]}  {one.comment_id}", "dim")
        typer.echo(clean(one.text))
