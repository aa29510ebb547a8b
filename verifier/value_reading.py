"""The reading of a claim's values in a sentence: the same value, another one, or nothing.

It tells something where it is about the matter of the claim and differs from it in one value at
most: a sentence with another year and another figure speaks of another case.

Source: ours (docs/adr/0050-value-leads-to-the-culprit.md).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.value_holding import Wanted
from veritrail_graph.verifier.value_signs import shared_at_most
from veritrail_graph.verifier.values import Value, ValueKind, rival, same_matter, values
from veritrail_graph.verifier.values.characters import plain
from veritrail_graph.verifier.values.matter import content_keys, other_unit
from veritrail_graph.verifier.values.model import NUMERIC
from veritrail_graph.verifier.values.reading import text_of

LONGEST = 4_000
"""Characters of a sentence that are looked at."""
STEM = 4
"""Letters of a word of the claim of which a sentence about its matter has at least one."""
LEAST_OF_CLAIM = 0.6
"""The share of the claim's other words that a sentence has in which one name is not the claim's."""
LEAST_SHARED = 2
"""Words that a claim and a sentence share where the claim has all that the sentence says."""

LEAST_SHARE = 0.34
"""The share of the claim's words that a row with a bare figure has."""

_WORD = re.compile(r"\w+")
_OPENING = 2  # tokens in which a pronoun opens a sentence


@lru_cache(maxsize=1)
def _words_of_any_matter() -> frozenset[str]:
    """Return the keys of words that figures of any matter stand beside."""
    # Made when first asked for: keys are stems, and their library is slow to import.
    return frozenset(
        words.key(word)
        for word in words.word_set(
            """cost costs price pay pays paid spend spent bill sum amount amounted total worth
            budget come came rise rose fall fell increase increased decrease decreased number
            year month"""
        )
    )


@dataclass(frozen=True, slots=True)
class Saying:
    """A sentence's statement about a value of the claim.

    Attributes:
        value: The value of the sentence.
        likeness: How much of the words of both they share, from 0 to 1.
        agrees: Whether it is the claim's.
        others: How many of the claim's other values the sentence has.
        is_sure: Whether it differs from the claim in no other value, as far as it has the claim's.
    """

    value: Value
    likeness: float
    agrees: bool
    others: int
    is_sure: bool = True


@dataclass(frozen=True, slots=True)
class _Heard:
    """A sentence as it is compared."""

    text: str
    values: tuple[Value, ...]
    keys: frozenset[str]

    @classmethod
    def of(cls, text: str) -> _Heard:
        return cls(text, values(text), content_keys(text_of(text), ()))

    @property
    def matter(self) -> frozenset[str]:
        """The words that tell what it is about; those that any figure has are none."""
        return self.keys - _words_of_any_matter()

    @property
    def names(self) -> list[Value]:
        return [one for one in self.values if one.kind is ValueKind.NAME]

    def has_name(self, name: Value) -> bool:
        """Return whether a name is in it; at its beginning a name is a word like others."""
        if any(name.agrees(one) for one in self.names):
            return True
        last = name.canonical.split()[-1:]
        return any(words.key(part) in self.keys for part in last) and not any(
            part in one.canonical.split() for one in self.names for part in last
        )


