"""Figures of attributions equal a slow reference, and some worked out by hand."""

from __future__ import annotations

import csv
import importlib.util
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from veritrail_eval.attribution.judges import label_scores
from veritrail_eval.attribution.linked import LinkAnalysis, refuse_other_splits
from veritrail_eval.attribution.model import AttributionFile
from veritrail_eval.attribution.overlap import Overlap, overlap
from veritrail_eval.attribution.reading import read_attributions
from veritrail_eval.attribution.score import AttributionScore
from veritrail_eval.attribution.significance import comparison, differences
from veritrail_eval.attribution.sources import Sources, read_sources
from veritrail_eval.attribution.stop_words import STOP_WORDS
from veritrail_eval.attribution.tables import write_tables
from veritrail_eval.figures.options import Resampling
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.attribution import Faithfulness

CATEGORIES = ("EVIDENCE", "CONTRADICTION", "NEAR_MATCH", "EXPECTED_SPAN")
FAITHFUL, UNFAITHFUL = Faithfulness
TEXT = "the ship left port at noon; Isn't it late? She'd 12 crates, a café-owner's and no salt"
WORDS = TEXT.split()
Lines = list[dict[str, Any]]


def written(folder: Path, name: str, lines: Lines) -> Path:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def read(folder: Path, name: str, lines: Lines) -> AttributionFile:
    return read_attributions(written(folder, name, lines))


def a_link(
    node: str, sentence: int, category: str | None = None, text: str = "", start: int = 0
) -> dict[str, Any]:
    link: dict[str, Any] = {"node_id": node, "sentence": sentence}
    if category:
        link["categories"] = [category]
    if text or start:
        link |= {"text": text, "start": start, "end": start + len(text)}
    return link


def random_case(seed: int) -> tuple[Lines, Lines, Lines]:
    """Gold, a prediction with other sentences and some missing, and the sources as lines."""
    rng = random.Random(seed)
    sources = [
        {
            "node_id": f"d{number}",
            "sentences": [
                " ".join(rng.choices(WORDS, k=rng.randint(0, 7))) for _ in range(rng.randint(3, 25))
            ],
        }
        for number in range(3)
    ]
    for one in sources:
        one["non_literal"] = rng.sample(range(len(one["sentences"])), 2)

    def a_line(name: str) -> dict[str, Any]:
        links = []
        for _ in range(rng.choice((0, 1, 1, 2, 4))):
            one = rng.choice(sources)
            sentence = rng.randrange(min(6, len(one["sentences"])))
            links.append(a_link(one["node_id"], sentence, rng.choice(CATEGORIES)))
        label = rng.choice(("FAITHFUL", "UNFAITHFUL"))
        return {"id": name, "attributed": links, "label": label}

    size = rng.randint(4, 30)
    gold = [a_line(f"s{number}") for number in range(size)]
    names = [f"s{number}" for number in range(size + 3) if rng.random() < 0.85]
    near = {line["id"]: line["attributed"] for line in gold}
    predicted = []
    for name in names:
        line = a_line(name)
        if name in near and rng.random() < 0.6:
            line["attributed"] = [*near[name][:2], *line["attributed"][:1]]
        predicted.append(line)
    return gold, predicted, sources


def pairs(line: dict[str, Any]) -> set[tuple[str, int]]:
    return {(link["node_id"], link["sentence"]) for link in line["attributed"]}


def slow_tokens(text: str) -> Iterator[tuple[int, str]]:
    """Alphanumeric tokens with their offsets, character by character."""
    token, begin = "", 0
    for place, character in enumerate(text + " "):
        if character.isalnum():
            begin = begin if token else place
            token += character
        elif token:
            yield begin, token
            token = ""


def slow_words(sources: set[tuple[str, int]], texts: dict[tuple[str, int], str]) -> set[Any]:
    return {
        (node, sentence, offset)
        for node, sentence in sources
        for offset, token in slow_tokens(texts[node, sentence])
        if token.lower() not in STOP_WORDS
    }


def slow_iou(first: set[Any], second: set[Any]) -> float:
    return len(first & second) / len(first | second) if first or second else 1.0


