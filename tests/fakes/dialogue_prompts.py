"""A strict reader of the user messages of the steps of dialogues.

Source: the model protocol (docs/model-protocol.md).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fakes.model_prompts import DIALOGUE_STEPS, FormatError, parse_excerpts

_HISTORY = re.compile(r"\(history\) (user|assistant|system|tool): (.*\S.*)")
_EARLIER = re.compile(r"\(earlier\) (user: .*\S.* \| )?assistant: .*\S.*")
_BACKGROUND = "(background) "
_TURN_STEPS = (
    "dialogue_extraction", "dialogue_turn_check", "factscore_extraction", "dialogue_judge",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ShownDialogue:
    """What a prompt of a step of dialogues shows.

    Attributes:
        history: The lines of the history, as role and text.
        excerpts: The lines of the reference, ids included.
        background: The background.
        earlier: Earlier turns, with what the user said before each.
        turn: The turn, or empty.
        claim: The claim, or empty.
    """

    history: tuple[tuple[str, str], ...] = ()
    excerpts: tuple[str, ...] = ()
    background: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    turn: str = ""
    claim: str = ""

    @classmethod
    def of(cls, user: str) -> ShownDialogue:
        """Read a user message.

        Raises:
            FormatError: It is not exactly what the protocol says.
        """
        return parse_dialogue(user)


def parse_dialogue(user: str, step: str | None = None) -> ShownDialogue:
    """Read the user message of a step of dialogues.

    Raises:
        FormatError: It is not exactly what the protocol says.
    """
    *before, last = user.split("\n")
    if last.startswith("Turn: "):
        _expect(step is None or step in _TURN_STEPS, f"{step} shows no turn")
        count = next((n for n, one in enumerate(before) if not _HISTORY.match(one)), len(before))
        history = [_HISTORY.fullmatch(line) for line in before[:count]]
        excerpts = before[count:]
        _expect(all(history), "a line of the history is not of the protocol")
        _expect(not before or step != "factscore_extraction", f"{step} shows the turn alone")
        if excerpts:
            _expect(step in (None, "dialogue_judge"), f"{step} shows what is no history")
            parse_excerpts("\n".join([*excerpts, "Claim: a turn"]))
        _expect(bool(last.removeprefix("Turn: ").strip()), "the turn is empty")
        return ShownDialogue(
            tuple((one[1], one[2]) for one in history if one),
            tuple(excerpts),
            turn=last.removeprefix("Turn: "),
        )
    _expect(last.startswith("Claim: "), f"the last line is neither turn nor claim: {last!r}")
    _expect(step is None or step not in _TURN_STEPS, f"{step} shows no claim")
    count = next((n for n, one in enumerate(before[::-1]) if not _EARLIER.match(one)), len(before))
    before, earlier = before[: len(before) - count], before[len(before) - count :]
    _expect(not earlier or step in (None, "dialogue_categorisation"), f"{step} shows no such turn")
    first = next((n for n, line in enumerate(before) if line.startswith(_BACKGROUND)), len(before))
    excerpts, background = before[:first], before[first:]
    _expect(all(line.startswith(_BACKGROUND) for line in background), "excerpts behind background")
    _expect(not background or step != "factscore_verification", f"{step} shows no background")
    if excerpts:
        parse_excerpts("\n".join([*excerpts, last]))
    _expect(bool(last.removeprefix("Claim: ").strip()), "the claim is empty")
    return ShownDialogue(
        excerpts=tuple(excerpts),
        background=tuple(line.removeprefix(_BACKGROUND) for line in background),
        earlier=tuple(line.removeprefix("(earlier) ") for line in earlier),
        claim=last.removeprefix("Claim: "),
    )


def check_dialogue_prompt(user: str, step: str) -> None:
    """See that the user message of a step is what the protocol says.

    Raises:
        FormatError: It is not.
    """
    _expect(step in DIALOGUE_STEPS, f"{step} is no step of dialogues")
    parse_dialogue(user, step)


def _expect(condition: bool, message: str) -> None:
    if not condition:
        raise FormatError(message)
