"""Attributing the sentences of nodes side by side; a fault is the status of one sentence.

Source: Error-tolerant attribution 3, 6.1, 7.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import Sentence, Status
from veritrail_graph.graph.model.attribution import (
    Faithfulness,
    NodeAttribution,
    Proposition,
    Revision,
    SentenceAttribution,
    SourceMode,
    implied_label,
    ranked,
)
from veritrail_graph.graph.word_diff import edits
from veritrail_graph.verifier.attribution.attributor import Attribution, Attributor
from veritrail_graph.verifier.attribution.faithfulness import (
    FaithfulnessJudge,
    SentenceMaterial,
    correct_sentence,
    judge_sentence,
)
from veritrail_graph.verifier.attribution.propositions import attribute_propositions
from veritrail_graph.verifier.attribution.recheck import JudgeRechecker, Rechecker, Revised
from veritrail_graph.verifier.models.port import EndpointRefused, Meter, OverBudget
from veritrail_graph.verifier.ports import ReadNode, Split
from veritrail_graph.verifier.prompted import PromptedStep

SENTENCES_AT_ONCE = 64
"""Sentences looked at side by side; the model's own limit is what bounds the calls."""

CORRECTION_FAILED = "the correction failed"
"""How the error of a sentence begins that succeeded, but for its correction."""

JUDGEMENT_FAILED = "the judgement failed"
"""How the error of a sentence begins that succeeded, but for its judgement."""

NOTHING_CHANGED = "the corrector changed nothing"


@dataclass(frozen=True, slots=True)
class AttributionSteps:
    """The steps that are carried out for a sentence.

    Attributes:
        attributor: Finds what it rests on.
        judge: Says whether it is faithful; None: it is not judged.
        corrector: Corrects what is unfaithful; None: nothing is corrected.
        mode: What judge and corrector see.
        further: Modes in which the corrector proposes a wording besides; all are ranked.
        rechecker: Verifies corrections again; None: the judge does, where there is one.
        propositions: Splits each sentence into propositions, which are attributed one by one;
            None: sentences are attributed as wholes.
        split: Splits texts into sentences, to refuse corrections of several; None: they are not
            looked at.
    """

    attributor: Attributor
    judge: FaithfulnessJudge | None = None
    corrector: PromptedStep | None = None
    mode: SourceMode = SourceMode.ATTRIBUTION
    further: tuple[SourceMode, ...] = ()
    rechecker: Rechecker | None = None
    propositions: PromptedStep | None = None
    split: Split | None = None

    @property
    def checks(self) -> Rechecker | None:
        """Return what verifies corrections again; None: nothing does."""
        if self.rechecker is not None or self.judge is None:
            return self.rechecker
        return JudgeRechecker(self.judge, self.mode)

    @property
    def modes(self) -> tuple[SourceMode, ...]:
        """The modes of the corrector, that of `correction` first."""
        return (self.mode, *(one for one in self.further if one is not self.mode))


