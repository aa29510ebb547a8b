"""Studies: who reads what how, what an answer must say, and the files that come out."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path

import pytest

from veritrail_eval.attribution.reading import read_attributions
from veritrail_eval.studies.files import csv_of, gold_of
from veritrail_eval.studies.model import ReaderLabel, Study, StudyAnswer, StudyTask
from veritrail_eval.studies.rules import check_answer, heard, modes_of, order_of, stopped
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.attribution import (
    Against,
    AttributedSentence,
    AttributionCategory,
    SourceMode,
)

BOTH = (SourceMode.PLAIN, SourceMode.HIGHLIGHTED)
FAITHFUL, UNFAITHFUL, UNSURE = ReaderLabel
EVIDENCE, NEAR = AttributionCategory.EVIDENCE, AttributionCategory.NEAR_MATCH


def study(documents: int = 7, seed: int = 0, task: StudyTask = StudyTask.JUDGE) -> Study:
    return Study(
        study_id="study-1", process_id="p", content_hash="h",
        nodes=tuple(f"n{number}" for number in range(documents)), sentences=(3,) * documents,
        task=task, modes=BOTH, against=Against.INPUTS, seed=seed,
        created_at="2026-01-31T09:30:00Z", created_by="local",
    )  # fmt: skip


def answer(sentence: int = 0, label: ReaderLabel | None = None, *marks: AttributionCategory,
           **other: object) -> StudyAnswer:  # fmt: skip
    made = tuple(
        AttributedSentence(node_id="r", sentence=number, start=0, end=2, text="A.",
                           categories=(category,))
        for number, category in enumerate(marks)
    )  # fmt: skip
    facts = {"study_id": "study-1", "reader": "Ada", "node_id": "n0", "sentence": sentence,
             "mode": "plain", "label": label, "marks": made, **other}  # fmt: skip
    return StudyAnswer.model_validate(facts)


@pytest.mark.parametrize("seed", range(5))
def test_each_reader_has_every_mode_equally_often_and_so_has_each_document(seed: int) -> None:
    made = study(seed=seed)
    by_reader = [modes_of(made, place) for place in range(6)]
    for modes in by_reader:
        counts = Counter(modes.values())
        assert abs(counts[SourceMode.PLAIN] - counts[SourceMode.HIGHLIGHTED]) <= 1
    for name in made.nodes:
        assert [modes[name] for modes in by_reader].count(SourceMode.PLAIN) == 3
    assert modes_of(made, 2) == by_reader[2]


def test_the_seed_decides_which_document_is_shown_how_and_in_which_order() -> None:
    assert len({tuple(modes_of(study(20, seed), 0).items()) for seed in range(10)}) == 10
    made = study(20)
    orders = [order_of(made, place) for place in range(3)]
    assert all(sorted(one) == sorted(made.nodes) for one in orders)
    assert orders[0] != orders[1] != orders[2]


@pytest.mark.parametrize(
    ("task", "label", "marks", "is_kept"),
    [
        (StudyTask.JUDGE, FAITHFUL, (), True),
        (StudyTask.JUDGE, None, (), False),
        (StudyTask.ANNOTATE, FAITHFUL, (EVIDENCE,), True),
        (StudyTask.ANNOTATE, FAITHFUL, (), False),
        (StudyTask.ANNOTATE, FAITHFUL, (EVIDENCE, NEAR), False),
        (StudyTask.ANNOTATE, UNFAITHFUL, (), True),
        (StudyTask.ANNOTATE, UNFAITHFUL, (EVIDENCE,), False),
        (StudyTask.ANNOTATE, UNFAITHFUL, (EVIDENCE, NEAR), True),
        (StudyTask.ANNOTATE, UNSURE, (), True),
    ],
)
def test_a_label_and_marks_that_contradict_each_other_are_refused(
    task: StudyTask, label: ReaderLabel | None, marks: tuple[AttributionCategory, ...],
    is_kept: bool,
) -> None:  # fmt: skip
    made = study(task=task)
    if is_kept:
        check_answer(made, answer(0, label, *marks))
        return
    with pytest.raises(InputError) as refused:
        check_answer(made, answer(0, label, *marks))
    assert [one.where for one in refused.value.violations] == ["label"]


def test_words_that_rest_on_nothing_make_a_sentence_unfaithful_beside_evidence() -> None:
    made = study(task=StudyTask.ANNOTATE)
    words = {"unfounded": "and sold it", "unfounded_spans": ((4, 9), (12, 15))}
    check_answer(made, answer(0, UNFAITHFUL, EVIDENCE, **words))
    with pytest.raises(InputError):
        check_answer(made, answer(0, FAITHFUL, EVIDENCE, **words))
    both, alone = gold_of(made, [answer(0, UNFAITHFUL, EVIDENCE, **words),
                                 answer(1, UNFAITHFUL, **words)]).splitlines()  # fmt: skip
    nothing = {"spans": [[4, 9], [12, 15]], "attributed": []}
    assert json.loads(both)["propositions"] == [
        {"attributed": json.loads(both)["attributed"]}, nothing,
    ]  # fmt: skip
    assert json.loads(alone)["propositions"] == [nothing]


def test_sources_of_a_part_are_a_proposition_of_the_gold_file(tmp_path: Path) -> None:
    made = study(task=StudyTask.ANNOTATE)
    parts = [{"node_id": "r", "sentence": 1, "text": "and sold it", "spans": [[4, 9], [12, 15]]}]
    text = gold_of(made, [
        answer(0, UNFAITHFUL, EVIDENCE, NEAR, parts=parts),
        answer(1, UNFAITHFUL, EVIDENCE, NEAR, parts=parts, unfounded="x", unfounded_spans=[[0, 3]]),
    ])  # fmt: skip
    first, second = map(json.loads, text.splitlines())
    evidence, near = first["attributed"]
    named = {"spans": [[4, 9], [12, 15]], "attributed": [near]}
    assert first["propositions"] == [{"attributed": [evidence]}, named]
    nothing = {"spans": [[0, 3]], "attributed": []}
    assert second["propositions"] == [{"attributed": [evidence]}, named, nothing]
    path = tmp_path / "gold.jsonl"
    path.write_text(text, encoding="utf-8")
    assert len(read_attributions(path).sentences["n0:0"].sources) == 2


def test_the_timer_counts_what_ran_before_and_what_runs_now() -> None:
    assert answer(seconds=2.5).elapsed(100.0) == 2.5
    assert answer(seconds=2.5, running_since=90.0).elapsed(100.0) == 12.5


def test_answers_are_a_row_each_and_no_cell_is_a_formula() -> None:
    said = answer(1, UNSURE, seconds=1.23456, note='=1+1, "so"\nit is', pauses=2, reader="@Ada",
                  answered_at="2026-01-31T09:31:00Z")  # fmt: skip
    (row,) = csv.DictReader(io.StringIO(csv_of(study(), [said])))
    assert (row["reader"], row["note"]) == ("'@Ada", '\'=1+1, "so"\nit is')
    assert [row[name] for name in ("document", "mode", "sentence", "label", "seconds")] == [
        "n0", "plain", "1", "UNSURE", "1.235"
    ]  # fmt: skip
    assert row["times_paused"] == "2"


def test_annotations_are_read_as_attributions_that_count_as_right(tmp_path: Path) -> None:
    made = study(task=StudyTask.ANNOTATE)
    answers = [
        answer(0, FAITHFUL, EVIDENCE),
        answer(1, UNFAITHFUL),
        answer(2, UNSURE, NEAR),
        answer(3, UNFAITHFUL, EVIDENCE, NEAR),
    ]
    path = tmp_path / "gold.jsonl"
    path.write_text(gold_of(made, answers), encoding="utf-8")
    found = read_attributions(path)
    assert list(found.sentences) == ["n0:0", "n0:1", "n0:3"]
    assert gold_of(study(), answers) == ""


def test_a_page_that_is_closed_stops_the_clock_where_it_was_last_heard_of() -> None:
    one = heard(answer(running_since=1_000.0), 1_000.0)
    for at in (1_001.0, 1_020.0, 1_080.0):  # a page in the background speaks once a minute
        one = heard(one, at, is_heartbeat=True)
    assert (one.elapsed(1_190.0), one.is_idle(1_190.0)) == (190.0, False)
    assert (one.elapsed(5_000.0), one.is_idle(5_000.0)) == (80.0, True)
    again = heard(one, 5_000.0)  # the reader is back
    assert (again.elapsed(5_010.0), again.idle_seconds) == (90.0, 3_920.0)
    done = stopped(again, 5_030.0, paused=False)
    assert (done.seconds, done.idle_seconds, done.running_since) == (110.0, 3_920.0, None)


def test_without_scripts_ten_minutes_count_after_each_click() -> None:
    one = heard(answer(running_since=1_000.0), 1_000.0)
    assert (one.elapsed(1_600.0), one.is_idle(1_600.0)) == (600.0, False)
    assert (one.elapsed(9_000.0), one.is_idle(9_000.0)) == (600.0, True)
    clicked = heard(one, 1_500.0)
    done = stopped(clicked, 9_000.0, paused=False)
    assert (done.seconds, done.idle_seconds) == (1_100.0, 6_900.0)
    assert heard(done, 9_001.0, is_heartbeat=True) == done  # a late sign starts nothing
