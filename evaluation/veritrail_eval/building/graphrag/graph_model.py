"""The model that is asked in the steps of GraphRAG, and what fits into its prompts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from veritrail_eval.building.asking import ask, lines_of
from veritrail_eval.building.chunks import Encoding, token_chunks
from veritrail_eval.building.graphrag.sizes import QUESTION_TOKENS, Sizes, sizes_of
from veritrail_eval.building.options import GraphRagOptions
from veritrail_eval.building.steps import BuildStep
from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.models.port import Meter, ModelError, NeverValid
from veritrail_graph.verifier.prompted import PromptedStep, results

AT_ONCE = 16
"""Calls side by side; the model's own limit is what bounds them."""
WORDS_A_TOKEN = 0.75
_LONGEST_MARK = "relationship 999999"
_STEPS = (
    BuildStep.GRAPH_EXTRACTION,
    BuildStep.DESCRIPTION_SUMMARY,
    BuildStep.COMMUNITY_REPORT,
    BuildStep.MAP_ANSWER,
    BuildStep.REDUCE_ANSWER,
)

Item = TypeVar("Item")
Made = TypeVar("Made")


class NothingFound(ModelError):
    """The model answered, and found nothing to go on with."""

    code = "nothing_found"


@dataclass
class GraphModel:
    """Asks in the steps of GraphRAG.

    Attributes:
        step_of: Gives each step with its prompt and its model.
        options: How an answer is made.
        meter: Records every call.
        on_text: Called for each finished text: what it is, how many are done, and of how many.
    """

    step_of: Callable[[BuildStep], PromptedStep]
    options: GraphRagOptions
    meter: Meter
    on_text: Callable[[str, int, int], None] = lambda _what, _done, _total: None

    def __post_init__(self) -> None:
        """See that the sizes go together.

        Raises:
            InputError: They do not.
        """
        self.encoding = Encoding(self.options.encoding)
        self.steps = {one: self.step_of(one) for one in _STEPS}
        instructions = {one: self.encoding.count(self.steps[one].prompt.text) for one in _STEPS}
        self.sizes: Sizes = sizes_of(self.options, instructions)
        token_chunks(
            "", self.options.chunk_tokens, self.options.overlap_tokens, encoding=self.encoding
        )

    def check(self, question: str) -> None:
        """See that a question can be asked.

        Raises:
            InputError: It is empty or too long.
        """
        if not question.strip():
            raise InputError("A question is empty.")
        if (found := self.encoding.count(question)) > QUESTION_TOKENS:
            raise InputError(
                f"A question of {found:,} tokens is too long; it may have {QUESTION_TOKENS:,}."
            )

    def size(self, text: str) -> int:
        """Tokens of a text as a prompt shows it, at most."""
        return self.encoding.count("\n".join(lines_of(_LONGEST_MARK, text))) + 1

    def made_by(self, step: BuildStep) -> dict[str, Any]:
        """The metadata that says which model wrote a text, and with which prompt."""
        return {"model": self.steps[step].model.model, "prompt": self.steps[step].prompt.name}

    async def ask(
        self,
        step: BuildStep,
        where: str,
        lines: Sequence[str],
        read: Callable[[Mapping[str, Any]], Made],
    ) -> Made:
        """Ask until there is a valid answer.

        Args:
            step: The step.
            where: What it is asked about, for messages.
            lines: The user message.
            read: Reads the JSON object of an answer.

        Raises:
            ModelError: There is no valid answer.
        """
        try:
            return await ask(self.steps[step], "\n".join(lines), read, self.meter)
        except NeverValid as error:
            raise NeverValid(f"{where}: {error}") from None

    async def each(
        self, what: str, items: Sequence[Item], work: Callable[[Item], Awaitable[Made]]
    ) -> list[Made]:
        """Work on all items side by side; the first fault is raised when all have ended."""
        slots = asyncio.Semaphore(AT_ONCE)
        done = 0
        self.on_text(what, 0, len(items))

        async def one(item: Item) -> Made:
            nonlocal done
            async with slots:
                made = await work(item)
            done += 1
            self.on_text(what, done, len(items))
            return made

        return results(await asyncio.gather(*map(one, items), return_exceptions=True))


def limit(tokens: int) -> str:
    """The line that says how long a text may be."""
    return f"Limit: {int(tokens * WORDS_A_TOKEN)} words"
