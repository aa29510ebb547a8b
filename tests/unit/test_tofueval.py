"""TofuEval as it is published: an invented folder of its layout."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from veritrail_graph.evaluation.datasets.loading import load_dataset
from veritrail_graph.evaluation.held_process import HeldProcess
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict

HEADER = (
    "doc_id", "annotation_id", "topic", "model_name", "sent_idx", "summ_sent", "sent_label",
    "exp", "type",
)  # fmt: skip


def written(path: Path, rows: Sequence[Sequence[object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def rows_of(*doc_ids: str) -> list[tuple[object, ...]]:
    """Two topics of three models with two sentences each, the later sentence first."""
    return [
        (
            doc_id,
            1,
            topic,
            model,
            place,
            f"{model} says {place}.",
            "no" if place == 2 else "yes",
            "",
            "",
        )
        for doc_id in doc_ids
        for topic in ("Boats", "Nets")
        for model in ("model_A", "model_B", "model_C")
        for place in (2, 1)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    labels = tmp_path / "factual_consistency"
    written(labels / "mediasum_factual_eval_dev.csv", [HEADER, *rows_of("NPR-1", "NPR-2")])
    written(labels / "meetingbank_factual_eval_test.csv", [HEADER, *rows_of("Council_1 Res 5")])
    documents = [("doc_id", "source"), ("NPR-1", "A: Boats.\nB: Nets."), ("NPR-2", "A: Nets.")]
    written(tmp_path / "mediasum_dev_doc.csv", documents)
    documents = [("meeting_id", "source"), ("Council_1 Res 5", "The chair opened it.")]
    written(tmp_path / "documents" / "meetingbank_test_doc.csv", documents)
    return tmp_path


def test_a_document_is_a_process_and_a_sentence_a_claim(folder: Path) -> None:
    dataset = load_dataset(folder)
    assert dataset.name == "tofueval"
    assert list(dataset.processes) == [
        "mediasum.dev.NPR-1", "mediasum.dev.NPR-2", "meetingbank.test.Council_1-Res-5"
    ]  # fmt: skip
    assert len(dataset.claims) == len(dataset.labelled) == 3 * 2 * 3 * 2
    held = HeldProcess.read(dataset.processes["mediasum.dev.NPR-1"]())
    assert held.texts["document"] == "A: Boats.\nB: Nets."
    assert held.texts["Boats / model_A"] == "model_A says 1. model_A says 2."
    assert [ref.node_id for ref in held.roots] == ["document"]
    first, second = dataset.claims[:2]
    assert (first.claim_id, first.text, first.label, first.error_stages) == (
        "s1.1", "model_A says 1.", Verdict.FULLY_SUPPORTED, None
    )  # fmt: skip
    assert (second.label, second.error_stages) == (Verdict.NOT_FULLY_SUPPORTED, (2,))
    for claim in dataset.claims:
        own = HeldProcess.read(dataset.processes[claim.process_id]())
        assert claim.text in own.texts[own.node_of(claim.node_id).node_id]


def test_one_summary_of_each_topic_is_always_the_same_one(folder: Path) -> None:
    first, again = (load_dataset(folder, format_name="tofueval-one") for _ in range(2))
    assert first.claims == again.claims
    assert len({(one.process_id, one.node_id) for one in first.claims}) == 3 * 2
    assert first.description == "6 summaries of 3 documents, labelled sentence by sentence."


def test_one_file_is_its_split_alone(folder: Path) -> None:
    path = folder / "factual_consistency" / "meetingbank_factual_eval_test.csv"
    assert list(load_dataset(path).processes) == ["meetingbank.test.Council_1-Res-5"]


def test_what_is_not_there_is_said(folder: Path) -> None:
    written(folder / "mediasum_dev_doc.csv", [("doc_id", "source"), ("NPR-2", "A: Nets.")])
    path = folder / "factual_consistency" / "mediasum_factual_eval_dev.csv"
    written(path, [HEADER, *rows_of("NPR-1", "NPR-2"), rows_of("NPR-2")[0]])
    dataset = load_dataset(path)
    assert list(dataset.processes) == ["mediasum.dev.NPR-2"]
    repeated, lacking = dataset.remarks
    assert "row 26: the sentence is there already" in repeated
    assert "1 document(s) have no text, such as 'NPR-1'" in lacking
    (folder / "mediasum_dev_doc.csv").unlink()
    with pytest.raises(InputError, match=r"mediasum_dev_doc\.csv is not there"):
        load_dataset(path)


def test_faults_have_rows_and_columns(folder: Path) -> None:
    path = folder / "factual_consistency" / "mediasum_factual_eval_dev.csv"
    bad = ("NPR-1", 1, "Boats", "model_A", "x", "", "maybe", "", "")
    written(path, [HEADER, bad])
    with pytest.raises(InputError) as raised:
        load_dataset(path)
    assert {one.where for one in raised.value.violations} == {
        "row 2, column summ_sent", "row 2, column sent_label", "row 2, column sent_idx"
    }  # fmt: skip
