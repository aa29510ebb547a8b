"""A check that an answer is a model's own, and not copied from its prompt.

A text of a source may dictate an answer, and a model that does not follow may quote it all the
same: whole or shortened, and in another writing than the source's. So what is compared is the
letters and digits of keys and values, wherever they stand near an opening brace of the prompt.

Source: ours (docs/model-protocol.md, the answer).
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from veritrail_graph.graph.unseen import without_unseen
from veritrail_graph.verifier.answers import SCHEMAS, objects_of
from veritrail_graph.verifier.models.port import InvalidAnswer

_ADDED = ("reasoning", "claim")
"""Keys that a model fills with its own words, and the number of a claim."""
_KEYS = frozenset(name for schema in SCHEMAS.values() for name in schema["properties"])
_ENTRIES = ("claims", "attributions")
"""Keys whose entries are each an answer about something."""

# What opens a line of a prompt: the number of a sentence, a mark, or a name as in `Claim 2: `.
_LINE_OPENING = re.compile(
    r"^(?:\d{1,9}: |\([a-z][^)\n]{0,30}\) |[A-Z][a-z -]{1,30}(?: \d{1,9})?: )", re.MULTILINE
)
_NO_LETTERS = re.compile(r"[^\w{\[\]]+|_+")
_ESCAPED_BREAK = re.compile(r"(?<!\\)\\++[nrt](?![a-z])")
_ESCAPED_SIGN = re.compile(r"(?<!\\)\\++(?:u\{?|x)([0-9a-fA-F]{2,4})\}?")
_ELLIPSIS = re.compile(r"(?<!\.)\.{3,}+|…|\[…\]")
_NULL = re.compile(r"\bNone\b")
_MAY_HOLD_BRACE = re.compile(
    "[{\ufe37\ufe5b\uff5b\U000e007b]" r"|&[A-Za-z#]|%[0-9a-fA-F]{2}|\\[ux]"
)
"""An opening brace in any form that `_unescaped` knows, or what may be one that is escaped."""
_TIMES_ESCAPED = 3
_NEAR = 200
"""Letters that may stand between an opening brace, or a part, and the next, beside the parts."""
_LIKE_LATIN = str.maketrans("аеорсухіѕјԁһԛԝѵаοανιρυκτ", "aeopcyxisjdhqwvaoavipukt")
_FIRST_WORD = re.compile(
    r"[\W_]*+(?:answer[\s*_:\"']*+)?(true|false|none)\b|[\s`]*+(\[\s*+\])", re.IGNORECASE
)
_BARE_WORDS = re.compile(r"\b(?:TRUE|FALSE|NONE|[Tt]rue|[Ff]alse|None(?! of\b))\b|\[\s*+\]")


def expect_own(text: str, prompt: str) -> None:
    """See that what an answer ends with does not stand in its prompt.

    A model that ends with what a source dictates has quoted, and not answered. How it is written
    makes no difference: white space, quotation marks and other signs, escapes, capitals, characters
    that nobody sees, letters that look alike, the order of the keys, keys that no step has, a
    reasoning of its own, and words that an ellipsis stands for or that the end was left out of. Of
    an answer about several claims each part counts.

    Args:
        text: The answer, which is valid otherwise.
        prompt: The user message.

    Raises:
        InvalidAnswer: It stands there; or it is a bare word behind others that the prompt holds.
    """
    try:
        last = objects_of(text)[-1].value
    except InvalidAnswer:
        _expect_own_word(text, prompt)
        return
    if not _MAY_HOLD_BRACE.search(prompt):
        return
    prompt = _unescaped(prompt)
    if "{" not in prompt:
        return
    shown = _letters(_NULL.sub("null", _LINE_OPENING.sub("", prompt)))
    entries = (entry for key in _ENTRIES for entry in _objects_in(last.get(key)))
    if any(_stands_in(shown, list(_parts(one))) for one in (last, *entries)):
        raise InvalidAnswer("the answer's JSON object is copied from the prompt")


def _expect_own_word(text: str, prompt: str) -> None:
    """See that an answer without an object opens with its word where the prompt holds such words.

    Raises:
        InvalidAnswer: It does not: the word may be what a sentence of the prompt asks for.
    """
    if not _words_of(text) & _words_of(prompt):
        return
    truths = _words_of(text) & {"true", "false"}
    first = _FIRST_WORD.match(text)
    if first is None or (truths and _plain_word(first[1] or "") not in truths):
        raise InvalidAnswer("the answer's word may be quoted from the prompt")


def _words_of(text: str) -> set[str]:
    return {_plain_word(found) for found in _BARE_WORDS.findall(text)}


def _plain_word(word: str) -> str:
    return "none" if word.startswith("[") else word.casefold()


def _objects_in(value: object) -> Iterator[Mapping[str, Any]]:
    entries = value if isinstance(value, list) else ()
    return (one for one in entries if isinstance(one, dict))


def _parts(value: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yield what must stand in a prompt that an object is copied from: each key with its value."""
    own = {key: one for key, one in value.items() if key not in _ADDED}
    known = {key: one for key, one in own.items() if key in _KEYS}
    for key, one in (known or own).items():
        yield from _pieces(key, one)


def _pieces(before: str, value: object) -> Iterator[list[str]]:
    """The letters of a value behind its key; several where something was left out between."""
    if isinstance(value, str):
        first, *others = _ELLIPSIS.split(_unescaped(value)) or [""]
        yield [piece for one in (before + first, *others) if (piece := _letters(one))]
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _pieces(key, one)
    elif isinstance(value, list) and any(isinstance(one, str | dict | list) for one in value):
        for place, one in enumerate(value):
            yield from _pieces("" if place else f"{before}[", one)
    else:
        yield [_letters(before + json.dumps(value))]


def _stands_in(shown: str, parts: list[list[str]]) -> bool:
    """Return whether all parts stand near each other in a prompt, behind an opening brace."""
    parts = [part for part in parts if part]
    if not parts or not all(piece in shown for part in parts for piece in part):
        return False
    reach = _NEAR + 2 * sum(len(piece) for part in parts for piece in part)
    rarest = max((part[0] for part in parts), key=len)
    place = shown.find(rarest)
    while place >= 0:
        start, end = max(0, place - reach), place + len(rarest) + reach
        brace = shown.find("{", start, place)
        if brace >= 0 and all(_follow(shown, part, brace, end) for part in parts):
            return True
        place = shown.find(rarest, place + len(rarest))
    return False


def _follow(shown: str, pieces: Iterable[str], start: int, end: int) -> bool:
    """Return whether pieces stand one behind the other in a stretch of a text."""
    for piece in pieces:
        place = shown.find(piece, start, end)
        if place < 0:
            return False
        start = place + len(piece)
    return True


def _unescaped(text: str) -> str:
    """A text as a model may read it: nothing escaped or unseen, and each letter in one form."""
    for _ in range(_TIMES_ESCAPED):
        before = text
        text = html.unescape(text) if "&" in text else text
        text = unquote(text) if "%" in text else text
        if "\\" in text:
            text = _ESCAPED_SIGN.sub(_named_sign, text)
        if text == before:
            break
    text = _ESCAPED_BREAK.sub(" ", text)
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", without_unseen(text)).translate(_LIKE_LATIN)


def _named_sign(found: re.Match[str]) -> str:
    return chr(int(found[1], 16))


def _letters(text: str) -> str:
    """Letters, digits and brackets, in one form for capitals and for letters that look alike."""
    text = _NO_LETTERS.sub("", text).casefold()
    return text if text.isascii() else text.translate(_LIKE_LATIN)
