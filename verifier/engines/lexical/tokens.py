"""A text as a row of words, numbers and marks."""

from __future__ import annotations

import re

from veritrail_graph.verifier.engines.lexical import vocabulary as words

_TOKEN = re.compile(
    r"(?P<number>[$€£¥]?\d[\d,]*(?<!,)(?:\.\d+)?(?::\d\d)?[a-z]{0,2}(?![^\W_])%?)"
    r"|(?P<word>[^\W_]+(?:['\u2019][^\W\d_]+)*)"
    r"|(?P<mark>[\[\].,;:!?()\u2013\u2014\u201c\"])"
)
_GAPS_IN_A_NAME = frozenset((" ", "-", "\n", ". ", "\u00a0", "&", " & ", "' ", "\u2019 "))


class Tokens:
    """The tokens of a text by position; positions outside of it are empty words."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found = [
            (str(match.lastgroup), match.group(), match.start(), match.end())
            for match in _TOKEN.finditer(text)
        ]
        capitals = [token[0].isupper() for kind, token, _, _ in self._found if kind == "word"]
        # In a heading capitals say nothing about names.
        self._has_case = sum(capitals) <= 0.6 * len(capitals) or len(capitals) < 4

    def __len__(self) -> int:
        return len(self._found)

    def kind(self, position: int) -> str:
        """`number`, `word` or `mark`; "" where there is no token."""
        return self._found[position][0] if 0 <= position < len(self._found) else ""

    def form(self, position: int) -> str:
        """The token as it is written."""
        return self._found[position][1] if 0 <= position < len(self._found) else ""

    def lower(self, position: int) -> str:
        """The token in lower case, without a possessive."""
        return self.form(position).casefold().replace("\u2019", "'").removesuffix("'s")

    def surface(self, position: int, behind: int) -> str:
        """The text from one token to just before another."""
        return self._text[self._found[position][2] : self._found[behind - 1][3]]

    def adjacent(self, position: int) -> bool:
        """Whether only a space, a hyphen or an initial's dot parts this token from the next."""
        if not 0 <= position < len(self._found) - 1:
            return False
        gap = self._text[self._found[position][3] : self._found[position + 1][2]]
        return gap in _GAPS_IN_A_NAME

    def hyphenated(self, position: int) -> bool:
        """Whether a hyphen joins this token to a word behind it."""
        if self.kind(position + 1) != "word":
            return False
        return self._text[self._found[position][3] : self._found[position + 1][2]] == "-"

    def is_capitalised(self, position: int) -> bool:
        """Whether a content word is here, with a capital that can mean a name."""
        return (
            self._has_case
            and self.kind(position) == "word"
            and self.form(position)[0].isupper()
            and (self.lower(position) not in words.STOP or self.form(position) == "May")
        )
