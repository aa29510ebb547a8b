"""Judging sentences by a published checker: a document and a sentence in, a score out.

Source: Error-tolerant attribution 6.1 (SummaC-ZS, SummaC-Conv and AlignScore; these metrics take
no instructions, so they have no highlighted mode).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.model.attribution import AttributedSentence, Faithfulness, SourceMode
from veritrail_graph.verifier.attribution.answers import FaithfulnessAnswer
from veritrail_graph.verifier.attribution.windows import place, places
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.nli.adapters import Adapter
from veritrail_graph.verifier.ports import JudgeError, ReadNode

MODES = (SourceMode.PLAIN, SourceMode.ATTRIBUTION)
"""What a checker can be shown: it reads one document, and nothing can be marked in it."""


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
        """What decides its answers besides the texts, as JSON."""
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
