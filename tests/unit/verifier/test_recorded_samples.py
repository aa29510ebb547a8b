"""Every prompt of both samples has its recorded answer, and those answers find what was planted.

A change of the prompts, of the splitting of sentences or of the walk that asks for something else
fails here: the samples then need a new recording.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from veritrail_graph.api.app.estimation import estimate_tasks
from veritrail_graph.api.app.samples import FOLDER, SAMPLES
from veritrail_graph.api.configured.judge import JudgeOptions, configure_judge
from veritrail_graph.api.configured.models import ModelOptions
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.importers.registry import open_input
from veritrail_graph.graph.model import Verdict, Verification
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.driver import Task, verify_claim
from veritrail_graph.verifier.estimate import Estimates
from veritrail_graph.verifier.held_process import HeldNodes, HeldProcess


def verified(sample: str) -> list[tuple[Verdict | None, Verification]]:
    held = HeldProcess.read(open_input(Path(str(FOLDER / f"{sample}.json"))))

    async def run() -> list[Verification]:
        async with configure_judge(Settings(), JudgeOptions("recorded")) as judge:
            nodes = HeldNodes(held, judge.splitter)
            tasks = [Task(claim, held.node_of(claim.node_id)) for claim in held.claims]
            every = (verify_claim(task, held.process_id, judge.judge, nodes) for task in tasks)
            return await asyncio.gather(*every)

    ended = asyncio.run(run())
    return [(claim.label, one) for claim, one in zip(held.claims, ended, strict=True)]


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_claim_of_a_sample_gets_its_label_and_every_planted_error_its_place(
    sample: str,
) -> None:
    found = verified(sample)
    assert [one.error for _, one in found if one.error] == []
    wrong = [(one.claim_id, one.verdict, label) for label, one in found if one.verdict is not label]
    assert wrong == []
    assert {one.model for _, one in found} == {
        "answers of a large language model, recorded on 28 November 2026"
    }
    assert not any(one.indicative for _, one in found)
    planted = json.loads((FOLDER / f"{sample}.labels.json").read_text("utf-8"))
    placed = {one.claim_id: {ref.node_id for ref in one.error_nodes} for _, one in found}
    for name, one in planted.items():
        assert placed[name] <= set(one["error_nodes"]), name
        assert placed[name], name


@pytest.mark.parametrize(("sample", "made"), [("harbour-summary", 114), ("graphrag-energy", 146)])
def test_an_estimate_of_decisions_asks_about_each_claim_alone(sample: str, made: int) -> None:
    told = estimated(sample, "decisions")
    assert made <= told.likely.usage.calls <= 1.5 * made
    assert told.likely.usage.output_tokens == 0


@pytest.mark.parametrize("sample", SAMPLES)
def test_an_estimate_names_the_calls_that_were_made_within_a_fifth(sample: str) -> None:
    told = estimated(sample, "openai")
    made = len((FOLDER / f"{sample}.recorded.jsonl").read_text("utf-8").splitlines()) - 1
    assert told.low.usage.calls <= made <= told.likely.usage.calls <= 1.2 * made
    assert made <= told.high.usage.calls


def estimated(sample: str, engine: str) -> Estimates:
    held = HeldProcess.read(open_input(Path(str(FOLDER / f"{sample}.json"))))
    splitter = SentenceSplitter.for_language()
    tasks = [Task(claim, held.node_of(claim.node_id)) for claim in held.claims]
    how, nodes = JudgeOptions(engine, models=ModelOptions("m")), HeldNodes(held, splitter)
    found = asyncio.run(estimate_tasks(Settings(), how, splitter, "p", nodes, tasks))
    return found.estimates
