"""Find the nodes that a text cites among those that it was given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from veritrail_eval.building.graphrag.records import Record
from veritrail_graph.graph.importers.graphrag.citations import NAME_OF_KIND, parse_citations
from veritrail_graph.graph.importers.graphrag.tables import REPORT


@dataclass(frozen=True, slots=True)
class Cited:
    """The citations of a text.

    Attributes:
        sources: The nodes that it was given, each with whether it cites it.
        metadata: The numbers that it cites, as an imported text has them.
        invented: Numbers that were not given.
    """

    sources: Mapping[str, bool | None]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    invented: tuple[str, ...] = ()


def cited_in(text: str, given: Mapping[Record, str], *, may_cite_nothing: bool = False) -> Cited:
    """Read the citations of a text; it can only rest on what it was given.

    Args:
        text: The text.
        given: The node_ids that its prompt held, by kind and number.
        may_cite_nothing: Whether a text without a citation leaves open what it rests on.
    """
    found = parse_citations(text)
    named = [(kind, number) for kind, numbers in found.numbers.items() for number in numbers]
    known = {given[one] for one in named if one in given}
    is_open = may_cite_nothing and not named
    sources = {name: None if is_open else name in known for name in given.values()}
    numbers = {NAME_OF_KIND[kind]: list(some) for kind, some in found.numbers.items()}
    # A map answer may repeat what a report cites: those numbers are the report's, not made up.
    is_of_reports = all(kind == REPORT for kind, _ in given)
    invented = [
        f"{NAME_OF_KIND[kind]} ({number})"
        for kind, number in named
        if (kind, number) not in given and (kind == REPORT or not is_of_reports)
    ]
    return Cited(sources, {"cites": numbers} if numbers else {}, tuple(invented))
