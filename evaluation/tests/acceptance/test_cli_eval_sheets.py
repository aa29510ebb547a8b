"""`veritrail eval sheets` and the agreement of a data set, as a person uses them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from eval_fakes.embedding_server import EmbeddingModelServer

PROCESS = {
    "process_id": "quay",
    "question": "When did the quay open?",
    "nodes": [{"node_id": "c", "text": "The quay opened in 1901."}, {"node_id": "t", "text": "A."}],
    "edges": [{"source": "c", "target": "t"}],
}
CLAIMS = [f"k{number}" for number in range(1, 6)]
YES, NO, LITTLE = "Supported in every part", "Refuted in at least one part", "Not enough evidence"
LOST = "I do not understand the claim"
# By annotator: the label of each claim, and whether it is uncertain.
GIVEN = {
    "ann": [(YES, ""), (YES, ""), (NO, ""), (YES, "yes"), (LOST, "")],
    "ben": [(YES, ""), (YES, "yes"), (LITTLE, ""), (NO, ""), (YES, "")],
    "me": [(YES, ""), (NO, ""), (NO, ""), (LOST, ""), (YES, "")],
}


@pytest.fixture(scope="module")
def veritrail(tmp_path_factory: pytest.TempPathFactory) -> Veritrail:
    """The command with a home in which nothing is ever made: files are all that it needs."""
    return Veritrail(tmp_path_factory.mktemp("eval") / "home")


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    path = tmp_path / "set.jsonl"
    claims = [{"process_id": "quay", "claim_id": one, "text": f"Claim {one}."} for one in CLAIMS]
    lines: list[Any] = [
        {"format": "veritrail.dataset/1", "name": "Quays"},
        {"process": PROCESS},
        *({"claim": one} for one in claims),
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def _fill(folder: Path) -> None:
    import openpyxl

    for annotator, labels in GIVEN.items():
        path = folder / annotator / "Q01/claims.xlsx"
        workbook = openpyxl.load_workbook(path)
        sheet = workbook["Claims"]
        for row, (label, uncertain) in enumerate(labels, start=2):
            sheet[f"C{row}"], sheet[f"D{row}"] = label, uncertain or None
            sheet[f"E{row}"] = "opened in 1901"
        workbook.save(path)


def test_labels_go_from_sheets_into_the_data_set_and_its_agreement(
    veritrail: Veritrail, dataset: Path, tmp_path: Path
) -> None:
    sheets, out = tmp_path / "sheets", tmp_path / "out.jsonl"
    call = ["eval", "sheets", str(dataset)]
    written = veritrail(*call, "-o", str(sheets), "--annotators", "ann, ben,me", "--json").json
    assert written["folders"] == [
        {
            "code": "Q01",
            "process_id": "quay",
            "question": "When did the quay open?",
            "claims": 5,
            "documents": 1,
        }
    ]
    unread = veritrail(*call, "--read", str(sheets), "-o", str(out), "--json", status=2)
    assert len(unread.violations) == 15
    assert unread.violations[0]["where"] == (
        "ann/Q01/claims.xlsx, sheet Claims, row 2, column C (Label)"
    )
    assert not out.exists()

    _fill(sheets)
    read = veritrail(*call, "--read", str(sheets), "-o", str(out), "--json").json
    assert read["label_origins"] == {"majority": 4, "unresolved": 1}
    assert read["labels"] == {"FULLY_SUPPORTED": 3, "NOT_FULLY_SUPPORTED": 1, "none": 1}
    assert (read["labels_read"], read["not_understood"]) == (15, 2)
    (open_claim,) = read["unresolved"]
    assert open_claim["claim_id"] == "k4"
    assert open_claim["verdicts"] == {"FULLY_SUPPORTED": 1, "NOT_FULLY_SUPPORTED": 1}

    decisions = tmp_path / "decisions.csv"
    decisions.write_text(
        "claim_id,label,reason\nk4,ALL_SUPPORTED,no_majority\nk2,REFUTED,other_documents\n",
        encoding="utf-8",
    )
    final = tmp_path / "final.jsonl.gz"
    shown = veritrail("eval", "sheets", str(out), "--adjudicate", str(decisions), "-o", str(final))
    assert "1 claim(s): adjudicated:other_documents" in shown.err
    whole = veritrail("eval", "agreement", str(final), "--json").json
    assert (whole["units"], whole["annotators"]) == (5, 3)
    subsets = whole["subsets"]
    assert {name: one["units"] for name, one in subsets.items()} == {
        "certain": 3,
        "uncertain": 2,
        "without_adjudicated": 3,
    }
    assert subsets["certain"]["krippendorff_alpha"] == 1
    assert subsets["uncertain"]["krippendorff_alpha"] < 0
    given = veritrail("eval", "agreement", str(final), "--labels", "given", "--json").json
    assert given["krippendorff_alpha"] < whole["krippendorff_alpha"]
    apart = veritrail("eval", "agreement", str(final), "--adjudicator", "me", "--json")
    assert "1 label(s) of me rest on other documents" in apart.err
    assert apart.json["krippendorff_alpha"] > whole["krippendorff_alpha"]
    read_by_people = veritrail("eval", "agreement", str(final))
    assert "… where no annotator is uncertain, 3 claims" in read_by_people.out
    assert "2 label(s) say that the claim is not understood" in read_by_people.err
    assert not veritrail.home.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sheets", "{data}", "-o", "{out}", "--partial"], "goes with --read"),
        (["sheets", "{data}", "-o", "{folder}", "--read", "{folder}"], "is a folder"),
        (["sheets", "{folder}/none", "-o", "{out}"], "no such file"),
        (["agreement", "{data}"], "no claim has labels of annotators"),
        (["agreement", "{table}", "--adjudicator", "me"], "are for data sets"),
        (["agreement", "{table}", "--labels", "given"], "are for data sets"),
    ],
)
def test_wrong_use_is_told(
    veritrail: Veritrail, dataset: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    table = tmp_path / "t.csv"
    table.write_text("claim_id,annotator,label\nk,a,x\nk,b,x\n", encoding="utf-8")
    places = {"data": dataset, "out": tmp_path / "out", "folder": tmp_path, "table": table}
    call = [one.format(**places) for one in arguments]
    assert said in veritrail("eval", *call, "--json", status=2).message


def test_recorded_runs_without_labels_get_sheets(veritrail: Veritrail, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    claims = [{"claim_id": "k", "text": "It opened."}]
    document = {"format": "veritrail.process/1", **PROCESS, "claims": claims}
    path.write_text(json.dumps(document), encoding="utf-8")
    call = ["eval", "sheets", str(path), "-o", str(tmp_path / "s"), "--by", "document", "--json"]
    assert veritrail(*call).json["folders"][0]["code"] == "D01"
    assert (tmp_path / "s/annotator/D01/articles.docx").is_file()


def test_a_table_may_know_uncertainty_and_decisions(veritrail: Veritrail, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = ["k,a,x,yes,majority", "k,b,y,,majority", "j,a,x,no,", "j,b,x,FALSE,",
            "i,a,x,,adjudicated:no_majority", "i,b,y,,adjudicated:no_majority"]  # fmt: skip
    head = "claim_id,annotator,label,uncertain,label_origin"
    path.write_text("\n".join([head, *rows]), encoding="utf-8")
    document = veritrail("eval", "agreement", str(path), "--json").json
    assert {name: one["units"] for name, one in document["subsets"].items()} == {
        "certain": 2,
        "uncertain": 1,
        "without_adjudicated": 2,
    }
    path.write_text(f"{head}\nk,a,x,maybe,\n", encoding="utf-8")
    ended = veritrail("eval", "agreement", str(path), "--json", status=2)
    assert [one["where"] for one in ended.violations] == ["row 2, column uncertain"]


def test_claims_of_turns_go_from_a_run_into_sheets_and_back(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    turns = [
        {"turn_id": "t1", "role": "user", "text": "How old is the quay?"},
        {"turn_id": "t2", "role": "assistant", "text": "From 1901."},
    ]
    dialogue = {"format": "veritrail.dialogue/1", "dialogue_id": "quay", "turns": turns}
    claim = {"claim_id": "k1", "claim": "The quay is from 1901.", "category": "VERIFIED"}
    run = {
        "dialogue_id": "quay",
        "turns": [{"turn_id": "t2", "status": "succeeded", "claims": [claim]}],
    }
    import openpyxl

    source, proposed = tmp_path / "quay.json", tmp_path / "run.json"
    source.write_text(json.dumps(dialogue), encoding="utf-8")
    proposed.write_text(json.dumps(run), encoding="utf-8")
    folder, output = tmp_path / "sheets", tmp_path / "labelled.jsonl"
    arguments = ("eval", "sheets", str(source))
    veritrail(*arguments, "-o", str(folder), "--by", "document", status=2)
    written = veritrail(
        *arguments, "-o", str(folder), "--annotators", "ann,ben", "--proposed", str(proposed)
    )
    assert "1 claims of 1 turns in 1 folder(s) for each of 2 annotator(s)" in written.err
    for annotator, label in (("ann", "Verifiable"), ("ben", "Lacking evidence")):
        path = folder / annotator / "D01/claims.xlsx"
        workbook = openpyxl.load_workbook(path)
        workbook["Claims"]["D2"], workbook["Claims"]["F2"] = "keep", label
        workbook.save(path)
    back = (*arguments, "-o", str(output), "--read", str(folder))
    shown = veritrail(*back)
    assert "quay, t2: no majority for 'The quay is from 1901.'" in shown.err
    decisions = tmp_path / "decisions.csv"
    decisions.write_text(
        "dialogue_id,turn_id,claim,label\nquay,t2,The quay is from 1901.,Verifiable\n"
    )
    agreed = veritrail("eval", "agreement", str(output), "--json").json
    assert (agreed["annotators"]["matched"], agreed["annotators"]["jaccard"]) == (1, 1.0)
    assert agreed["disagreements"]["annotators"]["ann|ben"]["kinds"]["missed_hallucination"] == 1
    told = veritrail("eval", "agreement", str(output)).out
    assert "verifiable after all" in told
    veritrail("eval", "agreement", str(output), "--labels", "given", status=2)
    document = veritrail(*back, "--adjudicate", str(decisions), "--json").json
    assert (document["annotations_read"], document["unresolved"]) == (2, [])
    assert document["categories"] == {"VERIFIED": 1}
    again = ("eval", "sheets", str(output), "-o", str(tmp_path / "more"))
    assert "--all" in veritrail(*again, status=2).err


def test_reworded_claims_leave_a_turn_unresolved_until_a_model_finds_them(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    turns = [{"turn_id": "t1", "role": "assistant", "text": "It closed in 1962."}]
    dialogue = {"format": "veritrail.dialogue/1", "dialogue_id": "school", "turns": turns}
    said = {"a": "The school closed in 1962.", "b": "In 1962 the school closed.", "c": "It closed."}
    labels = [
        {"annotator": name, "claims": [{"claim": text, "category": "CONTRADICTED"}]}
        for name, text in said.items()
    ]
    turn = {"dialogue_id": "school", "turn_id": "t1", "labels": labels, "claims": []}
    source, output = tmp_path / "labelled.jsonl", tmp_path / "agreed.jsonl"
    source.write_text("\n".join(map(json.dumps, ({"dialogue": dialogue}, {"turn": turn}))))
    scored = veritrail("eval", "dialogue", str(source), "--method", "majority", "--json").json
    assert (scored["gold"]["unresolved"], scored["gold"]["no_label"]) == (1, 0)
    decisions = tmp_path / "decisions.csv"
    decisions.write_text("dialogue_id,turn_id,claim,label\nschool,t1,It closed.,Verifiable\n")
    asked = ("eval", "sheets", str(source), "-o", str(output))
    told = veritrail(*asked, "--adjudicate", str(decisions))
    assert "1 turn(s) are unresolved" in told.err
    assert "--embedding" in told.err
    with EmbeddingModelServer() as server:
        found = veritrail(
            *asked, "--embedding", "words", "--json",
            OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="sk-test",
        ).json  # fmt: skip
    assert (found["unresolved_turns"], found["categories"]) == (0, {"CONTRADICTED": 1})
    assert "cosine above 0.9 (words)" in found["matching"]
    scored = veritrail("eval", "dialogue", str(output), "--method", "majority", "--json").json
    assert scored["gold"]["labels"]["UNVERIFIABLE"] == 1
