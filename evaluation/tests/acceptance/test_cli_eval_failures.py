"""The benchmark of failures of agents in one command: asked, priced, stopped, and gone on with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.homes import EXAMPLES
from acceptance.model_fixtures import asking
from fakes.model_answers import Lines, ScriptedReader
from fakes.model_prompts import Excerpts
from fakes.model_server import ModelServer

MATRIX = str(EXAMPLES / "evaluation" / "who-and-when.toml")
CLAIMS = {
    'The answer to "How long is the quay of Lindholm, in metres?" is: I have checked the figure. '
    "The quay of Lindholm is 210 metres long.": "210",
    'The answer to "In which year was the lighthouse of Sandholm built?" is: 1911': "1911",
    'The answer to "How many boats may lie in the harbour of Sandholm?" is: 45': "45 boats",
}
"""What a sentence says that is evidence for each claim."""


def _reader() -> ScriptedReader:
    def judged(excerpts: Excerpts) -> str:
        texts = " ".join(excerpts.sentences.values())
        wanted = CLAIMS[excerpts.claim]
        is_said = wanted in texts and "Sandby" not in texts
        return "FULLY_SUPPORTED" if is_said else "NOT_FULLY_SUPPORTED"

    return ScriptedReader(
        {claim: Lines(evidence=(said,), verdicts=judged) for claim, said in CLAIMS.items()}
    )


@pytest.fixture
def alone(tmp_path: Path) -> Veritrail:
    """The command with a home of its own; an evaluation starts no engine."""
    return Veritrail(tmp_path / "home")


def _rows(document: dict[str, Any], engine: str | None) -> list[dict[str, Any]]:
    (name,) = [
        row["configuration_id"]
        for row in document["configurations"]
        if row["parameters"].get("engine") == engine
    ]
    rows: list[dict[str, Any]] = document["datasets"][0]["failures"]["configurations"][name]
    return rows


def test_one_command_finds_agents_and_steps_and_goes_on_where_it_stopped(
    alone: Veritrail, tmp_path: Path
) -> None:
    run = ("eval", "run", MATRIX, "-o", str(tmp_path / "out"), "--price", "1,2", "--json")
    report = ("eval", "report", str(tmp_path / "out"), "--json")
    with ModelServer(_reader()) as server:
        estimate = alone(*run, "--estimate", **asking(server)).json
        assert not server.requests
        assert estimate["total"]["cost_usd"] > 0
        stopped = alone(*run, "--max-calls", "6", "--concurrency", "1", status=1, **asking(server))
        assert len(server.requests) == 6
        assert "and has made them. What was judged is kept" in stopped.err
        (_, _, left) = _rows(alone(*report).json, None)
        assert left["unfinished"] > 0
        alone(*run, **asking(server))
        again = alone(*run, **asking(server))
        prompts = [one.system + one.user for one in server.requests]
    assert again.json["spent"]["calls"] == 0
    assert len(set(prompts)) == len(prompts)  # nothing is paid for twice
    ended = alone(*report).json
    # The quay goes wrong in a message. Of the lighthouse there is only a page about another
    # one: the place is the final answer, of the right agent. A page says 45.
    generated, crafted, every = _rows(ended, None)
    assert (generated["agent"], generated["step"], generated["not_located"]) == (1, 1, 0)
    assert (crafted["agent"], crafted["step"], crafted["not_located"]) == (0.5, 0, 1)
    assert (every["logs"], every["unfinished"]) == (3, 0)
    assert "(judged by openai " in ended["datasets"][0]["summary"]
    by_words = _rows(ended, "lexical")[-1]  # the turned digits are found by their value
    assert (by_words["logs"], by_words["not_located"], by_words["step"]) == (3, 2, 1 / 3)
    # The answer that would have been right is in no prompt.
    assert not any("1876" in text for text in prompts)
