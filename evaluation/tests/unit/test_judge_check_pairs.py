"""The labelled pairs: their structure and balance, what gives no label away, and bad files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes.model_answers import content_words

from veritrail_eval.judge_check.pairs import (
    LABELS,
    OWN,
    Pair,
    chosen_pairs,
    own_pairs,
    read_pairs,
)
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict
from veritrail_graph.graph.sentences import SentenceSplitter

PAIRS = own_pairs()
KINDS = (
    "paraphrase", "number", "name", "negation", "role_swap", "time", "scope", "joint_support",
    "partial_support", "unverifiable",
)  # fmt: skip
DENIAL = re.compile(
    r"\b(not|no|never|nobody|none|neither|nor|cannot|without|nothing)\b", re.IGNORECASE
)


def test_pairs_are_many_of_every_kind_domain_and_label() -> None:
    assert len(PAIRS) == 240
    assert Counter((one.kind, one.label) for one in PAIRS) == dict.fromkeys(
        ((kind, label) for kind in KINDS for label in LABELS), 12
    )
    assert len({one.domain for one in PAIRS}) == 12
    assert set(Counter((one.domain, one.label) for one in PAIRS).values()) == {10}
    assert set(Counter((one.domain, one.kind) for one in PAIRS).values()) == {2}


def test_no_pair_stands_twice_and_every_source_has_a_true_and_a_false_claim() -> None:
    assert len({one.pair_id for one in PAIRS}) == len(PAIRS)
    assert len({one.claim.casefold() for one in PAIRS}) == len(PAIRS)
    labels: dict[tuple[str, ...], set[Verdict]] = {}
    for one in PAIRS:
        labels.setdefault(one.source, set()).add(one.label)
    assert len(labels) == len(PAIRS) / 2
    assert all(found == set(LABELS) for found in labels.values())
    texts = [text for source in labels for text in source]
    assert len(set(texts)) == len(texts)


def test_a_source_has_three_to_eight_sentences_and_every_pair_says_why() -> None:
    splitter = SentenceSplitter.for_language()
    for one in PAIRS:
        for text in one.source:
            assert 3 <= len(splitter.split("n", text)) <= 8, one.pair_id
        assert one.note, one.pair_id
        assert one.claim[0].isupper(), one.pair_id
        assert one.claim.endswith("."), one.pair_id
        assert len(splitter.split("n", one.claim)) == 1, one.pair_id
    assert sum(len(one.source) > 1 for one in PAIRS if one.kind == "joint_support") >= 12


def overlap(pair: Pair) -> float:
    """The share of the claim's words, cut to five letters, that the source has."""
    claim = {word[:5] for word in content_words(pair.claim)}
    return len(claim & {word[:5] for word in content_words(" ".join(pair.source))}) / len(claim)


# How well each tells the labels apart: the area under the ROC curve, 0.5 for not at all. Measured:
# 0.49 overlap, 0.49 characters, 0.49 words, 0.50 denials, 0.50 place.
GIVE_AWAYS: dict[str, Callable[[Pair], float]] = {
    "overlap": overlap,
    "characters": lambda pair: len(pair.claim),
    "words": lambda pair: len(pair.claim.split()),
    "denials": lambda pair: bool(DENIAL.search(pair.claim)),
    "place": lambda pair: int(pair.pair_id[-1]),
}


@pytest.mark.parametrize("name", GIVE_AWAYS)
def test_nothing_simple_gives_labels_away(name: str) -> None:
    from sklearn.metrics import roc_auc_score

    labels = [one.label is Verdict.FULLY_SUPPORTED for one in PAIRS]
    area = roc_auc_score(labels, [GIVE_AWAYS[name](one) for one in PAIRS])
    assert abs(area - 0.5) < 0.06, area


@pytest.mark.parametrize("label", LABELS)
def test_words_of_the_source_are_few_and_many_in_claims_of_either_label(label: Verdict) -> None:
    shares = [overlap(one) for one in PAIRS if one.label is label]
    assert sum(share < 0.35 for share in shares) > 15
    assert sum(share > 0.8 for share in shares) > 30


@pytest.mark.parametrize("limit", [1, 2, 10, 20, 37, 239, 240, 1000])
def test_a_limit_takes_from_all_kinds_and_labels_alike(limit: int) -> None:
    found = chosen_pairs(PAIRS, limit=limit)
    assert len(found) == min(limit, 240)
    assert [one for one in PAIRS if one in found] == list(found)
    by_kind = Counter(dict.fromkeys(KINDS, 0)) + Counter(one.kind for one in found)
    counts = [by_kind[kind] for kind in KINDS]
    assert max(counts) - min(counts) <= 1
    by_label = Counter(one.label for one in found)
    assert abs(by_label[LABELS[0]] - by_label[LABELS[1]]) <= 1
    assert found == chosen_pairs(PAIRS, limit=limit)


def test_few_pairs_are_of_several_domains() -> None:
    assert len({one.domain for one in chosen_pairs(PAIRS, limit=20)}) >= 8


