"""`veritrail judge check`: judges with planted errors, faults, money, resuming."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import asking, closed_port
from fakes.model_answers import (
    FULLY_SUPPORTED,
    INCONCLUSIVE,
    NOT_FULLY_SUPPORTED,
    Answer,
    pass_through,
    selection,
    verdict,
)
from fakes.model_prompts import EVIDENCE_SELECTION, EXCERPT_STEPS, parse_excerpts
from fakes.model_server import ModelServer

from veritrail_eval.judge_check.pairs import Pair, own_pairs
from veritrail_graph.verifier.engines import engine_named

CHECK = ("judge", "check")
PAIRS = own_pairs()
OTHER = {FULLY_SUPPORTED: NOT_FULLY_SUPPORTED, NOT_FULLY_SUPPORTED: FULLY_SUPPORTED}


@pytest.fixture
def alone(tmp_path: Path) -> Veritrail:
    """The command with a home of its own; a check starts no engine."""
    return Veritrail(tmp_path / "home")


@dataclass
class LabelReader:
    """Knows the label of every claim, but for planted errors.

    Attributes:
        wrong: pair_ids of pairs that get the other label.
        open_: Those that are inconclusive.
        broken: Those whose verdict is no answer.
    """

    wrong: Collection[str] = ()
    open_: Collection[str] = ()
    broken: Collection[str] = ()
    pairs: Mapping[str, Pair] = field(default_factory=lambda: {one.claim: one for one in PAIRS})

    def __call__(self, step: str, system: str, user: str, request: Any) -> Answer:
        if step not in EXCERPT_STEPS:
            return pass_through(step, user)
        excerpts = parse_excerpts(user, step)
        if step == EVIDENCE_SELECTION:
            return selection(excerpts, [0])
        pair = self.pairs[excerpts.claim]
        if pair.pair_id in self.broken:
            return "I would rather not say."
        if pair.pair_id in self.open_:
            return verdict(INCONCLUSIVE, "It may be so.")
        label = pair.label.value
        return verdict(OTHER[label] if pair.pair_id in self.wrong else label, "It is so.")


def names(kind: str, label: str, count: int) -> list[str]:
    """pair_ids of the first pairs of a kind and label."""
    return [one.pair_id for one in PAIRS if (one.kind, one.label) == (kind, label)][:count]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_judge_that_is_always_right_gets_the_best_figures(alone: Veritrail) -> None:
    with ModelServer(LabelReader()) as server:
        told = alone(*CHECK, "--limit", "20", "--json", "--price", "1,2", **asking(server)).json
    assert (told["engine"], told["model"], told["indicative"]) == ("openai", "scripted", False)
    assert told["overall"]["pairs"] == told["overall"]["scored"] == 20
    assert {one["kind"]: one["balanced_accuracy"] for one in told["kinds"]} == dict.fromkeys(
        (one.kind for one in PAIRS), 1.0
    )
    assert told["overall"]["balanced_accuracy"] == 1.0
    low, high = told["overall"]["interval"]
    assert (0.8 < low < 0.85, high) == (True, 1.0)
    assert told["meaning"].startswith(
        "Of 100 unsupported claims it would let about 0 (0 to 28) pass"
    )
    usage = told["usage"]
    assert usage["calls"] == len(server.requests) >= 3 * 20
    dollars = (usage["input_tokens"] + 2 * usage["output_tokens"]) / 1e6
    assert usage["cost_usd"] == pytest.approx(dollars)
    assert told["cost_per_pair"] == pytest.approx(dollars / 20)
    assert told["seconds"] > 0


def test_planted_errors_are_counted_by_kind_and_failed_pairs_apart(
    alone: Veritrail, tmp_path: Path
) -> None:
    from sklearn.metrics import balanced_accuracy_score

    wrong = [
        *names("number", NOT_FULLY_SUPPORTED, 6),
        *names("time", FULLY_SUPPORTED, 3),
        *names("time", NOT_FULLY_SUPPORTED, 12),
    ]
    open_, broken = names("scope", FULLY_SUPPORTED, 2), names("name", NOT_FULLY_SUPPORTED, 4)
    chosen = ("number", "name", "time", "scope")
    file = tmp_path / "verdicts.csv"
    check = (*CHECK, *(f"--kind={kind}" for kind in chosen), "--no-sub-claims")
    with ModelServer(LabelReader(wrong, open_, broken)) as server:
        settings = asking(server, VERITRAIL_ANSWER_RETRIES="0")
        ended = alone(*check, "--json", "--output", str(file), status=1, **settings)
        # As a person sees it; all valid answers come from the cache.
        shown = alone(*check, "--price", "1,2", status=1, **settings)
    told = ended.json
    kinds = {one["kind"]: one for one in told["kinds"]}
    assert kinds["number"]["balanced_accuracy"] == pytest.approx((1 + 6 / 12) / 2)
    assert kinds["time"]["balanced_accuracy"] == pytest.approx((9 / 12 + 0) / 2)
    assert kinds["scope"]["balanced_accuracy"] == 1.0
    assert kinds["scope"]["balanced_accuracy_inconclusive_wrong"] == pytest.approx(
        (10 / 12 + 1) / 2
    )
    assert kinds["scope"]["excluded"] == {"inconclusive": 2, "undecided": 0, "no_verdict": 0}
    assert kinds["name"]["balanced_accuracy"] == 1.0
    assert kinds["name"]["excluded"] == {"inconclusive": 0, "undecided": 0, "no_verdict": 4}
    assert kinds["name"]["labels"][NOT_FULLY_SUPPORTED]["wrong"] == 0
    overall = (43 / 46 + 26 / 44) / 2
    assert told["overall"]["balanced_accuracy"] == pytest.approx(overall)
    assert told["without_verdict"] == {"failed": 4}
    assert "4 pair(s) have no verdict" in ended.err
    rows = rows_of(file)
    assert [row["claim_id"] for row in rows] == [one.pair_id for one in PAIRS if one.kind in chosen]
    scored = [row for row in rows if row["right"]]
    labels, verdicts = ([row[name] for row in scored] for name in ("label", "verdict"))
    assert balanced_accuracy_score(labels, verdicts) == pytest.approx(overall)
    assert {row["claim_id"] for row in rows if row["right"] == "false"} == set(wrong)
    failed = [row for row in rows if row["status"] == "failed"]
    assert {row["claim_id"] for row in failed} == set(broken)
    assert all(row["error"] and not row["verdict"] and not row["right"] for row in failed)
    columns = "kind pairs decided balanced accuracy 95 % interval let pass flagged wrongly"
    assert [" ".join(line.split()) for line in shown.out.splitlines()[:6]] == [
        f"{columns} inconclusive undecided no verdict",
        "number 24 24 0.75 0.58 to 0.87 6 of 12 0 of 12 0 0 0",
        "name 24 20 1.00 0.80 to 1.00 0 of 8 0 of 12 0 0 4",
        "time 24 24 0.38 0.23 to 0.52 12 of 12 3 of 12 0 0 0",
        "scope 24 22 1.00 0.82 to 1.00 0 of 12 0 of 12 2 0 0",
        "all 96 90 0.76 0.67 to 0.83 18 of 44 3 of 48 2 0 4",
    ]
    assert "openai, scripted: Of 100 unsupported claims it would let about 41 (28 to 56) pass" in (
        " ".join(shown.out.split())
    )
    assert "96 pairs take about " in shown.err
    assert "96 pairs in " in shown.err


def test_an_endpoint_that_cannot_be_reached_gives_no_figure(alone: Veritrail) -> None:
    with closed_port() as port:
        settings = {
            "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "OPENAI_API_KEY": "none",
            "VERITRAIL_MODEL": "m",
            "VERITRAIL_CALL_DEADLINE": "1",
        }
        ended = alone(*CHECK, "--limit", "6", "--json", status=3, **settings)
    told = ended.json
    assert told["overall"]["excluded"] == {"inconclusive": 0, "undecided": 0, "no_verdict": 6}
    assert (told["overall"]["balanced_accuracy"], told["meaning"]) == (None, None)
    assert told["overall"]["reasons"]["balanced_accuracy"].startswith("no pair labelled FULLY")
    assert told["cost_per_pair"] is None
    assert "127.0.0.1" in told["error"]["message"]
    assert "the check was stopped" in ended.err


def test_a_judge_that_answers_nothing_valid_fails_and_gives_no_figure(alone: Veritrail) -> None:
    reader = LabelReader(broken=[one.pair_id for one in PAIRS])
    with ModelServer(reader) as server:
        ended = alone(
            *CHECK, "--limit", "6", status=1, **asking(server, VERITRAIL_ANSWER_RETRIES="0")
        )
    assert "no pair has a verdict, so nothing can be said of it" in " ".join(ended.out.split())
    assert "6 pair(s) have no verdict" in ended.err


def test_a_check_that_was_stopped_goes_on_and_pays_for_nothing_twice(alone: Veritrail) -> None:
    check = (*CHECK, "--limit", "12", "--json", "--no-sub-claims")
    with ModelServer(LabelReader()) as server:
        settings = asking(server)
        first = alone(*check, "--max-calls", "10", status=1, **settings).json
        assert first["without_verdict"]["over_budget"] > 0
        assert 0 < first["usage"]["calls"] <= 10
        assert len(server.requests) == first["usage"]["calls"]
        second = alone(*check, **settings).json
        third = alone(*check, **settings).json
        sent = Counter((one.step, one.user) for one in server.requests)
    assert set(sent.values()) == {1}
    assert second["overall"]["scored"] == 12
    assert second["usage"]["cached_calls"] == first["usage"]["calls"]
    assert third["usage"]["calls"] == 0
    assert third["overall"] == second["overall"]


def test_an_estimate_makes_no_call(alone: Veritrail) -> None:
    few = ("--limit", "10")
    with ModelServer(LabelReader()) as server:
        settings = asking(server)
        told = alone(*CHECK, *few, "--estimate", "--json", "--price", "1,2", **settings).json
        assert server.requests == []
        priced = alone(*CHECK, *few, "--estimate", "--price", "1,2", **settings)
        unpriced = alone(*CHECK, *few, "--estimate", **settings)
        assert server.requests == []
        made = alone(*CHECK, *few, "--json", "--price", "1,2", **settings).json["usage"]
    assert told["pairs"] == 10
    low, high = told["estimate"]["low"], told["estimate"]["high"]
    assert low["calls"] <= made["calls"] <= high["calls"]
    assert 0 < low["cost_usd"] < high["cost_usd"]
    assert "10 pairs take about " in priced.err
    assert "calls" in priced.err
    assert "$" in priced.err
    assert "price that is not known" in unpriced.err
    assert "$" not in unpriced.err
    assert "cost nothing" in alone(*CHECK, "--estimate").err


def test_the_engine_without_a_model_is_checked_by_its_words_alone(
    alone: Veritrail, tmp_path: Path
) -> None:
    file = tmp_path / "verdicts.csv"
    told = alone(*CHECK, "--json", "--output", str(file)).json
    assert (told["engine"], told["model"], told["indicative"]) == ("lexical", None, True)
    assert told["usage"]["calls"] == 0
    rows = rows_of(file)
    overall = told["overall"]
    assert len(rows) == overall["pairs"] == 240
    # Words alone tell hardly anything here; docs/judge-check.md gives the figures.
    decided = [row for row in rows if row["verdict"]]
    assert overall["decided"] == len(decided) / 240 < 0.1
    assert overall["excluded"]["undecided"] == 240 - len(decided)
    assert {row["status"] for row in rows if not row["verdict"]} == {"undecided"}
    measured = engine_named("lexical").measured
    assert measured is not None
    assert (measured.pairs, measured.decided) == (len(rows), len(decided))
    assert told["measured"] == measured.json_object()
    assert told["measured"]["decided"] == round(overall["decided"], 3)
    for label, found in overall["verdicts"].items():
        given = [row for row in decided if row["verdict"] == label]
        right = sum(row["label"] == label for row in given)
        assert (found["given"], found["right"]) == (len(given), right)
        assert right >= 0.9 * len(given)
    few = alone(*CHECK, "--json", "--limit", "20").json
    assert [one["pairs"] for one in few["kinds"]] == [2] * 10
    assert not (alone.home / "engine").exists()


def test_pairs_of_a_user_are_checked(alone: Veritrail, tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(
        "pair_id,source,source_2,claim,label,kind\n"
        '"=1+1",The mill burned in 1790. It was of wood.,It was rebuilt in 1795.,'
        "The mill burned in 1790.,FULLY_SUPPORTED,fire\n"
        "b,The mill burned in 1790.,,The mill burned in 1780.,NOT_FULLY_SUPPORTED,fire\n"
    )
    told = alone(*CHECK, "--pairs", str(file), "--json", "--output", str(tmp_path / "o.csv")).json
    assert [(one["kind"], one["balanced_accuracy"]) for one in told["kinds"]] == [("fire", 1.0)]
    assert [row["claim_id"] for row in rows_of(tmp_path / "o.csv")] == ["'=1+1", "b"]


def test_pairs_with_one_label_have_no_balanced_accuracy(alone: Veritrail, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    pair = {"source": "The mill burned.", "claim": "The mill burned.", "label": "FULLY_SUPPORTED"}
    file.write_text(json.dumps(pair))
    told = alone(*CHECK, "--pairs", str(file), "--json").json
    assert told["overall"]["reasons"] == {
        "balanced_accuracy": "no pair is labelled NOT_FULLY_SUPPORTED"
    }
    assert told["meaning"].startswith("Of 100 supported claims it would flag about 0")


def test_wrong_use_is_refused_before_anything_is_asked(alone: Veritrail, tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("source,claim,label\na,b,MAYBE\nc,,FULLY_SUPPORTED\n")
    with ModelServer(LabelReader()) as server:
        settings = asking(server)
        ended = alone(*CHECK, "--pairs", str(file), "--json", status=2, **settings)
        assert [one["where"] for one in ended.violations] == [
            "mine.csv line 2, column label",
            "mine.csv line 3, column claim",
        ]
        for arguments, said in (
            (["--kind", "nubmer"], "no pair is of this kind"),
            (["--output", str(tmp_path)], "cannot be written: Is a directory"),
            (["--output", str(tmp_path / "no" / "o.csv")], "cannot be written: No such file"),
            (["--pairs", str(tmp_path / "none.csv")], "cannot be read"),
            (["--engine", "lexcial"], "Unknown engine 'lexcial'"),
            (["--engine", "lexical", "--model", "m"], "asks none"),
            (["--budget", "1"], "price"),
        ):
            assert (
                said
                in alone(*CHECK, "--limit", "2", *arguments, "--json", status=2, **settings).message
            )
        assert server.requests == []
