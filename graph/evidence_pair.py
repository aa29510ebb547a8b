"""The pair of sentences that explains a claim: what a source says, and what was written of it.

Source: VeriTrail 3.2 (error localization); the choice of the two sentences is ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from veritrail_graph.graph.evidence_nodes import EvidenceNode
from veritrail_graph.graph.model import CitedSentence, EvidenceRole, Verification
from veritrail_graph.graph.word_diff import Piece, WordChange, denials, marked_pieces, word_diff

MOST_READ = 2_000
"""Sentences of one side among which the pair is looked for."""
LEAST_ALIKE = 0.5
"""The share of words in common below which nothing is aligned: missing words are named instead."""
SHORTEST_WORD = 4
"""Letters of a word that is named as missing; figures always are."""
MOST_CHARACTERS = 600
"""Characters of a sentence that are compared and shown."""

SAME_BEGINNING = 5
"""Letters that two forms of a word have in common."""

_WORD = re.compile(r"\w+(?:[.,]\d+)*")
_NAMED = re.compile(r"\w[\w'\u2019.,-]*\w|\w")
_SWEEPING = frozenset(
    ("all", "always", "any", "entire", "every", "everybody", "everyone", "everything",
     "everywhere", "each", "only", "solely", "whole", "alle", "immer", "jede", "jeder", "jedes",
     "nur")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SelectedSentence:
    """A sentence that was selected as evidence, with its node."""

    node: EvidenceNode
    cited: CitedSentence


@dataclass(frozen=True, slots=True)
class EvidencePair:
    """The two sentences.

    Attributes:
        source: The sentence upstream that is closest; None: none was selected there.
        wrote: The sentence of a node at fault that states the claim; None: it is the claim itself.
    """

    source: SelectedSentence | None
    wrote: SelectedSentence | None

    @property
    def written(self) -> CitedSentence | None:
        """Return the sentence that was written, where it is not the claim itself."""
        return self.wrote.cited if self.wrote is not None else None


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two sentences word by word, as far as a claim is about them.

    Attributes:
        source: The first sentence in pieces; changed where the other one has other words.
        wrote: The second one.
        changes: What differs; None: they share too few words to be aligned.
        missing: Of sentences that are not aligned: the denials of the second one, where the first
            one has none; else the words of the claim that it lacks and that decide.
        denied: Of such sentences: the denials of the first one, where the other one has none.
    """

    source: tuple[Piece, ...]
    wrote: tuple[Piece, ...]
    changes: tuple[WordChange, ...] | None
    missing: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()


def evidence_pair(one: Verification, nodes: Sequence[EvidenceNode]) -> EvidencePair | None:
    """Return the pair of a verification; None where nothing can be compared.

    Of the error nodes, the node is taken whose evidence has most words of the claim, and with it
    the sentence of its inputs that is closest to what it wrote.

    Args:
        one: The verification.
        nodes: Its nodes with evidence, from the answer to the sources.
    """
    if one.verdict is None or not nodes:
        return None
    at_fault = {ref.node_id for ref in one.error_nodes}
    wrote = _closest(_selected(node for node in nodes if node.node_id in at_fault), one.claim)
    if wrote is None and any(node.ref.role is None for node in nodes):
        return None  # read from JSON: which of them is a source is not known
    text, here = one.claim, one.node_id
    if wrote is not None:
        text, here = wrote.cited.text, wrote.node.node_id
    return EvidencePair(_closest(_selected(_upstream(one, nodes, here, at_fault)), text), wrote)


def _upstream(
    one: Verification, nodes: Sequence[EvidenceNode], here: str, at_fault: set[str]
) -> Iterator[EvidenceNode]:
    """The nodes to compare with: those that fed a step; of the answer itself, the sources."""
    if here != one.node_id or here in at_fault:
        yield from (node for node in nodes if here in node.feeds)
        return
    yield from [node for node in nodes if node.ref.is_root] or nodes


def _selected(nodes: Iterable[EvidenceNode]) -> Iterator[SelectedSentence]:
    for node in nodes:
        for cited in node.cited:
            if cited.role is EvidenceRole.EVIDENCE:
                yield SelectedSentence(node, cited)


def _closest(selected: Iterable[SelectedSentence], text: str) -> SelectedSentence | None:
    """The first of those that have most words of a text, each word counted once."""
    wanted = _words(text)
    best, most = None, -1.0
    for _, one in zip(range(MOST_READ), selected, strict=False):
        words = _words(one.cited.text)
        # Of two with the same words, the shorter one says it with less beside it.
        alike = len(wanted & words) + 1 / (1 + len(words))
        if alike > most:
            best, most = one, alike
    return best


