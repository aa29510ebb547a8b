"""A stored trail with a round without a verdict, and an undecided claim, in every output."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from fakes.service_process import ServiceProcess
from fakes.undecided import undecided_file

EXPORTS = ("process", "graphml", "cypher", "prov", "openlineage", "csv", "neo4j-csv")


@pytest.fixture
def pier(veritrail: Veritrail, tmp_path: Path) -> str:
    """The process that holds both."""
    veritrail("ingest", undecided_file(tmp_path / "undecided-pier.json"))
    return "undecided-pier"


def test_an_undecided_claim_is_counted_apart_at_every_door(
    veritrail: Veritrail, pier: str, shared_service: ServiceProcess, tmp_path: Path
) -> None:
    assert "undecided" in veritrail("list").out
    (listed,) = [
        one for one in veritrail("list", "--json").json["processes"] if one["process_id"] == pier
    ]
    assert listed["verdicts"] == {"NOT_FULLY_SUPPORTED": 1, "undecided": 1}
    assert "undecided" in veritrail("list", pier).out
    assert "  undecided  " in veritrail("runs", pier).out  # a column
    one = shared_service.get(f"/v1/processes/{pier}").json()
    assert one["verdicts"] == listed["verdicts"]
    found = shared_service.get(f"/v1/processes/{pier}/claims?verdict=undecided").json()

    assert [(each["claim_id"], each["verdict"]) for each in found["claims"]] == [("k2", None)]
    rows = veritrail("query", "claims", "--param", f"process_id={pier}", "--json").json
    places = [rows["columns"].index(name) for name in ("claim_id", "verdict", "status")]
    assert [[row[place] for place in places] for row in rows["rows"]] == [
        ["k1", "NOT_FULLY_SUPPORTED", "succeeded"],
        ["k2", None, "undecided"],
    ]
    for query, more in (("impact", {"node_id": "s1"}), ("error_origin", {"claim_id": "k2"})):
        given = [f"--param={name}={value}" for name, value in {"process_id": pier, **more}.items()]
        answer = veritrail("query", query, *given, "--json").json
        places = [answer["columns"].index(name) for name in ("verdict", "status")]
        assert [None, "undecided"] in [[row[place] for place in places] for row in answer["rows"]]
    for claim in ("k1", "k2"):
        shown = veritrail("show", pier, claim).out
        assert re.search("cannot tell", shown, re.IGNORECASE)
        assert not re.search(r"\bNone\b", shown)
    for name in EXPORTS:
        out = tmp_path / (name if name.endswith("csv") else f"{name}.out")
        veritrail("export", pier, "--format", name, "-o", str(out))
        files = [out] if out.is_file() else list(out.iterdir())
        assert not any(re.search(r"\bNone\b", file.read_text()) for file in files), name
