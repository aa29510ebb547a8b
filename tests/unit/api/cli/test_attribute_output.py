"""What `veritrail attribute` advises where sentences did not succeed, without an engine."""

from __future__ import annotations

import pytest

from veritrail_graph.api.app.attribution import Attributed
from veritrail_graph.api.cli.attribute import end
from veritrail_graph.api.cli.exits import NOT_ALL_SUCCEEDED, Exit
from veritrail_graph.graph.model.attribution import AttributionRun

LONG = "a source of 400 sentences does not fit into the context window of small (3,500 tokens)"


def run_with(status: str, error: str) -> Attributed:
    sentence = {
        "sentence": 0, "start": 0, "end": 5, "text": "It is", "status": status, "error": error,
    }  # fmt: skip
    nodes = [{"node_id": "t", "sentences": [sentence]}]
    run = {"run_id": "r", "process_id": "p", "engine": "openai", "nodes": nodes}
    return Attributed(AttributionRun.model_validate(run))


@pytest.mark.parametrize(
    ("status", "error", "advice", "left_out"),
    [
        ("failed", "gone", "Run the command again: answers are cached", "larger"),
        ("failed", LONG, "Name a model with a larger context window", "again"),
        ("succeeded", f"the judgement failed: {LONG}", "take --mode attribution", "see above"),
        ("succeeded", "the correction failed: gone", "see above", "--mode"),
    ],
)
def test_the_advice_is_one_that_helps(
    capsys: pytest.CaptureFixture[str], status: str, error: str, advice: str, left_out: str
) -> None:
    with pytest.raises(Exit) as ended:
        end(run_with(status, error), interrupted=False, cached=True)
    assert ended.value.args[0] == NOT_ALL_SUCCEEDED
    told = " ".join(capsys.readouterr().err.split())
    assert advice in told
    assert left_out not in told
