"""Corrections of claims: what is proposed, that it is judged again, and what a fault takes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from fakes.asking import ScriptedAsking
from fakes.dag import Dag, DagSource
from fakes.scripted_judge import asked, select

from veritrail_graph.graph.model import Claim, Usage, Verdict, Verification
from veritrail_graph.verifier.correction import Corrector
from veritrail_graph.verifier.driver import Task, verify_claim
from veritrail_graph.verifier.models.port import Meter, Request, Step
from veritrail_graph.verifier.ports import Found, JudgeError, Judgement, ReadNode, Selection
from veritrail_graph.verifier.prompted import PromptedStep
from veritrail_graph.verifier.prompts import load_prompts

SOURCE = "The quay cost 48 million euros and was opened by Jane Miller."
WROTE = "The quay cost 84 million euros."
RIGHT = "The quay cost 48 million euros."
OPENED = "The quay was opened by a king."


@dataclass
class Reading:
    """Selects every sentence, and supports the claims that it is told to."""

    supported: Sequence[str] = (RIGHT,)
    fails_on: str = ""
    judged: list[str] = field(default_factory=list)
    name: str = "reading"
    model: str | None = None
    indicative: bool = False

    async def sub_claims(self, claim: Claim, meter: Meter) -> tuple[str, ...]:
        return ()

    async def select_evidence(
        self, claim: Claim, nodes: Sequence[ReadNode], meter: Meter
    ) -> Selection:
        return select({node.ref.node_id: (0,) for node in nodes}, nodes)

    async def judge(self, claim: Claim, found: Found, meter: Meter) -> Judgement:
        if self.fails_on and claim.text == self.fails_on:
            raise JudgeError("no answer")
        meter.record(asked("verdict"), Usage(calls=1))
        self.judged.append(claim.text)
        is_right = claim.text in self.supported
        verdict = Verdict.FULLY_SUPPORTED if is_right else Verdict.NOT_FULLY_SUPPORTED
        return Judgement(verdict, "read")


def verified(
    claim: str, judge: Reading, answer: Callable[[Request], str] | None = None
) -> tuple[Verification, ScriptedAsking]:
    """Verify and correct a claim of an answer over one source."""
    texts = {"r": [SOURCE], "t": [claim]}
    source = DagSource(Dag.of({"t": ["r"]}, texts=texts))
    model = ScriptedAsking(answer or (lambda _request: "none"), retries=0)
    step = PromptedStep(load_prompts()[Step.CORRECTION], model) if answer else None
    found = asyncio.run(
        verify_claim(
            Task(Claim(claim_id="k", text=claim, node_id="t"), source.dag.refs["t"]),
            "p",
            judge,
            source,
            q=1,
            corrector=Corrector(step, lambda _node, text: (text,)),
        )
    )
    return found, model


def says(sentence: str | None) -> Callable[[Request], str]:
    """A model that proposes a wording."""
    return lambda _request: json.dumps({"sentence": sentence})


def test_the_value_of_the_source_takes_the_place_of_the_turned_one_without_a_model() -> None:
    judge = Reading()
    found, model = verified(WROTE, judge, says("never asked for"))
    assert found.correction == RIGHT
    assert (found.claim, found.verdict) == (WROTE, Verdict.NOT_FULLY_SUPPORTED)
    assert judge.judged == [WROTE, RIGHT]
    assert model.requests == []
    assert (found.usage.calls, [one.iteration for one in found.steps]) == (2, [0, 1])


def test_a_model_sees_the_selected_source_text_and_its_wording_is_judged_again() -> None:
    wording = "The quay was opened by Jane Miller."
    found, model = verified(OPENED, Reading([wording]), says(wording))
    assert found.correction == wording
    (request,) = model.requests
    assert SOURCE in request.user
    assert request.user.endswith(f"Sentence: {OPENED}")
    assert found.usage.calls == 3


@pytest.mark.parametrize(
    ("proposed", "judged"),
    [
        ("The quay was opened by Jane Austen.", 2),  # not supported either
        (OPENED.replace(" ", "  "), 1),  # nothing changed
        (None, 1),  # nothing can be kept
    ],
)
def test_what_is_not_supported_is_not_proposed(proposed: str | None, judged: int) -> None:
    judge = Reading()
    found, _ = verified(OPENED, judge, says(proposed))
    assert found.correction is None
    assert len(judge.judged) == judged
    assert "correction" not in found.model_dump(mode="json")


def test_a_fault_of_the_correction_takes_nothing_from_the_verdict_and_its_calls_count() -> None:
    broken, model = verified(OPENED, Reading(), lambda _request: "no JSON")
    assert (broken.verdict, broken.error) == (Verdict.NOT_FULLY_SUPPORTED, None)
    assert (broken.correction, len(model.requests), broken.usage.calls) == (None, 1, 2)
    failing, _ = verified(WROTE, Reading(fails_on=RIGHT))
    assert (failing.verdict, failing.correction) == (Verdict.NOT_FULLY_SUPPORTED, None)


def test_what_is_supported_is_not_corrected() -> None:
    judge = Reading()
    found, model = verified(RIGHT, judge, says("other"))
    assert (found.correction, judge.judged, model.requests) == (None, [RIGHT], [])
