"""Words as they are written, and what a reading of a sentence with them has.

Source: VeriTrail gives no lexical method; this is ours, and indicative only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.values.characters import unaccented
from veritrail_graph.verifier.values.moments import may_be_in_moment
from veritrail_graph.verifier.values.numbers import HALVES, IN_FIGURES, STARTING_FIGURES
from veritrail_graph.verifier.values.reading import IN_VALUES, STARTING
from veritrail_graph.verifier.values.units import SCALES

_ABOUT = frozenset(("about", "around", "approximately", "roughly", "nearly", "almost", "circa",
    "some", "estimated", "close", "so"))  # fmt: skip
_HUNDRED = 100
ACCENTED = r"\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u012f\u0134-\u013e\u0141-\u0148\u014a-\u017e"
"""Latin letters beyond ASCII, as in a pattern, but those that other forms of a text spell out."""


@dataclass(frozen=True, slots=True)
class Form:
    """A word as it is written, and what a reading has of it.

    Attributes:
        sure: The key that each sentence with it has.
        perhaps: Keys that a sentence with it may have.
        is_unless_numbered: Whether a sentence that may have no figure, date or time has them.
        is_in_values: Whether it may be a part of a figure, a date or a time.
        initial: For a word with a capital the first letter of its key.
        abbreviates: The word in small letters, if all of its letters are capitals.
        starts: Whether a figure, a date or a time may start with it.
        counts: Whether it may be a figure, or a part of one, in words.
        leads: The digits that a figure which starts with it begins with; "" where they may be any.
            None: it says only which one of a row.
        ordinal: The digits of which one of a row it is: first.
        is_scale: Whether it is a thousand or more.
        is_about: Whether a figure behind it may be a rough one.
    """

    sure: str | None
    perhaps: tuple[str, ...]
    is_unless_numbered: bool
    is_in_values: bool
    initial: str
    abbreviates: str
    starts: bool
    counts: bool
    leads: str | None
    ordinal: str
    is_scale: bool
    is_about: bool

    @property
    def is_empty(self) -> bool:
        """Return whether no reading has anything of it."""
        means = self.perhaps or self.initial or self.starts or self.counts or self.is_about
        return self.sure is None and not means


@lru_cache(maxsize=16_384)
def form_of(form: str) -> Form:
    """Return what a reading has of a word, as it is written."""
    lower = form.casefold().removesuffix("'s")
    key = words.key(lower)
    in_names = key if lower.isascii() else words.key(unaccented(lower))
    is_capital = form[0].isupper()
    is_in_values = lower in IN_VALUES and (lower in IN_FIGURES or may_be_in_moment(form, lower))
    sure, perhaps, is_unless_numbered = None, set[str](), False
    if lower in words.STOP:
        if form == "May" or (len(form) > 1 and form.isupper()):
            perhaps.add(key)
    elif lower in words.NEGATION_STOPS or (lower.endswith("n't") and lower not in words.NEGATIONS):
        perhaps.update((key,) if is_capital else ())
    elif lower in words.UNIVERSAL:
        perhaps.update((words.UNIVERSAL_KEY, key) if is_capital else (words.UNIVERSAL_KEY,))
    elif lower in words.ORDERINGS:
        perhaps.update((key,) if is_capital else ())
    elif lower in words.NAME_LINKS or is_in_values:
        perhaps.add(key)
        is_unless_numbered = len(lower) > 1 and not is_capital and lower not in words.NAME_LINKS
    elif is_capital and in_names != key:
        perhaps.update((key, in_names))  # Étienne: a name has no accents
    elif len(lower) > 1 or form.isupper() or not lower.isascii():
        sure = key
    elif is_capital:
        perhaps.add(key)  # Company X's
    is_link = lower in words.NAME_LINKS
    whole = form.removesuffix("'s")
    return Form(
        sure=sure,
        perhaps=tuple(perhaps),
        is_unless_numbered=is_unless_numbered,
        is_in_values=is_in_values,
        initial=in_names[:1] if is_capital and not is_link else "",
        abbreviates=whole.casefold() if len(whole) > 1 and whole.isupper() else "",
        starts=is_in_values and lower in STARTING,
        counts=lower in STARTING_FIGURES or lower in HALVES,
        leads=_leading(lower),
        ordinal=str(words.ORDINALS.get(lower, "")).strip("0"),
        is_scale=SCALES.get(lower, 0) > _HUNDRED,
        is_about=lower in _ABOUT,
    )


def _leading(lower: str) -> str | None:
    """The digits that a figure which starts with a word begins with; "" where they may be any."""
    if lower in HALVES:
        return ""  # three quarters are 0.75
    if lower in words.ORDINALS:
        return None
    value = str(words.SMALL.get(lower, SCALES.get(lower, 0))).strip("0")
    return "" if lower in SCALES and value != "1" else value  # three dozen are 36
