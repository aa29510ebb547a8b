"""Engine `nli`: an entailment model selects evidence and gives verdicts; it asks no one else.

A sentence is evidence when the model says that it entails or contradicts the claim. Where no
sentence entails it, sentences are judged together: a premise grows from those that say a part of
the claim (`verifier.nli.adapters.infuse`). A verdict rests on root texts, on what was selected, and
on all of it together; the native probability of entailment is its score.

Source: VeriTrail 3.1.2 and 3.1.3 (what is asked of a judge), 4.2 and F (NLI baselines, thresholds),
G (any verifier may give the verdicts); the method is ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.model import Claim, Sentence, Verdict
from veritrail_graph.verifier.engines import Engine, EntailmentParts, Parts
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.nli.adapters import Adapter, adapter_named
from veritrail_graph.verifier.nli.adapters.infuse import grow
from veritrail_graph.verifier.nli.port import Entailment, EntailmentModel, Pair
from veritrail_graph.verifier.ports import Found, Judgement, ReadNode, Selection
from veritrail_graph.verifier.quoted import quoted
from veritrail_graph.verifier.verdict import in_frontier_order, summaries_of

VERSION = 1
"""Goes up when the same input may get another verdict, so that older trails are not reused."""
PAIRS = "pairs"
"""The adapter of our own: pieces of evidence one by one, and together."""

_JOINED_FROM = 256
"""Sentences that a joint premise may grow from: the first ones by what they say of the claim."""
_MOST_TRIED = 12


@dataclass(frozen=True, slots=True)
class NliJudge:
    """A `Judge` that asks an entailment model. Limits on prompts do not apply.

    Attributes:
        parts: The model and what was set.
        adapter: Gives verdicts in the way of a published checker; None: pieces one by one.
    """

    parts: EntailmentParts
    adapter: Adapter | None = None

    @property
    def name(self) -> str:
        """Name of the engine."""
        return "nli"

    @property
    def _model(self) -> EntailmentModel:
        return self.parts.model

    @property
    def model(self) -> str:
        """Name of the model, with the adapter where one is used."""
        return (
            self._model.name
            if self.adapter is None
            else (f"{self._model.name} ({self.adapter.name})")
        )

    @property
    def indicative(self) -> bool:
        """False: a model judges, though a smaller one."""
        return False

    @property
    def settings(self) -> Mapping[str, Any]:
        """The model, thresholds and the adapter."""
        adapter = self.adapter
        return {
            "version": VERSION,
            "entailment_model": dict(self._model.settings),
            "threshold": self.parts.threshold,
            "evidence_threshold": self.parts.evidence_threshold,
            "evidence_sentences": self.parts.evidence_sentences,
            "joint": self.parts.joint,
            "adapter": PAIRS if adapter is None else adapter.name,
            "adapter_settings": None if adapter is None else dict(adapter.settings),
        }

    async def sub_claims(self, claim: Claim, meter: Meter) -> tuple[str, ...]:
        """Those that the claim brings: an entailment model finds none."""
        del meter
        return claim.sub_claims

    async def select_evidence(
        self, claim: Claim, nodes: Sequence[ReadNode], meter: Meter
    ) -> Selection:
        """Select the sentences that speak for or against the claim; one entry a node.

        Raises:
            JudgeError: The model failed.
            ModelError: The server that runs it could not be asked.
        """
        sentences = [one for node in nodes for one in node.sentences if one.text.strip()]
        scores = await self._model.predict([Pair(one.text, claim.text) for one in sentences], meter)
        strong = [
            place
            for place, score in enumerate(scores)
            if score.strength >= self.parts.evidence_threshold
        ]
        chosen = set(_strongest_of_each_node(strong, sentences, scores, self.parts))
        is_entailed = any(score.entailment >= self.parts.evidence_threshold for score in scores)
        if self.parts.joint and len(sentences) > 1 and not is_entailed:
            chosen |= await self._joined(claim, sentences, scores, meter)
        return Selection(quoted(sentences[place] for place in sorted(chosen)))

    async def _joined(
        self,
        claim: Claim,
        sentences: Sequence[Sentence],
        scores: Sequence[Entailment],
        meter: Meter,
    ) -> set[int]:
        """Places of sentences that entail the claim only together; none: they do not."""
        order = sorted(range(len(scores)), key=lambda place: (scores[place].silence, place))
        places = sorted(order[:_JOINED_FROM])
        texts = [sentences[place].text for place in places]
        grown = await grow(
            self._model, texts, claim.text, meter, most=_MOST_TRIED, only_what_helps=True
        )
        if grown.score.entailment < self.parts.evidence_threshold:
            return set()
        return {places[one] for one in grown.places}

    async def judge(self, claim: Claim, found: Found, meter: Meter) -> Judgement:
        """Give a verdict on root texts and evidence, one by one and together.

        Raises:
            JudgeError: The model failed.
            ModelError: The server that runs it could not be asked.
        """
        pieces = _pieces(found)
        if not pieces:
            return Judgement(Verdict.NOT_FULLY_SUPPORTED, "There is no evidence.", 0.0)
        if self.adapter is not None:
            return await self._adapted(self.adapter, claim, pieces, meter)
        texts = list(pieces)
        scores = await self._model.predict([Pair(text, claim.text) for text in texts], meter)
        best = max(range(len(texts)), key=lambda place: scores[place].entailment)
        entailed = scores[best].entailment
        against = max(range(len(texts)), key=lambda place: scores[place].contradiction or 0.0)
        denied = scores[against].contradiction
        verdict = _verdict(entailed, denied, self.parts.threshold)
        reason = (
            f"{self._model.name}: among {len(texts)} piece(s) of evidence the highest entailment "
            f"is {entailed:.2f}, by {pieces[texts[best]]}"
        )
        if denied is not None:
            reason += f"; the highest contradiction is {denied:.2f}, by {pieces[texts[against]]}"
        return Judgement(verdict, f"{reason} (threshold {self.parts.threshold:.2f}).", entailed)

    async def _adapted(
        self, adapter: Adapter, claim: Claim, pieces: Mapping[str, str], meter: Meter
    ) -> Judgement:
        """The verdict of a published checker on everything that was found, as one document."""
        texts: list[str] = []
        for text, what in pieces.items():
            if what != _TOGETHER and not any(text in one for one in texts):
                texts.append(text)
        document = "\n\n".join(texts)
        support = await adapter.support(document, claim.text, meter)
        verdict = _verdict(support.score, None, self.parts.threshold)
        reason = (
            f"{adapter.name} with {self._model.name}: the evidence supports the claim at "
            f"{support.score:.2f} (threshold {self.parts.threshold:.2f})."
        )
        return Judgement(verdict, reason, min(max(support.score, 0.0), 1.0))


_TOGETHER = "all evidence together"


def _pieces(found: Found) -> dict[str, str]:
    """Return what a verdict is about: each text once, with what it is.

    Root texts first, then summaries of evidence (of this engine: the selected sentences of a node),
    its sentences, and all selected sentences together.
    """
    pieces: dict[str, str] = {}
    for root in in_frontier_order(found.roots):
        if root.text.strip():
            pieces.setdefault(root.text, f"the text of {root.ref.node_id!r}")
    for text in summaries_of(found):
        pieces.setdefault(text, "a summary of evidence")
    cited = {
        (one.node_id, one.sentence): one.text
        for evidence in (*found.carried, *found.evidence)
        for one in evidence.sentences
    }
    for (node_id, number), text in cited.items():
        pieces.setdefault(text, f"sentence {number} of {node_id!r}")
    joined = " ".join(dict.fromkeys(cited.values()))
    if len(cited) > 1:
        pieces.setdefault(joined, _TOGETHER)
    return pieces


def _verdict(entailed: float, denied: float | None, threshold: float) -> Verdict:
    if entailed < threshold:
        return Verdict.NOT_FULLY_SUPPORTED
    is_denied = denied is not None and denied >= threshold
    return Verdict.INCONCLUSIVE if is_denied else Verdict.FULLY_SUPPORTED


def _strongest_of_each_node(
    places: Sequence[int],
    sentences: Sequence[Sentence],
    scores: Sequence[Entailment],
    parts: EntailmentParts,
) -> list[int]:
    """At most so many places of each node, the strongest first."""
    counts: dict[str, int] = {}
    kept = []
    for place in sorted(places, key=lambda one: (-scores[one].strength, one)):
        node_id = sentences[place].node_id
        counts[node_id] = counts.get(node_id, 0) + 1
        if counts[node_id] <= parts.evidence_sentences:
            kept.append(place)
    return kept


def _judge(parts: Parts) -> NliJudge:
    entailment = parts.entailment
    if entailment is None:
        raise ValueError("engine nli needs an entailment model")
    if entailment.adapter == PAIRS:
        return NliJudge(entailment)
    adapter = adapter_named(entailment.adapter, entailment.model, parts.split, entailment.weights)
    return NliJudge(entailment, adapter)


ENGINE = Engine(
    "nli",
    "an entailment model, of a folder on this machine or behind an address",
    _judge,
    needs_entailment=True,
)
