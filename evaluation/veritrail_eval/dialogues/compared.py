"""The methods that are compared on labelled turns, by name.

Source: VISTA 6.1 (the comparison), 6.2 (majority), 6.3 (ablations).
"""

from __future__ import annotations

from enum import StrEnum


class DialogueMethod(StrEnum):
    """A method that labels turns. Source: VISTA 6.1, 6.2."""

    VISTA = "vista"
    FACTSCORE = "factscore"
    JUDGE = "judge"
    MAJORITY = "majority"


class Ablation(StrEnum):
    """An ablation: a part that is left out of VISTA. Source: VISTA 6.3; `binary` is ours."""

    NO_BACKGROUND = "no-background"
    NO_HISTORY = "no-history"
    ZERO_SHOT = "zero-shot"
    BINARY = "binary"
