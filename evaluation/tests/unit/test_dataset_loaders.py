"""Loaders of other people's data sets, on small invented files in the same layouts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from eval_fakes.dataset_files import (
    held_processes,
    labels_of,
    write_csv,
    write_json,
    write_lines,
    write_parquet,
)

from veritrail_eval.datasets.loaders.building import public_id
from veritrail_eval.datasets.loading import find_loader, load_dataset
from veritrail_eval.datasets.model import AnnotatorLabel
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict

FS, NFS, UNCLEAR = Verdict.FULLY_SUPPORTED, Verdict.NOT_FULLY_SUPPORTED, Verdict.INCONCLUSIVE
QUAY = "The quay of Norrby opened in 1901. It was built of granite. Two cranes stood on it."


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
    return write_json(folder / "summedits_ports.json", rows)


def test_summedits_takes_a_summary_as_a_claim(tmp_path: Path) -> None:
    found = load_dataset(_summedits(tmp_path, [EDIT, EDITED]))
    assert labels_of(found) == [FS, NFS]
    (process,) = held_processes(found)
    assert len(process.roots) == 1
    assert found.claims[1].label_origin == "SummEdits: entity modification"
    assert found.claims[1].node_id == "summary/quay_1"
    assert load_dataset(tmp_path).claims == found.claims


def test_summedits_refuses_two_labels_for_one_summary_of_one_document(tmp_path: Path) -> None:
    rows = [EDIT, EDITED, {**EDIT, "id": "quay_2"}, {**EDITED, "id": "quay_3", "label": 1}]
    path = _summedits(tmp_path, rows)
    with pytest.raises(InputError, match="read in the format summedits, has a fault") as raised:
        load_dataset(path)
    assert str(raised.value.violations[0]) == (
        "entry 4, column label: is not the label of entry 2, which has the same document and "
        "summary"
    )
    found = load_dataset(path, skip_bad=True)
    assert labels_of(found) == [FS, FS]
    assert found.remarks[0].startswith("2 rows are bad and left out; the first: entry 4, column")
    assert found.remarks[1] == "1 time: summary that repeats another one of its document: kept"


# LLM-AggreFact

FACTS = [
    {"dataset": "Ports", "doc": QUAY, "claim": "It is of granite.", "label": 1},
    {"dataset": "Ports", "doc": QUAY, "claim": "It is of oak.", "label": 0},
    {"dataset": "Ports", "doc": QUAY, "claim": "It is of oak.", "label": 0},
    {"dataset": "Locks", "doc": "A lock.", "claim": "It is of oak.", "label": 0},
]


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("dev-00000.parquet", write_parquet),
        ("dev.csv", write_csv),
        ("dev.jsonl", write_lines),
        ("dev.jsonl.gz", write_lines),
        ("dev.json", write_json),
    ],
)
def test_aggrefact_is_read_from_every_kind_of_table(
    tmp_path: Path, name: str, write: Callable[[Path, list[Any]], Path]
) -> None:
    path = write(tmp_path / name, FACTS)
    assert find_loader(path).name == "llm-aggrefact"
    found = load_dataset(path)
    assert labels_of(found) == [FS, NFS, NFS]
    assert sorted(len(one.nodes) for one in held_processes(found)) == [2, 3]
    assert found.remarks == ("1 time: row that repeats another one: kept once",)
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
    found = load_dataset(write_lines(tmp_path / "dev_all.jsonl", rows))
    assert labels_of(found) == [FS, NFS]
    first, second = held_processes(found)
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
    found = load_dataset(write_lines(tmp_path / "mturk_ports.jsonl", [row]))
    assert labels_of(found) == [FS, NFS, None]
    (process,) = held_processes(found)
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
    write_lines(folder / "source_info.jsonl", SOURCES)
    return write_lines(folder / "response.jsonl", responses).parent


def test_ragtruth_labels_the_sentences_that_spans_overlap(tmp_path: Path) -> None:
    others = [
        {**RESPONSE, "id": "8", "source_id": "s", "labels": []},
        {**RESPONSE, "id": "9", "source_id": "d", "labels": []},
        {**RESPONSE, "id": "10", "labels": [], "quality": "incorrect_refusal"},
    ]
    found = load_dataset(_ragtruth(tmp_path, [RESPONSE, *others]))
    assert labels_of(found)[:3] == [FS, NFS, NFS]
    assert labels_of(found)[3:] == [FS] * 6
    refuted, baseless = (claim.labels[0] for claim in found.claims[1:3])
    assert (refuted.label, baseless.label) == (
        AnnotatorLabel.REFUTED,
        AnnotatorLabel.INSUFFICIENT,
    )
    assert "The source says granite." in refuted.comment
    assert found.claims[2].label_origin == "RAGTruth: Subtle Baseless Info"
    asked, summary, facts = held_processes(found)
    assert asked.survey.header.question == "What is the quay?"
    assert sorted(asked.texts) == ["passage/1", "passage/2", "response/7"]
    assert len(summary.roots) == 1
    assert sorted(facts.texts) == ["facts", "response/9", "review/1", "review/2"]
    assert found.remarks == ("1 time: response of the quality incorrect_refusal: left out",)
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
    write_json(tmp_path / "batch_3.json", {"samples": [SAMPLE]})
    found = load_dataset(tmp_path)
    assert labels_of(found) == [FS, NFS, UNCLEAR, None, None]
    second = found.claims[1]
    assert second.label_origin == "FaithBench, worst label: Unwanted, Unwanted.Intrinsic"
    assert [(one.annotator, one.label) for one in second.labels] == [
        ("a1", AnnotatorLabel.REFUTED),
        ("a2", AnnotatorLabel.INCONCLUSIVE),
    ]
    assert second.labels[0].comment == "Unwanted, Unwanted.Intrinsic: about oak"
    assert [one.split(":")[0] for one in found.remarks] == ["1 time", "1 time"]
    (process,) = held_processes(found)
    assert process.texts["summary/3-0"] == SUMMARY
    assert load_dataset(tmp_path / "batch_3.json").claims == found.claims


def test_faithbench_as_a_table_has_a_claim_a_summary(tmp_path: Path) -> None:
    labels = ["Consistent", "Benign", "Questionable", "Unwanted"]
    rows = [
        {"source": QUAY, "summary": f"Summary {n}.", "LLM": "m", "worst-label": one}
        for n, one in enumerate(labels)
    ]
    found = load_dataset(write_csv(tmp_path / "FaithBench.csv", rows))
    assert labels_of(found) == [FS, None, UNCLEAR, NFS]
    held_processes(found)


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
    found = load_dataset(write_json(tmp_path / "diverse_summ.json", [STORY]))
    assert labels_of(found) == [FS, FS]
    assert [one.text for one in found.claims] == [
        "What is it made of? Granite",
        "What is it made of? Oak",
    ]
    assert [one.documents for one in found.claims] == [("article/a",), ("article/b",)]
    (process,) = held_processes(found)
    assert len(process.roots) == 2
    assert found.remarks == ("1 time: question without an answer",)


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
        [FACTS[0], {**FACTS[0], "label": 0}, FACTS[1]],
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
    path = (write_lines if name.endswith("jsonl") else write_json)(tmp_path / name, value)
    with pytest.raises(InputError, match=r"nothing was read") as raised:
        load_dataset(path)
    assert raised.value.code == "bad_rows"
    assert any(said in str(one) for one in raised.value.violations), raised.value.violations
    found = load_dataset(path, skip_bad=True)
    rows = "2 rows are" if "is not the label of" in said else "one row is"
    assert found.remarks[0].startswith(f"{rows} bad and left out; the first: ")
    assert said in found.remarks[0]
    assert found.claims
    assert found.claims == load_dataset(path, skip_bad=True).claims


BAD_RESPONSES = [
    ({**RESPONSE, "id": "8", "source_id": "zz"}, "column source_id: 'zz' is not in source_info"),
    (RESPONSE, "column id: '7' is the id of a response before"),
    (
        {**RESPONSE, "id": "8", "labels": [_span("oak", "Odd")]},
        "labels.0.label_type: names neither a conflict",
    ),
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
    ("name", "value", "said"),
    [
        ("x.json", [{"id": "a", "doc": "d", "summary": "s", "edit_types": []}], "no column or key"),
        ("x.jsonl", [{"article": QUAY}], "no column or key 'summary_sentences'"),
        ("FABLES.json", {"A": {"B": {"summary": "s"}}}, "no books with summaries"),
    ],
)
def test_a_missing_key_is_another_format(tmp_path: Path, name: str, value: Any, said: str) -> None:
    path = (write_lines if name.endswith("jsonl") else write_json)(tmp_path / name, value)
    with pytest.raises(InputError):
        load_dataset(path)
    formats = {"x.json": "summedits", "x.jsonl": "qags", "FABLES.json": "fables"}
    loader = find_loader(path, formats[name])
    assert said in (loader.detect(path) or "")
    with pytest.raises(InputError, match=r"lacks the column|does not hold books"):
        loader.load(path)


@pytest.mark.parametrize(
    "format_name",
    [
        "summedits",
        "llm-aggrefact",
        "qags",
        "ragtruth",
        "fables",
        "faithbench",
        "tofueval",
        "who-and-when",
    ],
)
def test_empty_files_and_folders_are_errors(tmp_path: Path, format_name: str) -> None:
    empty = tmp_path / "x.json"
    empty.write_bytes(b"")
    folder = tmp_path / "folder"
    folder.mkdir()
    for path in (empty, folder):
        assert find_loader(path, format_name).detect(path) is not None
        with pytest.raises(InputError):
            load_dataset(path, format_name=format_name)


def test_a_folder_of_mixed_files_is_refused_by_the_format_it_is_in_and_the_file_at_fault(
    tmp_path: Path,
) -> None:
    log = {
        "history": [{"role": "human", "content": "What?"}, {"role": "A", "content": "It is 4."}],
        "question": "What?",
        "mistake_agent": "A",
        "mistake_step": "1",
    }
    folder = tmp_path / "logs"
    folder.mkdir()
    write_json(folder / "1.json", {"notes": "none"})
    write_json(folder / "22.json", log)
    write_json(folder / "33.json", {key: log[key] for key in ("history", "question")})
    with pytest.raises(InputError, match="logs, read in the format who-and-when, has 3 faults") as (
        raised
    ):
        load_dataset(folder)
    faults = [str(one) for one in raised.value.violations]
    assert faults[0] == (
        "1.json: is no log of Who&When: it has none of the keys history, mistake_agent, "
        "mistake_step"
    )
    assert all(one.startswith("33.json: ") for one in faults[1:])


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
