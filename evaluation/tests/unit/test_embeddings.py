"""Embedding models: a real server on loopback, and a tiny ONNX graph of our own."""

from __future__ import annotations

import asyncio
import base64
import json
import math
import random
import struct
from contextlib import AsyncExitStack
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from eval_fakes.embedding import tiny_embedder
from fakes.byte_server import http, serving

from veritrail_eval.app.embeddings import (
    embedding_choice,
    embedding_price,
    open_embedder,
)
from veritrail_eval.embeddings.endpoint import BATCH, batches_of, read_vectors
from veritrail_eval.embeddings.local import embedding_folder, open_embedding_folder
from veritrail_eval.embeddings.port import weighted_mean
from veritrail_eval.methods.memory import Memory, SharedEmbedder
from veritrail_graph.api.configured.shared import Shared
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError, VeriTrailError
from veritrail_graph.graph.model import Usage
from veritrail_graph.verifier.models.port import (
    EndpointRefused,
    InvalidAnswer,
    Meter,
    OverBudget,
    StepCall,
)
from veritrail_graph.verifier.models.retrying import Spending

TEXTS = (
    "The ferry sailed at noon with nine boats beside it.",
    "Coal was unloaded at the mole in March.",
    "The harbour office opened a register of boats.",
)


def vector_of(text: str) -> list[float]:
    return [float(len(text)), float(text.count("e")), 1.0]


def answering(form: str = "numbers", most: int | None = None):
    """A reply as OpenAI's endpoint gives it; texts of more than `most` characters are refused."""

    def reply(body):
        if most is not None and max(map(len, body["input"])) > most:
            told = "This model's maximum context length is 8192 tokens"
            return http(400, {"error": {"message": told, "code": "context_length_exceeded"}})
        rows = [vector_of(text) for text in body["input"]]
        if form == "base64":
            rows = [base64.b64encode(struct.pack("<3f", *row)).decode() for row in rows]
        data = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
        tokens = sum(len(text.split()) for text in body["input"])
        return http(200, {"data": data[::-1], "usage": {"prompt_tokens": tokens}})

    return reply


def embedded(reply, texts, tmp_path, *, meters=(), spending=None, use_cache=False, **settings):
    """The vectors of a model behind a server that replies so, and what the server was sent.

    The model is opened anew for every meter.
    """

    async def story():
        async with serving(reply) as server:
            own = {"model": "m-1", "base_url": server.base_url, "price": 0.5, **settings}
            found = Settings(
                home=tmp_path, OPENAI_API_KEY="sk-test", call_deadline=30.0, embedding=own
            )
            shared = Shared(spending or Spending())
            for meter in meters or (Meter(),):
                async with AsyncExitStack() as stack:
                    embedder = await open_embedder(found, None, use_cache, shared, stack)
                    vectors = [list(one) for one in await embedder.embed(texts, meter)]
            return vectors, server

    return asyncio.run(story())


@pytest.mark.parametrize("form", ["numbers", "base64"])
def test_vectors_come_in_the_order_of_the_texts_and_are_paid_by_the_token(form, tmp_path):
    meter = Meter()
    found, server = embedded(answering(form), [*TEXTS, TEXTS[0]], tmp_path, meters=[meter])
    assert found == [vector_of(text) for text in (*TEXTS, TEXTS[0])]
    assert [len(body["input"]) for body in server.bodies] == [3]  # each text once
    assert server.bodies[0]["model"] == "m-1"
    tokens = sum(len(text.split()) for text in TEXTS)
    total = meter.total
    assert (total.calls, total.input_tokens, total.output_tokens) == (1, tokens, 0)
    assert total.cost_usd == pytest.approx(0.5 * tokens / 1e6)
    assert [step.step for step in meter.steps] == ["embedding"]
    assert "POST /v1/embeddings" in server.heads[0]
    assert "authorization" not in server.heads[0].lower()  # the key is of another server


def test_an_own_key_is_sent(tmp_path):
    _, server = embedded(answering(), TEXTS, tmp_path, api_key="sk-own")
    assert "Bearer sk-own" in server.heads[0]


def test_many_texts_go_in_batches_and_kept_answers_are_not_paid_twice(tmp_path):
    texts = [f"text {number}" for number in range(2 * BATCH + 1)]
    meters = [Meter(), Meter()]
    found, server = embedded(answering(), texts, tmp_path, meters=meters, use_cache=True)
    assert found == [vector_of(text) for text in texts]
    assert sorted(len(body["input"]) for body in server.bodies) == [1, BATCH, BATCH]
    assert [(one.total.calls, one.total.cached_calls) for one in meters] == [(3, 0), (0, 3)]
    assert [len(batch) for batch in batches_of(["a" * 150_000, "b" * 60_000, "c", "d"])] == [1, 3]
    assert batches_of([]) == []
    found, server = embedded(answering(), texts[:5], tmp_path / "slow", batch=2)
    assert found == [vector_of(text) for text in texts[:5]]
    assert sorted(len(body["input"]) for body in server.bodies) == [1, 2, 2]


