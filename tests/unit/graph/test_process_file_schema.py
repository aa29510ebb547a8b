"""The JSON Schema of the process file says what its reader says."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from veritrail_graph.graph.errors import InvalidProcess
from veritrail_graph.graph.importers.process_file.schema import process_file_schema
from veritrail_graph.graph.importers.registry import open_input
from veritrail_graph.graph.ingest.check import survey

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "docs" / "process-file.schema.json"
EXPORTS = sorted((ROOT / "tests/golden/expected/data/exports").glob("*.process.gz"))
SAMPLES = sorted(
    path
    for path in (ROOT / "examples").glob("*.json")
    if '"veritrail.process/1"' in path.read_text("utf-8")[:300]
)

SMALL: dict[str, Any] = {
    "$schema": "process-file.schema.json",
    "format": "veritrail.process/1",
    "nodes": [{"node_id": "a", "text": "One."}, {"node_id": "b", "text": "Two."}],
    "edges": [{"source": "a", "target": "b"}],
    "claims": [{"text": "Two."}],
}


def faults(document: Any) -> list[str]:
    validator = Draft202012Validator(process_file_schema())
    return [one.message for one in validator.iter_errors(document)]


def test_it_is_published_as_it_is() -> None:
    Draft202012Validator.check_schema(process_file_schema())
    assert json.loads(PUBLISHED.read_text("utf-8")) == process_file_schema()


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_the_samples_keep_it(path: Path) -> None:
    assert faults(json.loads(path.read_text("utf-8"))) == []


@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: path.name)
def test_exports_with_verdicts_keep_it(path: Path) -> None:
    text = gzip.decompress(path.read_bytes()).decode()
    text = text.replace("<time>", "2026-01-31T09:30:00.000000Z")
    text = re.sub(r"<([a-z]+-[0-9]+|run|job)>", r"\1", text)  # ids that differ from run to run
    document, *records = map(json.loads, text.splitlines())
    for record in records:
        ((name, value),) = record.items()
        document.setdefault(f"{name}s", []).append(value)
    assert faults(document) == []
    assert any(one["iterations"] for one in document["verifications"])


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"$schema": 3},
        {"format": "veritrail.process/9"},
        {"edges": None},
        {"unheard": 1},
        {"process_id": "/etc"},
        {"nodes": [{"node_id": "a", "text": "One.", "model": "m"}], "edges": []},
        {"nodes": [{"node_id": "", "text": "One."}], "edges": []},
        {"nodes": [{"node_id": "a", "text": "One.", "stage": -1}], "edges": []},
        {"nodes": [{"node_id": "a", "text": "One.", "origin": "rumour"}], "edges": []},
        {"edges": [{"source": "a"}]},
        {"claims": [{"claim_id": "k"}]},
        {"claims": [{"text": "Two.", "label": "TRUE"}]},
    ],
    ids=str,
)
def test_it_refuses_what_the_reader_refuses_of_one_record(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    document = {key: one for key, one in {**SMALL, **change}.items() if one is not None}
    path = tmp_path / "process.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    try:
        survey(open_input(path))
    except InvalidProcess:
        assert faults(document)
    else:
        assert faults(document) == []
        assert change == {}
