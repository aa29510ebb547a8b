"""Attributing the sentences of nodes side by side; a fault is the status of one sentence.

Source: Error-tolerant attribution 3, 6.1, 7.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import Sentence, Status
from veritrail_graph.graph.model.attribution import (
    Faithfulness,
    NodeAttribution,
    SentenceAttribution,
    SourceMode,
    implied_label,
)
from veritrail_graph.verifier.attribution.attributor import Attributor
from veritrail_graph.verifier.attribution.faithfulness import (
    Material,
    correct_sentence,
    judge_sentence,
)
from veritrail_graph.verifier.models.port import EndpointRefused, Meter, OverBudget
from veritrail_graph.verifier.ports import ReadNode
from veritrail_graph.verifier.prompted import PromptedStep

SENTENCES_AT_ONCE = 64
"""Sentences looked at side by side; the model's own limit is what bounds the calls."""


@dataclass(frozen=True, slots=True)
class AttributionSteps:
    """What is done with a sentence.

    Attributes:
        attributor: Finds what it rests on.
        judge: Says whether it is faithful; None: it is not judged.
        corrector: Corrects what is unfaithful; None: nothing is corrected.
        mode: What judge and corrector see.
    """

    attributor: Attributor
    judge: PromptedStep | None = None
    corrector: PromptedStep | None = None
    mode: SourceMode = SourceMode.ATTRIBUTION


@dataclass(slots=True)
class Attributing:
    """Attributes nodes; `stop` ends what is not finished, as cancelled.

    Attributes:
        steps: What is done with each sentence.
        meter: Records every call.
        on_sentence: Called when a sentence has ended.
        refusal: Why no call can succeed, where one was refused.
    """

    steps: AttributionSteps
    meter: Meter
    on_sentence: Callable[[SentenceAttribution], None] = lambda _sentence: None
    refusal: EndpointRefused | None = None
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(SENTENCES_AT_ONCE))
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _is_stopped: bool = False

    def stop(self) -> None:
        """End all sentences that are not finished; they are cancelled."""
        self._is_stopped = True
        for task in self._tasks:
            task.cancel()

    async def node(self, node: ReadNode, sources: Sequence[ReadNode]) -> NodeAttribution:
        """Attribute the sentences of a node to those of its sources.

        Args:
            node: The node.
            sources: What it may rest on, in the order in which prompts show them.
        """
        sentences = node.sentences
        ended: dict[int, SentenceAttribution] = {}

        async def work(sentence: Sentence) -> None:
            async with self._slots:
                await self._sentence(sentence, sources, ended)

        tasks = [asyncio.create_task(work(sentence)) for sentence in sentences]
        self._tasks.update(tasks)
        if self._is_stopped:
            self.stop()
        try:
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            self._tasks.difference_update(tasks)
        found = [
            ended.get(sentence.index)
            or _of(sentence).replace(status=Status.CANCELLED, error="it was stopped")
            for sentence in sentences
        ]
        return NodeAttribution(node_id=node.ref.node_id, sentences=tuple(found))

    async def _sentence(
        self,
        sentence: Sentence,
        sources: Sequence[ReadNode],
        ended: dict[int, SentenceAttribution],
    ) -> None:
        """Attribute one sentence; what was found before a fault is kept."""
        found = _of(sentence)
        try:
            if self.refusal is not None:  # no call can succeed any more: none is begun
                raise self.refusal
            answer = await self.steps.attributor.attribute(sentence.text, sources, self.meter)
            found = found.replace(
                attributed=answer.sentences,
                implied_label=implied_label(answer.sentences),
                dropped_ids=answer.dropped_ids,
            )
            material = Material(sentence.text, sources, answer.sentences)
            found = await self._judged(material, found)
            found = await self._corrected(material, found)
        except EndpointRefused as error:
            self.refusal = self.refusal or error
            found = found.replace(status=Status.FAILED, error=str(error))
        except OverBudget as error:
            found = found.replace(status=Status.OVER_BUDGET, error=str(error))
        except VeriTrailError as error:
            found = found.replace(status=Status.FAILED, error=str(error))
        except Exception as error:  # noqa: BLE001  # one sentence's fault must not end the others
            failure = f"internal error ({type(error).__name__}: {error}); please report it"
            found = found.replace(status=Status.FAILED, error=failure)
        else:
            found = found.replace(status=Status.SUCCEEDED)
        ended[sentence.index] = found
        self.on_sentence(found)

    async def _judged(self, material: Material, found: SentenceAttribution) -> SentenceAttribution:
        if self.steps.judge is None:
            return found
        answer = await judge_sentence(material, self.steps.mode, self.steps.judge, self.meter)
        return found.replace(judged_label=answer.label, judged_reason=answer.reason or None)

    async def _corrected(
        self, material: Material, found: SentenceAttribution
    ) -> SentenceAttribution:
        """Correct an unfaithful sentence; the judge, where there is one, reads it again."""
        steps = self.steps
        if steps.corrector is None or found.label is not Faithfulness.UNFAITHFUL:
            return found
        wording = await correct_sentence(material, steps.mode, steps.corrector, self.meter)
        if wording is None:
            return found
        found = found.replace(correction=wording)
        if steps.judge is None:
            return found
        again = Material(wording, material.sources, material.attributed)
        answer = await judge_sentence(again, steps.mode, steps.judge, self.meter)
        return found.replace(corrected_label=answer.label)


def _of(sentence: Sentence) -> SentenceAttribution:
    """A sentence of which nothing is known yet."""
    return SentenceAttribution(
        sentence=sentence.index,
        start=sentence.start,
        end=sentence.end,
        text=sentence.text,
        status=Status.RUNNING,
    )
