"""Making data sets on the command line, with a model server on loopback."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from fakes.model_answers import Answer, content_words
from fakes.model_server import ModelServer

pytest.importorskip("rs_bpe")

DAYS = range(1, 41)
BOOK = " ".join(f"On day {day} the ferry carried {day * 7} crates over the sound." for day in DAYS)


class Builder:
    """Summarises by first sentences, matches by words, and knows questions by their marks."""

    def __call__(self, step: str, system: str, user: str, request: Any) -> Answer:
        if step.endswith(("summary", "merge")):
            texts = re.findall(r"^\((?:text|summary \d+)\) (.*)", user, re.MULTILINE)
            return {"summary": " ".join(f"{one.split('.')[0]}." for one in texts[:2])}
        if step == "question_filter":
            opinion, alone = "might" in user, " the families " not in user
            return {"asks_opinion": opinion, "stands_alone": alone, "reason": "as scripted"}
        premise, _, hypothesis = user.rpartition("\nHypothesis: ")
        if "unanswerable" in hypothesis:
            return "I would rather not say."
        entailed = content_words(hypothesis) <= content_words(premise)
        return {"entailed": entailed, "reason": "all words" if entailed else "words are missing"}


@pytest.fixture(scope="module")
def veritrail(home: Veritrail) -> Veritrail:
    """The command with a home of this module, over the engine that all tests share."""
    return home


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(Builder()) as server:
        yield server


def settings(model: ModelServer) -> dict[str, str]:
    return {
        "OPENAI_BASE_URL": model.base_url,
        "OPENAI_API_KEY": "k",
        "VERITRAIL_MODEL": "m",
        "VERITRAIL_ANSWER_RETRIES": "0",
    }


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _mark(path: Path, column: str, **decisions: str) -> None:
    """Fill in a column of a reviewed table by claim_id, as a person does."""
    rows = _rows(path)
    for row in rows:
        row[column] = decisions.get(row["claim_id"], "")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_a_summary_is_a_process_with_every_text_on_the_way(
    veritrail: Veritrail, model: ModelServer, tmp_path: Path
) -> None:
    book, run = tmp_path / "The ferry.txt", tmp_path / "run.json"
    book.write_text(BOOK, encoding="utf-8")
    sizes = ["--chunk", "40", "--context", "1080", "--summary", "60"]
    call = ["eval", "summarise", str(book), "-o", str(run), *sizes, "--json"]
    made = veritrail(*call, **settings(model)).json
    (one,) = made["runs"]
    assert one["process_id"] == "The-ferry"
    chunks = one["stages"]["1"]
    assert chunks > 8
    assert one["stages"]["2"] == chunks
    assert one["nodes"] == sum(one["stages"].values())
    assert made["usage"]["calls"] == one["nodes"] - chunks == model.calls.total()
    document = json.loads(run.read_text(encoding="utf-8"))
    nodes = {node["node_id"]: node for node in document["nodes"]}
    texts = [node["text"] for node in nodes.values() if node["stage"] == 1]
    assert "".join(texts) == BOOK
    assert all(text.rstrip().endswith(".") for text in texts)
    assert nodes["level/1/0"]["metadata"] == {"model": "m", "prompt": "chunk_summary.v1"}
    inputs: dict[str, list[str]] = {}
    for edge in document["edges"]:
        inputs.setdefault(edge["target"], []).append(edge["source"])
    merged = [name for name in nodes if name.startswith("level/2/")]
    assert len(merged) > 1
    assert "level/2/0" in inputs["level/2/1"]  # the summary before is context
    for request in model.requests:
        assert request.step in ("chunk_summary", "summary_merge")
        assert request.user.startswith("Title: The ferry\nLimit: 45 words\n")
    # Its stages and terminal are those of a process: the ingest takes it, and finds it whole.
    stored = veritrail("ingest", str(run), "--json").json
    assert (stored["terminals"], stored["warnings"]) == (document["terminals"], [])
    # What was answered is not asked again.
    again = veritrail(*call, **settings(model)).json
    assert again["usage"]["calls"] == 0
    alone = tmp_path / "alone.json"
    call[4] = str(alone)
    veritrail(*call, "--no-context", **settings(model))
    edges = json.loads(alone.read_text(encoding="utf-8"))["edges"]
    assert {"source": "level/2/0", "target": "level/2/1"} not in edges


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["summarise", "{book}", "-o", "{out}", "--summary", "7000"], "do not fit"),
        (["summarise", "{book}", "-o", "{out}", "--chunk", "9000"], "does not fit into prompts"),
        (["summarise", "{none}", "-o", "{out}"], "cannot be read"),
        (["summarise", "{empty}", "-o", "{out}"], "is empty"),
        (["summarise", "{book}", "{book}", "-o", "{out}"], "another source is named"),
        (["summarise", "{book}", "-o", "{out}", "--encoding", "x"], "Unknown encoding"),
        (["summarise", "{book}", "-o", "{out}", "--engine", "lexical"], "asks no model"),
        (["build", "{book}", "-o", "{out}"], "Nothing to build from"),
        (["build", "-o", "{out}", "--summarise"], "takes text files"),
        (["build", "{book}", "-o", "{out}", "--summarise", "--from", "{data}"], "takes text files"),
        (["chunk", "{book}", "-o", "{out}", "--overlap", "600"], "must be smaller"),
        (["match", "{data}", "-o", "{out}"], "either --faithful or --accepted"),
        (["match", "{data}", "--faithful", "{book}"], "Name what is written"),
        (["match", "{data}", "--faithful", "{book}", "--alignment", "-o", "{out}"], "goes with"),
        (["match", "{data}", "--faithful", "{book}", "-o", "{data}"], "may hold decisions"),
        (["match", "{data}", "--faithful", "{bad}", "-o", "{out}"], "a fault"),
        (["match", "{data}", "--faithful", "{away}", "-o", "{out}"], "the data set lacks: 'p9'"),
        (["build", "-o", "{out}", "--from", "{data}", "--chunk", "9"], "only with --summarise"),
        (["questions", "{bad}", "-o", "{out}"], "lacks the column question"),
        (["duplicates", "{data}", "-o", "{data}"], "may hold decisions"),
    ],
)
def test_wrong_use_is_told_and_nothing_is_asked(
    veritrail: Veritrail, model: ModelServer, tmp_path: Path, arguments: list[str], said: str
) -> None:
    names = ("book", "empty", "none", "out", "bad", "away")
    places = {name: tmp_path / f"{name}.txt" for name in names}
    places["away"].write_text("premise,process_id\nIt sailed.,p9\n", encoding="utf-8")
    places["book"].write_text(BOOK, encoding="utf-8")
    places["empty"].write_text(" \n", encoding="utf-8")
    places["bad"].write_text("premise,evidence\n ,x\n", encoding="utf-8")
    places["data"] = _dataset(tmp_path)
    call = [one.format(**places) for one in arguments]
    assert said in veritrail("eval", *call, "--json", status=2, **settings(model)).message
    assert not model.requests
    assert not places["out"].exists()


def test_build_summarises_too(veritrail: Veritrail, model: ModelServer, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    books = [tmp_path / f"{name}.txt" for name in ("one", "two")]
    for book in books:
        book.write_text(BOOK, encoding="utf-8")
    call = ["eval", "build", *map(str, books), "--summarise", "-o", str(folder), "--json"]
    runs = veritrail(*call, **settings(model)).json["runs"]
    assert [one["process_id"] for one in runs] == ["one", "two"]
    assert sorted(path.name for path in folder.iterdir()) == ["one.json", "two.json"]
    # A text of one chunk needs no merge: the summary of the chunk is the final one.
    assert [one["stages"] for one in runs] == [{"1": 1, "2": 1}] * 2
    stopped = veritrail(*call, "--max-calls", "1", "--no-cache", status=1, **settings(model))
    assert "has made them" in stopped.err


def test_build_takes_the_sizes_of_summaries(
    veritrail: Veritrail, model: ModelServer, tmp_path: Path
) -> None:
    book = tmp_path / "book.txt"
    book.write_text(BOOK, encoding="utf-8")
    sizes = ["--chunk", "40", "--context", "1080", "--summary", "60", "--no-context"]
    made = []
    for number, command in enumerate((["build", "--summarise"], ["summarise"])):
        out = tmp_path / f"{number}.json"
        call = ["eval", *command, str(book), "-o", str(out), *sizes, "--json"]
        (one,) = veritrail(*call, **settings(model)).json["runs"]
        assert one["stages"]["1"] > 8
        made.append(out.read_text(encoding="utf-8"))
    assert made[0] == made[1]


def test_chunks_overlap(veritrail: Veritrail, tmp_path: Path) -> None:
    book, out = tmp_path / "b.txt", tmp_path / "c.jsonl"
    book.write_text(BOOK, encoding="utf-8")
    call = ["eval", "chunk", str(book), "-o", str(out), "--size", "50", "--overlap", "10"]
    assert veritrail(*call, "--json").json["documents"] == 1
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert {line["tokens"] for line in lines[:-1]} == {50}
    assert all(line["text"] == BOOK[line["start"] : line["end"]] for line in lines)
    for one, other in pairwise(lines):
        assert one["start"] < other["start"] < one["end"]


CLAIMS = [
    ("k1", "The ferry carried crates.", None),
    ("k2", "The ferry carried geese.", None),
    ("k3", "An unanswerable claim.", None),
    ("k4", "The ferry sank.", "NOT_FULLY_SUPPORTED"),
    ("k5", "The ferry carried the crates.", None),
]


def _dataset(folder: Path) -> Path:
    path = folder / "set.jsonl"
    process = {
        "process_id": "p",
        "name": "The ferry",
        "question": "What did it carry?",
        "nodes": [{"node_id": "c", "text": BOOK}, {"node_id": "t", "text": "An answer."}],
        "edges": [{"source": "c", "target": "t"}],
    }
    claims = [
        {"process_id": "p", "claim_id": name, "text": text, "label": label}
        for name, text, label in CLAIMS
    ]
    lines: list[Any] = [
        {"format": "veritrail.dataset/1", "name": "Ferries"},
        {"process": process},
        *({"claim": {key: one for key, one in claim.items() if one}} for claim in claims),
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("variant", "first"),
    [("book", "Book: The ferry\n"), ("question", "Question: What did it carry?\n")],
)
def test_matches_become_labels_when_a_person_accepts_them(
    veritrail: Veritrail, model: ModelServer, tmp_path: Path, variant: str, first: str
) -> None:
    dataset, table, out = _dataset(tmp_path), tmp_path / "m.csv", tmp_path / "out.jsonl"
    faithful = tmp_path / "faithful.csv"
    faithful.write_text(
        "premise,evidence,reasoning,process_id\n"
        "The whole ferry carried goods.,crates of tea,,p\n"
        '"=The ferry carried crates",,"It is\nsaid twice.",\n'
        "The ferry carried geese.,,,another\n",
        encoding="utf-8",
    )
    call = ["eval", "match", str(dataset), "-o", str(table), "--faithful", str(faithful)]
    made = veritrail(*call, "--variant", variant, "--json", status=1, **settings(model)).json
    counts = {key: made[key] for key in ("asked", "matched", "without_premise", "failed")}
    assert counts == {"asked": 4, "matched": 2, "without_premise": 0, "failed": 1}
    assert made["unknown_processes"] == {"another": 1}
    steps = {request.step for request in model.requests}
    assert steps == {f"claim_matching_{variant}"}
    assert all(request.user.startswith(first) for request in model.requests)
    asked = [request.user for request in model.requests if "geese" in request.user]
    assert len(asked) == 2  # the premise of another process is not tried
    assert any("\n(evidence) crates of tea\nHypothesis: " in one for one in asked)
    assert any("\n(reasoning) It is\n(reasoning) said twice.\n" in one for one in asked)
    rows = {row["claim_id"]: row for row in _rows(table)}
    assert rows.keys() == {"k1", "k5"}
    assert rows["k1"]["accept"] == ""
    assert all(not row["premise"].startswith("=") for row in rows.values())

    _mark(table, "accept", k1="yes", k5="no")
    accept = ["eval", "match", str(dataset), "--accepted", str(table)]
    assert veritrail(*accept, "-o", str(out), "--json").json["matched"] == 1
    claims = [json.loads(line).get("claim") for line in out.read_text("utf-8").splitlines()]
    labels = {one["claim_id"]: (one.get("label"), one.get("label_origin")) for one in claims if one}
    assert labels["k1"] == ("FULLY_SUPPORTED", "matched")
    assert labels["k5"] == (None, None)
    aligned = veritrail(
        "eval", "match", str(out), "--accepted", str(table), "--alignment", "--json"
    )
    assert aligned.json["aligned_share"] == 1
    assert (aligned.json["matched"], aligned.json["claims"]) == (1, 5)
    _mark(table, "accept", k1="perhaps")
    ended = veritrail(*accept, "-o", str(out), "--json", status=2)
    assert [one["where"] for one in ended.violations] == [
        f"row {2 + list(rows).index('k1')}, column accept"
    ]


def test_a_match_never_changes_a_label(veritrail: Veritrail, tmp_path: Path) -> None:
    table = tmp_path / "m.csv"
    table.write_text("process_id,claim_id,accept\np,k4,yes\n", encoding="utf-8")
    call = ["eval", "match", str(_dataset(tmp_path)), "--accepted", str(table)]
    ended = veritrail(*call, "-o", str(tmp_path / "o.jsonl"), "--json", status=2)
    assert [one["where"] for one in ended.violations] == ["row 2, column accept"]
    assert "'k4' is labelled NOT_FULLY_SUPPORTED" in ended.violations[0]["message"]
    assert str(table) in ended.message
    found = veritrail(*call, "--alignment", "--json").json
    assert (found["matched"], found["aligned_share"]) == (1, 0)
    table.write_text("process_id,claim_id,accept\np,k9,yes\n", encoding="utf-8")
    assert (
        "is no claim"
        in veritrail(*call, "--alignment", "--json", status=2).violations[0]["message"]
    )


def test_an_empty_table_of_failed_calls_is_not_kept(
    veritrail: Veritrail, model: ModelServer, tmp_path: Path
) -> None:
    table, faithful = tmp_path / "m.csv", tmp_path / "faithful.csv"
    faithful.write_text("premise\nGeese are loud.\n", encoding="utf-8")
    call = ["eval", "match", str(_dataset(tmp_path)), "-o", str(table), "--faithful", str(faithful)]
    ended = veritrail(*call, status=1, **settings(model))
    assert "1 of 4 calls failed." in ended.err
    assert not table.exists()


def test_near_duplicates_go_when_a_person_says_so(veritrail: Veritrail, tmp_path: Path) -> None:
    dataset, table, out = _dataset(tmp_path), tmp_path / "d.csv", tmp_path / "out.jsonl"
    call = ["eval", "duplicates", str(dataset)]
    assert veritrail(*call, "-o", str(table), "--json").json["near_duplicates"] == 1
    (row,) = _rows(table)
    assert (row["claim_id"], row["like"], row["overlap"]) == ("k5", "k1", "1.0")
    _mark(table, "remove", k5="yes")
    done = veritrail(*call, "--accepted", str(table), "-o", str(out), "--json").json
    assert (done["removed"], done["claims"]) == (1, 4)
    # What is left has none, and goes round all the same.
    none, again = tmp_path / "none.csv", tmp_path / "again.jsonl"
    assert (
        veritrail("eval", "duplicates", str(out), "-o", str(none), "--json").json["near_duplicates"]
        == 0
    )
    call = ["eval", "duplicates", str(out), "--accepted", str(none), "-o", str(again), "--json"]
    assert veritrail(*call).json["removed"] == 0


def test_questions_are_marked_and_a_person_keeps_them(
    veritrail: Veritrail, model: ModelServer, tmp_path: Path
) -> None:
    table, review, kept = (tmp_path / f"{name}.csv" for name in ("q", "r", "k"))
    table.write_text(
        "question\nHow might trade change?\nWhat help did the families get?\nWhat is the toll?\n",
        encoding="utf-8",
    )
    call = ["eval", "questions", str(table), "-o", str(review), "--json"]
    made = veritrail(*call, **settings(model)).json
    counts = {key: made[key] for key in ("questions", "proposed", "asks_opinion", "needs_context")}
    assert counts == {"questions": 3, "proposed": 1, "asks_opinion": 1, "needs_context": 1}
    assert [row["proposal"] for row in _rows(review)] == ["drop", "drop", "keep"]
    text = review.read_text(encoding="utf-8").replace("keep,\n", "keep,yes\n")
    review.write_text(text.replace("keep,\r\n", "keep,yes\r\n"), encoding="utf-8", newline="")
    again = ["eval", "questions", str(review), "--reviewed", "-o", str(kept), "--json"]
    assert veritrail(*again).json["kept"] == 1
    assert [row["question"] for row in _rows(kept)] == ["What is the toll?"]
