"""The Bloom perspective: its shape, what it says of the data model, its colours."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph import cypher
from veritrail_graph.graph.model import Status, Verdict
from veritrail_graph.graph.schema import NODES, RELATIONSHIPS
from veritrail_graph.graph.schema.bloom import (
    ACTIONS,
    PHRASES,
    SUGGESTIONS,
    perspective,
    perspective_json,
)

MADE = perspective()
SHOWN = [node for node in NODES if not node.housekeeping]
EXPORTS = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "bloom"


def json_type(value: Any) -> str:
    kinds = {bool: "boolean", int: "number", float: "number", str: "text", type(None): "null"}
    return kinds.get(type(value), type(value).__name__)


def exports(version: str) -> list[dict[str, Any]]:
    """The exports of a version of Bloom."""
    read = [json.loads(path.read_text("utf-8")) for path in sorted(EXPORTS.glob("*.json"))]
    return [export for export in read if export["version"].startswith(version)]


def real_exports() -> list[dict[str, Any]]:
    """The exports of Bloom 2, the generation whose shape we write."""
    return exports("2.")


PARAMETER = ".templates[].params[]"
BY_NAME = {"labels", "stats"}  # objects whose keys are names that the user gave


def key_names(held: frozenset[str]) -> set[str]:
    return {each.split(":")[0] for each in held}


def keys(value: Any, place: str = "") -> Iterator[tuple[str, frozenset[str]]]:
    """Every object's place, and what it holds: `key: type`."""
    if isinstance(value, list):
        for each in value:
            yield from keys(each, f"{place}[]")
    elif isinstance(value, dict):
        is_named = place.rsplit(".", 1)[-1] in BY_NAME and all(
            isinstance(each, list | dict) for each in value.values()
        )
        if not is_named:
            held = frozenset(f"{key}: {json_type(each)}" for key, each in value.items())
            yield place, held
        for key, each in value.items():
            yield from keys(each, f"{place}.*" if is_named else f"{place}.{key}")


def places(exports: list[dict[str, Any]]) -> dict[str, list[frozenset[str]]]:
    """What the objects of each place hold."""
    found: dict[str, list[frozenset[str]]] = {}
    for export in exports:
        for place, held in keys(export):
            found.setdefault(place, []).append(held)
    return found


@pytest.mark.skipif(not EXPORTS.is_dir(), reason="the exports of other projects are not here")
class TestAgainstRealExports:
    def test_there_are_some_of_the_version_that_we_write(self) -> None:
        assert sum(export["version"] == MADE["version"] for export in real_exports()) >= 3

    def test_every_key_that_we_write_is_in_a_real_one_with_this_type(self) -> None:
        real = places(real_exports())
        # Suggestions by Cypher are in an export of Bloom 1 alone.
        assert "cypher: text" in frozenset[str]().union(*places(exports("1."))[PARAMETER])
        real[PARAMETER].append(frozenset({"cypher: text"}))
        for place, ours in places([MADE]).items():
            known = frozenset[str]().union(*real[place])
            for held in ours:
                assert held <= known, place

    @pytest.mark.parametrize("version", ["1.4", "1.9", "2.3", "2.7"])
    def test_no_field_has_another_type_than_in_exports_of_any_version(self, version: str) -> None:
        def types(exports: list[dict[str, Any]]) -> dict[tuple[str, str], set[str]]:
            found: dict[tuple[str, str], set[str]] = {}
            for place, objects in places(exports).items():
                for key, kind in (one.split(": ") for held in objects for one in held):
                    found.setdefault((place, key), set()).add(kind)
            return found

        ours, real = types([MADE]), types(exports(version))
        both = ours.keys() & real.keys()
        assert len(both) >= 39
        for field in both:
            known = real[field] - {"null"}
            assert not known or ours[field] - {"null"} <= known, field

    def test_every_key_that_all_real_ones_have_is_written(self) -> None:
        real, made = places(real_exports()), places([MADE])
        checked = 0
        for place in real.keys() & made.keys():
            always = set.intersection(*(key_names(held) for held in real[place]))
            for held in made[place]:
                assert always <= key_names(held), place
                checked += len(always)
        assert checked > 1000

    def test_forms_of_ids_icons_captions_and_types_are_those_of_real_ones(self) -> None:
        real = real_exports()
        data_types = {p["dataType"] for e in real for c in e["categories"] for p in c["properties"]}
        ours = {p["dataType"] for c in MADE["categories"] for p in c["properties"]}
        assert ours - data_types == {"boolean"}  # none of the real ones has a boolean
        assert {c["icon"] for c in MADE["categories"]} <= {
            c["icon"] for e in real for c in e["categories"]
        }
        assert {key for r in MADE["relationshipTypes"] for key in r["captionKeys"]} <= {
            key for e in real for r in e["relationshipTypes"] for key in r["captionKeys"]
        }
        types = {p["dataType"] for e in real for t in e["templates"] for p in t["params"]}
        assert {p["dataType"] for t in MADE["templates"] for p in t["params"]} <= types
        rules = [r for e in real for c in e["categories"] for r in c.get("styleRules", [])]
        for key in ("type", "condition", "selectedTimeZone", "minPoint"):
            ours = {r[key] for c in MADE["categories"] for r in c["styleRules"]}
            assert ours <= {rule[key] for rule in rules}, key


