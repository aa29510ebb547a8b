"""Lines of input as statements and commands, cut where a person ends them."""

from __future__ import annotations

from dataclasses import dataclass, field

_QUOTES = "'\"`"
_ENDS = {"//": "\n", "/*": "*/"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A statement, or a command to the prompt (`:help`)."""

    text: str

    @property
    def is_command(self) -> bool:
        """Whether it is for the prompt and not for the engine."""
        return self.text.startswith(":")


@dataclass(slots=True)
class Splitter:
    """Cuts input into pieces, line by line.

    A statement ends at a `;` that stands neither in a string, nor in a name in backticks, nor in
    a comment; several may stand on a line. A command is the rest of a line that begins with `:`
    where a statement could begin.
    """

    _text: list[str] = field(default_factory=list)
    _has_code: bool = False
    _until: str = ""  # what ends the string or comment that is open

    @property
    def is_open(self) -> bool:
        """Whether a statement has been begun and not ended."""
        return self._has_code or bool(self._until)

    def feed(self, line: str) -> list[Piece]:
        """The pieces that end on this line."""
        found: list[Piece] = []
        line = line.rstrip("\r\n") + "\n"
        place = 0
        while place < len(line):
            if not self.is_open and line[place] == ":":
                found.append(Piece(line[place:].strip()))
                self._begin_anew()
                break
            if not self._until and line[place] == ";":
                found += self.rest()
                place += 1
            else:
                place += self._take(line, place)
        return found

    def rest(self) -> list[Piece]:
        """What has been begun, as if it ended here; nothing where there are only comments."""
        text = "".join(self._text).strip()
        has_code = self._has_code
        self._begin_anew()
        return [Piece(text)] if has_code else []

    def _begin_anew(self) -> None:
        self._text, self._has_code, self._until = [], False, ""

    def _take(self, line: str, place: int) -> int:
        """Take the next characters, and say how many."""
        if self._until:
            return self._take_inside(line, place)
        two = line[place : place + 2]
        if two in _ENDS:
            self._until = _ENDS[two]
            self._text.append(two)
            return 2
        char = line[place]
        if char in _QUOTES:
            self._until = char
        self._has_code = self._has_code or not char.isspace()
        self._text.append(char)
        return 1

    def _take_inside(self, line: str, place: int) -> int:
        if line.startswith(self._until, place):
            size = len(self._until)
            self._until = ""
        else:
            escapes = self._until in {"'", '"'} and line[place] == "\\"
            size = 2 if escapes else 1
        self._text.append(line[place : place + size])
        return size
