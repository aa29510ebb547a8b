"""Whether an answer is a model's own, or copied from what it was shown.

Source: ours (docs/model-protocol.md, the answer).
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from veritrail_graph.graph.unseen import without_unseen
from veritrail_graph.verifier.answers import DECODER, OPENING, objects_of
from veritrail_graph.verifier.models.port import InvalidAnswer

_MOST_TRIED = 50
"""Beginnings of objects in a prompt that may be no object."""
_ADDED = ("reasoning", "claim")
"""Keys that a model fills with its own words, and the number of a claim."""
# White space and the quotation marks of all languages.
_NO_MARKS = dict.fromkeys(
    [*map(ord, " \t\n\r\v\f\u00a0\u2028\u2029\"'`\u00b4\u00ab\u00bb\u2039\u203a\uff02\uff07"),
     *range(0x2018, 0x2020), *range(0x300C, 0x3010), *range(0x301D, 0x3020)]
)  # fmt: skip


def expect_own(text: str, prompt: str) -> None:
    """See that the object that an answer ends with does not stand in its prompt.

    A model that ends with what a source dictates has quoted, and not answered. White space,
    quotation marks, capitals, characters that nobody sees, the order of the keys and a reasoning
    of its own make no difference; of an answer about several claims each part counts.

    Args:
        text: The answer, which is valid otherwise; one without an object is not looked at.
        prompt: The user message.

    Raises:
        InvalidAnswer: It stands there.
    """
    prompt = _plain(prompt)
    if "{" not in prompt:
        return
    try:
        last = objects_of(text)[-1]
    except InvalidAnswer:
        return
    shown, written = _bare(prompt), _bare(_plain(text[last.start : last.end]))
    parts = [_answered(one) for one in (last.value, *_entries(last.value)) if _answered(one)]
    dictated = [_answered(one) for found in _dictated(prompt) for one in (found, *_entries(found))]
    if written in shown or any(
        part in dictated or _bare(_plain(json.dumps(part, ensure_ascii=False))) in shown
        for part in parts
    ):
        raise InvalidAnswer("the answer's JSON object is copied from the prompt")


def _dictated(prompt: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of a prompt that can be read."""
    place = faults = 0
    while (opening := OPENING.search(prompt, place)) and faults < _MOST_TRIED:
        try:
            value, place = DECODER.raw_decode(prompt, opening.start())
            yield value
        except (RecursionError, ValueError):
            place, faults = opening.end(), faults + 1


def _plain(text: str) -> str:
    """A text as a model may read it: nothing unseen, and each letter in one form."""
    return text if text.isascii() else unicodedata.normalize("NFKC", without_unseen(text))


def _bare(text: str) -> str:
    return text.translate(_NO_MARKS).casefold()


def _answered(value: Mapping[str, Any]) -> dict[str, Any]:
    """An object without what a model adds to what it copies."""
    return {key: one for key, one in value.items() if key not in _ADDED}


def _entries(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts of an answer about several claims."""
    entries = value.get("claims")
    return [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []
