"""GraphML, tables and scripts of what is stored, read back by the parsers of others."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from fakes.exporting import (
    NASTY,
    ROOT,
    lines_of,
    nasty_verification,
    statements,
    store_nasty,
    store_nasty_attributions,
)

from veritrail_graph.graph.exporters.cypher_script import write_script
from veritrail_graph.graph.exporters.graphml import GraphMl
from veritrail_graph.graph.exporters.neo4j_csv import SEPARATOR, write_import
from veritrail_graph.graph.exporters.property_graph import Nodes, parts
from veritrail_graph.graph.exporters.tables import COLUMNS, Tables
from veritrail_graph.graph.model import LocatedBy
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.export import StoredProcess

pytestmark = pytest.mark.engine
XML = "{http://graphml.graphdrawing.org/xmlns}"


async def collected(store: Store, process_id: str) -> tuple[StoredProcess, list[Any]]:
    stored = await StoredProcess.open(store.database, process_id)
    return stored, [part async for part in parts(store, stored)]


def test_the_stream_holds_everything_that_is_stored(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(store_nasty_attributions(store, process_id))
    _, found = arun(collected(store, process_id))
    counts: Counter[str] = Counter()
    for part in found:
        counts[part.label if isinstance(part, Nodes) else part.type] += len(part.rows)
    assert counts == {
        "Process": 1, "HAS_FINAL_OUTPUT": 1, "Span": 3, "INPUT_TO": 3, "Claim": 2,
        "EXTRACTED_FROM": 2,
        "Extraction": 2, "EXTRACTION_OF": 2, "Sentence": 4, "SENTENCE_OF": 4, "ATTRIBUTED_TO": 1,
        "Revision": 1, "REVISES": 1,
        "Verification": 3, "VERIFIES": 3, "IN_FORCE": 1, "Iteration": 3, "HAS_ITERATION": 3,
        "CHECKED": 4,
        "Evidence": 6, "FOUND": 6, "CITES": 8, "Step": 4, "TOOK": 4,
        "TrailNode": 2, "AT": 2, "LEADS_TO": 2,
        "ERROR_INTRODUCED_AT": 1, "ERROR_PROPAGATED_THROUGH": 1,
        "Review": 3, "REVIEWS": 3, "CONSIDERS": 2,
    }  # fmt: skip


def test_graphml_is_well_formed_and_holds_every_text(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(store_nasty(store, process_id))
    stored, found = arun(collected(store, process_id))
    out = io.BytesIO()
    graphml = GraphMl(stored, out.write)
    arun(graphml.run(store))
    assert b"\r" not in out.getvalue()

    tree = ElementTree.fromstring(out.getvalue())
    keys = {key.get("id"): key.get("attr.name") for key in tree.iter(f"{XML}key")}
    assert len(keys) == len(list(tree.iter(f"{XML}key")))
    for domain in ("node", "edge"):
        named = [key.get("attr.name") for key in tree.iter(f"{XML}key") if key.get("for") == domain]
        assert len(named) == len(set(named))
    nodes = {
        node.get("id"): {keys[data.get("key")]: data.text or "" for data in node}
        for node in tree.iter(f"{XML}node")
    }
    expected = [row for part in found if isinstance(part, Nodes) for row in part.rows]
    assert len(nodes) == len(expected)
    texts = Counter(node["text"] for node in nodes.values() if "text" in node)
    given = [one["text"] for _, one in expected if "text" in one]
    assert texts == Counter(
        re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "\ufffd", t) for t in given
    )
    assert graphml.replaced > 0
    edges = [(edge.get("source"), edge.get("target")) for edge in tree.iter(f"{XML}edge")]
    assert {end for edge in edges for end in edge} <= set(nodes)
    assert len(edges) == sum(len(p.rows) for p in found if not isinstance(p, Nodes))
    assert all(re.fullmatch(r"[A-Za-z]+\d+", name) for name in nodes if name)


@pytest.mark.parametrize("guarded", [False, True])
def test_tables_hold_every_text(
    store: Store, arun: Any, process_id: str, tmp_path: Path, guarded: bool
) -> None:
    arun(store_nasty(store, process_id))
    stored = arun(StoredProcess.open(store.database, process_id))
    tables = Tables(tmp_path, for_spreadsheets=guarded)
    arun(tables.run(store, stored))

    read = {}
    for name, columns in COLUMNS.items():
        encoding = "utf-8-sig" if guarded else "utf-8"
        with (tmp_path / f"{name}.csv").open(encoding=encoding, newline="") as file:
            read[name] = list(csv.DictReader(file))
        assert read[name] == [] or list(read[name][0]) == list(columns)
    apostrophe = "'" if guarded else ""
    assert [node["node_id"] for node in read["nodes"]] == [ROOT, "$limit", "t;|"]
    assert [node["text"] for node in read["nodes"]] == [
        f"One. {NASTY}", f"{apostrophe}{NASTY}", f"{apostrophe}=T. 😀 Ende"
    ]  # fmt: skip
    assert [edge["cited"] for edge in read["edges"]] == ["true", "false", ""]
    assert json.loads(read["claims"][0]["sub_claims"]) == ["", NASTY]
    assert [one["status"] for one in read["verifications"]] == ["succeeded", "failed", "queued"]
    assert read["verifications"][0]["reasoning"] == f"{apostrophe}{NASTY}"
    assert [one["role"] for one in read["evidence"]].count("context") == 2
    kinds = [(one["kind"], one["verdict"], one["overrides"] == "") for one in read["reviews"]]
    assert kinds == [
        ("overridden", "FULLY_SUPPORTED", False),
        ("confirmed", "NOT_FULLY_SUPPORTED", False),
        ("unclear", "UNCLEAR", True),
    ]
    assert read["reviews"][0]["reason"] == f"{apostrophe}{NASTY}"
    assert tables.formulas > 5
    assert {name: len(rows) for name, rows in read.items()} == tables.counts
    if guarded:
        cells = [cell for rows in read.values() for row in rows for cell in row.values()]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_tables_say_what_a_verdict_was_kept_from_and_how_the_judge_was_asked(
    store: Store, arun: Any, process_id: str, tmp_path: Path
) -> None:
    digest = arun(store_nasty(store, process_id))
    steps = {
        "evidence_selection_shared": {"claims": 8},
        "verdict": {"escalate_to": {"model": "strong"}},
    }
    kept = nasty_verification(process_id, "4", digest).replace(
        reused_from="v-0",
        located_by=LocatedBy.VALUE,
        reuse_reason="nothing that it read changed",
        compared_with="v-9",
        settings=json.dumps({"steps": steps}),
    )
    arun(store.trails.write(kept))
    stored = arun(StoredProcess.open(store.database, process_id))
    arun(Tables(tmp_path).run(store, stored))

    with (tmp_path / "verifications.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header[-12:-6] == [
        "batch_calls", "reused_from", "reuse_reason", "compared_with", "share", "escalate_to"
    ]  # fmt: skip
    told = {row[0]: row[-11:-6] for row in rows}
    assert told.pop(kept.verification_id) == [
        "v-0", "nothing that it read changed", "v-9", "8", "strong"
    ]  # fmt: skip
    assert list(told.values()) == [[""] * 5] * 3
    place = kept.value_place
    assert place is not None
    pair = [place.source.node_id, place.source.text, place.wrote.node_id, place.wrote.text]
    told = {row[0]: row[-6:] for row in rows}
    assert told[kept.verification_id] == ["value", json.dumps([place.culprit]), *pair]


def test_a_script_makes_the_same_process_again(store: Store, arun: Any, process_id: str) -> None:
    arun(store_nasty_attributions(store, process_id))
    stored, before = arun(collected(store, process_id))
    exported = arun(lines_of(store, process_id))
    out = io.BytesIO()
    arun(write_script(store, stored, out.write))
    arun(store.processes.delete(process_id))

    for number, (text, parameters) in enumerate(statements(store, arun, out.getvalue().decode())):
        if number == 25:  # no reader sees it half-written
            assert arun(store.processes.state(process_id)).status == "loading"
        arun(store.database.run_text(text, parameters, 1, write=True))

    assert arun(lines_of(store, process_id)) == exported
    _, after = arun(collected(store, process_id))
    assert [_sorted(part) for part in after] == [_sorted(part) for part in before]


def _sorted(part: Any) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in part.rows)


def test_files_for_the_importer_have_a_row_for_everything(
    store: Store, arun: Any, process_id: str, tmp_path: Path
) -> None:
    arun(store_nasty(store, process_id))
    stored = arun(StoredProcess.open(store.database, process_id))
    counts = arun(write_import(store, stored, tmp_path))
    command = (tmp_path / "import.sh").read_text()
    written: Counter[str] = Counter()
    for file in tmp_path.glob("*.csv"):
        assert f"={file.name}" in command
        with file.open(newline="", encoding="utf-8") as opened:
            header, *rows = csv.reader(opened)
        assert {len(row) for row in rows} <= {len(header)}
        written.update(row[-1] for row in rows)
        assert header[-1] in {":LABEL", ":TYPE"}
    assert written == {kind: count for kind, count in counts.items() if count}
    with (tmp_path / "nodes_claim.csv").open(newline="", encoding="utf-8") as opened:
        claims = list(csv.DictReader(opened))
    assert claims[0]["sub_claims:string[]"].split(SEPARATOR) == ["", NASTY]
    assert claims[0]["text"] == f"k {NASTY}"
