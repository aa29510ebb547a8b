"""INFUSE, AlignScore, MiniCheck, SummaC-ZS and HHEM as methods, on real models of entailment."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes.byte_server import Server, http, serving
from fakes.entailment import tiny_model

from veritrail_eval.app.resources import OpenResources, shared_within
from veritrail_eval.datasets.model import LabelledClaim
from veritrail_eval.methods.checkers import THRESHOLDS, words_of
from veritrail_eval.methods.checking import Rule
from veritrail_eval.methods.memory import RunMemory, Scored
from veritrail_eval.methods.method import MethodOutcome
from veritrail_eval.methods.registry import method_kind
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.records import Header
from veritrail_graph.graph.model import Origin, Status, Verdict
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.held_process import HeldProcess
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.nli.adapters import mean_of_top
from veritrail_graph.verifier.nli.opening import ModelChoice, open_folder
from veritrail_graph.verifier.nli.port import Pair

FS, NFS = Verdict.FULLY_SUPPORTED, Verdict.NOT_FULLY_SUPPORTED

CHECKERS = ("infuse", "alignscore", "minicheck", "summac_zs", "hhem")
DOCUMENTS = {
    "A": ("The ferry sailed at noon.", "Nine boats were berthed at the mole."),
    "B": ("Coal was unloaded in March.",),
    "C": ("The harbour office opened a register.",),
}
CLAIMS = {
    "alone": "Coal was unloaded in March.",
    "joint": "The ferry sailed and nine boats were berthed.",
    "wrong": "Herring was unloaded in May.",
    "named": "The harbour office opened a register.",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = [text for chunks in DOCUMENTS.values() for text in chunks]
    folder = tmp_path_factory.mktemp("nli") / "tiny-nli"
    return tiny_model(folder, [*texts, *CLAIMS.values()])


@pytest.fixture(scope="module")
def held() -> HeldProcess:
    draft = Draft(Header("test", process_id="mole"))
    for title, chunks in DOCUMENTS.items():
        for number, text in enumerate(chunks):
            name = f"{title}{number}"
            draft.node(name, text, "", origin=Origin.SOURCE, metadata={"title": title})
            draft.edge(name, "t", "")
    draft.node("t", " ".join(CLAIMS.values()), "", origin=Origin.GENERATED)
    return HeldProcess.read(draft)


def claim(name: str, **more: Any) -> LabelledClaim:
    return LabelledClaim(process_id="mole", claim_id=name, text=CLAIMS[name], **more)


def judged(
    held: HeldProcess,
    kinds: Sequence[tuple[str, Mapping[str, Any]]],
    claims: Sequence[LabelledClaim],
    **environment: Any,
) -> tuple[list[list[MethodOutcome]], list[Meter]]:
    """The outcomes of configurations, by configuration, as one run makes them."""
    memory = RunMemory()
    meters: list[Meter] = []

    async def run() -> list[list[MethodOutcome]]:
        found = []
        for name, parameters in kinds:
            settings, shared = Settings(**environment), shared_within(None, None)
            async with OpenResources(settings, shared, use_cache=False, memory=memory) as resources:
                method = await method_kind(name).make(parameters, resources)
                await method.prepare((held,), Meter())
                meters.append(Meter())
                outcomes = [await method.judge(one, held, meters[-1]) for one in claims]
                found.append(outcomes)
        return found

    return asyncio.run(run()), meters


@pytest.mark.parametrize("name", CHECKERS)
def test_a_checker_tells_what_a_document_says_from_what_none_says(
    name: str, held: HeldProcess, model: Path
) -> None:
    parameters = {"model": str(model), "documents": "all"}
    [found], _ = judged(held, [(name, parameters)], [claim("alone"), claim("wrong")])
    assert [one.verdict for one in found] == [Verdict.FULLY_SUPPORTED, Verdict.NOT_FULLY_SUPPORTED]
    assert [one.status for one in found] == [Status.SUCCEEDED] * 2
    high, low = (one.score for one in found)
    assert high is not None
    assert low is not None
    assert 0 <= low < 0.6 < 0.9 < high <= 1
    assert "tiny-nli" in (found[0].reason or "")
    assert found[0].nodes_verified is None


@pytest.mark.parametrize("documents", ["one", "all"])
def test_summac_conv_is_a_slow_reference_with_random_weights(
    held: HeldProcess, model: Path, tmp_path: Path, documents: str
) -> None:
    chance = np.random.default_rng(11)
    weights = {
        "mlp.weight": chance.normal(size=(1, 50)),
        "mlp.bias": chance.normal(size=1),
        "layer_final.weight": chance.normal(size=(2, 3)),
        "layer_final.bias": chance.normal(size=2),
    }
    path = tmp_path / "weights.json"
    path.write_text(json.dumps({name: one.tolist() for name, one in weights.items()}))
    claims = [claim(name) for name in CLAIMS]
    claims += [claim("alone").replace(text=" ".join(CLAIMS.values()), claim_id="every")]
    parameters = {"model": str(model), "weights": str(path), "documents": documents}
    [found], _ = judged(held, [("summac_conv", parameters)], claims)

    split = SentenceSplitter.for_language().split
    opened = open_folder(model, ModelChoice(str(model)))
    texts = [" ".join(chunks) for chunks in DOCUMENTS.values()]
    if documents == "one":
        texts = [" ".join(texts)]

    def reference(document: str, text: str) -> float:
        rows = []
        for said in split("c", text)[:10]:
            pairs = [Pair(one.text, said.text) for one in split("d", document)]
            scores = [one.entailment for one in asyncio.run(opened.predict(pairs, Meter()))]
            histogram, _ = np.histogram(scores, bins=[*np.arange(0, 1, 1 / 50), 1.0])
            rows.append(float(weights["mlp.weight"][0] @ histogram + weights["mlp.bias"][0]))
        logits = weights["layer_final.weight"] @ np.full(3, np.mean(rows))
        logits = np.exp(logits + weights["layer_final.bias"])
        return float(logits[1] / logits.sum())

    for one, outcome in zip(claims, found, strict=True):
        wanted = max(reference(text, one.text) for text in texts)
        assert outcome.score == pytest.approx(wanted, rel=1e-9)
        assert outcome.verdict is (FS if wanted >= 0.5 else NFS)
    assert len({outcome.score for outcome in found}) > 1


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (None, "weights must be the path of a file"),
        (3, "weights must be the path of a file"),
        ("none.json", "no such file"),
    ],
)
def test_summac_conv_needs_its_weights(
    held: HeldProcess, model: Path, weights: Any, said: str
) -> None:
    given = {} if weights is None else {"weights": weights}
    with pytest.raises(InputError, match=said):
        judged(held, [("summac_conv", {"model": str(model), **given})], [])


def test_infuse_takes_the_document_with_the_highest_entailment(
    held: HeldProcess, model: Path
) -> None:
    names = (None, ("A0", "A1"), ("B0", "C0"))
    claims = [claim("joint", documents=one) for one in names]
    parameters = {"model": str(model), "documents": "all", "sources": "documents"}
    [found], _ = judged(held, [("infuse", parameters)], claims)
    assert [one.verdict for one in found] == [
        Verdict.FULLY_SUPPORTED,
        Verdict.FULLY_SUPPORTED,
        Verdict.NOT_FULLY_SUPPORTED,
    ]
    assert found[0].score == found[1].score
    assert "the highest of 3 documents" in (found[0].reason or "")


def test_chunks_of_all_documents_compete_for_the_top_k(held: HeldProcess, model: Path) -> None:
    kinds = [
        (name, {"model": str(model), "documents": "all", "k": k, "threshold": 0.6})
        for name in ("alignscore", "minicheck")
        for k in (1, 2, 3, 15)
    ]
    outcomes, _ = judged(held, kinds, [claim("named")])
    scores = [one.score or 0.0 for [one] in outcomes]
    # One of three chunks says it: the mean falls with every chunk that does not.
    assert scores[0] == scores[4] > 0.9
    assert scores[0] > scores[1] > scores[2] == scores[3]
    assert outcomes[0][0].verdict is Verdict.FULLY_SUPPORTED
    assert outcomes[2][0].verdict is Verdict.NOT_FULLY_SUPPORTED
    assert "the mean of the 3 highest of 3 chunks; threshold 0.6" in (outcomes[3][0].reason or "")


def test_one_document_is_read_as_one_text(held: HeldProcess, model: Path) -> None:
    parameters = {"model": str(model), "words": 100}
    kinds = [("minicheck", {**parameters, "documents": one}) for one in ("one", "all")]
    outcomes, _ = judged(held, kinds, [claim("alone")])
    assert ["one chunk" in (one.reason or "") for [one] in outcomes] == [True, False]


def test_words_decide_how_long_chunks_are(held: HeldProcess, model: Path) -> None:
    whole = {"model": str(model), "documents": "one"}
    kinds = [("minicheck", {**whole, "words": words}) for words in (5, 100)]
    outcomes, _ = judged(held, kinds, [claim("alone")])
    assert "of 4 chunks" in (outcomes[0][0].reason or "")
    assert "one chunk" in (outcomes[1][0].reason or "")
    assert words_of({"window": 512}) == 288
    assert words_of({"window_words": 24_000}) == 24_000
    assert words_of({"window": 32}) >= 1
    assert words_of({}) == 350


def test_a_grid_of_k_and_thresholds_asks_a_server_once(held: HeldProcess) -> None:
    def reply(body: dict[str, Any]) -> bytes:
        rows = [
            {"entailment": 0.95 if one["hypothesis"] in one["premise"] else 0.2}
            for one in body["pairs"]
        ]
        return http(200, {"probabilities": rows})

    kind = method_kind("alignscore")
    grid = [
        ("alignscore", {"k": k, "threshold": threshold, "documents": "all"})
        for k in kind.grid["k"]
        for threshold in kind.grid["threshold"]
    ]
    assert len(grid) == 75

    async def served() -> tuple[Server, list[list[MethodOutcome]], list[Meter]]:
        async with serving(reply) as server:
            url = f"http://127.0.0.1:{server.port}/judge"
            run = asyncio.to_thread(
                judged, held, grid, [claim("alone"), claim("wrong")], nli={"model": url}
            )
            outcomes, meters = await run
            return server, outcomes, meters

    server, outcomes, meters = asyncio.run(served())
    assert len(server.bodies) == 2  # one call a claim, for all 75 configurations
    assert [(one.total.calls, one.total.cached_calls) for one in meters] == [(2, 0)] + [(0, 2)] * 74
    assert meters[1].total.cost_usd == 0.0
    scores = {
        parameters["k"]: outcome[0].score
        for (_, parameters), outcome in zip(grid, outcomes, strict=True)
    }
    expected = {k: mean_of_top([0.95, 0.2, 0.2], k) for k in kind.grid["k"]}
    assert scores == pytest.approx(expected)
    for (_, parameters), outcome in zip(grid, outcomes, strict=True):
        is_supported = expected[parameters["k"]] >= parameters["threshold"]
        assert (outcome[0].verdict is Verdict.FULLY_SUPPORTED) is is_supported


def test_another_model_or_way_of_asking_is_asked_anew(held: HeldProcess, model: Path) -> None:
    memory = RunMemory()

    async def sizes() -> list[int]:
        found = []
        for more in ({}, {}, {"words": 5}, {"window": 40}, {"documents": "one"}):
            async with OpenResources(Settings(), shared_within(None, None), memory=memory) as made:
                kind = method_kind("minicheck")
                method = await kind.make({"model": str(model), **more}, made)
                await method.judge(claim("alone"), held, Meter())
                found.append(len(memory.scores._kept))
        return found

    assert asyncio.run(sizes()) == [1, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("native", "k", "is_signed", "score"),
    [
        ([[0.2, 0.9, 0.4]], 1, False, 0.9),
        ([[0.2, 0.9, 0.4]], 2, False, 0.65),
        ([[0.2, 0.9], [0.1, 0.3]], 1, False, 0.6),
        ([[-1.0]], 1, True, 0.0),
        ([[0.0, -0.5]], 1, True, 0.5),
        ([[1.0, 1.0, 1.0]], 3, False, 1.0),
    ],
)
def test_the_score_of_a_claim(
    native: list[list[float]], k: int, is_signed: bool, score: float
) -> None:
    rule = Rule(0.5, k, lowest=-1.0 if is_signed else 0.0)
    assert rule.probability(rule.native(Scored(tuple(native)))) == pytest.approx(score)


def test_the_grids_are_those_of_the_paper() -> None:
    assert THRESHOLDS == (0.5, 0.6, 0.7, 0.8, 0.9)
    assert method_kind("alignscore").grid["k"] == tuple(range(1, 16))
    assert method_kind("minicheck").grid["k"] == (1, 2, 3, 4, 5)
    assert method_kind("infuse").grid == {"threshold": THRESHOLDS}


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"threshold": 1.5}, "threshold must be a number from 0 to 1, not 1.5"),
        ({"threshold": "high"}, "threshold must be a number"),
        ({"k": 0}, "k must be a whole number"),
        ({"documents": "some"}, "documents must be one or all"),
        ({"sources": "web"}, "sources must be one of"),
        ({"words": 0}, "words must be a whole number"),
        ({"window": "x"}, "window must be a whole number"),
        ({"labels": 3}, "labels must be a text"),
        ({"template": "no marks"}, "is no template"),
        ({"model": 3}, "model must be the name of a model"),
        ({"model": "no/such"}, "no folder no/such"),
        ({"model": None}, "needs an entailment model"),
    ],
)
def test_wrong_parameters_are_told(parameters: dict[str, Any], said: str, model: Path) -> None:
    async def make() -> None:
        async with AsyncExitStack() as stack:
            resources = OpenResources(Settings(), shared_within(None, None))
            await stack.enter_async_context(resources)
            await method_kind("minicheck").make({"model": str(model), **parameters}, resources)

    with pytest.raises(InputError, match=said):
        asyncio.run(make())


def test_a_claim_without_source_text_has_no_verdict(held: HeldProcess, model: Path) -> None:
    parameters = {"model": str(model), "sources": "documents"}
    [[found]], _ = judged(held, [("hhem", parameters)], [claim("alone", documents=())])
    assert (found.status, found.verdict, found.score) == (Status.FAILED, None, None)
    assert "no source text" in (found.reason or "")
