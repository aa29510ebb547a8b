"""Comments, rounds of review, decisions between reviewers, projects: pages, REST, commands."""

from __future__ import annotations

import json
import uuid

import pytest
from acceptance.command import Veritrail
from acceptance.homes import EXAMPLES
from fakes.page_forms import send
from fakes.service_process import ServiceProcess

from veritrail_graph.api.app.claim_tables import read_reviews
from veritrail_graph.api.page.pages.review import COOKIE

pytestmark = pytest.mark.engine

YES, NO = "FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED"


@pytest.fixture(scope="module")
def harbour(veritrail: Veritrail) -> str:
    name = f"team-{uuid.uuid4().hex[:8]}"
    veritrail("ingest", str(EXAMPLES / "harbour-summary.json"), "--process-id", name)
    veritrail("verify", name, "--engine", "lexical")
    return name


def test_a_comment_is_shown_as_text_and_removed(
    shared_service: ServiceProcess, harbour: str
) -> None:
    client, place = shared_service.client, f"/processes/{harbour}/claims/k04"
    page = client.get(place)
    words = "<script>x</script> See page 3."
    said = send(client, page, f"{place}/comments", text=words, author="A")
    assert said.headers["location"] == f"{place}#comments"
    shown = client.get(place)
    assert "&lt;script&gt;x" in shown.text
    assert "<script>x" not in shown.text
    empty = send(client, shown, f"{place}/comments", text=" ", author="A")
    assert empty.status_code == 422
    (comment,) = shared_service.get(f"/v1{place}/comments").json()["comments"]
    removed = send(client, shown, f"{place}/comments/remove", comment_id=comment["comment_id"])
    assert removed.status_code == 303
    assert shared_service.get(f"/v1{place}/comments").json()["comments"] == []


def test_claims_are_drawn_assigned_and_decided(
    shared_service: ServiceProcess, veritrail: Veritrail, harbour: str
) -> None:
    client, place = shared_service.client, f"/processes/{harbour}"
    page = client.get(f"{place}/rounds")
    assert 'name="size" inputmode="numeric" maxlength="6" value="24"' in page.text  # all there are
    action = f"{place}/rounds"
    assert send(client, page, action, reviewers=" ", size="5", each="1").status_code == 422
    assert send(client, page, action, reviewers="Ada", size="5", each="2").status_code == 422
    begun = send(client, page, action, reviewers="Ada\nBo", size="24", each="2", seed="3")
    assert begun.status_code == 303
    (one,) = shared_service.get(f"/v1{place}/review-rounds").json()["rounds"]
    assert (one["round"]["drawn"], one["round"]["of"]) == (24, 24)
    assert [line["assigned"] for line in one["reviewers"]] == [24, 24]
    waiting = f'href="{place}/review?show=assigned">Review {{}} of'
    home = {"headers": {"Cookie": f"{COOKIE}=Ada"}}
    assert waiting.format(24) in shared_service.get("/", **home).text
    assert "wait for you" not in shared_service.get("/", headers={"Cookie": f"{COOKIE}=Cy"}).text
    for reviewer, verdict in (("Ada", NO), ("Bo", YES)):
        review = {"verdict": verdict, "reason": "It says so.", "reviewer": reviewer}
        made = shared_service.post(f"/v1{place}/claims/k04/reviews", json=review)
        assert made.status_code == 201
        assert "adjudicates" not in made.json()
    assert waiting.format(23) in shared_service.get("/", **home).text
    page = client.get(f"{place}/rounds")
    assert "k04" in page.text
    without = send(client, page, f"{action}/decide", claim_id="k04", verdict=NO, name="Cy")
    assert without.status_code == 422
    alone = {"verdict": NO, "reason": "Why.", "reviewer": "Cy"}
    refused = shared_service.post(f"/v1{place}/claims/k05/reviews:decide", json=alone)
    assert refused.status_code == 422
    decided = send(
        client, page, f"{action}/decide", claim_id="k04", verdict=NO, reason="Source.", name="Cy"
    )
    assert decided.status_code == 303
    later = {"verdict": YES, "reason": "Still.", "reviewer": "Bo"}
    shared_service.post(f"/v1{place}/claims/k04/reviews", json=later)
    claim = shared_service.get(f"/v1{place}/claims/k04").json()
    assert (claim["reviewed_verdict"], claim["disputed"], claim["reviews"]) == (NO, False, 4)
    found = shared_service.get(f"/v1{place}/claims?review=confirmed").json()["claims"]
    assert [one["claim_id"] for one in found] == ["k04"]
    (one,) = shared_service.get(f"/v1{place}/review-rounds").json()["rounds"]
    assert (one["disputed"], one["decided"]) == ([], ["k04"])
    # Decisions travel with the process.
    lines = [json.loads(line) for line in veritrail("export", harbour).out.splitlines()]
    exported = [one["review"] for one in lines if "review" in one]
    assert [one["reviewer"] for one in exported if one.get("adjudicates")] == ["Cy"]


