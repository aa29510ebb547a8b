"""The page on Bloom says what the perspective holds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from veritrail_graph.graph.schema.bloom import ACTIONS, PHRASES, SUGGESTIONS, perspective

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "browser.md").read_text(encoding="utf-8")
MADE = perspective()


def rows(heading: str) -> list[list[str]]:
    """The cells of the table that has this first column, code marks taken off."""
    lines = PAGE.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    found = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip().strip("`") for cell in line.strip("|").split("|")])
    return found


def test_it_lists_the_phrases_in_order_with_their_statements() -> None:
    assert [(row[0], row[2]) for row in rows("phrase")] == [
        (phrase.text, f"[{name}](../cypher/{phrase.statement}.cypher)")
        for phrase in PHRASES
        for name in [phrase.statement.removeprefix("bloom/")]
    ]


def test_it_explains_every_parameter() -> None:
    assert {row[0] for row in rows("parameter")} == {f"${name}" for name in SUGGESTIONS}


def test_it_lists_the_scene_actions() -> None:
    assert [row[0] for row in rows("action")] == [action.name for action in ACTIONS]


def test_it_says_how_every_category_looks() -> None:
    assert rows("category") == [
        [each["name"], each["color"], str(each["size"]), each["captionKeys"][0]]
        for each in MADE["categories"]
    ]


def told_rules() -> set[tuple[str, str, str, str]]:
    """Label, property, value and look of every rule of the page."""
    return {
        (label, fact[0], value, look.split(":")[0].strip("`"))
        for rule, labels, look in rows("rule")
        for fact in [re.findall(r"\w+", rule)]
        for value in fact[2:]
        for label in re.findall(r"\w+", labels)
        if value != "or"
    }


def look(rule: dict[str, Any]) -> str:
    return rule["color"] if rule["applyColor"] else f"size {rule['size']}"


def test_it_says_every_rule() -> None:
    assert told_rules() == {
        (each["name"], rule["basedOn"].removesuffix("_string"), rule["conditionValue"], look(rule))
        for each in MADE["categories"]
        for rule in each["styleRules"]
    }


def test_it_says_how_relationships_look() -> None:
    thick = {each["name"]: each["color"] for each in MADE["relationshipTypes"] if each["size"] > 1}
    told = dict(re.findall(r"`([A-Z_]+)` (?:is drawn )?thick and\s+`(#[0-9A-F]{6})`", PAGE))
    assert told == thick
    (plain,) = {each["color"] for each in MADE["relationshipTypes"] if each["size"] == 1}
    assert f"all other relationships are thin and `{plain}`" in PAGE


def test_it_says_that_the_import_was_not_tried() -> None:
    assert "the import itself was not tried" in PAGE
    assert MADE["version"].startswith("2.7")
    assert "Bloom 2.3 and 2.7" in PAGE


def test_its_drawing_has_the_colours_of_the_perspective() -> None:
    drawing = (ROOT / "docs" / "images" / "bloom.svg").read_text(encoding="utf-8")
    looks = [*MADE["categories"], *MADE["relationshipTypes"]]
    rules = [rule for each in MADE["categories"] for rule in each["styleRules"]]
    used = set(re.findall(r'(?:<circle [^>]* fill|<path [^>]* stroke)="(#[0-9A-F]{6})"', drawing))
    assert len(used) >= 6
    assert used <= {each["color"] for each in (*looks, *rules)}
