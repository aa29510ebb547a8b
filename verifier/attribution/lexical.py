"""Attribution without a model: words, numbers and names are compared. Indicative only.

Source: Error-tolerant attribution 3 (what is asked); the method is ours.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from typing import Any

from veritrail_graph.graph.model import Sentence, Verdict
from veritrail_graph.graph.model.attribution import AttributionCategory as Category
from veritrail_graph.graph.model.attribution import Faithfulness
from veritrail_graph.verifier.attribution.attributor import Attribution, attributed
from veritrail_graph.verifier.engines.lexical import ByWords
from veritrail_graph.verifier.engines.lexical.comparing import SentenceMatch, compare, terms, weight
from veritrail_graph.verifier.engines.lexical.judging import decide
from veritrail_graph.verifier.engines.lexical.reading import Reading, read
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import ReadNode
from veritrail_graph.verifier.vocabulary import UNCERTAIN, UNCERTAIN_SMALL

VERSION = 3
"""Goes up when the same texts may get another attribution."""
WHOLE = 0.8
"""The share of a sentence's weight from which on a source sentence says all of it."""
ALIKE = 0.5
"""The likeness from which on a source sentence speaks of the same matter."""
LEAST_AGAINST = 0.35
"""The share of the weight that a source sentence has at least that says otherwise."""
PART = 0.2
"""The least share of the weight that another sentence has to add."""
_CHARACTERS_IN_LINE = 10_000
_LABELS = {
    Verdict.FULLY_SUPPORTED: Faithfulness.FAITHFUL,
    Verdict.NOT_FULLY_SUPPORTED: Faithfulness.UNFAITHFUL,
}
_WORD = re.compile(r"\w+")


class LexicalAttributor(ByWords):
    """An `Attributor` by overlap of words, numbers and names."""

    version = VERSION

    async def attribute(
        self, sentence: str, sources: Sequence[ReadNode], meter: Meter
    ) -> Attribution:
        """Compare the sentence with every source sentence."""
        del meter
        if sum(len(node.text) for node in sources) <= _CHARACTERS_IN_LINE:
            return attribution(sentence, sources)
        return await asyncio.to_thread(attribution, sentence, sources)


def attribution(sentence: str, sources: Sequence[ReadNode]) -> Attribution:
    """The source sentences that a sentence seems to rest on.

    One that holds nearly all of it is evidence, with all that hold as much. Else sentences on the
    same matter that say otherwise are contradictions; else those that say all of it, but only as
    a possibility ("may close"), are near matches, and then as few as hold what any of them holds.
    Where nothing is alike, the only sentence that names what it is about is where it would be
    expected.

    What these imply is no more than a guess. So the sentence is faithful or unfaithful only where
    the rules for verdicts decide: said in the same words, or otherwise in one place.
    """
    reading = read(sentence)
    is_fact = not is_uncertain(sentence)
    compared = [
        (one, compare(reading, read(one.text))) for node in sources for one in node.sentences
    ]
    against = [
        (one, Category.CONTRADICTION)
        for one, match in compared
        if match.conflicts
        and match.likeness >= ALIKE
        and match.share >= LEAST_AGAINST
        and match.other_numbers < 2
    ]
    agreeing = [(one, match) for one, match in compared if not match.conflicts]
    doubtful = {id(one) for one, _ in agreeing if is_fact and is_uncertain(one.text)}
    as_sure = [each for each in agreeing if id(each[0]) not in doubtful]
    found = (
        _whole(as_sure, Category.EVIDENCE)
        or against
        or _whole(agreeing, Category.NEAR_MATCH)
        or _covering(reading, agreeing, doubtful)
        or _expected(reading, compared)
    )
    order = {(one.node_id, one.index): place for place, (one, _) in enumerate(compared)}
    found.sort(key=lambda one: order[one[0].node_id, one[0].index])
    rests_on = tuple(attributed(one, (category,)) for one, category in found)
    verdict, _ = decide(sentence, (), sources)
    return Attribution(rests_on, by_words=None if verdict is None else _LABELS.get(verdict))


def _whole(
    some: Sequence[tuple[Sentence, SentenceMatch]], category: Category
) -> list[tuple[Sentence, Category]]:
    """Those that hold nearly all of the sentence, and as much as any."""
    best = max((match.share for _, match in some), default=0.0)
    return [(one, category) for one, match in some if match.share >= best >= WHOLE]


def is_uncertain(text: str) -> bool:
    """Return whether a sentence says what it says as a possibility."""
    words = _WORD.findall(text)
    return any(one.lower() in UNCERTAIN or one in UNCERTAIN_SMALL for one in words)


def _covering(
    reading: Reading, agreeing: Sequence[tuple[Sentence, SentenceMatch]], doubtful: Collection[int]
) -> list[tuple[Sentence, Category]]:
    """As few sentences as together hold what they hold; evidence if that is nearly all.

    Args:
        reading: The sentence that is attributed.
        agreeing: The source sentences that do not say otherwise.
        doubtful: Those, by their `id`, that say as a possibility what the sentence says as a fact.
    """
    total = sum(map(weight, terms(reading))) or 1.0
    candidates = [one for one in agreeing if one[1].share >= PART]
    if not any(match.share >= ALIKE for _, match in candidates):
        return []
    chosen: list[Sentence] = []
    held: set[Any] = set()
    while candidates:
        gains = [sum(map(weight, match.covered - held)) / total for _, match in candidates]
        place = max(range(len(gains)), key=gains.__getitem__)
        if gains[place] < PART:
            break
        sentence, match = candidates.pop(place)
        chosen.append(sentence)
        held |= match.covered
    is_whole = sum(map(weight, held)) / total >= WHOLE
    is_evidence = is_whole and not any(id(one) in doubtful for one in chosen)
    category = Category.EVIDENCE if is_evidence else Category.NEAR_MATCH
    return [(one, category) for one in chosen]


def _expected(
    reading: Reading, compared: Sequence[tuple[Sentence, SentenceMatch]]
) -> list[tuple[Sentence, Category]]:
    """The only sentence that names what a sentence is about."""
    about = {part for name in reading.names for part in name.parts} or {reading.subject or ""}
    naming = [
        one
        for one, match in compared
        if any(
            about & {getattr(term, "key", None), *getattr(term, "parts", ())}
            for term in match.covered
        )
    ]
    return [(naming[0], Category.EXPECTED_SPAN)] if len(naming) == 1 else []
