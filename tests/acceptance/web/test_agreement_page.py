"""The agreement page over HTTP: the figures of the command line, and disagreements side by side."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from acceptance.command import Veritrail, process_file
from fakes.service_process import ServiceProcess

pytestmark = pytest.mark.engine

FS, NFS = "FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED"
CLAIMS = [f"k{number}" for number in range(1, 4)]


@pytest.fixture(scope="module")
def pier(
    shared_service: ServiceProcess,
    veritrail: Veritrail,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    """Three verified claims: Ada and Bo differ on k1, both override k2, k3 has no review."""
    name = f"agreed-{uuid.uuid4().hex[:8]}"
    claims = [
        {"claim_id": one, "text": f"The harbour opened in {year}.", "node_id": "t"}
        for year, one in enumerate(CLAIMS, 1901)
    ]
    path = tmp_path_factory.mktemp("agreed") / f"{name}.json"
    content = Path(process_file(path, claims=claims)).read_bytes()
    shared_service.post("/v1/processes", content=content)
    veritrail("verify", name, "--engine", "lexical")
    said = {"k1": {"Ada": True, "Bo": False}, "k2": {"Ada": False, "Bo <b>": False}}
    for claim_id, words in said.items():
        address = f"/v1/processes/{name}/claims/{claim_id}"
        verdict = shared_service.get(address).json()["verdict"]
        other = NFS if verdict != NFS else FS
        for reviewer, agrees in words.items():
            given = {
                "verdict": verdict if agrees else other,
                "reason": f"{reviewer} <i>counted</i> {claim_id}.",
                "reviewer": reviewer,
            }
            assert shared_service.post(f"{address}/reviews", json=given).status_code == 201
    yield name
    shared_service.delete(f"/v1/processes/{name}")


def shown(service: ServiceProcess, process: str, who: str = "", **query: str) -> httpx2.Response:
    headers = {"Cookie": f"veritrail_reviewer={who}"} if who else {}
    answer = service.get(f"/processes/{process}/agreement", params=query, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer


def test_the_page_shows_the_figures_that_the_command_line_prints(
    shared_service: ServiceProcess, veritrail: Veritrail, pier: str
) -> None:
    page = shown(shared_service, pier)
    printed = veritrail("reviews", "agreement", pier, "--json").json
    saved = shared_service.get(f"/processes/{pier}/agreement.json")
    assert saved.json() == printed
    assert "attachment" in saved.headers["content-disposition"]
    overall = printed["overall"]
    assert f"{overall['agreed']} of {overall['pairs']} claims" in page.text
    assert "the latest word on each claim" in page.text
    assert f"{overall['share'] * 100:.0f} %" in page.text
    for line in printed["between_reviewers"]:
        assert (
            " and ".join(line["reviewers"]).replace("<", "&lt;").replace(">", "&gt;") in page.text
        )
