"""`veritrail diff`: where two versions, or two verifications, differ; `compare` shows it, too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veritrail_graph.api.cli.exits import ask
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, show_parts
from veritrail_graph.api.show.difference import difference_shown
from veritrail_graph.api.show.document import Room
from veritrail_graph.graph.errors import InputError, NotFound
from veritrail_graph.graph.model.difference import Difference

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.version_diff import VersionDifference

ROOM = Room({"sentence": 10})


def diff(
    first: Annotated[
        str,
        typer.Argument(
            metavar="OLD",
            help="A verification; or an earlier version: a process, a content hash, or last.",
        ),
    ],
    second: Annotated[
        str, typer.Argument(metavar="NEW", help="Another verification; or the process.")
    ],
    match: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Of versions: claims with other texts that say the same, as CSV or JSON pairs of "
            "earlier and claim_id.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show where two trails, or two versions, differ.

    Of trails: settings, verdicts, and the first iteration that differs. Of versions: nodes added,
    removed and changed, with what was rewritten, stages, and claims with other verdicts.
    """
    found = ask(lambda app: compared(app, first, second, match), as_json=as_json)
    tell_difference(found, as_json=as_json)


async def compared(
    app: Application, first: str, second: str, match: Path | None = None
) -> VersionDifference | Difference:
    """Compare two versions of a process, or two verifications.

    Args:
        app: The application.
        first: The earlier one.
        second: The other one.
        match: Of versions: a file of pairs of claims.

    Raises:
        NotFound: They name neither.
        InputError: Pairs are given, and no versions are compared.
    """
    pairs = _pairs(match)
    versions = await _versions(app, first, second, pairs)
    if versions is None and pairs:
        raise InputError("--match pairs claims of two versions; name a process as NEW.")
    return versions if versions is not None else await _trails(app, first, second)


def tell_difference(found: VersionDifference | Difference, *, as_json: bool) -> None:
    """Print how two versions or two verifications differ.

    Args:
        found: The difference.
        as_json: Whether one JSON document is printed.
    """
    if as_json:
        is_trail = isinstance(found, Difference)
        print_json(found.json_object() if is_trail else found.model_dump(mode="json"))
    elif isinstance(found, Difference):
        show_parts(difference_shown(found), ROOM)
    else:
        from veritrail_graph.api.cli.changes import show_versions

        show_versions(found)


async def _trails(app: Application, first: str, second: str) -> Difference:
    """Two verifications side by side, which may be named by short forms."""
    try:
        return await app.verifications.diff(first, second)
    except NotFound as error:
        if error.code != "verification_unknown":
            raise
    names = [await app.names.verification(one) for one in (first, second)]
    return await app.verifications.diff(*names)


def _pairs(path: Path | None) -> list[tuple[str, str]]:
    """claim_ids of the old version with those of the new one; none without a file."""
    if path is None:
        return []
    from veritrail_graph.api.cli.changes import read_pairs

    return [(one["earlier"], one["claim_id"]) for one in read_pairs(path)]


async def _versions(
    app: Application, old: str, new: str, pairs: Sequence[tuple[str, str]]
) -> VersionDifference | None:
    """The difference of two versions; None where no process is named."""
    from veritrail_graph.api.app.version_diff import LAST

    if not await _is_process(app, new):
        if old != LAST and not await _is_process(app, old):
            return None
        new = await app.names.process(new)
    return await app.processes.diff(old, new, pairs)


async def _is_process(app: Application, name: str) -> bool:
    try:
        await app.processes.get(name)
    except NotFound:
        return False
    return True
