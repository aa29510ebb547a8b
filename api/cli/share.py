"""`veritrail share`: links that show one process to people without a key."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from veritrail_graph.api.cli.exits import ask_about
from veritrail_graph.api.cli.options import AsJson, ProcessId
from veritrail_graph.api.cli.terminal import print_json, say, table
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.sharing import NewShare, ShareList


def share(
    process: ProcessId,
    days: Annotated[
        float, typer.Option(metavar="N", help="Days until it ends (default 30, at most 365).")
    ] = 30.0,
    note: Annotated[str, typer.Option(metavar="TEXT", help="What it is for.")] = "",
    list_: Annotated[bool, typer.Option("--list", help="List the links instead.")] = False,
    end: Annotated[
        str | None, typer.Option(metavar="ID", help="End this link instead, at once.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a link that shows a process, read-only, without a key."""
    if list_ and end is not None:
        raise InputError("Give either --list or --end")
    if end is not None:
        process, _ = ask_about(
            process, lambda app, name: app.sharing.revoke(name, end), as_json=as_json
        )
        if as_json:
            print_json({"process_id": process, "share_id": end, "status": "ended"})
        else:
            say(f"The link {end} has ended.")
        return
    if list_:
        _, links = ask_about(
            process, lambda app, name: app.sharing.of_process(name), as_json=as_json, reads=True
        )
        _list(links, as_json=as_json)
        return

    async def made(app: Application, name: str) -> NewShare:
        return await app.sharing.create(name, days=days, note=note)

    process, found = ask_about(process, made, as_json=as_json)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    service = os.environ.get("VERITRAIL_URL", "").rstrip("/")
    typer.echo(f"{service}{found.path}")
    before = (
        ""
        if service
        else "Put the address at which others reach `veritrail serve` before it, such as "
        "https://veritrail.example; with VERITRAIL_URL set to it, the whole link is printed. "
    )
    say(
        f"{before}It is shown this once, and works until {found.expires_at}. To end it: "
        f"veritrail share {process} --end {found.share_id}",
        "yellow",
    )


def _list(found: ShareList, *, as_json: bool) -> None:
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    if not found.shares:
        say("There are no links.")
    table(
        ("id", "made", "by", "ends", "state", "note"),
        [
            (
                one.share_id,
                one.created_at[:10],
                one_line(one.created_by),
                one.expires_at[:10],
                "open" if one.is_open else "ended",
                one_line(one.note),
            )
            for one in found.shares
        ],
    )
