"""Stage 4: community reports, on what GraphRAG wrote them from.

A report's prompt holds the entities of its community, relationships that touch them and
claims about them, as far as they fit. The folder names the entities and relationships of
a community but keeps no prompt; what a report cites beside those was in its prompt too
(GraphRAG gives each entity a relationship that may lead out of its community).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.importers.graphrag.citations import REPORT, Citations, parse_citations
from veritrail_graph.graph.importers.graphrag.index import (
    Index,
    Part,
    Placed,
    human_numbers,
    node_ids,
    parquet_ids,
    shown,
)
from veritrail_graph.graph.importers.graphrag.tables import Row, Table, as_number

WRITE_REPORT = "create_community_reports"


@dataclass(slots=True)
class Members:
    """What the nodes of stages 1 to 3 are called in the tables.

    Attributes:
        entities: node_ids of the entities by parquet id.
        relationships: node_ids of the relationships by parquet id.
        titles: Titles of the entities by parquet id.
        claims: node_ids of the claims by the title of their subject.
    """

    entities: Mapping[str, str]
    relationships: Mapping[str, str]
    titles: Mapping[str, str]
    claims: Mapping[str, Sequence[str]]


@dataclass(slots=True)
class _Found:
    """What has to be said about the reports, collected over all of them."""

    empty: list[str] = field(default_factory=list)
    unknown_members: int = 0
    unknown: list[str] = field(default_factory=list)
    beyond: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    more: list[str] = field(default_factory=list)


def place_reports(index: Index, tables: Mapping[str, Table], members: Members) -> None:
    """Hang every report on its source nodes.

    Raises:
        InputError: There is no report, or one has no community or level.
    """
    table = tables["community_reports"]
    rows, cited = _read(table)
    keys, numbers = parquet_ids(table, rows), human_numbers(rows, "community")
    names = node_ids(REPORT, keys, numbers)
    found = _Found()
    sources = _community_sources(index, tables["communities"], members, found)
    part = Part(REPORT, table)
    for row, number, name in zip(rows, numbers, names, strict=True):
        given = sources.get(number if number is not None else -1, {})
        part.places.append((Placed(name, 4, WRITE_REPORT, dict(given)),))
        index.number(REPORT, number, name)
        index.levels[name] = as_number(row["level"]) or 0
    # From the deepest level up, as GraphRAG writes them: a report may cite deeper ones only.
    for place in sorted(range(len(rows)), key=lambda place: -index.levels[names[place]]):
        (node,) = part.places[place]
        _cite(index, node, cited[place], found)
        if not node.sources:
            part.places[place] = ()
            index.forget(REPORT, numbers[place], node.node_id)
            del index.levels[node.node_id]
            found.empty.append(node.node_id)
    index.parts.append(part)
    _warn(index, table, found, has_claims="covariates" in tables)


def _read(table: Table) -> tuple[list[Row], list[Citations]]:
    rows: list[Row] = []
    cited: list[Citations] = []
    for row in table.rows(["id", "community", "level", "full_content"]):
        cited.append(parse_citations(row["full_content"] or ""))
        rows.append({key: row[key] for key in ("id", "community", "level")})
    if not rows:
        raise InputError(
            f"{table.path} holds no rows: the index step wrote no community reports, "
            "and an answer of a global search rests on them. Run the index step again."
        )
    problems = [
        Violation("wrong_value", table.where(place), f"{key} is {row[key]!r}, not an integer")
        for place, row in enumerate(rows)
        for key in ("community", "level")
        if as_number(row[key]) is None
    ]
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems[:20])
        raise InputError(f"{table.path} has wrong values:\n{listed}", problems)
    return rows, cited


def _community_sources(
    index: Index, table: Table, members: Members, found: _Found
) -> dict[int, dict[str, bool | None]]:
    sources: dict[int, dict[str, bool | None]] = {}
    for row in table.rows(["community", "level", "entity_ids", "relationship_ids"]):
        number = as_number(row["community"])
        if number is None:
            continue
        entities = row["entity_ids"] or ()
        relationships = row["relationship_ids"] or ()
        titles = [members.titles[key] for key in entities if key in members.titles]
        given = [members.entities.get(key) for key in entities]
        given += [members.relationships.get(key) for key in relationships]
        given += [claim for title in titles for claim in members.claims.get(title, ())]
        found.unknown_members += given.count(None)
        known: dict[str, bool | None] = dict.fromkeys(name for name in given if name)
        sources.setdefault(number, {}).update(known)
        index.communities[number] = (as_number(row["level"]) or 0, frozenset(entities))
    return sources


def _cite(index: Index, node: Placed, citations: Citations, found: _Found) -> None:
    """Say of every source node whether the report cites it, if the report cites any."""
    found.unread += [f"{node.node_id}: {piece}" for piece in citations.unread]
    found.more += [node.node_id] if citations.more else []
    if not citations:
        return
    node.sources = dict.fromkeys(node.sources, False)
    for kind, numbers in citations.numbers.items():
        for number in numbers:
            names = [name for name in index.cited(kind, number) if _may_cite(index, node, name)]
            if not names:
                found.unknown.append(f"{node.node_id}: {kind} {number}")
            for name in names:
                if name not in node.sources:
                    found.beyond.append(f"{node.node_id} cites {name}")
                node.sources[name] = True


def _may_cite(index: Index, node: Placed, name: str) -> bool:
    level = index.levels.get(name)
    return level is None or level > index.levels[node.node_id]


def _warn(index: Index, table: Table, found: _Found, *, has_claims: bool) -> None:
    file, warn = table.path.name, index.warnings.append
    warn(
        "Community reports: the folder does not keep their prompts. Each report hangs on all "
        "entities and relationships of its community"
        + (", on the claims about these entities" if has_claims else "")
        + " and on what it cites beside them; what did not fit into the prompt, and reports of "
        "sub-communities that stood in for it in large communities, cannot be told."
    )
    if found.beyond:
        warn(
            f"{file}: {shown(found.beyond)} citations name something outside the report's "
            "community; it is a source node of the report, because the report cites it."
        )
    if found.unknown:
        warn(f"{file}: {shown(found.unknown)} citations name nothing that could be an input.")
    if found.more:
        warn(
            f"{file}: {shown(found.more)} reports end citations in `+more`: they rest on others "
            "that they do not name, which count as not cited."
        )
    if found.unread:
        warn(f"{file}: {shown(found.unread)} citations cannot be read.")
    if found.unknown_members:
        warn(
            f"communities: {found.unknown_members} entity_ids or relationship_ids are of nothing "
            "that became a node; those edges were left out."
        )
    if found.empty:
        warn(
            f"{file}: {shown(found.empty)} reports have no known entity or relationship; they "
            "were left out, because nothing could support them."
        )
