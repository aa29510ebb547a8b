"""A judge that answers from a script: which sentences are evidence, and which verdicts follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from veritrail_graph.graph.model import CitedSentence, Claim, Evidence, Usage, Verdict
from veritrail_graph.verifier.models.port import Meter, StepCall
from veritrail_graph.verifier.ports import Found, JudgeError, Judgement, ReadNode, Selection

FS = Verdict.FULLY_SUPPORTED
NFS = Verdict.NOT_FULLY_SUPPORTED
INC = Verdict.INCONCLUSIVE

GiveVerdict = Callable[[Sequence[Evidence], Sequence[ReadNode]], Verdict]


@dataclass(frozen=True)
class Script:
    """What is answered about one claim.

    Attributes:
        finds: Indexes of the sentences that are selected, by node.
        verdicts: One for each verdict that is asked for, the last one for all beyond; or a
            function of the evidence and the roots.
    """

    finds: Mapping[str, Sequence[int]] = field(default_factory=dict)
    verdicts: Sequence[Verdict] | GiveVerdict = (FS,)


@dataclass
class ScriptedJudge:
    """A `Judge` without judgement. It keeps what it was asked, in `selections` and `verdicts`.

    Attributes:
        script: Answers for every claim without a script of its own.
        by_claim: Answers by claim_id.
        fails_after: How many answers it gives before every further one is a `JudgeError`.
    """

    script: Script = field(default_factory=Script)
    by_claim: Mapping[str, Script] = field(default_factory=dict)
    fails_after: int | None = None
    name: str = "scripted"
    model: str | None = None
    indicative: bool = True
    selections: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    verdicts: list[tuple[str, tuple[Evidence, ...], tuple[str, ...]]] = field(default_factory=list)

    @property
    def settings(self) -> Mapping[str, object]:
        return {"scripted": True}

    async def sub_claims(self, claim: Claim, meter: Meter) -> tuple[str, ...]:
        return claim.sub_claims

    async def select_evidence(
        self, claim: Claim, nodes: Sequence[ReadNode], meter: Meter
    ) -> Selection:
        self._may_answer()
        meter.record(asked("evidence_selection"), Usage(calls=1))
        self.selections.append((claim.claim_id, tuple(node.ref.node_id for node in nodes)))
        return select(self._script(claim).finds, nodes)

    async def judge(self, claim: Claim, found: Found, meter: Meter) -> Judgement:
        evidence, roots = found.evidence, found.roots
        self._may_answer()
        meter.record(asked("verdict"), Usage(calls=1))
        earlier = sum(asked == claim.claim_id for asked, _, _ in self.verdicts)
        names = tuple(root.ref.node_id for root in roots)
        self.verdicts.append((claim.claim_id, tuple(evidence), names))
        verdicts = self._script(claim).verdicts
        if callable(verdicts):
            verdict = verdicts(evidence, roots)
        else:
            verdict = verdicts[min(earlier, len(verdicts) - 1)]
        return Judgement(verdict, f"scripted: {verdict}")

    def _script(self, claim: Claim) -> Script:
        return self.by_claim.get(claim.claim_id, self.script)

    def _may_answer(self) -> None:
        given = len(self.selections) + len(self.verdicts)
        if self.fails_after is not None and given >= self.fails_after:
            raise JudgeError("the script ends here")


def asked(step: str) -> StepCall:
    """A step of the script, as the meter has it."""
    return StepCall(step, f"{step}.scripted", "0" * 64, "scripted", None)


def select(finds: Mapping[str, Sequence[int]], nodes: Sequence[ReadNode]) -> Selection:
    """The scripted sentences of these nodes; roots and other nodes never share a prompt."""
    evidence = []
    for of_roots in (False, True):
        cited = tuple(
            CitedSentence.of(node.sentences[index])
            for node in nodes
            if node.ref.is_root is of_roots
            for index in finds.get(node.ref.node_id, ())
        )
        if cited:
            summary = " ".join(each.text for each in cited)
            evidence.append(Evidence(text=summary, missing=None, sentences=cited))
    return Selection(tuple(evidence))
