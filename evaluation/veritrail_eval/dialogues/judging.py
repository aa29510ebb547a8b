"""A judge of whole turns: conversation, documents and answer in one prompt.

Source: VISTA A.2 (LLM-as-Judge).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from veritrail_graph.graph.model.dialogue import Turn
from veritrail_graph.verifier.dialogue.answers import LabelAnswer, read_judgement
from veritrail_graph.verifier.dialogue.port import History
from veritrail_graph.verifier.dialogue.prompted import (
    MOST_TURNS,
    HistoryPrompt,
    LineTokens,
    turn_line,
)
from veritrail_graph.verifier.excerpts import Unit, pack
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import JudgeError, ReadNode
from veritrail_graph.verifier.prompted import PromptedStep


@dataclass(frozen=True, slots=True)
class TurnJudge:
    """Asks of a turn as a whole whether its documents support it.

    Attributes:
        name: The engine's name.
        step: The prompt and the model.
        most_turns: Turns of history that a prompt shows at most.
    """

    name: str
    step: PromptedStep
    most_turns: int = MOST_TURNS
    _lines: LineTokens = field(default_factory=LineTokens)

    @property
    def model(self) -> str | None:
        """The model that judges."""
        return self.step.model.model

    @property
    def indicative(self) -> bool:
        """False: a model is asked."""
        return False

    @property
    def settings(self) -> Mapping[str, Any]:
        """Model, prompt and limit."""
        return {"judge": self.step.settings, "most_turns": self.most_turns}

    async def judge(
        self, turn: Turn, history: History, reference: Sequence[ReadNode], meter: Meter
    ) -> tuple[LabelAnswer, int]:
        """Ask for the label of a turn.

        Args:
            turn: The turn.
            history: The turns before it; the oldest are left out where a prompt has no room.
            reference: The documents of the turn, which are shown whole.
            meter: Records every call.

        Returns:
            The answer, and how many earlier turns the prompt did not show.

        Raises:
            JudgeError: The documents do not fit into the context window.
            VeriTrailError: No answer could be had.
        """
        line = turn_line(turn)
        units = [Unit(one.sentences) for one in reference if one.sentences]
        windows = list(pack(units, None, self.step.room(line), self.step.model.tokens))
        if len(windows) > 1:
            raise JudgeError(
                f"the documents of the turn do not fit into the context window of {self.model}; a "
                "judge of whole turns sees them all at once"
            )
        rest = f"{windows[0].text}\n{line}" if windows else line
        asking = HistoryPrompt(self.step, self.most_turns, self._lines)
        return await asking.ask(rest, history, read_judgement, meter)
