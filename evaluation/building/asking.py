"""The steps that build data sets: their prompts, and how a model is asked.

Source: VeriTrail B.1.2, B.2.1; docs/model-protocol.md for the form of messages and answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.answers import answer_schema, expect_keys, last_object
from veritrail_graph.verifier.judge import StepModel
from veritrail_graph.verifier.models.port import InvalidAnswer, Meter, Request, StepCall

T = TypeVar("T")


class BuildStep(StrEnum):
    """The steps; every request names its step in the header of the protocol."""

    CHUNK_SUMMARY = "chunk_summary"
    SUMMARY_MERGE = "summary_merge"
    CLAIM_MATCHING_BOOK = "claim_matching_book"
    CLAIM_MATCHING_QUESTION = "claim_matching_question"
    QUESTION_FILTER = "question_filter"


VERSION = "v1"
MOST_BYTES = 1_000_000

_TEXT = {"type": "string"}
_TRUTH = {"type": "boolean"}
_MATCHED = {"entailed": _TRUTH, "reason": _TEXT}
KEYS: Mapping[BuildStep, Mapping[str, Any]] = {
    BuildStep.CHUNK_SUMMARY: {"summary": _TEXT},
    BuildStep.SUMMARY_MERGE: {"summary": _TEXT},
    BuildStep.CLAIM_MATCHING_BOOK: _MATCHED,
    BuildStep.CLAIM_MATCHING_QUESTION: _MATCHED,
    BuildStep.QUESTION_FILTER: {"asks_opinion": _TRUTH, "stands_alone": _TRUTH, "reason": _TEXT},
}
"""What the JSON object at the end of an answer holds."""


@dataclass(frozen=True, slots=True)
class BuildPrompt:
    """A prompt: the whole system message of a step.

    Attributes:
        step: The step.
        version: Its version, from the name of the file.
        text: The text.
        hash: SHA-256 of the file in hexadecimal.
    """

    step: BuildStep
    version: str
    text: str
    hash: str

    @property
    def name(self) -> str:
        """Step and version, such as `chunk_summary.v1`."""
        return f"{self.step}.{self.version}"


def load_build_prompt(step: BuildStep, folder: Path | None = None) -> BuildPrompt:
    """The prompt of a step: ours, or the file `STEP.VERSION.md` of a folder.

    Raises:
        InputError: The folder holds no such file, several, or one that is no text.
    """
    if folder is None:
        own = resources.files("veritrail_graph.evaluation.building.prompts")
        content, version = own.joinpath(f"{step}.{VERSION}.md").read_bytes(), VERSION
    else:
        found = sorted(folder.glob(f"{step}.*.md"))
        if len(found) != 1:
            raise InputError(
                f"{folder} holds {len(found)} prompts for {step}; name one {step}.VERSION.md"
            )
        version = found[0].name.removeprefix(f"{step}.").removesuffix(".md")
        try:
            content = found[0].read_bytes()
        except OSError as error:
            message = f"{found[0]} cannot be read: {error.strerror or error}"
            raise InputError(message) from None
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n").strip()
    except UnicodeDecodeError:
        text = ""
    if not text or len(content) > MOST_BYTES:
        raise InputError(f"The prompt {step}.{version}.md is empty, too large or not UTF-8.")
    return BuildPrompt(step, version, text, hashlib.sha256(content).hexdigest())


@dataclass(frozen=True, slots=True)
class AskedStep:
    """A step with its prompt and its model."""

    prompt: BuildPrompt
    model: StepModel

    async def ask(self, user: str, read: Callable[[Mapping[str, Any]], T], meter: Meter) -> T:
        """Ask until there is a valid answer.

        Args:
            user: The user message.
            read: Reads the JSON object of an answer; raises `InvalidAnswer` where it is none.
            meter: Records every call.

        Raises:
            ModelError: There is no valid answer.
        """
        keys = KEYS[self.prompt.step]

        def read_text(text: str) -> T:
            answer = last_object(text)
            expect_keys(answer, *keys)
            return read(answer)

        model = self.model
        call = StepCall(
            self.prompt.step.value,
            self.prompt.name,
            self.prompt.hash,
            model.model.model,
            model.temperature,
        )
        schema = answer_schema(keys) if model.structured else None
        request = Request(call, self.prompt.text, user, schema=schema)
        return await model.model.ask(request, read_text, meter)


@dataclass
class BuildModel:
    """A model that is open, and what its calls cost.

    Attributes:
        model: The model of all steps.
        prompts: A folder of prompts in place of ours, or None.
        meter: Records every call.
    """

    model: StepModel
    prompts: Path | None = None
    meter: Meter = field(default_factory=Meter)

    def step(self, step: BuildStep) -> AskedStep:
        """A step with its prompt.

        Raises:
            InputError: The prompt cannot be used.
        """
        return AskedStep(load_build_prompt(step, self.prompts), self.model)


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
