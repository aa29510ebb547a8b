"""`veritrail diff`: where two versions, or two verifications, differ; `compare` shows it, too."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.exits import ask
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, verdict_words
from veritrail_graph.api.cli.terminal import show as print_result
from veritrail_graph.api.show.asking import asked_as
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.graph.comparing import DifferingPart, folded_settings
from veritrail_graph.graph.errors import InputError, NotFound
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.difference import ChangedValue, Difference, Parting, RoundSide

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text

    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.version_diff import VersionDifference

NODES_SHOWN = 10
SENTENCES_SHOWN = 10

_PARTS: Mapping[str, str] = {
    DifferingPart.NODES: "other nodes were checked",
    DifferingPart.EVIDENCE: "other sentences were selected",
    DifferingPart.VERDICT: "another interim verdict was given",
    DifferingPart.LENGTH: "one walk had ended, the other went on",
}


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
        print_result(difference_view(found))
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


def difference_view(difference: Difference) -> Group:
    """A comparison as a person reads it."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = list(_heads(difference))
    if not difference.same_claim:
        parts.append(Text("These are verifications of different claims.", style="bold yellow"))
        parts.append(_changed(difference.claim))
    if difference.settings:
        settings, folded = folded_settings(difference.settings)
        parts += [Text("\ndifferent settings", style="bold"), _changed(settings)]
        if folded:
            words = f"and {len(folded):,} settings that differ with the judge; --json lists them"
            parts.append(Text(words, style="dim"))
    if difference.outcome:
        parts += [Text("\ndifferent results", style="bold"), _changed(difference.outcome)]
    if difference.parting is not None:
        parts += _parting(difference.parting)
    elif difference.same:
        parts.append(Text("\nSame path, same verdict."))
    else:
        parts.append(Text("\nAll rounds are the same: nodes, sentences and interim verdicts."))
    return Group(*parts)


def _heads(difference: Difference) -> Iterator[Text]:
    from rich.text import Text

    if difference.same_claim:
        yield Text(one_line(difference.sides[0].claim), style="bold")
    for name, one in zip("AB", difference.sides, strict=True):
        words, style = verdict_words(one.verdict, one.status)
        by = f"{one.engine} {one.model}" if one.model else one.engine
        by += asked_as(one)
        facts = f" · {one_line(by)} · {one.created_at}"
        yield Text.assemble((f"{name}  ", "bold"), one.verification_id, "  ", (words, style), facts)


def _changed(found: Mapping[str, ChangedValue]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", "A", "B"):
        table.add_column(name, overflow="fold")
    for name, both in found.items():
        table.add_row(Text(one_line(name)), Text(_value(both.a)), Text(_value(both.b)))
    return table


def _value(value: Any) -> str:
    """A value of a setting on one line; what is not there is a dash."""
    if value is None:
        return "-"
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _parting(parting: Parting) -> Iterator[RenderableType]:
    from rich.text import Text

    why = ", ".join(_PARTS[part] for part in parting.parts)
    yield Text.assemble((f"\nthe trails part in iteration {parting.iteration}", "bold"), f": {why}")
    yield _side("A", parting.a)
    yield _side("B", parting.b)


def _side(name: str, side: RoundSide | None) -> RenderableType:
    from rich.text import Text
    from rich.tree import Tree

    if side is None:
        return Text.assemble((name, "bold"), "  had ended before")
    tree = Tree(
        Text.assemble((f"{name}  ", "bold"), verdict_words(side.verdict, Status.UNDECIDED)),
        guide_style="dim",
    )
    tree.add(Text(f"reasoning: {one_line(side.reasoning)}"))
    if side.checked_only:
        names = ", ".join(one_line(node, 60) for node in side.checked_only[:NODES_SHOWN])
        tree.add(Text(f"checked only here: {names}{_rest(len(side.checked_only), NODES_SHOWN)}"))
    for cited in side.selected_only[:SENTENCES_SHOWN]:
        head = f"selected only here: {one_line(cited.node_id, 60)} {cited.sentence}: "
        tree.add(Text.assemble((head, "cyan"), one_line(cited.text)))
    if len(side.selected_only) > SENTENCES_SHOWN:
        tree.add(Text(f"…{_rest(len(side.selected_only), SENTENCES_SHOWN)} sentences", style="dim"))
    return tree


def _rest(count: int, most: int) -> str:
    return f" and {count - most:,} more" if count > most else ""
