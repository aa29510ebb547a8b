"""HHEM: a document and a claim as they are, and the model's probability of consistency.

Version 1 reads the two as a pair and has one output; version 2 reads one text made of a template
(`VERITRAIL_NLI_TEMPLATE`, as the model's card gives it) and has two outputs, of which the second is
consistency. A document that is longer than the model reads is read in windows, and the highest
counts.

Source: Vectara, Hughes Hallucination Evaluation Model (model cards of HHEM-1.0 and HHEM-2.1-Open).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.nli.adapters.port import Support
from veritrail_graph.verifier.nli.port import EntailmentModel, Pair


@dataclass(frozen=True, slots=True)
class Hhem:
    """The consistency of a claim with a document.

    Attributes:
        model: Scores a document and a claim.
    """

    model: EntailmentModel
    lowest: ClassVar[float] = 0.0

    @property
    def name(self) -> str:
        """Name of the method."""
        return "hhem"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Nothing beside the model decides."""
        return {}

    async def support(self, document: str, claim: str, meter: Meter) -> Support:
        """Score a claim. See `Adapter`."""
        [score] = await self.model.predict([Pair(document, claim)], meter)
        return Support(score.entailment, (score.entailment,))
