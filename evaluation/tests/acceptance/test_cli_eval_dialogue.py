"""`veritrail eval dialogue`: methods side by side, finished files, money, faults."""

from __future__ import annotations

import csv
import json
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import MODEL, asking, kill_when, paid_twice
from eval_fakes.embedding_server import EmbeddingModelServer
from fakes.dialogues import EXAMPLES, DialogueReader, sample_dialogue
from fakes.model_faults import Fault
from fakes.model_server import ModelServer, Received

GOLD = str(EXAMPLES / "evaluation" / "dialogue-gold.jsonl")
RUN = str(EXAMPLES / "lindholm-dialogue.gold.json")
KEYS = {
    "method", "engine", "model", "indicative", "turns", "scored", "excluded", "accuracy",
    "macro_f1", "f1", "with_none", "confusion", "vista_score", "claims", "holds", "cost_per_turn",
    "usage",
}  # fmt: skip
PRICE = ("--price", "1,2")


@pytest.fixture(scope="module")
def veritrail(tmp_path_factory: pytest.TempPathFactory) -> Veritrail:
    """The command with a home in which no engine is ever made."""
    return Veritrail(tmp_path_factory.mktemp("eval") / "home")


def rows(document: Any) -> dict[str, Any]:
    return {one["method"]: one for one in document["methods"]}