def test_ids_are_given_once() -> None:
    for part in ("categories", "relationshipTypes", "templates", "sceneActions"):
        ids = [each["id"] for each in MADE[part]]
        assert len(set(ids)) == len(ids)
    rules = [rule["id"] for each in MADE["categories"] for rule in each["styleRules"]]
    assert len(set(rules)) == len(rules) > 10


def test_every_label_has_a_category_with_its_properties_and_its_caption() -> None:
    assert [each["labels"] for each in MADE["categories"]] == [[node.label] for node in SHOWN]
    for category, node in zip(MADE["categories"], SHOWN, strict=True):
        hidden = {each["name"] for each in category["properties"] if each["exclude"]}
        assert [each["name"] for each in category["properties"]] == [
            p.name for p in node.properties
        ]
        assert hidden == {p.name for p in node.properties if p.housekeeping}
        assert category["captionKeys"] == [node.caption] == [category["captions"][0]["key"]]
        assert node.caption in {p.name for p in node.properties} - hidden
        assert [p["propertyKey"] for p in MADE["labels"][node.label]] == [
            p.name for p in node.properties
        ]
    assert any(each["exclude"] for c in MADE["categories"] for each in c["properties"])


def test_what_serves_the_program_alone_stays_out_of_sight() -> None:
    assert len(SHOWN) < len(NODES)
    assert "VeriTrailSchema" not in perspective_json()
    assert MADE["hideUncategorisedData"] is True


def test_every_relationship_is_there_with_its_ends() -> None:
    types = list(dict.fromkeys(r.type for r in RELATIONSHIPS))
    assert [r["name"] for r in MADE["relationshipTypes"]] == types
    for written in MADE["relationshipTypes"]:
        of_type = [one for one in RELATIONSHIPS if one.type == written["name"]]
        shown = [p.name for one in of_type for p in one.properties if not p.housekeeping]
        assert [each["propertyKey"] for each in written["properties"]] == list(dict.fromkeys(shown))
    assert MADE["metadata"]["pathSegments"] == [
        {"source": r.source, "relationshipType": r.type, "target": r.target} for r in RELATIONSHIPS
    ]


def rules_of(label: str) -> list[dict[str, Any]]:
    (category,) = (each for each in MADE["categories"] if each["name"] == label)
    for rule in category["styleRules"]:
        name = rule["basedOn"].removesuffix("_string")
        assert {"name": name, "exclude": False, "dataType": "string"} in category["properties"]
    return list(category["styleRules"])


