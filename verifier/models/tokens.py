"""How many tokens a text is: counted where the tokenizer is at hand, else a safe estimate.

Tokenizers are never downloaded: `rs-bpe`, an optional package, carries its tables with it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

from veritrail_graph.verifier.models.guessing import estimate as estimate

# What a model's name begins with, and its context window in tokens.
WINDOWS = {
    "gpt-3.5-turbo": 16_385,
    "gpt-4": 8_192,
    "gpt-4-32k": 32_768,
    "gpt-4-turbo": 128_000,
    "gpt-4-1106": 128_000,
    "gpt-4-0125": 128_000,
    "gpt-4o": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-5": 400_000,
    "o1": 200_000,
    "o1-mini": 128_000,
    "o1-preview": 128_000,
    "o3": 200_000,
    "o4-mini": 200_000,
    "claude-3": 200_000,
    "claude-sonnet-4": 200_000,
    "claude-opus-4": 200_000,
    "claude-haiku-4": 200_000,
    "gemini-1.5-flash": 1_048_576,
    "gemini-2.0-flash": 1_048_576,
    "gemini-2.5": 1_048_576,
    "llama-3.1": 131_072,
    "llama-3.3": 131_072,
    "mistral-large": 128_000,
}
_O200K = ("gpt-4o", "gpt-4.1", "gpt-5", "o1", "o3", "o4", "chatgpt-4o")
_CL100K = ("gpt-4", "gpt-3.5")


def context_window(model: str) -> int | None:
    """Context window of a model in tokens, or None where it is not known for sure."""
    name = _bare(model)
    known = [prefix for prefix in WINDOWS if _begins(name, prefix)]
    return WINDOWS[max(known, key=len)] if known else None


def counter(model: str) -> Callable[[str], int]:
    """What counts the tokens of a text for a model."""
    name = _bare(model)
    if any(_begins(name, prefix) for prefix in _O200K):
        return _tokenizer("o200k_base") or estimate
    if any(_begins(name, prefix) for prefix in _CL100K):
        return _tokenizer("cl100k_base") or estimate
    return estimate


@cache
def _tokenizer(name: str) -> Callable[[str], int] | None:
    """The count of a tokenizer of the optional package; None where it is not installed."""
    try:
        tokenizers: Any = importlib.import_module("rs_bpe").openai
    except ImportError:
        return None
    count: Callable[[str], int] = getattr(tokenizers, name)().count
    return count


def _bare(model: str) -> str:
    """A model's name without the provider before it."""
    return model.lower().rpartition("/")[2]


def _begins(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith((f"{prefix}-", f"{prefix}:", f"{prefix}."))
