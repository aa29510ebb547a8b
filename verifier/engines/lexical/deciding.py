"""The statement of one sentence about a claim: the same words, something else, or nothing certain.

A sentence says a claim where all words, figures, names, dates and denials of the claim stand in it
in their order. It says otherwise where all of them do but one, in whose place another figure,
name, date, an opposite or a denial stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.engines.lexical.additions import (
    denies_it,
    describing_names,
    has_another_tense,
    is_english,
    is_verbatim,
    leaves_as_it_is,
    names_are_whole,
    opening_pronoun,
    quotes_a_part,
)
from veritrail_graph.verifier.engines.lexical.aligning import (
    CITED,
    Alignment,
    Item,
    ItemKind,
    Sequenced,
)
from veritrail_graph.verifier.values.derived import is_cut, is_rounded, may_be_derived
from veritrail_graph.verifier.values.model import Value, ValueKind
from veritrail_graph.verifier.values.rates import rates_of
from veritrail_graph.verifier.values.reading import Text
from veritrail_graph.verifier.values.tokens import TokenKind

_CONTENT = frozenset((ItemKind.WORD, ItemKind.NAME, ItemKind.VALUE, ItemKind.SIGN))
_MOST_BETWEEN = 0.45
_MUCH_ALIKE = 0.7
_FEW = 3
_NEAR = 2  # tokens
_MOST_SIGNS_BETWEEN = 0.2
_LEAST_SHARED = 2
_MANY = 5
_ENDS = frozenset(".!?;:,")
_LEAST_SHARED_SIGNS = 4


@dataclass(frozen=True, slots=True)
class WordsReplaced:
    """A difference: the words of a sentence in the place of words of a claim.

    Attributes:
        claim: The words of the claim.
        sentence: Those of the sentence; "" where there are none.
        what: What differs: figure, money, percent, date, time, name, opposite, denial.
        value: The value of the claim, where one differs.
    """

    claim: str
    sentence: str
    what: str
    value: Value | None = None


def says_the_same(alignment: Alignment, before: Sequence[Sequenced]) -> bool:
    """Return whether a sentence says a claim in its words.

    Args:
        alignment: The claim beside the sentence.
        before: The sentences before it, the nearest last; they may have the name behind a pronoun.
    """
    claim, sentence = alignment.claim, alignment.sentence
    if not claim.items or sentence.asks or claim.asks or opening_pronoun(claim) is not None:
        return False
    if quotes_a_part(claim, sentence):
        return False
    if is_verbatim(claim, sentence):
        return True
    if has_another_tense(claim, sentence) or not names_are_whole(alignment, before):
        return False
    if claim.doubts != sentence.doubts or not (is_english(claim) and is_english(sentence)):
        return False
    if not alignment.missing and not leaves_as_it_is(alignment):
        return False
    missing = [claim.items[number] for number in alignment.missing]
    if missing and not _named_before(alignment, missing, before):
        return False
    extra = _extra(alignment)
    if any(item.kind is ItemKind.DENIAL for item in extra):
        return False
    near = _inside(alignment, extra, _NEAR)
    if any(item.key in words.NARROWING for item in near) or _is_denied_in_part(alignment, extra):
        return False
    most = _MOST_SIGNS_BETWEEN if _is_unspaced(claim) else _MOST_BETWEEN
    most *= len(claim.items)
    if len(claim.items) >= _FEW:
        most = max(most, 1)
    return _between(alignment, extra) <= most and _in_order(alignment)


def _between(alignment: Alignment, extra: Sequence[Item]) -> int:
    """Return how many other words stand among those of the claim, without parts of its names."""
    names = [item.value for item in alignment.claim.items if item.kind is ItemKind.NAME]
    return sum(
        item.kind in _CONTENT
        and not (item.value and any(name and name.agrees(item.value) for name in names))
        for item in _inside(alignment, extra)
    )


def _is_denied_in_part(alignment: Alignment, extra: Sequence[Item]) -> bool:
    """Return whether the sentence denies only in part what the claim denies: not immediately."""
    denies = any(item.kind is ItemKind.DENIAL for item in alignment.sentence.items)
    return denies and any(
        words.is_qualifier(item.surface.casefold()) or item.key == words.SMALL_WORDS["all"]
        for item in extra
        if item.kind is not ItemKind.DENIAL
    )


def _is_unspaced(claim: Sequenced) -> bool:
    return 2 * sum(item.kind is ItemKind.SIGN for item in claim.items) > len(claim.items)


def _extra(alignment: Alignment) -> list[Item]:
    taken = alignment.taken
    items = alignment.sentence.items
    return [item for place, item in enumerate(items) if place not in taken]


def _inside(alignment: Alignment, extra: Sequence[Item], near: int = 0) -> list[Item]:
    """The other items of the sentence between the first and the last that the claim has.

    Args:
        alignment: The claim beside the sentence.
        extra: The other items of the sentence.
        near: How many tokens before the first one count as well.
    """
    kept = [
        alignment.sentence.items[place]
        for number, place in enumerate(alignment.places)
        if place >= 0 and number not in alignment.moved
    ]
    if not kept:
        return list(extra)
    first, last = min(item.first for item in kept), max(item.behind for item in kept)
    return [item for item in extra if first - near <= item.first < last]


def _named_before(
    alignment: Alignment, missing: Sequence[Item], before: Sequence[Sequenced]
) -> bool:
    """Return whether the missing items are a name for which the sentence has a pronoun."""
    opening = alignment.sentence.text.tokens[:2]
    if not any(token.lower in words.PRONOUNS for token in opening) or not before:
        return False
    if [item.first for item in missing] != [
        item.first for item in alignment.claim.items[: len(missing)]
    ]:
        return False
    if not any(item.kind is ItemKind.NAME for item in missing):
        return False
    keys = {item.key for item in missing}
    for earlier in reversed(before):
        names = [item for item in earlier.items if item.kind is ItemKind.NAME]
        if names:
            first = names[0].value
            same = {item.key for item in names if item.value is first}
            return keys <= same
    return False


def _in_order(alignment: Alignment) -> bool:
    """Return whether all stands in its order, but for one "in 1987" that stands elsewhere."""
    moved = sorted(alignment.moved)
    if not moved:
        return True
    if moved != list(range(moved[0], moved[-1] + 1)):
        return False
    places = [alignment.places[number] for number in moved]
    if places != list(range(places[0], places[0] + len(places))):
        return False
    mine = alignment.claim.items[moved[0]]
    its = alignment.sentence.items[places[0]]
    return _adjoined(alignment.claim, mine) and _adjoined(alignment.sentence, its)


def _adjoined(text: Sequenced, item: Item) -> bool:
    """Return whether a preposition of time or place stands before an item: in 1987."""
    for back in (1, 2):
        place = item.first - back
        if place >= 0 and text.text.tokens[place].lower in words.ADJOINING:
            return True
    return item.value is not None and item.value.canonical.endswith("day")


def difference(alignment: Alignment) -> WordsReplaced | None:
    """Return what a sentence says otherwise than a claim, all else being the same; else None."""
    claim, sentence = alignment.claim, alignment.sentence
    if (
        sentence.asks
        or claim.asks
        or claim.doubts != sentence.doubts
        or opening_pronoun(claim) is not None
    ):
        return None
    kept = [
        number
        for number, place in enumerate(alignment.places)
        if place >= 0 and claim.items[number].kind in _CONTENT
    ]
    least = _LEAST_SHARED_SIGNS if _is_unspaced(claim) else 1
    if len(kept) < least or not _in_order(alignment):
        return None
    return (
        _denied(alignment)
        or _other_value(alignment)
        or _other_name(alignment)
        or _opposite(alignment)
    )


def _denied(alignment: Alignment) -> WordsReplaced | None:
    claim, sentence = alignment.claim, alignment.sentence
    theirs = [item for item in _extra(alignment) if item.kind is ItemKind.DENIAL]
    if len(claim.items) - len(alignment.missing) < _LEAST_SHARED or not denies_it(alignment):
        return None
    mine = _phrase(claim, claim.items[alignment.missing[0]]) if alignment.missing else ""
    its = _phrase(sentence, theirs[0]) if theirs else ""
    return WordsReplaced(mine, its, "denial")


def _phrase(text: Sequenced, item: Item) -> str:
    tokens = text.text.tokens
    last = min(item.behind, len(tokens) - 1)
    return text.text.plain[tokens[item.first].start : tokens[last].end]


def _other_value(alignment: Alignment) -> WordsReplaced | None:
    claim = alignment.claim
    off = [n for n in alignment.missing if claim.items[n].kind is ItemKind.VALUE]
    for number in off:
        found = _rival_of(alignment, number)
        if found is not None:
            return found
    return None


def _rival_of(alignment: Alignment, number: int) -> WordsReplaced | None:
    claim = alignment.claim
    mine = claim.items[number]
    if mine.value is None or _says_which(claim, mine):
        return None
    extra = _extra(alignment)
    if any(item.kind is ItemKind.DENIAL for item in extra):
        return None
    values = [item for item in extra if item.kind is ItemKind.VALUE and item.key != CITED]
    rivals = [item for item in values if item.value and mine.value.excludes(item.value)]
    if len(rivals) != 1 or not _stands_in_its_place(alignment, number, rivals[0]):
        return None
    others = [item for item in values if item is not rivals[0]]
    if _explains(mine.value, others, is_whole=_is_whole(alignment, number)):
        return None
    its = rivals[0].value
    if its is None or is_cut(mine.value, its) or is_rounded(mine.value, its):
        return None
    if _may_be_computed(alignment, mine.value):
        return None
    if not _is_else_the_same(alignment, mine, rivals[0]):
        if not (is_english(claim) and is_english(alignment.sentence)):
            return None
        inside = frozenset(range(rivals[0].first, rivals[0].behind)) | describing_names(alignment)
        if alignment.missing != (number,) or not leaves_as_it_is(alignment, but=inside):
            return None
    return WordsReplaced(mine.surface, rivals[0].surface, str(mine.value.kind), mine.value)


def _may_be_computed(alignment: Alignment, value: Value) -> bool:
    """Return whether a value of a claim may follow from those of the sentence, or is by other time.

    Two thirds of the 90 members are 60 of the 90, and 20 parts per minute 1,200 per hour.
    """
    mine, its = alignment.claim.text, alignment.sentence.text
    if rates_of(mine) != rates_of(its):
        return True
    others = [placed.value for placed in its.placed]
    return may_be_derived(value, others, its.plain)


def has_another_value(alignment: Alignment) -> bool:
    """Return whether a sentence says all of a claim but one value, and has one that excludes it.

    It need not stand in its place: too little to say that the claim is wrong, enough for a doubt.
    """
    claim = alignment.claim
    missing = [claim.items[number] for number in alignment.missing]
    extra = [item.value for item in _extra(alignment) if item.kind is ItemKind.VALUE]
    return (
        len(missing) == 1
        and not alignment.moved
        and all(
            item.value is not None
            and item.kind is ItemKind.VALUE
            and any(value is not None and item.value.excludes(value) for value in extra)
            for item in missing
        )
    )


def _is_else_the_same(alignment: Alignment, mine: Item, its: Item) -> bool:
    """Return whether all words of both are the same but for one value."""
    return _without(alignment.claim, mine) == _without(alignment.sentence, its)


def _without(text: Sequenced, item: Item) -> list[str]:
    return [
        token.lower
        for place, token in enumerate(text.text.tokens)
        if token.kind is not TokenKind.MARK and not item.first <= place < item.behind
    ]


def _says_which(text: Sequenced, item: Item) -> bool:
    """Return whether a figure tells which one is meant: another section is another matter."""
    before = text.text.tokens[item.first - 1].lower if item.first else ""
    return before in words.NUMBERED and item.value is not None and not item.value.unit


def _is_whole(alignment: Alignment, number: int) -> bool:
    """Return whether a sentence has many words of a claim, and lacks only one value."""
    others = sum(item.kind in _CONTENT for item in alignment.claim.items) - 1
    return alignment.missing == (number,) and others >= _MANY


def _explains(value: Value, others: Sequence[Item], *, is_whole: bool) -> bool:
    """Return whether another value of the sentence may be why it has another one.

    A moment that the claim does not name explains nothing where all else is the same.
    """
    moments = () if is_whole else (ValueKind.DATE, ValueKind.TIME)
    for item in others:
        if item.value is None:
            continue
        if item.value.kind in moments or item.value.kind is value.kind:
            return True
    return False


def _stands_in_its_place(alignment: Alignment, number: int, rival: Item) -> bool:
    """Return whether a neighbour of the claim's item stands beside the other one, too."""
    items = alignment.sentence.items
    place = items.index(rival)
    before = alignment.places[number - 1] if number else -1
    behind = alignment.places[number + 1] if number + 1 < len(alignment.places) else len(items)
    if number and before < 0:
        return False
    near = place - before <= 2 if number else False
    near_behind = 0 < behind - place <= 2 if behind < len(items) else False
    if near or near_behind:
        return True
    mine = alignment.claim.items[number]
    return _adjoined(alignment.claim, mine) and _adjoined(alignment.sentence, rival)


