"""Make the documentation of the data model: `python -m veritrail_graph.graph.schema DOCS`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from veritrail_graph.graph.schema.arrows import arrows
from veritrail_graph.graph.schema.drawing import drawing
from veritrail_graph.graph.schema.element_types import NodeType, Property
from veritrail_graph.graph.schema.model import NODES, RELATIONSHIPS
from veritrail_graph.graph.schema.rules import schema_rules
from veritrail_graph.graph.schema.style import style

_BLOCK = re.compile(
    r"(<!-- made: (?P<name>[a-z ]+) -->\n)(?:(?!<!-- made: ).)*?(<!-- end -->)", re.DOTALL
)


def filled(page: str) -> str:
    """The page with every block between `<!-- made: NAME -->` and `<!-- end -->` made again.

    Raises:
        KeyError: A block has an unknown name.
    """
    return _BLOCK.sub(lambda found: found[1] + BLOCKS[found["name"]]() + found[3], page)


def _overview() -> str:
    return _table(
        ("label", "a node is", "key", "caption"),
        (
            (
                f"[`{node.label}`](#{node.label.lower()})",
                node.meaning,
                _key(node),
                _code(node.caption),
            )
            for node in NODES
        ),
    )


def _nodes() -> str:
    return "\n".join(
        f"### {node.label}\n\n{_sentence(node.meaning)} {_key_words(node)}\n\n{_properties(node)}"
        for node in NODES
    )


def _relationships() -> str:
    return _table(
        ("pattern", "properties", "meaning"),
        (
            (
                _code(one.pattern),
                "; ".join(f"{_mark(p)} ({p.type}): {p.meaning}" for p in one.properties),
                one.meaning,
            )
            for one in RELATIONSHIPS
        ),
    )


def _constraints() -> str:
    return _table(
        ("name", "kind", "label", "properties"),
        (
            (
                _code(rule.name),
                "uniqueness constraint" if rule.unique else "index",
                _code(rule.label),
                ", ".join(_code(name) for name in rule.properties),
            )
            for rule in schema_rules()
        ),
    )


BLOCKS: dict[str, Callable[[], str]] = {
    "labels": _overview,
    "nodes": _nodes,
    "relationships": _relationships,
    "constraints": _constraints,
}
"""The text of each block."""


def _properties(node: NodeType) -> str:
    return _table(
        ("property", "type", "meaning"),
        ((_name(prop, node), prop.type, prop.meaning) for prop in node.properties),
    )


def _name(prop: Property, node: NodeType) -> str:
    if prop.name in node.key:
        return f"**{_code(prop.name)}**"
    return _mark(prop)


def _mark(prop: Property) -> str:
    return f"{_code(prop.name)} °" if prop.housekeeping else _code(prop.name)


def _key(node: NodeType) -> str:
    return ", ".join(_code(name) for name in node.key) or "none"


def _key_words(node: NodeType) -> str:
    return f"Key: {_key(node)}." if node.key else "No key; reached from its verification."


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _code(name: str) -> str:
    return f"`{name}`"


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


PAGE = "data-model.md"


def made(folder: Path) -> dict[str, str]:
    """Every file that is made from the model, by its path in the folder of the documentation."""
    return {
        PAGE: filled((folder / PAGE).read_text(encoding="utf-8")),
        "images/data-model.svg": drawing(),
        "data-model.arrows.json": json.dumps(arrows(), indent=2) + "\n",
        "veritrail.grass": style(),
    }


def main(arguments: list[str]) -> int:
    """Write the files into the folder that is named, or else into `docs`."""
    folder = Path(arguments[0] if arguments else "docs")
    for name, text in made(folder).items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