def test_methods_run_side_by_side_and_again_from_the_cache(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    asked = ["eval", "dialogue", GOLD, "--consensus", *PRICE]
    parts = ["--ablation", "no-background+no-history", "--ablation", "binary"]
    every = [*parts, "--method", "judge", "--method", "factscore", "--method", "majority"]
    with ModelServer(DialogueReader()) as server:
        first = veritrail(
            *asked,
            *every,
            "--json",
            "--intervals",
            "--resamples",
            "20",
            "-o",
            str(tmp_path / "out"),
            **asking(server),
        )
        sent = len(server.requests)
        again = veritrail(*asked, *every, "--json", **asking(server))
        shown = veritrail(*asked, "--method", "vista", "--ablation", "binary", **asking(server))
        assert len(server.requests) == sent
        checking = ["--method", "vista", "--turn-check", "--json"]
        checked = rows(veritrail(*asked, *checking, **asking(server)).json)["vista"]
        assert len(server.requests) == sent + 15  # of the rest answers are known
    assert checked["holds"]["CONTRADICTED"]["turn_check"]["recall"] == 1
    found = rows(first.json)
    assert list(found) == [
        "vista", "vista:no-background+no-history", "vista:binary", "judge", "factscore", "majority",
    ]  # fmt: skip
    assert all(row.keys() >= KEYS for row in found.values())
    assert found["vista"]["accuracy"] == found["vista"]["macro_f1"] == 1
    pairs = [(one["first"], one["second"]) for one in first.json["comparisons"]]
    assert pairs == list(combinations(found, 2))
    assert found["vista"]["model"] == MODEL
    for row in found.values():
        assert row["scored"] + sum(row["excluded"].values()) == row["turns"] == 15
        low, high = row["intervals"]["accuracy"]
        assert low <= row["accuracy"] <= high
    assert found["judge"]["accuracy"] < 1
    assert found["judge"]["reasons"]["claims"] == "the method names no claims"
    assert found["majority"]["reasons"]["cost_per_turn"] == "no call to an endpoint was made"
    # Answers from the cache cost nothing now; a turn costs what it cost anew.
    cached = rows(again.json)
    for name in ("vista", "judge", "factscore"):
        assert cached[name]["cost_per_turn"] == pytest.approx(found[name]["cost_per_turn"])
        assert cached[name]["usage"]["calls"] == 0
    assert found["judge"]["cost_per_turn"] < found["vista"]["cost_per_turn"]
    assert "vista:binary" in shown.out
    assert "likely" in shown.err
    with (tmp_path / "out" / "turns.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert len(table) == 15
    assert {row["vista"] == row["label"] for row in table} == {True}
    assert table[1]["judge reason"].endswith("lines were shown.")
    # What was written is scored again as it was.
    written = str(tmp_path / "out" / "vista.json")
    read = rows(veritrail("eval", "dialogue", GOLD, written, "--consensus", "--json").json)
    assert read["vista"]["confusion"] == found["vista"]["confusion"]
    assert read["vista"]["claims"]["categories"]["accuracy"] == 1


def test_finished_runs_are_scored_without_a_model(veritrail: Veritrail, tmp_path: Path) -> None:
    whole = veritrail("eval", "dialogue", GOLD, RUN, "--json").json
    row = rows(whole)["lindholm-dialogue"]
    assert (row["accuracy"], row["with_none"]["accuracy"]) == (14 / 15, 14 / 15)
    assert row["holds"]["CONTRADICTED"]["f1"] == 1
    assert whole["annotators"]["pairs"].keys() == {"Ada|Bea"}
    assert whole["annotators"]["jaccard"] == pytest.approx(0.9)
    differing = whole["disagreements"]
    assert differing["methods"]["lindholm-dialogue"]["turns"] == 15
    assert differing["data_set"]["kinds"]["mishandled_opinion_or_abstention"] == 1
    assert whole["matching"] == "equal text"
    assert whole["gold"]["labels_from"] == "labels"
    shown = veritrail("eval", "dialogue", GOLD, RUN)
    assert "15 labelled turns of 1 dialogue" in shown.err
    same = tmp_path / "lindholm-dialogue.json"
    same.write_bytes(Path(RUN).read_bytes())
    twice = veritrail("eval", "dialogue", GOLD, RUN, str(same), "--json", status=2)
    assert "rename one" in twice.message
    lexical = rows(veritrail("eval", "dialogue", GOLD, "--json").json)
    assert list(lexical) == ["vista", "majority"]
    assert lexical["vista"]["indicative"]


def test_reworded_claims_are_found_by_vectors(veritrail: Veritrail, tmp_path: Path) -> None:
    lines = Path(GOLD).read_text(encoding="utf-8").splitlines()
    gold = tmp_path / "gold.jsonl"
    turn = json.loads(lines[1])["turn"]
    turn["claims"][0]["claim"] = "The guide of the Lindholm Tram Museum is the assistant."
    gold.write_text("\n".join([lines[0], json.dumps({"turn": turn})]), encoding="utf-8")
    with EmbeddingModelServer() as server:
        found = veritrail(
            "eval", "dialogue", str(gold), RUN, "--embedding", "words", "--json", "--no-cache",
            OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="sk-test",
        ).json  # fmt: skip
    assert "cosine above 0.9 (words)" in found["matching"]
    assert rows(found)["lindholm-dialogue"]["claims"]["unmatched"] == 0
    plain = veritrail("eval", "dialogue", str(gold), RUN, "--json").json
    assert rows(plain)["lindholm-dialogue"]["claims"]["unmatched"] == 1


def test_an_estimate_asks_nothing_and_a_budget_ends_the_run(veritrail: Veritrail) -> None:
    with ModelServer(DialogueReader()) as server:
        settings = asking(server)
        found = veritrail("eval", "dialogue", GOLD, "--estimate", *PRICE, "--json", **settings)
        assert not server.requests
        likely = rows(found.json)
        assert list(likely) == ["vista", "factscore", "judge", "majority"]
        assert likely["judge"]["calls"] == 15
        assert likely["vista"]["cost_usd"] > likely["factscore"]["cost_usd"] > 0
        assert (
            "no call was made"
            in veritrail("eval", "dialogue", GOLD, "--estimate", *PRICE, **settings).err
        )
        options = ["--max-calls", "5", "--method", "judge", "--no-cache", "--json"]
        ended = veritrail("eval", "dialogue", GOLD, *options, status=1, **settings)
        row = rows(ended.json)["judge"]
        assert (row["scored"], row["excluded"]["over_budget"]) == (5, 10)
        assert sum(each["NONE"] for each in row["confusion"].values()) == 10
        assert len(server.requests) == 5


def test_an_answer_that_cannot_be_read_is_no_label(veritrail: Veritrail) -> None:
    text = next(turn.text for turn in sample_dialogue().turns if turn.turn_id == "t4")

    def fails(request: Received) -> Fault | None:
        return Fault.MALFORMED_JSON if request.user.endswith(text) else None

    with ModelServer(DialogueReader(), faults=fails) as server:
        options = ["--method", "judge", "--no-cache", "--json"]
        ended = veritrail("eval", "dialogue", GOLD, *options, status=1, **asking(server))
    row = rows(ended.json)["judge"]
    assert (row["scored"], row["excluded"]["failed"]) == (14, 1)
    assert row["confusion"]["VERIFIED"]["NONE"] == 1
    with ModelServer(DialogueReader(), key="another") as server:
        refused = veritrail(
            "eval", "dialogue", GOLD, "--no-cache", "--json", status=3, **asking(server)
        )
        assert len(server.requests) <= 3
    assert rows(refused.json)["judge"]["accuracy"] is None


def test_a_command_that_was_killed_goes_on_from_the_cache(tmp_path: Path) -> None:
    veritrail = Veritrail(tmp_path / "home")
    options = ["eval", "dialogue", GOLD, "--method", "vista", "--method", "judge", "--json"]
    with ModelServer(DialogueReader(), latency=0.01) as server:
        started = veritrail.start(*options, **asking(server))
        kill_when(started, server, 30)
        killed = time.monotonic()
        ended = veritrail(*options, **asking(server))
        assert not paid_twice(server, [killed])
    assert {row["scored"] for row in ended.json["methods"]} == {15}
    assert rows(ended.json)["vista"]["usage"]["cached_calls"] > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ablation", "history"], "there are no-background, no-history, zero-shot, binary"),
        (["--method", "judge"], "judge needs a language model"),
        (["--turn-check"], "turns as a whole needs a language model"),
        (["--engine", "nli"], "does not verify dialogues"),
        (["--engine", "lexical", "--model", "m"], "asks none"),
        (["--method", "vista", "--embedding", "./none"], "no folder"),
    ],
)
def test_what_cannot_be_done_is_refused(
    veritrail: Veritrail, options: list[str], message: str
) -> None:
    assert message in veritrail("eval", "dialogue", GOLD, *options, "--json", status=2).message


def test_bad_files_are_violations(veritrail: Veritrail, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    lines = Path(GOLD).read_text(encoding="utf-8").splitlines()[:2]
    turn = {"dialogue_id": "lindholm-dialogue", "turn_id": "t4", "label": "FAITHFUL"}
    bad.write_text("\n".join([*lines, json.dumps({"turn": turn})]), encoding="utf-8")
    found = veritrail("eval", "dialogue", str(bad), "--json", status=2).violations
    assert [(one["where"], one["kind"]) for one in found] == [("line 3 't4'", "unknown_label")]
    ended = veritrail("eval", "dialogue", GOLD, GOLD, "--json", status=2)
    assert ended.violations[0]["kind"] == "unknown_shape"
    assert "no such file" in veritrail("eval", "dialogue", "none.jsonl", status=2).err
