"""Attributing and judging sentences by scores of an entailment model, without instructions.

Source: Error-tolerant attribution 5 (the NLI baseline), 6.1 (SummaC-ZS, SummaC-Conv and AlignScore;
these metrics take no instructions, so they have no highlighted mode).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.model.attribution import (
    AttributedSentence,
    AttributionCategory,
    Faithfulness,
    SourceMode,
)
from veritrail_graph.verifier.attribution.answers import FaithfulnessAnswer
from veritrail_graph.verifier.attribution.attributor import Attribution, attributed
from veritrail_graph.verifier.attribution.windows import place, places
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.nli.adapters import Adapter
from veritrail_graph.verifier.nli.port import Entailment, EntailmentModel, Pair
from veritrail_graph.verifier.ports import JudgeError, ReadNode

MODES = (SourceMode.PLAIN, SourceMode.ATTRIBUTION)
"""What a checker can be shown: it reads one document, and nothing can be marked in it."""

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


@dataclass(frozen=True, slots=True)
class ScoringJudge:
    """Says that a sentence is faithful where a checker's score reaches a threshold.

    Attributes:
        adapter: Asks an entailment model in the checker's way.
        model: The name of the entailment model.
        threshold: A sentence with a score of it or more is faithful; on the checker's own scale,
            which is -1 to 1 for SummaC-ZS and 0 to 1 for the others.
    """

    adapter: Adapter
    model: str
    threshold: float

    @property
    def name(self) -> str:
        """The checker and its model."""
        return f"{self.adapter.name} with {self.model}"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return what decides its answers besides the texts, as JSON."""
        return {
            "checker": self.adapter.name,
            "model": self.model,
            "threshold": self.threshold,
            **self.adapter.settings,
        }

    async def judge(
        self,
        sentence: str,
        sources: Sequence[ReadNode],
        attributed: Sequence[AttributedSentence],
        mode: SourceMode,
        meter: Meter,
    ) -> FaithfulnessAnswer | None:
        """Score a sentence against its sources, or against the attributed sentences alone.

        Returns:
            None: the sources have no text; or nothing is attributed, and the mode shows nothing
            else.

        Raises:
            JudgeError: The mode needs instructions, or the model failed.
            ModelError: The server that runs the model could not be asked.
        """
        if mode not in MODES:
            raise JudgeError(f"{self.adapter.name} takes no instructions, so nothing can be marked")
        if mode is SourceMode.ATTRIBUTION:
            document = _attributed_text(sources, attributed)
        else:
            document = "\n".join(one.text for one in sources if one.text.strip())
        if not document:
            return None
        support = await self.adapter.support(document, sentence, meter)
        label = (
            Faithfulness.FAITHFUL if support.score >= self.threshold else Faithfulness.UNFAITHFUL
        )
        reason = f"{self.name}: {support.score:.4f} (threshold {self.threshold:g})."
        return FaithfulnessAnswer(label, reason, support.score)


def _attributed_text(sources: Sequence[ReadNode], attributed: Sequence[AttributedSentence]) -> str:
    """The attributed sentences alone, in the order of the sources; the lines before stay out.

    Source: Error-tolerant attribution 6.1 ("presented without context").
    """
    chosen = places(attributed)
    return "\n".join(
        one.text.strip() for node in sources for one in node.sentences if place(one) in chosen
    )


def _category(score: Entailment) -> AttributionCategory:
    is_against = (score.contradiction or 0.0) > score.entailment
    return AttributionCategory.CONTRADICTION if is_against else AttributionCategory.EVIDENCE
