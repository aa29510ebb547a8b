"""Set-ups of judging: what is shown, how often is asked, and figures equal to a slow reference."""

from __future__ import annotations

import asyncio
import csv
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from fakes.asking import ScriptedAsking
from fakes.model_prompts import SourcePrompt, parse_sources

from veritrail_eval.attribution.model import AttributionFile
from veritrail_eval.attribution.reading import read_attributions
from veritrail_eval.attribution.setups import (
    Row,
    SetUps,
    cases_of,
    groups_of,
)
from veritrail_eval.attribution.sources import Sources, read_sources, together
from veritrail_eval.attribution.tables import write_set_ups
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.attribution import SourceMode
from veritrail_graph.verifier.models.port import (
    EndpointRefused,
    Meter,
    OverBudget,
    Request,
    Step,
    TransportFault,
)
from veritrail_graph.verifier.prompted import PromptedStep
from veritrail_graph.verifier.prompts import load_prompts

PROMPTS = load_prompts()
ALL = tuple(SourceMode)
Lines = list[dict[str, Any]]


def written(folder: Path, name: str, lines: Lines) -> Path:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def random_case(folder: Path, seed: int) -> tuple[AttributionFile, Sources, Lines]:
    rng = random.Random(seed)
    sources: Lines = [
        {"node_id": f"d{n}", "sentences": [f"Pier {n} has {m} posts." for m in range(6)]}
        for n in range(12)
    ]
    lines: Lines = []
    for number in range(rng.randint(6, 20)):
        document = f"d{rng.randrange(5)}"
        places = rng.sample(range(6), rng.choice((0, 1, 2)))
        lines.append(
            {
                "id": f"s{number}",
                "text": f"Sentence {number}.",
                "label": rng.choice(("FAITHFUL", "UNFAITHFUL")),
                "documents": [document],
                "attributed": [[document, place] for place in sorted(places)],
            }
        )
    gold = read_attributions(written(folder, "gold", lines))
    return gold, read_sources(written(folder, "sources", sources)), lines


def answer_to(shown: SourcePrompt) -> str:
    """A label that depends on all that is shown."""
    return random.Random(repr(shown)).choice(("FAITHFUL", "UNFAITHFUL"))


def judged(
    gold: AttributionFile,
    sources: Sources,
    sizes: tuple[int, ...] = (1,),
    modes: tuple[SourceMode, ...] = ALL,
    reader: Any = None,
) -> tuple[list[Row], list[SourcePrompt]]:
    shown: list[SourcePrompt] = []

    def answer(request: Request) -> str:
        prompt = parse_sources(request.user, "faithfulness")
        shown.append(prompt)
        label = (reader or answer_to)(prompt)
        return json.dumps({"label": label, "reason": "So."})

    cases, _ = cases_of(gold, None, sources)
    groups = {size: groups_of(cases, size, sources.documents, 3) for size in sizes}
    step = PromptedStep(PROMPTS[Step.FAITHFULNESS], ScriptedAsking(answer))
    return asyncio.run(SetUps(step, sources.node, Meter()).run(cases, groups, modes)), shown


@pytest.mark.parametrize("seed", range(4))
def test_figures_are_those_of_a_slow_reference(seed: int, tmp_path: Path) -> None:
    from sklearn.metrics import balanced_accuracy_score

    gold, sources, lines = random_case(tmp_path, seed)
    rows, shown = judged(gold, sources, (1, 10))
    assert [(row.set_up.value, row.size) for row in rows] == [
        ("plain", 1), ("highlighted", 1), ("plain", 10), ("highlighted", 10),
        ("attribution", None), ("mixed", 1),
    ]  # fmt: skip
    attributed = [line for line in lines if line["attributed"]]
    assert len(shown) == 4 * len(lines) + len(attributed)  # alone: once for both sizes

    def said(line: dict[str, Any], blocks: int, *, marks: bool, alone: bool = False) -> str:
        if alone and not line["attributed"]:
            return "UNFAITHFUL"
        (found,) = [
            one
            for one in shown
            if one.text == line["text"]
            and (one.marked is not None) == marks
            and (len(one.sentences) == len(line["attributed"]) if alone
                 else len(one.sentences) == 6 * blocks)
        ]  # fmt: skip
        return answer_to(found)

    tables = {
        ("plain", 1): lambda line: said(line, 1, marks=False),
        ("highlighted", 1): lambda line: said(line, 1, marks=True),
        ("plain", 10): lambda line: said(line, 10, marks=False),
        ("highlighted", 10): lambda line: said(line, 10, marks=True),
        ("attribution", None): lambda line: said(line, 1, marks=False, alone=True),
        ("mixed", 1): lambda line: said(line, 1, marks=False, alone=line["label"] == "FAITHFUL"),
    }
    for row in rows:
        labels = [tables[row.set_up.value, row.size](line) for line in lines]
        assert [one.label for one in row.judged] == labels
        figure = row.balanced_accuracy
        truth = [line["label"] for line in lines]
        if len(set(truth)) == 2:
            assert figure.value == pytest.approx(balanced_accuracy_score(truth, labels))
        else:
            assert figure.reason is not None