def test_a_table_may_decide_between_its_reviewers(
    shared_service: ServiceProcess, harbour: str
) -> None:
    path = f"/v1/processes/{harbour}/reviews:import"
    rows = [
        {"claim_id": "k03", "verdict": verdict, "reason": "Read.", "reviewer": name, "blind": True}
        for name, verdict in (("Ada", NO), ("Bo", YES))
    ]
    decision = {"claim_id": "k03", "verdict": NO, "reason": "Source.", "reviewer": "Cy"}
    decision["adjudicates"] = True
    refused = shared_service.post(path, json={"reviews": [rows[0], decision]})
    assert refused.status_code == 422
    assert [one["kind"] for one in refused.json()["violations"]] == ["nothing_to_decide"]
    assert shared_service.post(path, json={"reviews": [*rows, decision]}).status_code == 201
    claim = shared_service.get(f"/v1/processes/{harbour}/claims/k03").json()
    assert (claim["reviewed_verdict"], claim["disputed"], claim["reviews"]) == (NO, False, 3)
    # What is downloaded can be given unchanged, and keeps what it says.
    table = shared_service.client.get(f"/processes/{harbour}/reviews.csv").text
    again = [one for one in read_reviews(table) if one.claim_id == "k03"]
    assert [(one.reviewer, one.blind, one.adjudicates) for one in again] == [
        ("Ada", True, None),
        ("Bo", True, None),
        ("Cy", None, True),
    ]


def test_a_blind_review_says_so_and_a_second_look_is_not_blind(
    shared_service: ServiceProcess, harbour: str
) -> None:
    client, place = shared_service.client, f"/processes/{harbour}"
    client.cookies.set("veritrail_reviewer", "Dora")
    try:
        address = f"{place}/review?claim=k20&blind=1"
        for verdict in (YES, NO):
            page = client.get(address)
            action = next(
                one for one in forms(page.text) if one.startswith(f"{place}/review?claim=k20")
            )
            sent = send(client, page, action, verdict=verdict, reason="Why.", claim_id="k20")
            assert sent.status_code == 303, sent.text[:800]
    finally:
        client.cookies.delete("veritrail_reviewer")
    reviews = shared_service.get(f"/v1{place}/claims/k20/reviews").json()["reviews"]
    assert [one["blind"] for one in reviews] == [False, True]


def forms(page: str) -> list[str]:
    from fakes.page_forms import forms_of

    return list(forms_of(page))


def test_files_for_other_tools_can_be_blind(shared_service: ServiceProcess, harbour: str) -> None:
    for name in ("label-studio", "inception"):
        path = f"/processes/{harbour}/annotation.json?format={name}"
        shown, blind = shared_service.get(path), shared_service.get(f"{path}&blind=true")
        assert "FULLY_SUPPORTED" in shown.text
        assert "FULLY_SUPPORTED" not in blind.text
        assert "k04" in blind.text


def test_a_tag_may_hold_a_comma(shared_service: ServiceProcess, harbour: str) -> None:
    client, place = shared_service.client, f"/processes/{harbour}"
    page = client.get(f"{place}/edit")
    tags = "prompt v2, short\r\nnightly\r\n"
    assert send(client, page, f"{place}/tags", project="x", tags=tags).status_code == 303
    wanted = ["prompt v2, short", "nightly"]
    assert shared_service.get(f"/v1{place}").json()["tags"] == wanted
    page = client.get(f"{place}/edit")  # what the form shows can be sent again
    assert send(client, page, f"{place}/tags").status_code == 303
    assert shared_service.get(f"/v1{place}").json()["tags"] == wanted


def test_a_project_is_shown_over_time(
    shared_service: ServiceProcess, veritrail: Veritrail, harbour: str
) -> None:
    project = f"<i>nightly</i> {harbour}"
    veritrail("tag", harbour, "--project", project, "--tag", "v1", "--tag", "v2")
    stored = shared_service.get(f"/v1/processes/{harbour}").json()
    assert (stored["project"], stored["tags"]) == (project, ["v1", "v2"])
    header = json.loads(veritrail("export", harbour).out.partition("\n")[0])
    assert (header["project"], header["tags"]) == (project, ["v1", "v2"])
    found = shared_service.get("/v1/trend", params={"project": project, "by": "tag"}).json()
    assert [one["name"] for one in found["groups"]] == ["v1", "v2"]
    counted = found["groups"][0]
    assert counted["judged"] + counted["undecided"] == 24
    assert counted["indicative"] == counted["judged"]  # no model was asked
    for by in ("day", "process", "judge", "model", "prompt"):
        page = shared_service.client.get("/projects", params={"project": project, "by": by})
        assert page.status_code == 200, by
        assert "<i>nightly" not in page.text
    table = shared_service.client.get("/projects.csv", params={"project": project, "by": "day"})
    assert table.text.count("\n") == 2
    assert project in veritrail("trend").out
    assert shared_service.client.get("/projects?project=none-such").status_code == 404
