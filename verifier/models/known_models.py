"""The models that the program knows by name, in one table beside `genai-prices`.

A row holds for every model whose name begins with it; what a longer row leaves open, a shorter one
says. Context windows come from `genai-prices` where it has the very model. What is not in the table
is learned from the endpoint's answers.

Source: ours; docs/adr/0069-known-models.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from datetime import date
from enum import StrEnum
from functools import lru_cache
from typing import Any

KEPT = 1_024  # models whose row is remembered
_DATE = re.compile(r"-(20\d\d-?\d\d-?\d\d)$")


class Effort(StrEnum):
    """An amount of reasoning before an answer, from nothing to all that a model can."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class Warmth(StrEnum):
    """The conditions under which a model takes a temperature."""

    ALWAYS = "always"
    UNREASONED = "unreasoned"
    """Only with the effort `none`; while it reasons, it takes 1 alone."""
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class KnownModel:
    """The facts about models whose names begin in one way; None: not known.

    Attributes:
        begins: The beginning of their names, or a whole name.
        maker: Who alone offers them, as `genai-prices` calls it; None: anybody may.
        context_tokens: The context window.
        tokenizer: How their texts are counted.
        reasons: Whether they reason where no effort is asked for.
        warmth: Whether they take a temperature.
        retired: The day from which the maker does not answer for them, as announced.
        instead: The model to name in their place.
    """

    begins: str = ""
    maker: str | None = None
    context_tokens: int | None = None
    tokenizer: str | None = None
    reasons: bool | None = None
    warmth: Warmth | None = None
    retired: date | None = None
    instead: str | None = None

    def asked(
        self, temperature: float | None, effort: str | None
    ) -> tuple[float | None, str | None]:
        """Return the temperature and the effort that are worth asking for.

        A temperature that the model takes only without reasoning asks for the effort `none`, where
        no effort is wished; one that it does not take is left out.

        Args:
            temperature: The temperature that is wished; None: the model's own.
            effort: The effort that is wished; None: what goes with the temperature.
        """
        if temperature is None or self.warmth in (None, Warmth.ALWAYS):
            return temperature, effort
        if self.warmth is Warmth.NEVER:
            return None, effort
        if temperature == 1:
            return temperature, effort
        if effort is None and self.reasons:
            return temperature, Effort.NONE.value
        return (temperature if effort in (None, Effort.NONE) else None), effort


def _row(begins: str, retired: str = "", instead: str | None = None, **known: Any) -> KnownModel:
    day = date.fromisoformat(retired) if retired else None
    return KnownModel(begins, retired=day, instead=instead, **known)


_CL100K, _O200K = "cl100k_base", "o200k_base"
_GPT4_END, _GPT4O_END, _GPT5_END = "2026-10-23", "2027-01-14", "2026-12-11"
_LUNA, _TERRA, _SOL = "gpt-6-luna", "gpt-6.1-terra", "gpt-6.1-sol"
_HAIKU, _SONNET, _OPUS = "claude-haiku-5-5", "claude-sonnet-5-5", "claude-opus-5-5"
_OPENAI: dict[str, Any] = {"maker": "openai"}
_REASONING: dict[str, Any] = {
    "maker": "openai",
    "tokenizer": _O200K,
    "reasons": True,
    "warmth": Warmth.NEVER,
}
_CLAUDE_5: dict[str, Any] = {"context_tokens": 1_000_000, "warmth": Warmth.NEVER}
_GEMINI: dict[str, Any] = {"context_tokens": 1_048_576}

