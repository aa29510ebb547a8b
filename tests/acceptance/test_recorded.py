"""Answers of a model are recorded by one command, and taken by another without the model."""

from __future__ import annotations

from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import MODEL, asking, expected, outcome, pumps
from fakes.model_server import ModelServer

from veritrail_graph.api.app.samples import FOLDER

pytestmark = pytest.mark.engine

CLAIMS = 3


def test_a_recorded_run_is_repeated_without_a_server_and_what_is_new_is_no_guess(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    file = tmp_path / "answers.jsonl"
    veritrail("ingest", pumps(tmp_path / "pumps-recorded.json", CLAIMS))
    with ModelServer() as server:
        veritrail("verify", "pumps-recorded", "--record", str(file), **asking(server))
        asked = len(server.requests)
    assert len(file.read_text("utf-8").splitlines()) == asked + 1

    told = veritrail("verify", "pumps-recorded", "--recorded", str(file), "--json").json
    assert outcome(told) == expected(CLAIMS)
    assert (told["engine"], told["indicative"]) == ("recorded", False)
    assert told["model"].startswith(f"answers of {MODEL}, recorded on ")
    assert (told["usage"]["calls"], told["usage"]["cost_usd"]) == (0, 0.0)

    new = ["--claim", "The pumps are blue.", "--budget", "1"]
    failed = veritrail("verify", "pumps-recorded", "--recorded", str(file), *new, status=1)
    assert f"is among the {asked} that were recorded" in failed.out + failed.err
    assert "--budget has no effect" in failed.err


def test_an_answer_is_checked_again_by_what_was_recorded_of_the_first_time(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    answer, source, file = (tmp_path / name for name in ("a.txt", "s.md", "answers.jsonl"))
    answer.write_text("The ferry carries 48 cars. It runs daily.", "utf-8")
    source.write_text("The ferry carries 42 cars. It runs daily.", "utf-8")
    check = ["check", "--answer", str(answer), "--sources", str(source), "--json"]
    with ModelServer() as server:
        first = veritrail(*check, "--record", str(file), **asking(server)).json
    process = [*check, "--process-id", "checked-again"]
    again = veritrail(*process, "--recorded", str(file)).json
    found = [
        [(one["claim"], one["verdict"]) for one in told["processes"][0]["results"]]
        for told in (first, again)
    ]
    assert found[0] == found[1]
    assert {verdict for _, verdict in found[0]} == {"FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--record", "x.jsonl", "--engine", "lexical"], "the engine lexical asks none"),
        (["--recorded", "x.jsonl", "--engine", "lexical"], "leave one of them out"),
        (["--recorded", "none.jsonl"], "none.jsonl cannot be read"),
        (["--engine", "recorded", "--model", "m"], "engine recorded gives recorded answers"),
        (["--engine", "recorded", "--batch"], "Engine recorded takes no batches"),
    ],
)
def test_what_contradicts_recorded_answers_is_refused_before_anything_begins(
    veritrail: Veritrail, arguments: list[str], message: str
) -> None:
    veritrail("ingest", str(FOLDER / "harbour-summary.json"))
    refused = veritrail("verify", "harbour-summary", *arguments, status=2)
    assert message in refused.err
    assert not Path("x.jsonl").exists()
