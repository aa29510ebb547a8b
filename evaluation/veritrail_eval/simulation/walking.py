"""Walks of planted claims, by the walk and the driver of a real run.

Source: VeriTrail 3.1.4, Algorithm 1; 3.2 (error localization); D (nodes verified).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from veritrail_eval.simulation.claims import PlantedClaim
from veritrail_eval.simulation.configuration import Configuration, JudgeSettings
from veritrail_eval.simulation.judge import SimulatedJudge, SimulatedNodes
from veritrail_eval.simulation.process_shape import ProcessShape
from veritrail_graph.graph.model import Claim, NodeRef, Verdict
from veritrail_graph.verifier.driver import Observer, Task, drive
from veritrail_graph.verifier.localization import locate_error
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.prompts import PAPER, load_prompts
from veritrail_graph.verifier.walk import Outcome


@dataclass(frozen=True, slots=True)
class WalkResult:
    """The result of the walk of one claim.

    Attributes:
        is_supported: What is true of it.
        error_stage: Where its error was introduced, if it has one.
        verdict: The final verdict; None: samples did not agree on any evidence.
        stages: The stages of the error nodes that the walk names, ascending.
        names_node: Whether the node that introduced the error is among them.
        iterations: How many rounds the walk took.
        nodes: How many nodes were read.
        calls: Answers of the model.
        input_tokens: Tokens of the prompts.
        output_tokens: Tokens of the answers.
        shown: Sentences with a fact of the claim in the nodes that were read.
        found: Those of them that were selected.
        mistaken: Other sentences that were selected.
    """

    is_supported: bool
    error_stage: int | None
    verdict: Verdict | None
    stages: tuple[int, ...]
    names_node: bool
    iterations: int
    nodes: int
    calls: int
    input_tokens: int
    output_tokens: int
    shown: int
    found: int
    mistaken: int


class Walker:
    """Walks claims one after the other with one configuration.

    Args:
        shape: The process.
        settings: What is the same in all configurations.
        configuration: What is varied.
        nodes: The nodes of the process, which several walkers may share; None: its own.
    """

    def __init__(
        self,
        shape: ProcessShape,
        settings: JudgeSettings,
        configuration: Configuration,
        nodes: SimulatedNodes | None = None,
    ) -> None:
        self._shape, self._settings, self._q = shape, settings, configuration.q
        self._nodes = nodes or SimulatedNodes(shape, settings.sentence_tokens)
        self._judge = SimulatedJudge(
            shape,
            self._nodes,
            configuration.noise,
            configuration.limits,
            configuration.samples,
            load_prompts(PAPER),
            settings.sentence_tokens,
            settings.prompt_tokens,
        )

    async def results(self, claims: Iterable[PlantedClaim]) -> list[WalkResult]:
        """Walk claims, and hold each outcome against what is true."""
        return [await self.result(claim) for claim in claims]

    async def result(self, claim: PlantedClaim) -> WalkResult:
        """Walk a claim, and hold the outcome against what is true of it."""
        outcome = await self.walk(claim)
        located = locate_error(self._node, outcome.verdict, outcome.iterations, ())
        spent = self._judge.asked.spent
        return WalkResult(
            is_supported=claim.is_supported,
            error_stage=claim.error_stage,
            verdict=outcome.verdict,
            stages=tuple(sorted({ref.known_stage for ref in located.nodes})),
            names_node=str(claim.error_node) in {ref.node_id for ref in located.nodes},
            iterations=len(outcome.iterations),
            nodes=sum(len(iteration.checked) for iteration in outcome.iterations),
            calls=spent.calls,
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            shown=spent.shown,
            found=spent.found,
            mistaken=spent.mistaken,
        )

    async def walk(self, claim: PlantedClaim) -> Outcome:
        """Walk a claim about the verified node."""
        words = " ".join(["w"] * self._settings.claim_tokens)
        facts = tuple(f"{words} {fact}" for fact in range(claim.facts))
        claimed = Claim(
            claim_id=f"claim-{claim.number}",
            text=words,
            node_id=str(self._shape.node),
            sub_claims=facts if claim.facts > 1 else (),
        )
        self._judge.begin(claim)
        meter = Meter()
        if self._settings.sub_claims:
            await self._judge.sub_claims(claimed, meter)
        task = Task(claimed, self._node, f"v-{claim.number}")
        return await drive(task, self._judge, self._nodes, self._q, meter, Observer())

    @property
    def _node(self) -> NodeRef:
        return self._shape.ref(self._shape.node)
