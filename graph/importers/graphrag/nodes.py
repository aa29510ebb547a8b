"""Stages 1 to 3: text units, extractions and summarized descriptions.

Nodes are ids, stages and source nodes. Texts are left in the files until the records are read:
memory grows with ids and edges only.

A description that comes from one text unit is an extraction (stage 2); one that comes from
several was summarized (stage 3). GraphRAG keeps the extractions behind a summary only with
`snapshots.raw_graph`; without them the text units are the sources of a summary.

Source: VeriTrail B.2.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.importers.graphrag.citations import folded_ends, folded_name
from veritrail_graph.graph.importers.graphrag.tables import (
    COVARIATE,
    ENTITY,
    EXTRACTED_ENTITY,
    EXTRACTED_RELATIONSHIP,
    RELATIONSHIP,
    REPORT,
    TEXT_UNIT,
    Row,
    Table,
    as_number,
)

EXAMPLES = 3


@dataclass(slots=True)
class Placed:
    """A node in its place.

    Attributes:
        node_id: Kind and number, as in `entity/5`.
        stage: Its stage in the process.
        step: The step of the pipeline that produced it.
        sources: Its source nodes, and whether it cites them (None: not known).
        part: Which description of its row it is, where a row holds several.
    """

    node_id: str
    stage: int
    step: str
    sources: dict[str, bool | None] = field(default_factory=dict)
    part: int = 0


@dataclass(slots=True)
class TableNodes:
    """The nodes that one table became, by row; a row may become none, one or several."""

    kind: str
    table: Table
    places: list[tuple[Placed, ...]] = field(default_factory=list)

    @property
    def placed(self) -> Iterable[Placed]:
        """All nodes, in the order of the rows."""
        return (node for row in self.places for node in row)


@dataclass(slots=True)
class Index:
    """Stages 1 to 4 of a process.

    Attributes:
        parts: One for each table that became nodes, in the order in which they are read out.
        numbers: Nodes by kind and by the number with which GraphRAG cites them.
        levels: Level of each report.
        communities: Entities and level of each community, by number.
        warnings: What the folder does not hold, and how that was bridged.
        titles: Nodes by kind and folded title, of the kinds that were asked for by title.
    """

    parts: list[TableNodes] = field(default_factory=list)
    numbers: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    levels: dict[str, int] = field(default_factory=dict)
    communities: dict[int, tuple[int, frozenset[str]]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    titles: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    def number(self, kind: str, number: int | None, node_id: str) -> None:
        """Note the number with which a node is cited; a number may name several."""
        if number is not None:
            self.numbers.setdefault(kind, {}).setdefault(number, []).append(node_id)

    def forget(self, kind: str, number: int | None, node_id: str) -> None:
        """Take back a number that was noted for a node."""
        if number is not None:
            self.numbers[kind][number].remove(node_id)

    def warn(self, text: str, items: Iterable[object]) -> None:
        """Add a warning with the items in place of `{}`, if there are any."""
        if listed := [*items]:
            self.warnings.append(text.replace("{}", shown(listed)))

    def cited(self, kind: str, number: int) -> Sequence[str]:
        """The nodes that a number names; none when the folder does not hold it."""
        return self.numbers.get(kind, {}).get(number, ())

    def titled(self, kind: str, name: str) -> Sequence[str]:
        """The nodes whose folded title this is; few texts cite by title, so it is read late."""
        part = next((part for part in self.parts if part.kind == kind), None)
        if part is None:
            return ()
        if kind not in self.titles:
            found = self.titles[kind] = {}
            for row, nodes in zip(part.table.rows(_TITLE_COLUMNS), part.places, strict=True):
                title = _folded_title(kind, row)
                if title and nodes:
                    found.setdefault(title, []).extend(node.node_id for node in nodes)
        return self.titles[kind].get(name, ())


_TITLE_COLUMNS = ("title", "source", "target")


def _folded_title(kind: str, row: Row) -> str:
    if kind == RELATIONSHIP:
        return folded_ends(row["source"] or "", row["target"] or "")
    return folded_name(row.get("title") or "") if kind in (ENTITY, REPORT) else ""


def shown(items: Iterable[object]) -> str:
    """Return how many there are, and the first few of them."""
    listed = [str(item) for item in items]
    first = ", ".join(item if len(item) <= 60 else item[:57] + "…" for item in listed[:EXAMPLES])
    return (
        f"{len(listed)} (for example {first})"
        if len(listed) > EXAMPLES
        else (f"{len(listed)} ({first})")
    )


def parquet_ids(table: Table, rows: Sequence[Row], *, unique: bool = True) -> list[str]:
    """The ids of the rows.

    Args:
        table: The table, for messages.
        rows: Its rows.
        unique: Whether other tables name rows by their ids, so that each must be there once.

    Raises:
        InputError: An id is empty, or there twice where each must be there once.
    """
    ids = [row["id"] for row in rows]
    problems = [
        Violation("empty_id", table.where(place), "has no id; every row needs one")
        for place, key in enumerate(ids)
        if not key
    ]
    problems += [
        Violation("repeated_id", str(table.path), f"the id {key!r} is there {times} times")
        for key, times in Counter(filter(None, ids)).items()
        if times > 1 and unique
    ]
    if problems:
        raise InputError(f"{table.path} has wrong ids", problems)
    return ids


def node_ids(kind: str, keys: Sequence[str], numbers: Sequence[int | None]) -> list[str]:
    """Readable ids, `kind/number`, or `kind/parquet id` for a table whose numbers are not unique.

    The whole table changes over, so that an id never depends on the order of its rows.
    """
    unique = None not in numbers and len(set(numbers)) == len(numbers)
    if unique or len(set(keys)) == len(keys):
        return [f"{kind}/{name}" for name in (numbers if unique else keys)]
    seen: Counter[str] = Counter()
    names = []
    for key in keys:
        seen[key] += 1
        names.append(f"{kind}/{key}" if seen[key] == 1 else f"{kind}/{key}~{seen[key]}")
    return names


def human_numbers(rows: Sequence[Row], column: str = "human_readable_id") -> list[int | None]:
    """The numbers that people and citations know the rows by."""
    return [as_number(row.get(column)) for row in rows]


EXTRACT = "extract_graph"
SUMMARIZE = "summarize_descriptions"

_TABLES = {ENTITY: "entities", RELATIONSHIP: "relationships"}
_RAW_KINDS = {ENTITY: EXTRACTED_ENTITY, RELATIONSHIP: EXTRACTED_RELATIONSHIP}
_KEYS = {ENTITY: ("title", "type"), RELATIONSHIP: ("source", "target")}

Key = tuple[str | None, ...]


def place_text_units(index: Index, table: Table) -> dict[str, str]:
    """Stage 1: every text unit, used or not; returns node_ids by parquet id.

    Raises:
        InputError: There is none.
    """
    empty: list[str] = []
    all_rows, repeats = _read_rows(table, ["id", "text"], empty)
    if not all_rows:
        raise InputError(f"{table.path} holds no rows: without text units there is no process.")
    _warn_repeated(index, table, repeats)
    index.warn(
        f"{table.path.name}: {{}} text units hold no text, so that nothing can rest on them.", empty
    )
    places = [place for place in range(len(all_rows)) if place not in repeats]
    keys = parquet_ids(table, [all_rows[place] for place in places])
    part = TableNodes(TEXT_UNIT, table, [()] * len(all_rows))
    found = {}
    # The place in the table, not `human_readable_id`, is what `Sources (n)` means.
    for place, key, name in zip(places, keys, node_ids(TEXT_UNIT, keys, places), strict=True):
        part.places[place] = (Placed(name, 1, "chunk"),)
        index.number(TEXT_UNIT, place, name)
        found[key] = name
    for place in repeats:
        index.number(TEXT_UNIT, place, found[all_rows[place]["id"]])
    index.parts.append(part)
    return found


def place_extractions(
    index: Index, kind: str, tables: Mapping[str, Table], units: Mapping[str, str]
) -> dict[str, str]:
    """Stages 2 and 3: the entities or relationships; returns node_ids by parquet id."""
    raw_table = tables.get(f"raw_{_TABLES[kind]}")
    raw = TableNodes(_RAW_KINDS[kind], raw_table) if raw_table else None
    extracted = _read_raw(index, kind, raw, units) if raw else {}
    table = tables[_TABLES[kind]]
    columns = ["id", "human_readable_id", "text_unit_ids", "description", *_KEYS[kind]]
    all_rows, repeated = _read_rows(table, columns)
    _warn_repeated(index, table, repeated)
    rows = [row for place, row in enumerate(all_rows) if place not in repeated]
    keys, numbers = parquet_ids(table, rows), human_numbers(rows)
    part = TableNodes(kind, table)
    names: dict[str, str] = {}
    used: set[str] = set()
    rootless: list[str] = []
    for row, key, number, name in zip(
        rows, keys, numbers, node_ids(kind, keys, numbers), strict=True
    ):
        sources = [units[unit] for unit in row["text_unit_ids"] or () if unit in units]
        node = _place(name, sources, extracted.get(_key(kind, row), ()))
        part.places.append((node,) if node.sources else ())
        if not node.sources:
            rootless.append(name)
            continue
        used.update(node.sources)
        names[key] = name
        index.number(kind, number, name)
    if repeated:  # a part has a place for every row of its table
        filled = iter(part.places)
        part.places = [() if at in repeated else next(filled) for at in range(len(all_rows))]
        for place, first in repeated.items():
            again, before = human_numbers([all_rows[place], all_rows[first]])
            if again != before and all_rows[place]["id"] in names:
                index.number(kind, again, names[all_rows[place]["id"]])
    if raw:
        kept = {_key(kind, row) for row in rows}
        index.warn(
            f"{raw.table.path.name}: {{}} extractions belong to no row of the final table; they "
            "were left out.",
            [node.node_id for key, nodes in extracted.items() if key not in kept for node in nodes],
        )
        _drop_unused(raw, used)
        index.parts.append(raw)
    index.parts.append(part)
    _warn_of_extractions(index, part, all_rows, units, rootless, has_raw=raw is not None)
    return names


_TEXTS = ("description", "text", "full_content")


def _read_rows(
    table: Table, columns: Sequence[str], empty: list[str] | None = None
) -> tuple[list[Row], dict[int, int]]:
    """The rows without their texts, and which repeat an earlier one: its place by theirs.

    GraphRAG wrote rows of relationships several times before 0.4, and an incremental update adds
    text units again, with other numbers: only the number may differ.
    """
    rows: list[Row] = []
    repeats: dict[int, int] = {}
    seen: dict[str, tuple[int, int]] = {}
    for place, row in enumerate(table.rows(columns)):
        content = hash(tuple(str(row[key]) for key in row if key != "human_readable_id"))
        first, its = seen.setdefault(row["id"], (place, content))
        if row["id"] and first != place and its == content:
            repeats[place] = first
        if empty is not None and not (row["text"] or "").strip():
            empty.append(f"row {place}")
        rows.append({key: value for key, value in row.items() if key not in _TEXTS})
    return rows, repeats


def _warn_repeated(index: Index, table: Table, repeats: Iterable[int]) -> None:
    index.warn(
        f"{table.path.name}: {{}} rows repeat an earlier one; each is read once.",
        [f"row {place}" for place in sorted(repeats)],
    )


def _place(name: str, units: Sequence[str], extracted: Sequence[Placed]) -> Placed:
    if len(extracted) > 1:
        return Placed(name, 3, SUMMARIZE, {node.node_id: None for node in extracted})
    sources: dict[str, bool | None] = dict.fromkeys(units)
    if len(sources) > 1:
        return Placed(name, 3, SUMMARIZE, sources)
    return Placed(name, 2, EXTRACT, sources)


def _key(kind: str, row: Row) -> Key:
    return tuple(row.get(column) for column in _KEYS[kind])


def _read_raw(
    index: Index, kind: str, raw: TableNodes, units: Mapping[str, str]
) -> dict[Key, list[Placed]]:
    """One node for each description of the snapshot, on the text unit that it came from."""
    found: dict[Key, list[Placed]] = {}
    unknown: list[str] = []
    columns = ["description", "text_unit_ids", *_KEYS[kind]]
    for place, row in enumerate(raw.table.rows(columns)):
        descriptions, origins = row["description"] or [], row["text_unit_ids"] or []
        if len(descriptions) != len(origins):
            raise InputError(
                f"{raw.table.path} row {place}: {len(descriptions)} descriptions, but "
                f"{len(origins)} text_unit_ids; a raw snapshot has one for each description."
            )
        nodes = []
        for number, origin in enumerate(origins):
            name = f"{raw.kind}/{place}.{number}"
            if origin in units:
                nodes.append(Placed(name, 2, EXTRACT, {units[origin]: None}, part=number))
            else:
                unknown.append(name)
        raw.places.append(tuple(nodes))
        found.setdefault(_key(kind, row), []).extend(nodes)
    index.warn(
        f"{raw.table.path.name}: {{}} extractions name text units that the folder does not hold; "
        "they were left out.",
        unknown,
    )
    return found


def _drop_unused(raw: TableNodes, used: set[str]) -> None:
    # An extraction that is its entity's only one IS the entity's description (stage 2).
    raw.places = [tuple(node for node in row if node.node_id in used) for row in raw.places]


def _warn_of_extractions(
    index: Index,
    part: TableNodes,
    rows: Sequence[Row],
    units: Mapping[str, str],
    rootless: Sequence[str],
    *,
    has_raw: bool,
) -> None:
    file = part.table.path.name
    dangling = [
        f"row {place}"
        for place, row in enumerate(rows)
        if any(unit not in units for unit in row["text_unit_ids"] or ())
    ]
    index.warn(
        f"{file}: {{}} rows name text units that text_units does not hold; those edges were left "
        "out.",
        dangling,
    )
    _warn_rootless(index, part.table, rootless)
    bridged = [
        node.node_id
        for node in part.placed
        if node.stage == 3 and any(source.startswith(f"{TEXT_UNIT}/") for source in node.sources)
    ]
    if bridged:
        why = "does not cover them" if has_raw else "is not in the folder"
        index.warnings.append(
            f"Per-chunk extractions: raw_{_TABLES[part.kind]}.parquet {why} (GraphRAG 3 writes it "
            f"with snapshots.raw_graph: true). {len(bridged)} summarized descriptions (stage 3) "
            f"in {file} therefore hang directly on their text units."
        )


def place_covariates(
    index: Index, table: Table | None, units: Mapping[str, str]
) -> dict[str, list[str]]:
    """Stage 2: the claims about entities; returns their node_ids by subject."""
    if table is None:
        index.warnings.append("The folder holds no covariates (claims); there are no such nodes.")
        return {}
    rows = list(table.rows(["id", "human_readable_id", "subject_id", "text_unit_id"]))
    keys, numbers = parquet_ids(table, rows), human_numbers(rows)
    part = TableNodes(COVARIATE, table)
    subjects: dict[str, list[str]] = {}
    rootless: list[str] = []
    for row, number, name in zip(rows, numbers, node_ids(COVARIATE, keys, numbers), strict=True):
        unit = units.get(row["text_unit_id"] or "")
        if unit is None:
            rootless.append(name)
            part.places.append(())
            continue
        part.places.append((Placed(name, 2, "extract_covariates", {unit: None}),))
        index.number(COVARIATE, number, name)
        if row["subject_id"]:
            subjects.setdefault(row["subject_id"], []).append(name)
    index.parts.append(part)
    _warn_rootless(index, table, rootless)
    return subjects


def _warn_rootless(index: Index, table: Table, rootless: Sequence[str]) -> None:
    index.warn(
        f"{table.path.name}: {{}} rows come from no text unit that the folder holds; they were "
        "left out, because nothing could support them.",
        rootless,
    )