def slow_figures(gold: Lines, predicted: Lines, sources: Lines) -> dict[str, Any]:
    """The figures of the contract, from its words."""
    from sklearn.metrics import cohen_kappa_score

    texts = {
        (one["node_id"], place): text
        for one in sources
        for place, text in enumerate(one["sentences"])
    }
    others = {line["id"]: line for line in predicted}
    sums = {"macro_precision": 0.0, "macro_recall": 0.0, "macro_f1": 0.0, "iou": 0.0}
    missing = 0
    labels: list[tuple[str, str]] = []
    for line in gold:
        other = others.get(line["id"], {"attributed": []})
        missing += line["id"] not in others
        g, p = pairs(line), pairs(other)
        if not g and not p:
            precision = recall = f1 = 1.0
        elif not g or not p:
            precision = recall = f1 = 0.0
        else:
            precision, recall = len(g & p) / len(p), len(g & p) / len(g)
            f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        sums["macro_precision"] += precision
        sums["macro_recall"] += recall
        sums["macro_f1"] += f1
        sums["iou"] += slow_iou(slow_words(g, texts), slow_words(p, texts))
        if line["id"] in others:
            labels.append((categories(line), categories(other)))
    found: dict[str, Any] = {name: total / len(gold) for name, total in sums.items()}
    kappa = cohen_kappa_score(*zip(*labels, strict=True))
    return {
        "sentences": len(gold),
        "missing": missing,
        **found,
        "kappa_categories": float(kappa),
    }


def categories(line: dict[str, Any]) -> str:
    return "+".join(sorted({one for link in line["attributed"] for one in link["categories"]}))


@pytest.mark.parametrize("seed", range(6))
def test_figures_are_those_of_a_slow_reference(seed: int, tmp_path: Path) -> None:
    gold, predicted, sources = random_case(seed)
    score = AttributionScore(
        read(tmp_path, "gold", gold),
        read(tmp_path, "predicted", predicted),
        read_sources(written(tmp_path, "sources", sources)),
    )
    expected = slow_figures(gold, predicted, sources)
    document = score.as_json()
    assert list(document) == list(expected)
    assert document == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(3))
def test_words_are_the_same_whichever_file_brings_the_text(seed: int, tmp_path: Path) -> None:
    gold, predicted, sources = random_case(seed)
    places = {}
    for one in sources:
        start = 0
        for place, text in enumerate(one["sentences"]):
            places[one["node_id"], place] = (text, start)
            start += len(text) + 1
    for line in predicted:
        line["attributed"] = [
            a_link(node, place, "EVIDENCE", *places[node, place]) for node, place in pairs(line)
        ]
    score = AttributionScore(
        read(tmp_path, "gold", gold),
        read(tmp_path, "predicted", predicted),
        read_sources(written(tmp_path, "sources", sources)),
    )
    assert score.iou.value == pytest.approx(slow_figures(gold, predicted, sources)["iou"])


@pytest.mark.parametrize("seed", range(3))
def test_unfaithful_sentences_are_compared_by_the_kind_of_mistake(
    seed: int, tmp_path: Path
) -> None:
    from sklearn.metrics import cohen_kappa_score

    gold, predicted, _ = random_case(seed)
    found = AttributionScore(
        read(tmp_path, "gold", gold), read(tmp_path, "predicted", predicted)
    ).on_unfaithful()
    others = {line["id"]: line for line in predicted}
    of_gold = [line for line in gold if line["label"] == "UNFAITHFUL"]

    def kind(line: dict[str, Any]) -> str:
        own = {one for link in line["attributed"] for one in link["categories"]}
        return "+".join(sorted(own - {"EVIDENCE"} if own - {"EVIDENCE"} else own)) or "NONE"

    both = [(kind(line), kind(others[line["id"]])) for line in of_gold if line["id"] in others]
    assert found["sentences"] == len(of_gold)
    assert sum(found["categories"]["gold"].values()) == len(both)
    if len({label for pair in both for label in pair}) > 1:
        expected = cohen_kappa_score(*zip(*both, strict=True))
        assert found["kappa_categories"] == pytest.approx(expected)
    else:
        assert found["kappa_categories"] is None
        assert found["reasons"]["kappa_categories"]


