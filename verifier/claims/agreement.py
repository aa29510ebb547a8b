"""Agreement of several completions: what is done with a sentence when they differ.

Source: Claimify (selection and disambiguation need a majority for a positive outcome).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one completion, or several together, make of a sentence.

    Attributes:
        sentence: The sentence to go on with; None where it is given up.
        words: Why it is given up, in the model's words; empty where it said nothing.
    """

    sentence: str | None
    words: str = ""


def agreed(opinions: Sequence[Opinion], needed: int) -> Opinion:
    """What they come to together.

    Of several wordings the most frequent one goes on, of equally frequent ones the earliest. A
    sentence that is given up keeps the words of the first completion that gave it up.

    Args:
        opinions: What each completion says.
        needed: How many of them must have a sentence.
    """
    found = [one.sentence for one in opinions if one.sentence is not None]
    if len(found) >= needed:
        return Opinion(max(found, key=found.count))
    said = (one.words for one in opinions if one.sentence is None and one.words)
    return Opinion(None, next(said, ""))