@pytest.mark.parametrize("label", ["Verification", "Iteration"])
def test_every_verdict_has_a_colour_of_its_own(label: str) -> None:
    rules = [rule for rule in rules_of(label) if rule["basedOn"] == "verdict_string"]
    assert {rule["conditionValue"] for rule in rules} == {verdict.value for verdict in Verdict}
    assert len({rule["color"] for rule in rules}) == 3
    assert all(rule["applyColor"] and not rule["applySize"] for rule in rules)


def test_a_verification_without_a_verdict_has_the_colour_of_none() -> None:
    rules = rules_of("Verification")
    verdicts = {rule["color"] for rule in rules if rule["basedOn"] == "verdict_string"}
    others = {r["conditionValue"]: r["color"] for r in rules if r["basedOn"] == "status_string"}
    assert set(others) == {status.value for status in Status} - {"succeeded"}
    assert not verdicts & set(others.values())


@pytest.mark.parametrize("phrase", PHRASES, ids=lambda phrase: phrase.statement)
def test_a_phrase_names_the_parameters_of_its_statement(phrase: Any) -> None:
    statement = cypher.load(phrase.statement)
    declared = {parameter.name for parameter in statement.parameters}
    assert set(re.findall(r"\$(\w+)", phrase.text)) == declared <= set(SUGGESTIONS)
    assert f'"{phrase.text}"' in statement.purpose
    assert re.search(r"LIMIT \d+$", statement.text)


def test_texts_of_phrases_and_actions_differ() -> None:
    for texts in (
        [p.text for p in PHRASES],
        [p.meaning for p in PHRASES],
        [a.name for a in ACTIONS],
    ):
        assert len(set(texts)) == len(texts)


def test_every_statement_is_used_once() -> None:
    used = [each.statement for each in (*PHRASES, *ACTIONS)]
    used += [each.statement for each in SUGGESTIONS.values() if each.statement]
    assert sorted(used) == list(cypher.names("bloom"))


@pytest.mark.parametrize("name", sorted(SUGGESTIONS))
def test_a_suggestion_is_a_property_or_one_bounded_column(name: str) -> None:
    suggestion = SUGGESTIONS[name]
    if suggestion.statement is None:
        (node,) = (node for node in NODES if node.label == suggestion.label)
        assert suggestion.property in {each.name for each in node.properties}
        return
    assert (suggestion.label, suggestion.property) == (None, None)
    statement = cypher.load(suggestion.statement)
    assert [column.name for column in statement.columns] == [name]
    assert statement.parameters == ()
    assert re.search(r"LIMIT \d+$", statement.text)


# What each kind of colour blindness leaves of linear RGB (Viénot, Brettel, Mollon 1999).
SIGHTS = {
    "usual": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0)),
    "deuteranopia": ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0)),
}


def seen(colour: str, sight: str) -> tuple[float, float, float]:
    """A colour as CIE L*a*b* of what somebody with this sight sees."""
    raw = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in raw]
    red, green, blue = (
        min(1.0, max(0.0, sum(a * b for a, b in zip(row, linear, strict=True))))
        for row in SIGHTS[sight]
    )
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089
    fx, fy, fz = (c ** (1 / 3) if c > 0.008856 else 7.787 * c + 16 / 116 for c in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def distance(one: str, other: str, sight: str) -> float:
    pairs = zip(seen(one, sight), seen(other, sight), strict=True)
    return sum((a - b) ** 2 for a, b in pairs) ** 0.5


@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_can_be_told_apart_whatever_the_sight(sight: str) -> None:
    assert distance("#00AA00", "#CC2200", "usual") > 2 * distance(
        "#00AA00", "#CC2200", "protanopia"
    )
    categories = [each["color"] for each in MADE["categories"]]
    for one, other in combinations(categories, 2):
        assert distance(one, other, sight) > 10, (one, other)
    ruled = {rule["color"] for rule in rules_of("Verification")}
    for one, other in combinations(ruled, 2):
        assert distance(one, other, sight) > 25, (one, other)
    for one, other in product(ruled, categories):  # a verdict is not taken for a kind of node
        assert distance(one, other, sight) > 10, (one, other)