@dataclass(frozen=True)
class Asked:
    """A claim, or another sentence, whose values are looked for.

    Attributes:
        values: Its values, in their order.
    """

    values: tuple[Value, ...]
    _claim: _Heard
    _stems: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Asked:
        """Return what is looked for of a claim."""
        text = text[:LONGEST]
        stems = {word[:STEM] for word in _WORD.findall(text.casefold()) if len(word) > 2}
        heard = _Heard.of(text)
        return cls(heard.values, heard, frozenset(stems))

    @cached_property
    def wanted(self) -> tuple[Wanted, ...]:
        """Its values as they are looked for on any matter."""
        return tuple(Wanted(value) for value in self.values)

    @cached_property
    def _least_shared(self) -> int:
        """Words of the claim without which a sentence has neither a value of its matter."""
        claim = text_of(self._claim.text)
        own = (
            content_keys(claim, [placed for placed in claim.placed if placed.value == value])
            for value in self.values
        )
        return min((LEAST_SHARED, *map(len, own)))

    def may_stand_in(self, text: str, places: Collection[int]) -> bool:
        """Return whether a sentence of a text may have a figure, a date or a time of some places.

        Only plain texts of usual length are looked at: what a sentence of others is read as may
        not stand in the whole.
        """
        if len(text) > LONGEST or not text.isascii() or plain(text)[1] is not None:
            return True
        return any(self.wanted[place].may_stand_in(text) for place in places)

    def held(
        self, text: str, places: Collection[int] | None = None
    ) -> Iterator[tuple[int, Value, bool]]:
        """The values that a sentence has on any matter.

        Args:
            text: The sentence.
            places: Those in `values` that are looked for; None: all.

        Yields:
            The place of each, the value as it is there, and whether it is a name in a sentence
            that shares no other word with the claim, as names stand in many.
        """
        text = text[:LONGEST]
        for place in range(len(self.wanted)) if places is None else places:
            wanted = self.wanted[place]
            found = wanted.within(text)
            if found is not None:
                is_name = wanted.value.kind is ValueKind.NAME
                yield place, found, is_name and not self._is_near(text, wanted.value)

    def shares_matter(self, *texts: str) -> bool:
        """Return whether it and all texts share a word that tells what they are about."""
        return bool(self._claim.matter.intersection(*(_Heard.of(one).matter for one in texts)))

    def heard(
        self, text: str, *, before: str = "", is_own: bool = False
    ) -> Iterator[tuple[int, Saying]]:
        """Yield the place in `values` of each value a sentence speaks of, and what it says.

        Args:
            text: The sentence.
            before: The sentence before it, which tells what it is about if "they" opens it.
            is_own: Whether the claim is known to be made of it, so that it is about its matter.
        """
        text = text[:LONGEST]
        found = tuple(self._heard(text, is_own=is_own))
        if not found and before and _goes_on(text):
            before = before[:LONGEST] + " "
            for place, saying in self._heard(before + text):
                value = saying.value
                if value.start >= len(before):
                    start, end = value.start - len(before), value.end - len(before)
                    yield place, replace(saying, value=replace(value, start=start, end=end))
        yield from found

    def _heard(self, text: str, *, is_own: bool = False) -> Iterator[tuple[int, Saying]]:
        lowered = text.casefold()
        if not any(stem in lowered for stem in self._stems):
            return
        if not is_own and shared_at_most(self._claim.keys, text) < self._least_shared:
            return
        other = _Heard.of(text)
        if not other.values:
            return
        same: list[tuple[int, Value]] = []
        differing: list[tuple[int, Value | None]] = []
        for place, value in enumerate(self.values):
            if (found := self._same(value, other, is_own=is_own)) is not None:
                same.append((place, found))
            elif (found := self._rival(value, other)) is not None:
                differing.append((place, found))
            elif self._is_somebody_else(value, other):
                differing.append((place, None))
        likeness = self._shared(other) / (len(self._claim.keys | other.keys) or 1)
        is_sure = not differing or is_own
        for place, value in same:
            yield place, Saying(value, likeness, True, len(same) - 1, is_sure)
        if not is_sure and len(differing) == 1:
            ((place, rival_),) = differing
            if rival_ is not None and self._is_sure(self.values[place], rival_, other):
                yield place, Saying(rival_, likeness, False, len(same))

    def _same(self, value: Value, other: _Heard, *, is_own: bool) -> Value | None:
        """The claim's value in a sentence about its matter."""
        claim, text = self._claim.text, other.text
        for one in other.values:
            if value.agrees(one) and (
                is_own
                or same_matter(claim, text, value)
                or (self._shared(other) >= LEAST_SHARED and same_matter(text, claim, one))
            ):
                return one
        return self._in_a_row(value, other)

    def _in_a_row(self, value: Value, other: _Heard) -> Value | None:
        """The claim's figure without its unit, the only one of a row about the matter."""
        if value.kind not in NUMERIC or not value.unit:
            return None
        figures = [one for one in other.values if one.kind in NUMERIC]
        least = max(LEAST_SHARED, LEAST_SHARE * len(self._claim.keys))
        if len(figures) != 1 or self._shared(other) < least or figures[0].nouns:
            return None
        (figure,) = figures
        return figure if not figure.unit and figure.amount == value.amount else None

    def _is_near(self, text: str, name: Value) -> bool:
        parts = {words.key(part) for part in name.canonical.split()}
        return bool(self._claim.keys & _Heard.of(text).keys - parts)

    def _shared(self, other: _Heard) -> int:
        return len(self._claim.keys & other.keys)

    def _rival(self, value: Value, other: _Heard) -> Value | None:
        """The value that stands in the place of one of the claim's.

        The claim is often a longer sentence, so it is enough that it has what the other one says.
        """
        claim, text = self._claim.text, other.text
        if value.kind is ValueKind.NAME and other.has_name(value):
            return None
        found = rival(value, claim, text)
        if found is not None or self._shared(other) < LEAST_SHARED:
            return found
        if value.kind is ValueKind.NAME:
            return self._only_stranger(value, other)
        for one in other.values:
            is_kind = one.kind is value.kind and not value.agrees(one)
            if is_kind and rival(one, text, claim) == value:
                return one
        return other_unit(value, claim, text)

    def _only_stranger(self, value: Value, other: _Heard) -> Value | None:
        """The one name that a sentence has and the claim has not, where that is true of both."""
        if any(not other.has_name(one) for one in self._claim.names if one != value):
            return None
        strangers = [one for one in other.names if not self._claim.has_name(one)]
        return strangers[0] if len(strangers) == 1 else None

    def _is_somebody_else(self, value: Value, other: _Heard) -> bool:
        """Return whether a sentence has an unknown other name in place of one of the claim."""
        if value.kind is not ValueKind.NAME or other.has_name(value):
            return False
        return any(not self._claim.has_name(one) for one in other.names)

    def _is_sure(self, value: Value, rival_: Value, other: _Heard) -> bool:
        """Return whether a value stands in the place of another; names have to be alike."""
        if value.kind is not ValueKind.NAME:
            return True
        rest = self._claim.keys - {words.key(part) for part in value.canonical.split()}
        is_close = len(rest & other.keys) >= LEAST_OF_CLAIM * len(rest)
        lengths = {len(_WORD.findall(one.canonical)) for one in (rival_, value)}
        return is_close and len(lengths) == 1


def _goes_on(text: str) -> bool:
    """Return whether a sentence goes on with what the one before is about: it opens with "they"."""
    if not shared_at_most(_pronouns(), text):
        return False
    return any(token.lower in words.PRONOUNS for token in text_of(text).tokens[:_OPENING])


@lru_cache(maxsize=1)
def _pronouns() -> frozenset[str]:
    return frozenset(map(words.key, words.PRONOUNS))
