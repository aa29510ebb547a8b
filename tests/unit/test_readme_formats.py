"""The README names every format that can be read, and every one that can be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from veritrail_graph.api.app.exporting import FORMATS, ending_of, format_of
from veritrail_graph.graph.importers.registry import importers

REPO = Path(__file__).resolve().parents[2]


def _part(heading: str) -> str:
    text = (REPO / "README.md").read_text(encoding="utf-8")
    return text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def test_every_format_that_can_be_read_is_in_the_table() -> None:
    table = _part("Which format do I have?")
    assert [one.name for one in importers() if f"`{one.name}`" not in table] == []


def test_every_format_that_can_be_written_is_in_the_table() -> None:
    table, page = _part("Where do verdicts go?"), (REPO / "docs" / "export.md").read_text()
    assert [one for one in FORMATS if f"`{one}`" not in table or f"`{one}`" not in page] == []


@pytest.mark.parametrize("name", [one for one in FORMATS if not one.endswith("csv")])
def test_a_file_that_is_named_by_its_ending_is_in_that_format(name: str) -> None:
    assert format_of(Path(f"p{ending_of(name)}")) == name
    assert format_of(Path(f"P{ending_of(name).upper()}.gz")) == name
