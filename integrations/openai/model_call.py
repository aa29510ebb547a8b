"""A call of a client: searched before it is made, recorded when its answer is there."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Mapping
from typing import Any, ClassVar

from veritrail_graph.integrations.calls import AsyncRelay, Call, Guard, Pieces, Relay


class ModelCall(Call):
    """A call of a method `create`.

    Attributes:
        asks: The argument that holds what the model is given.
        answers: The field of an answer that holds what the model wrote.
    """

    __slots__ = ()
    asks: ClassVar[str]
    answers: ClassVar[str]

    def search(self, arguments: Mapping[str, Any]) -> None:
        """Find the inputs of the call, and record what of them is new."""
        with Guard(self.run, "openai", "messages could not be searched"):
            self.find(arguments)

    async def awaited(self, result: Awaitable[Any]) -> Any:
        """Record a result when it is there."""
        return self.ended(await result)

    def ended(self, result: Any) -> Any:
        """Record a result, or the pieces of a stream as they come."""
        if hasattr(result, self.answers):
            with Guard(self.run, "openai", "an answer could not be recorded"):
                self.answer(result)
        elif hasattr(result, "__aiter__"):
            return AsyncRelay(result, self.pieces())
        elif hasattr(result, "__next__"):
            return Relay(result, self.pieces())
        else:  # such as a raw response
            message = "a %s of the model was not recorded"
            self.run.faults.log("openai", message, type(result).__name__)
        return result

    @abstractmethod
    def find(self, arguments: Mapping[str, Any]) -> None:
        """Read what the model is given."""

    @abstractmethod
    def answer(self, result: Any) -> None:
        """Record what the model wrote."""

    @abstractmethod
    def pieces(self) -> Pieces:
        """What collects a streamed answer."""
