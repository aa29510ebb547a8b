"""The steps that build data sets: their prompts, and how a model is asked.

Source: VeriTrail B.1.2, B.2.1; docs/model-protocol.md for the form of messages and answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from veritrail_eval.building.steps import BuildStep
from veritrail_graph.verifier.answers import answer_schema, final_object
from veritrail_graph.verifier.judge import StepModel
from veritrail_graph.verifier.models.port import InvalidAnswer, Meter
from veritrail_graph.verifier.prompted import PromptedStep
from veritrail_graph.verifier.prompts import Prompt, prompts_of

T = TypeVar("T")


VERSIONS: Mapping[BuildStep, str] = dict.fromkeys(BuildStep, "v1")
"""The version of each of our prompts that is used."""

_TEXT = {"type": "string"}
_TRUTH = {"type": "boolean"}
_WHOLE = {"type": "integer"}


def _list_of(**properties: Any) -> Mapping[str, Any]:
    items = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "array", "items": items}


_MATCHED = {"entailed": _TRUTH, "reason": _TEXT}
KEYS: Mapping[BuildStep, Mapping[str, Any]] = {
    BuildStep.CHUNK_SUMMARY: {"summary": _TEXT},
    BuildStep.SUMMARY_MERGE: {"summary": _TEXT},
    BuildStep.CLAIM_MATCHING_BOOK: _MATCHED,
    BuildStep.CLAIM_MATCHING_QUESTION: _MATCHED,
    BuildStep.QUESTION_FILTER: {"asks_opinion": _TRUTH, "stands_alone": _TRUTH, "reason": _TEXT},
    BuildStep.GRAPH_EXTRACTION: {
        "entities": _list_of(name=_TEXT, type=_TEXT, description=_TEXT),
        "relationships": _list_of(source=_TEXT, target=_TEXT, description=_TEXT, strength=_WHOLE),
    },
    BuildStep.DESCRIPTION_SUMMARY: {"description": _TEXT},
    BuildStep.COMMUNITY_REPORT: {
        "title": _TEXT,
        "summary": _TEXT,
        "findings": _list_of(summary=_TEXT, explanation=_TEXT),
    },
    BuildStep.MAP_ANSWER: {"points": _list_of(point=_TEXT, score=_WHOLE)},
    BuildStep.REDUCE_ANSWER: {"answer": _TEXT},
}
"""What the JSON object at the end of an answer holds."""


@dataclass
class BuildModel:
    """A model that is open, and what its calls cost.

    Attributes:
        model: The model of all steps.
        folder: A folder of prompts in place of ours, or None.
        meter: Records every call.
    """

    model: StepModel
    folder: Path | None = None
    meter: Meter = field(default_factory=Meter)

    def __post_init__(self) -> None:
        """Read the prompts.

        Raises:
            InvalidPrompts: The folder cannot be used.
        """
        self._prompts = build_prompts(self.folder)

    def step(self, step: BuildStep) -> PromptedStep:
        """A step with its prompt and its model."""
        return self.model.step(self._prompts[step], schema=answer_schema(KEYS[step]))


def build_prompts(folder: Path | None = None) -> Mapping[BuildStep, Prompt]:
    """The prompts of all steps: ours, with those of a user's folder in their place.

    Raises:
        InvalidPrompts: The folder cannot be read, or a file in it is no prompt of a step.
    """
    return prompts_of(VERSIONS, "veritrail_eval.building.prompts", folder)


async def ask(
    step: PromptedStep, user: str, read: Callable[[Mapping[str, Any]], T], meter: Meter
) -> T:
    """Ask until there is a valid answer.

    Args:
        step: The step; one answer is drawn.
        user: The user message.
        read: Reads the JSON object of an answer; raises `InvalidAnswer` where it is none.
        meter: Records every call.

    Raises:
        ModelError: There is no valid answer.
    """
    keys = KEYS[BuildStep(step.prompt.step)]

    def read_text(text: str) -> T:
        answer = final_object(text, *keys)
        return read(answer)

    (call,) = step.calls(user, read_text, meter)
    return await call()


def truth_of(answer: Mapping[str, Any], key: str) -> bool:
    """True or false of an answer.

    Raises:
        InvalidAnswer: It is neither.
    """
    value = answer[key]
    if not isinstance(value, bool):
        raise InvalidAnswer(f"`{key}` is neither true nor false")
    return value


def lines_of(mark: str, text: str) -> list[str]:
    """The paragraphs of a text, each on a line behind a mark, so that none can pose as ours."""
    return [f"({mark}) {' '.join(line.split())}" for line in text.splitlines() if line.strip()]
