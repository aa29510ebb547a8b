"""The stages of VISTA with language models: prompts, windows, and what is cut to fit.

The latest turns and the latest facts are shown first: history and background lose their oldest
lines where a prompt has no room, and the result says how many. The background takes at most half
of the room, so that the reference keeps the other half. A reference that is longer than a prompt
is shown in several.

Source: VISTA A.1; docs/adr/0037-dialogues.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypeVar

from veritrail_graph.graph.model.ablation import MOST_TURNS as MOST_TURNS
from veritrail_graph.graph.model.dialogue import ClaimCategory, DialogueLabel, Turn, TurnCheck
from veritrail_graph.verifier.answers import read_claims
from veritrail_graph.verifier.dialogue.answers import (
    CategoryAnswer,
    read_category,
    read_label,
    read_turn_check,
)
from veritrail_graph.verifier.dialogue.background import Remembered
from veritrail_graph.verifier.dialogue.earlier_turns import (
    Exchange,
    earlier_exchanges,
    in_their_order,
)
from veritrail_graph.verifier.dialogue.port import (
    Categorised,
    Extracted,
    History,
    Labelled,
    TurnMaterial,
)
from veritrail_graph.verifier.excerpts import Excerpts, Unit, claim_lines, halves, one_line, pack
from veritrail_graph.verifier.models.port import ContextTooLong, Meter
from veritrail_graph.verifier.ports import JudgeError
from veritrail_graph.verifier.prompted import PromptedStep, begun, results

T = TypeVar("T")

LINE_COSTS = 4
"""Tokens of a line besides its text."""


@dataclass(slots=True)
class PromptedDialogueJudge:
    """A `DialogueJudge` that asks language models.

    Attributes:
        name: The engine's name.
        extraction: Takes turns apart.
        verification: Verifies claims.
        categorisation: Says why claims are not verified.
        turn_check: Checks turns as a whole; None: they are not checked.
        most_turns: Turns of history that a prompt shows at most.
    """

    name: str
    extraction: PromptedStep
    verification: PromptedStep
    categorisation: PromptedStep
    turn_check: PromptedStep | None = None
    most_turns: int = MOST_TURNS
    _lines: LineTokens = field(default_factory=lambda: LineTokens())
    _windows: _Windows = field(default_factory=lambda: _Windows())

    @property
    def model(self) -> str | None:
        """The model that verifies claims."""
        return self.verification.model.model

    @property
    def indicative(self) -> bool:
        """False: a model is asked."""
        return False

    @property
    def settings(self) -> Mapping[str, Any]:
        """Models, prompts and limits."""
        steps = {
            "extraction": self.extraction,
            "verification": self.verification,
            "categorisation": self.categorisation,
        }
        if self.turn_check is not None:
            steps["turn_check"] = self.turn_check
        return {
            **{key: step.settings for key, step in steps.items()},
            "most_turns": self.most_turns,
        }

    async def extract(self, turn: Turn, history: History, meter: Meter) -> Extracted:
        """Ask for the claims of a turn, with as much of the history as fits.

        Raises:
            VeriTrailError: No answer could be had.
        """
        claims, left_out = await self._with_history(
            self.extraction, turn, history, read_claims, meter
        )
        return Extracted(claims, left_out)

    async def check(self, turn: Turn, history: History, meter: Meter) -> TurnCheck:
        """Ask whether a turn contradicts an earlier one.

        Raises:
            JudgeError: There is no model for it.
            VeriTrailError: No answer could be had.
        """
        step = self.turn_check
        if step is None:
            raise JudgeError("no model was named that checks turns")
        answer, left_out = await self._with_history(step, turn, history, read_turn_check, meter)
        found = TurnCheck(
            contradiction=answer.contradiction, reason=answer.reason, model=step.model.model
        )
        if answer.quotes is None:
            return found
        quote = _plain(answer.quotes[1])
        shown = islice(history.backward(), history.length - left_out)
        said = (one.turn_id for _, one in shown if quote in _plain(one.text))
        return found.replace(quotes=answer.quotes, turn_id=next(said, None))

    def fit(self, claims: Sequence[str], material: TurnMaterial) -> TurnMaterial:
        """The background cut to half of the room of a prompt; the latest facts stay."""
        longest = max(claims, key=len, default="")
        room = self._room(claim_lines(longest)) // 2
        facts = material.remembered.facts
        used = shown = 0
        for fact in reversed(facts):
            used += self._lines.tokens(self.verification, fact.text)
            if used > room:
                break
            shown += 1
        return replace(material, remembered=material.remembered.latest(shown))

    async def verify(self, claim: str, material: TurnMaterial, meter: Meter) -> Labelled:
        """Ask whether a claim is verified: one window of the reference suffices.

        Raises:
            VeriTrailError: No answer could be had.
        """
        answers, material = await self._compared(
            self.verification,
            claim_lines(claim),
            material,
            lambda _window, text: read_label(text),
            meter,
        )
        verified = next((one for one in answers if one.label is DialogueLabel.VERIFIED), None)
        answer = verified or answers[0]
        return Labelled(answer.label, answer.reason, material)

    async def categorise(self, claim: str, material: TurnMaterial, meter: Meter) -> Categorised:
        """Ask why a claim is not verified: a contradiction in one window of the reference counts.

        Raises:
            VeriTrailError: No answer could be had.
        """
        earlier = self._earlier(claim, material.history)
        before = "".join(f"{one.line}\n" for one in earlier)

        def read(window: _Window, text: str) -> tuple[CategoryAnswer, _Window]:
            lines = len(window.facts) + len(earlier)
            has_reference = window.excerpts is not None
            return read_category(text, lines, has_reference=has_reference), window

        answers, material = await self._compared(
            self.categorisation, f"{before}{claim_lines(claim)}", material, read, meter
        )
        denied = (one for one in answers if one[0].category is ClaimCategory.CONTRADICTED)
        answer, window = next(denied, answers[0])
        lines = (*window.facts, *(one.fact for one in earlier))
        named = tuple(lines[number] for number in answer.background)
        return Categorised(answer.category, answer.reason, material, named)

    def _earlier(self, claim: str, history: History) -> list[Exchange]:
        """The earlier turns that the claim is held against, in their order, if the prompt has some.

        They take a quarter of the room at most.
        """
        if not self.categorisation.prompt.shows_earlier_turns:
            return []
        room, shown = self._room(claim_lines(claim)) // 4, list[Exchange]()
        for one in earlier_exchanges(claim, history, self.most_turns):
            cost = self._lines.tokens(self.categorisation, one.line)
            if cost <= room:
                room -= cost
                shown.append(one)
        return in_their_order(shown, history)

    async def _with_history(
        self,
        step: PromptedStep,
        turn: Turn,
        history: History,
        read: Callable[[str], T],
        meter: Meter,
    ) -> tuple[T, int]:
        """The answer to a prompt of history and turn, and how many turns it did not show."""
        asking = HistoryPrompt(step, self.most_turns, self._lines)
        return await asking.ask(turn_line(turn), history, read, meter)

    def _room(self, line: str) -> int:
        """Tokens for reference and background before a line in the smaller of both prompts."""
        return min(self.verification.room(line), self.categorisation.room(line))

    async def _compared(
        self,
        step: PromptedStep,
        line: str,
        material: TurnMaterial,
        read: Callable[[_Window, str], T],
        meter: Meter,
    ) -> tuple[list[T], TurnMaterial]:
        """The answers to all windows, and the material as it was shown.

        Where the endpoint finds a prompt too long, the background loses its older half, and a
        window without background is split.
        """
        while True:
            windows = self._windows.of(material, self._room(line), self.verification.model.tokens)
            asked = (self._ask(step, line, window, read, meter) for window in windows)
            try:
                found = results(await asyncio.gather(*asked, return_exceptions=True))
            except ContextTooLong as error:
                facts = len(material.remembered.facts)
                if not facts:
                    raise JudgeError(str(error)) from None
                material = replace(material, remembered=material.remembered.latest(facts // 2))
            else:
                return [one for some in found for one in some], material

    async def _ask(
        self,
        step: PromptedStep,
        line: str,
        window: _Window,
        read: Callable[[_Window, str], T],
        meter: Meter,
    ) -> list[T]:
        before = window.text
        calls = step.calls(
            before + line, lambda text: read(window, text), meter, shared=len(before)
        )
        try:
            (answer,) = results(await asyncio.gather(*begun(calls), return_exceptions=True))
        except ContextTooLong:
            parts = None if window.facts or window.excerpts is None else halves(window.excerpts)
            if parts is None:
                raise
            split = [replace(window, excerpts=part, text=f"{part.text}\n") for part in parts]
            return [one for part in split for one in await self._ask(step, line, part, read, meter)]
        return [answer]


@dataclass(frozen=True, slots=True)
class HistoryPrompt:
    """Asks with as much of the history as fits before the rest of the prompt.

    Attributes:
        step: The prompt and the model.
        most_turns: Turns of history that are shown at most.
        lines: Counts the tokens of its lines.
    """

    step: PromptedStep
    most_turns: int
    lines: LineTokens

    async def ask(
        self, rest: str, history: History, read: Callable[[str], T], meter: Meter
    ) -> tuple[T, int]:
        """The answer, and how many turns of the history the prompt did not show.

        Args:
            rest: What follows the history; it is never cut.
            history: The history.
            read: Reads an answer.
            meter: Records every call.

        Raises:
            JudgeError: The rest does not fit.
            VeriTrailError: No answer could be had.
        """
        shown = self._latest(history, rest)
        while True:
            before = "".join(f"{one}\n" for one in shown)
            calls = self.step.calls(before + rest, read, meter, shared=len(before))
            try:
                (answer,) = results(await asyncio.gather(*begun(calls), return_exceptions=True))
            except ContextTooLong as error:
                if not shown:
                    raise JudgeError(str(error)) from None
                shown = shown[(len(shown) + 1) // 2 :]
            else:
                return answer, history.length - len(shown)

    def _latest(self, history: History, rest: str) -> list[str]:
        """Lines of the latest turns that fit, oldest first."""
        room, lines = self.step.room(rest), list[str]()
        for _, turn in islice(history.backward(), self.most_turns):
            text = f"(history) {turn.role}: {one_line(turn.text)}"
            room -= self.lines.tokens(self.step, text)
            if room < 0:
                break
            lines.append(text)
        lines.reverse()
        return lines


def turn_line(turn: Turn) -> str:
    """The last line of a prompt about a turn."""
    return f"Turn: {one_line(turn.text)}"


@dataclass(frozen=True, slots=True)
class _Window:
    """The part of a prompt that stands before the claim.

    Attributes:
        excerpts: Sentences of the reference; None: there are none.
        remembered: The background.
        text: Both as the prompt shows them, with the line break behind.
    """

    excerpts: Excerpts | None
    remembered: Remembered
    text: str

    @property
    def facts(self) -> Sequence[Any]:
        """The facts of the background, by their ids."""
        return self.remembered.facts


@dataclass(slots=True)
class _Windows:
    """The windows of the latest materials: claims of a turn share them to the last character."""

    # With its material, whose id is that of no other one as long as it is kept.
    _made: dict[tuple[int, int], tuple[TurnMaterial, list[_Window]]] = field(default_factory=dict)

    def of(self, material: TurnMaterial, room: int, tokens: Callable[[str], int]) -> list[_Window]:
        """The windows of a material: at least one, empty where there is nothing to show."""
        key = (id(material), room)
        if key not in self._made:
            if len(self._made) >= _KEPT:
                self._made.pop(next(iter(self._made)))
            self._made[key] = (material, self._make(material, room, tokens))
        return self._made[key][1]

    @staticmethod
    def _make(material: TurnMaterial, room: int, tokens: Callable[[str], int]) -> list[_Window]:
        remembered = material.remembered
        lines = "".join(f"(background) {one_line(one.text)}\n" for one in remembered.facts)
        units = [Unit(one.sentences) for one in material.reference if one.sentences]
        left = max(room - (tokens(lines) if lines else 0), 1)
        packed = list(pack(units, None, left, tokens))
        return [_Window(one, remembered, f"{one.text}\n{lines}") for one in packed] or [
            _Window(None, remembered, lines)
        ]


_KEPT = 64
"""Materials whose windows are kept; as many turns may be on their way."""


@dataclass(slots=True)
class LineTokens:
    """Tokens of lines, each counted once: as many are kept as dialogues on their way show."""

    _known: dict[tuple[int, str], int] = field(default_factory=dict)

    def tokens(self, step: PromptedStep, text: str) -> int:
        """Tokens of a line of a prompt."""
        key = (id(step.model), text)
        count = self._known.pop(key, None)
        if count is None:
            count = step.model.tokens(text) + LINE_COSTS
            if len(self._known) >= _LINES_KEPT:
                self._known.pop(next(iter(self._known)))
        self._known[key] = count
        return count


_LINES_KEPT = 100_000


def _plain(text: str) -> str:
    """A text for finding quotes in: case, white space and quotation marks aside."""
    return " ".join(text.casefold().replace("\u2019", "'").strip(" \"'\u201c\u201d.").split())
