"""What every engine says of itself that compares words and asks no model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class ByWords:
    """An engine by overlap of words, numbers and names; its answers are indicative only.

    Attributes:
        version: The version of its rules, which decides its answers; nothing can be set.
    """

    __slots__ = ()

    version: ClassVar[int]

    @property
    def name(self) -> str:
        """Name of the engine."""
        return "lexical"

    @property
    def model(self) -> str | None:
        """None: it asks no model."""
        return None

    @property
    def indicative(self) -> bool:
        """True: it knows no meaning."""
        return True

    @property
    def settings(self) -> Mapping[str, Any]:
        """The version of the rules."""
        return {"version": self.version}