TABLE = (
    # OpenAI: developers.openai.com/api/docs/deprecations, read in November 2026.
    _row("gpt-3.5", _GPT4_END, _LUNA, tokenizer=_CL100K, context_tokens=16_385, **_OPENAI),
    _row("gpt-4", _GPT4_END, _SOL, tokenizer=_CL100K, context_tokens=8_192, **_OPENAI),
    _row("gpt-4-32k", _GPT4_END, _SOL),
    _row("gpt-4-turbo", _GPT4_END, _SOL, context_tokens=128_000),
    _row("gpt-4-1106", _GPT4_END, _SOL, context_tokens=128_000),
    _row("gpt-4-0125", _GPT4_END, _SOL, context_tokens=128_000),
    _row("gpt-4o", _GPT4O_END, _LUNA, tokenizer=_O200K, context_tokens=128_000, **_OPENAI),
    _row("gpt-4o-2024-05-13", _GPT4_END, _LUNA),
    _row("chatgpt-4o", "2026-02-17", _LUNA, tokenizer=_O200K, **_OPENAI),
    _row("gpt-4.1", _GPT4O_END, _LUNA, tokenizer=_O200K, context_tokens=1_000_000, **_OPENAI),
    _row("gpt-4.1-nano", _GPT4_END, _LUNA),
    _row("gpt-5", _GPT5_END, _SOL, context_tokens=400_000, **_REASONING),
    _row("gpt-5-mini", _GPT5_END, _TERRA),
    _row("gpt-5-nano", _GPT5_END, _LUNA),
    _row("gpt-5-chat", "2026-07-23", _SOL, warmth=Warmth.ALWAYS),
    _row("gpt-5-codex", "2026-07-23", _SOL),
    _row("gpt-5.1", "2027-04-01", _SOL, reasons=False, warmth=Warmth.UNREASONED),
    _row("gpt-5.1-chat", "2026-07-23", _SOL),
    _row("gpt-5.1-codex", "2026-07-23", _SOL),
    _row("gpt-5.2", reasons=False, warmth=Warmth.UNREASONED),
    _row("gpt-5.2-codex", "2026-07-23", _SOL),
    _row("gpt-5.2-chat", "2026-08-10", _SOL),
    _row("gpt-5.3"),
    _row("gpt-5.3-chat", "2026-08-10", _SOL),
    _row("gpt-5.3-codex", "2027-04-01", _SOL),
    _row("gpt-5.4", reasons=False, warmth=Warmth.UNREASONED),
    _row("gpt-5.4-nano", "2027-04-01", _LUNA),
    _row("gpt-5.5", warmth=Warmth.UNREASONED),
    _row("gpt-5.6", warmth=Warmth.UNREASONED),
    _row(
        "gpt-6",
        maker="openai",
        context_tokens=1_050_000,
        tokenizer=_O200K,
        reasons=True,
        warmth=Warmth.UNREASONED,
    ),
    _row("o1", _GPT4_END, _SOL, context_tokens=200_000, **_REASONING),
    _row("o1-mini", "2025-10-27", _LUNA),
    _row("o1-preview", "2025-07-28", _SOL),
    _row("o3", _GPT5_END, _SOL, context_tokens=200_000, **_REASONING),
    _row("o3-mini", _GPT4_END, _LUNA),
    _row("o4", context_tokens=200_000, **_REASONING),
    _row("o4-mini", _GPT4_END, _TERRA),
    _row("text-embedding-3", **_OPENAI),
    # A decision model of TypeSafe: the limit of a text with its longest question.
    _row("jev", maker="typesafe", context_tokens=32_000),
    # Anthropic: platform.claude.com, page of deprecations and guides to the models.
    _row("claude", maker="anthropic"),
    _row("claude-2", "2025-07-21", _SONNET),
    _row("claude-3", context_tokens=200_000),
    _row("claude-3-5-sonnet", "2025-10-28", _SONNET),
    _row("claude-3-opus", "2026-01-05", _OPUS),
    _row("claude-3-sonnet", "2025-07-21", _SONNET),
    _row("claude-haiku-4", context_tokens=200_000),
    _row("claude-sonnet-4", context_tokens=200_000),
    _row("claude-sonnet-4-0", "2026-06-15", _SONNET),
    _row("claude-sonnet-4-20250514", "2026-06-15", _SONNET),
    _row("claude-opus-4", context_tokens=200_000),
    _row("claude-opus-4-0", "2026-06-15", _OPUS),
    _row("claude-opus-4-20250514", "2026-06-15", _OPUS),
    _row("claude-opus-4-7", warmth=Warmth.NEVER),
    _row("claude-opus-4-8", warmth=Warmth.NEVER),
    _row("claude-haiku-5", reasons=True, **_CLAUDE_5),
    _row("claude-sonnet-5", reasons=True, **_CLAUDE_5),
    _row("claude-opus-5", **_CLAUDE_5),
    _row("claude-fable-5", context_tokens=1_000_000),
    _row("claude-mythos-5", context_tokens=1_000_000),
    # Google: ai.google.dev/gemini-api/docs/deprecations.
    _row("gemini", maker="google"),
    _row("gemini-2.0", "2026-06-01", "gemini-3.8-flash"),
    _row("gemini-2.5", **_GEMINI),
    _row("gemini-2.5-flash", "2026-12-01", "gemini-3.5-flash-lite"),
    _row("gemini-2.5-flash-lite"),
    _row("gemini-2.5-pro", "2026-12-01", "gemini-3.8-flash"),
    _row("gemini-3", **_GEMINI),
    _row("gemini-4", **_GEMINI),
    # Weights that anybody may run; the makers' own names are in `genai-prices`.
    _row("llama-3.1", context_tokens=131_072),
    _row("llama-3.3", context_tokens=131_072),
    _row("mistral-large", context_tokens=128_000),
)
_OPEN_MAKERS = ("mistral", "deepseek", "x-ai", "moonshotai", "zai", "cohere")
"""Makers whose windows hold for a model of that very name, wherever it runs."""


