"""Verifications in a table, a line each: the verdict, where an error came in, and the judge.

Source: VeriTrail 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence

from veritrail_graph.api.show.asking import asked_as
from veritrail_graph.api.show.document import (
    Block,
    Document,
    Remark,
    Style,
    Table,
    name,
    ours,
    quoting,
    said,
    verdict,
)
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.api.show.words import indicative_words, mark_now, unsaid_in_short
from veritrail_graph.graph.model import Verification


def verifications_shown(found: Sequence[Verification]) -> Document:
    """Show verifications, a line each; their trails are documents of their own."""
    rows = tuple(
        (
            (name(one.claim_id),),
            (verdict(mark_now(one)),),
            (ours(stage_cell(one)),),
            (quoting(judge_words(one)),),
            (said(one.claim),),
            (name(one.verification_id),),
        )
        for one in found
    )
    columns = ("claim_id", "verdict", "stage", "judged by", "claim", "verification")
    blocks: list[Block] = [Table(columns, rows, texts=("claim",))]
    if engines := [one.engine for one in found if one.indicative]:
        words = f"Verdicts that are marked so are {indicative_words(*engines)}."
        blocks.append(Remark((quoting(words),), Style.WARNING))
    return Document(tuple(blocks))


def judge_words(one: Verification) -> str:
    """Say who gave a verdict, with which q and when."""
    by = f"{one.engine} {one_line(one.model, 100)}" if one.model else one.engine
    by += asked_as(one)
    mark = " (indicative)" if one.indicative and one.verdict is not None else ""
    return f"{by}{mark}, q = {one.q}, {one.created_at[:10]}"


def stage_cell(verification: Verification) -> str:
    """The stages where an error came in, or that the answer is not known to say what was asked."""
    stages = ", ".join(map(str, verification.error_stages))
    return stages or unsaid_in_short(verification)
