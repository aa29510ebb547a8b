"""Which reports count as given to the query where the answer file does not say it."""

from __future__ import annotations

from dataclasses import dataclass

from veritrail_graph.graph.importers.graphrag.answer import Answer
from veritrail_graph.graph.importers.graphrag.index import Index


@dataclass(frozen=True, slots=True)
class Choice:
    """What the caller says of the source nodes of the answer.

    Attributes:
        community_level: Reports up to this level count as given.
        only_cited: Leave out what is not cited.
        rolls_up: Whether GraphRAG's own selection keeps one community for each entity.
    """

    community_level: int
    only_cited: bool
    rolls_up: bool


def default_given(index: Index, answer: Answer, choice: Choice) -> list[str]:
    """The reports up to the level; the index's warnings get the rule that holds.

    GraphRAG's own static selection takes the reports up to the level as well. In 1.x it then
    keeps for each entity only the community with the highest number (`read_indexer_reports`
    groups the nodes table by entity title); from 2.x on it groups by the title of the
    community, which drops nothing.
    """
    reports = [name for name, level in index.levels.items() if level <= choice.community_level]
    index.warnings.append("Source nodes of the answer: " + _rule(index, answer, choice, reports))
    return reports


def _rule(index: Index, answer: Answer, choice: Choice, reports: list[str]) -> str:
    if choice.only_cited:
        return (
            "what it cites and nothing else (--sources cited); whatever else was given to the "
            "query is not in the process."
        )
    if answer.says_what_was_given:
        return (
            "what the answer file says was given to the query, and what the answer cites; "
            "--sources cited narrows to the latter."
        )
    level = choice.community_level
    return (
        "the answer file does not say which reports were given to the query, so all "
        f"{len(reports)} of level <= {level} are (--community-level {level}), and what the answer "
        "cites; --sources cited narrows to the latter." + _roll_up(index, choice)
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
        " GraphRAG 1.x, when it selects statically, reads of these only the community with the "
        f"highest number of each entity: {len(set(kept.values()))} here."
    )
