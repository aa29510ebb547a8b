"""Lists of what a person said and what a model answered: `[{"user": …, "ai": …}]`."""

from __future__ import annotations

from typing import Any

from veritrail_graph.graph.importers.conversations.exported import Exported

_ASKED = ("user", "human")
_SAID = ("ai", "assistant", "bot")
_BESIDES = {"id", "timestamp", "time", "date", "created_at", "session_id"}
"""What may stand beside a pair; a record of more keys may mean the name of a user or a model."""


def of_pairs(value: Any) -> Exported | None:
    """Return the conversation of a list of pairs, or of a single one."""
    pairs = value if isinstance(value, list) else [value]
    messages: list[dict[str, Any]] = []
    for one in pairs:
        if not isinstance(one, dict):
            return None
        by_name = {str(name).lower(): said for name, said in one.items()}
        asked = next((name for name in _ASKED if name in by_name), None)
        said = next((name for name in _SAID if name in by_name), None)
        if asked is None or said is None or by_name.keys() - {asked, said, *_BESIDES}:
            return None
        texts = by_name[asked], by_name[said]
        if not all(text is None or isinstance(text, str) for text in texts):
            return None
        for role, text in zip(("user", "assistant"), texts, strict=True):
            messages += [{"role": role, "content": text}] if text and text.strip() else []
    return Exported(messages, {}, is_chat=True) if messages else None
