"""What `veritrail claims list` shows of claims."""

from __future__ import annotations

import pytest

from veritrail_graph.api.cli.claims import show_claims, show_questions
from veritrail_graph.graph.model import Claim


def test_claims_of_several_nodes_are_shown_with_their_nodes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    claims = [
        Claim(claim_id=f"k{n}", text="It is old.", node_id=name)
        for n, name in enumerate(["answer/a", "answer/b"])
    ]
    show_claims(claims)
    shown = capsys.readouterr().out
    assert "answer/a" in shown
    assert "answer/b" in shown
    show_questions({"answer/b": "Is it old?"})
    assert "Is it old?" in capsys.readouterr().out
    show_claims(claims[:1])
    assert "answer/a" not in capsys.readouterr().out