def test_kinds_are_chosen_and_an_unknown_one_is_refused() -> None:
    found = chosen_pairs(PAIRS, ["time", "number"], 30)
    assert Counter(one.kind for one in found) == {"number": 15, "time": 15}
    with pytest.raises(InputError, match=r"--kind tmie: no pair .* Kinds: paraphrase, number"):
        chosen_pairs(PAIRS, ["tmie"])


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_pairs_of_a_table_need_no_more_than_source_claim_and_label(tmp_path: Path) -> None:
    table = (
        "claim;source;label;source_2\n"
        'It is red.;"It is red; still.";fully_supported ;\n'
        "It is old.;It is red.;NOT_FULLY_SUPPORTED;It is new.\n"
    )
    file = written(tmp_path, "mine.csv", table)
    first, second = read_pairs(file)
    assert (first.pair_id, first.kind, first.label) == ("p1", OWN, LABELS[0])
    assert first.source == ("It is red; still.",)
    assert second.source == ("It is red.", "It is new.")


GOOD = '{"source": "It is red.", "claim": "It is red.", "label": "FULLY_SUPPORTED"}\n'


def test_pairs_of_lines_may_have_one_text_or_several(tmp_path: Path) -> None:
    more = GOOD.replace('"It is red.", "claim"', '["A.", "B."], "claim"', 1)
    first, second = read_pairs(written(tmp_path, "mine.jsonl", f"{GOOD}\n{more}"))
    assert (first.source, second.source) == (("It is red.",), ("A.", "B."))
    assert (first.pair_id, second.pair_id) == ("p1", "p2")


BAD = {
    "label": (GOOD.replace("FULLY", "PARTLY"), "line 1, key label", "is 'PARTLY_SUPPORTED'; must"),
    "inconclusive": (GOOD.replace("FULLY_SUPPORTED", "INCONCLUSIVE"), "key label", "must be FULLY"),
    "no label": ('\n{"source": "a", "claim": "b"}', "line 2, key label", "is nothing; must be"),
    "label type": (GOOD.replace('"FULLY_SUPPORTED"', "1"), "key label", "is no text; must be"),
    "no source": (GOOD.replace('"source": "It is red.", ', ""), "key source", "must be a text"),
    "blank source": (GOOD.replace("It is red.", " ", 1), "key source", "must be a text"),
    "source list": (GOOD.replace('"It is red."', '["a", 3]', 1), "key source", "list of texts"),
    "empty list": (GOOD.replace('"It is red."', "[]", 1), "key source", "list of texts"),
    "claim": (GOOD.replace('"claim": "It is red."', '"claim": ""'), "key claim", "must be a text"),
    "surrogate": (GOOD.replace("It is red.", "\\ud800", 1), "key source", "must be a text"),
    "unknown": (GOOD.replace('"claim"', '"calim"'), "key 'calim'", "is not known; known are"),
    "kind": (GOOD.replace("{", '{"kind": 3, '), "key kind", "must be a text"),
    "no JSON": (GOOD + "{'source'", "line 2", "not JSON: "),
    "no object": ("[1]", "line 1", "must be a JSON object"),
    "twice": (2 * GOOD.replace("{", '{"pair_id": "a", '), "line 2", "'a' is at mine.jsonl"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_is_named_with_its_key(name: str, tmp_path: Path) -> None:
    text, where, message = BAD[name]
    with pytest.raises(InputError, match=r"mine\.jsonl: \d faults? in pairs") as raised:
        read_pairs(written(tmp_path, "mine.jsonl", text))
    assert any(
        one.where.endswith(where) and message in one.message for one in raised.value.violations
    ), raised.value.violations


HEAD = "source,claim,label\n"
BAD_TABLES = {
    "label": (HEAD + "a,b,YES\n", "t.csv line 2, column label: is 'YES'; must be FULLY_SUPPORTED"),
    "cells": (HEAD + "a,b\n", "t.csv line 2: 2 cells, but there are 3 columns"),
    "blank": (HEAD + ",b,FULLY_SUPPORTED\n", "t.csv line 2, column source: must be a text"),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_a_bad_row_is_named_with_its_column(name: str, tmp_path: Path) -> None:
    text, said = BAD_TABLES[name]
    with pytest.raises(InputError) as raised:
        read_pairs(written(tmp_path, "t.csv", text))
    assert str(raised.value.violations[0]).startswith(said)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("t.csv", "source,claim\na,b\n", "its first line names 'source', 'claim'. It must name"),
        ("t.csv", "source,claim,label,x\n", "its first line names"),
        ("t.csv", "source,claim,claim,label\n", "each once"),
        ("t.csv", "", "its first line names nothing"),
        ("t.csv", HEAD, "holds no pair"),
        ("t.csv", HEAD + '"a', "is not CSV: .* at line 2"),
        ("t.jsonl", "\n", "holds no pair"),
    ],
)
def test_a_file_that_is_no_file_of_pairs_is_refused(
    name: str, text: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        read_pairs(written(tmp_path, name, text))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv cannot be read: No such file"):
        read_pairs(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes(b"\xe9")
    with pytest.raises(InputError, match="is not UTF-8: byte 0"):
        read_pairs(tmp_path / "latin.csv")


@pytest.mark.parametrize(
    ("label", "said"),
    [
        (LABELS[1], "line 2: has another label than pairs.jsonl line 1"),
        (LABELS[0], "line 2: has the same source and claim as pairs.jsonl line 1"),
    ],
)
def test_pairs_that_contradict_or_repeat_each_other_are_named(
    tmp_path: Path, label: Verdict, said: str
) -> None:
    path = tmp_path / "pairs.jsonl"
    line = '{{"source": "A quay.", "claim": "It is a quay.", "label": "{}"}}\n'
    path.write_text(line.format(LABELS[0]) + line.format(label), encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_pairs(path)
    (fault,) = raised.value.violations
    assert said in str(fault)
