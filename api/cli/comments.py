"""`veritrail comment`: comments on a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from veritrail_graph.api.cli.exits import ask_about
from veritrail_graph.api.cli.options import AsJson, ProcessId
from veritrail_graph.api.cli.terminal import print_json, say
from veritrail_graph.api.views.texts import clean, one_line
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.teamwork import Comment, CommentList


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
        claim_id = (await app.names.claim(name, claim)).claim.claim_id
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
        claim_id = (await app.names.claim(name, claim)).claim.claim_id
        return await app.teamwork.comments(name, claim_id)

    process, listed = ask_about(process, found, as_json=as_json)
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
