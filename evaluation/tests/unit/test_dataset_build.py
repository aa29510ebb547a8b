"""Building a data set: what is read is checked, written, counted, and reads back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from veritrail_eval.datasets.build import build_from
from veritrail_eval.datasets.loading import find_loader, load_dataset, loaders
from veritrail_eval.datasets.model import AnnotatorLabel
from veritrail_eval.datasets.reviewed import with_reviews
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Review, Verdict
from veritrail_graph.verifier.held_process import HeldProcess

ROOT = Path(__file__).resolve().parents[3]
LOGS = ROOT.parent / "shared" / "data" / "agents" / "who_and_when"
FACTS = [
    {"dataset": "Ports", "doc": "It is of granite.", "claim": "It is of granite.", "label": 1},
    {"dataset": "Ports", "doc": "It is of granite.", "claim": "It is of oak.", "label": 0},
]
PROCESS = {
    "process_id": "quay",
    "nodes": [{"node_id": "c", "text": "Granite."}, {"node_id": "t", "text": "It is of oak."}],
    "edges": [{"source": "c", "target": "t"}],
}
CLAIM = {"process_id": "quay", "claim_id": "k", "text": "It is of oak.", "node_id": "t"}


def _lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_what_is_built_reads_back(tmp_path: Path) -> None:
    built = build_from(_lines(tmp_path / "dev.jsonl", *FACTS), tmp_path / "out.jsonl.gz")
    assert built.json_object() == {
        "output": str(tmp_path / "out.jsonl.gz"),
        "format": "llm-aggrefact",
        "name": "LLM-AggreFact",
        "licence": "CC-BY-ND-4.0",
        "processes": 1,
        "nodes": 3,
        "claims": 2,
        "labels": {
            "FULLY_SUPPORTED": 1, "NOT_FULLY_SUPPORTED": 1, "INCONCLUSIVE": 0, "none": 0,
        },
        "annotations": 0,
        "with_error_stages": 0,
        "remarks": [],
    }  # fmt: skip
    again = load_dataset(tmp_path / "out.jsonl.gz")
    assert find_loader(tmp_path / "out.jsonl.gz").name == "veritrail"
    assert again.claims == built.dataset.claims
    (opened,) = again.processes.values()
    assert HeldProcess.read(opened()).survey.header.source_format == "llm-aggrefact"


def test_recorded_runs_are_built_too(tmp_path: Path) -> None:
    built = build_from(ROOT / "examples/harbour-summary.json", tmp_path / "out.jsonl")
    assert built.format_name == "processes"
    assert len(load_dataset(tmp_path / "out.jsonl").labelled) == len(built.dataset.labelled) > 0


def _review(number: int, claim_id: str, reviewer: str, verdict: str, text: str) -> dict[str, Any]:
    return {
        "review_id": f"r-{number}",
        "process_id": "quay",
        "claim_id": claim_id,
        "claim": text,
        "verdict": verdict,
        "reason": f"reason {number}",
        "reviewer": reviewer,
        "created_at": f"2026-01-0{number}T00:00:00Z",
    }


def test_reviews_of_people_become_labels_of_annotators(tmp_path: Path) -> None:
    text = "It is of oak."
    claims = [
        {"claim_id": name, "text": text, "node_id": "t", **more}
        for name, more in {"k": {}, "open": {}, "own": {"label": "FULLY_SUPPORTED"}}.items()
    ]
    no, unclear = "NOT_FULLY_SUPPORTED", "UNCLEAR"
    reviews = [
        _review(1, "k", "Ada", unclear, text),
        _review(2, "k", "Ben", unclear, text),
        _review(3, "open", "Ada", unclear, text),
        _review(4, "open", "Cleo", unclear, "It was of oak."),
        _review(5, "own", "Ada", unclear, text),
        _review(6, "k", "Ada", unclear, text),
        _review(7, "away", "Ada", unclear, text),
    ]
    said = {**PROCESS, "format": "veritrail.process/1", "claims": claims, "reviews": reviews}
    path = tmp_path / "quay.json"
    path.write_text(json.dumps(said), encoding="utf-8")
    built = build_from(path, tmp_path / "out.jsonl").dataset
    k, unread, own = built.claims
    assert [(one.annotator, one.label, one.comment) for one in k.labels] == [
        ("Ben", AnnotatorLabel.NOT_UNDERSTOOD, "reason 2"),
        ("Ada", AnnotatorLabel.NOT_UNDERSTOOD, "reason 6"),
    ]
    assert (k.label, k.label_origin, len(unread.labels)) == (None, "unresolved", 1)
    assert (own.label, own.label_origin) == (Verdict.FULLY_SUPPORTED, "given")
    assert len(own.labels) == 1
    assert set(built.remarks) == {
        "4 times: label of an annotator from a review",
        "1 time: review of another text of the claim: left out",
        "1 time: review of a claim that is not there: left out",
        "2 times: claim without a label: its reviewers do not agree, or did not understand it",
    }
    assert load_dataset(tmp_path / "out.jsonl").claims == built.claims

    verdicts = [Review(**{**one, "verdict": no, "overrides": "v"}) for one in reviews[:3]]
    (found,) = with_reviews([k.replace(labels=())], verdicts[:2]).claims
    assert (found.label, found.label_origin) == (Verdict.NOT_FULLY_SUPPORTED, "majority")
    kept = with_reviews([k.replace(labels=(), label=Verdict.INCONCLUSIVE)], verdicts[:2])
    assert kept.claims[0].label is Verdict.INCONCLUSIVE
    assert kept.counts["claim that keeps its own label, although its reviews say otherwise"] == 1

    yes = Review(**{**reviews[3], "claim_id": "k", "claim": text, "verdict": "FULLY_SUPPORTED",
                    "overrides": "v", "adjudicates": True})  # fmt: skip
    (found,) = with_reviews([k.replace(labels=())], [*verdicts[:2], yes]).claims
    assert (found.label, len(found.labels)) == (Verdict.FULLY_SUPPORTED, 2)
    assert found.label_origin == "adjudicated:misapplied"

    said["reviews"] = [{**reviews[0], "reviewer": ""}]
    path.write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(InputError, match="breaks rules") as raised:
        load_dataset(path)
    assert "reviewer" in str(raised.value.violations[0])


def test_nothing_is_written_when_something_is_wrong(tmp_path: Path) -> None:
    path = _lines(tmp_path / "dev.jsonl", *FACTS, {**FACTS[0], "label": "yes"})
    with pytest.raises(InputError, match=r"has a fault; nothing was read"):
        build_from(path, tmp_path / "out.jsonl")
    assert list(tmp_path.iterdir()) == [path]
    built = build_from(path, tmp_path / "out.jsonl", skip_bad=True)
    assert "one row is bad" in built.dataset.remarks[0]


def test_the_input_is_not_written_over(tmp_path: Path) -> None:
    path = _lines(tmp_path / "dev.jsonl", *FACTS)
    with pytest.raises(InputError, match=r"written over what it is made from"):
        build_from(path, path)
    assert load_dataset(path).claims


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ({**CLAIM, "node_id": "x"}, "has no node 'x'"),
        ({**CLAIM, "documents": ["t"]}, "the document 't' is no root"),
        ({**CLAIM, "error_stages": [99]}, "the error stage 99 is no stage"),
        ({**CLAIM, "error_stages": [1]}, "the error stage 1 is no stage"),
    ],
)
def test_claims_must_fit_their_process(tmp_path: Path, claim: Any, said: str) -> None:
    good = {**CLAIM, "label": "NOT_FULLY_SUPPORTED", "error_stages": []}
    path = _lines(
        tmp_path / "set.jsonl",
        {"format": "veritrail.dataset/1", "name": "Quays"},
        {"process": PROCESS},
        {"claim": claim},
        {"claim": {**good, "claim_id": "l", "error_stages": [2]}},
        {"claim": {**good, "claim_id": "m"}},
    )
    with pytest.raises(InputError, match="breaks 1 rule of a data set") as raised:
        build_from(path, tmp_path / "out.jsonl")
    (fault,) = raised.value.violations
    assert fault.where == "line 3 'k'"
    assert said in fault.message
    built = build_from(path, tmp_path / "out.jsonl", skip_bad=True)
    assert [one.claim_id for one in built.dataset.claims] == ["l", "m"]
    assert built.dataset.remarks[0].startswith("1 time: claim that does not fit its process")
    assert built.json_object()["with_error_stages"] == 1


def test_every_fault_of_our_own_format_is_told_at_once(tmp_path: Path) -> None:
    broken = {**PROCESS, "process_id": "lock", "edges": [{"source": "nope", "target": "t"}]}
    path = _lines(
        tmp_path / "set.jsonl",
        {"format": "veritrail.dataset/1", "name": "Quays"},
        {"process": PROCESS},
        {"claim": {**CLAIM, "node_id": "x"}},
        {"process": broken},
        {"claim": {**CLAIM, "claim_id": "l", "label": "TRUE"}},
    )
    with pytest.raises(InputError) as raised:
        build_from(path, tmp_path / "out.jsonl")
    places = [" ".join(one.where.split()[:2]).rstrip(":") for one in raised.value.violations]
    assert list(dict.fromkeys(places)) == ["line 3", "line 4", "line 5"]
    with pytest.raises(InputError, match=r"set\.jsonl: no claim can be used\. .*\S$"):
        build_from(path, tmp_path / "out.jsonl", skip_bad=True)


@pytest.mark.parametrize("labels", [(1, 0), (0, 1, 0), (1, 0, 1)])
def test_rows_that_contradict_each_other_are_all_left_out(
    tmp_path: Path, labels: tuple[int, ...]
) -> None:
    rows = [{**FACTS[0], "label": label} for label in labels]
    edits = [
        {"id": f"s{place}", "doc": "Granite.", "summary": "Oak.", "label": label, "edit_types": []}
        for place, label in enumerate(labels)
    ]
    last = {"id": "z", "doc": "Oak.", "summary": "Oak.", "label": 1, "edit_types": []}
    (tmp_path / "summedits_law.json").write_text(json.dumps([*edits, last]), encoding="utf-8")
    for path in (
        _lines(tmp_path / "dev.jsonl", *rows, FACTS[1]),
        tmp_path / "summedits_law.json",
    ):
        found = load_dataset(path, skip_bad=True)
        assert len(found.claims) == 1
        assert f"{len(labels)} rows are bad" in found.remarks[0]


def test_bad_lines_of_our_own_format_are_counted(tmp_path: Path) -> None:
    path = _lines(
        tmp_path / "set.jsonl",
        {"format": "veritrail.dataset/1", "name": "Quays"},
        {"process": PROCESS},
        {"process": {**PROCESS, "process_id": "bad", "edges": None}},
        {"claim": {**CLAIM, "label": "NOT_FULLY_SUPPORTED"}},
        {"claim": {**CLAIM, "process_id": "bad"}},
        {"claim": {**CLAIM, "claim_id": "l", "label": "TRUE"}},
    )
    with pytest.raises(InputError, match=r"breaks 3 rules"):
        load_dataset(path)
    found = load_dataset(path, skip_bad=True)
    assert [one.claim_id for one in found.claims] == ["k"]
    assert found.remarks[0].startswith("3 times: line that breaks a rule, left out; the first: ")


def test_a_missing_header_is_the_only_fault(tmp_path: Path) -> None:
    path = _lines(tmp_path / "set.jsonl", {"process": PROCESS}, {"claim": CLAIM}, {"claim": CLAIM})
    for skip_bad in (False, True):
        with pytest.raises(InputError) as raised:
            build_from(path, tmp_path / "out.jsonl", skip_bad=skip_bad)
        (fault,) = raised.value.violations
        assert str(fault).startswith("line 1: the header line is missing")


@pytest.mark.parametrize("process", ["../x.json", {**PROCESS, "format": "other"}, "none.json"])
def test_a_place_is_told_once(tmp_path: Path, process: Any) -> None:
    head = {"format": "veritrail.dataset/1", "name": "Quays"}
    with pytest.raises(InputError) as raised:
        load_dataset(_lines(tmp_path / "set.jsonl", head, {"process": process}))
    (fault,) = raised.value.violations
    assert str(fault).count("line 2") == 1
    path = tmp_path / "set.jsonl"
    path.write_text(f"{json.dumps(head)}\nnope\n", encoding="utf-8")
    with pytest.raises(InputError) as raised:
        load_dataset(path)
    assert str(raised.value.violations[0]).startswith("line 2: not JSON")


def test_every_format_says_what_it_reads_and_where_it_is_from() -> None:
    for one in loaders():
        assert all((one.name, one.description, one.layout, one.source))
    assert len({one.name for one in loaders()}) == len(loaders())


@pytest.mark.skipif(not LOGS.is_dir(), reason=f"the real logs of Who&When are not at {LOGS}")
def test_the_real_logs_of_who_and_when(tmp_path: Path) -> None:
    built = build_from(LOGS, tmp_path / "out.jsonl")
    assert built.format_name == "who-and-when"
    logs = {
        f"{file.parent.name}-{file.stem}": json.loads(file.read_text("utf-8"))
        for file in LOGS.rglob("*.json")
    }
    assert built.labels[Verdict.NOT_FULLY_SUPPORTED] == len(built.dataset.claims) == len(logs)
    for claim in load_dataset(tmp_path / "out.jsonl").claims:
        log = logs[claim.process_id]
        process = HeldProcess.read(built.dataset.processes[claim.process_id]())
        noted = process.node(f"message/{int(log['mistake_step'])}")
        assert claim.error_stages == (noted.stage,)
        assert claim.text.startswith(f'The answer to "{log["question"].strip()}" is: ')
        assert "TERMINATE" not in claim.text.splitlines()
        assert claim.labels[0].comment == log["mistake_reason"].strip()
