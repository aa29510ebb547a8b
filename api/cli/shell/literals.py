"""Literals of Cypher as values: what a `:param` line may say."""

from __future__ import annotations

import re
from typing import Any

_NAME = r"[A-Za-z_]\w*"
_PARAM = re.compile(rf"(?P<name>{_NAME}|`[^`]+`)\s*(?:=>|:)\s*(?P<value>.+)", re.DOTALL)
_BLANK = re.compile(r"\s*")
_KEY = re.compile(rf"({_NAME})|`((?:[^`]|``)+)`")
_NUMBER = re.compile(
    r"-?(?:0x[0-9a-fA-F]+|0o[0-7]+|(?:\d+\.\d+|\.\d+|\d+)(?:[eE][+-]?\d+)?)(?![\w.])"
)
_WORD = re.compile(_NAME)
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "'": "'", '"': '"', "`": "`"}
_ESCAPES["\\"] = "\\"
_STRING_PART = re.compile(r"\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|\\(.)|([^\\])", re.DOTALL)
_LARGEST = 2**63
_DEEPEST = 50


class LiteralError(ValueError):
    """A text is no literal; the message says what is wrong, and where."""


def read_parameters(text: str) -> dict[str, Any]:
    """Parameters from what stands behind `:param`: `name => value`, or a map of several.

    Raises:
        LiteralError: It is neither.
    """
    text = text.strip().removesuffix(";").strip()
    if text.startswith("{"):
        value = read_literal(text)
        return dict(value)
    match = _PARAM.fullmatch(text)
    if match is None:
        raise LiteralError("write `:param name => value`, or `:param {name: value}`")
    return {match["name"].strip("`"): read_literal(match["value"])}


def read_literal(text: str) -> Any:
    """The value of a literal: string, number, boolean, null, list or map.

    Raises:
        LiteralError: It is none.
    """
    reader = _Reader(text)
    value = reader.value(0)
    reader.skip_blank()
    if reader.place < len(text):
        raise reader.fault("nothing more was expected")
    return value


class _Reader:
    """Reads a literal from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0

    def fault(self, what: str) -> LiteralError:
        rest = self.text[self.place : self.place + 20]
        where = f"at {rest!r}" if rest else "at the end"
        return LiteralError(f"{what}, {where} (character {self.place + 1})")

    def skip_blank(self) -> None:
        match = _BLANK.match(self.text, self.place)
        self.place = match.end() if match else self.place

    def value(self, depth: int) -> Any:
        self.skip_blank()
        first = self.text[self.place : self.place + 1]
        if depth > _DEEPEST:
            raise self.fault("lists and maps are nested too deep")
        if first and first in "'\"":
            return self._string(first)
        if first == "[":
            return self._list(depth)
        if first == "{":
            return self._map(depth)
        if match := _NUMBER.match(self.text, self.place):
            return self._number(match)
        if match := _WORD.match(self.text, self.place):
            word = match[0].lower()
            if word in _WORDS:
                self.place = match.end()
                return _WORDS[word]
        raise self.fault(
            "a string in quotes, a number, true, false, null, a list or a map was expected"
        )

    def _number(self, match: re.Match[str]) -> int | float:
        self.place = match.end()
        text = match[0].lower()
        digits = text.lstrip("-")
        if digits.startswith(("0x", "0o")):
            value = int(text, 16 if digits[1] == "x" else 8)
        elif re.search(r"[.e]", digits):
            return float(text)
        else:
            value = int(text)
        if not -_LARGEST <= value < _LARGEST:
            self.place = match.start()
            raise self.fault("an integer has at most 64 bits")
        return value

    def _string(self, quote: str) -> str:
        begin, self.place = self.place, self.place + 1
        parts: list[str] = []
        while not self.text.startswith(quote, self.place):
            match = _STRING_PART.match(self.text, self.place)
            if match is None:
                self.place = begin
                raise self.fault("a string is not closed")
            parts.append(self._part(match))
            self.place = match.end()
        self.place += 1
        return _joined("".join(parts))

    def _part(self, match: re.Match[str]) -> str:
        code = match[1] or match[2]
        if code is not None:
            if int(code, 16) > 0x10FFFF:
                raise self.fault("there is no such character")
            return chr(int(code, 16))
        if match[3] is None:
            return match[4]
        if match[3] not in _ESCAPES:
            raise self.fault("there is no such escape")
        return _ESCAPES[match[3]]

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.place += 1
        while not self._closes("]", first=not found):
            found.append(self.value(depth + 1))
        return found

    def _map(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.place += 1
        while not self._closes("}", first=not found):
            self.skip_blank()
            match = _KEY.match(self.text, self.place)
            if match is None:
                raise self.fault("a name was expected")
            self.place = match.end()
            self._expect(":")
            found[match[1] or match[2].replace("``", "`")] = self.value(depth + 1)
        return found

    def _closes(self, bracket: str, *, first: bool) -> bool:
        """Whether the list or map ends here; steps over the comma before the next item."""
        self.skip_blank()
        if self.text.startswith(bracket, self.place):
            self.place += 1
            return True
        if not first:
            self._expect(",")
        return False

    def _expect(self, sign: str) -> None:
        self.skip_blank()
        if not self.text.startswith(sign, self.place):
            raise self.fault(f"{sign!r} was expected")
        self.place += 1


def _joined(text: str) -> str:
    """Two escapes of one character (a surrogate pair) as that character."""
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise LiteralError("half a character (a lone surrogate) is no text") from None