@pytest.mark.parametrize("seed", range(3))
def test_labels_are_scored_as_scikit_learn_does(seed: int, tmp_path: Path) -> None:
    from sklearn.metrics import balanced_accuracy_score

    gold, predicted, _ = random_case(seed)
    found = label_scores(read(tmp_path, "gold", gold), read(tmp_path, "predicted", predicted))
    labels = {line["id"]: line["label"] for line in gold}

    def implied(line: dict[str, Any]) -> str:
        return "FAITHFUL" if categories(line) == "EVIDENCE" else "UNFAITHFUL"

    for name, label_of in (("judged", lambda line: line["label"]), ("implied", implied)):
        both = [(labels[line["id"]], label_of(line)) for line in predicted if line["id"] in labels]
        assert found[name].unlabelled == len(gold) - len(both)
        if len({label for label, _ in both}) == 2:
            expected = balanced_accuracy_score(*zip(*both, strict=True))
            assert found[name].balanced_accuracy.value == pytest.approx(expected)
        else:
            assert found[name].balanced_accuracy.reason is not None


@pytest.mark.parametrize("seed", range(3))
def test_linked_sentences_are_grouped_as_section_8_says(seed: int, tmp_path: Path) -> None:
    gold, _, sources = random_case(seed)
    file = read(tmp_path, "gold", gold)
    read_in = read_sources(written(tmp_path, "sources", sources))
    refuse_other_splits(tmp_path, file, read_in)
    found = LinkAnalysis.of(file, read_in)
    lengths = {one["node_id"]: len(one["sentences"]) for one in sources}
    odd = {(one["node_id"], place) for one in sources for place in one["non_literal"]}
    every = {source for line in gold for source in pairs(line)}
    by_unfaithful = {
        source for line in gold if line["label"] == "UNFAITHFUL" for source in pairs(line)
    }
    for label, group in ((UNFAITHFUL, by_unfaithful), (FAITHFUL, every - by_unfaithful)):
        positions = [place / lengths[node] for node, place in group]
        tenths = [
            sum(tenth / 10 <= one < (tenth + 1) / 10 for one in positions) for tenth in range(10)
        ]
        assert found.tenths(label) == tenths
        share = found.share_in_last_tenth(label)
        assert share.value == (tenths[9] / len(group) if group else None)
        sets = [pairs(line) for line in gold if line["label"] == label and pairs(line)]
        figure = found.with_non_literal(label)
        assert figure.value == (sum(bool(one & odd) for one in sets) / len(sets) if sets else None)
    if odd & every:
        expected = len(odd & by_unfaithful) / len(odd & every)
        assert found.non_literal_unfaithful.value == pytest.approx(expected)
    json.dumps(found.as_json(), allow_nan=False)


def test_the_last_tenth_by_hand(tmp_path: Path) -> None:
    lines: Lines = [
        {"id": "a", "attributed": [["d", 9], ["d", 0]], "label": "UNFAITHFUL"},
        {"id": "b", "attributed": [["d", 9]], "label": "FAITHFUL"},
        {"id": "c", "attributed": [["d", 8]], "label": "FAITHFUL"},
        {"id": "e", "attributed": [["d", 9]], "label": "UNFAITHFUL"},
        {"id": "f", "attributed": [], "label": "UNFAITHFUL"},
        {"id": "g", "attributed": [["d", 1]]},
    ]
    found = LinkAnalysis.of(read(tmp_path, "gold", lines), Sources({"d": 10}, {})).as_json()
    assert found["unfaithful_linked"]["tenths"] == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    assert found["unfaithful_linked"]["last_tenth"] == 0.5
    assert found["unfaithful_linked"]["unattributed"] == 1
    assert found["faithful_linked"]["tenths"] == [0, 0, 0, 0, 0, 0, 0, 0, 1, 0]
    assert found["faithful_linked"]["resting_on_last_tenth"] == 1
    assert found["last_tenth_ratio"] == 2
    assert found["unlabelled"] == 1  # without categories nothing is implied
    assert found["non_literal_unfaithful"] is None
    assert "do not say" in found["reasons"]["non_literal_unfaithful"]


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        (set(), set(), Overlap(1, 1, 1)),
        ({1}, set(), Overlap(0, 0, 0)),
        (set(), {1}, Overlap(0, 0, 0)),
        ({1}, {2}, Overlap(0, 0, 0)),
        ({1, 2}, {2, 3, 4, 5}, Overlap(0.25, 0.5, 1 / 3)),
    ],
)
def test_overlap_by_hand(gold: set[int], predicted: set[int], expected: Overlap) -> None:
    assert overlap(gold, predicted) == pytest.approx(expected)


