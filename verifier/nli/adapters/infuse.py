"""INFUSE: a premise that grows sentence by sentence until the model is less sure.

The sentences of a document are ranked by entailment in either direction: that the sentence
entails the claim, or the claim the sentence (so does a sentence that says a part of the claim). The
highest is the first premise; the next ones are added as long as the probability that the premise
says neither does not rise. The entailment by the last premise before the rise is the score.

Source: Zhang, Xu, Perez-Beltrachini 2024 (INFUSE), 3; VeriTrail 4.2 (a), F. Of several documents
the one with the highest score counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.nli.adapters.port import Support, sentences
from veritrail_graph.verifier.nli.port import Entailment, EntailmentModel, Pair
from veritrail_graph.verifier.ports import Split

MOST = 64
"""Sentences of a premise; each one more is a call of its own."""


class Grown(NamedTuple):
    """The premise that grew.

    Attributes:
        places: Places of its sentences, in the order of the document.
        score: What the model says of it.
    """

    places: tuple[int, ...]
    score: Entailment


async def grow(
    model: EntailmentModel,
    texts: Sequence[str],
    claim: str,
    meter: Meter,
    *,
    most: int = MOST,
    only_what_helps: bool = False,
) -> Grown:
    """Grow a premise from sentences.

    Args:
        model: Judges premises.
        texts: The sentences, in the order of the document; at least one.
        claim: The claim.
        meter: Records calls.
        most: The most sentences that are tried.
        only_what_helps: Leave out a sentence after which the neutral probability does not fall, and
            go on with the next one; else the first one after which it rises ends the premise.
    """
    forward = await model.predict([Pair(text, claim) for text in texts], meter)
    backward = await model.predict([Pair(claim, text) for text in texts], meter)
    rank = [max(a.entailment, b.entailment) for a, b in zip(forward, backward, strict=True)]
    order = sorted(range(len(texts)), key=lambda place: (-rank[place], place))
    found = Grown((order[0],), forward[order[0]])
    for place in order[1:most]:
        places = tuple(sorted((*found.places, place)))
        premise = " ".join(texts[one] for one in places)
        [score] = await model.predict([Pair(premise, claim)], meter)
        if only_what_helps and score.silence >= found.score.silence:
            continue
        if score.silence > found.score.silence:
            break
        found = Grown(places, score)
    return found


@dataclass(frozen=True, slots=True)
class Infuse:
    """The entailment of a claim by the premise that grew.

    Attributes:
        model: Judges premises.
        split: Splits documents into sentences.
        most: The most sentences of a premise.
    """

    model: EntailmentModel
    split: Split
    most: int = MOST
    lowest: ClassVar[float] = 0.0

    @property
    def name(self) -> str:
        """Name of the method."""
        return "infuse"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return what decides its scores."""
        return {"most": self.most}

    async def support(self, document: str, claim: str, meter: Meter) -> Support:
        """Score a claim; `premise` is the one that grew. See `Adapter`."""
        texts = sentences(self.split, document)
        grown = await grow(self.model, texts, claim, meter, most=self.most)
        premise = " ".join(texts[place] for place in grown.places)
        return Support(grown.score.entailment, (grown.score.entailment,), premise)
