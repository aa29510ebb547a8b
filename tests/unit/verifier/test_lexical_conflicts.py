"""Where another figure or name than that of the source says nothing against a claim."""

from __future__ import annotations

import asyncio

import pytest

from veritrail_graph.graph.model import Claim, NodeRef, Role, Verdict
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.engines.lexical import LexicalJudge
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import Found, Judgement, SplitNode

SPLITTER = SentenceSplitter.for_language("english")


def judged(claim: str, source: str) -> Judgement:
    """Judge a claim by what is selected from one source, with the source beside it."""
    judge = LexicalJudge()
    ref = NodeRef("root", 1, 0, Role.INTERMEDIATE)
    node = SplitNode(ref, source, SPLITTER.split("root", source))
    stated = Claim.model_construct(claim_id="k", text=claim, node_id="t")

    async def both() -> Judgement:
        selected = await judge.select_evidence(stated, [node], Meter())
        return await judge.judge(stated, Found(selected.evidence, (node,)), Meter())

    return asyncio.run(both())


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("60 of the 90 members sang.", "Two thirds of the 90 members sang."),
        ("The tax was 17 percent.", "The tax was 19 percent. It fell by 2 percentage points."),
        ("The tax was 21 percent.", "The tax was 19 percent. It rose by 2 points."),
        ("The rate was 4.75 percent.", "The rate was 5.25 percent. It fell by 50 basis points."),
    ],
)
def test_a_figure_that_may_follow_from_the_source_contradicts_nothing(
    claim: str, source: str
) -> None:
    assert judged(claim, source).verdict is None


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The ship left Mumbai on 4 May.", "The ship left Bombay on 4 May."),
        ("Mark Twain spoke in Leeds in 1897.", "Samuel Clemens spoke in Leeds in 1897."),
        (
            "Mark Twain spoke in Leeds in 1897.",
            "Samuel Clemens spoke in Leeds in 1897. His pen name was Mark Twain.",
        ),
    ],
)
def test_what_may_be_another_name_of_the_same_contradicts_nothing(claim: str, source: str) -> None:
    assert judged(claim, source).verdict is None


def test_a_name_that_the_source_knows_as_another_contradicts() -> None:
    claim = "The ship left Mumbai on 4 May."
    source = "The ship left Lagos on 4 May. A tug from Mumbai was sold."
    assert judged(claim, source).verdict is Verdict.NOT_FULLY_SUPPORTED