def test_a_text_that_is_too_long_is_halved_and_averaged(tmp_path):
    long = "word " * 100
    found, server = embedded(answering(most=300), [long, TEXTS[0]], tmp_path)
    assert found[1] == vector_of(TEXTS[0])
    assert math.hypot(*found[0]) == pytest.approx(1.0, abs=1e-6)
    assert [len(body["input"]) for body in server.bodies][-4:] == [1, 1, 1, 1]
    with pytest.raises(VeriTrailError, match="refused a short text"):
        embedded(answering(most=10), ["a text of thirty characters ok"], tmp_path)


@pytest.mark.parametrize(
    ("reply", "error", "said"),
    [
        (http(401, {"error": {"message": "no such key"}}), EndpointRefused, "401"),
        (http(200, b"<html>", kind="text/html"), VeriTrailError, "not JSON"),
        (http(200, {"data": []}), VeriTrailError, "0 vector"),
    ],
)
def test_faults_of_the_endpoint_are_told(reply, error, said, tmp_path):
    with pytest.raises(error, match=said):
        embedded(reply, TEXTS, tmp_path)


def test_a_budget_holds_for_embeddings_too(tmp_path):
    spending = Spending(budget_usd=0.0)
    with pytest.raises(OverBudget):
        embedded(answering(), TEXTS, tmp_path, spending=spending)
    with pytest.raises(InputError, match="price of m-1"):
        embedded(answering(), TEXTS, tmp_path, spending=Spending(budget_usd=1.0), price=None)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([[1.0, 2.0], [1.0]], "differ in length"),
        ([[1.0], ["a"]], "no vector"),
        ([[1.0], []], "no vector"),
        ([[1.0], [True]], "no vector"),
        ([[1.0], "AAA"], "no vector"),
        ([[1.0], base64.b64encode(struct.pack("<f", math.nan)).decode()], "no vector"),
        ([[1.0], [1e300]], "no vector"),
        ([[1.0], None], "no vector"),
    ],
)
def test_what_is_no_vector_is_no_answer(rows, said):
    answer = {"data": [{"index": place, "embedding": row} for place, row in enumerate(rows)]}
    with pytest.raises(InvalidAnswer, match=said):
        read_vectors(json.dumps(answer), 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_embedder(tmp_path_factory.mktemp("embedding") / "tiny", TEXTS)


def of_folder(folder: Path, texts):
    return [list(one) for one in asyncio.run(open_embedding_folder(folder).embed(texts, Meter()))]


def test_a_folder_gives_the_mean_of_the_tokens_of_length_one(folder):
    from onnx import load, numpy_helper
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    table = numpy_helper.to_array(load(str(folder / "model.onnx")).graph.initializer[0])
    found = of_folder(folder, TEXTS)
    for text, vector in zip(TEXTS, found, strict=True):
        mean = table[tokenizer.encode(text).ids].mean(axis=0)
        np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-5)
    near = of_folder(folder, ["nine boats sailed beside the ferry"])[0]
    distances = [math.dist(near, one) for one in found]
    assert distances.index(min(distances)) == 0


def test_the_vector_of_a_text_does_not_depend_on_its_batch(folder):
    chance = random.Random(5)
    words = " ".join(TEXTS).split()
    texts = [" ".join(chance.choices(words, k=chance.randint(1, 28))) for _ in range(60)]
    alone = [of_folder(folder, [text])[0] for text in texts]
    np.testing.assert_allclose(of_folder(folder, texts), alone, atol=1e-5)


def test_a_text_longer_than_the_model_reads_is_read_in_windows(folder):
    long = " ".join([TEXTS[0]] * 20)
    [whole, part, other] = of_folder(folder, [long, TEXTS[0], TEXTS[1]])
    assert math.hypot(*whole) == pytest.approx(1.0, abs=1e-6)
    assert math.dist(whole, part) < 0.2 < math.dist(whole, other)
    assert of_folder(folder, [" "])[0]


def test_other_outputs_and_shorter_windows_are_known(tmp_path):
    bert = {"sentence_bert_config.json": {"max_seq_length": 32}}
    config = {"config.json": {"max_position_embeddings": 512, "pad_token_id": 0}, **bert}
    made = tiny_embedder(tmp_path / "a", TEXTS, kind="sentence_embedding", config=config)
    model = open_embedding_folder(made)
    assert model.settings["window"] == 32
    assert len(of_folder(made, TEXTS)[0]) == 24
    assert open_embedding_folder(made) is model  # loaded once


@pytest.mark.parametrize("kind", ["flat", "nan"])
def test_a_model_of_another_kind_is_refused(kind, tmp_path):
    with pytest.raises(InputError, match="no embedding model that can be used"):
        open_embedding_folder(tiny_embedder(tmp_path / kind, TEXTS, kind=kind))


