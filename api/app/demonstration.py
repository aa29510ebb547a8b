"""The samples, judged and held against their labels: what the demo shows.

The answers that come with them are those of a language model, so all steps of the method run. By
words alone they are judged in memory: nothing of that is stored.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.app.ingesting import IngestOptions
from veritrail_graph.api.app.samples import FOLDER, SAMPLES
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict, Verification

if TYPE_CHECKING:
    from veritrail_graph.api.app.application import Application
    from veritrail_graph.api.settings import Settings

RECORDED, BY_WORDS = "recorded", "lexical"


@dataclass(frozen=True, slots=True)
class JudgedSample:
    """A sample with the verifications of its claims.

    Attributes:
        process_id: Its id.
        name: Its name.
        nodes: How many nodes it has.
        stage_names: What its stages are called.
        labels: What a person says of each claim.
        planted: The nodes of each planted error, by claim_id.
        verifications: What was found.
    """

    process_id: str
    name: str
    nodes: int
    stage_names: Mapping[int, str]
    labels: Mapping[str, Verdict]
    planted: Mapping[str, frozenset[str]]
    verifications: Sequence[Verification]

    @property
    def decided(self) -> int:
        """Return how many claims have a verdict."""
        return sum(one.verdict is not None for one in self.verifications)

    @property
    def as_labelled(self) -> int:
        """Return how many verdicts are the label."""
        return sum(one.verdict is self.labels[one.claim_id] for one in self.verifications)

    @property
    def placed(self) -> int:
        """Return how many planted errors were found, and placed in the step that made them."""
        return sum(self.is_placed(one) for one in self.verifications)

    def is_placed(self, one: Verification) -> bool:
        """Return whether a verification found a planted error, and placed it in its step."""
        found = {ref.node_id for ref in one.error_nodes}
        is_found = one.verdict is self.labels[one.claim_id] and bool(found)
        return is_found and found <= self.planted.get(one.claim_id, frozenset())

    @property
    def others(self) -> list[Verification]:
        """The verifications whose verdict is not the label."""
        return [one for one in self.verifications if one.verdict is not self.labels[one.claim_id]]

    def verification(self, claim_id: str) -> Verification:
        """Return the verification of a claim."""
        return next(one for one in self.verifications if one.claim_id == claim_id)


def as_released(settings: Settings) -> Settings:
    """Return the settings without those that make other prompts than were recorded."""
    usual = {
        "recorded": None,
        "record": None,
        "language": "english",
        "context_tokens": None,
        "max_output_tokens": None,
    }
    return settings.model_copy(update=usual)


async def judge_samples(app: Application) -> list[JudgedSample]:
    """Store both samples, and verify their claims by their recorded answers.

    Args:
        app: The application, with settings `as_released`.

    Raises:
        VeriTrailError: One could not be stored or verified.
    """

    async def judged(sample: str) -> JudgedSample:
        with resources.as_file(FOLDER / f"{sample}.json") as path:
            await app.processes.ingest(path, IngestOptions(replace=True))
        asked = {"process_id": sample, "engine": RECORDED, "verdict_engine": RECORDED}
        run = await app.jobs.submit_here(VerifyRequest.checked(asked))
        done = await run.carry_out()
        if done.run is not None and done.run.write_errors:
            raise done.run.write_errors[0]
        return _labelled(sample, done.verifications)

    return [await judged(sample) for sample in SAMPLES]


async def judge_by_words(settings: Settings) -> list[JudgedSample]:
    """Judge both samples by their words alone, in memory."""
    from veritrail_graph.api.configured.judge import JudgeOptions, configure_judge
    from veritrail_graph.graph.importers.registry import open_input
    from veritrail_graph.verifier.driver import Task, verify_claim
    from veritrail_graph.verifier.held_process import HeldNodes, HeldProcess

    found = []
    async with configure_judge(settings, JudgeOptions(BY_WORDS)) as judge:
        for sample in SAMPLES:
            with resources.as_file(FOLDER / f"{sample}.json") as path:
                held = HeldProcess.read(open_input(path))
            nodes = HeldNodes(held, judge.splitter)
            tasks = [Task(claim, held.node_of(claim.node_id)) for claim in held.claims]
            walks = (verify_claim(task, sample, judge.judge, nodes) for task in tasks)
            found.append(_labelled(sample, await asyncio.gather(*walks)))
    return found


def _labelled(sample: str, verifications: Sequence[Verification]) -> JudgedSample:
    process = _read(f"{sample}.json")
    labels = {one["claim_id"]: Verdict(one["label"]) for one in process["claims"]}
    own = [one for one in verifications if one.claim_id in labels]
    if len(own) < len(labels):
        raise InputError(
            f"{sample} lacks claims of its labels.", code="sample_lacks_claims", sample=sample
        )
    planted = _read(f"{sample}.labels.json")
    return JudgedSample(
        sample,
        process["name"],
        len(process["nodes"]),
        {int(stage): name for stage, name in process["stages"].items()},
        labels,
        {name: frozenset(one["error_nodes"]) for name, one in planted.items()},
        own,
    )


def _read(name: str) -> Any:
    return json.loads((FOLDER / name).read_text("utf-8"))
