"""Stages 1 to 3: text units, what was extracted from them, and summarized descriptions.

A description that comes from one text unit is an extraction (stage 2); one that comes from
several was summarized (stage 3). GraphRAG keeps the extractions behind a summary only with
`snapshots.raw_graph`; without them a summary hangs directly on its text units.

Source: VeriTrail B.2.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.graphrag.citations import (
    COVARIATE,
    ENTITY,
    RELATIONSHIP,
    TEXT_UNIT,
)
from veritrail_graph.graph.importers.graphrag.index import (
    Index,
    Part,
    Placed,
    human_numbers,
    node_ids,
    parquet_ids,
    shown,
)
from veritrail_graph.graph.importers.graphrag.tables import Row, Table
from veritrail_graph.graph.importers.graphrag.texts import EXTRACTED_ENTITY, EXTRACTED_RELATIONSHIP

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
    rows = list(table.rows(["id"]))
    if not rows:
        raise InputError(f"{table.path} holds no rows: without text units there is no process.")
    keys = parquet_ids(table, rows)
    # The place in the table, not `human_readable_id`, is what `Sources (n)` means.
    names = node_ids(TEXT_UNIT, keys, list(range(len(keys))))
    part = Part(TEXT_UNIT, table)
    for place, name in enumerate(names):
        part.places.append((Placed(name, 1, "chunk"),))
        index.number(TEXT_UNIT, place, name)
    index.parts.append(part)
    return dict(zip(keys, names, strict=True))


def place_extractions(
    index: Index, kind: str, tables: Mapping[str, Table], units: Mapping[str, str]
) -> dict[str, str]:
    """Stages 2 and 3: the entities or relationships; returns node_ids by parquet id."""
    raw_table = tables.get(f"raw_{_TABLES[kind]}")
    raw = Part(_RAW_KINDS[kind], raw_table) if raw_table else None
    extracted = _read_raw(index, kind, raw, units) if raw else {}
    table = tables[_TABLES[kind]]
    rows = list(table.rows(["id", "human_readable_id", "text_unit_ids", *_KEYS[kind]]))
    keys, numbers = parquet_ids(table, rows), human_numbers(rows)
    part = Part(kind, table)
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
    if raw:
        kept = {_key(kind, row) for row in rows}
        _warn_ownerless(
            index, raw, [n for key, ns in extracted.items() if key not in kept for n in ns]
        )
        _drop_unused(raw, used)
        index.parts.append(raw)
    index.parts.append(part)
    _warn(index, part, rows, units, rootless, has_raw=raw is not None)
    return names


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
    index: Index, kind: str, raw: Part, units: Mapping[str, str]
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
    if unknown:
        index.warnings.append(
            f"{raw.table.path.name}: {shown(unknown)} extractions name text units that the "
            "folder does not hold; they were left out."
        )
    return found


def _warn_ownerless(index: Index, raw: Part, ownerless: Sequence[Placed]) -> None:
    if ownerless:
        index.warnings.append(
            f"{raw.table.path.name}: {shown(node.node_id for node in ownerless)} extractions "
            "belong to no row of the final table; they were left out."
        )


def _drop_unused(raw: Part, used: set[str]) -> None:
    # An extraction that is its entity's only one IS the entity's description (stage 2).
    raw.places = [tuple(node for node in row if node.node_id in used) for row in raw.places]


def _warn(
    index: Index,
    part: Part,
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
    if dangling:
        index.warnings.append(
            f"{file}: {shown(dangling)} rows name text units that text_units does not hold; "
            "those edges were left out."
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
    part = Part(COVARIATE, table)
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
    if rootless:
        index.warnings.append(
            f"{table.path.name}: {shown(rootless)} rows come from no text unit that the folder "
            "holds; they were left out, because nothing could support them."
        )
