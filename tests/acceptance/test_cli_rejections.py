"""Bad input to `veritrail ingest`: every violation is told, and nothing is stored or started."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail, process_file

pytestmark = pytest.mark.engine

NODE = {"node_id": "n", "text": "A text."}


def claim(text: Any, **more: Any) -> dict[str, Any]:
    return {"text": text, **more}


REJECTED: dict[str, tuple[dict[str, Any] | bytes, list[tuple[str, str]]]] = {
    "shape": (
        {
            "nodes": [{**NODE, "node_id": name} for name in "abcd"]
            + [{"node_id": "a", "text": "Another text."}],
            "edges": [
                {"source": source, "target": target}
                for source, target in (("a", "b"), ("b", "a"), ("c", "c"), ("d", "nowhere"))
            ],
        },
        [
            ("cycle", "'a' -> 'b' -> 'a'"),
            ("self_loop", "edges[2] edge 'c' -> 'c'"),
            ("unknown_node", "edges[3] edge 'd' -> 'nowhere'"),
            ("duplicate_node_id", "nodes[4] 'a'"),
        ],
    ),
    "stages": (
        {
            "nodes": [
                {"node_id": name, "text": "A text.", "stage": stage}
                for name, stage in (("a", 1), ("b", 3), ("c", 2), ("d", 2))
            ],
            "edges": [{"source": s, "target": t} for s, t in ("ab", "bc")],
            "terminals": ["c", "a", "nowhere"],
        },
        [
            ("stage_order", "edge 'b' -> 'c'"),
            ("root_stage", "node 'd'"),
            ("terminal_stage", "terminals[0] 'c'"),
            ("terminal_with_outgoing_edge", "terminals[1] 'a'"),
            ("unknown_terminal", "terminals[2] 'nowhere'"),
        ],
    ),
    "some-stages": (
        {"nodes": [{**NODE, "stage": 1}, {"node_id": "m", "text": ""}], "edges": []},
        [("stages_incomplete", "'m'"), ("no_edges", "edges")],
    ),
    "no-nodes": ({"nodes": [], "edges": []}, [("no_nodes", "nodes")]),
    "claims": (
        {
            "claims": [
                claim("On a root.", node_id="a"),
                claim("On nothing.", node_id="nowhere"),
                claim("One.", claim_id="k"),
                claim("Two.", claim_id="k"),
                claim("Labelled.", label="MAYBE"),
                claim("Too far.", start=0, end=999),
                claim("Backward.", start=5, end=2),
                claim("Half.", start=5),
                claim(""),
                claim("Odd.", claim_id="a b"),
                claim("Broken \ud800."),
                claim(7),
                {},
                claim("Unknown.", colour="red"),
            ]
        },
        [
            ("claim_on_root", "claims[0]"),
            ("unknown_node", "claims[1]"),
            ("duplicate_claim_id", "claims[3] 'k'"),
            ("unknown_label", "claims[4]"),
            ("offset_out_of_range", "claims[5]"),
            ("reversed_offsets", "claims[6]"),
            ("single_offset", "claims[7]"),
            ("empty_text", "claims[8]"),
            ("wrong_id", "claims[9] 'a b'"),
            ("lone_surrogate", "claims[10]"),
            ("wrong_type", "claims[11]"),
            ("missing_key", "claims[12]"),
            ("unknown_key", "claims[13]"),
        ],
    ),
    "records": (
        {
            "nodes": [
                {"node_id": "", "text": "A text."},
                {"node_id": "x" * 1_025, "text": "A text."},
                {"node_id": "typed", "text": 7},
                {"node_id": "broken", "text": "half \udc00 a pair"},
                {"node_id": "long", "text": "é" * 51},
                {"node_id": "keyed", "text": "A text.", "color": "red"},
                {"text": "A text."},
                "no object",
            ],
            "edges": [{"source": "keyed"}],
        },
        [
            ("empty_id", "nodes[0]"),
            ("id_too_long", "nodes[1]"),
            ("wrong_type", "nodes[2] 'typed'"),
            ("lone_surrogate", "nodes[3] 'broken'"),
            ("text_too_long", "VERITRAIL_MAX_NODE_TEXT"),
            ("unknown_key", "nodes[5] 'keyed'"),
            ("missing_key", "nodes[6]"),
            ("wrong_type", "nodes[7]"),
            ("missing_key", "edges[0]"),
        ],
    ),
    "several-terminals": (
        {
            "nodes": [{**NODE, "node_id": name} for name in "abc"],
            "edges": [{"source": "a", "target": target} for target in "bc"],
            "claims": [claim("About which one?")],
        },
        [("claim_without_node", "claims[0]")],
    ),
    "header": (
        {"process_id": "-wrong", "nodes": 7, "edges": None, "colour": "red"},
        [("wrong_id", "process_id"), ("wrong_type", "nodes"), ("unknown_key", "'colour'")],
    ),
    "version": ({"format": "veritrail.process/9"}, [("unknown_format", "veritrail.process/9")]),
    "cut-short": (b'{"format": "veritrail.process/1",\n "nodes": [', [("not_json", "line 2")]),
    "not-text": (b'{"format": "\xff"}', [("not_utf8", "byte 12")]),
    "gzip": (gzip.compress(b'{"format": "veritrail.process/1"}')[:-9], [("damaged_gzip", "gzip")]),
}


@pytest.mark.parametrize("name", REJECTED)
def test_every_broken_rule_is_listed_and_no_engine_starts(
    bare: Veritrail, tmp_path: Path, name: str
) -> None:
    content, expected = REJECTED[name]
    path = tmp_path / f"{name}.json"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        process_file(path, **content)
    told = bare("ingest", str(path), "--json", status=2, VERITRAIL_MAX_NODE_TEXT="100")
    assert all(set(violation) == {"kind", "where", "message"} for violation in told.violations)
    found = [(v["kind"], f"{v['where']}: {v['message']}") for v in told.violations]
    for kind, words in expected:
        assert any(kind == other and words in text for other, text in found), (kind, words, found)
    assert len(found) >= len(expected)
    assert expected[0][1] in told.err
    assert not bare.home.exists()


def test_a_path_that_cannot_be_read_says_why_and_starts_nothing(
    bare: Veritrail, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("Dear diary", encoding="utf-8")
    for path in ("folder", "notes.txt"):
        told = bare("ingest", path, "--json", status=2)
        assert "process (" in told.message
        assert "graphrag (" in told.message
    good = process_file(tmp_path / "good.json")
    for arguments, words in (
        (["missing.json"], "missing.json"),
        ([good, "--format", "nope"], "graphrag"),
        ([good, "--format", "graphrag"], "good.json"),
        (["folder", "--format", "process"], "folder"),
        (["notes.txt", "--format", "process"], "notes.txt"),
    ):
        assert words in bare("ingest", *arguments, "--json", status=2).message
    assert bare("db", "status", "--json").json["running"] is False
    assert not bare.home.exists()


def test_a_rejected_file_leaves_what_is_stored_as_it_is(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    veritrail("ingest", process_file(tmp_path / "kept.json"))
    before = veritrail("list", "--json").json
    broken = process_file(tmp_path / "kept.json", edges=[{"source": "t", "target": "t"}])
    told = veritrail("ingest", broken, "--replace", status=2)
    assert "edges[0]" in told.err
    assert told.out == ""
    assert veritrail("list", "--json").json == before
