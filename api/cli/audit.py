"""`veritrail audit`: who did what with the service."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.exits import run
from veritrail_graph.api.cli.keys import parse_span, table, when, with_service
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say
from veritrail_graph.api.views.texts import one_line

if TYPE_CHECKING:
    from veritrail_graph.api.auth.audit import Entry


def audit(
    who: Annotated[str | None, typer.Option("--who", help="Name or id of a key.")] = None,
    action: Annotated[
        str | None,
        typer.Option("--action", help="Such as process.delete, or process for all of them."),
    ] = None,
    target: Annotated[str | None, typer.Option("--target", help="The id it was done to.")] = None,
    since: Annotated[
        str | None, typer.Option("--since", help="Not older than: 12h, 30d; or a day: 2026-05-01.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1_000, help="At most so many.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Show who started, stopped, changed or removed what; the newest first."""
    found = run(_entries(who, action, target, since, limit), as_json=as_json)
    if as_json:
        print_json({"entries": [_entry(one) for one in found]})
        return
    rows = [
        (
            when(one.at) or "",
            one_line(one.name),
            one.action,
            one_line(one.target or "", 60),
            one_line(", ".join(f"{name}: {value}" for name, value in one.details.items()), 80),
        )
        for one in found
    ]
    table(("when", "who", "what", "to what", ""), rows)
    say(f"{len(found):,} entries")


async def _entries(
    who: str | None, action: str | None, target: str | None, since: str | None, limit: int
) -> list[Entry]:
    from veritrail_graph.api.auth.audit import Audit, Filters

    wanted = Filters(who, action, target, None if since is None else parse_since(since))
    return await with_service(lambda service: Audit(service).entries(wanted, limit))


def parse_since(text: str) -> float:
    """The time, in seconds since 1970, from which on is meant.

    Raises:
        InputError: It is neither a span nor a day.
    """
    try:
        day = datetime.fromisoformat(text.strip())
    except ValueError:
        return time.time() - parse_span(text, "--since")
    return (day if day.tzinfo else day.replace(tzinfo=UTC)).timestamp()


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "at": when(entry.at),
        "key_id": entry.key_id,
        "name": entry.name,
        "action": entry.action,
        "target": entry.target,
        "request_id": entry.request_id,
        "details": dict(entry.details),
    }
