"""The texts of outputs; of the answer of a language model only what it wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from veritrail_graph.graph.importers.traces import parts, streams
from veritrail_graph.graph.importers.traces.texts import (
    DOCUMENTS,
    NAMING,
    InnerText,
    everything,
    is_said,
    unfold,
)


def of_output(value: Any) -> Iterator[InnerText]:
    """The texts of an output; of a language model's answer only what it wrote."""
    return filter(is_said, everything_of_output(value))


def everything_of_output(value: Any, *, by_model: bool = False) -> Iterator[InnerText]:
    """The texts of an output as `of_output` finds them, with thoughts and what has no text.

    Args:
        value: The output.
        by_model: Whether a model wrote it: then a list of texts may be a stream of one.
    """
    if isinstance(value, str):
        inner = unfold(value)
        if isinstance(inner, list) or (isinstance(inner, dict) and answers_of(inner) is not None):
            value = inner
    if isinstance(value, dict):
        answers = answers_of(value)
        value = value if answers is None else answers
    own = value
    if isinstance(value, dict):
        held = [one for name, one in value.items() if parts.plain(name) not in NAMING]
        own = held[0] if len(held) == 1 else value
        names = [name for name in value if parts.plain(name) not in NAMING]
        if len(names) == 1 and parts.plain(names[0]) in DOCUMENTS:
            own = None
    whole = streams.joined_texts(own, by_model=by_model) if isinstance(own, list) else None
    return everything(value if whole is None else whole)


def answers_of(value: Mapping[str, Any]) -> Any:
    """Return what a model wrote, in an answer as its vendor gives it; None: it is none."""
    if isinstance(value.get("generations"), list):
        return value["generations"]  # of LangChain
    if isinstance(value.get("choices"), list):
        return streams.joined([value]) or value["choices"]  # of OpenAI
    if isinstance(value.get("candidates"), list):  # of Gemini
        listed = [one for one in value["candidates"] if isinstance(one, dict)]
        contents = [one.get("content") for one in listed]
        return [{"role": "assistant", **one} if isinstance(one, dict) else one for one in contents]
    if isinstance(value.get("combined_chunk_content"), str):
        return {"role": "assistant", "content": value["combined_chunk_content"]}  # of Logfire
    if value.get("object") == "response":
        return value.get("output")
    output = value.get("output")
    if isinstance(output, dict) and isinstance(output.get("message"), dict):
        return output["message"]  # of Bedrock
    message = value.get("message")
    if isinstance(message, dict) and "role" in message and ("done" in value or len(value) > 1):
        return message  # of Ollama, of Cohere
    if isinstance(value.get("done"), bool) and isinstance(value.get("response"), str):
        return {"role": "assistant", "content": value["response"],
                "reasoning_content": value.get("thinking")}  # fmt: skip
    return output if set(value) <= {"output"} else None


def with_thoughts(every: Sequence[InnerText]) -> tuple[list[InnerText], list[InnerText]]:
    """Return what is said of some texts, and the thoughts that stand before no answer.

    Those before what a model said are known of it.
    """
    found: list[InnerText] = []
    thoughts: list[InnerText] = []
    left: list[InnerText] = []
    for one in every:
        if one.role == "thought":
            thoughts.append(one)
        if not is_said(one):
            continue
        if thoughts and one.role in ("assistant", "call"):
            thought = "\n".join(each.text for each in thoughts)
            one, thoughts = replace(one, about={**(one.about or {}), "thought": thought}), []
        left, thoughts = [*left, *thoughts], []
        found.append(one)
    return found, [*left, *thoughts]