def bare_name(model: str) -> str:
    """Return a model's name without the provider before it."""
    return model.lower().rpartition("/")[2]


@lru_cache(KEPT)
def known_model(model: str) -> KnownModel:
    """Return what the table knows of a model; all of it is None where that is nothing.

    Args:
        model: Its name, also with a provider before it.
    """
    name = bare_name(model)
    found = KnownModel()
    for row in sorted(TABLE, key=lambda row: len(row.begins)):
        if not _begins(name, row.begins):
            continue
        given = {one.name: getattr(row, one.name) for one in fields(KnownModel)}
        known = {key: value for key, value in given.items() if value is not None}
        # A family ends as a whole only where each of its rows says so.
        found = replace(found, **{"retired": None, "instead": None, **known})
    return found


def _begins(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith((f"{prefix}-", f"{prefix}:", f"{prefix}."))


@lru_cache(KEPT)
def context_window(model: str) -> int | None:
    """Context window of a model in tokens, or None where it is not known."""
    return _published_window(bare_name(model)) or known_model(model).context_tokens


def _published_window(name: str) -> int | None:
    """Return the window that `genai-prices` has for the very model of a maker."""
    from genai_prices.data_snapshot import get_snapshot

    maker = known_model(name).maker
    exact = {name, _DATE.sub("", name)}
    for provider in get_snapshot().providers:
        if provider.id != maker and (maker is not None or provider.id not in _OPEN_MAKERS):
            continue
        for found in provider.models:
            if found.context_window and (found.id in exact or found.is_match(name)):
                return int(found.context_window)
    return None


def retirement_warning(model: str, today: date) -> str | None:
    """Return what to say of a model whose end is announced or past; None: nothing.

    Args:
        model: Its name.
        today: The day of the run.
    """
    known = known_model(model)
    if known.retired is None:
        return None
    day = f"{known.retired.day} {known.retired:%B %Y}"
    ends = f"its maker retired it on {day}" if known.retired <= today else f"it ends on {day}"
    return f"{model}: {ends}; name {known.instead} in its place"
