"""An entailment model behind a real server on loopback: forms, retries, windows, wrong answers."""

from __future__ import annotations

import asyncio
import json

import pytest
from fakes.byte_server import http, serving

from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.verifier.models.json_endpoint import JsonEndpoint
from veritrail_graph.verifier.models.language_model import LanguageModel, Warm
from veritrail_graph.verifier.models.port import EndpointRefused, Meter, ModelError
from veritrail_graph.verifier.models.retrying import Patience
from veritrail_graph.verifier.nli.endpoint import RemoteModel
from veritrail_graph.verifier.nli.port import Entailment, Pair

PATIENCE = Patience(deadline=5, attempt_timeout=2, unreachable=0.2, base=0.01, cap=0.02)


def judge(pair):
    """The share of the hypothesis' words in the premise, as a probability."""
    said = pair["hypothesis"].split()
    share = sum(word in pair["premise"].split() for word in said) / max(len(said), 1)
    return {"entailment": share, "neutral": 1 - share, "contradiction": 0.0}


def own(body):
    return http(200, {"probabilities": [judge(one) for one in body["pairs"]]})


def tei(body):
    rows = []
    for premise, hypothesis in body["inputs"]:
        found = judge({"premise": premise, "hypothesis": hypothesis})
        rows.append([{"label": name, "score": found[name]} for name in sorted(found, reverse=True)])
    return http(200, rows)


def asked(reply, *pairs, path="/judge", meter=None, key=None, **how):
    """What a model behind a server that replies so says, and what the server was sent."""

    async def story():
        async with serving(reply) as server:
            url = f"http://127.0.0.1:{server.port}{path}"
            endpoint = JsonEndpoint(url, key, attempt_timeout=2)
            model = LanguageModel(endpoint, url, patience=PATIENCE, answer_retries=1, warm=Warm.OFF)
            try:
                remote = RemoteModel(model, **how)
                found = await remote.predict([Pair(*one) for one in pairs], meter or Meter())
            finally:
                await model.close()
            return found, server

    return asyncio.run(story())


PAIRS = (("the ferry sailed", "ferry sailed"), ("tea", "ferry"), ("ferry", "ferry sailed"))


@pytest.mark.parametrize(
    ("reply", "path"), [(own, "/judge"), (tei, "/predict"), (tei, "/v1/predict/")]
)
def test_both_forms_give_the_same_probabilities(reply, path):
    found, server = asked(reply, *PAIRS, path=path)
    assert [one.entailment for one in found] == [1.0, 0.0, 0.5]
    assert found[1] == Entailment(0.0, 1.0, 0.0)
    assert len(server.bodies) == 1


def test_support_alone_is_enough():
    reply = http(200, {"probabilities": [{"support": 0.7}]})
    assert asked(reply, ("a", "b"))[0] == [Entailment(0.7)]
    reply = http(200, {"probabilities": [{"entailment": 0.7}]})
    assert asked(reply, ("a", "b"))[0] == [Entailment(0.7)]


def test_many_pairs_go_in_batches_each_once_and_every_call_is_recorded():
    meter = Meter()
    pairs = [(f"ferry {number % 70}", "ferry") for number in range(140)]
    found, server = asked(own, *pairs, meter=meter)
    assert [one.entailment for one in found] == [1.0] * 140
    assert sorted(len(body["pairs"]) for body in server.bodies) == [6, 32, 32]
    assert meter.total.calls == 3
    assert meter.total.cost_usd is None  # unknown is not 0
    assert [step.step for step in meter.steps] == ["entailment"]


def test_a_long_premise_is_sent_in_windows_and_the_strongest_counts():
    text = " ".join([*["tea"] * 400, "ferry", "sailed", *["coal"] * 400])
    found, server = asked(own, (text, "ferry sailed"), window=50)
    assert found[0].entailment == 1.0
    sent = [one["premise"].split() for body in server.bodies for one in body["pairs"]]
    assert max(map(len, sent)) == 50


def test_labels_without_a_meaning_are_named_by_a_person():
    row = [{"label": "LABEL_2", "score": 0.1}, {"label": "LABEL_0", "score": 0.6},
           {"label": "LABEL_1", "score": 0.3}]  # fmt: skip
    reply = http(200, [row])
    with pytest.raises(VeriTrailError, match="which of them means entailment is not known"):
        asked(reply, ("a", "b"), path="/predict")
    found, _ = asked(reply, ("a", "b"), path="/predict", labels="contradiction,neutral,entailment")
    assert found == [Entailment(0.1, 0.3, 0.6)]


def test_a_fault_is_retried_until_the_server_answers():
    replies = iter([http(503, {}), http(429, {}), b"", own])

    def reply(body):
        one = next(replies)
        return one(body) if callable(one) else one

    found, server = asked(reply, *PAIRS)
    assert found[0].entailment == 1.0
    assert len(server.bodies) == 4


@pytest.mark.parametrize(
    "answer",
    [
        {"probabilities": []},
        {"probabilities": [{"entailment": 1.2}]},
        {"probabilities": [{"neutral": 1.0}]},
        {"probabilities": ["0.4"]},
        {"scores": [0.4]},
        [[{"label": "entailment"}]],
        b'{"probabilities": [{"entailment": NaN}]}',
        b"<html>",
        b"[" * 100_000,
    ],
)
def test_what_is_no_probability_is_no_answer(answer):
    with pytest.raises(ModelError, match="no valid answer to entailment in 2 attempts"):
        asked(http(200, answer), ("a", "b"))


@pytest.mark.parametrize(("status", "match"), [(401, "key"), (404, "address"), (302, "redirect")])
def test_a_refusal_ends_the_run(status, match):
    with pytest.raises(EndpointRefused, match=match):
        asked(http(status, {}), ("a", "b"))


def test_a_window_that_is_too_long_says_how_long_it_was():
    with pytest.raises(ModelError, match="it reads less than windows of 250 words"):
        asked(http(413, {"error": "too many tokens"}), ("a", "b"))


def test_the_key_is_sent_and_never_shown():
    found, server = asked(own, *PAIRS, key="secret-1234")
    assert found
    assert "authorization: bearer secret-1234" in server.heads[0].lower()
    with pytest.raises(ModelError) as error:
        asked(http(400, {"error": "bad key secret-1234"}), ("a", "b"), key="secret-1234")
    assert "secret-1234" not in str(error.value)


def test_a_server_that_is_not_there_is_unreachable():
    async def story():
        endpoint = JsonEndpoint("http://127.0.0.1:1/judge")
        model = LanguageModel(endpoint, "m", patience=PATIENCE, warm=Warm.OFF)
        try:
            await RemoteModel(model).predict([Pair("a", "b")], Meter())
        finally:
            await model.close()

    with pytest.raises(EndpointRefused, match="could not be reached from the first call on"):
        asyncio.run(story())


def test_no_pairs_need_no_call():
    found, server = asked(own)
    assert found == []
    assert server.connections == 0


def test_texts_of_any_characters_arrive_as_they_are():
    texts = 'a "quoted" \\ text\nwith \u2028 breaks and \U0001f600', "b"
    _, server = asked(own, texts)
    assert server.bodies[0]["pairs"] == [{"premise": texts[0], "hypothesis": "b"}]
    assert json.dumps(server.bodies[0])
