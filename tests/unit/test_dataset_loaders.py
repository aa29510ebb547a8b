"""Loaders of other people's data sets, on small invented files in the same layouts."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from veritrail_graph.evaluation.datasets.labels import AnnotatorLabel
from veritrail_graph.evaluation.datasets.loaders.building import public_id
from veritrail_graph.evaluation.datasets.loaders.fables import chunks_of, read_summaries
from veritrail_graph.evaluation.datasets.loading import find_loader, load_dataset
from veritrail_graph.evaluation.datasets.model import Dataset
from veritrail_graph.evaluation.held_process import HeldProcess
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict

FS, NFS, UNCLEAR = Verdict.FULLY_SUPPORTED, Verdict.NOT_FULLY_SUPPORTED, Verdict.INCONCLUSIVE
QUAY = "The quay of Norrby opened in 1901. It was built of granite. Two cranes stood on it."


def _json(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def _lines(path: Path, rows: list[Any]) -> Path:
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def _csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def _labels(dataset: Dataset) -> list[Verdict | None]:
    return [claim.label for claim in dataset.claims]


def _held(dataset: Dataset) -> list[HeldProcess]:
    """Every process, which must keep the rules and have the nodes that claims name."""
    found = {name: HeldProcess.read(opened()) for name, opened in dataset.processes.items()}
    for name, process in found.items():
        assert process.process_id == name
        assert process.survey.warnings == ()
    for claim in dataset.claims:
        process = found[claim.process_id]
        node = process.node_of(claim.node_id)
        assert not node.is_root
        assert process.roots_below(node.node_id)
    return list(found.values())


# SummEdits

EDIT = {
    "id": "quay_og",
    "doc": QUAY,
    "summary": "The quay is from 1901.",
    "label": 1,
    "original_summary": "The quay is from 1901.",
    "edit_types": [],
    "split": "evaluation",
}
EDITED = {
    **EDIT,
    "id": "quay_1",
    "summary": "The quay is from 1910.",
    "label": 0,
    "edit_types": ["entity_modification"],
}


def _summedits(folder: Path, rows: list[Any]) -> Path:
    return _json(folder / "summedits_ports.json", rows)


def test_summedits_takes_a_summary_as_a_claim(tmp_path: Path) -> None:
    found = load_dataset(_summedits(tmp_path, [EDIT, EDITED]))
    assert _labels(found) == [FS, NFS]
    (process,) = _held(found)
    assert len(process.roots) == 1
    assert found.claims[1].label_origin == "SummEdits: entity modification"
    assert found.claims[1].node_id == "summary/quay_1"
    assert load_dataset(tmp_path).claims == found.claims


# LLM-AggreFact

FACTS = [
    {"dataset": "Ports", "doc": QUAY, "claim": "It is of granite.", "label": 1},
    {"dataset": "Ports", "doc": QUAY, "claim": "It is of oak.", "label": 0},
    {"dataset": "Ports", "doc": QUAY, "claim": "It is of oak.", "label": 0},
    {"dataset": "Locks", "doc": "A lock.", "claim": "It is of oak.", "label": 0},
]


def _parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("dev-00000.parquet", _parquet),
        ("dev.csv", _csv),
        ("dev.jsonl", _lines),
        ("dev.jsonl.gz", _lines),
        ("dev.json", _json),
    ],
)
def test_aggrefact_is_read_from_every_kind_of_table(
    tmp_path: Path, name: str, write: Callable[[Path, list[Any]], Path]
) -> None:
    path = write(tmp_path / name, FACTS)
    assert find_loader(path).name == "llm-aggrefact"
    found = load_dataset(path)
    assert _labels(found) == [FS, NFS, NFS]
    assert sorted(len(one.nodes) for one in _held(found)) == [2, 3]
    assert found.remarks == ("1 times: row that repeats another one: kept once",)
    assert {one.label_origin for one in found.claims} == {"Ports, dev", "Locks, dev"}


# AttributionBench

STATEMENT = {
    "question": "When did the quay open?",
    "claim": "It opened in 1901.",
    "claim_raw_string": "It opened in 1901.",
    "response": "It opened in 1901. It is of oak.",
    "references": ["The quay opened in 1901.", "The quay has two cranes."],
    "citation_links": [],
    "webpage_references": [],
    "attribution_label": "attributable",
    "src_dataset": "Ports",
    "id": "Ports_1",
}


def test_attributionbench_takes_a_row_with_its_references(tmp_path: Path) -> None:
    rows = [
        STATEMENT,
        {
            **STATEMENT,
            "id": "Ports_2",
            "claim": "It is of oak.",
            "references": ["The quay has two cranes."],
            "attribution_label": "not attributable",
        },
        {**STATEMENT, "id": "Ports_3", "references": []},
    ]
    found = load_dataset(_lines(tmp_path / "dev_all.jsonl", rows))
    assert _labels(found) == [FS, NFS]
    first, second = _held(found)
    assert (len(first.roots), len(second.roots)) == (2, 1)
    assert first.survey.header.question == "When did the quay open?"
    assert first.texts["response"] == STATEMENT["response"]
    assert "row without references" in found.remarks[0]


# QAGS


def _sentence(text: str, *answers: str) -> dict[str, Any]:
    responses = [{"worker_id": n, "response": one} for n, one in enumerate(answers)]
    return {"sentence": text, "responses": responses}


def test_qags_counts_the_workers(tmp_path: Path) -> None:
    sentences = [
        _sentence("It opened in 1901.", "yes", "no", "yes"),
        _sentence("It is of oak.", "no", "no", "yes"),
        _sentence("It has cranes.", "no", "yes"),
    ]
    row = {"article": QUAY, "summary_sentences": sentences}
    found = load_dataset(_lines(tmp_path / "mturk_ports.jsonl", [row]))
    assert _labels(found) == [FS, NFS, None]
    (process,) = _held(found)
    assert process.texts["summary"] == "It opened in 1901. It is of oak. It has cranes."
    assert [(one.annotator, one.label) for one in found.claims[0].labels] == [
        ("worker 0", AnnotatorLabel.FULLY_SUPPORTED),
        ("worker 1", AnnotatorLabel.NOT_FULLY_SUPPORTED),
        ("worker 2", AnnotatorLabel.FULLY_SUPPORTED),
    ]
    assert "without a majority" in found.remarks[0]


# RAGTruth

ANSWER = "The quay opened in 1901. It is of oak. Its cranes are blue, and ships come."


def _span(text: str, kind: str, **more: Any) -> dict[str, Any]:
    start = ANSWER.index(text)
    return {"start": start, "end": start + len(text), "text": text, "label_type": kind, **more}


RESPONSE = {
    "id": "7",
    "source_id": "q",
    "model": "a-model",
    "temperature": 0.7,
    "labels": [
        _span("oak", "Evident Conflict", meta="The source says granite.", implicit_true=False),
        _span("blue", "Subtle Baseless Info", meta=None),
    ],
    "split": "test",
    "quality": "good",
    "response": ANSWER,
}
PASSAGES = "passage 1:The quay opened in 1901.\n\npassage 2:Two cranes stand on it.\n\n"
SOURCES = [
    {
        "source_id": "q",
        "task_type": "QA",
        "source": "X",
        "source_info": {"question": "What is the quay?", "passages": PASSAGES},
        "prompt": "p",
    },
    {"source_id": "s", "task_type": "Summary", "source": "X", "source_info": QUAY, "prompt": "p"},
    {
        "source_id": "d",
        "task_type": "Data2txt",
        "source": "X",
        "source_info": {"name": "Quay", "review_info": [{"stars": 4}, {"stars": 2}]},
        "prompt": "p",
    },
]


def _ragtruth(folder: Path, responses: list[Any]) -> Path:
    _lines(folder / "source_info.jsonl", SOURCES)
    return _lines(folder / "response.jsonl", responses).parent


def test_ragtruth_labels_the_sentences_that_spans_overlap(tmp_path: Path) -> None:
    others = [
        {**RESPONSE, "id": "8", "source_id": "s", "labels": []},
        {**RESPONSE, "id": "9", "source_id": "d", "labels": []},
        {**RESPONSE, "id": "10", "labels": [], "quality": "incorrect_refusal"},
    ]
    found = load_dataset(_ragtruth(tmp_path, [RESPONSE, *others]))
    assert _labels(found)[:3] == [FS, NFS, NFS]
    assert _labels(found)[3:] == [FS] * 6
    refuted, baseless = (claim.labels[0] for claim in found.claims[1:3])
    assert (refuted.label, baseless.label) == (
        AnnotatorLabel.REFUTED,
        AnnotatorLabel.INSUFFICIENT,
    )
    assert "The source says granite." in refuted.comment
    assert found.claims[2].label_origin == "RAGTruth: Subtle Baseless Info"
    asked, summary, facts = _held(found)
    assert asked.survey.header.question == "What is the quay?"
    assert sorted(asked.texts) == ["passage/1", "passage/2", "response/7"]
    assert len(summary.roots) == 1
    assert sorted(facts.texts) == ["facts", "response/9", "review/1", "review/2"]
    assert "refuses" in found.remarks[0]
    assert load_dataset(tmp_path / "response.jsonl").claims == found.claims


# FaithBench

SUMMARY = " The quay opened in 1901. It is of oak. It is grand. It has cranes. It is old."


def _mark(text: str, *label: str, who: str = "a1") -> dict[str, Any]:
    start = SUMMARY.index(text)
    return {
        "annot_id": start,
        "annotator_id": who,
        "annotator_name": "Nobody",
        "label": list(label),
        "note": f"about {text}",
        "summary_span": text,
        "summary_start": start,
        "summary_end": start + len(text),
    }


SAMPLE = {
    "sample_id": 0,
    "source": QUAY,
    "summary": SUMMARY,
    "annotations": [
        _mark("oak", "Unwanted", "Unwanted.Intrinsic"),
        _mark("oak", "Questionable", who="a2"),
        _mark("grand", "Questionable"),
        _mark("cranes", "Benign"),
        _mark("old"),
    ],
    "metadata": {"summarizer": "a-model"},
}


def test_faithbench_takes_the_worst_label_of_a_sentence(tmp_path: Path) -> None:
    _json(tmp_path / "batch_3.json", {"samples": [SAMPLE]})
    found = load_dataset(tmp_path)
    assert _labels(found) == [FS, NFS, UNCLEAR, None, None]
    second = found.claims[1]
    assert second.label_origin == "FaithBench, worst label: Unwanted, Unwanted.Intrinsic"
    assert [(one.annotator, one.label) for one in second.labels] == [
        ("a1", AnnotatorLabel.REFUTED),
        ("a2", AnnotatorLabel.INCONCLUSIVE),
    ]
    assert second.labels[0].comment == "Unwanted, Unwanted.Intrinsic: about oak"
    assert [one.split(":")[0] for one in found.remarks] == ["1 times", "1 times"]
    (process,) = _held(found)
    assert process.texts["summary/3-0"] == SUMMARY
    assert load_dataset(tmp_path / "batch_3.json").claims == found.claims


def test_faithbench_as_a_table_has_a_claim_a_summary(tmp_path: Path) -> None:
    labels = ["Consistent", "Benign", "Questionable", "Unwanted"]
    rows = [
        {"source": QUAY, "summary": f"Summary {n}.", "LLM": "m", "worst-label": one}
        for n, one in enumerate(labels)
    ]
    found = load_dataset(_csv(tmp_path / "FaithBench.csv", rows))
    assert _labels(found) == [FS, None, UNCLEAR, NFS]
    _held(found)


# FABLES


def _claim(label: str, **more: Any) -> dict[str, Any]:
    return {"claim": f"Claim {label}.", "label": label, "evidence": [], "reason": [], **more}


BOOKS = {
    "The Quay: A Tale": {
        "MODEL-1": {
            "summary": "A quay is built.",
            "general_comment": "Short.",
            "claims": {
                "0": _claim("Yes", evidence=["the quay stood", "n/a"], reason=["", "It says so."]),
                "1": _claim("No"),
                "2": _claim("PartialSupport"),
                "3": _claim("Inapplicable"),
            },
        },
        "MODEL-2": {"summary": "A quay.", "general_comment": "", "claims": {"0": _claim("Yes")}},
    },
    "Untold": {"MODEL-1": {"summary": "S.", "general_comment": "", "claims": {"0": _claim("No")}}},
}


def test_fables_needs_the_books(tmp_path: Path) -> None:
    path = _json(tmp_path / "FABLES.json", {"canary": "c", "FABLES": BOOKS})
    with pytest.raises(InputError) as raised:
        load_dataset(path)
    assert [one.kind for one in raised.value.violations] == ["missing_file"] * 2
    assert "books/The Quay- A Tale.txt" in str(raised.value.violations[0])
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "the quay_ a tale.txt").write_text("One.\n\nTwo.\n", encoding="utf-8")
    found = load_dataset(tmp_path, skip_bad=True)
    assert _labels(found) == [FS, NFS, NFS, UNCLEAR, FS]
    assert "one row is bad and left out" in found.remarks[0]
    said = found.claims[0].labels[0]
    assert (said.quotes, said.comment) == (("the quay stood",), "It says so.")
    assert said.label is AnnotatorLabel.ALL_SUPPORTED
    (process,) = _held(found)
    assert process.texts["chunk/1"] == "One.\n\nTwo."
    assert process.metadata["summary/MODEL-1"]["comment"] == "Short."


def test_the_claims_of_fables_are_read_without_books(tmp_path: Path) -> None:
    found = read_summaries(_json(tmp_path / "FABLES.json", BOOKS))
    assert [(one.book, one.model, len(one.claims)) for one in found] == [
        ("The Quay: A Tale", "MODEL-1", 4),
        ("The Quay: A Tale", "MODEL-2", 1),
        ("Untold", "MODEL-1", 1),
    ]
    bad = {"A": {"B": {"summary": "S.", "claims": {"0": _claim("Perhaps")}}}}
    with pytest.raises(InputError) as raised:
        read_summaries(_json(tmp_path / "FABLES.json", bad))
    (fault,) = raised.value.violations
    assert fault.where == "'A', B, claims.0"


def test_a_book_is_cut_between_paragraphs() -> None:
    text = "aaaa\n\nbbbb\n \n\ncccccccccccc\n\ndd"
    assert list(chunks_of(text, longest=10).values()) == ["aaaa\n\nbbbb", "cccccccccccc", "dd"]
    assert chunks_of(" \n\n ") == {}


# DiverseSumm

STORY = {
    "eid": "story-1",
    "articles": [
        {"aid": "a", "title": "T", "url": "u", "domain": "d", "content": "The quay is of granite."},
        {"aid": "b", "title": "T", "url": "u", "domain": "d", "content": "Oak, they say."},
    ],
    "question_answers": [
        {
            "question": "What is it made of?",
            "answer_groups": [[{"aid": "a", "answer": "Granite"}], [{"aid": "b", "answer": "Oak"}]],
        },
        {"question": "When did it open?", "answer_groups": []},
    ],
}


def test_diversesumm_takes_validated_answers_as_supported(tmp_path: Path) -> None:
    found = load_dataset(_json(tmp_path / "diverse_summ.json", [STORY]))
    assert _labels(found) == [FS, FS]
    assert [one.text for one in found.claims] == [
        "What is it made of? Granite",
        "What is it made of? Oak",
    ]
    assert [one.documents for one in found.claims] == [("article/a",), ("article/b",)]
    (process,) = _held(found)
    assert len(process.roots) == 2
    assert found.remarks == ("1 times: question without an answer",)


# TofuEval


def _row(index: int, label: str, **more: Any) -> dict[str, Any]:
    return {
        "doc_id": "talk-1", "annotation_id": 1, "topic": "Cranes", "model_name": "Model-A",
        "sent_idx": index, "summ_sent": f"Sentence {index}.", "sent_label": label, "exp": "",
        "type": "", **more,
    }  # fmt: skip


def test_tofueval_needs_the_documents(tmp_path: Path) -> None:
    wrong = _row(10, "no", exp="No crane.", type="Extrinsic Information")
    rows = [wrong, _row(2, "yes"), _row(2, "yes"), _row(2, "yes", model_name="Model-B")]
    _csv(tmp_path / "talks_factual_eval_dev.csv", rows)
    with pytest.raises(InputError, match=r"documents of TofuEval are not beside"):
        load_dataset(tmp_path)
    _csv(tmp_path / "talks_dev_doc.csv", [{"meeting_id": "talk-1", "source": "A: Cranes?"}])
    found = load_dataset(tmp_path)
    assert _labels(found) == [FS, NFS, FS]
    assert found.claims[1].labels[0].comment == "Extrinsic Information; No crane."
    (process,) = _held(found)
    assert process.texts["summary/1"] == "Sentence 2. Sentence 10."
    assert "repeats another one" in found.remarks[0]
    assert load_dataset(tmp_path / "talks_factual_eval_dev.csv").claims == found.claims


# Who&When


def _log(**more: Any) -> dict[str, Any]:
    return {
        "is_correct": False,
        "question": "How long is the quay?",
        "question_ID": "x",
        "ground_truth": "120 m",
        "history": [
            {"content": "How long is the quay?", "role": "user", "name": "Asker"},
            {"content": "The quay is 210 m long.", "role": "assistant", "name": "Counter"},
            {"content": "FINAL ANSWER: 210 m", "role": "assistant", "name": "Writer"},
            {"content": "TERMINATE", "role": "assistant", "name": "Writer"},
        ],
        "mistake_agent": "Counter",
        "mistake_step": "1",
        "mistake_reason": "Two digits changed places.",
        **more,
    }


def test_who_and_when_has_a_claim_a_log_about_its_answer(tmp_path: Path) -> None:
    _json(tmp_path / "Hand" / "1.json", _log())
    _json(tmp_path / "Hand" / "2.json", _log(is_correct=True))
    found = load_dataset(tmp_path)
    first, second = found.claims
    assert (first.label, second.label) == (NFS, None)
    assert first.text == 'The answer to "How long is the quay?" is: 210 m'
    assert first.node_id == "message/2"
    process = HeldProcess.read(found.processes["Hand-1"]())
    assert first.error_stages == (process.node("message/1").stage,)
    assert first.labels[0].comment == "Two digits changed places."
    assert first.label_origin == "Who&When: Counter, step 1"
    table = _parquet(tmp_path / "Hand.parquet", [_log(), _log()])
    assert [one.text for one in load_dataset(table).claims] == [first.text] * 2


def test_a_mistake_at_no_message_has_no_stage(tmp_path: Path) -> None:
    found = load_dataset(_json(tmp_path / "1.json", _log(mistake_step=40)))
    assert found.claims[0].error_stages is None
    assert any("no error stage" in one for one in found.remarks)


# What is wrong

BAD = [
    ("ports.json", [EDIT, {**EDITED, "label": 2}], "entry 2: label: is neither 0 nor 1"),
    ("ports.json", [EDIT, {**EDITED, "label": None}], "entry 2: label: is neither 0 nor 1"),
    ("ports.json", [EDIT, {**EDITED, "doc": "  "}], "entry 2: doc: is empty"),
    ("ports.json", [EDIT, {**EDITED, "edit_types": "x"}], "entry 2: edit_types must be a list"),
    ("ports.json", [EDIT, "x"], "entry 2: must be a JSON object"),
    ("ports.json", [EDIT, EDIT], "entry 2: is 'quay_og' again, as entry 1 is"),
    ("ports.json", [EDIT, {**EDITED, "doc": "\ud800"}], "entry 2, column doc: holds half a"),
    (
        "x.jsonl",
        [FACTS[0], {**FACTS[0], "label": 0}],
        "line 2, column label: is not the label of line 1",
    ),
    (
        "x.jsonl",
        [STATEMENT, {**STATEMENT, "id": "2", "attribution_label": "maybe"}],
        "line 2: attribution_label must be one of attributable, not attributable",
    ),
    ("x.jsonl", [STATEMENT, STATEMENT], "line 2, column id: 'Ports_1' is the id of a row before"),
    (
        "x.jsonl",
        [
            {"article": QUAY, "summary_sentences": [_sentence("A b.", "yes")]},
            {"article": QUAY, "summary_sentences": [_sentence("A b.", "maybe")]},
        ],
        "line 2: summary_sentences.0.responses.0.response must be one of yes, no",
    ),
    (
        "x.jsonl",
        [
            {"article": QUAY, "summary_sentences": [_sentence("A b.", "yes")]},
            {"article": QUAY, "summary_sentences": []},
        ],
        "line 2, column summary_sentences: is empty",
    ),
    (
        "x.json",
        [STORY, {**STORY, "eid": "2", "articles": []}],
        "entry 2, column articles: is empty",
    ),
    ("x.json", [STORY, STORY], "entry 2, column eid: 'story-1' is the id of a story before"),
    (
        "batch_1.json",
        {"samples": [SAMPLE, {**SAMPLE, "sample_id": 1, "annotations": [{**_mark("oak", "Bad")}]}]},
        "batch_1.json, samples[1]: annotations.0.label.0 must be one of Consistent",
    ),
    (
        "batch_1.json",
        {
            "samples": [
                SAMPLE,
                {
                    **SAMPLE,
                    "sample_id": 1,
                    "annotations": [{**_mark("oak", "Benign"), "summary_end": 999}],
                },
            ]
        },
        "column annotations.0: 35 to 999 is no place in a text of",
    ),
]


@pytest.mark.parametrize(("name", "value", "said"), BAD, ids=[one[2][:40] for one in BAD])
def test_a_bad_row_is_an_error_or_counted(tmp_path: Path, name: str, value: Any, said: str) -> None:
    path = (_lines if name.endswith("jsonl") else _json)(tmp_path / name, value)
    with pytest.raises(InputError, match=r"nothing was read") as raised:
        load_dataset(path)
    assert raised.value.code == "bad_rows"
    assert any(said in str(one) for one in raised.value.violations), raised.value.violations
    found = load_dataset(path, skip_bad=True)
    assert found.remarks[0].startswith("one row is bad and left out; the first: ")
    assert said in found.remarks[0]
    assert found.claims
    assert found.claims == load_dataset(path, skip_bad=True).claims


BAD_RESPONSES = [
    ({**RESPONSE, "id": "8", "source_id": "zz"}, "column source_id: 'zz' is not in source_info"),
    (RESPONSE, "column id: '7' is the id of a response before"),
    ({**RESPONSE, "id": "8", "labels": [_span("oak", "Odd")]}, "labels.0.label_type must be one"),
    (
        {**RESPONSE, "id": "8", "labels": [{**_span("oak", "Subtle Conflict"), "start": -1}]},
        "column labels.0: -1 to",
    ),
]


@pytest.mark.parametrize(("bad", "said"), BAD_RESPONSES)
def test_a_bad_response_of_ragtruth_is_named(tmp_path: Path, bad: Any, said: str) -> None:
    folder = _ragtruth(tmp_path, [RESPONSE, bad])
    with pytest.raises(InputError) as raised:
        load_dataset(folder)
    (fault,) = raised.value.violations
    assert str(fault).startswith("response.jsonl, line 2")
    assert said in str(fault)
    assert len(load_dataset(folder, skip_bad=True).claims) == 3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"mistake_step": "x"}, "mistake_step: is no number of a message"),
        ({"mistake_agent": None}, "mistake_agent must be a string"),
        ({"history": []}, "column history: no message of a model"),
    ],
)
def test_a_bad_log_is_named(tmp_path: Path, change: Any, said: str) -> None:
    _json(tmp_path / "1.json", _log())
    _json(tmp_path / "2.json", _log(**change))
    (tmp_path / "3.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError) as raised:
        load_dataset(tmp_path)
    first, second = map(str, raised.value.violations)
    assert first.startswith("2.json")
    assert said in first
    assert second.startswith("3.json: ")
    assert len(load_dataset(tmp_path, skip_bad=True).claims) == 1


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("x.json", [{"id": "a", "doc": "d", "summary": "s", "edit_types": []}], "no column or key"),
        ("x.jsonl", [{"article": QUAY}], "no column or key 'summary_sentences'"),
        ("FABLES.json", {"A": {"B": {"summary": "s"}}}, "no books with summaries"),
    ],
)
def test_a_missing_key_is_another_format(tmp_path: Path, name: str, value: Any, said: str) -> None:
    path = (_lines if name.endswith("jsonl") else _json)(tmp_path / name, value)
    with pytest.raises(InputError):
        load_dataset(path)
    formats = {"x.json": "summedits", "x.jsonl": "qags", "FABLES.json": "fables"}
    loader = find_loader(path, formats[name])
    assert said in (loader.detect(path) or "")
    with pytest.raises(InputError, match=r"lacks the column|does not hold books"):
        loader.load(path)


@pytest.mark.parametrize("format_name", ["summedits", "llm-aggrefact", "qags", "ragtruth",
                                         "fables", "faithbench", "tofueval", "who-and-when"])  # fmt: skip
def test_empty_files_and_folders_are_errors(tmp_path: Path, format_name: str) -> None:
    empty = tmp_path / "x.json"
    empty.write_bytes(b"")
    folder = tmp_path / "folder"
    folder.mkdir()
    for path in (empty, folder):
        assert find_loader(path, format_name).detect(path) is not None
        with pytest.raises(InputError):
            load_dataset(path, format_name=format_name)


def test_a_damaged_parquet_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "dev.parquet"
    path.write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(InputError, match=r"may be damaged"):
        load_dataset(path, format_name="llm-aggrefact")


def test_ids_stay_different() -> None:
    assert public_id("a.b:c_d-1") == "a.b:c_d-1"
    assert public_id("a b") != public_id("a-b") != public_id("a/b")
    assert public_id("é").isascii()
    long = [public_id("x" * 300 + end) for end in "ab"]
    assert len(set(long)) == 2
    assert max(map(len, long)) <= 128
