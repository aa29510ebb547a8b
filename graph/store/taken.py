"""What is in the graph already, when an engine refuses to write it a second time."""

from __future__ import annotations

import re

# What both engines say of a node whose key is taken: its label, and the values of the key.
_ON_NEO4J = re.compile(r"with label `([^`]+)` and propert(?:y|ies) (.+)", re.DOTALL)
_EMBEDDED = re.compile(r"Duplicated key \[(.*)\] found on index '(\w+)\[([\w,]+)\]'", re.DOTALL)
_MOST = 200


def taken_words(said: str) -> str:
    """What is taken and what to do, from what an engine says of a broken constraint."""
    return (
        f"{_what(said)} is in the graph already. Either another writer has just written the same: "
        "then send it again. Or a script that is loaded twice writes it: a process that is whole "
        "lacks nothing, and one that a script left half-made has to be cleaned up."
    )


def _what(said: str) -> str:
    if found := _ON_NEO4J.search(said):
        return f"{found[1]} with {_one_line(found[2])}"
    if found := _EMBEDDED.search(said):
        return f"{found[2]} with {found[3].replace(',', ', ')} = {_one_line(found[1])}"
    return "What was to be written"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_MOST]
