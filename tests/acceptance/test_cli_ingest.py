"""`veritrail ingest`: what is stored, what is refused, and that a refusal leaves nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail, process_file

pytestmark = pytest.mark.engine

KEYS = [
    "process_id",
    "name",
    "status",
    "nodes",
    "edges",
    "claims",
    "claims_added",
    "verifications_added",
    "reviews_added",
    "terminals",
    "stages",
    "warnings",
    "format",
    "unsourced",
    "inferred_edges",
    "explained",
]
STRANGE_IDS = [
    'it\'s "quoted" \\ back`tick`',
    "a/b/../c?d=e&f#g",
    "🚢 näive ☃ 船",
    "x'}) DETACH DELETE n //",
    "$process_id",
    "line\nbreak\tand tab",
    " ",
    "-",
    "null",
    "é",
    "e\u0301",
]


def claim(text: str, **more: Any) -> dict[str, Any]:
    return {"text": text, **more}


def test_strange_node_ids_and_empty_texts_are_kept(veritrail: Veritrail, tmp_path: Path) -> None:
    nodes = [{"node_id": name, "text": f"Boat {n}."} for n, name in enumerate(STRANGE_IDS)]
    nodes += [{"node_id": "empty", "text": ""}, {"node_id": "t", "text": "Boat 3 and others."}]
    edges = [{"source": node["node_id"], "target": "t"} for node in nodes[:-1]]
    path = process_file(tmp_path / "strange.json", nodes=nodes, edges=edges)
    told = veritrail("ingest", path)
    assert "Warning: " in told.err
    assert "'empty'" in told.err
    assert "Warning" not in told.out

    rows = veritrail(
        "query", "source_nodes", "-p", "process_id=strange", "-p", "node_id=t", "--json"
    ).json["rows"]
    assert [row[0] for row in rows] == [*STRANGE_IDS, "empty"]
    (verification,) = veritrail("verify", "strange", "--claim", "Boat 3.", "--json").json[
        "verifications"
    ]
    assert verification["iterations"][0]["evidence"][0]["node_id"] == STRANGE_IDS[3]
    assert verification["iterations"][0]["checked"] == [*STRANGE_IDS, "empty"]


def test_an_append_grows_a_stored_process_and_keeps_its_verifications(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    path = tmp_path / "grows.json"
    veritrail("ingest", process_file(path, claims=[claim("It has two piers.", claim_id="k1")]))
    veritrail("verify", "grows")
    before = veritrail("list", "grows", "--json").json["verifications"]
    more = {
        "nodes": [{"node_id": "u", "text": "The lighthouse dates from 1923."}],
        "edges": [{"source": "b", "target": "u"}],
        "claims": [claim("The lighthouse dates from 1923.", claim_id="k2")],
    }
    later = process_file(tmp_path / "later.json", process_id="grows", **more)
    appended = veritrail("ingest", "--append", later, "--json").json
    assert list(appended) == [*KEYS, "nodes_added", "edges_added"]
    assert (appended["status"], appended["nodes"], appended["terminals"]) == (
        "appended", 4, ["t", "u"],
    )  # fmt: skip
    assert (appended["nodes_added"], appended["edges_added"], appended["claims_added"]) == (1, 1, 1)
    assert veritrail("list", "grows", "--json").json["verifications"] == before
    assert veritrail("show", before[0]["verification_id"], "--json").status == 0
    again = veritrail("ingest", "--append", later, "--json").json
    assert (again["status"], again["nodes_added"]) == ("unchanged", 0)
    assert "1 new" not in veritrail("ingest", "--append", later).out
    veritrail("verify", "grows", "--claim-id", "k2")

    nodes = [{"node_id": "a", "text": "Another text."}]
    other = process_file(tmp_path / "other.json", process_id="grows", nodes=nodes, edges=[])
    refused = veritrail("ingest", "--append", other, "--json", status=2)
    assert [violation["kind"] for violation in refused.violations] == ["duplicate_node_id"]
    unknown = process_file(tmp_path / "unknown.json")
    assert "'unknown'" in veritrail("ingest", "--append", unknown, status=2).err
    assert "--replace" in veritrail("ingest", "--append", "--replace", unknown, status=2).err


def test_many_processes_are_stored_and_a_bad_one_is_named(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    rows = [
        {"question": "When?", "contexts": ["It opened in 1901."], "answer": "In 1901."},
        {"question": "Who?", "contexts": [7], "answer": "Ann."},
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = veritrail("ingest", str(path), "--json", status=1).json
    assert (done["created"], done["failed"], len(done["processes"])) == (1, 1, 2)
    good, bad = done["processes"]
    assert (good["format"], good["inferred_edges"]["exact"], good["explained"]) == ("rag", 0, None)
    assert bad["source"] == f"{path}#2"
    assert "a context must be a text" in bad["error"]["message"]
    again = veritrail("ingest", str(path), status=1)
    assert f"{path}#1: {good['process_id']} (unchanged)" in again.err
    assert f"{path}#2: not stored. a context must be" in again.err
    assert again.err.count(f"{path}#2") == 1
    assert "2 processes: 1 unchanged, 1 failed" in again.err
    path.write_text("\n".join([json.dumps(rows[1])] * 2), encoding="utf-8")
    assert veritrail("ingest", str(path), "--json", status=2).json["failed"] == 2
    path.write_text("\n".join([json.dumps(rows[0])] * 2), encoding="utf-8")
    refused = veritrail("ingest", str(path), "--process-id", "x", status=2)
    assert "cannot be that of several processes" in refused.err


def test_inferred_edges_are_stored_with_how_they_were_found(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    trace = Path(__file__).resolve().parents[2] / "examples" / "traces" / "otlp.json"
    done = veritrail("ingest", str(trace), "--json").json
    assert done["inferred_edges"] == {"exact": 5, "normalised": 0, "overlap": 0, "order": 0}
    assert (done["unsourced"], done["explained"] > 0.8) == (1, True)
    exported = tmp_path / "p.json"
    veritrail("export", done["process_id"], "-o", str(exported))
    edges = json.loads(exported.read_text(encoding="utf-8"))["edges"]
    assert {(edge["inferred"], edge["score"]) for edge in edges} == {("exact", 1.0)}
    names = [one["name"] for one in veritrail("formats", "--json").json["formats"]]
    assert names[-1] == "process"
    assert "otlp" in names


def test_what_is_stored_can_be_verified_in_one_go(veritrail: Veritrail, tmp_path: Path) -> None:
    path = process_file(tmp_path / "at-once.json", claims=[claim("It has two piers.")])
    done = veritrail("ingest", path, "--verify", "--json").json
    (verification,) = done["verification"]["verifications"]
    assert (verification["claim"], verification["status"]) == ("It has two piers.", "undecided")
    row = {"question": "When?", "contexts": ["It opened in 1901."], "answer": "Good luck!"}
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join([json.dumps(row)] * 2), encoding="utf-8")
    done = veritrail("ingest", str(log), "--verify", "--json", status=2)
    assert [one["verification"] for one in done.json["processes"]] == [None, None]
    assert "has no claims" in done.json["processes"][0]["not_verified"]
    assert done.json["created"] + done.json["unchanged"] == 2  # it is stored all the same
    assert "Not verified: 2 of 2" in done.err
    done = veritrail("ingest", path, str(log), "--verify", "--json", status=1)
    assert [one["verification"] is None for one in done.json["processes"]] == [False, True, True]
    log.write_text(json.dumps(row), encoding="utf-8")
    done = veritrail("ingest", str(log), "--verify", "--json", status=2)
    assert done.json["verification"] is None
    assert "has no claims" in done.json["not_verified"]
    assert "Stored, but not verified" in done.err


def test_an_input_that_cannot_be_read_leaves_those_beside_it_alone(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    bad, good = tmp_path / "bad.json", tmp_path / "good.jsonl"
    bad.write_text('{"foo": 1}', encoding="utf-8")
    good.write_text(json.dumps({"contexts": ["A pier of 1901."], "answer": "A pier."}), "utf-8")
    given = [str(bad), str(good), str(tmp_path / "none.json"), "langfuse://shop"]

    found = veritrail("ingest", *given, "--json", status=1).json
    looked = veritrail("doctor", *given, "--json", status=2).json

    assert (found["created"], found["failed"]) == (1, 3)
    said = [one["error"]["message"] for one in found["processes"] if "error" in one]
    assert "in no format" in said[0]
    assert "no such file" in said[1]
    assert "LANGFUSE_PUBLIC_KEY" in said[2]
    assert [one["can_be_checked"] for one in looked["inputs"]] == [False, True, False, False]