def test_a_document_stands_among_others_in_one_order_for_all_its_sentences(tmp_path: Path) -> None:
    gold, sources, lines = random_case(tmp_path, 1)
    _, shown = judged(gold, sources, (10,), (SourceMode.PLAIN, SourceMode.HIGHLIGHTED))
    orders: dict[str, set[tuple[str, ...]]] = {}
    places = set()
    for prompt in shown:
        (line,) = [line for line in lines if line["text"] == prompt.text]
        (own,) = line["documents"]
        order = tuple(block.sentences[min(block.sentences)] for block in prompt.blocks)
        assert len(set(order)) == 10
        first = f"Pier {own[1:]} has 0 posts."
        places.add(order.index(first))
        orders.setdefault(own, set()).add(order)
        texts = [prompt.sentences[number] for number in prompt.marked or ()]
        if prompt.marked is not None:
            own_texts = [f"Pier {own[1:]} has {place} posts." for _, place in line["attributed"]]
            assert sorted(texts) == sorted(own_texts)
    assert all(len(each) == 1 for each in orders.values())
    assert len(places) > 1
    cases, _ = cases_of(gold, None, sources)
    again = groups_of(cases, 10, sources.documents, 3)
    assert again == groups_of(cases, 10, sources.documents, 3)
    assert again != groups_of(cases, 10, sources.documents, 4)
    with pytest.raises(InputError, match="12 are needed"):
        groups_of(cases, 13, sources.documents, 3)


@pytest.mark.parametrize(
    ("fault", "status"),
    [(OverBudget("spent"), Status.OVER_BUDGET), (TransportFault("gone"), Status.FAILED)],
)
def test_what_failed_has_no_label_and_is_left_out(
    fault: Exception, status: Status, tmp_path: Path
) -> None:
    gold, sources, lines = random_case(tmp_path, 5)

    def reader(shown: SourcePrompt) -> str:
        if shown.text == "Sentence 0.":
            raise fault
        return "FAITHFUL"

    (row,) = judged(gold, sources, (1,), (SourceMode.PLAIN,), reader)[0]
    assert (row.judged[0].status, row.judged[0].label) == (status, None)
    document = row.as_json()
    assert (document["sentences"], document["not_judged"]) == (len(lines) - 1, 1)


def test_a_refused_endpoint_is_asked_no_more(tmp_path: Path) -> None:
    gold, sources, lines = random_case(tmp_path, 5)

    def refuse(_shown: SourcePrompt) -> str:
        raise EndpointRefused("no such key")

    rows, shown = judged(gold, sources, (1,), ALL, refuse)
    labels = [one.label for row in rows for one in row.judged]
    by_definition = sum(not line["attributed"] for line in lines)
    assert labels.count(None) >= len(labels) - 2 * by_definition
    assert len(shown) <= len(lines)


def test_a_sentence_whose_attribution_failed_is_judged_by_its_documents_alone(
    tmp_path: Path,
) -> None:
    gold, sources, lines = random_case(tmp_path, 7)
    open_lines = [{**line, "attributed": [], "status": "failed"} for line in lines]
    some = read_attributions(written(tmp_path, "open", open_lines))
    rows, _ = judged(some, sources)
    counts = {row.set_up.value: row.as_json()["not_judged"] for row in rows}
    unfaithful = sum(line["label"] == "UNFAITHFUL" for line in lines)
    assert counts == {
        "plain": 0, "highlighted": len(lines), "attribution": len(lines),
        "mixed": len(lines) - unfaithful,
    }  # fmt: skip
    cases, _ = cases_of(some, gold, sources)
    assert [case.attributed for case in cases] == [one.sources for one in gold.sentences.values()]