@dataclass(slots=True)
class Attributing:
    """Attributes nodes; `stop` ends what is not finished, as cancelled.

    Attributes:
        steps: What is done with each sentence.
        meter: Records the calls for whole nodes.
        on_sentence: Called when a sentence has ended.
        refusal: Why no call can succeed, where one was refused.
    """

    steps: AttributionSteps
    meter: Meter
    on_sentence: Callable[[SentenceAttribution], None] = lambda _sentence: None
    refusal: EndpointRefused | None = None
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(SENTENCES_AT_ONCE))
    _tasks: set[asyncio.Task[SentenceAttribution]] = field(default_factory=set)
    _is_stopped: bool = False

    def stop(self) -> None:
        """End all sentences that are not finished; they are cancelled."""
        self._is_stopped = True
        for task in self._tasks:
            task.cancel()

    async def node(
        self,
        node: ReadNode,
        sources: Sequence[ReadNode],
        only: Collection[int] | None = None,
    ) -> NodeAttribution:
        """Attribute the sentences of a node to those of its sources.

        Args:
            node: The node.
            sources: What it may rest on, in the order in which prompts show them.
            only: Numbers of the sentences that are attributed; None: all.
        """
        works = (
            self.sentence(node, one, sources, self.meter)
            for one in node.sentences
            if only is None or one.index in only
        )
        found = await asyncio.gather(*works)
        return NodeAttribution(node_id=node.ref.node_id, sentences=tuple(found))

    async def sentence(
        self, node: ReadNode, sentence: Sentence, sources: Sequence[ReadNode], meter: Meter
    ) -> SentenceAttribution:
        """Attribute one sentence; every fault is the status of its answer.

        Args:
            node: The node that holds it.
            sentence: The sentence.
            sources: What it may rest on, in the order in which prompts show them.
            meter: Records the calls for it.
        """
        task = asyncio.create_task(self._in_turn(node, sentence, sources, meter))
        self._tasks.add(task)
        if self._is_stopped:
            task.cancel()
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()  # it has ended, or the caller was cancelled
            self._tasks.discard(task)
        if task.cancelled():
            return stopped(sentence)
        return task.result()

    async def _in_turn(
        self, node: ReadNode, sentence: Sentence, sources: Sequence[ReadNode], meter: Meter
    ) -> SentenceAttribution:
        async with self._slots:
            found = await self._sentence(node, sentence, sources, meter)
        self.on_sentence(found)
        return found

    async def _sentence(
        self, node: ReadNode, sentence: Sentence, sources: Sequence[ReadNode], meter: Meter
    ) -> SentenceAttribution:
        """Attribute one sentence; what was found before a fault is kept."""
        found = _of(sentence)
        try:
            if self.refusal is not None:  # no call can succeed any more: none is begun
                raise self.refusal
            propositions, answer = await self._attributed(sentence, sources, meter)
            found = found.replace(
                attributed=answer.sentences,
                implied_label=answer.by_words
                if self.steps.attributor.indicative
                else implied_label(answer.sentences, propositions),
                dropped_ids=answer.dropped_ids,
                propositions=propositions,
            )
            material = SentenceMaterial(sentence.text, sources, answer.sentences)
            found = await self._judged(material, found, meter)
            if found.error is None:
                found = await self._corrected(node, sentence, material, found, meter)
        except EndpointRefused as error:
            self.refusal = self.refusal or error
            return found.replace(status=Status.FAILED, error=str(error))
        except OverBudget as error:
            return found.replace(status=Status.OVER_BUDGET, error=str(error))
        except VeriTrailError as error:
            return found.replace(status=Status.FAILED, error=str(error))
        except Exception as error:  # noqa: BLE001  # one sentence's fault must not end the others
            failure = f"internal error ({type(error).__name__}: {error}); please report it"
            return found.replace(status=Status.FAILED, error=failure)
        return found.replace(status=Status.SUCCEEDED)

    async def _attributed(
        self, sentence: Sentence, sources: Sequence[ReadNode], meter: Meter
    ) -> tuple[tuple[Proposition, ...], Attribution]:
        """Return what a sentence rests on; with its propositions, where it is split into some."""
        steps = self.steps
        if not any(one.sentences for one in sources):  # nothing to ask about
            return (), Attribution()
        if steps.propositions is None:
            return (), await steps.attributor.attribute(sentence.text, sources, meter)
        return await attribute_propositions(
            sentence, sources, steps.attributor, steps.propositions, meter
        )

    async def _judged(
        self, material: SentenceMaterial, found: SentenceAttribution, meter: Meter
    ) -> SentenceAttribution:
        """Judge a sentence; where that fails, what it rests on is kept, and no correction asked."""
        if self.steps.judge is None:
            return found
        try:
            answer = await judge_sentence(material, self.steps.mode, self.steps.judge, meter)
        except (EndpointRefused, OverBudget):  # they end the sentence, and can be resumed
            raise
        except VeriTrailError as error:
            return found.replace(error=f"{JUDGEMENT_FAILED}: {error}")
        return found.replace(judged_label=answer.label, judged_reason=answer.reason or None)

    async def _corrected(
        self,
        node: ReadNode,
        sentence: Sentence,
        material: SentenceMaterial,
        found: SentenceAttribution,
        meter: Meter,
    ) -> SentenceAttribution:
        """Correct an unfaithful sentence in every mode; what is proposed is verified again."""
        steps = self.steps
        if steps.corrector is None or found.label is not Faithfulness.UNFAITHFUL:
            return found
        proposed: list[Revision] = []
        faults: list[str] = []
        checked: dict[str, tuple[Revision, Faithfulness | None]] = {}
        for mode in steps.modes:
            try:
                wording = await correct_sentence(
                    material, mode, steps.corrector, meter, steps.split
                )
            except (EndpointRefused, OverBudget):  # they end the sentence, and can be resumed
                raise
            except VeriTrailError as error:
                faults.append(f"no wording could be proposed in the mode {mode}: {error}")
                continue
            if wording is None:
                continue
            if _plain(wording) == _plain(found.text):
                faults.append(f"no wording is proposed in the mode {mode}: {NOTHING_CHANGED}")
                continue
            revision = Revision(text=wording, mode=mode, edits=edits(found.text, wording))
            again = SentenceMaterial(wording, material.sources, material.attributed)
            if wording not in checked:
                revised = Revised(node, sentence, again, revision)
                checked[wording] = await self._checked(revised, faults, meter)
            revision, label = checked[wording]
            revision = revision.replace(mode=mode)
            if mode is steps.mode:
                found = found.replace(correction=wording, corrected_label=label)
            proposed.append(revision)
        why = f"{CORRECTION_FAILED}: {'; '.join(faults)}" if faults else None
        return found.replace(revisions=ranked(proposed), error=why)

    async def _checked(
        self, revised: Revised, faults: list[str], meter: Meter
    ) -> tuple[Revision, Faithfulness | None]:
        """Verify a wording again; where that fails, it has no outcome, and `faults` says why."""
        checks = self.steps.checks
        if checks is None:
            return revised.revision, None
        try:
            return await checks.check(revised, meter)
        except (EndpointRefused, OverBudget):
            raise
        except VeriTrailError as error:
            mode = revised.revision.mode
            faults.append(f"the wording of the mode {mode} was not verified again: {error}")
            return revised.revision, None


def stopped(sentence: Sentence) -> SentenceAttribution:
    """A sentence of which nothing is known, as the run was stopped before."""
    return _of(sentence).replace(status=Status.CANCELLED, error="it was stopped")


def _plain(text: str) -> str:
    """A sentence without what makes no other wording of it: white space, case, a full stop."""
    return " ".join(text.split()).rstrip(".").casefold()


def _of(sentence: Sentence) -> SentenceAttribution:
    """A sentence of which nothing is known yet."""
    return SentenceAttribution(
        sentence=sentence.index,
        start=sentence.start,
        end=sentence.end,
        text=sentence.text,
        status=Status.RUNNING,
    )
