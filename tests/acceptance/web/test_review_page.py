"""The review page over HTTP: blind until one has judged, and nothing that was typed is lost."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from acceptance.command import Veritrail, process_file
from fakes.page_forms import forms_of, send
from fakes.service_process import ServiceProcess, serving

pytestmark = pytest.mark.engine

FS, NFS, INC = "FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED", "INCONCLUSIVE"
TEXTS = {
    "k1": "The harbour opened in 1901.",
    "k2": "The lighthouse was built in 1877.",
    "k3": 'It has <b>two</b> piers & "more" \'><script>alert(1)</script>.',
    "k4": "Nobody has looked at this one.",
}
OWN = {
    name: f"The harbour opened in {year}."
    for year, name in enumerate(("in-sight", "twice", "both", "anew"), 1901)
}
"""Claims that one test each reviews."""
MARKS = re.compile(r'class="mark mark-(?:supported|not-supported|inconclusive|failed)')


@pytest.fixture(scope="module")
def pier(
    shared_service: ServiceProcess, veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """A process with claims for each test to review, all of them verified but k4."""
    name = f"pier-{uuid.uuid4().hex[:8]}"
    verified = [*TEXTS, *OWN]
    verified.remove("k4")
    store(shared_service, name, tmp_path_factory.mktemp("pier"), {**TEXTS, **OWN})
    verify(veritrail, name, *verified)
    return name


def store(service: ServiceProcess, process: str, folder: Path, texts: dict[str, str]) -> None:
    claims = [{"claim_id": name, "text": text, "node_id": "t"} for name, text in texts.items()]
    content = Path(process_file(folder / f"{process}.json", claims=claims)).read_bytes()
    service.post("/v1/processes", content=content)


def verify(veritrail: Veritrail, process: str, *claims: str, q: int = 3) -> None:
    """Verify claims by words."""
    chosen = [part for claim in claims for part in ("--claim-id", claim)]
    veritrail("verify", process, *chosen, "--engine", "lexical", "--q", str(q))


@pytest.fixture
def ada(shared_service: ServiceProcess) -> Iterator[httpx2.Client]:
    with named(shared_service, "Ada") as client:
        yield client


def named(service: ServiceProcess, name: str) -> httpx2.Client:
    """A browser whose owner has said who they are."""
    cookies = {"veritrail_reviewer": quote(name)}
    return httpx2.Client(base_url=service.url, cookies=cookies, trust_env=False, timeout=60.0)


def shown(client: httpx2.Client, process: str, claim: str = "k1", **query: Any) -> httpx2.Response:
    params = {"claim": claim, "blind": 1, **query}
    answer = client.get(f"/processes/{process}/review", params=params)
    assert answer.status_code == 200, answer.text
    return answer


def say(
    client: httpx2.Client, page: httpx2.Response, verdict: str, reason: str = "", **more: str
) -> httpx2.Response:
    """Fill in the form of the page's open claim and send it."""
    action = page.url.raw_path.decode()
    return send(client, page, action, verdict=verdict, reason=reason, then="stay", **more)


def kept(service: ServiceProcess, process: str, claim: str = "k1") -> list[dict[str, Any]]:
    """The reviews of a claim."""
    answer = service.get(f"/v1/processes/{process}/claims/{claim}/reviews")
    found: list[dict[str, Any]] = answer.json()["reviews"]
    return found


def verdict_of(service: ServiceProcess, process: str, claim: str) -> str:
    verdict: str = service.get(f"/v1/processes/{process}/claims/{claim}").json()["verdict"]
    return verdict


def other(verdict: str) -> str:
    return FS if verdict != FS else NFS


def test_blind_no_page_tells_a_verdict_before_one_has_been_given(
    shared_service: ServiceProcess, ada: httpx2.Client, pier: str
) -> None:
    with named(shared_service, "Bo") as bo:
        assert say(bo, shown(bo, pier, "k1"), NFS, "I, Bo, have seen enough.").status_code == 303
    trails = {
        name: shared_service.get(
            "/v1/verifications/"
            + shared_service.get(f"/v1/processes/{pier}/claims/{name}").json()["verification_id"]
        ).json()
        for name in ("k1", "k2", "k3")
    }
    for name, trail in trails.items():
        page = shown(ada, pier, name).text
        assert not MARKS.search(page)
        secrets = [trail["reasoning"], *(one["reasoning"] for one in trail["iterations"])]
        secrets += [one["text"] for each in trail["iterations"] for one in each["summaries"]]
        for secret in filter(None, secrets):
            is_evidence = any(
                secret in one["text"] for each in trail["iterations"] for one in each["evidence"]
            )
            assert is_evidence or secret not in page
        assert "seen enough" not in page
        assert f"/claims/{name}" not in page
        assert "Introduced" not in page
        assert "data-model" not in page


