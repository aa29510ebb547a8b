"""VeriTrail itself: the walk, with the settings of the matrix.

Source: VeriTrail 3; 4.3 (q), E.2 (limits), E.3 (samples and threshold).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from veritrail_eval.datasets.model import LabelledClaim
from veritrail_eval.methods.gathering import Gathering
from veritrail_eval.methods.judging import (
    JUDGE_PARAMETERS,
    judge_options,
    outcome_of_walk,
    task_of,
    whole_number,
)
from veritrail_eval.methods.method import Method, MethodOutcome, Resources
from veritrail_eval.methods.registry import MethodKind
from veritrail_graph.graph.errors import InputError, VeriTrailError
from veritrail_graph.verifier.driver import DEFAULT_Q, Observer, verify_claim
from veritrail_graph.verifier.held_process import HeldProcess, SharedHeldNodes
from veritrail_graph.verifier.judge import LanguageModelJudge, SplitJudge
from veritrail_graph.verifier.models.port import EndpointRefused, Meter
from veritrail_graph.verifier.ports import Judge

_LIMITS = {
    "max_root_sentences": "sentences of roots in an evidence selection prompt",
    "max_sentences": "sentences of other nodes in an evidence selection prompt",
    "verdict_sentences": "sentences of a verdict prompt without roots",
    "verdict_root_sentences": "sentences of a verdict prompt with roots",
    "max_reruns": "reruns of evidence selection where evidence does not fit",
    "sub_claims": "whether a model takes claims apart",
    "claims_model": "the model that takes claims apart",
    "selection_model": "the model that selects evidence",
    "verdict_model": "the model that gives verdicts",
    "verdict_engine": "the engine that gives verdicts, where another one selects evidence",
}

_NO_EVIDENCE = {
    "no_evidence": "of several samples, what a round without evidence means: unsupported, exclude",
}
UNSUPPORTED, EXCLUDE = "unsupported", "exclude"


@dataclass
class VeriTrail:
    """Walks backward from the node of a claim.

    Attributes:
        judge_: Selects evidence and gives verdicts.
        q: Consecutive Not Fully Supported verdicts that stop a walk.
        nodes: Where nodes are read from, by process.
    """

    judge_: Judge
    q: int
    nodes: SharedHeldNodes
    name: str = "veritrail"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Engine, q, models, limits, samples."""
        return {"engine": self.judge_.name, "q": self.q, **self.judge_.settings}

    async def prepare(self, processes: Sequence[HeldProcess], meter: Meter) -> None:
        """Nothing is done once for all claims."""

    async def judge(
        self, claim: LabelledClaim, process: HeldProcess, meter: Meter
    ) -> MethodOutcome:
        """Verify a claim.

        Raises:
            EndpointRefused: No call of this run can succeed.
        """
        refused: list[VeriTrailError] = []

        def faulted(error: VeriTrailError) -> None:
            if isinstance(error, EndpointRefused):
                refused.append(error)

        ended = await verify_claim(
            task_of(claim, process),
            claim.process_id,
            self.judge_,
            self.nodes.of(process),
            q=self.q,
            observer=Observer(faulted=faulted),
            meter=meter,
        )
        if refused:
            raise refused[0]
        return outcome_of_walk(ended)


async def _make(parameters: Mapping[str, Any], resources: Resources) -> Method:
    more = {name: one for name, one in parameters.items() if name in _LIMITS}
    faults = Gathering()
    with faults.keep():
        q = whole_number(parameters, "q", DEFAULT_Q)
    with faults.keep():
        judge = await resources.judge(judge_options(parameters, **more))
        if _excludes(parameters):
            judge = ending_without_evidence(judge)
    faults.refuse()
    return VeriTrail(judge, q, SharedHeldNodes(resources.splitter))


def _excludes(parameters: Mapping[str, Any]) -> bool:
    """Return whether a claim without evidence leaves soft prediction, as in the paper's Table 5.

    Raises:
        InputError: The parameter `no_evidence` is neither of the two.
    """
    value = parameters.get("no_evidence", UNSUPPORTED)
    if value not in (UNSUPPORTED, EXCLUDE):
        raise InputError(f"no_evidence must be {UNSUPPORTED} or {EXCLUDE}, not {value!r}")
    return bool(value == EXCLUDE)


def ending_without_evidence(judge: Judge) -> Judge:
    """The judge, with which a claim ends without a verdict where no sentence passes.

    Raises:
        InputError: It draws one answer, so that there is no share of samples to leave out.

    Source: VeriTrail E.3 (terminated cases).
    """
    if isinstance(judge, SplitJudge):
        return replace(judge, evidence=ending_without_evidence(judge.evidence))
    if not isinstance(judge, LanguageModelJudge) or not judge.selection.step.samples.is_soft:
        raise InputError(
            f'no_evidence = "{EXCLUDE}" is about several samples of a language model: give samples '
            "of 2 or more and an engine that asks one, such as openai"
        )
    step = judge.selection.step
    drawn = replace(step.samples, must_find=True)
    return replace(judge, selection=replace(judge.selection, step=replace(step, samples=drawn)))


KIND = MethodKind(
    "veritrail",
    "walks backward from the claim's node, selecting evidence and giving interim verdicts",
    {
        "q": "consecutive Not Fully Supported verdicts that stop",
        **JUDGE_PARAMETERS,
        **_LIMITS,
        **_NO_EVIDENCE,
    },
    _make,
)
