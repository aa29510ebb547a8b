"""Attributions over REST and through clients: jobs, what is stored, and what is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from acceptance.command import Veritrail, process_file
from acceptance.conftest import home_beside
from acceptance.model_fixtures import MODEL, asking
from acceptance.rest.job_calls import Calls
from fakes.attributing import HALVES, SAMPLE, AttributionReader, by_parts, gold_sentences
from fakes.explaining import LINES, MAY, NOWHERE, TWISTED, WILL, Both
from fakes.model_server import ModelServer
from fakes.service_process import ServiceProcess, serving
from fakes.settings_of import settings_of
from fakes.waiting import until

from veritrail_graph import Client, Local
from veritrail_graph.api.client import Missing, Rejected

pytestmark = pytest.mark.engine

PROCESS = "attributed-by-jobs"  # of its own: modules share an engine
EXPLAINED = "explained-by-jobs"
SENTENCES = len(gold_sentences())


@pytest.fixture(scope="module")
def home(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Veritrail]:
    path = tmp_path_factory.mktemp("odd") / "attribute-odd-rest.json"
    odd = process_file(
        path,
        nodes=[
            {"node_id": "r", "text": "The pier is 80 metres long. It rained.", "stage": 1},
            {"node_id": "u", "text": "Somebody said so.", "stage": 2, "origin": "given"},
            {"node_id": "t", "text": "The pier is 80 metres long.", "stage": 3},
            {"node_id": "e", "text": " \n", "stage": 3},
        ],
        edges=[
            {"source": source, "target": target}
            for source, target in (("r", "t"), ("u", "t"), ("r", "e"))
        ],
    )
    with home_beside(veritrail) as own:
        own("ingest", odd)
        own("ingest", process_file(path.with_name(f"{EXPLAINED}.json"), **TWISTED))
        own("ingest", str(SAMPLE), "--process-id", PROCESS)
        yield own


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer(by_parts()) as server:
        yield server


@pytest.fixture(scope="module")
def service(home: Veritrail, model: ModelServer) -> Iterator[ServiceProcess]:
    with serving(home, env=asking(model, VERITRAIL_ANSWER_RETRIES="1")) as running:
        running.until_ready()
        yield running


def submitted(service: ServiceProcess, key: str | None = None, **body: Any) -> httpx2.Response:
    headers = {"Idempotency-Key": key} if key else {}
    return service.post("/v1/attributions", json=body, headers=headers)


def job_ids(service: ServiceProcess) -> list[str]:
    return [one["job_id"] for one in service.get("/v1/jobs").json()["jobs"]]


def attributions(
    service: ServiceProcess, node: str = "summary", process: str = PROCESS, **more: Any
) -> dict[str, Any]:
    path = f"/v1/processes/{process}/attributions"
    answer = service.get(path, params={"node_id": node, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_job_attributes_sentences_and_each_is_told_and_stored(
    service: ServiceProcess, home: Veritrail
) -> None:
    answer = submitted(service, process_id=PROCESS, judge=True, correct=True, price="1,2")
    assert answer.status_code == 202, answer.text
    accepted = answer.json()
    assert (accepted["node_ids"], accepted["sentences"]) == (["summary"], SENTENCES)
    calls = Calls(service.url)
    assert answer.headers["location"] == f"/v1/jobs/{accepted['job_id']}"
    events = calls.followed(accepted["job_id"])
    job = calls.job(accepted["job_id"])
    assert (job["kind"], job["status"], job["error"]) == ("attribution", "succeeded", None)
    assert (job["counts"], job["verification_ids"]) == ({"succeeded": SENTENCES}, [])
    assert job["usage"]["calls"] == 19  # 6 attributed, 9 judged, 4 corrected
    assert job["usage"]["cost_usd"] > 0
    kinds = Counter(one.kind for one in events)
    assert kinds["sentence.started"] == kinds["sentence.finished"] == SENTENCES
    assert events[-1].kind == "job.finished"
    ended = {one.data["sentence"]: one.data for one in events if one.kind == "sentence.finished"}
    assert ended[2]["categories"] == ["CONTRADICTION"]
    assert ended[4]["attributed"] == 0
    assert {one["node_id"] for one in ended.values()} == {"summary"}
    assert "verification_id" not in ended[0]
    found = attributions(service)
    for one, gold in zip(found["attributions"], gold_sentences(), strict=True):
        assert {name: one[name] for name in gold} == gold
        assert (one["run_id"], one["engine"], one["model"]) == (
            accepted["run_id"], "openai", MODEL
        )  # fmt: skip
    nodes = service.get(f"/v1/processes/{PROCESS}/attributed-nodes").json()
    (node,) = nodes["attributed_nodes"]
    assert (node["node_id"], node["sentences"], node["unfaithful"]) == ("summary", SENTENCES, 5)
    page = service.get(f"/jobs/{job['job_id']}").text
    assert "<h1>Attribution</h1>" in page
    assert f"{SENTENCES} of {SENTENCES} sentences" in page
    assert "summary, sentence 0" in page
    assert "Attribution, by" in service.get("/jobs").text
    # No list of verifications shows the job, and the command does not take it for one.
    told = home("list", PROCESS, "--json").json
    assert told["runs"] == []
    refused = home("verify", "--resume", accepted["run_id"], status=2)
    assert "attributed sentences" in refused.err


def test_a_page_of_sentences_has_a_cursor(service: ServiceProcess) -> None:
    Calls(service.url).wait(submitted(service, process_id=PROCESS).json()["job_id"])
    first = attributions(service, limit=4)
    rest = attributions(service, limit=4, cursor=first["nextCursor"])
    numbers = [one["sentence"] for one in (*first["attributions"], *rest["attributions"])]
    assert (numbers, rest["nextCursor"]) == (list(range(SENTENCES)), None)
    run = first["attributions"][0]["run_id"]
    assert len(attributions(service, run_id=run)["attributions"]) == SENTENCES
    assert attributions(service, run_id="r-none")["attributions"] == []


def test_the_same_key_and_body_is_the_same_job(service: ServiceProcess) -> None:
    first, again = (submitted(service, "the key", process_id=PROCESS) for _ in range(2))
    assert first.json() == again.json()
    spelt = submitted(service, "the key", process_id=PROCESS, against="inputs", judge=False)
    assert spelt.json() == first.json()
    other = submitted(service, "the key", process_id=PROCESS, against="roots")
    assert other.status_code == 409
    assert other.json()["type"] == "urn:veritrail:problem:idempotency-conflict"
    to_verify = {"process_id": PROCESS}
    other = service.post(
        "/v1/verifications", json=to_verify, headers={"Idempotency-Key": "the key"}
    )
    assert other.status_code == 409


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"node_ids": ["r"]}, 422, "is a root"),
        ({"node_ids": ["u"]}, 422, "has no source nodes"),
        ({"node_ids": ["e"]}, 422, "has no text to attribute"),
        ({"node_ids": ["t", "r"]}, 422, "is a root"),
        ({"node_ids": ["zz"]}, 404, "has no node 'zz'"),
        ({"node_ids": []}, 422, "node_ids"),
        ({"node_ids": ["t"] * 1_001}, 422, "node_ids"),
        ({"against": "sources"}, 422, "against"),
        ({"engine": "no-such"}, 422, "no-such"),
        ({"engine": "lexical", "judge": True}, 422, "need a language model"),
        ({"engine": "lexical", "model": "m"}, 422, "A model is named"),
        ({"process_id": "nowhere"}, 404, "nowhere"),
        ({"prompts": "/etc"}, 422, "prompts"),
        ({"budget_usd": 1}, 422, "price"),
        ({"node_ids": ["t"], "claim_ids": ["k1"]}, 422, "leave `node_ids` out"),
        ({"claim_ids": ["k1"], "unsupported": True}, 404, "has no claim 'k1'"),
        ({"unsupported": True}, 422, "no error node is known"),
        ({"claim_ids": []}, 422, "claim_ids"),
        ({"engine": "lexical", "propositions": True}, 422, "propositions needs a language model"),
        ({"mode": "plain"}, 422, "Nothing is judged or corrected"),
        ({"recheck": "walk"}, 422, "Set `correct`"),
        ({"every_mode": True}, 422, "Set `correct`"),
        ({"recheck": "nobody", "correct": True}, 422, "recheck"),
    ],
)
def test_what_cannot_be_attributed_is_refused_and_begins_nothing(
    service: ServiceProcess, body: dict[str, Any], status: int, message: str
) -> None:
    before = job_ids(service)
    answer = submitted(service, **{"process_id": "attribute-odd-rest", **body})
    assert answer.status_code == status, answer.text
    assert message in answer.text
    assert job_ids(service) == before


def test_what_cannot_be_read_is_refused(service: ServiceProcess) -> None:
    path = f"/v1/processes/{PROCESS}/attributions"
    assert service.get(path).status_code == 422  # no node
    assert service.get(path, params={"node_id": "zz"}).status_code == 404
    assert service.get(path, params={"node_id": "summary", "run_id": "?"}).status_code == 422
    assert service.get("/v1/processes/nowhere/attributed-nodes").status_code == 404


def test_a_failed_sentence_is_failed_and_asked_again_alone(
    service: ServiceProcess, model: ModelServer
) -> None:
    """Neither an id out of range nor a category that there is not becomes an empty attribution."""
    gold = gold_sentences()
    bad = {
        gold[1]["text"]: {"attributions": [{"sentence_id": 99, "categories": ["EVIDENCE"]}]},
        gold[2]["text"]: {"attributions": [{"sentence_id": 3, "categories": ["NONE"]}]},
    }
    reader = AttributionReader(bad)
    before, model.reader = model.reader, reader
    calls = Calls(service.url)
    try:
        accepted = submitted(service, process_id=PROCESS, use_cache=False).json()
        job = calls.wait(accepted["job_id"])
    finally:
        model.reader = before
    assert job["status"] == "failed"
    assert job["counts"] == {"succeeded": SENTENCES - 2, "failed": 2}
    run = attributions(service, run_id=accepted["run_id"])["attributions"]
    assert [one["sentence"] for one in run] == [0, 3, 4, 5]
    events = [one.data for one in calls.listed(job["job_id"]) if one.kind == "sentence.finished"]
    failed = {one["sentence"]: one for one in events if one["status"] == "failed"}
    assert set(failed) == {1, 2}
    assert {one["implied_label"] for one in failed.values()} == {None}
    asked = len(model.requests)
    assert service.post(f"/v1/jobs/{job['job_id']}:resume").status_code == 200
    job = calls.wait(job["job_id"])
    assert (job["status"], job["counts"]) == ("succeeded", {"succeeded": SENTENCES})
    assert len(model.requests) == asked + 2
    assert len(attributions(service, run_id=accepted["run_id"])["attributions"]) == SENTENCES


def test_evidence_and_contradiction_of_one_sentence_are_both_kept(
    service: ServiceProcess, model: ModelServer
) -> None:
    both = {"attributions": [{"sentence_id": 0, "categories": ["EVIDENCE", "CONTRADICTION"]}]}
    before, model.reader = model.reader, AttributionReader({gold_sentences()[0]["text"]: both})
    try:
        Calls(service.url).wait(
            submitted(service, process_id=PROCESS, use_cache=False).json()["job_id"]
        )
    finally:
        model.reader = before
    first = attributions(service)["attributions"][0]
    assert first["attributed"][0]["categories"] == ["EVIDENCE", "CONTRADICTION"]
    assert first["implied_label"] == "UNFAITHFUL"


def test_calls_beyond_the_limit_are_over_budget_and_more_may_be_allowed(
    service: ServiceProcess,
) -> None:
    calls = Calls(service.url)
    accepted = submitted(service, process_id=PROCESS, max_calls=2, use_cache=False).json()
    job = calls.wait(accepted["job_id"])
    assert job["counts"] == {"succeeded": 2, "over_budget": SENTENCES - 2}
    assert job["usage"]["calls"] == 2
    path = f"/v1/jobs/{job['job_id']}:resume"
    assert service.post(path, json={"max_calls": 100}).status_code == 200
    job = calls.wait(job["job_id"])
    assert (job["counts"], job["usage"]["calls"]) == ({"succeeded": SENTENCES}, SENTENCES)


def test_a_cancelled_job_keeps_what_is_finished_and_goes_on(
    service: ServiceProcess, model: ModelServer
) -> None:
    calls = Calls(service.url)
    asked = len(model.requests)
    model.latency = lambda one: 60.0 if one.number >= asked + 2 else 0.0
    try:
        accepted = submitted(service, process_id=PROCESS, use_cache=False).json()
        until(lambda: calls.job(accepted["job_id"])["counts"].get("succeeded") == 2)
        assert service.post(f"/v1/jobs/{accepted['job_id']}:cancel").status_code == 200
        job = calls.wait(accepted["job_id"], seconds=10)
    finally:
        model.latency = 0.0
    assert job["status"] == "cancelled"
    assert job["counts"] == {"succeeded": 2, "cancelled": SENTENCES - 2}
    ended = [one.data for one in calls.listed(job["job_id"]) if one.kind == "sentence.finished"]
    assert len(ended) == SENTENCES
    assert len(attributions(service, run_id=accepted["run_id"])["attributions"]) == 2
    assert service.post(f"/v1/jobs/{job['job_id']}:resume").status_code == 200
    assert calls.wait(job["job_id"])["counts"] == {"succeeded": SENTENCES}


@pytest.mark.soak
def test_a_job_that_was_killed_goes_on_and_asks_nothing_twice_that_was_stored(
    home: Veritrail, model: ModelServer
) -> None:
    asked = len(model.requests)
    model.latency = lambda one: 3.0 if one.number >= asked + 3 else 0.0
    try:
        with serving(home, env=asking(model), child=True) as service:
            service.until_ready()
            calls = Calls(service.url)
            body = {"process_id": PROCESS, "use_cache": False}
            accepted = service.post("/v1/attributions", json=body).json()
            until(lambda: calls.job(accepted["job_id"])["counts"].get("succeeded", 0) >= 3)
            service.kill()
            model.latency = 0.0
            service.start()
            job = calls.wait(accepted["job_id"])
    finally:
        model.latency = 0.0
    assert (job["status"], job["counts"]) == ("succeeded", {"succeeded": SENTENCES})
    texts = Counter(one.body["messages"][-1]["content"] for one in model.requests[asked:])
    assert sum(texts.values()) <= SENTENCES + 3
    assert len([one for one in texts.values() if one == 1]) >= 3


def test_a_process_that_is_deleted_ends_its_job(
    service: ServiceProcess, model: ModelServer, home: Veritrail
) -> None:
    calls = Calls(service.url)
    asked = len(model.requests)
    model.latency = lambda one: 1.5 if one.number >= asked else 0.0
    try:
        accepted = submitted(service, process_id=PROCESS, use_cache=False).json()
        until(lambda: len(model.requests) > asked)
        refused = service.delete(f"/v1/processes/{PROCESS}")
        assert refused.status_code == 409
        assert accepted["job_id"] in refused.text
        assert service.delete(f"/v1/processes/{PROCESS}?force=true").status_code == 204
        job = calls.wait(accepted["job_id"])
    finally:
        model.latency = 0.0
        home("ingest", str(SAMPLE), "--process-id", PROCESS)
    assert job["status"] == "cancelled"
    assert "succeeded" not in job["counts"]
    assert PROCESS in job["error"]
    assert attributions(service)["attributions"] == []


@pytest.mark.parametrize("kind", ["service", "in process"])
def test_clients_attribute_and_read(
    kind: str, service: ServiceProcess, home: Veritrail, model: ModelServer
) -> None:
    local = settings_of(home.environment(asking(model)))
    with Client(service.url) if kind == "service" else Local(local) as client:
        job = client.attribute(PROCESS, "summary", judge=True, correct=True).wait(60)
        assert (job.status, job.counts) == ("succeeded", {"succeeded": SENTENCES}), job.state
        assert "sentences of 1 node(s)" in repr(job)
        kinds = Counter(event.kind for event in job.events())
        assert kinds["sentence.finished"] == SENTENCES
        found = client.attributions(PROCESS, "summary", run_id=job.run_id, page=4).all()
        assert [one.label for one in found][:2] == ["FAITHFUL", "UNFAITHFUL"]
        assert found[1].correction == "The east quay may close in winter."
        (node,) = client.attributed_nodes(PROCESS).all()
        assert node.node_id == "summary"
        with pytest.raises(Rejected, match="cannot be attributed"):
            client.attribute("attribute-odd-rest", ["r"])
        with pytest.raises(Rejected):
            client.attribute(PROCESS, against="sources")  # type: ignore[arg-type]
        with pytest.raises(Rejected, match="threshold"):
            client.attribute(PROCESS, judge=True, judge_threshold=0.5)
        with pytest.raises(Rejected):
            client.attribute(PROCESS, judge_with="oracle")  # type: ignore[arg-type]
        with pytest.raises(Missing):
            client.attributions(PROCESS, "zz").all()


@pytest.mark.parametrize("kind", ["service", "in process"])
def test_clients_attribute_propositions_and_choose_what_the_judge_sees(
    kind: str, service: ServiceProcess, home: Veritrail, model: ModelServer
) -> None:
    before = len(model.requests)
    local = settings_of(home.environment(asking(model)))
    with Client(service.url) if kind == "service" else Local(local) as client:
        job = client.attribute(PROCESS, propositions=True, judge=True, mode="plain").wait(60)
        assert (job.status, job.counts) == ("succeeded", {"succeeded": SENTENCES}), job.state
        found = client.attributions(PROCESS, "summary", run_id=job.run_id).all()
    first, second = found[-1].propositions
    assert [first.implied_label, second.implied_label] == ["FAITHFUL", "UNFAITHFUL"]
    assert [found[-1].text[start - found[-1].start : end - found[-1].start]
            for start, end in second.spans] == [*HALVES[1:]]  # fmt: skip
    assert [one.sentence for one in second.attributed] == [1]
    if kind == "service":  # what comes later is from the cache of answers
        steps = Counter(one.step for one in model.requests[before:])
        assert steps["propositions"] == SENTENCES
        judged = [one.user for one in model.requests[before:] if one.step == "faithfulness"]
        assert all("Captain Lund" in user and "Marked:" not in user for user in judged)


def test_a_job_in_process_is_stopped_and_gone_on_with(home: Veritrail, model: ModelServer) -> None:
    with Local(settings_of(home.environment(asking(model)))) as client:
        model.latency = 60.0
        asked = len(model.requests)
        try:
            job = client.attribute(PROCESS, use_cache=False)
            until(lambda: len(model.requests) > asked)
            job.cancel().wait(20)
        finally:
            model.latency = 0.0
        assert (job.status, job.counts) == ("cancelled", {"cancelled": SENTENCES})
        assert job.resume().wait(60).status == "succeeded"


def test_terminals_that_are_left_out_are_named_with_the_reason(service: ServiceProcess) -> None:
    accepted = submitted(service, process_id="attribute-odd-rest", engine="lexical").json()
    assert accepted["node_ids"] == ["t"]
    assert accepted["left_out"] == [{"node_id": "e", "reason": "has no text to attribute"}]
    job = Calls(service.url).wait(accepted["job_id"])
    assert job["warnings"] == ["Left out: node 'e' has no text to attribute."]


def explained(service: ServiceProcess, **body: Any) -> dict[str, Any]:
    """A job that verifies the claims anew, asks a model anew, and explains them."""
    asked = {"explain": True, "again": True, "use_cache": False, **body}
    calls = Calls(service.url)
    return calls.wait(calls.submit(EXPLAINED, **asked))


@pytest.fixture
def both(model: ModelServer) -> Iterator[ModelServer]:
    """The model with answers for the steps of verification, too."""
    before, model.reader = model.reader, Both(LINES)
    yield model
    model.reader, model.latency = before, 0.0


def test_a_job_explains_its_verdicts_behind_them(
    service: ServiceProcess, both: ModelServer
) -> None:
    asked = len(both.requests)
    job = explained(service)
    assert (job["status"], job["counts"]) == ("succeeded", {"succeeded": 3})
    assert job["explanation"] == {"status": "succeeded", "error": None}
    assert len(job["verification_ids"]) == 3
    assert job["usage"]["calls"] == len(both.requests) - asked
    told = Calls(service.url).listed(job["job_id"])
    kinds = [one.kind for one in told]
    assert kinds[-2:] == ["explanation.finished", "job.finished"]
    behind = kinds[kinds.index("explanation.started") :]
    assert behind.count("sentence.finished") == 2
    assert "claim.finished" not in behind
    assert told[-2].data["sentences"] == {"succeeded": 2}
    path = f"/v1/processes/{EXPLAINED}/attributions"
    (found,) = service.get(path, params={"node_id": "notes"}).json()["attributions"]
    assert (found["run_id"], found["text"]) == (job["run_id"], WILL)
    assert [one["text"] for one in found["attributed"]] == [MAY]
    page = service.get(f"/jobs/{job['job_id']}").text
    assert "3 of 3 claims" in page
    assert "Explanation" in page


def test_an_explanation_without_money_leaves_the_verdicts_and_goes_on(
    service: ServiceProcess, both: ModelServer
) -> None:
    asked = len(both.requests)
    job = explained(service)
    spent = len(both.requests) - asked
    job = explained(service, max_calls=spent - 1)
    assert job["counts"] == {"succeeded": 3}
    assert (job["status"], job["explanation"]["status"]) == ("failed", "over_budget")
    assert "1 sentence(s) could not be attributed" in job["explanation"]["error"]
    calls = Calls(service.url)
    assert {one["verdict"] for one in calls.verifications(job)} == {
        "FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED"
    }  # fmt: skip
    asked = len(both.requests)
    resumed = service.post(f"/v1/jobs/{job['job_id']}:resume", json={"max_calls": spent + 9})
    assert resumed.status_code == 200
    job = calls.wait(job["job_id"])
    assert (job["status"], job["explanation"]["status"]) == ("succeeded", "succeeded")
    assert len(both.requests) == asked + 1  # the sentence that was stored is not asked about again


def test_a_failed_explanation_is_told_in_its_job(
    service: ServiceProcess, both: ModelServer
) -> None:
    def reader(step: str, *rest: Any) -> Any:
        return "no object" if step == "attribution" else Both(LINES)(step, *rest)

    both.reader = reader
    job = explained(service)
    assert (job["status"], job["counts"]) == ("failed", {"succeeded": 3})
    assert job["explanation"]["status"] == "failed"
    refused = service.post(
        "/v1/verifications", json={"process_id": EXPLAINED, "explain": True, "engine": "no-such"}
    )
    assert refused.status_code == 422


@pytest.mark.soak
def test_an_explanation_that_was_killed_asks_nothing_twice_that_was_stored(
    home: Veritrail, both: ModelServer
) -> None:
    asked = len(both.requests)

    def latency(one: Any) -> float:
        earlier = [each.step for each in both.requests[asked : one.number]]
        return 5.0 if one.step == "attribution" and earlier.count("attribution") else 0.0

    both.latency = latency
    settings = asking(both, VERITRAIL_CONCURRENCY="1")
    with serving(home, env=settings, child=True) as service:
        service.until_ready()
        calls = Calls(service.url)
        job_id = calls.submit(EXPLAINED, explain=True, again=True, use_cache=False)
        until(
            lambda: [one.kind for one in calls.listed(job_id)].count("sentence.finished") == 1,
        )
        service.kill()
        both.latency = 0.0
        service.start()
        job = calls.wait(job_id)
    assert (job["status"], job["explanation"]["status"]) == ("succeeded", "succeeded")
    sent = [one for one in both.requests[asked:] if one.step == "attribution"]
    texts = Counter(one.body["messages"][-1]["content"] for one in sent)
    assert sorted(texts.values()) in ([1, 1], [1, 2])  # only what was in flight is asked twice


def test_sentences_are_chosen_by_claims(service: ServiceProcess, both: ModelServer) -> None:
    calls = Calls(service.url)
    calls.wait(calls.submit(EXPLAINED, again=True))
    asked = {"process_id": EXPLAINED, "use_cache": False}
    one = submitted(service, **asked, claim_ids=["k1"]).json()
    assert (one["node_ids"], one["sentences"]) == (["notes"], 1)
    every = submitted(service, **asked, unsupported=True).json()
    assert (every["node_ids"], every["sentences"]) == (["notes", "t"], 2)
    assert calls.wait(every["job_id"])["counts"] == {"succeeded": 2}
    events = [one.data for one in calls.listed(every["job_id"]) if one.kind == "sentence.finished"]
    assert sorted((one["node_id"], one["sentence"]) for one in events) == [("notes", 1), ("t", 1)]
    with Client(service.url) as client:
        job = client.attribute(EXPLAINED, claim_ids="k3").wait(60)
        assert (job.state.node_ids, job.counts) == (["t"], {"succeeded": 1})
        (found,) = client.attributions(EXPLAINED, "t", run_id=job.run_id).all()
        assert found.text == NOWHERE


@pytest.mark.parametrize("kind", ["service", "in process"])
def test_clients_recheck_by_walks_in_all_modes_and_explain(
    kind: str, service: ServiceProcess, home: Veritrail, both: ModelServer
) -> None:
    wordings = {
        "plain": "The Skerra ferry carried 41,000 passengers last year and sank.",
        "highlighted": "The Skerra ferry carried 41,000 passengers last year.",
        "attribution": "The Skerra ferry vanished and sank.",
    }
    both.reader = Both(corrections=wordings)
    local = settings_of(home.environment(asking(both)))
    with Client(service.url) if kind == "service" else Local(local) as client:
        job = client.attribute(
            PROCESS, correct=True, recheck="walk", every_mode=True, use_cache=False
        ).wait(60)
        assert (job.status, job.counts) == ("succeeded", {"succeeded": SENTENCES}), job.state
        found = client.attributions(PROCESS, "summary", run_id=job.run_id).all()
        ranks = {one.mode: (one.outcome, one.rechecked_by, one.rank) for one in found[5].revisions}
        assert ranks == {
            "attribution": ("not", "walk", 3), "plain": ("partly", "walk", 2),
            "highlighted": ("fixed", "walk", 1),
        }  # fmt: skip
        both.reader = Both(LINES)
        job = client.verify(EXPLAINED, explain=True, again=True).wait(60)
        assert job.explanation is not None
        assert (job.explanation.status, job.counts) == ("succeeded", {"succeeded": 3})


def test_a_failed_recheck_is_a_failure_and_no_outcome(
    service: ServiceProcess, both: ModelServer, home: Veritrail
) -> None:
    name = "rechecked-by-jobs"  # without wordings of other tests
    home("ingest", str(SAMPLE), "--process-id", name)
    broken: list[str] = ["faithfulness"]

    def reader(step: str, *rest: Any) -> Any:
        return "no object" if step in broken else AttributionReader()(step, *rest)

    both.reader = reader
    calls = Calls(service.url)
    asked = {"process_id": name, "correct": True, "recheck": "judge", "use_cache": False}
    accepted = submitted(service, **asked).json()
    job = calls.wait(accepted["job_id"])
    assert (job["status"], job["counts"]) == ("failed", {"succeeded": SENTENCES})
    assert "4 sentence(s) are stored, but their judgement" in job["warnings"][0]
    found = attributions(service, process=name, run_id=accepted["run_id"])["attributions"]
    assert {one["outcome"] for sentence in found for one in sentence["revisions"]} == {None}
    broken.clear()
    assert service.post(f"/v1/jobs/{job['job_id']}:resume").status_code == 200
    job = calls.wait(job["job_id"])
    assert (job["status"], job["warnings"]) == ("succeeded", [])
    found = attributions(service, process=name, run_id=accepted["run_id"])["attributions"]
    assert {one["outcome"] for sentence in found for one in sentence["revisions"]} == {"fixed"}


def test_a_job_tells_of_judged_labels_that_it_removed(
    service: ServiceProcess, model: ModelServer
) -> None:
    calls = Calls(service.url)
    calls.wait(submitted(service, process_id=PROCESS, judge=True).json()["job_id"])
    other = {"attributions": [{"sentence_id": 3, "categories": ["EVIDENCE"]}]}
    before, model.reader = model.reader, AttributionReader({gold_sentences()[0]["text"]: other})
    try:
        job = calls.wait(submitted(service, process_id=PROCESS, use_cache=False).json()["job_id"])
    finally:
        model.reader = before
    (warning,) = job["warnings"]
    assert warning.startswith("1 judged label(s) of earlier runs were removed")
