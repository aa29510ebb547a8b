"""Wrong use and bad input: the status, the violations, and the words of each."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from golden.calling import process_file
from golden.conftest import SAMPLES, Scene
from golden.golden import check

pytestmark = pytest.mark.engine

HARBOUR = SAMPLES[0]
NODE = {"node_id": "n", "text": "A text."}
FILES: dict[str, dict[str, Any] | bytes] = {
    "shape": {
        "nodes": [*({**NODE, "node_id": name} for name in "abcd"), {"node_id": "a", "text": "B"}],
        "edges": [
            {"source": source, "target": target}
            for source, target in (("a", "b"), ("b", "a"), ("c", "c"), ("d", "nowhere"))
        ],
    },
    "stages": {
        "nodes": [
            {"node_id": name, "text": "A text.", "stage": stage}
            for name, stage in (("a", 1), ("b", 3), ("c", 2), ("d", 2))
        ],
        "edges": [{"source": s, "target": t} for s, t in ("ab", "bc")],
        "terminals": ["c", "a", "nowhere"],
    },
    "some-stages": {"nodes": [{**NODE, "stage": 1}, {"node_id": "m", "text": ""}], "edges": []},
    "no-nodes": {"nodes": [], "edges": []},
    "claims": {
        "claims": [
            {"text": "On a root.", "node_id": "a"},
            {"text": "On nothing.", "node_id": "nowhere"},
            {"text": "One.", "claim_id": "k"},
            {"text": "Two.", "claim_id": "k"},
            {"text": "Labelled.", "label": "MAYBE"},
            {"text": "Too far.", "start": 0, "end": 999},
            {"text": "Backward.", "start": 5, "end": 2},
            {"text": "Half.", "start": 5},
            {"text": ""},
            {"text": "Odd.", "claim_id": "a b"},
            {"text": "Broken \ud800."},
            {"text": 7},
            {},
            {"text": "Unknown.", "colour": "red"},
        ]
    },
    "records": {
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
    "several-terminals": {
        "nodes": [{**NODE, "node_id": name} for name in "abc"],
        "edges": [{"source": "a", "target": target} for target in "bc"],
        "claims": [{"text": "About which one?"}],
    },
    "header": {"process_id": "-wrong", "nodes": 7, "edges": None, "colour": "red"},
    "version": {"format": "veritrail.process/9"},
    "cut-short": b'{"format": "veritrail.process/1",\n "nodes": [',
    "not-text": b'{"format": "\xff"}',
    "gzip": gzip.compress(b'{"format": "veritrail.process/1"}', mtime=0)[:-9],
    "lines": b'{"format": "veritrail.process/1"}\n{"node": {"node_id": "a"}}\n{"other": 1}\n[',
    "notes": b"Dear diary",
}
LISTS = {
    "empty.txt": b" \n\n",
    "nothing.json": b"[]",
    "object.json": b'{\n  "claims": ["a claim"]\n}',
    "objects.json": b'[{"text": "ok"}, {"colour": 1}, 7]',
    "cut.json": b'["a claim"',
    "latin.txt": "Café".encode("latin-1"),
}
VERIFY = ["verify", HARBOUR]
CALLS: list[list[str]] = [
    [],
    ["frobnicate"],
    ["db"],
    ["list", "--frobnicate"],
    ["list", "a", "b"],
    ["list", "nobody"],
    ["show", "v-none"],
    ["diff", "v-none", "v-other"],
    ["delete", "nobody", "--yes"],
    ["delete", HARBOUR],
    ["verify"],
    ["verify", "p", "--q", "0"],
    ["verify", "p", "--q", "99999999999999999999"],
    ["verify", "nobody"],
    ["verify", "--again"],
    ["verify", "--resume", "r-1", "--claim", "A."],
    ["verify", "--resume", "r-unknown"],
    [*VERIFY, "--claim", " "],
    [*VERIFY, "--claim-id", "nothing"],
    [*VERIFY, "--node", "nowhere", "--claim", "A."],
    [*VERIFY, "--node", "c01", "--claim", "A."],
    [*VERIFY, "--engine", "oracle"],
    [*VERIFY, "--engine", "openai"],
    [*VERIFY, "--engine", "azure"],
    [*VERIFY, "--engine", "lexical", "--model", "m"],
    [*VERIFY, "--engine", "lexical", "--samples", "3"],
    [*VERIFY, "--model", "m"],
    [*VERIFY, "--model", "m", "--budget", "1"],
    [*VERIFY, "--model", "m", "--price", "cheap"],
    [*VERIFY, "--model", "m", "--max-sentences", "few"],
    [*VERIFY, "--model", "m", "--prompts", "nowhere"],
    [*VERIFY, "--model", "m", "--samples", "2", "--threshold", "3"],
    [*VERIFY, "--extract"],
    [*VERIFY, "--extract", "--claim", "A."],
    *([*VERIFY, "--claims", name] for name in [*LISTS, "missing.json"]),
    ["estimate", "nobody"],
    ["estimate", HARBOUR, "--node", "c01", "--claim", "A."],
    ["claims", "extract", HARBOUR],
    ["claims", "extract", HARBOUR, "--engine", "lexical"],
    ["claims", "extract", HARBOUR, "--node", "c01", "--model", "m"],
    ["claims", "extract", HARBOUR, "--node", "nowhere", "--model", "m"],
    ["claims", "list", "nobody"],
    ["claims", "edit", HARBOUR, "k99", "--text", "A."],
    ["claims", "remove", HARBOUR, "k99"],
    ["query"],
    ["query", "frobnicate"],
    ["query", "claims", "-p", "limit=x", "-p", "colour=red"],
    ["query", "claims", "-p", f"process_id={HARBOUR}", "-p", "limit=0"],
    ["query", "claims", "-p", "no-value"],
    ["query", "provenance", "-p", "process_id=nobody", "-p", "claim_id=k"],
    ["reviews", "add", HARBOUR, "k01"],
    ["reviews", "add", HARBOUR, "k01", "--confirm", "--verdict", "FULLY_SUPPORTED"],
    ["reviews", "add", HARBOUR, "k01", "--verdict", "TRUE", "--reason", "x"],
    ["reviews", "add", HARBOUR, "k01", "--verdict", "unclear"],
    ["reviews", "add", HARBOUR, "k99", "--confirm"],
    ["reviews", "add", HARBOUR, "k01", "--confirm", "--overrides", "v-none"],
    ["reviews", "add", HARBOUR, "k01", "--confirm", "--reviewer", " "],
    ["reviews", "list", "nobody"],
    ["reviews", "list", HARBOUR, "k99"],
    ["reviews", "agreement", "nobody"],
    ["report", "nobody"],
    ["report", HARBOUR, "--format", "pdf"],
    ["report", HARBOUR, "-o", "x.pdf"],
    ["report", HARBOUR, "--format", "csv", "--dossier"],
    ["report", HARBOUR, "--format", "csv", "--strict"],
    ["report", HARBOUR, "--verdict", "purple"],
    ["report", HARBOUR, "--claim", "k99"],
    ["report", HARBOUR, "--node", "c01"],
    ["report", "missing.json"],
    ["report", "."],
    ["gate", "nobody"],
    ["gate", "missing.json"],
    ["gate", "./"],
    ["gate", HARBOUR, "--max-rate", "2"],
    ["gate", HARBOUR, "--format", "xml"],
    ["gate", HARBOUR, "--baseline", "missing.json"],
    ["gate", HARBOUR, "--junit", "no-such-folder/j.xml"],
    ["gate", HARBOUR, "--summary", "."],
    ["export", "nobody", "-o", "x"],
    ["export", HARBOUR, "--format", "xml"],
    ["export", HARBOUR],
    ["export", HARBOUR, "--format", "csv"],
    ["export", HARBOUR, "-o", "tables.zip"],
    ["export", HARBOUR, "-o", "no/folder.json"],
    ["export", HARBOUR, "-o", "notes.json"],
    ["copy", "--from", "embedded", "--to", "embedded", "--all"],
    ["copy", "--from", "embedded", "--to", "bolt://127.0.0.1:1"],
    ["copy", "--from", "embedded", "--to", "bolt://127.0.0.1:1", "--all", "p"],
    ["copy", "--from", "embedded", "--to", "bolt://me:secret-1@127.0.0.1:1", "--all"],
    ["copy", "--from", "nonsense", "--to", "embedded", "--all"],
    ["copy", "--from", "embedded", "--to", "embedded:", "--all"],
    ["keys", "create", "--name", "x", "--scope", "all"],
    ["keys", "create", "--name", "x", "--scope", "read", "--expires", "soon"],
    ["keys", "create", "--name", "x", "--scope", "read", "--rate", "fast"],
    ["keys", "revoke", "nobody"],
    ["audit", "--since", "soon"],
    ["serve", "--host", "0.0.0.0", "--port", "0"],
    ["mcp", "--engine", "oracle"],
    ["ingest"],
    ["ingest", "missing.json"],
    ["ingest", "empty"],
    ["ingest", "shape.json", "--format", "nope"],
    ["ingest", "shape.json", "--format", "graphrag"],
    ["ingest", "shape.json", "--replace", "--append"],
    ["ingest", "empty", "--format", "process"],
    *(["ingest", f"{name}.json"] for name in FILES),
]
WITHOUT_JSON = ("report", "serve", "mcp", "bloom", "worker")
SETTINGS = [
    ("VERITRAIL_DB_IDLE", "x"),
    ("VERITRAIL_DB_HEAP", "lots"),
    ("VERITRAIL_MAX_NODE_TEXT", "-1"),
    ("VERITRAIL_HOME", "~no-such-user/x"),
    ("NEO4J_URI", "localhost:7687"),
    ("NEO4J_URI", "bolt://host:port"),
    ("NEO4J_URI", "bolt://neo4j:open-sesame@127.0.0.1:1"),
    ("NEO4J_URI", "bolt://127.0.0.1:1"),
]


def test_faults(scene: Scene) -> None:
    folder = scene.call.folder
    _write_files(folder)
    data: list[dict[str, Any]] = []
    words: list[str] = []
    for call in CALLS:
        json_option = [] if not call or call[0] in WITHOUT_JSON else ["--json"]
        _tell(scene, data, words, [*call, *json_option], {"VERITRAIL_MAX_NODE_TEXT": "100"})
    for name, value in SETTINGS:
        _tell(scene, data, words, ["list", "--json"], {name: value})
    check("data/faults.json", scene.plain.json(data))
    check("words/faults.txt", scene.plain.text("\n".join(words)))


def _write_files(folder: Path) -> None:
    (folder / "empty").mkdir()
    for name, content in FILES.items():
        path = folder / f"{name}.json"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            process_file(path, **content)
    for name, listed in LISTS.items():
        (folder / name).write_bytes(listed)


def _tell(
    scene: Scene,
    data: list[dict[str, Any]],
    words: list[str],
    call: list[str],
    settings: dict[str, str],
) -> None:
    ended = scene.call(*call, **settings)
    shown = ended.call.replace("VERITRAIL_MAX_NODE_TEXT=100 ", "")
    told = [f"$ {shown}"]
    known: dict[str, Any] = {"call": shown, "status": ended.status}
    if "--json" in call:
        error = json.loads(ended.out).get("error")
        assert error is not None, ended.call
        found = error["violations"]
        known["violations"] = [{"kind": v["kind"], "where": v["where"]} for v in found]
        told += [f"message: {error['message']}"]
        told += [f"  {v['kind']}: {v['message']}" for v in found]
    else:
        known["out"] = ended.out
    data.append(known)
    words.append("\n".join([*told, ended.err]))