def test_a_folder_without_its_files_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"holds no model\.onnx"):
        open_embedding_folder(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"x")
    with pytest.raises(InputError, match=r"holds no tokenizer\.json"):
        open_embedding_folder(tmp_path)


def test_which_model_a_name_means(folder, tmp_path):
    fetched = tmp_path / "models" / "owner--tiny"
    fetched.mkdir(parents=True)
    assert embedding_folder("owner/tiny", tmp_path) == fetched
    assert embedding_folder("text-embedding-3-large", tmp_path) is None
    settings = Settings(
        home=tmp_path, OPENAI_BASE_URL="http://a/v1", OPENAI_API_KEY="sk-a",
        embedding={"model": "text-embedding-3-large"},
    )  # fmt: skip
    usual = embedding_choice(settings, None)
    assert (usual.model, usual.base_url, usual.api_key) == (
        "text-embedding-3-large", "http://a/v1", "sk-a",
    )  # fmt: skip
    assert embedding_price(settings, usual).input == 0.13
    assert embedding_choice(settings, "other").model == "other"
    assert embedding_choice(settings, folder.name, folder.parent) == folder
    other = embedding_choice(settings, "http://b/v1")
    assert (other.model, other.base_url, other.api_key) == (
        "text-embedding-3-large", "http://b/v1", None,
    )  # fmt: skip
    assert embedding_choice(settings, "http://a/v1").api_key == "sk-a"
    bare = Settings(home=tmp_path)
    for named in (None, "http://b/v1"):
        with pytest.raises(InputError, match=r"none is (named|set)"):
            embedding_choice(bare, named)


@pytest.mark.parametrize("price", ["cheap", "-1", "nan", "1,2", "2000000"])
def test_a_wrong_price_is_told_with_its_setting(price, monkeypatch):
    monkeypatch.setenv("VERITRAIL_EMBEDDING_PRICE", price)
    with pytest.raises(InputError, match="VERITRAIL_EMBEDDING_PRICE"):
        Settings()


def test_a_text_is_embedded_once_in_a_run(folder):
    asked = []

    class Watched:
        name = "m"
        settings: ClassVar = {"model": "m"}

        async def embed(self, texts, meter):
            asked.extend(texts)
            return [vector_of(text) for text in texts]

    memory = Memory(100)
    meter = Meter()

    async def story():
        for _ in range(2):  # as two configurations do
            shared = SharedEmbedder(Watched(), memory)
            await shared.embed([TEXTS[0], TEXTS[1], TEXTS[0]], meter)

    asyncio.run(story())
    assert asked == [TEXTS[0], TEXTS[1]]
    assert (meter.total.calls, meter.total.cached_calls, meter.total.cost_usd) == (0, 1, 0.0)


@pytest.mark.parametrize("price", [0.3, None])
def test_what_a_remembered_vector_would_cost_is_kept(price):
    class Paid:
        name, settings = "paid", {}

        async def embed(self, texts, meter):
            cost = None if price is None else price * sum(map(len, texts))
            usage = Usage(calls=1, cost_usd=cost, unpriced_calls=int(price is None))
            meter.record(StepCall("embedding", "", "", "paid", None), usage)
            return [vector_of(text) for text in texts]

    async def story():
        meters = [Meter(), Meter()]
        shared = SharedEmbedder(Paid(), Memory(100))
        await shared.embed(["aa", "bbbb"], meters[0])
        await shared.embed(["bbbb", "c"], meters[1])
        return meters

    first, second = asyncio.run(story())
    assert first.reused == Usage()
    assert (second.total.calls, second.total.cached_calls) == (1, 1)
    if price is None:
        assert second.reused == Usage(calls=1, unpriced_calls=1)
    else:
        assert first.total.cost_usd == pytest.approx(6 * price)
        assert second.total.cost_usd == pytest.approx(price)
        assert second.reused.cost_usd == pytest.approx(4 * price)


def test_a_memory_lets_go_of_what_was_not_used_for_longest():
    memory: Memory[str] = Memory(10)
    for name in "abc":
        memory.keep(name, name, 4)
        memory.get("a")
    assert [memory.get(name) for name in "abc"] == ["a", None, "c"]
    memory.keep("d", "d", 11)
    assert memory.get("d") is None
    memory.keep("a", "again", 6)
    assert [memory.get(name) for name in "ac"] == ["again", "c"]


def test_halves_count_by_their_length():
    found = weighted_mean([[1.0, 0.0], [0.0, 1.0]], [3, 1])
    assert list(found) == pytest.approx([3 / math.sqrt(10), 1 / math.sqrt(10)])
    assert list(weighted_mean([[0.0, 0.0]], [1])) == [0.0, 0.0]
