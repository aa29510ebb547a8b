"""Stage 4: community reports, on the entities, relationships and claims of their communities.

A report's prompt holds the entities of its community, relationships that touch them and
claims about them, as far as they fit. The folder names the entities and relationships of
a community but keeps no prompt; what a report cites beside those was in its prompt too
(GraphRAG gives each entity a relationship that may lead out of its community).

Up to 1.1 the entities that are in no community are those of community -1, and what the table of
communities says of members are only those with a relationship inside: the table of nodes has all.

Source: VeriTrail B.2.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.importers.graphrag.citations import Citations, parse_citations
from veritrail_graph.graph.importers.graphrag.nodes import (
    Index,
    Placed,
    TableNodes,
    human_numbers,
    node_ids,
    parquet_ids,
)
from veritrail_graph.graph.importers.graphrag.tables import NODES, REPORT, Row, Table, as_number

WRITE_REPORT = "create_community_reports"


@dataclass(slots=True)
class Members:
    """The names that the nodes of stages 1 to 3 have in the tables.

    Attributes:
        entities: node_ids of the entities by parquet id.
        relationships: node_ids of the relationships by parquet id.
        titles: Titles of the entities by parquet id.
        ends: Titles of both ends of the relationships by parquet id.
        claims: node_ids of the claims by the title of their subject.
    """

    entities: Mapping[str, str]
    relationships: Mapping[str, str]
    titles: Mapping[str, str]
    ends: Mapping[str, tuple[str, str]]
    claims: Mapping[str, Sequence[str]]


_WARNINGS = {
    "beyond": "{} citations name something outside the report's community; it is a source node "
    "of the report, because the report cites it.",
    "unknown": "{} citations name nothing that could be an input.",
    "more": "{} reports end citations in `+more`: they rest on others that they do not name, "
    "which count as not cited.",
    "unread": "{} citations cannot be read.",
    "empty": "{} reports have no entity or relationship that the folder holds; they were left "
    "out, because nothing could support them.",
    "without": "{} reports are of communities that neither the table of communities nor that of "
    "nodes holds: only what they cite is a source node.",
    "named": "{} communities are those of the table of nodes alone: their members are the "
    "entities there and the relationships between them.",
}
_Found = dict[str, list[str]]


def place_reports(index: Index, tables: Mapping[str, Table], members: Members) -> None:
    """Hang every report on its source nodes.

    Raises:
        InputError: There is no report, or one has no community or level.
    """
    table = tables["community_reports"]
    rows, cited = _read_reports(table, index)
    keys, numbers = parquet_ids(table, rows, unique=False), human_numbers(rows, "community")
    names = node_ids(REPORT, keys, numbers)
    found: _Found = {name: [] for name in _WARNINGS}
    of_nodes = _entity_ids(tables.get(NODES))
    sources = _community_sources(index, tables, members, of_nodes)
    part = TableNodes(REPORT, table)
    for row, number, name in zip(rows, numbers, names, strict=True):
        level = as_number(row["level"]) or 0
        given = sources.get(number)
        if given is None and number is not None:
            given = _of_nodes(index, number, level, of_nodes, members)
            found["named" if given else "without"].append(name)
        part.places.append((Placed(name, 4, WRITE_REPORT, dict(given or {})),))
        index.number(REPORT, number, name)
        index.levels[name] = level
    # From the deepest level up, as GraphRAG writes them: a report may cite deeper ones only.
    for place in sorted(range(len(rows)), key=lambda place: -index.levels[names[place]]):
        (node,) = part.places[place]
        _cite(index, node, cited[place], found)
        if not node.sources:
            part.places[place] = ()
            index.forget(REPORT, numbers[place], node.node_id)
            del index.levels[node.node_id]
            found["empty"].append(node.node_id)
    index.parts.append(part)
    found["without"] = [name for name in found["without"] if name not in found["empty"]]
    _warn_of_reports(index, table, found, has_claims="covariates" in tables)


def _read_reports(table: Table, index: Index) -> tuple[list[Row], list[Citations]]:
    rows: list[Row] = []
    cited: list[Citations] = []
    for row in table.rows(["id", "community", "level", "full_content"]):
        cited.append(parse_citations(row["full_content"] or "", index.titled))
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
        raise InputError(f"{table.path} has wrong values", problems)
    return rows, cited


_NO_COMMUNITY = -1
_OfNodes = Mapping[int, Mapping[int | None, Sequence[str]]]
"""Parquet ids of entities by community and level; the level is None where the table has none."""


def _community_sources(
    index: Index, tables: Mapping[str, Table], members: Members, of_nodes: _OfNodes
) -> dict[int | None, dict[str, bool | None]]:
    """Source nodes of the report of each community, by its number."""
    sources: dict[int | None, dict[str, bool | None]] = {}
    unknown = 0
    columns = ["community", "level", "entity_ids", "relationship_ids"]
    for row in tables["communities"].rows(columns):
        number = as_number(row["community"])
        if number is None:
            continue
        level = as_number(row["level"]) or 0
        listed = (*(row.get("entity_ids") or ()), *_at(of_nodes, number, level))
        entities = list(dict.fromkeys(listed))
        given = [members.entities.get(key) for key in entities]
        given += [members.relationships.get(key) for key in row["relationship_ids"] or ()]
        given += _claims(entities, members)
        unknown += given.count(None)
        known: dict[str, bool | None] = dict.fromkeys(name for name in given if name)
        sources.setdefault(number, {}).update(known)
        index.communities[number] = (level, frozenset(entities))
    if unknown:
        index.warnings.append(
            f"communities: {unknown} entity_ids or relationship_ids are of nothing that became a "
            "node; those edges were left out."
        )
    return sources


def _of_nodes(
    index: Index, number: int, level: int, of_nodes: _OfNodes, members: Members
) -> dict[str, bool | None]:
    """Source nodes of the report of a community that the table of nodes alone knows."""
    entities = list(dict.fromkeys(_at(of_nodes, number, level)))
    titles = {members.titles[key] for key in entities if key in members.titles}
    inside = [key for key, ends in members.ends.items() if titles.issuperset(ends)]
    given = [members.entities.get(key) for key in entities]
    given += [members.relationships.get(key) for key in inside]
    given += _claims(entities, members)
    if entities:
        index.communities[number] = (level, frozenset(entities))
    return dict.fromkeys(name for name in given if name)


def _claims(entities: Iterable[str], members: Members) -> Iterator[str]:
    titles = [members.titles[key] for key in entities if key in members.titles]
    return (claim for title in titles for claim in members.claims.get(title, ()))


def _at(of_nodes: _OfNodes, number: int, level: int) -> Iterator[str]:
    by_level = of_nodes.get(number, {})
    for key in (level, None):
        yield from by_level.get(key, ())


def _entity_ids(nodes: Table | None) -> dict[int, dict[int | None, list[str]]]:
    """Ids of the entities of each community and level, as indexes up to 1.1 keep them."""
    found: dict[int, dict[int | None, list[str]]] = {}
    for row in nodes.rows(["id", "community", "level"]) if nodes else ():
        number = as_number(row["community"])
        if row["id"]:
            levels = found.setdefault(_NO_COMMUNITY if number is None else number, {})
            levels.setdefault(as_number(row.get("level")), []).append(row["id"])
    return found


def _cite(index: Index, node: Placed, citations: Citations, found: _Found) -> None:
    """Mark the source nodes that the report cites, if the report cites any."""
    found["unread"] += [f"{node.node_id}: {piece}" for piece in citations.unread]
    found["more"] += [node.node_id] if citations.more else []
    if not citations:
        return
    node.sources = dict.fromkeys(node.sources, False)
    for kind, numbers in citations.numbers.items():
        for number in numbers:
            names = [name for name in index.cited(kind, number) if _may_cite(index, node, name)]
            if not names:
                found["unknown"].append(f"{node.node_id}: {kind} {number}")
            _mark(node, names, found)
    _mark(node, citations.named, found)


def _mark(node: Placed, names: Iterable[str], found: _Found) -> None:
    for name in names:
        if name not in node.sources:
            found["beyond"].append(f"{node.node_id} cites {name}")
        node.sources[name] = True


def _may_cite(index: Index, node: Placed, name: str) -> bool:
    level = index.levels.get(name)
    return level is None or level > index.levels[node.node_id]


def _warn_of_reports(index: Index, table: Table, found: _Found, *, has_claims: bool) -> None:
    index.warnings.append(
        "Community reports: the folder does not keep their prompts. Each report has as sources all "
        "entities and relationships of its community"
        + (", the claims about these entities" if has_claims else "")
        + " and what it cites beside them; what did not fit into the prompt, and reports of "
        "sub-communities that replaced it in large communities, is not known."
    )
    for name, text in _WARNINGS.items():
        index.warn(f"{table.path.name}: {text}", found[name])
