"""The pages and the help of `veritrail eval` name everything that there is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer

from veritrail_eval.methods.registry import method_kinds
from veritrail_graph.api.cli.app import command

DOCS = Path(__file__).resolve().parents[3] / "docs"
SHARED = re.compile(r"^The first four ask a language model.+?\n\n", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def group() -> Any:
    root: Any = command()
    return root.commands["eval"]


@pytest.fixture(scope="module")
def page() -> str:
    return (DOCS / "evaluation.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def methods() -> str:
    return (DOCS / "evaluation-methods.md").read_text(encoding="utf-8")


def test_the_page_lists_every_command_in_the_order_of_the_help(group: Any, page: str) -> None:
    listed = re.findall(r"^\| `veritrail eval (\w+)", page, re.MULTILINE)
    assert listed == list(group.commands)


def test_the_page_of_the_methods_lists_every_one_with_all_its_parameters(methods: str) -> None:
    table = r"^\| `(\w+)` \|(?: [^|]*\|){3} (`[^|]+) \|$"
    rows = dict(re.findall(table, methods, re.MULTILINE))
    ours = {name: kind for name, kind in method_kinds().items() if name in rows}
    assert set(rows) == set(ours) == set(method_kinds())
    (shared,) = SHARED.findall(methods)
    models, checkers = (set(re.findall(r"`(\w+)`", part)) for part in shared.split(". The others"))
    for name, kind in ours.items():
        own = set(re.findall(r"`(\w+)`", rows[name]))
        both = checkers if "documents" in kind.parameters else models
        assert own | both == set(kind.parameters), name


def test_the_help_lists_every_command_whole_in_its_section(group: Any) -> None:
    context = typer.Context(group, info_name="eval", terminal_width=80)
    lines = group.get_help(context).splitlines()
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines[1:] if line.endswith("...")]
    sections: dict[str, list[str]] = {}
    for line in lines:
        if re.fullmatch(r"\S.+:", line):
            sections[line] = []
        elif sections and (found := re.match(r"  ([a-z]+)  ", line)):
            list(sections.values())[-1].append(found[1])
    sections.pop("Options:")
    assert [name for names in sections.values() for name in names] == list(group.commands)
    assert all(sections.values())
    assert len(sections) > 2
