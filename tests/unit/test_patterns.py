"""Every regular expression of the product takes time in proportion to its text, also a hostile one.

`re` holds the lock of the interpreter: a pattern that takes the square of a text stops the service.
"""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, is_dataclass
from itertools import islice
from pathlib import Path
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("cypher", "graph", "verifier", "api")
LENGTHS = (600, 2_400, 4_800)
"""Characters; a pattern that takes the square of the longest takes a tenth of a second or more, and
one that takes more than the square shows it at a shorter one, before it would take minutes."""
SECONDS, GROWTH = 0.03, 8
"""What is looked at more closely, and how much longer a text of four times the length may take."""
END = "\x00"
"""What no pattern ends with, so that it looks for another way."""

SEARCHES = re.compile(r"\b(\w+)\.(?:search|finditer|findall|subn?|split)\b")

CATEGORIES = {
    code.CATEGORY_DIGIT: "7",
    code.CATEGORY_SPACE: " ",
    code.CATEGORY_WORD: "a",
    code.CATEGORY_NOT_DIGIT: "a",
    code.CATEGORY_NOT_SPACE: "a",
    code.CATEGORY_NOT_WORD: ".",
}


@dataclass(frozen=True)
class Kept:
    """A pattern that a module keeps.

    Attributes:
        pattern: The pattern.
        is_searched: Whether a text is searched with it, and not only matched from its beginning.
    """

    pattern: re.Pattern[str]
    is_searched: bool = True


def patterns() -> dict[str, Kept]:
    """Every pattern that a module keeps, by its place."""
    texts = {
        path: path.read_text("utf-8")
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
    }
    searched = {name for text in texts.values() for name in SEARCHES.findall(text)}
    found: dict[int, tuple[str, Kept]] = {}
    for path, text in texts.items():
        if "re.compile" not in text:
            continue
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        module = importlib.import_module(f"veritrail_graph.{name}")
        own = set(SEARCHES.findall(text))
        for attribute, value in vars(module).items():
            one = attribute in (own if attribute.startswith("_") else searched)
            for number, kept in enumerate(_parts(value)):
                if isinstance(kept, re.Pattern) and isinstance(kept.pattern, str):
                    is_searched = one or kept is not value
                    place = f"{name}:{attribute}" + (f".{number}" if number else "")
                    found.setdefault(id(kept), (place, Kept(kept, is_searched)))
    return dict(found.values())


def _parts(value: Any) -> list[Any]:
    """A value itself, those of a dictionary, or the patterns that those of a tuple hold."""
    if isinstance(value, tuple):
        return [getattr(each, "pattern", None) for each in value if is_dataclass(each)]
    return list(value.values()) if isinstance(value, dict) else [value]


def sample(items: Any) -> str:
    """A text that a part of a pattern matches, mostly."""
    return "".join(_one(operation, argument) for operation, argument in items)


def _one(operation: Any, argument: Any) -> str:
    if operation is code.LITERAL:
        return chr(argument)
    if operation is code.NOT_LITERAL:
        return "a" if argument != ord("a") else "b"
    if operation is code.ANY:
        return "a"
    if operation is code.IN:
        return _of_set(argument)
    if operation in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
        return sample(argument[2]) * max(1, min(argument[0], 3))
    if operation is code.SUBPATTERN:
        return sample(argument[3])
    if operation is code.BRANCH:
        return sample(argument[1][0])
    if operation is code.ATOMIC_GROUP:
        return sample(argument)
    return ""


def _of_set(members: Any) -> str:
    if members[0][0] is code.NEGATE:
        denied = re.compile(_text_of(members[1:]))
        return next((sign for sign in "a .7-\n(é" if not denied.match(sign)), "ж")
    operation, argument = members[0]
    if operation is code.LITERAL:
        return chr(argument)
    return chr(argument[0]) if operation is code.RANGE else CATEGORIES.get(argument, "a")


def _text_of(members: Any) -> str:
    signs = {
        code.CATEGORY_DIGIT: r"\d", code.CATEGORY_SPACE: r"\s", code.CATEGORY_WORD: r"\w",
        code.CATEGORY_NOT_DIGIT: r"\D", code.CATEGORY_NOT_SPACE: r"\S",
        code.CATEGORY_NOT_WORD: r"\W",
    }  # fmt: skip
    parts = []
    for operation, argument in members:
        if operation is code.LITERAL:
            parts.append(re.escape(chr(argument)))
        elif operation is code.RANGE:
            parts.append(f"{re.escape(chr(argument[0]))}-{re.escape(chr(argument[1]))}")
        else:
            parts.append(signs.get(argument, ""))
    return f"[{''.join(parts)}]"


def repeats(items: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """What stands before each repetition of a pattern, and what is repeated."""
    for operation, argument in items:
        if operation in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
            yield before, sample(argument[2])
            yield from repeats(argument[2], before)
        elif operation is code.SUBPATTERN:
            yield from repeats(argument[3], before)
        elif operation is code.BRANCH:
            for branch in argument[1]:
                yield from repeats(branch, before)
        elif operation is code.ATOMIC_GROUP:
            yield from repeats(argument, before)
        before += _one(operation, argument)


def pumped(pattern: re.Pattern[str], length: int) -> Iterator[str]:
    """Texts in which each repetition goes on and on and never ends as the pattern wants."""
    flags = pattern.flags & ~re.UNICODE
    parsed = parser.parse(pattern.pattern, flags)
    units = set()
    for before, repeated in repeats(parsed):
        units |= {("", repeated), (before, repeated), ("", before + repeated), ("", before)}
        if before:
            units |= {("", before[-1]), (before, before[-1] + repeated)}
    for before, unit in sorted(units):
        if unit:
            yield before + unit * (length // len(unit)) + END


def seconds_of(kept: Kept, text: str, clock: Callable[[], float] = time.thread_time) -> float:
    began = clock()
    if kept.is_searched:
        for _ in kept.pattern.finditer(text):
            pass
    kept.pattern.match(text)
    kept.pattern.fullmatch(text)
    return clock() - began


def too_slow(kept: Kept) -> str | None:
    """The text that takes more than its share; the least of three times counts."""
    for length in LENGTHS:
        for place, text in enumerate(pumped(kept.pattern, length)):
            # The clock on the wall is read at once; that of the thread is asked of the system.
            if seconds_of(kept, text, time.perf_counter) < SECONDS:
                continue
            short = next(islice(pumped(kept.pattern, length // 4), place, None))
            least = min(seconds_of(kept, text) for _ in range(2))
            if least > SECONDS / 2 and least > GROWTH * min(
                seconds_of(kept, short) for _ in range(3)
            ):
                return text
    return None


def test_every_pattern_takes_time_in_proportion() -> None:
    known = patterns()
    assert len(known) > 100
    slow = {name: text[:60] for name, one in known.items() if (text := too_slow(one))}
    assert slow == {}


@pytest.mark.parametrize("pattern", [r"\s*x", r"\((.*?)(?:,d)?\)", r"(\\*)\]"])
def test_a_pattern_that_takes_the_square_is_found(pattern: str) -> None:
    kept = Kept(re.compile(pattern, re.DOTALL))
    assert any(too_slow(kept) for _ in range(3))  # a busy machine blurs a single look