def test_with_the_verdict_in_sight_another_one_needs_a_reason(
    shared_service: ServiceProcess, ada: httpx2.Client, pier: str
) -> None:
    verdict = verdict_of(shared_service, pier, "in-sight")
    page = shown(ada, pier, "in-sight", blind=0)
    refused = say(ada, page, other(verdict))
    assert refused.status_code == 422
    assert "say why" in refused.text
    assert kept(shared_service, pier, "in-sight") == []
    assert say(ada, page, verdict).status_code == 303
    assert say(ada, page, other(verdict), "I counted again.").status_code == 303
    assert [one["reason"] for one in kept(shared_service, pier, "in-sight")] == [
        "I counted again.",
        "",
    ]


def test_a_form_that_is_sent_twice_is_stored_once(
    shared_service: ServiceProcess, ada: httpx2.Client, pier: str
) -> None:
    page = shown(ada, pier, "twice")
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: say(ada, page, FS, "Once."), range(4)))
    assert {one.status_code for one in answers} == {303}
    assert len(kept(shared_service, pier, "twice")) == 1
    assert say(ada, page, FS, "Once.\r\nBut now in other words.").status_code == 303
    newest = kept(shared_service, pier, "twice")[0]["reason"]
    assert newest == "Once.\nBut now in other words."


def test_two_people_on_one_claim_lose_nothing_of_each_other(
    shared_service: ServiceProcess, ada: httpx2.Client, pier: str
) -> None:
    with named(shared_service, "Bo") as bo:
        pages = shown(ada, pier, "both"), shown(bo, pier, "both")
        assert "disputed" not in pages[0].text
        assert not re.search(r"\bBo\b", pages[0].text)
        with ThreadPoolExecutor(2) as pool:
            sent = [
                pool.submit(say, client, page, verdict, "Mine.")
                for client, page, verdict in ((ada, pages[0], FS), (bo, pages[1], NFS))
            ]
        assert [one.result().status_code for one in sent] == [303, 303]
        reviews = kept(shared_service, pier, "both")
        found = {(one["reviewer"], one["verdict"]) for one in reviews}
        assert found == {("Ada", FS), ("Bo", NFS)}
        assert "disputed" in shown(ada, pier, "both").text
        assert "Bo" in shown(ada, pier, "both").text


def test_a_claim_verified_anew_meanwhile_is_shown_again_with_what_was_typed(
    shared_service: ServiceProcess, veritrail: Veritrail, ada: httpx2.Client, pier: str
) -> None:
    page = shown(ada, pier, "anew")
    verify(veritrail, pier, "anew", q=4)
    again = say(ada, page, FS, "A long & careful reason.")
    assert again.status_code == 409, again.text
    assert "verified anew" in again.text
    assert "A long &amp; careful reason." in again.text
    assert kept(shared_service, pier, "anew") == []
    assert say(ada, again, FS, "A long & careful reason.").status_code == 303
    (found,) = kept(shared_service, pier, "anew")
    newest = shared_service.get(f"/v1/processes/{pier}/claims/anew").json()["verification_id"]
    assert found["overrides"] == newest


def test_what_was_deleted_meanwhile_is_said_and_the_text_is_kept(
    shared_service: ServiceProcess, ada: httpx2.Client, tmp_path: Path
) -> None:
    pier = f"pier-{uuid.uuid4().hex[:8]}"
    store(shared_service, pier, tmp_path, TEXTS)
    page, second = shown(ada, pier, "k1"), shown(ada, pier, "k2")
    shared_service.delete(f"/v1/processes/{pier}/claims/k1", params={"force": "true"})
    gone = say(ada, page, FS, "My careful words.")
    assert gone.status_code == 404
    assert "not there any more" in gone.text
    assert "My careful words." in gone.text
    looked = ada.get(f"/processes/{pier}/review", params={"claim": "k1"})
    assert looked.status_code == 404
    assert "not stored any more" in looked.text
    assert TEXTS["k2"] in looked.text
    assert shared_service.delete(f"/v1/processes/{pier}").status_code == 204
    gone = say(ada, second, FS, "More careful words.")
    assert gone.status_code == 404
    assert "More careful words." in gone.text
    assert "veritrail list" not in gone.text
    assert "GET /v1" not in gone.text


