"""The documentation names every format that can be read, and every one that can be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from veritrail_graph.api.app.exporting import FORMATS, ending_of, format_of
from veritrail_graph.graph.importers.registry import importers

REPO = Path(__file__).resolve().parents[2]


def test_every_format_that_can_be_read_is_in_the_table() -> None:
    table = (REPO / "docs" / "formats" / "README.md").read_text(encoding="utf-8")
    assert [one.name for one in importers() if f"`{one.name}`" not in table] == []


def test_every_format_that_can_be_written_is_in_the_table() -> None:
    page = (REPO / "docs" / "export.md").read_text(encoding="utf-8")
    assert [one for one in FORMATS if f"`{one}`" not in page] == []


def test_every_page_is_in_the_table_of_pages() -> None:
    docs = REPO / "docs"
    table = (docs / "pages.md").read_text(encoding="utf-8")
    known = {path.name for path in docs.glob("*.md")} - {"pages.md"}
    assert sorted(name for name in known if f"]({name})" not in table) == []


@pytest.mark.parametrize("name", [one for one in FORMATS if not one.endswith("csv")])
def test_a_file_that_is_named_by_its_ending_is_in_that_format(name: str) -> None:
    assert format_of(Path(f"p{ending_of(name)}")) == name
    assert format_of(Path(f"P{ending_of(name).upper()}.gz")) == name
