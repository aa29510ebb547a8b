"""What is shown of claims and of their extraction, without an engine."""

from __future__ import annotations

import pytest

from veritrail_graph.api.cli.claims import ExtractionWatch
from veritrail_graph.api.cli.terminal import LongWork
from veritrail_graph.graph.model import Usage


@pytest.fixture
def watch() -> ExtractionWatch:
    return ExtractionWatch(LongWork(None))


def test_a_pipe_gets_lines_about_sentences_and_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], watch: ExtractionWatch
) -> None:
    monkeypatch.setattr("veritrail_graph.api.cli.terminal._SECONDS_BETWEEN_LINES", -1.0)
    watch.sentence_done(0, 1_200)
    watch.call_made(Usage(calls=1))
    watch.call_made(Usage(cached_calls=1))
    watch.sentence_done(1, 1_200)
    told = capsys.readouterr()
    assert told.err.splitlines() == [
        "sentences: 0 of 1,200, 0 answers",
        "sentences: 0 of 1,200, 1 answers",
        "sentences: 0 of 1,200, 2 answers",
        "sentences: 1 of 1,200, 2 answers",
    ]
    assert told.out == ""


def test_a_pipe_is_not_flooded(capsys: pytest.CaptureFixture[str], watch: ExtractionWatch) -> None:
    for done in range(1_000):
        watch.sentence_done(done, 1_000)
    assert capsys.readouterr().err == ""
