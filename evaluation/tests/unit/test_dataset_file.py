"""`veritrail.dataset/1`: what is written reads back, and what is wrong is named with its line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from veritrail_eval.datasets.dataset_file import read_dataset, write_dataset
from veritrail_eval.datasets.loading import load_dataset
from veritrail_eval.datasets.model import AnnotatorLabel
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict
from veritrail_graph.verifier.held_process import HeldProcess

ROOT = Path(__file__).resolve().parents[3]
HEADER = {"format": "veritrail.dataset/1", "name": "Quays", "licence": "MIT"}
PROCESS = {
    "process_id": "quay",
    "nodes": [
        {"node_id": "c", "text": "The quay opened in 1901."},
        {"node_id": "t", "text": "The quay is from 1901.", "metadata": {"model": "m"}},
    ],
    "edges": [{"source": "c", "target": "t", "cited": True}],
}
CLAIM = {
    "process_id": "quay",
    "claim_id": "k1",
    "text": "The quay is from 1901.",
    "node_id": "t",
    "label": "FULLY_SUPPORTED",
    "labels": [
        {"annotator": "a", "label": "ALL_SUPPORTED", "uncertain": True, "quotes": ["in 1901"]},
        {"annotator": "b", "label": "NOT_UNDERSTOOD", "comment": "Which quay?"},
    ],
    "label_origin": "majority",
    "error_stages": [],
    "documents": ["c"],
}


def _file(folder: Path, *lines: Any) -> Path:
    path = folder / "set.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def test_it_reads_back_as_it_was_written(tmp_path: Path) -> None:
    path = _file(tmp_path, HEADER, {"claim": CLAIM}, {"process": PROCESS})
    first = load_dataset(path)
    claim = first.claims[0]
    assert claim.label is Verdict.FULLY_SUPPORTED
    assert [one.label for one in claim.labels] == [
        AnnotatorLabel.ALL_SUPPORTED,
        AnnotatorLabel.NOT_UNDERSTOOD,
    ]
    assert claim.documents == ("c",)
    again = tmp_path / "again.jsonl.gz"
    write_dataset(first, again)
    second = read_dataset(again)
    assert (second.name, second.licence, second.claims) == ("Quays", "MIT", first.claims)
    processes = [HeldProcess.read(one.processes["quay"]()) for one in (first, second)]
    assert processes[0].survey.hash == processes[1].survey.hash
    assert list(processes[1].survey.topology.facts.values()) == list(
        processes[0].survey.topology.facts.values()
    )


def test_a_process_may_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    whole = {"format": "veritrail.process/1", **PROCESS}
    (folder / "quay.json").write_text(json.dumps(whole), encoding="utf-8")
    found = read_dataset(_file(tmp_path, HEADER, {"process": "runs/quay.json"}, {"claim": CLAIM}))
    assert HeldProcess.read(found.processes["quay"]()).texts["c"] == "The quay opened in 1901."
    assert found.labelled == found.claims


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "the file is empty"),
        ([{"format": "veritrail.dataset/2", "name": "x"}], "known is 'veritrail.dataset/1'"),
        ([{"format": "veritrail.dataset/1"}], "the key 'name' is missing"),
        ([HEADER, [1]], "line 2: must be a JSON object"),
        ([HEADER, {"claims": []}], "must have the one key"),
        (
            [HEADER, {"process": {**PROCESS, "edges": None}}],
            "line 2: document: the key 'edges' must be a list",
        ),
        ([HEADER, {"process": {**PROCESS, "process_id": None}}], "needs a process_id"),
        ([HEADER, {"process": PROCESS}, {"process": PROCESS}], "'quay' is there already"),
        ([HEADER, {"process": "../outside.json"}], "leads out of the folder"),
        ([HEADER, {"process": "absent.json"}], "no such file"),
        ([HEADER, {"claim": CLAIM}], "'quay' is no process of the data set"),
        ([HEADER, {"process": PROCESS}, {"claim": {**CLAIM, "label": "TRUE"}}], "label must be"),
        ([HEADER, {"process": PROCESS}, {"claim": {**CLAIM, "lable": "x"}}], "unknown key 'lable'"),
        (
            [HEADER, {"process": PROCESS}, {"claim": CLAIM}, {"claim": CLAIM}],
            "is in line 3 'k1' already",
        ),
        (
            [HEADER, {"process": PROCESS}, {"claim": {**CLAIM, "labels": CLAIM["labels"][:1] * 2}}],  # type: ignore[index]
            "has labelled it twice",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, lines: list[Any], said: str) -> None:
    with pytest.raises(InputError) as raised:
        read_dataset(_file(tmp_path, *lines))
    assert said in "\n".join(str(one) for one in raised.value.violations)


def test_shares_are_those_of_verdicts_and_of_the_labels(tmp_path: Path) -> None:
    said = ["ALL_SUPPORTED", "REFUTED", "FULLY_SUPPORTED", "NOT_UNDERSTOOD"]
    labels = [{"annotator": f"a{n}", "label": label} for n, label in enumerate(said)]
    fs, nfs = "FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED"

    def lines(*shares: Mapping[str, float]) -> Iterator[dict[str, Any]]:
        yield from (HEADER, {"process": PROCESS})
        for number, one in enumerate(shares):
            more = {"claim_id": f"k{number}", "labels": labels, "label_distribution": one}
            yield {"claim": {**CLAIM, **more}}

    rounded: list[Mapping[str, float]] = [{fs: 0.67, nfs: 0.33}, {fs: 0.66, nfs: 0.33}]
    assert len(read_dataset(_file(tmp_path, *lines(*rounded))).claims) == 2
    elsewhere = {"claim": {**CLAIM, "claim_id": "k9", "process_id": "pier"}}
    wrong = [{fs: -1, nfs: 2}, {fs: 0.9, nfs: 0.9}, {"TRUE": 1.0}, {}, {fs: 0.1, nfs: 0.9}, {fs: 1}]
    with pytest.raises(InputError) as raised:
        read_dataset(_file(tmp_path, HEADER, elsewhere, *[*lines(*wrong)][1:]))
    assert [str(one) for one in raised.value.violations] == [
        "line 2 'k9': process_id 'pier' is no process of the data set",
        "line 4 'k0': label_distribution: the share of 'FULLY_SUPPORTED' is -1.0, but must be from "
        "0 to 1; the share of 'NOT_FULLY_SUPPORTED' is 2.0, but must be from 0 to 1",
        "line 5 'k1': label_distribution: the shares sum to 1.8, but must sum to 1",
        "line 6 'k2': label_distribution: 'TRUE' is no verdict (known: FULLY_SUPPORTED, "
        "NOT_FULLY_SUPPORTED, INCONCLUSIVE)",
        "line 7 'k3': label_distribution: the shares sum to 0, but must sum to 1",
        "line 8 'k4': label_distribution says FULLY_SUPPORTED 0.1, NOT_FULLY_SUPPORTED 0.9, but "
        "labels say FULLY_SUPPORTED 0.667, NOT_FULLY_SUPPORTED 0.333; correct one of them",
        "line 9 'k5': label_distribution says FULLY_SUPPORTED 1, but labels say FULLY_SUPPORTED "
        "0.667, NOT_FULLY_SUPPORTED 0.333; correct one of them",
    ]


def test_recorded_runs_with_labels_are_a_data_set() -> None:
    found = load_dataset(ROOT / "examples/harbour-summary.json")
    assert len(found.labelled) == sum(
        claim.label is not Verdict.INCONCLUSIVE for claim in found.claims
    )
    with pytest.raises(InputError, match="no claim with a label"):
        load_dataset(ROOT / "examples/rag.jsonl")


def test_a_path_in_no_format_is_told_with_the_reasons(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing", encoding="utf-8")
    with pytest.raises(InputError, match=r"(?s)is no data set.*veritrail \(veritrail.dataset/1"):
        load_dataset(path)
    with pytest.raises(InputError, match="Unknown data set format 'x'"):
        load_dataset(path, format_name="x")