def test_what_cannot_be_judged_is_listed(tmp_path: Path) -> None:
    sources = read_sources(
        written(tmp_path, "s", [{"node_id": "d", "sentences": ["A."]},
                                {"node_id": "e", "sentences": []}])
    )  # fmt: skip
    lines: Lines = [
        {"id": "a", "attributed": [["d", 0]], "label": "FAITHFUL"},
        {"id": "b", "attributed": [], "label": "FAITHFUL", "text": "B."},
        {"id": "c", "attributed": [], "label": "FAITHFUL", "text": "C.", "documents": ["e"]},
        {"id": "e", "attributed": [["d", 7]], "label": "FAITHFUL", "text": "E."},
        {"id": "f", "attributed": [["d", 0]], "text": "F."},
    ]
    with pytest.raises(InputError, match="4 sentences cannot be judged") as raised:
        cases_of(read_attributions(written(tmp_path, "g", lines)), None, sources)
    assert [one.where for one in raised.value.violations] == [
        "sentence 'a'", "sentence 'b'", "sentence 'c'", "sentence 'e'",
    ]  # fmt: skip
    with pytest.raises(InputError, match="No sentence of GOLD has a label"):
        cases_of(read_attributions(written(tmp_path, "h", lines[4:])), None, sources)
    for wrong in ({"text": 3}, {"documents": []}, {"documents": "d"}):
        with pytest.raises(InputError, match="a fault"):
            read_attributions(written(tmp_path, "w", [{**lines[0], **wrong}]))


def test_attributions_of_other_sentences_are_refused_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    sources = read_sources(written(tmp_path, "s", [{"node_id": "p/d", "sentences": ["A."]}]))
    line = {"id": "p/t:0", "text": "A.", "label": "FAITHFUL", "documents": ["p/d"]}
    gold = read_attributions(written(tmp_path, "g", [{**line, "attributed": []}]))
    sentence = {"sentence": 0, "attributed": [{"node_id": "d", "sentence": 0}]}
    for process_id, fits in (("p", True), ("q", False)):
        run = {"process_id": process_id, "nodes": [{"node_id": "t", "sentences": [sentence]}]}
        predicted = read_attributions(written(tmp_path, "p", [run]))
        if fits:
            (case,), _ = cases_of(gold, predicted, sources)
            assert case.attributed == {("p/d", 0)}
            continue
        with pytest.raises(InputError, match=r"name 't:0' and the like, GOLD names 'p/t:0'"):
            cases_of(gold, predicted, sources)


def test_documents_come_from_edges_attributions_or_the_file(tmp_path: Path) -> None:
    process = {
        "format": "veritrail.process/1",
        "process_id": "p",
        "nodes": [
            {"node_id": "a", "text": "A is here.", "stage": 1},
            {"node_id": "b", "text": "B is here.", "stage": 1},
            {"node_id": "t", "text": "A and B are here.", "stage": 2},
        ],
        "edges": [{"source": "a", "target": "t"}, {"source": "b", "target": "t"}],
    }
    folder = tmp_path / "processes"
    folder.mkdir()
    (folder / "p.json").write_text(json.dumps(process), encoding="utf-8")
    line = {"id": "t:0", "text": "A and B are here.", "label": "FAITHFUL", "attributed": []}
    gold = read_attributions(written(tmp_path, "gold", [line]))
    one = read_sources(folder / "p.json")
    assert cases_of(gold, None, one)[0][0].documents == ("a", "b")
    assert one.documents == ["a", "b"]
    (folder / "q.json").write_text(json.dumps({**process, "process_id": "q"}), encoding="utf-8")
    both = read_sources(folder)
    assert both.inputs == {"p/t": ("p/a", "p/b"), "q/t": ("q/a", "q/b")}
    assert both.node("q/a").text == "A is here."
    split = read_sources(written(tmp_path, "s", [{"node_id": "a", "sentences": ["A is gone."]}]))
    with pytest.raises(InputError, match="one text in the sources and another"):
        together(one, split)


def test_tables_hold_every_judgement(tmp_path: Path) -> None:
    gold, sources, lines = random_case(tmp_path, 2)
    rows, _ = judged(gold, sources, (1, 3))
    paths = write_set_ups(tmp_path / "out", rows)
    assert [path.name for path in paths] == ["set-ups.csv", "labels.csv", "set-ups.svg"]
    assert len(paths[0].read_text("utf-8").splitlines()) == 1 + len(rows)
    assert len(paths[1].read_text("utf-8").splitlines()) == 1 + len(rows) * len(lines)
    picture = ElementTree.parse(paths[2]).getroot()
    titles = {one.text for one in picture.iter("{http://www.w3.org/2000/svg}title")}
    assert len(titles) == sum(row.balanced_accuracy.value is not None for row in rows)
    (alone,) = (row.balanced_accuracy.value for row in rows if row.size is None)
    assert f"any documents, attribution: {100 * (alone or 0):.1f} %" in titles


def test_a_judgement_without_a_reason_has_an_empty_cell(tmp_path: Path) -> None:
    gold, sources, _ = random_case(tmp_path, 2)
    (row, *_), _ = judged(gold, sources, (1,))
    row = replace(row, judged=[replace(one, reason=None, score=None) for one in row.judged])
    _, labels, _ = write_set_ups(tmp_path / "out", [row])
    with labels.open(encoding="utf-8", newline="") as file:
        assert {(one["score"], one["reason"]) for one in csv.DictReader(file)} == {("", "")}
