"""The data model, and what is made from it: page, drawing, arrows document, style file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from veritrail_graph import cypher
from veritrail_graph.graph.model import Verdict
from veritrail_graph.graph.schema import NODES, RELATIONSHIPS
from veritrail_graph.graph.schema.__main__ import filled, made, main
from veritrail_graph.graph.schema.arrows import arrows
from veritrail_graph.graph.schema.drawing import (
    CARD_WIDTH,
    CARDS,
    HEIGHT,
    LINES,
    WIDTH,
    Line,
    Point,
    drawing,
    lines,
)
from veritrail_graph.graph.schema.rules import schema_rules
from veritrail_graph.graph.schema.style import (
    LABELS,
    RELATIONSHIP_COLOURS,
    VERDICTS,
    style,
)

DOCS = Path(__file__).resolve().parents[3] / "docs"
HEX = re.compile(r"#[0-9A-F]{6}")


def label_names() -> set[str]:
    return {node.label for node in NODES}


def test_a_label_is_named_as_neo4j_recommends_and_complete() -> None:
    for node in NODES:
        names = [prop.name for prop in node.properties]
        assert re.fullmatch(r"([A-Z][a-z]+)+", node.label)
        assert len(set(names)) == len(names)
        assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in names)
        assert {*node.key, node.caption} <= set(names)
        assert tuple(names[: len(node.key)]) == node.key
        assert node.caption in {"name", "caption"}


def test_relationships_join_labels_of_the_model_and_share_no_name_with_one() -> None:
    types = [one.type for one in RELATIONSHIPS]
    patterns = [one.pattern for one in RELATIONSHIPS]
    assert len(set(patterns)) == len(patterns)
    for one in RELATIONSHIPS:
        assert {one.source, one.target} <= label_names()
        assert re.fullmatch(r"[A-Z]+(_[A-Z]+)*", one.type)
    assert not {name.upper() for name in types} & {name.upper() for name in label_names()}


def test_no_statement_sets_a_property_that_is_not_in_the_model() -> None:
    known = {prop.name for one in (*NODES, *RELATIONSHIPS) for prop in one.properties}
    found: set[str] = set()
    for name in cypher.names():
        text = cypher.load(name).text
        for clause in re.findall(
            r"\bSET\b(.*?)(?=\b(?:RETURN|WITH|MATCH|MERGE|REMOVE)\b|\Z)", text, re.S
        ):
            found |= set(re.findall(r"\b\w+\.(\w+)\s*=", clause))
        for pattern in re.findall(r"\b(?:CREATE|MERGE)\s*(\(.*?\}\))", text, re.S):
            found |= set(re.findall(r"[{,]\s*(\w+):", pattern))
    assert {"caption", "status", "summary", "cited"} & found
    assert found <= known


def test_every_key_is_a_constraint_and_every_constraint_a_key() -> None:
    keys = {(node.label, node.key) for node in NODES if node.key}
    unique = {(rule.label, rule.properties) for rule in schema_rules() if rule.unique}
    assert unique == keys


def test_constraints_and_indexes_are_named_after_what_they_are_about() -> None:
    properties = {node.label: {prop.name for prop in node.properties} for node in NODES}
    for rule in schema_rules():
        assert set(rule.properties) <= properties[rule.label]
        label = "schema" if rule.label == "VeriTrailSchema" else rule.label.lower()
        about = "key" if rule.unique else rule.properties[0].removesuffix("_id")
        assert rule.name == f"veritrail_{label}_{about}"


def test_the_documentation_holds_what_the_model_makes() -> None:
    for name, text in made(DOCS).items():
        told = "run `python -m veritrail_graph.graph.schema`"
        assert (DOCS / name).read_text("utf-8") == text, told


def test_the_program_fills_a_page_that_has_old_tables(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    page = "before\n<!-- made: relationships -->\nold\n<!-- end -->\nafter\n"
    (tmp_path / "data-model.md").write_text(page, encoding="utf-8")
    assert main([str(tmp_path)]) == 0
    written = (tmp_path / "data-model.md").read_text("utf-8")
    assert written.startswith("before\n<!-- made: relationships -->\n| pattern |")
    assert written.endswith("|\n<!-- end -->\nafter\n")
    assert "\nold\n" not in written
    assert (tmp_path / "veritrail.grass").is_file()


def test_a_block_that_nobody_makes_is_refused() -> None:
    with pytest.raises(KeyError):
        filled("<!-- made: poems -->\n<!-- end -->")


def test_the_drawing_is_whole_and_fetches_nothing() -> None:
    root = ElementTree.fromstring(drawing())
    texts = [element.text or "" for element in root.iter() if element.tag.endswith("text")]
    for node in NODES:
        assert node.label in texts
        assert set(CARDS[node.label].shown) <= {prop.name for prop in node.properties}
        assert set(node.key) <= set(CARDS[node.label].shown)
    assert {one.type for one in RELATIONSHIPS} <= set(texts)
    assert not re.search(r"href|url\((?!#)|@import|<script", drawing())
    assert "prefers-color-scheme: dark" in drawing()


def crossings(lines: Iterable[Line]) -> list[tuple[Line, Line]]:
    """Pairs of lines that cross; the drawing has none."""
    everything = list(lines)
    return [
        (one, other)
        for place, one in enumerate(everything)
        for other in everything[place + 1 :]
        if any(cross(a, b) for a in pairwise(one.points) for b in pairwise(other.points))
    ]


def cross(one: tuple[Point, Point], other: tuple[Point, Point]) -> bool:
    """Whether an upright and a level stretch meet."""
    for level, upright in ((one, other), (other, one)):
        if level[0][1] == level[1][1] and upright[0][0] == upright[1][0]:
            left, right = sorted((level[0][0], level[1][0]))
            top, bottom = sorted((upright[0][1], upright[1][1]))
            if left < upright[0][0] < right and top < level[0][1] < bottom:
                return True
    return False


def boxes() -> dict[str, tuple[float, float, float, float]]:
    found = {}
    for node in NODES:
        card = CARDS[node.label]
        rows = len(card.shown) + (len(node.properties) > len(card.shown))
        found[node.label] = (card.x, card.y, card.x + CARD_WIDTH, card.y + card.height(rows))
    return found


def test_no_card_covers_another_and_no_line_crosses_a_line_or_a_card() -> None:
    places = boxes()
    for left, top, right, bottom in places.values():
        assert 0 < left < right < WIDTH
        assert 0 < top < bottom < HEIGHT
    for one, other in combinations(places.values(), 2):
        assert other[0] >= one[2] or one[0] >= other[2] or other[1] >= one[3] or one[1] >= other[3]
    drawn = [line for _, line in lines()]
    assert len(drawn) == len(RELATIONSHIPS) == sum(len(some) for some in LINES.values())
    assert crossings(drawn) == []
    for line in drawn:
        for (x1, y1), (x2, y2) in pairwise(line.points):
            for left, top, right, bottom in places.values():
                inside_x = (
                    max(min(x1, x2), left) < min(max(x1, x2), right) or left < x1 == x2 < right
                )
                inside_y = (
                    max(min(y1, y2), top) < min(max(y1, y2), bottom) or top < y1 == y2 < bottom
                )
                assert not (inside_x and inside_y)


def test_a_line_leaves_its_source_and_enters_its_target() -> None:
    for one, line in lines():
        places = boxes()
        for label, (x, y) in ((one.source, line.points[0]), (one.target, line.points[-1])):
            left, top, right, bottom = places[label]
            on_side = x in {left, right} and top < y < bottom
            on_edge = y in {top, bottom} and left < x < right
            assert on_side or on_edge, (one, label, x, y)


def test_the_arrows_document_has_what_arrows_app_opens() -> None:
    document = json.loads(json.dumps(arrows()))
    assert set(document) == {"style", "nodes", "relationships"}
    assert document["style"]["radius"] > 0
    ids = [node["id"] for node in document["nodes"]]
    assert len(set(ids)) == len(ids) == len(NODES)
    for node in document["nodes"]:
        assert set(node) == {"id", "position", "caption", "labels", "properties", "style"}
        assert all(isinstance(node["position"][axis], int | float) for axis in "xy")
        assert all(isinstance(value, str) for value in node["properties"].values())
        assert set(node["style"]) <= set(document["style"])
    for one in document["relationships"]:
        assert set(one) == {"id", "fromId", "toId", "type", "properties", "style"}
        assert {one["fromId"], one["toId"]} <= set(ids)
        assert set(one["style"]) <= set(document["style"])
    apart = {(node["position"]["x"], node["position"]["y"]) for node in document["nodes"]}
    assert len(apart) == len(ids)


def test_the_style_file_has_a_rule_for_every_label_and_type() -> None:
    rules = dict(re.findall(r"^([\w.]+) \{\n(.*?)\n\}$", style(), re.MULTILINE | re.DOTALL))
    expected = {"node", "relationship"}
    expected |= {f"node.{node.label}" for node in NODES}
    expected |= {f"relationship.{one.type}" for one in RELATIONSHIPS}
    assert set(rules) == expected
    for node in NODES:
        rule = rules[f"node.{node.label}"]
        assert f'caption: "{{{node.caption}}}";' in rule
        assert re.search(r"diameter: (10|20|50|65|80)px;", rule)
        assert f"color: {LABELS[node.label].fill};" in rule
    for one in RELATIONSHIPS:
        assert re.search(r"shaft-width: (1|2|3|5|8|13|25|38)px;", rules[f"relationship.{one.type}"])


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_can_be_read_on_its_colour() -> None:
    for colours in [*LABELS.values(), *VERDICTS.values()]:
        assert all(HEX.fullmatch(c) for c in (colours.fill, colours.border, colours.text))
        light, dark = sorted((luminance(colours.fill), luminance(colours.text)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3.5, colours  # large, bold text needs 3


def test_the_palette_has_a_colour_for_all_that_has_one() -> None:
    assert set(LABELS) == label_names()
    assert set(VERDICTS) == {verdict.value for verdict in Verdict}
    assert set(RELATIONSHIP_COLOURS) <= {one.type for one in RELATIONSHIPS}


OPERATIONS = (DOCS / "operations.md").read_text(encoding="utf-8")


def test_who_shares_a_database_reads_every_label_of_ours() -> None:
    said = OPERATIONS.partition("\nOurs are the labels ")[2].partition(", the relationship types")[
        0
    ]
    assert set(re.findall(r"`(\w+)`", said)) == {node.label for node in NODES}


def test_what_other_databases_refuse_is_counted_in_the_statements_of_today() -> None:
    texts = [
        one
        for name in cypher.names()
        for one in re.sub(r"//[^\n]*", "", cypher.load(name).text).split(";")
        if one.strip()
    ]
    counts = {
        "`EXISTS {}`": r"\bEXISTS\s*\{", "`COUNT {}`": r"\bCOUNT\s*\{",
        "`COLLECT {}`": r"\bCOLLECT\s*\{", "`elementId`": r"\belementId\(",
        "`FOREACH`": r"\bFOREACH\b", "constraints": "CREATE CONSTRAINT",
    }  # fmt: skip
    for construct, pattern in counts.items():
        number = sum(re.search(pattern, text) is not None for text in texts)
        assert f"{construct} {number}" in OPERATIONS, (construct, number)
    assert f"our {len(texts)} statements" in OPERATIONS, len(texts)
