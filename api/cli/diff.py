"""`veritrail diff`: where two trails part."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.exits import run
from veritrail_graph.api.cli.ingest import say_starting
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import VERDICT_STYLE, print_json, verdict_words
from veritrail_graph.api.cli.terminal import show as print_result
from veritrail_graph.api.settings import Settings
from veritrail_graph.api.views.texts import one_line
from veritrail_graph.api.views.words import VERDICT_WORDS
from veritrail_graph.graph.comparing import Changed, Difference, Part, Parting, RoundSide, compare
from veritrail_graph.graph.model import Verification

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text

NODES_SHOWN = 10
SENTENCES_SHOWN = 10

_PARTS = {
    Part.NODES: "other nodes were checked",
    Part.EVIDENCE: "other sentences were selected",
    Part.VERDICT: "another interim verdict was given",
    Part.LENGTH: "one walk had ended, the other went on",
}


def diff(
    first: Annotated[str, typer.Argument(metavar="A", help="A verification, by its id.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    as_json: AsJson = False,
) -> None:
    """Show where two stored trails part: settings, verdicts, and the first round that differs."""
    difference = compare(*run(_read(Settings.load(), first, second), as_json=as_json))
    if as_json:
        from veritrail_graph.graph.exporters.difference import difference_json

        print_json(difference_json(difference))
        return
    print_result(difference_view(difference))


async def _read(settings: Settings, first: str, second: str) -> tuple[Verification, Verification]:
    from veritrail_graph.api.graph_connection import open_graph

    async with open_graph(settings, say_starting) as store:
        return await store.trails.get(first), await store.trails.get(second)


def difference_view(difference: Difference) -> Group:
    """A comparison as a person reads it."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = list(_heads(difference))
    if not difference.is_same_claim:
        parts.append(Text("These are verifications of different claims.", style="bold yellow"))
        parts.append(_changed(difference.claim))
    if difference.settings:
        parts += [Text("\nset otherwise", style="bold"), _changed(difference.settings)]
    if difference.outcome:
        parts += [Text("\nended otherwise", style="bold"), _changed(difference.outcome)]
    if difference.parting is not None:
        parts += _parting(difference.parting)
    elif difference.is_same:
        parts.append(Text("\nBoth went the same way to the same end."))
    else:
        parts.append(Text("\nAll rounds are the same: nodes, sentences and interim verdicts."))
    return Group(*parts)


def _heads(difference: Difference) -> Iterator[Text]:
    from rich.text import Text

    if difference.is_same_claim:
        yield Text(one_line(difference.a.claim.text), style="bold")
    for name, one in (("A", difference.a), ("B", difference.b)):
        words, style = verdict_words(one.verdict, one.status)
        by = f"{one.engine} {one.model}" if one.model else one.engine
        facts = f" · {one_line(by)} · {one.created_at}"
        yield Text.assemble((f"{name}  ", "bold"), one.verification_id, "  ", (words, style), facts)


def _changed(found: Iterable[Changed]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", "A", "B"):
        table.add_column(name, overflow="fold")
    for one in found:
        table.add_row(Text(one_line(one.name)), Text(_value(one.a)), Text(_value(one.b)))
    return table


def _value(value: Any) -> str:
    """A value of a setting on one line; what is not there is a dash."""
    if value is None:
        return "-"
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _parting(parting: Parting) -> Iterator[RenderableType]:
    from rich.text import Text

    why = ", ".join(_PARTS[part] for part in parting.parts)
    yield Text.assemble((f"\nthe trails part in iteration {parting.number}", "bold"), f": {why}")
    yield _side("A", parting.a)
    yield _side("B", parting.b)


def _side(name: str, side: RoundSide | None) -> RenderableType:
    from rich.text import Text
    from rich.tree import Tree

    if side is None:
        return Text.assemble((name, "bold"), "  had ended before")
    tree = Tree(
        Text.assemble(
            (f"{name}  ", "bold"), (VERDICT_WORDS[side.verdict], VERDICT_STYLE[side.verdict])
        ),
        guide_style="dim",
    )
    tree.add(Text(f"reasoning: {one_line(side.reasoning)}"))
    if side.checked:
        names = ", ".join(one_line(node, 60) for node in side.checked[:NODES_SHOWN])
        tree.add(Text(f"checked only here: {names}{_rest(len(side.checked), NODES_SHOWN)}"))
    for cited in side.selected[:SENTENCES_SHOWN]:
        sentence = cited.sentence
        head = f"selected only here: {one_line(sentence.node_id, 60)} {sentence.index}: "
        tree.add(Text.assemble((head, "cyan"), one_line(sentence.text)))
    if len(side.selected) > SENTENCES_SHOWN:
        tree.add(Text(f"…{_rest(len(side.selected), SENTENCES_SHOWN)} sentences", style="dim"))
    return tree


def _rest(count: int, most: int) -> str:
    return f" and {count - most:,} more" if count > most else ""
