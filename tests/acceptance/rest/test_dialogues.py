"""Dialogues over REST: jobs with an event a turn, what is stored, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from acceptance.command import Veritrail
from acceptance.homes import home_beside
from acceptance.model_fixtures import MODEL, asking
from acceptance.rest.job_calls import Calls
from fakes.dialogues import SAMPLE, DialogueReader, gold_run, sample_dialogue
from fakes.model_server import ModelServer
from fakes.service_process import ServiceProcess, serving
from fakes.settings_of import settings_of
from fakes.waiting import until

from veritrail_graph import Client, Local
from veritrail_graph.api.client import Missing, Rejected

pytestmark = pytest.mark.engine

DIALOGUE = "lindholm-dialogue"
GOLD = gold_run().json_object()["turns"]
TURNS = [turn["turn_id"] for turn in GOLD]
SOME = TURNS[:6]
FROM_MODEL = {"use_cache": False}


@pytest.fixture(scope="module")
def home(veritrail: Veritrail) -> Iterator[Veritrail]:
    with home_beside(veritrail) as own:
        own("ingest", str(SAMPLE))
        own("ingest", str(SAMPLE.with_name("harbour-summary.json")))
        yield own


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer(DialogueReader()) as server:
        yield server


@pytest.fixture(scope="module")
def service(home: Veritrail, model: ModelServer) -> Iterator[ServiceProcess]:
    with serving(home, env=asking(model, VERITRAIL_ANSWER_RETRIES="1")) as running:
        running.until_ready()
        yield running


def submitted(service: ServiceProcess, key: str | None = None, **body: Any) -> httpx2.Response:
    headers = {"Idempotency-Key": key} if key else {}
    wanted = {"dialogue_id": DIALOGUE, **body}
    return service.post("/v1/dialogue-verifications", json=wanted, headers=headers)


def result(service: ServiceProcess, **asked: Any) -> dict[str, Any]:
    answer = service.get(f"/v1/processes/{DIALOGUE}/dialogue", params=asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def categories(turns: list[dict[str, Any]]) -> list[list[str | None]]:
    return [[claim["category"] for claim in turn["claims"]] for turn in turns]


def taken_apart(model: ModelServer, after: int) -> Counter[str]:
    """How often each turn was taken apart, by its text, behind a number of requests."""
    sent = model.requests[after:]
    return Counter(
        one.user.rpartition("Turn: ")[2] for one in sent if one.step == "dialogue_extraction"
    )


def stuck_behind(model: ModelServer, turns: int) -> None:
    """Let the model answer for so many turns, and then take its time."""
    asked = len(model.requests)

    def latency(one: Any) -> float:
        return 60.0 if len(taken_apart(model, asked)) > turns else 0.0

    model.latency = latency


@pytest.fixture(scope="module")
def begun(service: ServiceProcess) -> httpx2.Response:
    """What the service answers to the start of a job over all turns, which has ended."""
    answer = submitted(service, turn_check=True, price="1,2")
    assert answer.status_code == 202, answer.text
    Calls(service.url).followed(answer.json()["job_id"])
    return answer


def test_a_job_verifies_turns_in_their_order_and_each_is_told_and_stored(
    service: ServiceProcess, home: Veritrail, begun: httpx2.Response
) -> None:
    accepted = begun.json()
    assert accepted["turn_ids"] == TURNS
    assert begun.headers["location"] == f"/v1/jobs/{accepted['job_id']}"
    calls = Calls(service.url)
    events = calls.listed(accepted["job_id"])
    job = calls.job(accepted["job_id"])
    assert (job["kind"], job["status"], job["error"]) == ("dialogue", "succeeded", None)
    assert (job["counts"], job["turn_ids"]) == ({"succeeded": len(TURNS)}, TURNS)
    assert job["verification_ids"] == job["node_ids"] == []
    assert job["usage"]["cost_usd"] > 0
    told = [(one.kind, one.data["turn_id"]) for one in events if one.kind.startswith("turn.")]
    assert told == [(kind, turn) for turn in TURNS for kind in ("turn.started", "turn.finished")]
    assert events[-1].kind == "job.finished"
    ended = {one.data["turn_id"]: one.data for one in events if one.kind == "turn.finished"}
    assert ended["t24"]["categories"] == {"CONTRADICTED": 1, "VERIFIED": 1}
    assert (ended["t24"]["label"], ended["t24"]["score"]) == ("UNVERIFIABLE", 0.5)
    assert ended["t24"]["contradicts_itself"] is True
    assert "verification_id" not in ended["t24"]

    found = result(service)
    assert (found["run_id"], found["model"], found["indicative"]) == (
        accepted["run_id"], MODEL, False
    )  # fmt: skip
    assert categories(found["turns"]) == categories(GOLD)
    assert found["usage"]["calls"] == job["usage"]["calls"]
    assert result(service, run_id=accepted["run_id"]) == found
    runs = service.get(f"/v1/processes/{DIALOGUE}/dialogue/runs").json()["dialogue_runs"]
    assert (runs[0]["run_id"], runs[0]["turns"]) == (accepted["run_id"], len(TURNS))
    page = service.get(f"/jobs/{job['job_id']}").text
    assert "<h1>Dialogue</h1>" in page
    assert f"{len(TURNS)} of {len(TURNS)} turns" in page
    assert "Dialogue, by" in service.get("/jobs").text
    refused = home("verify", "--resume", accepted["run_id"], status=2)
    assert f"veritrail dialogue verify {DIALOGUE} --resume {accepted['run_id']}" in refused.err


def test_turns_are_listed_as_they_were_said(service: ServiceProcess) -> None:
    path = f"/v1/processes/{DIALOGUE}/dialogue/turns"
    first = service.get(path, params={"limit": 20}).json()
    rest = service.get(path, params={"limit": 20, "cursor": first["nextCursor"]}).json()
    said = [(one["turn_id"], one["role"], one["text"]) for one in first["turns"] + rest["turns"]]
    assert said == [(one.turn_id, one.role.value, one.text) for one in sample_dialogue().turns]
    assert (len(first["turns"]), rest["nextCursor"]) == (20, None)
    some = service.get(path, params={"limit": 3, "from_turn": "t7"}).json()
    more = {"limit": 3, "from_turn": "t7", "cursor": some["nextCursor"]}
    some["turns"] += service.get(path, params=more).json()["turns"]
    assert [one["turn_id"] for one in some["turns"]] == [f"t{number}" for number in range(7, 13)]
    unknown = service.get(path, params={"from_turn": "t99"})
    assert unknown.status_code == 422
    assert "Turn 't99' is not in the dialogue" in unknown.json()["detail"]


def test_the_same_key_and_body_is_the_same_job(service: ServiceProcess) -> None:
    first, again = (submitted(service, "the key", turn_ids=["t4"]) for _ in range(2))
    assert first.json() == again.json()
    spelt = submitted(service, "the key", turn_ids=["t4"], background=True, facts=None)
    assert spelt.json() == first.json()
    other = submitted(service, "the key", turn_ids=["t2"])
    assert other.status_code == 409
    assert other.json()["type"] == "urn:veritrail:problem:idempotency-conflict"
    Calls(service.url).wait(first.json()["job_id"])


def test_what_cannot_be_verified_is_refused_and_begins_nothing(service: ServiceProcess) -> None:
    before = service.get("/v1/jobs").json()["jobs"]
    refused: list[tuple[dict[str, Any], int, str]] = [
        ({"turn_ids": ["t1"]}, 422, "is the user's"),
        ({"turn_ids": ["t99"]}, 422, "is not in the dialogue"),
        ({"turn_ids": []}, 422, "turn_ids"),
        ({"facts": -1}, 422, "facts"),
        ({"engine": "no-such"}, 422, "no-such"),
        ({"engine": "nli"}, 422, "does not verify dialogues"),
        ({"engine": "lexical", "turn_check": True}, 422, "needs a language model"),
        ({"engine": "lexical", "model": "m"}, 422, "A model is named"),
        ({"dialogue_id": "nowhere"}, 404, "nowhere"),
        ({"dialogue_id": "harbour-summary"}, 422, "is no dialogue"),
        ({"prompts": "/etc"}, 422, "prompts"),
        ({"budget_usd": 1}, 422, "price"),
    ]
    for body, status, message in refused:
        answer = submitted(service, **body)
        assert answer.status_code == status, (body, answer.text)
        assert message in answer.text, body
    assert service.get("/v1/jobs").json()["jobs"] == before


def test_what_cannot_be_read_is_refused(service: ServiceProcess) -> None:
    path = f"/v1/processes/{DIALOGUE}/dialogue"
    assert service.get(path, params={"run_id": "?"}).status_code == 422
    unknown = service.get(path, params={"run_id": "r-none"})
    assert (unknown.status_code, "/dialogue/runs lists" in unknown.text) == (404, True)
    never = service.get("/v1/processes/harbour-summary/dialogue")
    assert (never.status_code, "is no dialogue" in never.text) == (422, True)
    body = SAMPLE.read_bytes()
    headers = {"Content-Type": "application/json"}
    taken = service.post("/v1/processes", content=body, headers=headers)
    assert [one["kind"] for one in taken.json()["violations"]] == ["other_format"]
    assert "?format=dialogue takes it." in taken.text
    again = service.post(
        "/v1/processes", content=body, headers=headers, params={"format": "dialogue"}
    )
    assert again.json()["status"] == "unchanged"
    assert service.get("/v1/processes/harbour-summary/dialogue/turns").status_code == 422
    assert service.get("/v1/processes/nowhere/dialogue/runs").status_code == 404


def test_a_failed_turn_is_verified_again_with_all_behind_it(
    service: ServiceProcess, model: ModelServer
) -> None:
    broken = "The user can bring lunch to the Lindholm Tram Museum."
    before, model.reader = model.reader, DialogueReader({broken: '{"label": "MAYBE"}'})
    calls = Calls(service.url)
    try:
        accepted = submitted(service, turn_ids=SOME, **FROM_MODEL).json()
        job = calls.wait(accepted["job_id"])
    finally:
        model.reader = before
    assert job["status"] == "failed"
    assert job["counts"] == {"succeeded": len(SOME) - 1, "failed": 1}
    run = result(service, run_id=accepted["run_id"])
    assert [one["background_lacks"] for one in run["turns"]] == [0] * 4 + [1] * (len(SOME) - 4)
    asked = len(model.requests)
    assert service.post(f"/v1/jobs/{job['job_id']}:resume").status_code == 200
    job = calls.wait(job["job_id"])
    assert (job["status"], job["counts"]) == ("succeeded", {"succeeded": len(SOME)})
    assert sum(taken_apart(model, asked).values()) == len(SOME) - 3
    run = result(service, run_id=accepted["run_id"])
    assert categories(run["turns"]) == categories(GOLD[: len(SOME)])
    assert {one["background_lacks"] for one in run["turns"]} == {0}


def test_a_job_stops_at_its_limit_and_when_it_is_cancelled_and_the_command_goes_on_with_its_run(
    service: ServiceProcess, model: ModelServer, home: Veritrail
) -> None:
    calls = Calls(service.url)
    accepted = submitted(service, max_calls=20, **FROM_MODEL).json()
    job, run_id = calls.wait(accepted["job_id"]), accepted["run_id"]
    done = job["counts"]["succeeded"]
    assert job["counts"] == {"succeeded": done, "over_budget": len(TURNS) - done}
    assert 3 <= done < 8
    assert job["usage"]["calls"] == 20
    path, asked = f"/v1/jobs/{job['job_id']}", len(model.requests)
    stuck_behind(model, 1)
    try:
        assert service.post(f"{path}:resume", json={"max_calls": 500}).status_code == 200
        until(lambda: calls.job(job["job_id"])["counts"].get("succeeded") == done + 1)
        busy = service.post(f"{path}:resume")
        assert busy.status_code == 200  # it runs: nothing is to be taken up
        assert service.post(f"{path}:cancel").status_code == 200
        job = calls.wait(job["job_id"], seconds=10)
    finally:
        model.latency = 0.0
    left = len(TURNS) - done - 1
    assert job["status"] == "cancelled"
    assert job["counts"] == {"succeeded": done + 1, "cancelled": left}
    assert sum(taken_apart(model, asked).values()) <= 2  # what was done is not done again
    ended = [one.data for one in calls.listed(job["job_id"]) if one.kind == "turn.finished"]
    assert Counter(one["status"] for one in ended) == {
        "succeeded": done + 1, "over_budget": left + 1, "cancelled": left
    }  # fmt: skip
    assert len(result(service, run_id=run_id)["turns"]) == done + 1
    asked = len(model.requests)
    command = ("dialogue", "verify", DIALOGUE, "--resume", run_id, "--no-cache", "--json")
    told = home(*command, **asking(model, VERITRAIL_ANSWER_RETRIES="1")).json
    assert (told["run_id"], told["kept"], told["stored"]) == (run_id, done + 1, left)
    assert sum(taken_apart(model, asked).values()) == left
    assert categories(result(service, run_id=run_id)["turns"]) == categories(GOLD)


def test_a_long_dialogue_is_read_by_the_page(
    service: ServiceProcess, begun: httpx2.Response
) -> None:
    run_id = begun.json()["run_id"]
    whole = result(service, run_id=run_id)
    assert whole["nextCursor"] is None
    assert len(whole["turns"]) == len(whole["course"]) == len(TURNS)
    assert (whole["score"], whole["course"][-1]) == (gold_run().score, whole["score"])
    asked: dict[str, Any] = {"run_id": run_id, "limit": 4}
    found: list[dict[str, Any]] = []
    while not found or found[-1]["nextCursor"]:
        cursor = {"cursor": found[-1]["nextCursor"]} if found else {}
        found.append(result(service, **asked, **cursor))
    assert [len(one["turns"]) for one in found] == [4, 4, 4, 3]
    assert [turn for one in found for turn in one["turns"]] == whole["turns"]
    assert [score for one in found for score in one["course"]] == whole["course"]
    assert {json.dumps([one["score"], one["usage"]]) for one in found} == {
        json.dumps([whole["score"], whole["usage"]])
    }
    path = f"/v1/processes/{DIALOGUE}/dialogue"
    other = service.get(path, params={"cursor": found[0]["nextCursor"]})
    assert other.status_code == 422  # of another list
    with Client(service.url) as client:
        pages = client.verified_turns(DIALOGUE, run_id=run_id, page=4).all()
        assert [one.json_object() for one in pages] == whole["turns"]


def test_a_dialogue_whose_only_speaker_is_the_user_is_refused(
    service: ServiceProcess, home: Veritrail, tmp_path: Path
) -> None:
    said = [{"turn_id": "t1", "role": "user", "text": "Hello?"}]
    dialogue = {"format": "veritrail.dialogue/1", "dialogue_id": "alone", "turns": said}
    path = tmp_path / "alone.json"
    path.write_text(json.dumps(dialogue), encoding="utf-8")
    assert "no_assistant_turn" in home("ingest", str(path), "--json", status=2).out
    refused = service.post("/v1/processes?format=dialogue", content=path.read_bytes())
    assert (refused.status_code, "no_assistant_turn" in refused.text) == (422, True)
    node = {"node_id": "turn/t1", "text": "Hello?", "kind": "user turn", "origin": "given"}
    process = {"format": "veritrail.process/1", "process_id": "alone", "nodes": [node], "edges": []}
    assert service.post("/v1/processes", json=process).status_code == 201
    words = "it has no turn of an assistant"
    assert words in home("dialogue", "verify", "alone", status=2).err
    assert words in submitted(service, dialogue_id="alone").text
    turns = service.get("/v1/processes/alone/dialogue/turns")
    assert (turns.status_code, words in turns.text) == (422, True)
    with Client(service.url) as client, pytest.raises(Rejected, match=words):
        client.verify_dialogue("alone")


@pytest.mark.soak
def test_a_job_that_was_killed_goes_on_at_its_turn(home: Veritrail, model: ModelServer) -> None:
    asked = len(model.requests)
    stuck_behind(model, 6)
    try:
        with serving(home, env=asking(model), child=True) as service:
            service.until_ready()
            calls = Calls(service.url)
            accepted = submitted(service, **FROM_MODEL).json()
            until(lambda: calls.job(accepted["job_id"])["counts"].get("succeeded") == 6)
            until(lambda: len(taken_apart(model, asked)) == 7)
            service.kill()
            model.latency = 0.0
            service.start()
            job = calls.wait(accepted["job_id"])
            events = calls.listed(job["job_id"])
            found = result(service, run_id=accepted["run_id"])
    finally:
        model.latency = 0.0
    assert (job["status"], job["counts"]) == ("succeeded", {"succeeded": len(TURNS)})
    assert categories(found["turns"]) == categories(GOLD)
    ended = [one.data["turn_id"] for one in events if one.kind == "turn.finished"]
    assert ended == TURNS
    texts = {one.turn_id: one.text for one in sample_dialogue().turns}
    times = taken_apart(model, asked)
    assert [times[texts[one]] for one in TURNS] == [1] * 6 + [2] + [1] * (len(TURNS) - 7)


def test_a_dialogue_that_is_deleted_ends_its_job(
    service: ServiceProcess, model: ModelServer, home: Veritrail
) -> None:
    name = "lindholm-deleted"
    home("ingest", str(SAMPLE), "--process-id", name)
    calls = Calls(service.url)
    asked = len(model.requests)
    model.latency = lambda _one: 1.5
    try:
        accepted = submitted(service, dialogue_id=name, **FROM_MODEL).json()
        until(lambda: len(model.requests) > asked)
        refused = service.delete(f"/v1/processes/{name}")
        assert refused.status_code == 409
        assert accepted["job_id"] in refused.text
        assert service.delete(f"/v1/processes/{name}?force=true").status_code == 204
        model.latency = 0.0
        job = calls.wait(accepted["job_id"])
    finally:
        model.latency = 0.0
    assert job["status"] == "cancelled"
    assert "succeeded" not in job["counts"]
    assert name in job["error"]


@pytest.mark.parametrize("kind", ["service", "in process"])
def test_clients_verify_dialogues_and_read(
    kind: str, service: ServiceProcess, home: Veritrail, model: ModelServer, begun: httpx2.Response
) -> None:
    run_id = begun.json()["run_id"]
    local = settings_of(home.environment(asking(model)))
    with Client(service.url) if kind == "service" else Local(local) as client:
        job = client.verify_dialogue(DIALOGUE, TURNS[:2], turn_check=True).wait(60)
        assert (job.status, job.counts) == ("succeeded", {"succeeded": 2}), job.state
        assert "2 turn(s)" in repr(job)
        ended = [one.data["turn_id"] for one in job.events() if one.kind == "turn.finished"]
        assert ended == TURNS[:2]
        assert client.dialogue_runs(DIALOGUE)[0].run_id == job.run_id
        begun_turns = client.dialogue(DIALOGUE, run_id=job.run_id).json_object()["turns"]
        assert categories(begun_turns) == categories(GOLD[:2])
        found = client.dialogue(DIALOGUE, run_id=run_id)
        assert categories(found.json_object()["turns"]) == categories(GOLD)
        assert "contradicted</span>  The Lindholm Tram Museum is open" in found._repr_html_()
        pages = client.verified_turns(DIALOGUE, run_id=run_id, page=4).all()
        assert tuple(pages) == found.turns
        pages = client.verified_turns(DIALOGUE, run_id=run_id, from_turn="t23", page=2).all()
        assert [one.turn_id for one in pages] == ["t24", "t26", "t28", "t30"]
        assert tuple(client.turns(DIALOGUE, page=7).all()) == sample_dialogue().turns
        with pytest.raises(Rejected, match="cannot be verified"):
            client.verify_dialogue(DIALOGUE, "t1")
        with pytest.raises(Rejected):
            client.verify_dialogue(DIALOGUE, facts=-1)
        with pytest.raises(Missing, match="has no run"):
            client.dialogue(DIALOGUE, run_id="r-none")


def test_a_job_in_process_is_stopped_and_gone_on_with(home: Veritrail, model: ModelServer) -> None:
    with Local(settings_of(home.environment(asking(model)))) as client:
        stuck_behind(model, 2)
        try:
            job = client.verify_dialogue(DIALOGUE, SOME, **FROM_MODEL)
            until(lambda: job.refresh().counts.get("succeeded") == 2)
            job.cancel().wait(20)
        finally:
            model.latency = 0.0
        assert (job.status, job.counts) == (
            "cancelled", {"succeeded": 2, "cancelled": len(SOME) - 2}
        )  # fmt: skip
        assert job.resume().wait(60).status == "succeeded"
        found = client.dialogue(DIALOGUE, run_id=job.run_id)
        assert categories(found.json_object()["turns"]) == categories(GOLD[: len(SOME)])
