"""Evidence selection without a model: sentences that hold much of the claim, or deny it.

Source: VeriTrail 3.1.2 (what evidence selection returns); the method is ours.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from veritrail_graph.graph.model import CitedSentence, Evidence, EvidenceRole, Sentence
from veritrail_graph.verifier.engines.lexical.comparison import (
    Match,
    Term,
    compare,
    holds,
    terms,
    weight,
)
from veritrail_graph.verifier.engines.lexical.numbers import Number
from veritrail_graph.verifier.engines.lexical.reading import Name, Reading, Word, read
from veritrail_graph.verifier.ports import ReadNode

_LEAST_SHARE = 0.3
_SHARE_OF_BEST = 0.6
_LEAST_ADDING_SHARE = 0.15
_LEAST_TERMS = 2
_MOST_A_NODE = 100
_LONGEST_SUMMARY = 4_000  # characters
_LOOK_BACK = 3  # sentences in which a pronoun's name is looked for


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that shares something with the claim."""

    sentence: Sentence
    reading: Reading
    match: Match

    @property
    def pull(self) -> float:
        """How strongly it speaks for or against the claim, from 0 to 1."""
        return self.match.likeness if self.match.conflicts else self.match.share

    @property
    def rank(self) -> tuple[float, str, int]:
        """Sort key: the strongest first, then by place."""
        return (-self.pull, self.sentence.node_id, self.sentence.index)


def select(claim_text: str, nodes: Sequence[ReadNode]) -> tuple[Evidence, ...]:
    """The evidence in these nodes: one entry for each node that holds any, in their order."""
    claim = read(claim_text)
    chosen = choose(claim, nodes)
    found: list[Evidence] = []
    for node in nodes:
        cited = [
            CitedSentence(sentence, chosen[place])
            for sentence in node.sentences
            if (place := (sentence.node_id, sentence.index)) in chosen
        ]
        if cited:
            summary = " ".join(" ".join(part.sentence.text.split()) for part in cited)
            if len(summary) > _LONGEST_SUMMARY:
                summary = f"{summary[:_LONGEST_SUMMARY]}…"
            found.append(Evidence(summary, _missing(claim, cited), tuple(cited)))
    return tuple(found)


def _bounded(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The strongest of each node: a node that repeats itself says no more by it."""
    counts: dict[str, int] = {}
    kept = []
    for candidate in candidates:
        node_id = candidate.sentence.node_id
        counts[node_id] = counts.get(node_id, 0) + 1
        if counts[node_id] <= _MOST_A_NODE:
            kept.append(candidate)
    return kept


def choose(claim: Reading, nodes: Sequence[ReadNode]) -> dict[tuple[str, int], EvidenceRole]:
    """The chosen sentences by node and index, whatever the order of the nodes."""
    candidates = _candidates(claim, nodes)
    if not candidates:
        return {}
    candidates.sort(key=lambda candidate: candidate.rank)
    bar = max(_LEAST_SHARE, _SHARE_OF_BEST * candidates[0].pull)
    strong = sum(candidate.pull >= bar for candidate in candidates)
    taken = _bounded(candidates[:strong])
    if taken:
        taken += _adding(candidates[strong:], taken)
    chosen = {
        (candidate.sentence.node_id, candidate.sentence.index): EvidenceRole.EVIDENCE
        for candidate in taken
    }
    for place in _named_before(claim, nodes, taken):
        chosen.setdefault(place, EvidenceRole.CONTEXT)
    return chosen


def _candidates(claim: Reading, nodes: Sequence[ReadNode]) -> list[Candidate]:
    everything = terms(claim)
    least = min(_LEAST_TERMS, len(everything))
    if not least:
        return []
    readings = [(sentence, read(sentence.text)) for node in nodes for sentence in node.sentences]
    weigh = _weigher(claim, (reading for _, reading in readings))
    found: list[Candidate] = []
    for sentence, reading in readings:
        # Cheap test first: most sentences of a frontier share next to nothing.
        if len(claim.keys & reading.keys) + min(len(reading.numbers), 1) < least:
            continue
        match = compare(claim, reading, weigh)
        if len(match.covered) >= least or (match.conflicts and match.covered):
            found.append(Candidate(sentence, reading, match))
    return found


def _weigher(claim: Reading, readings: Iterable[Reading]) -> Callable[[Term], float]:
    """Weights by rarity: a word in every sentence of the frontier says little."""
    counts: Counter[str] = Counter()
    number = 0
    for reading in readings:
        counts.update(claim.keys & reading.keys)
        number += 1
    scale = math.log(number + 1) or 1.0
    rarity = {key: math.log((number + 1) / (counts[key] + 1)) / scale for key in claim.keys}

    def weigh(term: Term) -> float:
        if isinstance(term, Number):
            return 1.5 * weight(term)
        keys = (term.key,) if isinstance(term, Word) else term.parts
        return weight(term) * (0.5 + max((rarity[key] for key in keys), default=1.0))

    return weigh


def _adding(others: Sequence[Candidate], taken: Sequence[Candidate]) -> list[Candidate]:
    """Weaker sentences that hold a part of the claim which no stronger one holds."""
    covered = {term for candidate in taken for term in candidate.match.covered}
    added: list[Candidate] = []
    for candidate in others:
        new = candidate.match.covered - covered
        if candidate.match.share < _LEAST_ADDING_SHARE or all(term.light for term in new):
            continue
        added.append(candidate)
        covered |= new
    return added


def _named_before(
    claim: Reading, nodes: Sequence[ReadNode], taken: Sequence[Candidate]
) -> list[tuple[str, int]]:
    """Sentences that name whom a chosen sentence only calls "he" or "it"."""
    sentences = {node.ref.node_id: node.sentences for node in nodes}
    places: list[tuple[str, int]] = []
    for candidate in taken:
        if not candidate.reading.refers_back:
            continue
        before = sentences.get(candidate.sentence.node_id, ())[: candidate.sentence.index]
        for name in pronoun_names(claim, candidate.match):
            for earlier in reversed(before[-_LOOK_BACK:]):
                if holds(read(earlier.text), name):
                    places.append((earlier.node_id, earlier.index))
                    break
    return places


def pronoun_names(claim: Reading, match: Match) -> list[Term]:
    """Names and subject of the claim that a sentence does not hold itself."""
    subject = [word for word in claim.words if word.key == claim.subject]
    wanted: list[Term] = [*claim.names, *subject]
    return [term for term in wanted if term not in match.covered]


def _missing(claim: Reading, cited: Sequence[CitedSentence]) -> str | None:
    readings = [read(part.sentence.text) for part in cited]
    absent = [
        term
        for term in terms(claim)
        if not term.light and not any(holds(reading, term) for reading in readings)
    ]
    return ("Not found here: " + listed(absent) + ".") if absent else None


def listed(found: Sequence[Term]) -> str:
    """Terms for a person to read: “Brakke”, 1,200, “closed”."""
    shown = [
        term.surface if isinstance(term, Number) else f"“{term.surface}”" for term in found[:12]
    ]
    more = len(found) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def is_strict(term: Term) -> bool:
    """Whether a term must be held: numbers and names, unless in [brackets]."""
    return isinstance(term, (Number, Name)) and not term.light
