"""Lists that a table holds as text: as JSON, as Python prints them, and as numpy prints arrays."""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import Any

_ARRAY = re.compile(r"(?:np\.|numpy\.)?array\(")
_DTYPE = re.compile(r",\s*dtype=")
_STRING = re.compile(
    r"""[uU]?(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")""",
    re.DOTALL,
)
_BETWEEN = re.compile(r"\s*,\s*|\s+")


def unfolded(text: str) -> Any:
    """The list that a text is; None for a blank text, and the text itself where it is none."""
    bare = text.strip()
    if not bare:
        return None
    array = _in_array(bare)
    if array is not None:
        bare = array.strip()
    if bare[:1] != "[" or bare[-1:] != "]":
        return text
    # Python itself would glue the texts of an array, between which numpy prints no comma.
    for read in (json.loads, _strings, _literal):
        try:
            value = read(bare)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(value, list):
            return value
    return text


def looks_like_list(text: str) -> bool:
    """Whether a text has the brackets of a list, or of an array."""
    bare = text.strip()
    return (bare[:1] == "[" and bare[-1:] == "]") or _in_array(bare) is not None


def _in_array(bare: str) -> str | None:
    """What an array holds, without its type; None: it is no array. In one pass, however long."""
    opening = _ARRAY.match(bare)
    if opening is None or bare[-1] != ")":
        return None
    inner = bare[opening.end() : -1]
    behind = max(map(inner.rfind, "()[]")) + 1
    of_type = _DTYPE.search(inner, behind)
    return inner if of_type is None else inner[: of_type.start()]


def _strings(bare: str) -> list[str]:
    """Texts in quotes, with commas or white space between them.

    Raises:
        ValueError: There is something else in it.
    """
    found, at, end = [], 1, len(bare) - 1
    while at < end and bare[at].isspace():
        at += 1
    while at < end:
        string = _STRING.match(bare, at, end)
        if string is None:
            raise ValueError("no text in quotes")
        found.append(_literal(string[0]))
        at = string.end()
        between = _BETWEEN.match(bare, at, end)
        if between is None and at < end:
            raise ValueError("no gap between two texts")
        at = between.end() if between else at
    return found


def _literal(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # `\d` in a text: Python keeps it
        return ast.literal_eval(text)
