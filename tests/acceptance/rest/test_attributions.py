"""Attributions over REST and through clients: jobs, what is stored, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from acceptance.command import Veritrail, process_file
from acceptance.homes import home_beside
from acceptance.model_fixtures import MODEL, asking
from acceptance.rest.job_calls import Calls
from fakes.attributing import FERRY, HALVES, SAMPLE, AttributionReader, by_parts, gold_sentences
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
RECHECKED, WALKED = "rechecked-by-jobs", "rechecked-by-walks"
"""The sample with one sentence in its summary, twice: the wordings of one test stay."""
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
        short = json.loads(SAMPLE.read_text(encoding="utf-8"))
        short["nodes"][-1]["text"] = FERRY
        path.write_text(json.dumps(short), encoding="utf-8")
        for name in (RECHECKED, WALKED):
            own("ingest", str(path), "--process-id", name)
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


@pytest.fixture(scope="module")
def begun(service: ServiceProcess) -> httpx2.Response:
    """The answer to the start of a job that attributes, judges and corrects, and has ended."""
    answer = submitted(service, process_id=PROCESS, judge=True, correct=True, price="1,2")
    assert answer.status_code == 202, answer.text
    Calls(service.url).followed(answer.json()["job_id"])
    return answer


def test_a_job_attributes_sentences_and_each_is_told_and_stored(
    service: ServiceProcess, home: Veritrail, begun: httpx2.Response
) -> None:
    accepted = begun.json()
    assert (accepted["node_ids"], accepted["sentences"]) == (["summary"], SENTENCES)
    calls = Calls(service.url)
    assert begun.headers["location"] == f"/v1/jobs/{accepted['job_id']}"
    events = calls.listed(accepted["job_id"])
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


def test_a_page_of_sentences_has_a_cursor(service: ServiceProcess, begun: httpx2.Response) -> None:
    first = attributions(service, limit=4)
    rest = attributions(service, limit=4, cursor=first["nextCursor"])
    numbers = [one["sentence"] for one in (*first["attributions"], *rest["attributions"])]
    assert (numbers, rest["nextCursor"]) == (list(range(SENTENCES)), None)
    run = begun.json()["run_id"]
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


def test_what_cannot_be_attributed_is_refused_and_begins_nothing(service: ServiceProcess) -> None:
    before = job_ids(service)
    refused: list[tuple[dict[str, Any], int, str]] = [
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
    ]
    for body, status, message in refused:
        answer = submitted(service, **{"process_id": "attribute-odd-rest", **body})
        assert answer.status_code == status, (body, answer.text)
        assert message in answer.text, body
    assert job_ids(service) == before


def test_what_cannot_be_read_is_refused(service: ServiceProcess) -> None:
    path = f"/v1/processes/{PROCESS}/attributions"
    assert service.get(path).status_code == 422  # no node
    assert service.get(path, params={"node_id": "zz"}).status_code == 404
    assert service.get(path, params={"node_id": "summary", "run_id": "?"}).status_code == 422
    assert service.get("/v1/processes/nowhere/attributed-nodes").status_code == 404


def test_a_failed_sentence_is_asked_again_alone_and_another_attribution_takes_its_label_away(
    service: ServiceProcess, model: ModelServer, begun: httpx2.Response
) -> None:
    """Neither an id out of range nor a category that there is not becomes an empty attribution."""
    assert begun.json()["sentences"] == SENTENCES  # all of them were judged before
    gold = gold_sentences()
    both = {"attributions": [{"sentence_id": 0, "categories": ["EVIDENCE", "CONTRADICTION"]}]}
    bad = {
        gold[0]["text"]: both,
        gold[1]["text"]: {"attributions": [{"sentence_id": 99, "categories": ["EVIDENCE"]}]},
        gold[2]["text"]: {"attributions": [{"sentence_id": 3, "categories": ["NONE"]}]},
    }
    before, model.reader = model.reader, AttributionReader(bad)
    calls = Calls(service.url)
    try:
        accepted = submitted(service, process_id=PROCESS, use_cache=False).json()
        job = calls.wait(accepted["job_id"])
    finally:
        model.reader = before
    assert job["status"] == "failed"
    assert job["counts"] == {"succeeded": SENTENCES - 2, "failed": 2}
    (warning,) = job["warnings"]
    assert warning.startswith("1 judged label(s) of earlier runs were removed")
    run = attributions(service, run_id=accepted["run_id"])["attributions"]
    assert [one["sentence"] for one in run] == [0, 3, 4, 5]
    assert run[0]["attributed"][0]["categories"] == ["EVIDENCE", "CONTRADICTION"]
    assert run[0]["implied_label"] == "UNFAITHFUL"
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


def test_a_job_stops_at_its_limit_and_when_it_is_cancelled_keeps_what_is_finished_and_goes_on(
    service: ServiceProcess, model: ModelServer
) -> None:
    calls = Calls(service.url)
    accepted = submitted(service, process_id=PROCESS, max_calls=2, use_cache=False).json()
    job = calls.wait(accepted["job_id"])
    assert job["counts"] == {"succeeded": 2, "over_budget": SENTENCES - 2}
    assert job["usage"]["calls"] == 2
    path = f"/v1/jobs/{job['job_id']}"
    asked, model.latency = len(model.requests), 60.0
    try:
        assert service.post(f"{path}:resume", json={"max_calls": 100}).status_code == 200
        until(lambda: len(model.requests) > asked)
        assert service.post(f"{path}:cancel").status_code == 200
        job = calls.wait(job["job_id"], seconds=10)
    finally:
        model.latency = 0.0
    assert job["status"] == "cancelled"
    assert job["counts"] == {"succeeded": 2, "cancelled": SENTENCES - 2}
    ended = [one.data for one in calls.listed(job["job_id"]) if one.kind == "sentence.finished"]
    assert Counter(one["status"] for one in ended) == {
        "succeeded": 2, "over_budget": SENTENCES - 2, "cancelled": SENTENCES - 2
    }  # fmt: skip
    assert len(attributions(service, run_id=accepted["run_id"])["attributions"]) == 2
    asked = len(model.requests)
    assert service.post(f"{path}:resume").status_code == 200
    assert calls.wait(job["job_id"])["counts"] == {"succeeded": SENTENCES}
    assert len(model.requests) == asked + SENTENCES - 2


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


@pytest.mark.parametrize("kind", ["service", "in process"])
def test_clients_attribute_propositions_choose_what_the_judge_sees_and_read(
    kind: str, service: ServiceProcess, home: Veritrail, model: ModelServer
) -> None:
    before = len(model.requests)
    local = settings_of(home.environment(asking(model)))
    with Client(service.url) if kind == "service" else Local(local) as client:
        model.latency = 60.0 if kind == "in process" else 0.0
        try:
            job = client.attribute(
                PROCESS, "summary", propositions=True, judge=True, correct=True, mode="plain",
                use_cache=False,
            )  # fmt: skip
            if kind == "in process":  # where it is stopped and gone on with, as in a service
                until(lambda: len(model.requests) > before)
                job.cancel().wait(20)
                assert (job.status, job.counts) == ("cancelled", {"cancelled": SENTENCES})
        finally:
            model.latency = 0.0
        if kind == "in process":
            before = len(model.requests)
            job.resume()
        job.wait(60)
        assert (job.status, job.counts) == ("succeeded", {"succeeded": SENTENCES}), job.state
        assert "sentences of 1 node(s)" in repr(job)
        kinds = Counter(event.kind for event in job.events() if event.data.get("status"))
        assert kinds["sentence.finished"] == SENTENCES * (1 if kind == "service" else 2)
        found = client.attributions(PROCESS, "summary", run_id=job.run_id, page=4).all()
        assert [one.label for one in found][:2] == ["FAITHFUL", "UNFAITHFUL"]
        first, second = found[-1].propositions
        assert [first.implied_label, second.implied_label] == ["FAITHFUL", "UNFAITHFUL"]
        assert [found[-1].text[start - found[-1].start : end - found[-1].start]
                for start, end in second.spans] == [*HALVES[1:]]  # fmt: skip
        assert [one.sentence for one in second.attributed] == [1]
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

    steps = Counter(one.step for one in model.requests[before:])
    assert steps["propositions"] == SENTENCES
    judged = [one.user for one in model.requests[before:] if one.step == "faithfulness"]
    assert all("Captain Lund" in user and "Marked:" not in user for user in judged)


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


@pytest.fixture(scope="module")
def explanation(service: ServiceProcess, model: ModelServer) -> tuple[dict[str, Any], int]:
    """A job that has explained its verdicts, and how often it asked the model."""
    asked = len(model.requests)
    before, model.reader = model.reader, Both(LINES)
    job = explained(service)
    model.reader = before
    return job, len(model.requests) - asked


def test_a_job_explains_its_verdicts_behind_them(
    service: ServiceProcess, explanation: tuple[dict[str, Any], int]
) -> None:
    job, asked = explanation
    assert (job["status"], job["counts"]) == ("succeeded", {"succeeded": 3})
    assert job["explanation"] == {"status": "succeeded", "error": None}
    assert len(job["verification_ids"]) == 3
    assert job["usage"]["calls"] == asked
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
    with Client(service.url) as client:
        explained_by = client.job(job["job_id"]).explanation
    assert explained_by is not None
    assert explained_by.status == "succeeded"


def test_an_explanation_without_money_or_answer_leaves_the_verdicts_and_goes_on(
    service: ServiceProcess, both: ModelServer, explanation: tuple[dict[str, Any], int]
) -> None:
    _, spent = explanation
    job = explained(service, max_calls=spent - 1)
    assert job["counts"] == {"succeeded": 3}
    assert (job["status"], job["explanation"]["status"]) == ("failed", "over_budget")
    assert "1 sentence(s) could not be attributed" in job["explanation"]["error"]
    calls = Calls(service.url)
    assert {one["verdict"] for one in calls.verifications(job)} == {
        "FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED"
    }  # fmt: skip

    def speechless(step: str, *rest: Any) -> Any:
        return "no object" if step == "attribution" else Both(LINES)(step, *rest)

    reader, both.reader = both.reader, speechless
    path = f"/v1/jobs/{job['job_id']}:resume"
    assert service.post(path, json={"max_calls": spent + 9}).status_code == 200
    job = calls.wait(job["job_id"])
    assert (job["status"], job["counts"]) == ("failed", {"succeeded": 3})
    assert job["explanation"]["status"] == "failed"
    asked, both.reader = len(both.requests), reader
    assert service.post(path).status_code == 200
    job = calls.wait(job["job_id"])
    assert (job["status"], job["explanation"]["status"]) == ("succeeded", "succeeded")
    assert len(both.requests) == asked + 1  # the sentence that was stored is not asked about again
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


def test_sentences_are_chosen_by_claims(
    service: ServiceProcess, both: ModelServer, explanation: tuple[dict[str, Any], int]
) -> None:
    assert explanation[0]["counts"] == {"succeeded": 3}  # so that there are verdicts
    calls = Calls(service.url)
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


def test_clients_recheck_by_walks_in_all_modes_and_explain(
    service: ServiceProcess, home: Veritrail, both: ModelServer
) -> None:
    wordings = {
        "plain": "The Skerra ferry carried 41,000 passengers last year and sank.",
        "highlighted": "The Skerra ferry carried 41,000 passengers last year.",
        "attribution": "The Skerra ferry vanished and sank.",
    }
    both.reader = Both(corrections=wordings)
    with Client(service.url) as client:
        job = client.attribute(
            WALKED, correct=True, recheck="walk", every_mode=True, use_cache=False
        ).wait(60)
        assert (job.status, job.counts) == ("succeeded", {"succeeded": 1}), job.state
        (found,) = client.attributions(WALKED, "summary", run_id=job.run_id).all()
        ranks = {one.mode: (one.outcome, one.rechecked_by, one.rank) for one in found.revisions}
        assert ranks == {
            "attribution": ("not", "walk", 3), "plain": ("partly", "walk", 2),
            "highlighted": ("fixed", "walk", 1),
        }  # fmt: skip
    both.reader = Both(LINES)
    with Local(settings_of(home.environment(asking(both)))) as local:
        job = local.verify(EXPLAINED, explain=True, again=True).wait(60)
        assert job.explanation is not None
        assert (job.explanation.status, job.counts) == ("succeeded", {"succeeded": 3})


def test_a_failed_recheck_is_a_failure_and_no_outcome(
    service: ServiceProcess, both: ModelServer
) -> None:
    broken: list[str] = ["faithfulness"]

    def reader(step: str, *rest: Any) -> Any:
        return "no object" if step in broken else AttributionReader()(step, *rest)

    both.reader = reader
    calls = Calls(service.url)
    asked = {"process_id": RECHECKED, "correct": True, "recheck": "judge", "use_cache": False}
    accepted = submitted(service, **asked).json()
    job = calls.wait(accepted["job_id"])
    assert (job["status"], job["counts"]) == ("failed", {"succeeded": 1})
    assert "1 sentence(s) are stored, but their judgement" in job["warnings"][0]
    found = attributions(service, process=RECHECKED, run_id=accepted["run_id"])["attributions"]
    assert {one["outcome"] for sentence in found for one in sentence["revisions"]} == {None}
    broken.clear()
    assert service.post(f"/v1/jobs/{job['job_id']}:resume").status_code == 200
    job = calls.wait(job["job_id"])
    assert (job["status"], job["warnings"]) == ("succeeded", [])
    found = attributions(service, process=RECHECKED, run_id=accepted["run_id"])["attributions"]
    assert {one["outcome"] for sentence in found for one in sentence["revisions"]} == {"fixed"}
