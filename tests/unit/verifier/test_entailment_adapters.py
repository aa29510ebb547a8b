"""Published checkers over the port: which pairs they ask about, and how scores become one."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import math

import numpy as np
import pytest
from fakes.entailment import tiny_model
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.nli.adapters import (
    NAMES,
    AlignScore,
    ConvWeights,
    Hhem,
    Infuse,
    MiniCheck,
    SummaCConv,
    SummaCZs,
    adapter_named,
    mean_of_top,
)
from veritrail_graph.verifier.nli.adapters.port import chunks_of_words, filled_chunks
from veritrail_graph.verifier.nli.opening import ModelChoice, open_folder
from veritrail_graph.verifier.nli.port import Entailment, Pair

SPLIT = SentenceSplitter.for_language().split
DOCUMENT = (
    "The ferry sailed to Harbour Island. Coal was unloaded in May. The crew was paid. "
    "Tea was sold at noon. The quay was not repaired."
)


class Recording:
    """A real model whose pairs are written down."""

    name = "tiny"

    def __init__(self, model):
        self.model, self.asked = model, []
        self.settings = model.settings

    async def predict(self, pairs, meter):
        self.asked.extend(pairs)
        return await self.model.predict(pairs, meter)

    async def close(self):
        return


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tiny_model(
        tmp_path_factory.mktemp("nli") / "tiny", [DOCUMENT, "Steel boats."], limit=128
    )
    return open_folder(folder, ModelChoice(str(folder)))


@pytest.fixture
def model(tiny):
    return Recording(tiny)


def support(adapter, claim, document=DOCUMENT):
    return asyncio.run(adapter.support(document, claim, Meter()))


def entails(model, premise, hypothesis):
    [one] = asyncio.run(model.model.predict([Pair(premise, hypothesis)], Meter()))
    return one


def sentences():
    return [one.text for one in SPLIT("", DOCUMENT)]


def test_every_adapter_supports_what_is_said_more_than_what_is_not(model, tmp_path):
    weights = weights_file(tmp_path)
    for name in NAMES:
        adapter = adapter_named(name, model, SPLIT, weights)
        said = support(adapter, "Coal was unloaded in May.")
        silent = support(adapter, "Steel boats sailed.")
        assert said.score > silent.score, name
        assert adapter.name == name
        assert json.dumps(adapter.settings)


def test_minicheck_asks_the_whole_claim_of_each_chunk_and_takes_the_highest(model):
    found = support(MiniCheck(model, SPLIT, words=11), "The crew was paid.")
    assert [pair.hypothesis for pair in model.asked] == ["The crew was paid."] * 3
    assert " ".join(pair.premise for pair in model.asked) == " ".join(sentences())
    assert max(len(pair.premise.split()) for pair in model.asked) <= 11
    assert found.score == max(found.parts)
    second = support(MiniCheck(model, SPLIT, words=11, top=2), "The crew was paid.")
    assert second.score == pytest.approx(sum(sorted(found.parts)[-2:]) / 2)


def test_alignscore_takes_maxima_over_chunks_and_the_mean_over_sentences(model):
    claim = "The crew was paid. Steel boats sailed."
    found = support(AlignScore(model, SPLIT, words=10), claim)
    rows = [
        [entails(model, chunk, one).entailment for chunk in chunks_of_words(sentences(), 10)]
        for one in ("The crew was paid.", "Steel boats sailed.")
    ]
    assert found.parts == pytest.approx([max(row) for row in rows])
    assert found.score == pytest.approx(sum(map(max, rows)) / 2)


def test_summac_zs_takes_maxima_of_entailment_and_contradiction_apart(model):
    claim = "The quay was repaired. The crew was paid."
    found = support(SummaCZs(model, SPLIT), claim)
    wanted = []
    for one in ("The quay was repaired.", "The crew was paid."):
        scores = [entails(model, text, one) for text in sentences()]
        wanted.append(
            max(score.entailment for score in scores) - max(score.contradiction for score in scores)
        )
    assert found.parts == pytest.approx(wanted)
    assert found.score == pytest.approx(sum(wanted) / 2)
    assert found.parts[0] < -0.9
    assert found.parts[1] > 0.9


def test_hhem_asks_once_about_the_document_as_it_is(model):
    support(Hhem(model), "The crew was paid.")
    assert model.asked == [Pair(DOCUMENT, "The crew was paid.")]


class Scripted:
    """An entailment model whose answers a test writes down."""

    name = "scripted"
    settings: dict[str, object] = {}  # noqa: RUF012

    def __init__(self, table):
        self.table = table

    async def predict(self, pairs, meter):
        return [self.table.get(tuple(pair), Entailment(0.1, 0.8, 0.1)) for pair in pairs]

    async def close(self):
        return


def test_infuse_ranks_both_ways_and_stops_when_the_neutral_probability_rises():
    one, two, three, four = "One is.", "Two is.", "Three is.", "Four is."
    claim = "All are."
    table = {
        (two, claim): Entailment(0.5, 0.4, 0.1),
        (claim, four): Entailment(0.4, 0.5, 0.1),  # the claim entails it: second
        (one, claim): Entailment(0.3, 0.6, 0.1),
        (f"{two} {four}", claim): Entailment(0.7, 0.2, 0.1),
        (f"{one} {two} {four}", claim): Entailment(0.9, 0.25, 0.1),  # neutral rises: left out
    }
    document = f"{one} {two} {three} {four}"
    found = support(Infuse(Scripted(table), SPLIT), claim, document)
    assert found.premise == f"{two} {four}"
    assert found.score == 0.7
    only = support(Infuse(Scripted(table), SPLIT, most=1), claim, document)
    assert (only.premise, only.score) == (two, 0.5)


def test_infuse_finds_what_two_sentences_say_together(model):
    claim = "The ferry sailed and coal was unloaded."
    found = support(Infuse(model, SPLIT), claim, " ".join(sentences()[:4]))
    assert found.premise.startswith("The ferry sailed to Harbour Island. Coal was unloaded in May.")
    assert found.score > 0.9 > 0.1 > entails(model, sentences()[0], claim).entailment


def weights_file(folder, **changes):
    bins = [0.0, 0.25, 0.5, 0.75, 1.0]
    content = {
        "bins": bins,
        "mlp.weight": [[-0.3, 0.1, 0.4, 2.0]],
        "mlp.bias": [0.2],
        "layer_final.weight": [[-0.5, 0.2, -0.4], [0.3, 0.9, 0.1]],
        "layer_final.bias": [0.05, -0.15],
        **changes,
    }
    path = folder / "weights.json"
    path.write_text(json.dumps({key: value for key, value in content.items() if value is not None}))
    return path


@pytest.mark.parametrize(
    ("labels", "aggregate"), [("e", "mean"), ("ec", "min"), ("ecn", "max"), ("ecn", "all")]
)
@given(values=st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=20))
def test_the_histogram_is_that_of_numpy(tmp_path_factory, values, labels, aggregate):
    chance = np.random.default_rng(3)
    weight = chance.normal(size=4 * len(labels))
    path = weights_file(
        tmp_path_factory.mktemp("w"),
        **{"mlp.weight": [weight.tolist()], "labels": labels, "aggregate": aggregate},
    )
    weights = ConvWeights.read(path)
    scores = [Entailment(one[0], one[1], one[2]) for one in values]
    order = {"e": 0, "n": 1, "c": 2}
    histogram = np.concatenate(
        [
            np.histogram([one[order[label]] for one in values], bins=weights.bins)[0]
            for label in labels
        ]
    )
    assert weights.row(scores) == pytest.approx(float(histogram @ weight + 0.2))
    rows = np.array([weights.row(scores[: n + 1]) for n in range(len(scores))])
    features = {"mean": rows.mean(), "min": rows.min(), "max": rows.max()}
    triple = list(features.values()) if aggregate == "all" else [features[aggregate]] * 3
    if aggregate == "all":
        triple = [rows.min(), rows.mean(), rows.max()]
    logits = np.array([[-0.5, 0.2, -0.4], [0.3, 0.9, 0.1]]) @ triple + np.array([0.05, -0.15])
    wanted = 1 / (1 + math.exp(min(700, max(-700, logits[0] - logits[1]))))
    assert weights.probability(rows.tolist()) == pytest.approx(wanted)


def test_summac_conv_reads_no_more_sentences_of_a_claim_than_it_was_trained_on(model, tmp_path):
    adapter = SummaCConv(model, SPLIT, ConvWeights.read(weights_file(tmp_path, rows=1)))
    claim = "The crew was paid. Steel boats sailed."
    assert len(support(adapter, claim).parts) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bins": None}, "it lacks bins"),
        ({"bins": [0.0, 0.5]}, "rise from 0 to 1"),
        ({"bins": [0.0, 0.6, 0.5, 0.7, 1.0]}, "rise from 0 to 1"),
        ({"mlp.weight": [1, 2, 3]}, "holds 3 number"),
        ({"mlp.weight": [1, 2, 3, "4"]}, "numbers only"),
        ({"mlp.bias": math.nan}, "numbers only"),
        ({"layer_final.weight": [1, 2]}, "the shape 2, and not 6 or 2 x 3"),
        ({"layer_final.weight": [[1, 2], [3, 4], [5, 6]]}, "the shape 3 x 2, and not 6 or 2 x 3"),
        ({"layer_final.weight": [[1, 2], [3, 4, 5, 6]]}, r"the shape 2 x \?, and not"),
        ({"mlp.weight": [[[1, 2, 3, 4]]]}, "the shape 1 x 1 x 4, and not n or 1 x n"),
        ({"mlp.bias": 10**400}, "NaN or infinity"),
        ({"labels": "ce"}, "letters of ecn"),
        ({"aggregate": "median"}, "mean, min, max or all"),
        ({"rows": 0}, "above 0"),
    ],
)
def test_wrong_weights_are_named(tmp_path, changes, message):
    with pytest.raises(InputError, match=message):
        ConvWeights.read(weights_file(tmp_path, **changes))


def test_weights_of_numpy_are_those_of_json_and_fifty_bins_need_no_limits(tmp_path):
    chance = np.random.default_rng(5)
    even = [place / 50 for place in range(51)]
    parts = {"mlp.weight": chance.normal(size=(1, 50)).tolist(), "bins": even}
    given = ConvWeights.read(weights_file(tmp_path, **parts))
    assert ConvWeights.read(weights_file(tmp_path, **{**parts, "bins": None})).bins == (
        pytest.approx(given.bins)
    )
    content = json.loads(weights_file(tmp_path, **parts).read_text())
    np.savez(tmp_path / "w.npz", **content, labels="e")
    found = ConvWeights.read(tmp_path / "w.npz")
    assert dataclasses.replace(found, source=given.source) == given
    np.savez(tmp_path / "w.npz", **{**content, "mlp.bias": np.array([np.nan])})
    with pytest.raises(InputError, match=r"mlp\.bias holds NaN"):
        ConvWeights.read(tmp_path / "w.npz")
    np.savez(tmp_path / "w.npz", **{**content, "mlp.bias": np.array([{}], dtype=object)})
    with pytest.raises(InputError, match="cannot be read as a file of numpy"):
        ConvWeights.read(tmp_path / "w.npz")
    (tmp_path / "w.npz").write_bytes(b"PK none")
    with pytest.raises(InputError, match="cannot be read as a file of numpy"):
        ConvWeights.read(tmp_path / "w.npz")


def test_weights_that_are_no_file_and_adapters_that_are_none(tmp_path, model):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        ConvWeights.read(tmp_path / "none.json")
    with pytest.raises(InputError, match="needs a JSON file of its trained weights"):
        adapter_named("summac-conv", model, SPLIT)
    with pytest.raises(InputError, match="Write pairs, minicheck"):
        adapter_named("bertscore", model, SPLIT)


texts = st.lists(st.text("ab ", min_size=1, max_size=30).filter(str.strip), min_size=1, max_size=30)


@given(texts, st.integers(1, 20))
def test_chunks_hold_every_sentence_once_in_order(parts, size):
    for chunks in (chunks_of_words(parts, size), filled_chunks(parts, size)):
        assert " ".join(chunks) == " ".join(parts)
    longest = max(len(part.split()) for part in parts)
    assert max(len(one.split()) for one in filled_chunks(parts, size)) <= max(size, longest)


def test_the_mean_of_the_top_takes_what_there_is():
    assert mean_of_top([0.1, 0.9, 0.5], 2) == pytest.approx(0.7)
    assert mean_of_top([0.1], 15) == 0.1
    assert mean_of_top([], 3) == 0.0
