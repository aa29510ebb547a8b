"""How texts and verdicts stand in what the tools answer."""

from __future__ import annotations

import json

from veritrail_graph.api.views.texts import one_line
from veritrail_graph.api.views.words import VERDICT_WORDS
from veritrail_graph.graph.model import Verdict

TEXT = 600
"""Characters of one text."""


def quoted(text: str) -> str:
    """Untrusted text in quotation marks, on one line."""
    return json.dumps(one_line(text, TEXT), ensure_ascii=False)


def verdict_words(name: str) -> str:
    """A verdict as people read it; what is none stays as it is."""
    return VERDICT_WORDS[Verdict(name)] if name in set(Verdict) else name
