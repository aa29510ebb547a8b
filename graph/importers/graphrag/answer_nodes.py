"""Stages 5 and 6: map answers and the final answer, on what they were written from.

With map answers, the final answer was written from them, and they from reports; without,
the reports are its direct source nodes. A node that a text cites is always among its
ancestors: it becomes a direct source node where it is not yet one.

Source: VeriTrail B.2.1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.graphrag.answer import MapAnswer, QueryAnswer
from veritrail_graph.graph.importers.graphrag.citations import (
    NAME_OF_KIND,
    Citations,
    Given,
    parse_citations,
)
from veritrail_graph.graph.importers.graphrag.nodes import Index, Placed, shown
from veritrail_graph.graph.model.canonical import canonical


@dataclass(frozen=True, slots=True)
class Choice:
    """Options of the caller for the source nodes of the answer.

    Attributes:
        community_level: Reports up to this level count as given.
        only_cited: Leave out what is not cited.
        rolls_up: Whether GraphRAG's own selection keeps one community for each entity.
        key: What tells this answer from others of the same index; None: made from its text.
    """

    community_level: int
    only_cited: bool
    rolls_up: bool
    key: str | None = None

    def answer_id(self, answer: QueryAnswer, question: str | None) -> str:
        """The node_id of the answer: other questions and other texts give other ids."""
        if self.key is not None:
            return f"{ANSWER}/{self.key}"
        return answer_id(question, answer.text)


def answer_id(question: str | None, text: str) -> str:
    """The node_id of an answer that was given no key: question and text make it."""
    made = hashlib.sha256(canonical([question, text])).hexdigest()
    return f"{ANSWER}/{made[:_DIGITS]}"


def default_given(index: Index, answer: QueryAnswer, choice: Choice) -> tuple[list[str], str]:
    """Return the reports up to the level, and an explanation of the rule that holds.

    GraphRAG's own static selection takes the reports up to the level as well. Up to 1.x it then
    keeps for each entity only the community with the highest number (`read_indexer_reports`
    groups the nodes table by entity title); from 2.x on it groups by the title of the
    community, which drops nothing.
    """
    reports = [name for name, level in index.levels.items() if level <= choice.community_level]
    return reports, "Source nodes of the answer: " + _rule(index, answer, choice, reports)


def _rule(index: Index, answer: QueryAnswer, choice: Choice, reports: list[str]) -> str:
    if choice.only_cited:
        return (
            "what it cites and nothing else; whatever else was given to the query is not in the "
            "process."
        )
    if answer.says_what_was_given:
        return (
            "what the answer file says was given to the query, and what the answer cites; "
            "the option `cited` narrows to the latter."
        )
    level = choice.community_level
    return (
        "the answer file does not say which reports were given to the query, so all "
        f"{len(reports)} of level <= {level} are, and what the answer cites; the option "
        "`cited` narrows to the latter." + _roll_up(index, choice)
    )


def _roll_up(index: Index, choice: Choice) -> str:
    if not choice.rolls_up:
        return ""
    kept: dict[str, int] = {}
    for number, (level, entities) in index.communities.items():
        if level <= choice.community_level:
            for entity in entities:
                kept[entity] = max(number, kept.get(entity, number))
    return (
        " GraphRAG up to 1.x, when it selects statically, reads of these only the community with "
        f"the highest number of each entity: {len(set(kept.values()))} here."
    )


ANSWER = "answer"
MAP_ANSWER = "map_answer"
MAP_STAGE = 5
_DIGITS = 10


@dataclass(slots=True)
class Written:
    """A node of the query with its text, and what it is."""

    kind: str
    node: Placed
    text: str
    where: str
    metadata: dict[str, Any]
    question: str | None = None


_WARNINGS = {
    "more": "Citations end in `+more` in {}: the text rests on others that it does not name.",
    "unknown": "The folder does not hold what is cited in {}; no edge for it.",
    "unread": "Citations that cannot be read: {}.",
    "missing": "The folder does not hold {} rows that were given to the query; no edge for them.",
    "uncited": "{} map answers cite nothing that the folder holds; with cited sources only, what "
    "they were given are their source nodes.",
}
_Found = dict[str, list[str]]


def write_answer(
    index: Index,
    answer: QueryAnswer,
    choice: Choice,
    question: str | None,
    warnings: Iterable[str] = (),
) -> list[Written]:
    """The nodes of stages 5 and 6; what had to be bridged goes to the index's warnings.

    The last one is the answer; ids of map answers begin with its id, so that one process holds
    many answers. Each of these warnings begins with the id of the answer for the same reason.

    Args:
        index: Stages 1 to 4.
        answer: The answer.
        choice: Options for its source nodes, and its key.
        question: What it answers, or None.
        warnings: What is known of this answer already.

    Raises:
        InputError: The answer would have no source node.
    """
    found: _Found = {name: [] for name in _WARNINGS}
    messages = [*warnings]
    messages += [f"{what} (in {answer.where})." for what in answer.unread]
    if question is None and not answer.unread_question:
        messages.append("The answer file holds no question, and none was given.")
    default, explanation = default_given(index, answer, choice)
    messages.append(explanation)
    cited = parse_citations(answer.text, index.titled).joined(answer.cited or {})
    name = choice.answer_id(answer, question)
    nodes = [_map_node(index, answer, name, point, default, choice, found) for point in answer.maps]
    nodes = [written for written in nodes if written.node.sources]
    final = Placed(name, 6, "reduce" if nodes else "search")
    if nodes:
        messages += _combine(answer, nodes, final)
        messages += _cite_beyond_maps(index, nodes, final, cited, found)
    else:
        given = _names(index, answer.given, found) if answer.given else default
        _give(index, final, given, cited, choice, found)
        messages.append(_without_maps(answer))
    if not final.sources:
        raise InputError(f"{answer.where}: {_rootless(choice, answer, found)}")
    metadata = _metadata(cited)
    nodes.append(Written(ANSWER, final, answer.text, answer.where, metadata, question))
    for what, text in _WARNINGS.items():
        if items := dict.fromkeys(found[what]):
            messages.append(text.replace("{}", shown(items)))
    index.warnings += [f"{name}: {message}" for message in messages]
    return nodes


def _map_node(
    index: Index,
    answer: QueryAnswer,
    answer_id: str,
    point: MapAnswer,
    default: Iterable[str],
    choice: Choice,
    found: _Found,
) -> Written:
    cited = parse_citations(point.text, index.titled)
    node = Placed(_map_id(answer_id, point), MAP_STAGE, "map")
    given = point.given or answer.given
    _give(index, node, _names(index, given, found) if given else default, cited, choice, found)
    metadata = _metadata(cited) | ({} if point.score is None else {"score": point.score})
    return Written(
        MAP_ANSWER, node, point.text, f"{answer.where} map answer {point.name}", metadata
    )


def _map_id(answer_id: str, point: MapAnswer) -> str:
    return f"{answer_id}/map/{point.name}"


def _names(index: Index, given: Given, found: _Found) -> list[str]:
    names: list[str] = []
    for kind, numbers in given.items():
        for number in numbers:
            held = index.cited(kind, number)
            names.extend(held)
            if not held:
                found["missing"].append(f"{NAME_OF_KIND[kind]} ({number})")
    return names


def _give(
    index: Index,
    node: Placed,
    given: Iterable[str],
    cited: Citations,
    choice: Choice,
    found: _Found,
) -> None:
    """Make what was given or cited the source nodes, and mark those that are cited."""
    named = dict.fromkeys(_cited_names(index, node.node_id, cited, found))
    if choice.only_cited and not named and node.stage == MAP_STAGE:
        # Without any source node a map answer would be a root that nothing can support.
        found["uncited"].append(node.node_id)
    elif choice.only_cited:
        given = ()
    node.sources = {name: name in named for name in dict.fromkeys((*given, *named))}


def _cited_names(index: Index, node_id: str, cited: Citations, found: _Found) -> list[str]:
    found["unread"] += [f"{node_id}: {piece}" for piece in cited.unread]
    found["more"] += [f"{node_id}: {NAME_OF_KIND[kind]}" for kind in sorted(cited.more)]
    names: list[str] = [*cited.named]
    for kind, numbers in cited.numbers.items():
        for number in numbers:
            held = index.cited(kind, number)
            names.extend(held)
            if not held:
                found["unknown"].append(f"{node_id}: {NAME_OF_KIND[kind]} ({number})")
    return names


def _combine(answer: QueryAnswer, nodes: list[Written], final: Placed) -> Iterator[str]:
    """Make the combined map answers the sources of the answer; yield the warnings of it."""
    combined = {_map_id(final.node_id, point) for point in answer.maps if point.combined}
    names = [written.node.node_id for written in nodes]
    left_out = [name for name in names if name not in combined]
    counting = {_map_id(final.node_id, point) for point in answer.maps if point.counts}
    if not counting:
        yield (
            "No map answer has a score above 0, so GraphRAG combined none; all of them are source "
            "nodes of the answer."
        )
        left_out = []
    elif len(left_out) == len(names):
        yield (
            "The last prompt that the answer file keeps holds none of the map answers, so which of "
            "them GraphRAG combined is not known; those whose score is not 0 are source nodes of "
            "the answer."
        )
        left_out = [name for name in names if name not in counting]
    elif left_out:
        yield (
            f"{shown(left_out)} map answers did not reach the final answer (score 0, or no room "
            "in the prompt); they are nodes without an edge to it."
        )
    # Nothing in the answer names a map answer, so whether it cites one is not known.
    final.sources = {name: None for name in names if name not in set(left_out)}
    if answer.empty_maps:
        yield f"{answer.empty_maps} map answers are empty and were left out."


def _cite_beyond_maps(
    index: Index,
    nodes: list[Written],
    final: Placed,
    cited: Citations,
    found: _Found,
) -> Iterator[str]:
    """Make cited nodes that no map answer reaches direct sources; yield the warning of it."""
    reached = _ancestors(index, nodes, final)
    beyond = [
        name for name in _cited_names(index, final.node_id, cited, found) if name not in reached
    ]
    if beyond:
        final.sources |= dict.fromkeys(beyond, True)
        yield (
            f"The answer cites {shown(beyond)} nodes that no map answer in its prompt was written "
            "from; they are direct source nodes of it."
        )


def _ancestors(index: Index, nodes: list[Written], final: Placed) -> set[str]:
    sources: dict[str, Mapping[str, bool | None]] = {
        node.node_id: node.sources for part in index.parts for node in part.placed
    }
    sources |= {written.node.node_id: written.node.sources for written in nodes}
    reached: set[str] = set()
    waiting = list(final.sources)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(sources.get(name, ()))
    return reached


def _metadata(cited: Citations) -> dict[str, Any]:
    numbers = {NAME_OF_KIND[kind]: list(found) for kind, found in cited.numbers.items()}
    more = sorted(NAME_OF_KIND[kind] for kind in cited.more)
    known = {"cites": numbers, "cites_more": more}
    return {key: value for key, value in known.items() if value}


def _rootless(choice: Choice, answer: QueryAnswer, found: _Found) -> str:
    if choice.only_cited:
        return (
            "The answer cites nothing that the folder holds, so with cited sources only it has no "
            "source node. Take the given sources, or check that the answer is of this index."
        )
    if answer.given:
        return (
            f"The folder does not hold the rows that were given to the query, "
            f"{shown(dict.fromkeys(found['missing']))}, and the answer cites nothing that it "
            "holds. Check that the answer is of this index."
        )
    return (
        f"The folder holds no report of level <= {choice.community_level} and the answer cites "
        "nothing that it holds. Raise the community level, or check that the answer is of this "
        "index."
    )


def _without_maps(answer: QueryAnswer) -> str:
    if answer.unread_maps:
        kept = "keeps none that is understood"
    else:
        kept = "keeps only empty ones" if answer.empty_maps else "keeps none"
    return (
        f"Map answers (stage 5): the answer file {kept}; the source nodes of the answer are "
        "joined to it directly."
    )
