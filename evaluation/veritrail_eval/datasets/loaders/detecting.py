"""Find the files that make a data set, and check their layout.

Source: ours (docs/datasets.md).
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

from veritrail_eval.tables import JSON_SUFFIXES, PARQUET_SUFFIX
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files

_TABLES = (*JSON_SUFFIXES, ".csv", ".tsv", PARQUET_SUFFIX)


def table_files(path: Path) -> list[Path]:
    """The file, or the tables of a folder by name; those of folders in it are not looked at."""
    if not path.is_dir():
        return [path]
    found = [one for one in path.iterdir() if one.is_file() and not one.name.startswith(".")]
    return sorted(one for one in found if files.suffix_of(one) in _TABLES)


def keys_of(path: Path) -> frozenset[str] | None:
    """The columns of a table, or the keys of its first entry; None: it is no table."""
    try:
        known = path.stat()
    except OSError:
        return None
    return _keys_of(path, known.st_mtime_ns, known.st_size) if path.is_file() else None


@lru_cache(maxsize=4_096)  # every loader asks in turn, for every file of a folder
def _keys_of(path: Path, _changed: int, _size: int) -> frozenset[str] | None:
    suffix = files.suffix_of(path)
    if suffix == PARQUET_SUFFIX:
        return _parquet_keys(path)
    if suffix in (".csv", ".tsv"):
        try:
            header = next((row for _, row in files.delimited(path) if row), [])
        except InputError:
            return None
        return frozenset(name.strip() for name in header)
    first = files.first_record(path)
    return frozenset(first) if isinstance(first, dict) else None


def _parquet_keys(path: Path) -> frozenset[str] | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return frozenset(pq.read_schema(path).names)
    except (pa.ArrowException, OSError, ValueError):
        return None


def why_no_tables(path: Path, required: Collection[str]) -> str | None:
    """Return why a file lacks columns, or every table of a folder does; None: one has them all."""
    reason = "no table in the folder"
    for one in table_files(path):
        keys = keys_of(one)
        if keys is None:
            reason = f"{one.name} is no table"
            continue
        lacking = [name for name in required if name not in keys]
        if not lacking:
            return None
        reason = f"{one.name} has no column or key {', '.join(map(repr, lacking))}"
    return reason


def stem_of(path: Path) -> str:
    """The name of a file without its endings."""
    return Path(path.name.removesuffix(".gz")).stem
