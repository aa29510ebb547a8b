"""`veritrail report`: from the store and from a file, in every format, written whole or not."""

from __future__ import annotations

import csv
import io
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
