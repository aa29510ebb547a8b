"""What callers over REST are told of errors that were written for a terminal."""

from __future__ import annotations

import json

import pytest

from veritrail_graph.api.http.problems import told
from veritrail_graph.api.http.wording import worded
from veritrail_graph.graph.errors import BeingWritten
from veritrail_graph.graph.store.taken import taken_words


def test_who_is_writing_is_nobodys_business_and_it_is_said_when_to_come_again() -> None:
    answer = told(BeingWritten(f"Process 'p' is being written by vm#17. {taken_words('x')}"))
    assert (answer.status_code, answer.headers["retry-after"]) == (409, "5")
    content = json.loads(bytes(answer.body))
    assert content["type"] == "urn:veritrail:problem:conflict"
    assert "vm#" not in content["detail"]
    assert "command" not in content["detail"]


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        (
            "--budget needs the price of m, which is not known. Give it with --price "
            "INPUT,OUTPUT (USD per million tokens) or in a table (VERITRAIL_PRICES).",
            "`budget_usd` needs the price of m, which is not known. Give it in `price` as "
            "INPUT,OUTPUT (USD per million tokens) or in a table (VERITRAIL_PRICES).",
        ),
        ("is missing: a claim (--param claim_id=…)", "is missing: a claim"),
        ("--claim 'x --claim'", "claims: 'x --claim'"),
        ("No process '--force' is stored.", "No process '--force' is stored."),
    ],
)
def test_options_become_fields_and_what_a_caller_sent_stays(text: str, ours: str) -> None:
    assert worded(text) == ours
