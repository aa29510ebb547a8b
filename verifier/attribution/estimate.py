"""The estimated cost of attributing sentences, before any call is made.

Sentences are attributed, judged and corrected as they would be, by the same steps, prompts and
packing, but with models that are never asked: what they answer is assumed.

Source: ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.model import Sentence, Status, Usage
from veritrail_graph.graph.model.attribution import AttributionCategory, Faithfulness, Revision
from veritrail_graph.verifier.attribution.prompted import sentence_line
from veritrail_graph.verifier.attribution.recheck import Revised
from veritrail_graph.verifier.attribution.run import Attributing, AttributionSteps
from veritrail_graph.verifier.estimate import (
    HIGH,
    LIKELY,
    NARROW,
    AssumedWalk,
    Estimate,
    Estimates,
    Scenario,
    times,
)
from veritrail_graph.verifier.models.port import Meter, Request, Step
from veritrail_graph.verifier.ports import JudgeError, ReadNode

UNFAITHFUL: Mapping[str, int | None] = {NARROW.name: None, LIKELY.name: 3, HIGH.name: 1}
"""One sentence of so many is unfaithful in each scenario; None: none is."""

PARTS: Mapping[str, int] = {NARROW.name: 1, LIKELY.name: 2, HIGH.name: 4}
"""Propositions of a sentence in each scenario, where sentences are split; a short one has fewer."""

_NUMBER = re.compile(r"^(\d+): ", re.MULTILINE)


class AssumedAttribution(AssumedWalk):
    """Assumed answers about one sentence; the assumed models of the steps share it."""

    __slots__ = ("is_unfaithful",)

    def assume(self, scenario: Scenario, *, is_unfaithful: bool) -> None:
        """Begin another sentence."""
        self.scenario, self.warm, self.is_unfaithful = scenario, Usage(), is_unfaithful

    def answer(self, request: Request, iteration: int) -> tuple[dict[str, Any] | str, int]:
        """The assumed answer, and how many tokens it is."""
        del iteration
        assumed = self.scenario
        if request.call.step == Step.ATTRIBUTION:
            category = AttributionCategory.EVIDENCE
            if self.is_unfaithful:
                category = AttributionCategory.NEAR_MATCH
            ids = [int(one) for one in _NUMBER.findall(request.user)][: assumed.sentences]
            named = [{"sentence_id": one, "categories": [category.value]} for one in ids]
            return {"attributions": named}, assumed.nothing_found
        if request.call.step == Step.PROPOSITIONS:
            return {"propositions": _split(request.user, PARTS[assumed.name])}, assumed.verdict
        if request.call.step == Step.FAITHFULNESS:
            label = Faithfulness.UNFAITHFUL if self.is_unfaithful else Faithfulness.FAITHFUL
            return {"label": label.value, "reason": "Assumed."}, assumed.verdict
        # No two wordings are alike: each is verified again.
        return {"sentence": f"Assumed {len(request.user)}."}, assumed.decomposed


def _split(line: str, parts: int) -> list[list[str]]:
    """A sentence cut into propositions of about as many words each.

    Args:
        line: The prompt's line with the sentence.
        parts: How many there are at most.
    """
    words = line.removeprefix(sentence_line("")).split()
    size = max(1, -(-len(words) // parts))
    pieces = [" ".join(words[at : at + size]) for at in range(0, len(words), size)]
    if not all(re.search(r"\w", piece) for piece in pieces):  # a dash alone is no proposition
        pieces = [" ".join(words)]
    return [[piece] for piece in pieces]


class UncountedRechecker:
    """A `Rechecker` that asks nothing: what walks cost is not part of the estimate."""

    async def check(self, revised: Revised, meter: Meter) -> tuple[Revision, Faithfulness | None]:
        """The wording as it was proposed."""
        del meter
        return revised.revision, None


@dataclass(frozen=True, slots=True)
class AttributionEstimator:
    """Attributes one sentence of each node with assumed answers.

    Attributes:
        steps: What would be done with each sentence; the models are assumed ones.
        assumed: What these models answer.
    """

    steps: AttributionSteps
    assumed: AssumedAttribution

    async def estimate(
        self, node: ReadNode, sources: Sequence[ReadNode], numbers: Sequence[int]
    ) -> Estimates:
        """Low, likely and high of sentences of a node: the one of middle length, times these.

        Args:
            node: The node.
            sources: What its sentences may rest on.
            numbers: The sentences.

        Raises:
            JudgeError: The sources do not fit into a prompt of a step.
        """
        by_length = sorted((node.sentences[one] for one in numbers), key=lambda one: len(one.text))
        middle = by_length[len(by_length) // 2]
        low, likely, high = [
            await self._of(node, sources, middle, len(numbers), scenario)
            for scenario in (NARROW, LIKELY, HIGH)
        ]
        return Estimates(low, likely, high)

    async def _of(
        self,
        node: ReadNode,
        sources: Sequence[ReadNode],
        sentence: Sentence,
        number: int,
        scenario: Scenario,
    ) -> Estimate:
        one_in = UNFAITHFUL[scenario.name]
        wrong = -(-number // one_in) if one_in else 0
        usage = Usage()
        for is_unfaithful, count in ((False, number - wrong), (True, wrong)):
            if not count:
                continue
            self.assumed.assume(scenario, is_unfaithful=is_unfaithful)
            meter = Meter()
            meter.iteration = 1
            found = await Attributing(self.steps, meter).sentence(node, sentence, sources, meter)
            if found.status is not Status.SUCCEEDED:
                raise JudgeError(f"no estimate for node {node.ref.node_id!r}: {found.error}")
            # The first sentence of a node fills the prefixes that the others find.
            is_first = not usage.calls
            first = meter.total if is_first else self.assumed.warm
            usage += first + times(self.assumed.warm, count - 1) if count > 1 else first
        return Estimate(usage, frozenset(one.ref.node_id for one in sources))
