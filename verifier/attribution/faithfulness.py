"""Judging a sentence by its sources, and correcting it, with or without its attribution.

Source: Error-tolerant attribution 6.1, 7 and Tables 5 and 6 (the three modes).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from veritrail_graph.graph.model.attribution import (
    NO_SOURCE_TEXT,
    NOTHING_ATTRIBUTED,
    AttributedSentence,
    Faithfulness,
    SourceMode,
)
from veritrail_graph.verifier.attribution.answers import (
    FaithfulnessAnswer,
    read_correction,
    read_faithfulness,
)
from veritrail_graph.verifier.attribution.prompted import sentence_line, too_long
from veritrail_graph.verifier.attribution.scored import ScoringJudge
from veritrail_graph.verifier.attribution.windows import alone, places, whole
from veritrail_graph.verifier.excerpts import Unit, pack
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import ReadNode, Split
from veritrail_graph.verifier.prompted import PromptedStep, begun, results


@dataclass(frozen=True, slots=True)
class SentenceMaterial:
    """The texts by which a sentence is judged.

    Attributes:
        sentence: The sentence.
        sources: Its source nodes.
        attributed: The source sentences that are attributed to it.
    """

    sentence: str
    sources: Sequence[ReadNode]
    attributed: Sequence[AttributedSentence] = ()

    @property
    def has_sources(self) -> bool:
        """Return whether the sources hold any sentence."""
        return any(one.sentences for one in self.sources)

    def prompt(self, mode: SourceMode, step: PromptedStep) -> tuple[str, int] | None:
        """The user message, and how many characters of it other sentences share.

        Attributed sentences are marked by a line with their ids, not by marks in the text: so no
        text can mark itself, and sentences over the same sources share the excerpts.

        Returns:
            None: nothing can be shown. The sources hold no text; or nothing is attributed, and the
            mode shows nothing else.

        Raises:
            JudgeError: The sources do not fit into the context window.
        """
        chosen = places(self.attributed)
        units = whole(self.sources)
        if mode is SourceMode.ATTRIBUTION:
            units = alone(self.sources, chosen)
        if not units:
            return None
        marks = mode is SourceMode.HIGHLIGHTED
        line = sentence_line(self.sentence)
        shown, numbers = _one_prompt(units, chosen, step, line)
        tail = [shown] if shown else []
        if marks:
            tail.append(f"Marked: {', '.join(map(str, numbers)) or 'none'}")
        return "\n".join([*tail, line]), len(shown) + 1 if shown else 0


def _one_prompt(
    units: Sequence[Unit], chosen: set[tuple[str, int]], step: PromptedStep, line: str
) -> tuple[str, list[int]]:
    """The excerpts and the ids of the chosen sentences among them."""
    windows = list(pack(units, None, step.room(line), step.model.tokens))
    if len(windows) > 1:
        sentences = sum(len(unit.sentences) for unit in units)
        raise too_long(step, f"a source of {sentences:,} sentences")
    if not windows:
        return "", []
    (window,) = windows
    numbers = [
        number for number, one in enumerate(window.sentences) if (one.node_id, one.index) in chosen
    ]
    return window.text, numbers


FaithfulnessJudge: TypeAlias = PromptedStep | ScoringJudge
"""Who says whether a sentence is faithful: a prompted model, or a checker with a score."""


async def judge_sentence(
    material: SentenceMaterial, mode: SourceMode, judge: FaithfulnessJudge, meter: Meter
) -> FaithfulnessAnswer:
    """Say whether a sentence is faithful to its sources.

    A judge that would see nothing is not asked: the sources hold no text, or it sees the
    attribution alone and that is empty. Then the sentence is unfaithful by definition, and the
    reason says so.

    Args:
        material: The sentence with its sources and its attribution.
        mode: What the judge sees.
        judge: Who is asked.
        meter: Records every call.

    Raises:
        JudgeError: The sources do not fit into the context window, or a checker cannot be asked
            in this mode.
        ModelError: No answer could be had.

    Source: Error-tolerant attribution 6.1.
    """
    why = NOTHING_ATTRIBUTED if material.has_sources else NO_SOURCE_TEXT
    nothing = FaithfulnessAnswer(Faithfulness.UNFAITHFUL, why)
    if not material.has_sources:
        return nothing
    if isinstance(judge, ScoringJudge):
        scored = await judge.judge(
            material.sentence, material.sources, material.attributed, mode, meter
        )
        return scored or nothing
    prompt = material.prompt(mode, judge)
    if prompt is None:
        return nothing
    user, shared = prompt
    calls = judge.calls(user, read_faithfulness, meter, shared=shared)
    (answer,) = results(await asyncio.gather(*begun(calls), return_exceptions=True))
    return answer


async def correct_sentence(
    material: SentenceMaterial,
    mode: SourceMode,
    step: PromptedStep,
    meter: Meter,
    split: Split | None = None,
) -> str | None:
    """Propose a faithful wording of a sentence, with as few changes as possible.

    Args:
        material: The sentence with its sources and its attribution.
        mode: What the corrector sees.
        step: The prompt and the model.
        meter: Records every call.
        split: Splits texts into sentences, to refuse several in the place of one.

    Returns:
        The wording; None: the corrector would see nothing to correct it by, or says that nothing
        of the sentence can be kept.

    Raises:
        JudgeError: The sources do not fit into the context window.
        ModelError: No answer could be had.

    Source: Error-tolerant attribution 7.
    """
    prompt = material.prompt(mode, step)
    if prompt is None:
        return None
    user, shared = prompt

    def read(text: str) -> str | None:
        return read_correction(text, material.sentence, split)

    calls = step.calls(user, read, meter, shared=shared)
    (sentence,) = results(await asyncio.gather(*begun(calls), return_exceptions=True))
    return sentence