def test_stop_words_are_those_of_nltk() -> None:
    """A package of the development environment carries NLTK's list."""
    found = importlib.util.find_spec("llama_index.core")
    if found is None or found.origin is None:
        pytest.skip("llama-index-core, which carries NLTK's list, is not installed")
    path = Path(found.origin).parent / "_static/nltk_cache/corpora/stopwords/english"
    words = set(path.read_text(encoding="utf-8").split())
    tokens = {token for word in words for _, token in slow_tokens(word)}
    assert tokens == STOP_WORDS


def test_a_difference_is_significant_only_where_it_is() -> None:
    rng = random.Random(1)
    right, wrong = Overlap(1, 1, 1), Overlap(0, 0, 0)
    good = [right if rng.random() < 0.8 else wrong for _ in range(200)]
    bad = [right if rng.random() < 0.5 else wrong for _ in range(200)]
    found = differences(good, bad, Resampling(500, 3))["macro_f1"]
    assert found.significant
    assert (found.first, found.second) == (
        sum(o.f1 for o in good) / 200,
        sum(o.f1 for o in bad) / 200,
    )
    same = differences(good, good, Resampling(500, 3))["macro_f1"]
    assert same.p_value.value == 1
    assert same.significant is False
    few = differences(good, bad, Resampling(100, 3))["macro_f1"]
    assert few.significant is None
    assert "too few" in str(few.p_value.reason)


def test_chance_alone_is_rarely_significant() -> None:
    rng = random.Random(8)
    hits = 0
    for seed in range(40):
        first, second = (
            [Overlap(*[rng.random()] * 3) for _ in range(40)] for _ in range(2)
        )  # fmt: skip
        hits += bool(differences(first, second, Resampling(300, seed))["macro_f1"].significant)
    assert hits <= 3


def test_two_predictions_are_compared_on_the_sentences_of_gold(tmp_path: Path) -> None:
    gold: Lines = [{"id": f"s{n}", "attributed": [["d", n]]} for n in range(30)]
    right = read(tmp_path, "gold", gold)
    other = read(tmp_path, "other", [*reversed(gold[5:]), {"id": "more", "attributed": []}])
    nothing = read(tmp_path, "nothing", [{**line, "attributed": []} for line in gold])
    found = comparison(
        AttributionScore(right, other), AttributionScore(right, nothing), Resampling(200)
    )
    assert found["missing"] == 0
    one = found["figures"]["macro_f1"]
    assert (one["first"], one["second"]) == (25 / 30, 0)
    assert one["significant"] is True


def test_tables_hold_every_sentence_and_tenth(tmp_path: Path) -> None:
    gold, predicted, sources = random_case(4)
    gold[0]["id"] = predicted[0]["id"] = "=1+1"
    texts = read_sources(written(tmp_path, "sources", sources))
    score = AttributionScore(
        read(tmp_path, "gold", gold), read(tmp_path, "predicted", predicted), texts
    )
    analysis = LinkAnalysis.of(score.gold, texts)
    document = {**score.as_json(), "linked": analysis.as_json(), "comparison": {"x": {"yes": True}}}
    figures, *written_to = write_tables(tmp_path / "out", score, analysis, document)
    assert figures.name == "figures.csv"
    assert [path.name for path in written_to] == ["sentences.csv", "tenths.csv", "tenths.svg"]
    lines = csv.reader(figures.read_text(encoding="utf-8").splitlines())
    held = dict(lines)
    assert float(held["macro_f1"]) == score.figures()["macro_f1"].value
    assert held["comparison.x.yes"] == "yes"
    assert "linked.unfaithful_linked.last_tenth" in held
    assert not any("reasons" in name for name in held)
    rows = list(csv.DictReader(written_to[0].read_text(encoding="utf-8").splitlines()))
    assert len(rows) == len(gold)
    assert rows[0]["id"] == "'=1+1"
    mean = sum(float(row["f1"]) for row in rows) / len(rows)
    assert mean == pytest.approx(score.figures()["macro_f1"].value)
    tenths = list(csv.DictReader(written_to[1].read_text(encoding="utf-8").splitlines()))
    assert [int(row["unfaithful_linked"]) for row in tenths] == analysis.tenths(UNFAITHFUL)
    picture = ElementTree.parse(written_to[2]).getroot()
    titles = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == 20
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written"):
        write_tables(tmp_path / "file", score, None, {})
