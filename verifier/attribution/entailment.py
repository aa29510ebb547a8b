"""Attribution with an entailment model: the two sentences that speak loudest.

Source: Error-tolerant attribution 5 (the NLI baseline).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.model.attribution import AttributionCategory
from veritrail_graph.verifier.attribution.attributor import Attribution, attributed
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.nli.port import Entailment, EntailmentModel, Pair
from veritrail_graph.verifier.ports import ReadNode

BEST = 2
"""Sentences that are attributed to each one. Source: Error-tolerant attribution 5."""


@dataclass(frozen=True, slots=True)
class EntailmentAttributor:
    """An `Attributor` that scores each source sentence alone.

    It always names sentences where there are any: scores have no "none".

    Attributes:
        entailment: The model; the caller who opened it closes it.
        best: How many sentences are attributed.
    """

    entailment: EntailmentModel
    best: int = BEST

    @property
    def name(self) -> str:
        """Name of the engine."""
        return "nli"

    @property
    def model(self) -> str | None:
        """The entailment model."""
        return self.entailment.name

    @property
    def indicative(self) -> bool:
        """False: a model scores."""
        return False

    @property
    def settings(self) -> Mapping[str, Any]:
        """The model, and how many sentences are attributed."""
        return {"entailment": dict(self.entailment.settings), "best": self.best}

    async def attribute(
        self, sentence: str, sources: Sequence[ReadNode], meter: Meter
    ) -> Attribution:
        """Take the sentences with the highest entailment or contradiction.

        Raises:
            JudgeError: The model failed.
            ModelError: The server that runs it could not be asked.
        """
        sentences = [one for node in sources for one in node.sentences]
        if not sentences:
            return Attribution()
        pairs = [Pair(one.text, sentence) for one in sentences]
        scores = await self.entailment.predict(pairs, meter)
        order = sorted(range(len(scores)), key=lambda place: (-scores[place].strength, place))
        return Attribution(
            tuple(
                attributed(sentences[place], (_category(scores[place]),))
                for place in sorted(order[: self.best])
            )
        )


def _category(score: Entailment) -> AttributionCategory:
    is_against = (score.contradiction or 0.0) > score.entailment
    return AttributionCategory.CONTRADICTION if is_against else AttributionCategory.EVIDENCE
