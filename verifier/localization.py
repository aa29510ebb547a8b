"""Provenance and error localization: what a finished walk says about where things came from.

Both are read off the iterations alone; nothing is asked of anybody.

Source: VeriTrail 3.2 (traceability, error localization); of sentences, Error-tolerant attribution 1
(locating an error).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from veritrail_graph.graph.model import (
    Claim,
    ErrorLocation,
    EvidencePath,
    EvidenceRole,
    Iteration,
    JudgedPart,
    NodeRef,
    Sentence,
    Verdict,
    Verification,
    in_order,
)

Sources = Mapping[str, tuple[str, ...]]

MOST_CARRYING = 10
"""Sentences of one error node that are attributed for one claim."""

MOST_NODES = 20
"""Error nodes of one claim whose sentences are attributed: those with most words of the claim."""

Place = tuple[str, int, int, int]
"""A sentence: its node_id, its number, its start, and its end."""

_ANY_WORD = re.compile(r"\w+")
_PARTS = re.compile(r"[.!?]\s|\n")
_LOOKS = 8
"""The look through all edges that is for all nodes that are left, and not for a level of them."""
SHORTEST_WORD = 4
"""Letters of a word that tells how much of a claim a sentence carries."""


def evidence_paths(
    node: NodeRef, iterations: Sequence[Iteration], sources: Sources
) -> tuple[EvidencePath, ...]:
    """Link every node with evidence to the nearest nodes with evidence downstream of it.

    Args:
        node: The verified node; every path ends in it.
        iterations: The rounds of the walk.
        sources: node_ids of the source nodes, by node, of every node that was asked about.

    Returns:
        Links in the order of the iterations and of their frontiers. `via` lists checked nodes
        without evidence between the two ends, along one shortest way.

    Source: VeriTrail 3.2 (provenance).
    """
    found_in = {
        name: iteration.number
        for iteration in iterations
        for name in iteration.node_ids_with_evidence
    }
    if not found_in:
        return ()
    targets = _Targets(sources, found_in)
    stops = found_in.keys() | {node.node_id}
    return tuple(
        EvidencePath(source=ref.node_id, target=target, iteration=iteration.number, via=via)
        for iteration in iterations
        for ref in iteration.nodes_with_evidence
        for target, via in _nearest_downstream(ref.node_id, targets, stops)
    )


class _Targets:
    """The targets of nodes: edges the other way round, found level by level as they are needed.

    Most evidence was found in nodes whose direct targets have evidence, too; then one look is all.

    Args:
        sources: node_ids of source nodes, by node.
        first: Nodes that will be asked about; others only if they are targets of those.
    """

    def __init__(self, sources: Sources, first: Iterable[str]) -> None:
        self._sources = sources
        self._known: dict[str, list[str]] = {}
        self._looks = 0
        self._look_for(set(first))

    def of(self, name: str) -> Sequence[str]:
        """Return what a node was an input to, by id."""
        if name not in self._known:
            self._look_for({one for targets in self._known.values() for one in targets})
        return self._known[name]

    def _look_for(self, names: set[str]) -> None:
        self._looks += 1
        if self._looks == _LOOKS:  # a long way down: all that is left at once is cheaper now
            names.update(chain.from_iterable(self._sources.values()))
        names.difference_update(self._known)
        self._known.update((name, []) for name in names)
        for target, ids in self._sources.items():
            for source in names.intersection(ids):
                self._known[source].append(target)
        for name in names:
            self._known[name].sort()


def _nearest_downstream(
    start: str, targets: _Targets, stops: set[str]
) -> list[tuple[str, tuple[str, ...]]]:
    """The first of `stops` on every way downstream, each with one shortest way to it.

    A direct dependant among the stops ends the search: the claim was seen to pass through it.
    """
    direct = [target for target in targets.of(start) if target in stops]
    if direct:
        return [(target, ()) for target in direct]
    reached: dict[str, tuple[str, ...]] = {}
    seen = {start}
    queue: deque[tuple[str, tuple[str, ...]]] = deque([(start, ())])
    while queue:
        here, way = queue.popleft()
        for target in targets.of(here):
            if target in stops:
                reached.setdefault(target, way)
            elif target not in seen:
                seen.add(target)
                queue.append((target, (*way, target)))
    return sorted(reached.items())


def locate_error(
    node: NodeRef,
    verdict: Verdict | None,
    iterations: Sequence[Iteration],
    paths: Sequence[EvidencePath],
    claim: str = "",
) -> ErrorLocation:
    """Find the nodes where unsupported content was likely introduced.

    They are the non-root nodes with evidence in the last iteration that was Fully Supported;
    the verified node when every interim verdict was Not Fully Supported; and no node in all
    other cases, because no stage can be identified then. A node that gave context alone is not
    among them. Those whose evidence has most words of the claim come first.

    Source: VeriTrail 3.2 (error localization); the order is ours.
    """
    if verdict is not Verdict.NOT_FULLY_SUPPORTED:
        return ErrorLocation()
    if all(it.verdict is Verdict.NOT_FULLY_SUPPORTED for it in iterations):
        return ErrorLocation(nodes=(node,))
    supported = [it for it in iterations if it.verdict is Verdict.FULLY_SUPPORTED]
    if not supported:
        return ErrorLocation()
    said = _evidence_by_node(supported[-1])
    introduced = [ref for ref in supported[-1].checked if ref.node_id in said and not ref.is_root]
    if not introduced:
        return ErrorLocation()
    words = _words(claim)
    introduced.sort(key=lambda ref: -len(words & _words(said[ref.node_id])))
    return ErrorLocation(tuple(introduced), downstream(node, introduced, iterations, paths))


def parts_behind(
    verdict: Verdict | None, iterations: Sequence[Iteration]
) -> tuple[JudgedPart, ...]:
    """The verdicts on the parts of a claim that its final verdict follows from.

    They are those of the last iteration that judged evidence part by part, as far as all since
    then had the final verdict. Where none did, they are those of the last one, which found nothing:
    no part is addressed.
    """
    last: tuple[JudgedPart, ...] = ()
    for iteration in reversed(iterations):
        if iteration.verdict is not verdict:
            break
        if iteration.parts and (iteration.summaries or iteration.carried_roots):
            return iteration.parts
        last = last or iteration.parts
    return last


def bears_on(text: str, claim: str) -> bool:
    """Return whether a sentence of a text has at least half of a claim's words.

    By words alone, so it tells a statement about something else, and not a paraphrase. A claim
    without any content word ("It is.") would be in every text: it must be a sentence of it.
    """
    # Here, as it brings the whole engine.
    from veritrail_graph.verifier.vocabulary import STOP

    words, parts = _words(claim), _PARTS.split(text)
    if words <= STOP:
        wanted = _ANY_WORD.findall(claim.casefold())
        return bool(wanted) and any(_ANY_WORD.findall(part.casefold()) == wanted for part in parts)
    return any(2 * len(words & _words(part)) >= len(words) for part in parts)


def shared_words(text: str, other: str) -> int:
    """Return how many words two texts share: numbers, and words of `SHORTEST_WORD` letters."""
    return len(_words(text) & _words(other))


def _evidence_by_node(iteration: Iteration) -> dict[str, str]:
    """The sentences with the role `evidence`, joined, by node; context alone blames no node."""
    said: dict[str, list[str]] = {}
    for cited in iteration.evidence:
        if cited.role is EvidenceRole.EVIDENCE:
            said.setdefault(cited.node_id, []).append(cited.text)
    return {node_id: " ".join(texts) for node_id, texts in said.items()}


def _words(text: str) -> set[str]:
    """Numbers, and words of at least four letters: shorter ones stand in every sentence."""
    found = _ANY_WORD.findall(text.casefold())
    return {word for word in found if len(word) >= SHORTEST_WORD or word.isdigit()}


def downstream(
    node: NodeRef,
    introduced: Sequence[NodeRef],
    iterations: Sequence[Iteration],
    paths: Sequence[EvidencePath],
) -> tuple[NodeRef, ...]:
    """The nodes that carried the content from where it came in to the verified node."""
    onward: dict[str, list[str]] = {}
    for path in paths:
        onward.setdefault(path.source, []).extend((*path.via, path.target))
    origin = {ref.node_id for ref in introduced}
    reached: set[str] = set()
    queue = deque(origin)
    while queue:
        for target in onward.get(queue.popleft(), ()):
            if target not in reached and target not in origin:
                reached.add(target)
                queue.append(target)
    reached.discard(node.node_id)
    known: dict[str, NodeRef] = {}
    if reached:
        known.update((ref.node_id, ref) for it in iterations for ref in it.checked)
    return (*in_order([known[name] for name in reached]), node)


def carrying(
    verification: Verification, claim: Claim | None, sentences: Sequence[Sentence]
) -> list[Place]:
    """The sentences of the error nodes of a verification that carried its claim.

    Of a node that the walk read they are the sentences that it selected as evidence; of the
    verified node, which no walk reads, those that the claim came from.

    Args:
        verification: The verification with its evidence.
        claim: The claim with its place, where the verified node is an error node.
        sentences: The sentences of the verified node, likewise.
    """
    found: list[Place] = []
    for ref in verification.error_nodes[:MOST_NODES]:
        if ref.node_id != verification.node_id:
            found += _selected_from(verification, ref.node_id)
        elif claim is not None:
            found += _stating(claim, sentences)
    return found


def _selected_from(verification: Verification, node_id: str) -> list[Place]:
    """Return the sentences of a node that a verification selected as evidence, not as context."""
    found = {
        (node_id, one.sentence, one.start, one.end)
        for iteration in verification.iterations
        for one in iteration.evidence
        if one.node_id == node_id and one.role is EvidenceRole.EVIDENCE
    }
    return sorted(found)[:MOST_CARRYING]


def _stating(claim: Claim, sentences: Sequence[Sentence]) -> list[Place]:
    """The sentences of a node that a claim of it came from.

    They are those at the places of the claim. Where no place is known, they are the sentences
    that share most words with it; without a shared word there are none.
    """
    if claim.start is not None and claim.end is not None:
        places = [(claim.start, claim.end), *claim.also]
        at = [one for one in sentences if _is_in(one, places)]
        return [_place(one) for one in at][:MOST_CARRYING]
    shared = [shared_words(claim.text, one.text) for one in sentences]
    most = max(shared, default=0)
    if not most:
        return []
    best = (one for one, words in zip(sentences, shared, strict=True) if words == most)
    return [_place(one) for one in best][:MOST_CARRYING]


def _is_in(sentence: Sentence, places: Iterable[tuple[int, int]]) -> bool:
    return any(sentence.start < end and start < sentence.end for start, end in places)


def _place(sentence: Sentence) -> Place:
    return sentence.node_id, sentence.index, sentence.start, sentence.end
