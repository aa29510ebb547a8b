"""A step that asks a model: which prompt goes where, and how many answers are drawn.

Source: VeriTrail C.2, E.3.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from veritrail_graph.verifier.answers import SCHEMAS, without_reasoning
from veritrail_graph.verifier.limits import Samples
from veritrail_graph.verifier.models.known_models import known_model
from veritrail_graph.verifier.models.port import Meter, ModelPort, Request, Step, StepCall
from veritrail_graph.verifier.part_answers import PART_SCHEMAS
from veritrail_graph.verifier.prompts import Prompt

T = TypeVar("T")
Call = Callable[[], Awaitable[T]]
"""A call that was not begun: what is never made leaves nothing behind."""

ROOM_AROUND = 200
"""Tokens kept free for labels, roles and separators beside what is counted."""
USER_PORTION = 1_000
"""What a claim takes of the context window is a multiple of it; less where the window is small."""


@dataclass(frozen=True, slots=True)
class PromptedStep:
    """One step of the method with its model.

    Attributes:
        prompt: The instructions; they name the step.
        model: The model that is asked.
        samples: How many answers are drawn to each prompt.
        temperature: Of a single answer; None: the endpoint's own.
        structured: Whether the endpoint gets a JSON Schema of the answer.
        schema: The JSON Schema of an answer; None: that of the step of verification.
        effort: How much the model may reason; None: as goes with the temperature.
    """

    prompt: Prompt
    model: ModelPort
    samples: Samples = Samples()
    temperature: float | None = 0.0
    structured: bool = False
    schema: Mapping[str, Any] | None = None
    effort: str | None = None

    @property
    def call(self) -> StepCall:
        """Return what its calls ask for, as far as the model is known to take it."""
        drawn = self.samples.temperature if self.samples.is_soft else self.temperature
        asked = known_model(self.model.model).asked(drawn, self.effort)
        prompt = self.prompt
        return StepCall(prompt.step.value, prompt.name, prompt.hash, self.model.model, *asked)

    @property
    def needs_temperature(self) -> bool:
        """Return whether answers without a temperature are of no use."""
        return self.samples.is_soft and self.samples.needs_temperature

    @property
    def settings(self) -> dict[str, Any]:
        """Return what decides the answers, as JSON."""
        call = self.call
        return {
            "model": call.model,
            "endpoint": self.model.address,
            "temperature": call.temperature,
            "structured": self.structured,
            "prompt": call.prompt,
            "prompt_hash": call.prompt_hash,
            **({"effort": call.effort} if call.effort is not None else {}),
        }

    @property
    def answer_schema(self) -> Mapping[str, Any] | None:
        """The JSON Schema that the endpoint gets; None: it gets none."""
        if not self.structured or self.prompt.asks_true_or_false:
            return None
        step = Step(self.prompt.step)
        by_part = PART_SCHEMAS.get(step) if self.prompt.asks_by_part else None
        schema = self.schema or by_part or SCHEMAS[step]
        return without_reasoning(schema) if self.prompt.is_brief else schema

    @property
    def free(self) -> int:
        """Tokens that the instructions leave of the window; below 0 where it is too small."""
        return self.model.context_tokens - self.model.tokens(self.prompt.text) - ROOM_AROUND

    def room(self, user: str) -> int:
        """Tokens that are left for excerpts beside the instructions and `user`.

        What `user` takes is rounded up, so that claims of any usual length leave equal room,
        and their prompts share excerpts to the last character.
        """
        portion = min(USER_PORTION, max(self.model.context_tokens // 16, 1))
        user_tokens = -(-self.model.tokens(user) // portion) * portion
        return max(self.free - user_tokens, 1)

    def calls(
        self, user: str, read: Callable[[str], T], meter: Meter, *, shared: int = 0
    ) -> list[Call[T]]:
        """A call for each sample of a prompt, to be made side by side (see `begun` and `results`).

        Args:
            user: The user message.
            read: Reads an answer; raises `InvalidAnswer` where it is none.
            meter: Records every call.
            shared: How many characters of `user` other claims share.
        """
        call, schema = self.call, self.answer_schema
        return [
            partial(
                self.model.ask,
                Request(
                    call,
                    self.prompt.text,
                    user,
                    shared,
                    sample,
                    schema,
                    needs_temperature=self.needs_temperature,
                ),
                read,
                meter,
            )
            for sample in range(self.samples.count)
        ]


def begun(calls: Iterable[Call[T]]) -> Iterator[Awaitable[T]]:
    """Begin calls, each as it is taken."""
    return (call() for call in calls)


def results(ended: Iterable[T | BaseException]) -> list[T]:
    """The results of works gathered with `return_exceptions`; the first fault is raised.

    Works that are gathered so all end before one's fault is raised: a pending call is paid for,
    and its answer is kept for the next attempt.
    """
    done: list[T] = []
    for result in ended:
        if isinstance(result, BaseException):
            raise result
        done.append(result)
    return done
