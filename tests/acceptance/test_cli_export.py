"""`veritrail export` and `veritrail copy` as their users call them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from acceptance.command import Veritrail
from acceptance.homes import EXAMPLES

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def sample(veritrail: Veritrail) -> str:
    """A process of its own with verifications."""
    veritrail(
        "ingest", str(EXAMPLES / "harbour-summary.json"), "--process-id", "exported", "--json"
    )
    veritrail("verify", "exported", "--json")
    return "exported"


def test_an_export_is_read_again_by_ingest(
    veritrail: Veritrail, frail: Veritrail, sample: str, tmp_path: Path
) -> None:
    listed = veritrail("list", sample, "--json").json
    for name in ("p.jsonl", "p.jsonl.gz", "p.json.gz"):
        path = tmp_path / name
        done = veritrail("export", sample, "-o", str(path), "--json").json
        assert done["counts"]["verifications"] == len(listed["verifications"]) > 0
        again = veritrail("ingest", str(path), "--json").json
        assert (again["status"], again["verifications_added"]) == ("unchanged", 0)
    plain = (tmp_path / "p.jsonl").read_bytes()
    assert gzip.decompress((tmp_path / "p.jsonl.gz").read_bytes()) == plain
    moved = frail("ingest", str(tmp_path / "p.json.gz"), "--json").json
    assert moved["verifications_added"] == len(listed["verifications"])
    assert frail("list", sample, "--json").json == listed
    assert frail("export", sample).out.encode() == plain
    one = listed["verifications"][0]["verification_id"]
    assert frail("show", one, "--json").json == veritrail("show", one, "--json").json


@pytest.mark.parametrize("format_name", ["graphml", "cypher", "process"])
def test_a_file_is_never_replaced_unless_that_is_said(
    veritrail: Veritrail, sample: str, tmp_path: Path, format_name: str
) -> None:
    path = tmp_path / "there"
    path.write_text("mine")
    told = veritrail("export", sample, "--format", format_name, "-o", str(path), status=2)
    assert "--force" in told.err
    assert path.read_text() == "mine"
    veritrail("export", sample, "--format", format_name, "-o", str(path), "--force")
    assert path.stat().st_size > 1_000
    assert list(tmp_path.iterdir()) == [path]
    if format_name == "graphml":
        assert ElementTree.parse(path).getroot().tag.endswith("graphml")


def test_an_input_with_wrong_verifications_is_refused_whole(
    veritrail: Veritrail, sample: str, tmp_path: Path
) -> None:
    path = tmp_path / "p.json"
    veritrail("export", sample, "-o", str(path))
    document = json.loads(path.read_text())
    document["process_id"] = "never-stored"
    document["verifications"][0]["process_id"] = "never-stored"
    document["verifications"][0]["verdict"] = "TRUE"
    document["verifications"][1]["node_id"] = "nowhere"
    path.write_text(json.dumps(document))
    told = veritrail("ingest", str(path), "--json", status=2)
    kinds = {one["kind"] for one in told.violations}
    assert {"unknown_word", "unknown_node", "wrong_process"} <= kinds
    assert "never-stored" not in veritrail.stored()


def test_a_process_is_copied_between_two_homes(
    veritrail: Veritrail, frail: Veritrail, sample: str
) -> None:
    there = f"embedded:{frail.home}"
    done = veritrail("copy", "--from", "embedded", "--to", there, sample, "--json").json
    (one,) = done["copied"]
    assert (one["process_id"], one["status"]) == (sample, "created")
    assert one["verifications"] == one["verifications_added"] > 0
    assert frail("export", sample).out == veritrail("export", sample).out
    again = veritrail("copy", "--from", "embedded", "--to", there, sample)
    assert "unchanged" in again.err
    back = veritrail("copy", "--from", there, "--to", "embedded", "--all", "--json").json
    assert [each["process_id"] for each in back["copied"]] == [sample]


def test_a_folder_that_holds_no_graph_is_not_copied_from(
    veritrail: Veritrail, sample: str, tmp_path: Path
) -> None:
    typo = tmp_path / "hmoe"
    how = ("copy", "--from", f"embedded:{typo}", "--to", "embedded", "--all")
    assert "holds no graph" in veritrail(*how, status=2).err
    assert not typo.exists()
    link = tmp_path / "link"
    link.symlink_to(veritrail.home)
    how = ("copy", "--from", f"embedded:{link}", "--to", "embedded", "--all")
    assert "same graph" in veritrail(*how, status=2).err


def test_a_damaged_process_is_left_out_of_the_list_and_can_be_deleted(
    frail: Veritrail,
) -> None:
    frail("ingest", str(EXAMPLES / "harbour-summary.json"))
    node = "CREATE (:Process {process_id: 'partial', status: 'ready'})"
    shell = frail("db", "shell", "--own", typed=f"{node};\n{node};\n", status=1)
    assert "Process with process_id = partial" in shell.err
    assert "`veritrail db clean` removes" in shell.err
    listed = frail("list", "--json")
    assert [one["process_id"] for one in listed.json["processes"]] == ["harbour-summary"]
    assert "partial" in listed.err
    assert "is damaged" in frail("list", "partial", status=3).err
    frail("delete", "partial", "--yes")
    assert "partial" not in frail("list").err


def test_a_target_that_does_not_answer_is_told(veritrail: Veritrail, sample: str) -> None:
    secrets = {"VERITRAIL_TO_USERNAME": "me", "VERITRAIL_TO_PASSWORD": "secret-2"}
    told = veritrail(
        "copy", "--from", "embedded", "--to", "bolt://127.0.0.1:1", sample, status=3,
        VERITRAIL_CONNECT_SECONDS="0", **secrets,
    )  # fmt: skip
    assert "cannot be reached" in told.err
    assert "secret-2" not in told.out + told.err
