"""Reports and dossiers that are downloaded: whole files, the same as from the command line."""

from __future__ import annotations

import csv
import io
import json
import re
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


def test_filters_stand_in_the_address(stored: ServiceProcess) -> None:
    asked = {"verdict": ["not-supported", "failed"]}
    got = stored.client.get(f"/processes/{PROCESS}/report.csv", params=asked)
    rows = list(csv.DictReader(io.StringIO(got.text, newline="")))
    assert [row["claim_id"] for row in rows] == ["k2", "k3"]
    wrong = stored.client.get(f"/processes/{PROCESS}/report.csv", params={"verdict": "purple"})
    assert wrong.status_code == 422
    assert "Unknown verdict &#39;purple&#39;. Known: supported, not-supported" in wrong.text


def test_a_claim_has_a_dossier_of_its_own(stored: ServiceProcess) -> None:
    got = stored.client.get(f"/processes/{PROCESS}/claims/a:1/dossier.json")
    document = json.loads(got.text)
    assert (document["kind"], len(document["claims"])) == ("dossier", 1)
    assert 'filename="web-reports-a-1-dossier.json"' in got.headers["content-disposition"]
    page = stored.client.get(f"/processes/{PROCESS}/claims/a:1/dossier.html")
    assert "Content-Security-Policy" in page.text
    whole = stored.client.get(f"/processes/{PROCESS}/dossier.json")
    assert len(json.loads(whole.text)["claims"]) == len(CLAIMS)


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


def test_a_claim_has_the_same_number_on_the_page_and_in_every_file(
    stored: ServiceProcess,
) -> None:
    page = stored.client.get(f"/processes/{PROCESS}").text
    rows = re.findall(
        r'data-claim="([^"]*)">\s*<a class="claim-link"[^>]*><span class="claim-number">(\d)', page
    )
    assert rows == [("a:1", "1"), ("k2", "2"), ("k3", "3")]
    for path in ("report.html", "report.html?verdict=failed", "claims/k3/dossier.html"):
        text = stored.client.get(f"/processes/{PROCESS}/{path}").text
        found = re.findall(r'id="c(\d)".*?claim-tags.*?<code>([^<]*)</code>', text, re.S)
        assert ("k3", "3") in [(name, number) for number, name in found]
        assert {(name, number) for number, name in found} <= set(rows)


def test_they_are_no_part_of_the_rest_description(stored: ServiceProcess) -> None:
    paths = stored.client.get("/openapi.json").json()["paths"]
    assert not [path for path in paths if "report." in path or "dossier" in path]


def test_a_download_is_the_same_as_the_command_writes(
    stored: ServiceProcess, veritrail: Veritrail, tmp_path: Path
) -> None:
    path = tmp_path / "r.json"
    veritrail("report", PROCESS, "-o", str(path))
    got = stored.client.get(f"/processes/{PROCESS}/report.json")
    assert json.loads(got.text)["claims"] == json.loads(path.read_text("utf-8"))["claims"]
