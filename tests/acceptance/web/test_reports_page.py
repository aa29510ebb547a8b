"""Reports and dossiers that are downloaded: whole files, the same as from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from acceptance.command import Veritrail
from fakes.judged_files import judged_file
from fakes.service_process import ServiceProcess

CLAIMS = [
    ("a:1", "The ferry carries 180 people.", "supported", None),
    ("k2", "The ferry was built in 1997.", "not-supported", 2),
    ("k3", "The ferry is old.", "failed", None),
]
PROCESS = "web:reports"


@pytest.fixture(scope="module")
def stored(
    veritrail: Veritrail, shared_service: ServiceProcess, tmp_path_factory: pytest.TempPathFactory
) -> ServiceProcess:
    """The service with a judged process."""
    path = tmp_path_factory.mktemp("reports") / "reports.json"
    veritrail("ingest", judged_file(path, CLAIMS), "--process-id", PROCESS)
    return shared_service


def test_every_format_is_a_file_to_keep(stored: ServiceProcess, veritrail: Veritrail) -> None:
    for suffix, name in (("html", "html"), ("md", "markdown"), ("csv", "csv"), ("xml", "junit")):
        got = stored.client.get(f"/processes/{PROCESS}/report.{suffix}")
        assert got.status_code == 200
        expected = f'attachment; filename="web-reports-report.{suffix}"'
        assert got.headers["content-disposition"] == expected
        assert got.headers["x-content-type-options"] == "nosniff"
        if suffix in {"md", "csv"}:
            assert got.content.decode() == veritrail("report", PROCESS, "--format", name).out
    assert stored.client.get(f"/processes/{PROCESS}/report.html").text.endswith("</html>")
    ET.fromstring(stored.client.get(f"/processes/{PROCESS}/report.xml").text)


def test_what_is_not_there_is_a_page_and_no_file(stored: ServiceProcess) -> None:
    for path, said in (
        ("nowhere/report.html", "nowhere"),
        (f"{PROCESS}/claims/k9/dossier.json", "has no claim &#39;k9&#39;. It has 3 claims."),
        (f"{PROCESS}/report.pdf", "no report.pdf; there are report.html, report.md"),
        (f"{PROCESS}/dossier.csv", "no dossier.csv; there are dossier.html, dossier.json"),
    ):
        got = stored.client.get(f"/processes/{path}", headers={"accept": "text/html"})
        assert got.status_code == 404
        assert said in got.text
        assert "veritrail " not in got.text.partition("<main")[2]
        assert "content-disposition" not in got.headers
        assert got.headers["content-type"].startswith("text/html")


def test_a_download_is_the_same_as_the_command_writes(
    stored: ServiceProcess, veritrail: Veritrail, tmp_path: Path
) -> None:
    path = tmp_path / "r.json"
    veritrail("report", PROCESS, "-o", str(path))
    got = stored.client.get(f"/processes/{PROCESS}/report.json")
    assert json.loads(got.text)["claims"] == json.loads(path.read_text("utf-8"))["claims"]
