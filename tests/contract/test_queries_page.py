"""docs/queries.md holds every query of the library, and what it answers today."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.queries import library

DOCS = Path(__file__).resolve().parents[2] / "docs"
MOST = 10_000
HINT = "run: python docs/make_queries.py"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_queries", DOCS / "make_queries.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def text() -> str:
    return (DOCS / "queries.md").read_text(encoding="utf-8")


def sections(text: str) -> dict[str, str]:
    """The part of every query, without the headings between them."""
    parts = re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    return {name: part.strip() for name, part in parts}


def test_the_page_holds_every_query_with_its_parameters_and_columns(
    maker: ModuleType, text: str
) -> None:
    bare = re.sub(r"^Answers:\n.*?(?=^##|\Z)", "", text, flags=re.MULTILINE | re.DOTALL)
    assert bare.strip() == maker.page(maker.head_of(text), {}).strip(), HINT
    assert set(sections(text)) == {statement.short_name for statement in library()}
    for statement in library():
        part = sections(text)[statement.short_name]
        assert statement.purpose in part
        for one in (*statement.parameters, *statement.columns):
            assert f"| `{one.name}` | {one.type} |" in part


def test_the_page_shows_an_answer_of_every_query(text: str) -> None:
    for name, part in sections(text).items():
        answer = part.partition("Answers:\n\n")[2]
        assert answer.startswith(("| ", "No rows.")), name
        assert not (name.startswith("check_") and answer != "No rows."), name


@pytest.mark.engine
@pytest.mark.slow
def test_the_answers_are_what_the_sample_gives(
    maker: ModuleType, text: str, store: Store, arun: Any
) -> None:
    # Two checks read the whole graph, in which other tests leave what is not sound.
    before = {
        one.short_name: arun(store.queries.run(one.short_name, {"limit": MOST})).rows
        for one in library()
        if one.short_name in ("check_loose_ends", "check_orphans")
    }
    try:
        answers = arun(maker.answers_of(store))
    finally:
        arun(store.processes.delete(maker.PROCESS))
    for name, known in before.items():
        left = [row for row in answers[name].rows if row not in known]
        answers[name] = answers[name].model_copy(update={"rows": left, "truncated": False})
    made = sections(maker.page(maker.head_of(text), answers))
    for name, part in sections(text).items():
        assert made[name] == part, HINT
