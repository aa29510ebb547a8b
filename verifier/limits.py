"""The limits of one prompt, and the number of answers that are drawn.

Source: VeriTrail E.2 (input size limits), E.3 (soft prediction).
"""

from __future__ import annotations

from dataclasses import dataclass

MOST_SHARED = 32
"""Claims of a shared prompt, at most: an answer has to hold a part for each."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Input size limits, in sentences. None: what the context window holds.

    Attributes:
        root_sentences: Of root nodes in an evidence selection prompt.
        other_sentences: Of other nodes in an evidence selection prompt.
        verdict_sentences: Of a verdict prompt without root nodes.
        verdict_root_sentences: Of a verdict prompt with root nodes.
        max_reruns: How often evidence selection runs again on evidence that does not fit into
            a verdict prompt.

    Source: VeriTrail E.2; 3.1.3 for the reruns.
    """

    root_sentences: int | None = 40
    other_sentences: int | None = 40
    verdict_sentences: int | None = 200
    max_reruns: int = 2
    verdict_root_sentences: int | None = None

    def __post_init__(self) -> None:
        """Refuse limits under which nothing could be asked."""
        of_verdicts = (self.verdict_sentences, self.verdict_root_sentences)
        for limit in (self.root_sentences, self.other_sentences, *of_verdicts):
            if limit is not None and limit < 1:
                raise ValueError("a limit on sentences is at least 1")
        if self.max_reruns < 0:
            raise ValueError("the number of reruns is at least 0")


@dataclass(frozen=True, slots=True)
class Samples:
    """The number of answers drawn to each prompt, and the number of them that must agree.

    Attributes:
        count: Answers drawn; 1: hard prediction, at temperature 0 and without a score.
        threshold: How many must select a sentence, or give a verdict, for it to count.
        temperature: The temperature at which several are drawn.
        needs_temperature: Whether several of a model without a temperature are of no use.
        must_find: Whether a claim ends without a verdict also where no sample selected a sentence.

    Source: VeriTrail E.3.
    """

    count: int = 1
    threshold: int = 1
    temperature: float = 0.2
    needs_temperature: bool = True
    must_find: bool = False

    def __post_init__(self) -> None:
        """Refuse thresholds that no answer, or every answer, could meet."""
        if not 1 <= self.threshold <= self.count:
            raise ValueError("the threshold lies between 1 and the number of samples")

    @property
    def settings(self) -> dict[str, int | float]:
        """Return what decides answers, as JSON: the temperature only where several are drawn."""
        drawn: dict[str, int | float] = {"count": self.count, "threshold": self.threshold}
        if self.must_find:
            drawn["must_find"] = True
        return {**drawn, "temperature": self.temperature} if self.is_soft else drawn

    @property
    def is_soft(self) -> bool:
        """Return whether several answers are drawn."""
        return self.count > 1
