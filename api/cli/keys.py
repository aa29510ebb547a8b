"""`veritrail keys`: who may use the service."""

from __future__ import annotations

import getpass
import re
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.exits import ask
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say, table
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.auth.access import Caller
    from veritrail_graph.api.auth.audit import Entry
    from veritrail_graph.api.auth.keys import Key, Wish


app = typer.Typer(
    help="Keys of the service: make, list, revoke.", no_args_is_help=True, rich_markup_mode=None
)

_UNITS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_LONGEST = 100 * 365 * 86_400.0
MOST_PER_MINUTE = 1_000_000


@app.command("create")
def create(
    name: Annotated[str, typer.Option("--name", help="A name for people; one key has it.")],
    scope: Annotated[
        list[str],
        typer.Option(
            "--scope", help="read, review, ingest, write, verify or admin; may be repeated."
        ),
    ],
    expires: Annotated[
        str | None, typer.Option("--expires", help="How long it works: 12h, 30d, 8w.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", help="USD that all its jobs may cost together.")
    ] = None,
    rate: Annotated[
        str | None, typer.Option("--rate", help="Requests a minute: 600 or 600/min.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a key; it is shown this once."""
    wish = _wish(name, scope, expires, budget, rate)
    made, shown = ask(lambda app: app.keys.create(wish, _person()), as_json=as_json)
    if as_json:
        print_json({"key": shown, **key_json(made)})
        return
    typer.echo(shown)
    say("This is the only time that it is shown: only a hash of it is kept.", "yellow")
    say("Running services know it within two seconds, and from now on ask everybody for a key.")


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List all keys, also those that do not open any more."""
    found = ask(lambda app: app.keys.all(), as_json=as_json)
    if as_json:
        print_json({"keys": [key_json(key) for key in found]})
        return
    columns = ("id", "name", "state", "scopes", "expires", "last used", "budget", "a minute")
    rows = []
    for key in found:
        shown_key = key_json(key)
        rows.append(
            (
                key.key_id,
                one_line(key.name),
                shown_key["state"],
                " ".join(shown_key["scopes"]),
                shown_key["expires"] or "never",
                shown_key["last_used"] or "never",
                "no limit" if key.budget_usd is None else f"${key.budget_usd:,.2f}",
                "" if key.per_minute is None else f"{key.per_minute:,}",
            )
        )
    table(columns, rows)
    say(f"{len(found):,} key(s)")


@app.command("revoke")
def revoke(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Its id or its name.")],
    as_json: AsJson = False,
) -> None:
    """Revoke a key; running services refuse it within two seconds."""
    found = ask(lambda app: app.keys.revoke(key, _person()), as_json=as_json)
    if as_json:
        print_json(key_json(found))
    else:
        say(f"The key {found.name!r} ({found.key_id}) opens nothing any more.")


def _wish(
    name: str, scope: list[str], expires: str | None, budget: float | None, rate: str | None
) -> Wish:
    from veritrail_graph.api.auth.access import parse_scopes
    from veritrail_graph.api.auth.keys import Wish

    if budget is not None and not 0 <= budget < 1e9:
        raise InputError(f"--budget {budget}: must be an amount in USD, from 0 on")
    return Wish(
        name,
        parse_scopes(scope),
        None if expires is None else parse_span(expires, "--expires"),
        budget,
        None if rate is None else parse_rate(rate),
    )


def _person() -> Caller:
    """The user who calls the command."""
    from veritrail_graph.api.auth.access import EVERYTHING, Caller

    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in some containers
        name = "unknown"
    return Caller(None, f"command line ({name})", EVERYTHING)


def parse_span(text: str, option: str) -> float:
    """Seconds of a time such as `30d`.

    Raises:
        InputError: It is none.
    """
    found = re.fullmatch(r"(\d{1,9})\s*([smhdw])", text.strip().lower(), re.ASCII)
    seconds = int(found[1]) * _UNITS[found[2]] if found else 0.0
    if not 0.0 < seconds <= _LONGEST:
        raise InputError(f"{option} {text!r}: must be a time such as 12h, 30d or 8w")
    return seconds


def parse_rate(text: str) -> int:
    """Requests a minute.

    Raises:
        InputError: It is no such number.
    """
    found = re.fullmatch(r"(\d{1,9})\s*(?:/\s*min(?:ute)?)?", text.strip().lower(), re.ASCII)
    if found is None or not 0 < int(found[1]) <= MOST_PER_MINUTE:
        raise InputError(f"--rate {text!r}: must be a number of requests a minute, such as 600/min")
    return int(found[1])


def key_json(key: Key) -> dict[str, Any]:
    """A key as it is printed, without anything that opens."""
    return {
        "key_id": key.key_id,
        "name": key.name,
        "state": key.state(time.time()),
        "scopes": sorted(key.scopes),
        "created": when(key.created_at),
        "expires": when(key.expires_at),
        "revoked": when(key.revoked_at),
        "last_used": when(key.last_used_at),
        "budget_usd": key.budget_usd,
        "per_minute": key.per_minute,
    }


def when(at: float | None) -> str | None:
    """A time as it is printed."""
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


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
    limit: Annotated[int, typer.Option("--limit", min=1, max=1_000, help="The most entries.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Show who changed what over the service, the newest first."""
    from veritrail_graph.api.auth.audit import Filters

    wanted = Filters(who, action, target, None if since is None else parse_since(since))
    found = ask(lambda app: app.audit.entries(wanted, limit), as_json=as_json)
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