def _other_name(alignment: Alignment) -> WordsReplaced | None:
    claim = alignment.claim
    missing = list(alignment.missing)
    if not missing or missing != list(range(missing[0], missing[-1] + 1)):
        return None
    mine = claim.items[missing[0]].value
    if mine is None or any(claim.items[n].value is not mine for n in missing):
        return None
    if mine.kind is not ValueKind.NAME:
        return None
    extra = _extra(alignment)
    if any(item.kind is ItemKind.DENIAL for item in extra):
        return None
    names = {
        id(item.value): item
        for item in extra
        if item.kind is ItemKind.NAME and item.value is not None and mine.excludes(item.value)
    }
    rivals = [item for item in names.values() if _is_in_its_place(alignment, missing, item)]
    others = len(claim.items) - len(missing)
    if len(rivals) != 1 or len(names) != 1 or rivals[0].value is None or others < _LEAST_SHARED:
        return None
    if _are_spellings(mine, rivals[0].value):
        return None
    inside = frozenset(
        place
        for item in extra
        if item.value is rivals[0].value
        for place in range(item.first, item.behind)
    )
    if not leaves_as_it_is(alignment, but=inside):
        return None
    return WordsReplaced(mine.surface, rivals[0].value.surface, "name", mine)


def _are_spellings(mine: Value, its: Value) -> bool:
    """Return whether two names may be one: they share a part, or a part is much like another."""
    ours, theirs = mine.canonical.split(), its.canonical.split()
    return any(
        a == b or SequenceMatcher(None, a, b).ratio() > _MUCH_ALIKE for a in ours for b in theirs
    )


