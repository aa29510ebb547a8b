"""The characters that the texts of an input hide from people but show to a model, by kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import shown
from veritrail_graph.graph.unseen import Unseen, counts

MOST_NAMED = 20
"""Places that a warning names; of more it says how many there are."""


@dataclass(slots=True)
class _Places:
    """The places of the characters of one kind."""

    characters: int = 0
    texts: int = 0
    names: list[str] = field(default_factory=list)


@dataclass(slots=True)
class HiddenCharacters:
    """The characters of many texts that a person does not see.

    Attributes:
        of: What has the texts, such as `node`.
    """

    of: str
    _found: dict[Unseen, _Places] = field(default_factory=dict)

    def add(self, name: str, text: str) -> None:
        """Look through a text."""
        if text.isascii():
            return
        for kind, number in counts(text).items():
            places = self._found.setdefault(kind, _Places())
            places.characters += number
            places.texts += 1
            if len(places.names) < MOST_NAMED:
                places.names.append(name)

    def warnings(self) -> Iterator[str]:
        """A line for each kind: how many there are, and where."""
        for kind in Unseen:
            if (places := self._found.get(kind)) is None:
                continue
            names = ", ".join(map(shown, places.names))
            more = places.texts - len(places.names)
            yield (
                f"{counted(places.characters, kind.value)}, which a model reads and a person does "
                f"not see, in {counted(places.texts, self.of)}: {names}"
                + (f" and {more:,} more" if more else "")
            )
