"""A check that a step made another text of one that it was given.

Nothing of such a step tells whether a model wrote it, so its text vouches for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from veritrail_graph.graph.importers.traces.answers import everything_of_output
from veritrail_graph.graph.importers.traces.calls import Call
from veritrail_graph.graph.importers.traces.texts import everything, is_said

_WORD = re.compile(r"\w+")
_LEAST_WORDS = 6
"""Words of a text; fewer are a name, a path or what is looked for."""
_MOST = 0.8
"""Share of a text's words that stand in what was given, where it was taken over."""
_HALF = 0.5
"""The same where it was made of what was given; with fewer it is about something else."""


def is_reworded(call: Call, tools: Sequence[Call]) -> bool:
    """Return whether a step gave another text than it was given, and was given one.

    What the tools were handed is what is looked for: a step that is given that looks it up.

    Args:
        call: The step.
        tools: The tools inside of which it stands.
    """
    if call.given is None or call.made is None:
        return False
    asked = set[str]().union(*(_words(tool.given) for tool in tools))
    texts = [one.text for one in everything(call.given) if is_said(one) and one.role != "call"]
    given = [words for words in map(_listed, texts) if not asked.issuperset(words)]
    before = {word for words in given for word in words}
    if max(map(len, given), default=0) < _LEAST_WORDS:
        return False
    for one in everything_of_output(call.made):
        words = _listed(one.text) if is_said(one) else []
        if len(words) < _LEAST_WORDS:
            continue
        share = sum(word in before for word in words) / len(words)
        has_all_figures = all(word in before for word in words if _has_digit(word))
        if share >= _HALF and not (share >= _MOST and has_all_figures):
            return True
    return False


def _words(value: object) -> set[str]:
    return {word for one in everything(value) for word in _listed(one.text)}


def _listed(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _has_digit(words: Iterable[str]) -> bool:
    return any(one.isdigit() for one in words)
