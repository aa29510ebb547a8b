"""Files of attributions: both forms, and what is wrong with them, with its place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from veritrail_eval.attribution.annotators import agreement_of_annotators
from veritrail_eval.attribution.content_words import unlike_passages
from veritrail_eval.attribution.linked import refuse_other_splits
from veritrail_eval.attribution.model import Passage
from veritrail_eval.attribution.reading import read_attributions
from veritrail_eval.attribution.score import AttributionScore
from veritrail_eval.attribution.sources import Sources, read_sources
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.attribution import AttributionCategory, Faithfulness


def document(*sentences: dict[str, Any], node_id: str = "t", process_id: str = "p") -> Any:
    return {
        "run_id": "r",
        "process_id": process_id,
        "engine": "e",
        "model": None,
        "indicative": False,
        "nodes": [{"node_id": node_id, "sentences": list(sentences)}],
        "usage": {},
    }


def a_sentence(number: int, *links: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "sentence": number, "start": 0, "end": 1, "text": "x", "status": "succeeded",
        "attributed": list(links), "implied_label": None, "judged_label": None,
        "correction": None, "error": None, **more,
    }  # fmt: skip


LINK = {"node_id": "c", "sentence": 3, "start": 7, "end": 12, "text": "A dog", "categories": []}


def written(folder: Path, text: str, name: str = "file.jsonl") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def lines(*values: Any) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def faults(path: Path) -> list[tuple[str, str, str]]:
    with pytest.raises(InputError) as raised:
        read_attributions(path)
    return [(one.kind, one.where, one.message) for one in raised.value.violations]


def test_both_forms_say_the_same(tmp_path: Path) -> None:
    link = {**LINK, "categories": ["NEAR_MATCH", "EVIDENCE"]}
    one = read_attributions(
        written(
            tmp_path,
            json.dumps(
                document(a_sentence(2, link, judged_label="FAITHFUL"), a_sentence(3)), indent=1
            ),
            "a.json",
        )
    )
    other = read_attributions(
        written(
            tmp_path,
            lines(
                {"id": ["t", 2], "attributed": [link], "label": "Faithful"},
                {"id": "t:3", "attributed": []},
            ),
        )
    )
    assert one.sentences == {
        **other.sentences,
        "t:3": one.sentences["t:3"],
    }
    assert one.passages == other.passages == {("c", 3): Passage("A dog", 7)}
    first, second = one.sentences.values()
    assert first.categories == {AttributionCategory.NEAR_MATCH, AttributionCategory.EVIDENCE}
    assert (first.label, first.implied_label) == tuple(Faithfulness)
    assert second.implied_label is Faithfulness.UNFAITHFUL


def test_lines_need_nothing_but_id_and_pairs(tmp_path: Path) -> None:
    text = (
        '\n{"id": 7, "attributed": [["c", 3], ["c", 3], ["d", 0]]}\n\n{"id":"é","attributed":[]}\n'
    )
    path = tmp_path / "file.jsonl.gz"
    path.write_bytes(gzip.compress(text.encode()))
    found = read_attributions(path)
    assert list(found.sentences) == ["7", "é"]
    assert found.sentences["7"].sources == {("c", 3), ("d", 0)}
    assert found.sentences["7"].categories is None
    assert found.sentences["7"].known_label is None
    assert found.sentences["é"].categories == frozenset()


def test_the_categories_of_a_sentence_may_stand_on_its_line(tmp_path: Path) -> None:
    path = written(
        tmp_path, lines({"id": "a", "attributed": [["c", 1]], "categories": ["CONTRADICTION"]})
    )
    assert read_attributions(path).sentences["a"].categories == {AttributionCategory.CONTRADICTION}


def test_the_earlier_names_of_categories_are_read(tmp_path: Path) -> None:
    names = ["Close Paraphrase", "Contextual Anchor", "evidence"]
    links = [{"node_id": "c", "sentence": n, "categories": [name]} for n, name in enumerate(names)]
    path = written(tmp_path, lines({"id": "a", "attributed": links}))
    assert read_attributions(path).sentences["a"].categories == {
        AttributionCategory.NEAR_MATCH, AttributionCategory.EXPECTED_SPAN,
        AttributionCategory.EVIDENCE,
    }  # fmt: skip


def test_a_sentence_rests_on_what_its_propositions_rest_on(tmp_path: Path) -> None:
    evidence = {"node_id": "c", "sentence": 1, "categories": ["EVIDENCE"]}
    parts = [
        {"spans": [[0, 4], [9, 12]], "attributed": [evidence, {**LINK, "categories": "EVIDENCE"}]},
        {"attributed": [evidence]},
    ]
    path = written(
        tmp_path,
        lines(
            {"id": "a", "propositions": parts},
            {"id": "b", "propositions": [*parts, {"attributed": []}]},
            {"id": "c", "propositions": parts[1:], "attributed": [["c", 1]]},
        ),
    )
    found = read_attributions(path)
    assert {name: one.sources for name, one in found.sentences.items()} == {
        "a": {("c", 1), ("c", 3)}, "b": {("c", 1), ("c", 3)}, "c": {("c", 1)},
    }  # fmt: skip
    labels = [one.known_label for one in found.sentences.values()]
    assert labels == [Faithfulness.FAITHFUL, Faithfulness.UNFAITHFUL, Faithfulness.FAITHFUL]
    assert not found.notes


@pytest.mark.parametrize(
    ("given", "where", "message"),
    [
        ({"propositions": [3]}, "propositions[0]", "must be an object such as"),
        ({"propositions": [{"spans": [[4, 9], [2, 3]], "attributed": []}]},
         "propositions[0].spans", "must be pairs [start, end) in order"),
        ({"propositions": [{"spans": [[0, 0]], "attributed": []}]}, "propositions[0].spans",
         "must be pairs"),
        ({"propositions": [{}]}, "propositions[0], attributed", "must be a list"),
        ({"propositions": [{"attributed": [["c", 1]]}], "attributed": [["c", 2]]}, "attributed",
         "must name what the propositions name together"),
    ],
)  # fmt: skip
def test_propositions_that_say_nothing_clear_are_faults(
    tmp_path: Path, given: dict[str, Any], where: str, message: str
) -> None:
    with pytest.raises(InputError) as told:
        read_attributions(written(tmp_path, lines({"id": "a", **given})))
    assert [(one.where, message in one.message) for one in told.value.violations] == [
        (f"line 1, {where}", True)
    ]


def test_a_failed_sentence_is_not_one_without_attribution(tmp_path: Path) -> None:
    values = document(a_sentence(0, LINK), a_sentence(1, status="failed", error="no answer"))
    found = read_attributions(written(tmp_path, json.dumps(values), "a.json"))
    assert list(found.sentences) == ["t:0"]
    assert found.failed == ("t:1",)


def test_documents_of_several_processes_do_not_mix(tmp_path: Path) -> None:
    values = [document(a_sentence(0, LINK), process_id=name) for name in ("p", "q")]
    for path in (
        written(tmp_path, lines(*values)),
        written(tmp_path, json.dumps(values, indent=1), "a.json"),
    ):
        found = read_attributions(path)
        assert [one.sources for one in found.sentences.values()] == [{("p/c", 3)}, {("q/c", 3)}]
        assert list(found.sentences) == ["p/t:0", "q/t:0"]


def test_one_document_is_compared_with_files_of_several_processes(tmp_path: Path) -> None:
    gold = read_attributions(
        written(tmp_path, lines({"id": "p/t:0", "attributed": [["p/c", 3]]},
                                {"id": "q/t:0", "attributed": []}))
    )  # fmt: skip
    one = read_attributions(
        written(tmp_path, json.dumps(document(a_sentence(0, LINK), process_id="p")), "a.json")
    )
    score = AttributionScore(gold, one.named_as(gold))
    assert (score.missing, score.overlaps["p/t:0"].f1) == (["q/t:0"], 1.0)
    assert one.named_as(gold).passages == {("p/c", 3): Passage("A dog", 7)}
    back = AttributionScore(one, gold.named_as(one))
    assert (back.missing, back.overlaps["t:0"].f1) == ([], 1.0)
    assert one.named_as(one) is one
    alien = read_attributions(
        written(tmp_path, json.dumps(document(a_sentence(0, LINK), process_id="z")), "z.json")
    )
    assert alien.named_as(gold) is alien


def test_keys_that_are_not_used_are_named(tmp_path: Path) -> None:
    found = read_attributions(written(tmp_path, lines({"id": "a", "attributed": [], "lable": 1})))
    assert "keys that are not used: 'lable'" in found.notes[0]


@pytest.mark.parametrize(
    ("line", "kind", "where", "message"),
    [
        ("{", "not_json", "line 2", "not JSON"),
        ("[1]", "unknown_shape", "line 2", "must be"),
        ('{"id": "a"}', "unknown_shape", "line 2", "attributed"),
        ('{"id": "a", "attributed": []}', "duplicate", "line 2", "at line 1"),
        ('{"id": "", "attributed": []}', "wrong_value", "line 2, id", "whole number or a pair"),
        ('{"id": true, "attributed": []}', "wrong_value", "line 2, id", "must be"),
        ('{"id": "\\ud800", "attributed": []}', "wrong_value", "line 2, id", "must be"),
        ('{"id": "b", "attributed": null}', "wrong_value", "line 2, attributed", "a list"),
        ('{"id": "b", "attributed": ["c"]}', "wrong_value", "line 2, attributed[0]", "a pair"),
        (
            '{"id": "b", "attributed": [["c", -1]]}',
            "wrong_value", "line 2, attributed[0]", "from 0",
        ),
        (
            '{"id": "b", "attributed": [["c", "3"]]}',
            "wrong_value", "line 2, attributed[0]", "from 0",
        ),
        (
            '{"id": "b", "attributed": [], "label": "TRUE"}',
            "unknown_value", "line 2, label", "'TRUE'",
        ),
        ('{"id": "b", "attributed": [], "label": 1}', "unknown_value", "line 2, label", "number"),
        (
            '{"id": "b", "attributed": [["c", 1]], "categories": []}',
            "conflict", "line 2, categories", "only there",
        ),
        (
            '{"id": "b", "attributed": [], "categories": ["EVIDENCE"]}',
            "conflict", "line 2, categories", "must be empty",
        ),
        (
            '{"id": "b", "attributed": [["c", 1]], "categories": ["CLOSE"]}',
            "unknown_value", "line 2, categories", "'CLOSE' is none of EVIDENCE",
        ),
        (
            '{"id": "b", "attributed": [{"node_id": "c", "sentence": 1, "text": "abc", "start": 4,'
            ' "end": 9}]}',
            "wrong_value", "line 2, attributed[0].end", "must be 7",
        ),
        (
            '{"id": "b", "attributed": [{"node_id": "c", "sentence": 1, "text": 5}]}',
            "wrong_value", "line 2, attributed[0].text", "must be a text",
        ),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_line(
    tmp_path: Path, line: str, kind: str, where: str, message: str
) -> None:
    path = written(tmp_path, '{"id": "a", "attributed": []}\n' + line + "\n")
    ((found_kind, found_where, found_message),) = faults(path)
    assert (found_kind, found_where) == (kind, where)
    assert message in found_message


def test_every_fault_of_a_document_is_listed(tmp_path: Path) -> None:
    value = document(
        a_sentence(0, LINK), a_sentence(0), a_sentence(1, {**LINK, "text": "A cat"}), {"no": 1}
    )
    value["nodes"] += [{"node_id": "u", "sentences": None}, 5]
    found = faults(written(tmp_path, json.dumps(value), "a.json"))
    assert [(kind, where) for kind, where, _ in found] == [
        ("duplicate", "nodes[0].sentences[1]"),
        ("conflict", "nodes[0].sentences[2], attributed[0]"),
        ("wrong_value", "nodes[0].sentences[3]"),
        ("wrong_value", "nodes[1], sentences"),
        ("wrong_value", "nodes[2]"),
    ]


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("", "a.jsonl", "is empty"),
        ("[]", "a.json", "is empty"),
        ('{"nodes": []}', "a.json", "holds no sentences"),
        ("not json", "a.json", "cannot be read"),
    ],
)
def test_a_file_without_sentences_is_refused(
    tmp_path: Path, text: str, name: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_attributions(written(tmp_path, text, name))
    with pytest.raises(InputError, match="no such file"):
        read_attributions(tmp_path / "none")
    with pytest.raises(InputError, match="is a folder"):
        read_attributions(tmp_path)


def test_without_texts_there_is_no_iou_and_without_categories_no_kappa(tmp_path: Path) -> None:
    file = read_attributions(written(tmp_path, lines({"id": "a", "attributed": [["c", 1]]})))
    found = AttributionScore(file, file).as_json()
    assert found["iou"] is found["kappa_categories"] is None
    assert found["reasons"] == {
        "iou": "the text of 1 attributed sentence(s) is not known, such as sentence 1 of 'c'",
        "kappa_categories": "GOLD holds no categories",
    }
    nothing = read_attributions(written(tmp_path, lines({"id": "a", "attributed": []})))
    assert AttributionScore(nothing, nothing).as_json()["iou"] == 1


def test_other_texts_under_the_same_number_are_noticed(tmp_path: Path) -> None:
    first, second = (
        read_attributions(
            written(tmp_path, lines({"id": "a", "attributed": [{**LINK, "text": text}]}))
        )
        for text in ("A dog", "A cat")
    )
    assert unlike_passages(first, second) == [("c", 3)]
    assert unlike_passages(first, first) == []


def test_sources_are_a_process_or_split_texts(tmp_path: Path) -> None:
    process = {
        "format": "veritrail.process/1",
        "nodes": [
            {"node_id": "c", "text": "One dog. Two dogs."},
            {"node_id": "t", "text": "Dogs."},
        ],
        "edges": [{"source": "c", "target": "t"}],
    }
    found = read_sources(written(tmp_path, json.dumps(process), "process.json"))
    assert found.counts == {"c": 2, "t": 1}
    assert found.passages["c", 1] == Passage("Two dogs.", 9)
    assert found.non_literal is None
    split = {"node_id": "c", "sentences": ["One dog.", "Two dogs."], "non_literal": [1]}
    found = read_sources(written(tmp_path, lines(split)))
    assert found.counts == {"c": 2}
    assert found.non_literal == {("c", 1)}


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ("{", "line 2"),
        ("[]", "line 2"),
        ('{"node_id": "c", "sentences": []}', "line 2, node_id"),
        ('{"node_id": 5, "sentences": []}', "line 2, node_id"),
        ('{"node_id": "d", "sentences": [1]}', "line 2, sentences"),
        ('{"node_id": "d", "sentences": ["x"], "non_literal": [1]}', "line 2, non_literal"),
    ],
)
def test_faults_of_split_texts_have_lines(tmp_path: Path, line: str, where: str) -> None:
    path = written(tmp_path, '{"node_id": "c", "sentences": ["x"]}\n' + line + "\n")
    with pytest.raises(InputError) as raised:
        read_sources(path)
    assert [one.where for one in raised.value.violations] == [where]


@pytest.mark.parametrize(
    ("counts", "message"), [({"d": 9}, "lack, such as 'c'"), ({"c": 3}, "into 3 sentence")]
)
def test_sources_that_are_split_in_another_way_are_refused(
    tmp_path: Path, counts: dict[str, int], message: str
) -> None:
    file = read_attributions(written(tmp_path, lines({"id": "a", "attributed": [["c", 3]]})))
    with pytest.raises(InputError, match=message):
        refuse_other_splits(tmp_path, file, Sources(counts, {}))
    refuse_other_splits(tmp_path, file, Sources({"c": 4}, {}))


def test_attributing_nothing_is_a_category_of_its_own(tmp_path: Path) -> None:
    links = [["EVIDENCE"], ["NEAR_MATCH"], []]
    gold, nothing = (
        read_attributions(
            written(
                tmp_path,
                lines(
                    *(
                        {"id": n, "attributed": [["c", n]] if each else [], "categories": each}
                        for n, each in enumerate(categories)
                    )
                ),
            )
        )
        for categories in (links, [[], [], []])
    )
    assert AttributionScore(gold, nothing).figures()["kappa_categories"].value == 0
    assert AttributionScore(gold, gold).figures()["kappa_categories"].value == 1
    one_label = AttributionScore(nothing, nothing).as_json()
    assert one_label["reasons"] == {"kappa_categories": "one label only"}


def test_sentences_without_categories_take_no_part_in_kappa(tmp_path: Path) -> None:
    values = [
        {"id": 1, "attributed": [["c", 1]], "categories": ["EVIDENCE"]},
        {"id": 2, "attributed": [["c", 1]], "categories": ["NEAR_MATCH"]},
        {"id": 3, "attributed": [["c", 1]]},
    ]
    file = read_attributions(written(tmp_path, lines(*values)))
    found = AttributionScore(file, file).categories
    assert (found.sentences, found.kappa.value) == (2, 1)


def test_annotators_agree_by_the_means_over_every_two_of_them(tmp_path: Path) -> None:
    said = {
        "ann": {"s1": [0], "s2": [1], "s3": []},
        "ben": {"s1": [0], "s2": [], "s3": [1]},
        "cleo": {"s1": [1], "s2": [1]},  # did not reach the last sentence
    }
    files = {
        name: read_attributions(
            written(
                tmp_path,
                lines(
                    *(
                        {
                            "id": one,
                            "attributed": [["c", place] for place in places],
                            "categories": ["CONTRADICTION"] if places else [],
                            "label": "UNFAITHFUL",
                        }
                        for one, places in each.items()
                    )
                ),
                f"{name}.jsonl",
            )
        )
        for name, each in said.items()
    }
    source = {"node_id": "c", "sentences": ["The ferry sank.", "Nobody drowned."]}
    texts = read_sources(written(tmp_path, lines(source), "sources.jsonl"))
    found = agreement_of_annotators(files, texts)
    assert [one["annotators"] for one in found["pairs"]] == [
        ["ann", "ben"], ["ann", "cleo"], ["ben", "cleo"],
    ]  # fmt: skip
    assert [one["sentences"] for one in found["pairs"]] == [3, 2, 2]
    ious = [one["iou"] for one in found["pairs"]]
    assert ious == [pytest.approx(1 / 3), 0.5, 0]
    assert found["iou"] == pytest.approx(sum(ious) / 3)
    # Of seven comparisons, a pair and a sentence each, s1 and s2 agree once.
    assert (found["comparisons"], found["iou_by_comparison"]) == (7, pytest.approx(2 / 7))
    kappas = [one["kappa_categories"] for one in found["pairs"]]
    assert found["kappa_categories"] == pytest.approx(
        sum(one for one in kappas if one is not None) / sum(one is not None for one in kappas)
    )
