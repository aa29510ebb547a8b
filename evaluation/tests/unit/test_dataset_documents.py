"""Loaders of data sets that lack their documents, and of logs: invented files in their layouts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from eval_fakes.dataset_files import held_processes, labels_of, write_csv, write_json, write_parquet

from veritrail_eval.attribution.reading import read_attributions
from veritrail_eval.attribution.setups import cases_of
from veritrail_eval.attribution.sources import read_sources
from veritrail_eval.attribution.unattributed import unattributed
from veritrail_eval.building.fables_premises import is_fables, premises_of_fables
from veritrail_eval.datasets.build import build_from
from veritrail_eval.datasets.loaders.fables import chunks_of, read_summaries
from veritrail_eval.datasets.loading import load_dataset
from veritrail_eval.datasets.model import AnnotatorLabel
from veritrail_eval.whole_file import write_json_lines
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict
from veritrail_graph.verifier.held_process import HeldProcess

FS, NFS, UNCLEAR = Verdict.FULLY_SUPPORTED, Verdict.NOT_FULLY_SUPPORTED, Verdict.INCONCLUSIVE


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
    path = write_json(tmp_path / "FABLES.json", {"canary": "c", "FABLES": BOOKS})
    with pytest.raises(InputError) as raised:
        load_dataset(path)
    assert [one.kind for one in raised.value.violations] == ["missing_file"] * 2
    assert "books/The Quay- A Tale.txt" in str(raised.value.violations[0])
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "the quay_ a tale.txt").write_text("One.\n\nTwo.\n", encoding="utf-8")
    found = load_dataset(tmp_path, skip_bad=True)
    assert labels_of(found) == [FS, NFS, NFS, UNCLEAR, FS]
    assert "one row is bad and left out" in found.remarks[0]
    said = found.claims[0].labels[0]
    assert (said.quotes, said.comment) == (("the quay stood",), "It says so.")
    assert said.label is AnnotatorLabel.ALL_SUPPORTED
    (process,) = held_processes(found)
    assert process.texts["chunk/1"] == "One.\n\nTwo."
    assert process.metadata["summary/MODEL-1"]["comment"] == "Short."


def test_the_claims_of_fables_are_read_without_books(tmp_path: Path) -> None:
    found = read_summaries(write_json(tmp_path / "FABLES.json", BOOKS))
    assert [(one.book, one.model, len(one.claims)) for one in found] == [
        ("The Quay: A Tale", "MODEL-1", 4),
        ("The Quay: A Tale", "MODEL-2", 1),
        ("Untold", "MODEL-1", 1),
    ]
    bad = {"A": {"B": {"summary": "S.", "claims": {"0": _claim("Perhaps")}}}}
    with pytest.raises(InputError) as raised:
        read_summaries(write_json(tmp_path / "FABLES.json", bad))
    (fault,) = raised.value.violations
    assert fault.where == "'A', B, claims.0"


def test_fables_gives_premises_for_the_processes_of_its_books(tmp_path: Path) -> None:
    untold = {"summary": "S.", "claims": {"0": _claim("No", reason=["It is a weir."])}}
    written = write_json(tmp_path / "FABLES.json", BOOKS | {"Untold": {"MODEL-1": untold}})
    assert is_fables(written)
    assert is_fables(tmp_path)
    assert not is_fables(write_json(tmp_path / "table.json", [{"premise": "A."}]))
    found = premises_of_fables(written, {"p1": "The quay, a tale", "the-quay-a-tale": None})
    of_book = {(one.process_id, one.text, one.evidence, one.reasoning) for one in found}
    # Of a claim that is not faithful only what was said of it is a premise.
    quay = {
        ("Claim Yes.", "the quay stood", "It says so."),
        ("Short.", "", ""),
        ("Claim Yes.", "", ""),
    }
    named = {(name, *one) for name in ("p1", "the-quay-a-tale") for one in quay}
    assert of_book == {*named, ("Untold", "It is a weir.", "", "")}
    assert {one.about for one in found} == {"The Quay: A Tale", "Untold"}


def test_a_book_is_cut_between_paragraphs() -> None:
    text = "aaaa\n\nbbbb\n \n\ncccccccccccc\n\ndd"
    assert list(chunks_of(text, longest=10).values()) == ["aaaa\n\nbbbb", "cccccccccccc", "dd"]
    assert chunks_of(" \n\n ") == {}


# TofuEval


def _row(index: int, label: str, **more: Any) -> dict[str, Any]:
    return {
        "doc_id": "talk-1", "annotation_id": 1, "topic": "Cranes", "model_name": "Model-A",
        "sent_idx": index, "summ_sent": f"Sentence {index}.", "sent_label": label, "exp": "",
        "type": "", **more,
    }  # fmt: skip


def test_one_summary_of_each_topic_of_tofueval(tmp_path: Path) -> None:
    rows = [
        _row(index, "yes", doc_id=talk, topic=topic, model_name=model)
        for talk in ("talk-1", "talk-2")
        for topic in ("Cranes", "Nets")
        for model in ("Model-A", "Model-B", "Model-C")
        for index in (1, 2)
    ]
    write_csv(tmp_path / "talks_factual_eval_dev.csv", rows)
    texts = [{"doc_id": talk, "source": f"A: {talk}."} for talk in ("talk-1", "talk-2")]
    write_csv(tmp_path / "talks_dev_doc.csv", texts)
    whole = load_dataset(tmp_path)
    assert len(whole.claims) == 2 * 2 * 3 * 2
    found, again = (load_dataset(tmp_path, format_name="tofueval-one") for _ in range(2))
    assert found.claims == again.claims
    assert set(found.claims) < set(whole.claims)
    assert len(found.claims) == 2 * 2 * 2
    assert len({(one.process_id, one.node_id) for one in found.claims}) == 2 * 2


def test_the_parts_of_tofueval_draw_what_the_whole_draws(tmp_path: Path) -> None:
    for split, talk in (("dev", "talk-1"), ("test", "talk-2")):
        rows = [
            _row(1, "yes", doc_id=talk, topic=f"Topic {topic}", model_name=model,
                 summ_sent=f"{model} of {talk} on {topic}.")
            for topic in range(12)
            for model in ("Model-A", "Model-B", "Model-C")
        ]  # fmt: skip
        write_csv(tmp_path / f"talks_factual_eval_{split}.csv", rows)
        write_csv(tmp_path / f"talks_{split}_doc.csv", [{"doc_id": talk, "source": "A: Hm."}])
    whole, dev, test = (
        {one.text for one in load_dataset(tmp_path, format_name=f"tofueval-one{part}").claims}
        for part in ("", "-dev", "-test")
    )
    assert whole == dev | test
    assert (len(dev), len(test)) == (12, 12)
    assert len({text.split()[0] for text in whole}) == 3
    with pytest.raises(InputError, match="holds no table"):
        load_dataset(tmp_path / "talks_factual_eval_dev.csv", format_name="tofueval-one-test")


def test_sentences_of_tofueval_wait_for_their_attribution(tmp_path: Path) -> None:
    rows = [
        _row(1, "yes", summ_sent="Cranes are new."),
        _row(2, "no", summ_sent="They sank. All of them."),
        _row(3, "no", summ_sent="Nets are old."),
    ]
    write_csv(tmp_path / "talks_factual_eval_dev.csv", rows)
    write_csv(tmp_path / "talks_dev_doc.csv", [{"doc_id": "talk-1", "source": "A: New cranes."}])
    found = unattributed(load_dataset(tmp_path))
    assert (len(found.lines), found.labelled, found.elsewhere) == (4, 2, 1)
    path = tmp_path / "open.jsonl"
    write_json_lines(path, found.lines)
    read = read_attributions(path)
    assert (read.sentences, list(read.failed)) == ({}, [])
    labels = {one.text: one.label for one in read.statements.values()}
    assert labels == {
        "Cranes are new.": "FAITHFUL", "They sank.": None, "All of them.": None,
        "Nets are old.": "UNFAITHFUL",
    }  # fmt: skip
    dataset = tmp_path / "talks.jsonl"
    build_from(tmp_path, dataset)
    cases, unlabelled = cases_of(read, None, read_sources(dataset))
    assert [case.documents for case in cases] == [("document/1",)] * 2
    assert unlabelled == 2


def test_tofueval_needs_the_documents(tmp_path: Path) -> None:
    wrong = _row(10, "no", exp="No crane.", type="Extrinsic Information")
    rows = [wrong, _row(2, "yes"), _row(2, "yes"), _row(2, "yes", model_name="Model-B")]
    write_csv(tmp_path / "talks_factual_eval_dev.csv", rows)
    with pytest.raises(InputError, match=r"documents of TofuEval are not beside"):
        load_dataset(tmp_path)
    write_csv(tmp_path / "talks_dev_doc.csv", [{"meeting_id": "talk-1", "source": "A: Cranes?"}])
    found = load_dataset(tmp_path)
    assert labels_of(found) == [FS, NFS, FS]
    assert found.claims[1].labels[0].comment == "Extrinsic Information; No crane."
    (process,) = held_processes(found)
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
    write_json(tmp_path / "Hand" / "1.json", _log())
    write_json(tmp_path / "Hand" / "2.json", _log(is_correct=True))
    found = load_dataset(tmp_path)
    first, second = found.claims
    assert (first.label, second.label) == (NFS, None)
    assert first.text == 'The answer to "How long is the quay?" is: 210 m'
    assert first.node_id == "message/2"
    process = HeldProcess.read(found.processes["Hand-1"]())
    assert first.error_stages == (process.node("message/1").stage,)
    assert first.labels[0].comment == "Two digits changed places."
    assert first.label_origin == "Who&When: Counter, step 1"
    table = write_parquet(tmp_path / "Hand.parquet", [_log(), _log()])
    assert [one.text for one in load_dataset(table).claims] == [first.text] * 2


def test_a_mistake_at_no_message_has_no_stage(tmp_path: Path) -> None:
    found = load_dataset(write_json(tmp_path / "1.json", _log(mistake_step=40)))
    assert found.claims[0].error_stages is None
    assert any("no error stage" in one for one in found.remarks)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"mistake_step": "x"}, "mistake_step: is no number of a message"),
        ({"mistake_agent": None}, "mistake_agent must be a string"),
        ({"history": []}, "column history: no message of a model"),
    ],
)
def test_a_bad_log_is_named(tmp_path: Path, change: Any, said: str) -> None:
    write_json(tmp_path / "1.json", _log())
    write_json(tmp_path / "2.json", _log(**change))
    (tmp_path / "3.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError) as raised:
        load_dataset(tmp_path)
    first, second = map(str, raised.value.violations)
    assert first.startswith("2.json")
    assert said in first
    assert second.startswith("3.json: ")
    assert len(load_dataset(tmp_path, skip_bad=True).claims) == 1
