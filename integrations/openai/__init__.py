"""Record what a client of the package `openai` is answered: `instrument(OpenAI())`.

The calls of `chat.completions.create` and `responses.create` are recorded in the recording of
their context, plain, awaited and streamed. Without a recording they are left alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar

from veritrail_graph.api.recorder import current
from veritrail_graph.integrations.openai.chat import ChatCall
from veritrail_graph.integrations.openai.model_call import ModelCall
from veritrail_graph.integrations.openai.responses import ResponseCall

__all__ = ["instrument"]

C = TypeVar("C")

_MARK = "__veritrail_recorded__"


def instrument(client: C, *, step: str = "chat") -> C:
    """Record the answers to a client, `OpenAI` or `AsyncOpenAI`, from now on.

    Chat completions and responses are recorded. What the model writes is a node; so is each call
    of a tool that it asks for. Its inputs are the recorded texts in the messages: whole messages,
    and texts of 24 characters or more within a message; results of tools and earlier responses
    are also found by their ids. Results of tools that were not recorded before become source
    text, other messages of a user or the model become nodes without inputs, which support
    nothing; instructions of the system become none.

    Args:
        client: The client.
        step: The name of the step.

    Returns:
        The same client. A copy, as `with_options` makes one, is to be instrumented again.
    """
    _record(client.chat.completions, ChatCall, step)  # type: ignore[attr-defined]
    responses = getattr(client, "responses", None)  # not every server's client has them
    if responses is not None:
        _record(responses, ResponseCall, step)
    return client


def _record(resource: Any, kind: type[ModelCall], step: str) -> None:
    if not hasattr(resource.create, _MARK):
        resource.create = _recorded(resource.create, kind, step)


def _recorded(create: Callable[..., Any], kind: type[ModelCall], step: str) -> Callable[..., Any]:
    @wraps(create)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        run = current()
        if run is None:
            return create(*args, **kwargs)
        if isinstance(kwargs.get(kind.asks), Iterator):  # it can be read once only
            kwargs[kind.asks] = list(kwargs[kind.asks])
        call = kind(run, step, str(kwargs.get("model") or ""))
        call.search(kwargs)
        result = create(*args, **kwargs)
        return call.awaited(result) if inspect.isawaitable(result) else call.ended(result)

    setattr(recorded, _MARK, True)
    return recorded
