"""Claims that are added, changed, merged and removed, tables in and out, and runs, over HTTP."""

from __future__ import annotations

import csv
import io
import uuid
from pathlib import Path

import pytest
from acceptance.command import Veritrail, process_file
from acceptance.homes import EXAMPLES
from fakes.page_forms import forms_of, send
from fakes.service_process import ServiceProcess

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def harbour(veritrail: Veritrail) -> str:
    """The sample, verified twice with other settings; each test changes claims of its own."""
    name = f"edited-{uuid.uuid4().hex[:8]}"
    veritrail("ingest", str(EXAMPLES / "harbour-summary.json"), "--process-id", name)
    veritrail("verify", name, "--engine", "lexical")
    veritrail("verify", name, "--engine", "lexical", "--q", "1")
    return name


def table(service: ServiceProcess, path: str) -> list[dict[str, str]]:
    answer = service.get(path)
    assert answer.status_code == 200, answer.text[:500]
    assert answer.headers["content-type"].startswith("text/csv")
    assert "attachment" in answer.headers["content-disposition"]
    return list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))


def test_claims_are_added_changed_merged_and_removed(
    shared_service: ServiceProcess, harbour: str
) -> None:
    client, place = shared_service.client, f"/processes/{harbour}"
    page = client.get(f"{place}/edit")
    texts = "The quay is new.\n<b>The quay</b> is new."
    added = send(client, page, f"{place}/edit/claims", texts=texts)
    assert added.headers["location"] == f"{place}/edit?done=added-2-2"
    assert "2 of 2 claims were added." in client.get(added.headers["location"]).text
    assert "Your key" not in client.get(f"{place}/edit?done=Your+key+ended").text
    first, second = (one["claim_id"] for one in table(shared_service, f"{place}/claims.csv")[-2:])
    edit = client.get(f"{place}/claims/{second}/edit")
    assert "<b>The quay" not in edit.text
    assert send(client, edit, f"{place}/claims/{second}/edit", text=" ").status_code == 422
    changed = send(client, edit, f"{place}/claims/{second}/edit", text="The quay is old.")
    assert changed.headers["location"] == f"{place}/claims/{second}"
    merged = send(client, edit, f"{place}/claims/{second}/merge", into=first)
    assert merged.headers["location"] == f"{place}/claims/{first}"
    assert client.get(f"{place}/claims/{second}").status_code == 404
    # What was verified is removed only where that is ticked.
    edit = client.get(f"{place}/claims/k06/edit")
    assert "2 verifications and 0 reviews" in edit.text
    assert send(client, edit, f"{place}/claims/k06/remove").status_code == 409
    assert send(client, edit, f"{place}/claims/k06/remove", force="1").status_code == 303
    assert client.get(f"{place}/claims/k06").status_code == 404
    # Only a form of ours changes something.
    foreign = client.post(f"{place}/claims/k07/remove", data={"force": "1"})
    assert foreign.status_code == 403
    assert client.get(f"{place}/claims/k07").status_code == 200


def test_tables_go_in_and_out(shared_service: ServiceProcess, harbour: str) -> None:
    client, place = shared_service.client, f"/processes/{harbour}"
    page = client.get(f"{place}/edit")

    def sent(what: str, text: str) -> int:
        answer = send(client, page, f"{place}/edit/table", what=what, table=text)
        return answer.status_code

    assert sent("labels", "claim_id;label\nk01;not supported\nk02;\n") == 303
    assert sent("labels", "claim_id,label\nk03,perhaps\n") == 422
    assert sent("labels", "claim_id,label\nk99,supported\n") == 404
    assert sent("claims", "text,label\n=1+1 is two,supported\n") == 303
    reviews = "claim_id,verdict,reason,reviewer\nk04,not supported,,Ada\nk05,unclear,Why?,Bo\n"
    assert sent("reviews", reviews) == 303
    assert sent("reviews", reviews) == 303  # stores nothing twice
    assert sent("reviews", "claim_id,verdict,reviewer\nk04,supported,Ada\n") == 422  # no reason
    labels = {one["claim_id"]: one["label"] for one in table(shared_service, f"{place}/claims.csv")}
    assert (labels["k01"], labels["k02"]) == ("NOT_FULLY_SUPPORTED", "")
    assert table(shared_service, f"{place}/claims.csv")[-1]["text"] == "'=1+1 is two"
    found = table(shared_service, f"{place}/reviews.csv")
    assert sorted((one["claim_id"], one["reviewer"]) for one in found) == [
        ("k04", "Ada"),
        ("k05", "Bo"),
    ]
    wrong = table(shared_service, f"{place}/claims.csv?verdict=not-supported")
    assert {one["verdict"] for one in wrong} == {"NOT_FULLY_SUPPORTED"}
    assert len(table(shared_service, f"{place}/nodes.csv")) == 33
    assert any(one["process_id"] == harbour for one in table(shared_service, "/processes.csv"))
    assert table(shared_service, "/jobs.csv") is not None


def test_two_runs_are_listed_and_compared(
    shared_service: ServiceProcess, veritrail: Veritrail, twice_verified: str
) -> None:
    client, place = shared_service.client, f"/processes/{twice_verified}"
    runs = shared_service.get(f"/v1/processes/{twice_verified}/runs").json()["runs"]
    assert [one["q"] for one in runs] == [1, 3]
    new, old = (one["run_id"] for one in runs)
    page = client.get(f"{place}/runs")
    assert forms_of(page.text)[f"{place}/runs/pin"]["run_id"] == old
    pinned = send(client, page, f"{place}/runs/pin", run_id=old)
    assert pinned.status_code == 303
    assert "run of record" in client.get(f"{place}/runs").text
    found = client.get(f"{place}/runs/compare", params={"a": old, "b": new})
    assert found.status_code == 200
    assert "No model" not in found.text
    compared = shared_service.get(
        f"/v1/processes/{twice_verified}/run-comparison", params={"a": old, "b": new}
    ).json()
    assert compared["changes"]["lost"] == 1
    assert f'Lost <span class="muted">{compared["changes"]["lost"]}</span>' in found.text
    rows = table(shared_service, f"{place}/runs/compare.csv?a={old}&b={new}")
    assert [one["change"] for one in rows] == ["lost", "same", "neither"]
    assert client.get(f"{place}/runs/compare", params={"a": old, "b": "x"}).status_code == 404
    assert client.get(f"{place}/runs/compare", params={"a": old, "b": old}).status_code == 422
    told = veritrail("compare", twice_verified, old, new)
    assert "1 lost, 0 gained" in told.err
    assert veritrail("runs", twice_verified, "--json").json["run_of_record"] == old


def test_a_process_is_deleted_when_its_id_was_typed(
    shared_service: ServiceProcess, veritrail: Veritrail, tmp_path: Path
) -> None:
    name = f"edited-{uuid.uuid4().hex[:8]}"
    claims = [{"text": f"The harbour opened in {year}.", "node_id": "t"} for year in (1901, 1902)]
    veritrail("ingest", process_file(tmp_path / f"{name}.json", claims=claims))
    veritrail("verify", name, "--engine", "lexical")
    client, place = shared_service.client, f"/processes/{name}"
    page = client.get(f"{place}/edit")
    assert "2 claims, 2 verifications" in page.text
    assert send(client, page, f"{place}/edit/delete", typed="yes").status_code == 422
    assert client.get(place).status_code == 200
    assert send(client, page, f"{place}/edit/delete", typed=name).status_code == 303
    assert client.get(place).status_code == 404