def closest_sentence(node: EvidenceNode, text: str) -> CitedSentence | None:
    """Return the sentence that was selected from a node and has most words of a text.

    Evidence comes before context.
    """
    found = _closest(_selected([node]), text)
    if found is None:
        found = _closest((SelectedSentence(node, cited) for cited in node.cited), text)
    return None if found is None else found.cited


def _words(text: str) -> set[str]:
    return {one.casefold() for one in _WORD.findall(text[: 4 * MOST_CHARACTERS])}


def compared_pair(source: str, wrote: str, claim: str) -> ComparedPair:
    """Compare two sentences word by word, as far as a claim is about them."""
    diff = word_diff(source, wrote)
    if diff.alike < LEAST_ALIKE:
        return _unaligned(source, wrote, claim)
    if not diff.changes:
        return ComparedPair((Piece(source),), (Piece(wrote),), ())
    changes = _about(diff.changes, claim)
    before = _marked(diff.before, [one.before for one in changes])
    after = _marked(diff.after, [one.after for one in changes])
    return ComparedPair(before, after, changes)


def _unaligned(source: str, wrote: str, claim: str) -> ComparedPair:
    """Mark what decides: a denial that one side alone has, else what the claim adds to the source.

    Of what it adds, names, figures and words such as "every" come before all other words.
    """
    denied, denying = denials(source), denials(wrote)
    if bool(denied) is not bool(denying):
        bare, marks = (wrote, denied) if denied else (source, denying)
        undone = _undone(source if denied else wrote, marks, bare)
        before, after = (marks, undone) if denied else (undone, marks)
        added = [] if denied else denying
    else:
        added = _added(source, wrote, claim)
        before, after = [], added
    return ComparedPair(
        marked_pieces(source, before),
        marked_pieces(wrote, after),
        None,
        tuple(dict.fromkeys(wrote[start:end] for start, end in added)),
        tuple(dict.fromkeys(source[start:end] for start, end in before)) if denied else (),
    )


def _added(source: str, wrote: str, claim: str) -> list[tuple[int, int]]:
    """Return the places of the words of a claim that only what was written has."""
    known, wanted = _words(source), _words(claim)
    found = [
        one
        for one in _WORD.finditer(wrote)
        if (len(one[0]) >= SHORTEST_WORD or has_digit(one[0]))
        and one[0].casefold() in wanted
        and one[0].casefold() not in known
    ]
    decisive = [
        one for one in found if names_in(one[0], wrote) or has_digit(one[0]) or sweeps(one[0])
    ]
    return [one.span() for one in decisive or found]


def _undone(text: str, marks: Sequence[tuple[int, int]], bare: str) -> list[tuple[int, int]]:
    """Return the word of the text without a denial that the other text denies; empty: it has none.

    That is the word behind the denial, in whatever form: "did not reach" and "reached".
    """
    behind = _WORD.search(text, marks[0][1])
    if behind is None:
        return []
    beginning = behind[0].casefold()[:SAME_BEGINNING]
    for one in _WORD.finditer(bare):
        if len(beginning) >= SHORTEST_WORD and one[0].casefold().startswith(beginning):
            return [one.span()]
    return []


def has_digit(words: str) -> bool:
    """Return whether words have a figure."""
    return any(letter.isdigit() for letter in words)


def sweeps(words: str) -> bool:
    """Return whether a word makes a statement a general one."""
    return words.strip().casefold() in _SWEEPING


def names_in(words: str, text: str) -> list[str]:
    """Return the words with a capital that do not begin a text."""
    first = _NAMED.search(text)
    begins = first[0] if first else ""
    return [word for word in _NAMED.findall(words) if word[:1].isupper() and word != begins]


def _about(changes: Sequence[WordChange], claim: str) -> tuple[WordChange, ...]:
    """The denials, and changes of which half of the new words are the claim's; else all."""
    wanted = _words(claim)
    found = []
    for one in changes:
        words = _words(one.after)
        is_denial = bool(denials(one.before)) is not bool(denials(one.after))
        if is_denial or (words and 2 * len(words & wanted) >= len(words)):
            found.append(one)
    return tuple(found or changes)


def _marked(pieces: Iterable[Piece], changes: Sequence[str]) -> tuple[Piece, ...]:
    wanted = set().union(*map(_words, changes)) if changes else set()
    return tuple(
        Piece(one.text, one.is_changed and bool(_words(one.text) & wanted)) for one in pieces
    )
