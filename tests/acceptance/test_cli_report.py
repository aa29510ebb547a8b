"""`veritrail report`: from the store and from a file, in every format, written whole or not."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from acceptance.command import Veritrail, process_file
from fakes.judged_files import judged_file

CLAIMS = [
    ("k1", "The ferry carries 180 people.", "supported", None),
    ("k2", "The ferry was built in 1997.", "not-supported", 2),
    ("k3", "The ferry is old.", "failed", None),
]


@pytest.fixture
def ferry(tmp_path: Path) -> str:
    """A process file whose claims were judged."""
    return judged_file(tmp_path / "judged-ferry.json", CLAIMS)


def test_a_file_is_reported_without_an_engine(bare: Veritrail, ferry: str) -> None:
    told = bare("report", ferry, "--format", "csv")
    assert len(list(csv.reader(io.StringIO(told.out, newline="")))) == len(CLAIMS) + 1
    assert "engine" not in told.err
    assert not bare.home.exists() or bare.engine_pid() is None


def test_the_store_and_a_file_give_the_same_report(
    veritrail: Veritrail, ferry: str, tmp_path: Path
) -> None:
    veritrail("ingest", ferry)
    for suffix in ("md", "csv"):
        paths = [str(tmp_path / f"{name}.{suffix}") for name in ("stored", "filed")]
        veritrail("report", "judged-ferry", "-o", paths[0])  # the name says which format
        veritrail("report", ferry, "-o", paths[1])
        assert Path(paths[0]).read_bytes() == Path(paths[1]).read_bytes()
    stored = json.loads(veritrail("report", "judged-ferry", "--format", "json").out)
    filed = json.loads(veritrail("report", ferry, "--format", "json", "-o", "-").out)
    assert (stored["origin"], filed["origin"]) == ("store", "judged-ferry.json")
    assert stored["claims"] == filed["claims"]
    page = veritrail("report", "judged-ferry", "--format", "html").out
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")


def test_one_claim_becomes_its_dossier(bare: Veritrail, ferry: str, tmp_path: Path) -> None:
    path = tmp_path / "k2.html"
    bare("report", ferry, "--claim", "k2", "-o", str(path))
    assert "Dossier" in path.read_text("utf-8")
    told = json.loads(bare("report", ferry, "--claim", "k2", "--format", "json").out)
    assert told["kind"] == "dossier"
    assert told["claims"][0]["context"]
    whole = json.loads(bare("report", ferry, "--dossier", "--format", "json").out)
    assert (whole["kind"], len(whole["claims"])) == ("dossier", len(CLAIMS))
    only = ET.fromstring(bare("report", ferry, "--verdict", "failed", "--format", "junit").out)
    assert (only.attrib["tests"], only.attrib["errors"]) == ("1", "1")


def test_wrong_use_is_told_before_anything_is_read(
    bare: Veritrail, ferry: str, tmp_path: Path
) -> None:
    out = str(tmp_path / "r.csv")
    for arguments, said in (
        (["--format", "pdf"], "Known formats: html, markdown, csv, json, junit"),
        (["--format", "csv", "--dossier"], "--dossier is for"),
        (["--format", "csv", "--strict"], "--strict is for"),
        (["--verdict", "purple"], "Unknown verdict 'purple'"),
        (["--claim", "k9"], "no claim 'k9'"),
        (["--node", "r"], "No claim"),
    ):
        assert said in bare("report", ferry, "-o", out, *arguments, status=2).err
        assert not Path(out).exists()
    assert bare.engine_pid() is None


def test_a_broken_file_is_no_report(bare: Veritrail, tmp_path: Path) -> None:
    broken = process_file(tmp_path / "broken.json", claims=[{"text": "X.", "node_id": "nowhere"}])
    out = tmp_path / "r.html"
    out.write_text("an older report")
    ended = bare("report", broken, "-o", str(out), status=2)
    assert "nowhere" in ended.err
    assert out.read_text() == "an older report"
    assert "There is no file" in bare("report", str(tmp_path / "missing.json"), status=2).err
    assert "is a folder" in bare("report", str(tmp_path), status=2).err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.json", "r.html"]


def test_a_process_that_was_never_verified_has_a_report(bare: Veritrail, tmp_path: Path) -> None:
    path = process_file(tmp_path / "fresh.json", claims=[{"claim_id": "k", "text": "It opened."}])
    told = bare("report", path, "--format", "junit").out
    assert ET.fromstring(told).attrib["skipped"] == "1"
    assert "Not checked" in bare("report", path, "--format", "html").out
