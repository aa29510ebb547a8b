"""The body of a statement: its code without strings and comments, and the columns it returns."""

from __future__ import annotations

import re
from itertools import pairwise


def without_strings_and_comments(text: str) -> str:
    """The code alone, every string of it empty."""
    pattern = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|//[^\n]*|/\*.*?\*/"
    return re.sub(pattern, "''", text, flags=re.DOTALL)


def returned_columns(code: str) -> list[str]:
    """Names of the columns of the last RETURN clause; none when there is no such clause."""
    depth_zero = _blank_inner(code)
    clauses = [match.end() for match in re.finditer(r"\bRETURN\b(?:\s+DISTINCT\b)?", depth_zero)]
    if not clauses:
        return []
    start = clauses[-1]
    tail = depth_zero[start:]
    end = re.search(r"\b(?:ORDER\s+BY|SKIP|LIMIT)\b", tail)
    stop = start + (end.start() if end else len(tail))
    parts = _split_commas(code[start:stop], depth_zero[start:stop])
    return [_column_name(part.strip()) for part in parts]


def _blank_inner(code: str) -> str:
    """The code with everything inside brackets blanked, at the same places."""
    out, depth = [], 0
    for char in code:
        if char in ")]}":
            depth -= 1
        out.append(char if depth == 0 else " ")
        if char in "([{":
            depth += 1
    return "".join(out)


def _split_commas(code: str, outline: str) -> list[str]:
    places = [-1, *(n for n, char in enumerate(outline) if char == ","), len(code)]
    return [code[a + 1 : b] for a, b in pairwise(places)]


def _column_name(expression: str) -> str:
    match = re.search(r"\bAS\s+(\w+)\s*$", expression)
    return match[1] if match else expression