def _is_in_its_place(alignment: Alignment, missing: Sequence[int], rival: Item) -> bool:
    """Return whether the same words surround the claim's name and the other one."""
    mine, its = alignment.claim.text, alignment.sentence.text
    here = next(
        p for p in mine.placed if p.first <= alignment.claim.items[missing[0]].first < p.behind
    )
    there = next(p for p in its.placed if p.first <= rival.first < p.behind)

    def word(text: Text, position: int) -> str:
        inside = 0 <= position < len(text.tokens)
        token = text.tokens[position] if inside else None
        if token is None or token.form in _ENDS:
            return ""
        return words.stem(token.lower)

    before = word(mine, here.first - 1) == word(its, there.first - 1)
    behind = word(mine, here.behind) == word(its, there.behind)
    bare = not word(mine, here.first - 1) and not word(mine, here.behind)
    return before and behind and not bare


def _sides(item: Item) -> dict[str, int]:
    """The pairs of opposites that a word is in, and on which side: rise, fall; before, after."""
    if item.kind is ItemKind.SMALL and item.key in words.ORDERINGS:
        pair, side = words.ORDERINGS[item.key]
        return {pair: side}
    return dict(words.opposites().get(item.key, ())) if item.kind is ItemKind.WORD else {}


def _opposite(alignment: Alignment) -> WordsReplaced | None:
    claim = alignment.claim
    if len(alignment.missing) != 1:
        return None
    number = alignment.missing[0]
    mine = claim.items[number]
    sides = _sides(mine)
    if not sides:
        return None
    extra = _extra(alignment)
    if any(item.kind is ItemKind.DENIAL for item in extra):
        return None
    if len(claim.items) <= _LEAST_SHARED:
        return None
    rivals = [
        item
        for item in extra
        if any(sides.get(pair) == -side for pair, side in _sides(item).items())
    ]
    if len(rivals) != 1 or not _stands_in_its_place(alignment, number, rivals[0]):
        return None
    if not leaves_as_it_is(alignment, but=frozenset(range(rivals[0].first, rivals[0].behind))):
        return None
    return WordsReplaced(mine.surface, rivals[0].surface, "opposite")
