"""What is wrong with a text that is no JSON, in words for a user."""

from __future__ import annotations

from json import JSONDecodeError


def json_fault(error: JSONDecodeError, first_line: int = 1) -> str:
    """What is wrong, and where.

    Args:
        error: What the parser said; some of its messages end with `at`.
        first_line: The line of the file that the text begins on.
    """
    line = error.lineno + first_line - 1
    return f"not JSON: {error.msg.removesuffix(' at')} at line {line}, column {error.colno}"
