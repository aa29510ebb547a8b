"""The gate as SARIF: at which line of a file a claim is."""

from __future__ import annotations

import json
from pathlib import Path

from veritrail_graph.api.cli.gating.entries import Entry
from veritrail_graph.api.cli.gating.rules import GateLimits, judge
from veritrail_graph.api.cli.gating.sarif import outcome_sarif
from veritrail_graph.api.show.words import State


def test_lines_are_those_of_editors(tmp_path: Path) -> None:
    text = "The ferry carries 42 cars."
    answer = tmp_path / "answer.md"
    answer.write_bytes(f"A\u2028B\x0cC\x85D\r\n\r\nSo: {text}\n".encode())
    outcome = judge("p", [Entry("k", text, State.NOT_SUPPORTED)], GateLimits())
    document = json.loads(outcome_sarif(outcome, {}, answer))
    (result,) = document["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 3, "startColumn": 5, "endColumn": 5 + len(text)}


def test_brackets_and_braces_of_a_claim_are_text_and_no_link_or_placeholder() -> None:
    text = r"See [page](http://x.example) and {0}, a[0] or \[1]."
    outcome = judge("p", [Entry("k", text, State.NOT_SUPPORTED)], GateLimits())
    document = json.loads(outcome_sarif(outcome, {}, None))
    (result,) = document["runs"][0]["results"]
    wanted = r"See \[page\](http://x.example) and {{0}}, a\[0\] or \\\[1\]."
    assert result["message"]["text"].startswith(wanted)