def test_who_has_said_no_name_is_asked_for_it_and_offered_to_be_blind(
    shared_service: ServiceProcess, pier: str
) -> None:
    with httpx2.Client(base_url=shared_service.url, trust_env=False) as client:
        page = client.get(f"/processes/{pier}/review")
        assert not MARKS.search(page.text)
        assert not any("/review?" in one for one in forms_of(page.text))
        action = next(one for one in forms_of(page.text) if "/reviewer" in one)
        assert forms_of(page.text)[action]["is_blind"] == "1"
        for wrong in ("", " ", "two\nlines", "x" * 201):
            refused = send(client, page, action, name=wrong)
            assert refused.status_code == 422
            assert "That is no name" in refused.text
        answer = send(client, page, action, name=" Zoë 'Zed' <Z> ")
        assert answer.status_code == 303
        assert "blind=1" in answer.headers["location"]
        begun = client.get(answer.headers["location"])
        assert "Zoë &#39;Zed&#39; &lt;Z&gt;" in begun.text


def test_texts_from_outside_are_shown_and_nothing_of_them_runs(
    shared_service: ServiceProcess, pier: str
) -> None:
    with named(shared_service, '"><img src=x onerror=alert(1)>') as client:
        answer = say(
            client, shown(client, pier, "k3"), "UNCLEAR", "</textarea><script>alert(2)</script>"
        )
        assert answer.status_code == 303
        page = client.get(answer.headers["location"])
        refused = say(client, shown(client, pier, "k4"), "x'><script>", "<script>alert(3)</script>")
    assert refused.status_code == 422
    for text in (page.text, refused.text):
        assert "<script>alert" not in text
        assert "<img" not in text
    assert "&lt;script&gt;alert(2)" in page.text
    assert "script-src 'self'" in page.headers["content-security-policy"]


def test_the_owner_of_a_key_speaks_in_its_name_alone(beside: Veritrail, tmp_path: Path) -> None:
    claims = [{"claim_id": name, "text": text, "node_id": "t"} for name, text in TEXTS.items()]
    beside("ingest", process_file(tmp_path / "keyed.json", claims=claims))
    beside("verify", "keyed", "--claim-id", "k1", "--engine", "lexical")
    keys = {
        scope: beside("keys", "create", "--name", f"desk {scope}", "--scope", scope, "--json").json
        for scope in ("admin", "read")
    }
    with serving(beside, args=["--no-worker"]) as service:
        service.until_ready()
        with named(service, "Somebody Else") as client:
            client.headers["Authorization"] = f"Bearer {keys['admin']['key']}"
            page = shown(client, "keyed", "k1")
            assert "Somebody Else" not in page.text
            assert "/reviewer" not in page.text
            assert say(client, page, FS, "Yes.", reviewer="Somebody Else").status_code == 303
            reviews = client.get("/v1/processes/keyed/reviews").json()["reviews"]
            assert [(one["reviewer"], one["recorded_by"]) for one in reviews] == [
                ("desk admin", "desk admin")
            ]
            client.headers["Authorization"] = f"Bearer {keys['read']['key']}"
            looking = shown(client, "keyed", "k1")
            assert "You may look, not review" in looking.text
            assert 'name="verdict"' not in looking.text
            action = "/processes/keyed/review?claim=k1&blind=1"
            refused = client.post(action, data={**forms_of(page.text)[action], "verdict": FS})
            assert refused.status_code == 403
            assert len(client.get("/v1/processes/keyed/reviews").json()["reviews"]) == 1


def test_when_the_engine_is_gone_the_page_keeps_what_was_typed(
    frail: Veritrail, tmp_path: Path
) -> None:
    claims = [{"claim_id": "k1", "text": TEXTS["k1"], "node_id": "t"}]
    frail("ingest", process_file(tmp_path / "down.json", claims=claims))
    frail("verify", "down", "--engine", "lexical")
    with (
        serving(frail, args=["--no-worker"]) as service,
        named(service, "Ada") as client,
    ):
        service.until_ready()
        page = shown(client, "down", "k1")
        frail.kill_engine()
        failed = say(client, page, FS, "Hours of work.")
        assert failed.status_code == 503, failed.text
        assert "nothing is stored twice" in " ".join(failed.text.split())
        assert "Hours of work." in failed.text
        assert "bolt://" not in failed.text
        service.until_ready()
        action = "/processes/down/review?claim=k1&blind=1"
        sent = send(client, failed, action, verdict=FS, reason="Hours of work.", then="stay")
        assert sent.status_code == 303
        assert [one["reason"] for one in kept(service, "down")] == ["Hours of work."]
