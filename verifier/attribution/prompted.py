"""Attribution with a language model: windows over long sources, and one answer of them.

Source: Error-tolerant attribution 5 (zero-shot models), A.2 (the rules of the prompt).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from veritrail_graph.graph.model.attribution import WINDOW
from veritrail_graph.verifier.attribution.answers import read_attribution
from veritrail_graph.verifier.attribution.attributor import Attribution, attributed
from veritrail_graph.verifier.attribution.windows import places, selected, whole
from veritrail_graph.verifier.evidence import HOPELESS, PackedExcerpts
from veritrail_graph.verifier.excerpts import Excerpts, Unit, halves, one_line, pack
from veritrail_graph.verifier.models.port import ContextTooLong, Meter
from veritrail_graph.verifier.ports import JudgeError, ReadNode
from veritrail_graph.verifier.prompted import PromptedStep, begun, results


@dataclass(frozen=True, slots=True)
class PromptedAttributor:
    """An `Attributor` that asks a language model.

    Attributes:
        name: The engine's name.
        step: The prompt and the model; one answer is drawn to each prompt.
        most_sentences: The most sentences of a prompt; None: as many as the context window holds.
    """

    name: str
    step: PromptedStep
    most_sentences: int | None = None
    _packed: PackedExcerpts = field(default_factory=PackedExcerpts)

    @property
    def model(self) -> str | None:
        """The model's name."""
        return self.step.model.model

    @property
    def indicative(self) -> bool:
        """False: a model is asked."""
        return False

    @property
    def settings(self) -> Mapping[str, Any]:
        """Model, prompt and limit."""
        return {"attribution": self.step.settings, "most_sentences": self.most_sentences}

    async def attribute(
        self, sentence: str, sources: Sequence[ReadNode], meter: Meter
    ) -> Attribution:
        """Ask about every window of the sources; what several windows name is asked about again.

        Only with all candidates before it can the model keep the strongest evidence alone, and
        see that a topic stands in several places and is expected in none of them.

        Raises:
            VeriTrailError: No answer could be had.
        """
        windows = self._windows(sentence, sources)
        left = sum(len(window.sentences) for window in windows)
        dropped = 0
        while True:
            asked = (self._ask(sentence, window, meter) for window in windows)
            answers = results(await asyncio.gather(*asked, return_exceptions=True))
            parts = [part for some in answers for part in some]
            dropped += sum(part.dropped_ids for part in parts)
            found = tuple(one for part in parts for one in part.sentences)
            is_settled = sum(bool(part.sentences) for part in parts) < 2
            if is_settled or len(found) >= left:
                return Attribution(found, dropped)
            left = len(found)
            windows = self._pack(sentence, selected(sources, places(found)))

    def _windows(self, sentence: str, sources: Sequence[ReadNode]) -> list[Excerpts]:
        """The sources as prompts; sentences of one node share them to the last character."""
        room = self.step.room(sentence_line(sentence))
        key = (tuple((one.ref.node_id, one.ref.is_root, one.text) for one in sources), room)
        windows = self._packed.get(key)
        if windows is None:
            windows = self._pack(sentence, whole(sources))
            self._packed.keep(key, windows)
        return windows

    def _pack(self, sentence: str, units: Sequence[Unit]) -> list[Excerpts]:
        room = self.step.room(sentence_line(sentence))
        return list(pack(units, self.most_sentences, room, self.step.model.tokens))

    async def _ask(self, sentence: str, window: Excerpts, meter: Meter) -> list[Attribution]:
        """Ask about one window; one that is too long for the endpoint is split in two."""
        alone = window.sentences[0] if len(window.sentences) == 1 else None
        if alone is not None and len(window.text) > HOPELESS * self.step.room(""):
            raise too_long(self.step, f"sentence {alone.index} of node {alone.node_id!r}")
        before = f"{window.text}\n"
        count = len(window.sentences)
        calls = self.step.calls(
            before + sentence_line(sentence),
            lambda text: read_attribution(text, count),
            meter,
            shared=len(before),
        )
        try:
            (answer,) = results(await asyncio.gather(*begun(calls), return_exceptions=True))
        except ContextTooLong as error:
            split = halves(window)
            if split is None:
                raise JudgeError(str(error)) from None
            return [part for half in split for part in await self._ask(sentence, half, meter)]
        found = tuple(
            attributed(window.sentences[number], categories)
            for number, categories in answer.categories.items()
        )
        return [Attribution(found, answer.dropped)]


def sentence_line(sentence: str) -> str:
    """The last line of a user message."""
    return f"Sentence: {one_line(sentence)}"


def too_long(step: PromptedStep, what: str) -> JudgeError:
    """The fault of material that a prompt cannot hold."""
    return JudgeError(
        f"{what} {WINDOW} of {step.model.model} ({step.model.context_tokens:,} tokens)"
    )
