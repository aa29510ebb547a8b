"""Writing a process with its claims and trails in forms that other programs read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.app.answers import Exported
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.exporters.verdicts import FORMATS as VERDICTS

if TYPE_CHECKING:
    from veritrail_graph.api.app.part import Progress
    from veritrail_graph.graph.store import Store
    from veritrail_graph.graph.store.export import StoredProcess

FOLDERS = ("csv", "neo4j-csv")
FORMATS = (
    "process", "graphml", "csv", "cypher", "neo4j-csv", "prov", "openlineage", *VERDICTS,
)  # fmt: skip
FILES = tuple(one for one in FORMATS if one not in FOLDERS)
_DOCUMENT = (".json", ".json.gz")
_ENDINGS = {
    ".json": "process",
    ".jsonl": "process",
    ".ndjson": "process",
    ".graphml": "graphml",
    ".cypher": "cypher",
}
_DOUBLE_ENDINGS = {
    ".prov.json": "prov",
    ".openlineage.jsonl": "openlineage",
    ".langfuse-scores.jsonl": "langfuse-scores",
    ".otel-events.json": "otel-events",
    ".otel-logs.jsonl": "otel-logs",
    ".phoenix-annotations.json": "phoenix-annotations",
    ".mlflow-assessments.json": "mlflow-assessments",
}


_OTHER_ENDINGS = {"process": ".jsonl", "csv": "-csv.zip", "neo4j-csv": "-neo4j.zip"}


def ending_of(format_name: str) -> str:
    """Return how the name of a file in a format ends; of tables that of a .zip.

    Raises:
        InputError: There is no such format.
    """
    _check_known(format_name)
    known = {name: ending for ending, name in (_ENDINGS | _DOUBLE_ENDINGS).items()}
    return (known | _OTHER_ENDINGS)[format_name]


def is_double(path: Path) -> bool:
    """Return whether the name of a file ends as that of an export of two words, `.gz` left aside.

    Args:
        path: The file.
    """
    return path.name.lower().removesuffix(".gz").endswith(tuple(_DOUBLE_ENDINGS))


def format_of(path: Path | None) -> str:
    """The format that the ending of a file names, `.gz` left aside; process without an ending.

    Raises:
        InputError: No format, or more than one, has this ending.
    """
    if path is None:
        return "process"
    name = path.name.lower().removesuffix(".gz")
    for double, format_name in _DOUBLE_ENDINGS.items():
        if name.endswith(double):
            return format_name
    ending = Path(name).suffix
    if ending and ending not in _ENDINGS:
        known = ", ".join([*_ENDINGS, *_DOUBLE_ENDINGS])
        raise InputError(
            f"{path}: its ending names no format. Known endings: {known}, each also "
            f"with .gz. Else name one of {', '.join(FORMATS)}.",
            code="export_ending",
        )
    return _ENDINGS.get(ending, "process")


def check_export(format_name: str, path: Path | None, *, force: bool, spreadsheet: bool) -> None:
    """Find wrong use before the graph is opened.

    Raises:
        InputError: There is no such format, it cannot be written there, or something is there.
    """
    _check_known(format_name)
    if spreadsheet and format_name != "csv":
        raise InputError("Only the format csv can be written for spreadsheets.")
    if path is None and format_name in FOLDERS:
        raise InputError(f"The format {format_name} writes several files: name a folder or a .zip.")
    if path is not None:
        from veritrail_graph.graph.exporters.output import check_free

        check_free(path, force=force)


def _check_known(format_name: str) -> None:
    if format_name not in FORMATS:
        raise InputError(f"Unknown format {format_name!r}. Known formats: {', '.join(FORMATS)}.")


async def export(
    store: Store,
    process_id: str,
    format_name: str,
    path: Path | None,
    force: bool,
    spreadsheet: bool,
    progress: Progress,
) -> Exported:
    """Write a process; see `Processes.export`."""
    from veritrail_graph.graph.store.export import StoredProcess

    stored = await StoredProcess.open(store.database, process_id)
    stored.progress = progress
    done = Exported(process_id, format_name, path)
    if format_name in FOLDERS and path is not None:
        return await _to_folder(store, stored, done, path, force, spreadsheet)
    return await _to_file(store, stored, done, force)


async def _to_file(store: Store, stored: StoredProcess, done: Exported, force: bool) -> Exported:
    """Write one file, or to stdout."""
    from veritrail_graph.graph.exporters.cypher_script import write_script
    from veritrail_graph.graph.exporters.graphml import GraphMl
    from veritrail_graph.graph.exporters.openlineage import write_events
    from veritrail_graph.graph.exporters.output import one_file
    from veritrail_graph.graph.exporters.process_file import write_document, write_lines
    from veritrail_graph.graph.exporters.prov import write_prov
    from veritrail_graph.graph.exporters.verdicts import write_verdicts

    replaced = 0
    with one_file(done.path, force=force) as file:
        if done.format == "graphml":
            graphml = GraphMl(stored, file.write)
            await graphml.run(store)
            counts, replaced = graphml.counts, graphml.replaced
        elif done.format == "cypher":
            counts = await write_script(store, stored, file.write)
        elif done.format == "prov":
            counts = await write_prov(store, stored, file.write)
        elif done.format == "openlineage":
            counts = await write_events(store, stored, file.write)
        elif done.format in VERDICTS:
            counts = await write_verdicts(done.format, store, stored, file.write)
        elif done.path is not None and done.path.name.lower().endswith(_DOCUMENT):
            counts = await write_document(store, stored, file.write)
        else:
            counts = await write_lines(store, stored, file.write)
        await stored.check_unchanged()
    return replace(done, counts=dict(counts), replaced=replaced)


async def _to_folder(
    store: Store,
    stored: StoredProcess,
    done: Exported,
    path: Path,
    force: bool,
    spreadsheet: bool,
) -> Exported:
    """Write tables into a folder or a .zip."""
    from veritrail_graph.graph.exporters.neo4j_csv import import_command, write_import
    from veritrail_graph.graph.exporters.output import folder
    from veritrail_graph.graph.exporters.tables import Tables

    command = import_command() if done.format == "neo4j-csv" else None
    formulas = 0
    with folder(path, force=force) as place:
        if done.format == "csv":
            tables = Tables(place, for_spreadsheets=spreadsheet)
            await tables.run(store, stored)
            counts, formulas = tables.counts, 0 if spreadsheet else tables.formulas
        else:
            counts = await write_import(store, stored, place)
        await stored.check_unchanged()
    return replace(done, counts=dict(counts), formulas=formulas, command=command)
