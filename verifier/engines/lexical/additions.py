"""The additions of a sentence to the words of a claim, and a check that they change nothing.

A sentence that has all words of a claim may still say something else: it speaks of a part ("two
of the five"), of somebody else ("the wife of the mayor"), turns the roles ("was bought by"), or
only tells what others believe. So what stands before, among and behind the words of the claim is
looked at token by token, and what is not known to be harmless counts as a change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.engines.lexical.aligning import Alignment, Item, ItemKind, Sequenced
from veritrail_graph.verifier.values.model import Value, ValueKind
from veritrail_graph.verifier.values.tokens import Token, TokenKind

_MOMENTS = (ValueKind.DATE, ValueKind.TIME)
_MOST_TITLES = 4
_ASIDES = {",": ",", "(": ")", "–": "–", "—": "—", "[": "]"}  # noqa: RUF001
_PASSED_OVER = frozenset(".,;:!?\"“”'’*•。！？、，")  # noqa: RUF001
_QUOTES = frozenset('"\u201c\u201d\u201e\u00ab\u00bb')
_NUMERAL = re.compile(r"\d+(?:\.\d+)?")
_BREAKS = frozenset(",;(–—.!?\"”“)'’*")  # noqa: RUF001


def is_english(text: Sequenced) -> bool:
    """Return whether a text has small words of English, and none that only others have."""
    found = {token.form for token in text.text.tokens}
    lower = {token.lower for token in text.text.tokens}
    return not words.FOREIGN & found and bool(words.ENGLISH & lower)


def is_verbatim(claim: Sequenced, sentence: Sequenced) -> bool:
    """Return whether a sentence is the claim, word by word; marks and bullets do not count."""
    mine, its = _plain(claim), _plain(sentence)
    return bool(mine) and mine == its


def _plain(text: Sequenced) -> list[str]:
    tokens = [token for token in text.text.tokens if token.form not in _PASSED_OVER]
    if len(tokens) > 1 and tokens[0].form == "-" and tokens[1].kind is not TokenKind.NUMBER:
        del tokens[0]
    return [token.form.casefold() for token in tokens]


def quotes_a_part(claim: Sequenced, sentence: Sequenced) -> bool:
    """Return whether a sentence has marks of quotation that the claim has not: it is “safe”."""
    marks = [sum(token.form in _QUOTES for token in one.text.tokens) for one in (claim, sentence)]
    return marks[0] < marks[1]


def has_another_tense(claim: Sequenced, sentence: Sequenced) -> bool:
    """Return whether one has what the other had."""
    mine, its = ({token.lower for token in one.text.tokens} for one in (claim, sentence))
    present = {"has", "have"}
    return ("had" in mine) != ("had" in its) and bool(present & mine) != bool(present & its)


def names_are_whole(alignment: Alignment, before: Sequence[Sequenced]) -> bool:
    """Return whether each name of a claim is the same one in the sentence, no part of another.

    York is not New York, Madrid not Real Madrid. A part stands for the whole where a sentence
    before has the whole.
    """
    claim, sentence = alignment.claim, alignment.sentence
    own = {sentence.items[place].key for place in alignment.taken}
    texts = [own, *({item.key for item in one.items} for one in before)]
    for name, parts in _names(claim):
        is_whole = any(parts <= text for text in texts)
        if not is_whole and not any(_are_short_for(name, its) for its, _ in _names(sentence)):
            return False
    said = {item.key for item in claim.items}
    return all(
        parts <= said or any(_are_short_for(name, mine) for mine, _ in _names(claim))
        for name, parts in _names(sentence)
        if not parts.isdisjoint(own)
    )


def _names(text: Sequenced) -> list[tuple[Value, set[str]]]:
    """The names of a text, each with the keys of its parts."""
    found: dict[int, tuple[Value, set[str]]] = {}
    for item in text.items:
        if item.kind is ItemKind.NAME and item.value is not None:
            found.setdefault(id(item.value), (item.value, set()))[1].add(item.key)
    return list(found.values())


def _are_short_for(one: Value, other: Value) -> bool:
    """Return whether one name is short for the other: UN, United Nations."""
    is_short = one.surface.isupper() != other.surface.isupper()
    return is_short and one.agrees(other) and other.agrees(one)


def opening_pronoun(claim: Sequenced) -> str | None:
    """The pronoun that a claim opens with: whom it speaks of stands elsewhere; None: no pronoun."""
    for token in claim.text.tokens:
        if token.kind is TokenKind.MARK:
            continue
        return token.form if token.lower in words.OPENING_PRONOUNS else None
    return None


def leaves_as_it_is(alignment: Alignment, *, but: frozenset[int] = frozenset()) -> bool:
    """Return whether what a sentence adds to a claim leaves what the claim says as it is.

    Args:
        alignment: The claim beside the sentence.
        but: Positions of tokens of the sentence that are looked at elsewhere.
    """
    pairs = _pairs(alignment)
    if not pairs or not all(_same_form(mine, its) for mine, its in pairs):
        return False
    mine, its = alignment.claim.text.tokens, alignment.sentence.text.tokens
    but |= _of_long_names(alignment, pairs)
    claimed, said = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if any(a.first >= b.first for a, b in pairwise(said)):
        moved = _moved_moment(alignment)
        if not moved:
            return False
        pairs = [pair for pair in pairs if pair[0] not in moved]
        its_moved = [pair[1] for pair in _pairs(alignment) if pair[0] in moved]
        claimed, said = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        if not pairs or any(a.first >= b.first for a, b in pairwise(said)):
            return False
        but |= _with_small_words(alignment.sentence, its_moved)
        skipped = _with_small_words(alignment.claim, moved)
    else:
        its_moved, skipped = [], frozenset()
    own = frozenset(
        place for item in alignment.claim.items for place in range(item.first, item.behind)
    )
    own |= skipped
    if its_moved and not _stands_at_an_end(alignment.sentence, its_moved, said, but):
        return False
    if _joints([mine[p] for p in range(claimed[0].first) if p not in own]):
        return False
    before = [its[p] for p in range(said[0].first) if p not in but]
    if not _is_harmless_before(alignment, before, said[0]):
        return False
    behind = [its[p] for p in range(said[-1].behind, len(its)) if p not in but]
    asked = [mine[p] for p in range(claimed[-1].behind, len(mine)) if p not in own]
    if not _is_harmless_behind(alignment, behind, asked):
        return False
    for (a, x), (b, y) in pairwise(pairs):
        joints = _joints([mine[p] for p in range(a.behind, b.first) if p not in own])
        added = [its[p] for p in range(x.behind, y.first) if p not in but]
        if not _is_harmless_among(alignment, added, joints):
            return False
    return True


def describing_names(alignment: Alignment) -> frozenset[int]:
    """Return the positions of words that describe further whom a claim names.

    "The suction dredger Cornelis Bakker" is the dredger Cornelis Bakker: where both go on with the
    same name, another figure is said of the same one.
    """
    tokens = alignment.sentence.text.tokens
    found = set()
    for (mine, its), (name, same) in pairwise(_pairs(alignment)):
        is_named = name.kind is ItemKind.NAME and same.kind is ItemKind.NAME
        if mine.kind is not ItemKind.WORD or not is_named or its.first == 0:
            continue
        if mine.behind == name.first and its.behind == same.first:
            word = tokens[its.first - 1]
            is_small = word.lower in words.STOP or word.lower in words.DENIALS
            if word.kind is TokenKind.WORD and not is_small:
                found.add(its.first - 1)
    return frozenset(found)


def _pairs(alignment: Alignment) -> list[tuple[Item, Item]]:
    """The items of the claim with theirs, one for each place, in the order of the claim."""
    found: list[tuple[Item, Item]] = []
    places: set[int] = set()
    for number, place in enumerate(alignment.places):
        if place >= 0 and place not in places:
            places.add(place)
            found.append((alignment.claim.items[number], alignment.sentence.items[place]))
    return found


def _of_long_names(alignment: Alignment, pairs: Sequence[tuple[Item, Item]]) -> frozenset[int]:
    """The positions of the names that the claim has in short: United Nations for UN."""
    long = [
        its.value
        for mine, its in pairs
        if mine.value and its.value and _are_short_for(mine.value, its.value)
    ]
    return frozenset(
        place
        for item in alignment.sentence.items
        if any(item.value is value for value in long)
        for place in range(item.first, item.behind)
    )


def _same_form(mine: Item, its: Item) -> bool:
    """Return whether a word has the same form, and a figure the same digits in the same groups."""
    if mine.kind is ItemKind.WORD and its.kind is ItemKind.WORD:
        ours, theirs = mine.surface.casefold(), its.surface.casefold()
        is_synonym = words.stem(ours) != words.stem(theirs)
        return is_synonym or ours.removesuffix("s") == theirs.removesuffix("s")
    if mine.value is None or its.value is None:
        return True
    if mine.value.kind is ValueKind.DATE and (mine.value.also or its.value.also):
        return mine.surface == its.surface  # 3/4 may be in March or in April
    numerals = [_NUMERAL.fullmatch(one.surface) for one in (mine.value, its.value)]
    if all(numerals) and mine.value.surface != its.value.surface:
        return False  # version 3.10 is not 3.1, flight 007 not 7
    if mine.value.also != its.value.also:
        return mine.value.kind in (*_MOMENTS, ValueKind.NAME)
    return True


def _joints(tokens: Sequence[Token]) -> list[str]:
    """The small words that say how others hang together: by, to, of, was; no articles."""
    return [
        token.lower
        for token in tokens
        if token.kind is not TokenKind.MARK
        and token.lower not in words.ARTICLES
        and token.lower not in words.TITLES
        and not words.is_plain_adverb(token.lower)
    ]


def _is_plain(tokens: Sequence[Token], *, is_apart: bool = False) -> bool:
    """Return whether nothing among these words takes back, or narrows, what others say.

    What stands apart, behind a comma, narrows by few words only: most of them, fewer than.
    """
    narrowing = words.NARROWING & {"only", "if", "unless", "without", "or"}
    narrowing = narrowing if is_apart else words.NARROWING
    return not any(
        token.lower in words.TAKING_BACK
        or token.lower in words.DENIALS
        or token.lower in words.DOUBTS
        or token.lower in narrowing
        or token.lower.endswith("n't")
        for token in tokens
    )


def _without_moments(alignment: Alignment, tokens: Sequence[Token]) -> list[Token]:
    """These words without "in 2019" and "on Monday"."""
    left = list(tokens)
    for placed in alignment.sentence.text.placed:
        if placed.value.kind not in _MOMENTS or placed.value.surface.endswith("days"):
            continue
        inside = alignment.sentence.text.tokens[placed.first : placed.behind]
        if any(token not in left for token in inside):
            continue
        start = placed.first
        found = alignment.sentence.text.tokens
        while start and found[start - 1].lower in words.AT_A_MOMENT and found[start - 1] in left:
            start -= 1
        left = [token for token in left if token not in found[start : placed.behind]]
    return left


def _is_harmless_before(alignment: Alignment, tokens: Sequence[Token], first: Item) -> bool:
    left = _without_moments(alignment, tokens)
    joints = _joints(left)
    if all(joint in words.OPENING for joint in joints):
        return True
    if not _is_plain(left):
        return False
    if first.kind is ItemKind.NAME and not any(one in words.STOP for one in joints):
        own = [token for token in left if token.kind is not TokenKind.MARK]
        is_person = all("'" not in token.form and "\u2019" not in token.form for token in own)
        return is_person and len(joints) <= _MOST_TITLES and "," not in {t.form for t in left}
    # Another main clause stands before it: "…; the ferry carries", "…, and the ferry carries".
    end = [token.lower for token in left if token.lower not in words.ARTICLES][-2:]
    opened = {"that", "who", "which", "whether", "if", "whose"}
    return (end[-1:] == [";"] or end in ([",", "and"], [",", "but"])) and not opened & set(joints)


def _is_harmless_behind(
    alignment: Alignment, tokens: Sequence[Token], asked: Sequence[Token]
) -> bool:
    left = _without_moments(alignment, tokens)
    if _joints(asked):
        return False
    if not _joints(left):
        return True
    opening = next((token.form for token in left if token.lower not in words.ARTICLES), "")
    is_apart = opening in _BREAKS
    first = next((token.lower for token in left if token.kind is not TokenKind.MARK), "")
    if is_apart and opening in (",", "(", "\u2013", "\u2014") and first in words.LIMITING:
        return False
    return _is_plain(left, is_apart=is_apart) and (is_apart or opening == "and")


def _is_harmless_among(alignment: Alignment, tokens: Sequence[Token], asked: Sequence[str]) -> bool:
    joints = _joints(tokens)
    if joints == list(asked):
        return True
    left = _without_moments(alignment, tokens)
    joints = _joints(left)
    if joints == list(asked):
        return True
    marks = [token.form for token in left if token.kind is TokenKind.MARK]
    if len(marks) >= 2 and left[0].form in _ASIDES and left[-1].form == _ASIDES[left[0].form]:
        first = next((token.lower for token in left if token.kind is not TokenKind.MARK), "")
        return not asked and first not in words.LIMITING and _is_plain(left)
    return False


_HELPING = frozenset(("do", "does", "did"))


def denies_it(alignment: Alignment) -> bool:
    """Return whether a claim and a sentence are the same but for one denial."""
    claim, sentence = alignment.claim, alignment.sentence
    if not all(alignment.claim.items[n].kind is ItemKind.DENIAL for n in alignment.missing):
        return False
    extra = [item for at, item in enumerate(sentence.items) if at not in alignment.taken]
    if [item for item in extra if item.kind is not ItemKind.DENIAL] or alignment.moved:
        return False
    denials = len(extra) + len(alignment.missing)
    return denials == 1 and _small(claim) == _small(sentence)


def _small(text: Sequenced) -> list[str]:
    """The small words of a text that say how its items hang together."""
    inside = {place for item in text.items for place in range(item.first, item.behind)}
    tokens = [token for place, token in enumerate(text.text.tokens) if place not in inside]
    said = [one for one in _joints(tokens) if one not in _HELPING]
    # "wasn't" is a denial and a "was".
    cut = [item.surface.casefold() for item in text.items if item.kind is ItemKind.DENIAL]
    said += [one[:-3] for one in cut if one.endswith("n't") and one[:-3] not in _HELPING]
    return sorted(said)


def _moved_moment(alignment: Alignment) -> list[Item]:
    """The items of a moment of the claim that stand elsewhere in the sentence."""
    numbers = sorted(alignment.moved)
    moved = [alignment.claim.items[number] for number in numbers]
    if not moved or numbers != list(range(numbers[0], numbers[-1] + 1)):
        return []
    moments = [item for item in moved if item.value and item.value.kind in _MOMENTS]
    small = [item for item in moved if item not in moments]
    is_one = len(moments) == 1 and all(
        item.surface.casefold() in words.AT_A_MOMENT for item in small
    )
    return moved if is_one else []


def _with_small_words(text: Sequenced, items: Sequence[Item]) -> frozenset[int]:
    """The positions of a moment with the small words before it: at the end of 2023."""
    places = {place for item in items for place in range(item.first, item.behind)}
    start = min(places)
    while start and text.text.tokens[start - 1].lower in words.AT_A_MOMENT:
        start -= 1
    return frozenset(range(start, max(places) + 1))


def _stands_at_an_end(
    sentence: Sequenced, moved: Sequence[Item], said: Sequence[Item], but: frozenset[int]
) -> bool:
    """Return whether a moment opens a sentence, or stands right behind all else in it."""
    first = min(item.first for item in moved)
    if first < said[0].first:
        return True
    return not [place for place in range(said[-1].behind, first) if place not in but]
