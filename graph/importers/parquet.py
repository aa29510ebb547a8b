"""Rows of parquet files, refused by their metadata where they would take too much memory.

A parquet file holds a text that many cells have in common once. So the rows may be ten thousand
times as large as the file: texts stay what they are in the file, and become rows one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.process_file.reading import MOST_UNPACKED

MOST_ROWS, MOST_COLUMNS = 10_000_000, 10_000
LARGEST_ROW = 100_000_000
"""Bytes of the texts in a row."""
UNPACKED_AT_LEAST = 100_000_000
"""Bytes that the rows of any file may have; of a large one `MOST_UNPACKED` times its own."""

_AT_ONCE = 1_000
_SMALL = 1_000_000
"""Bytes of rows that are read together."""


def open_parquet(path: Path) -> Any:
    """Open a parquet file, a `pyarrow.parquet.ParquetFile`, after a look at what it says of itself.

    Raises:
        InputError: Its rows are too many, or would take too much memory.
        pyarrow.ArrowException, OSError, ValueError: It is damaged, or no parquet file.
    """
    import pyarrow.parquet as pq

    about = pq.read_metadata(path)
    if about.num_rows > MOST_ROWS or about.num_columns > MOST_COLUMNS:
        raise InputError(
            f"{path} has {about.num_rows:,} rows and {about.num_columns:,} columns; at most "
            f"{MOST_ROWS:,} and {MOST_COLUMNS:,} are read. Send it in several parts."
        )
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    _check_size(path, sum(group.total_byte_size for group in groups))
    texts = {
        column.path_in_schema
        for group in groups[:1]
        for column in map(group.column, range(about.num_columns))
        if column.physical_type == "BYTE_ARRAY"
    }
    return pq.ParquetFile(path, read_dictionary=sorted(texts))


def parquet_rows(path: Path, names: Mapping[str, str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of a parquet file.

    Args:
        path: The file.
        names: The columns that are read, with what they are called here; None: all, as they are.

    Raises:
        InputError: A row, or all together, take too much memory.
        pyarrow.ArrowException, OSError, ValueError: It is damaged, or no parquet file.
    """
    with open_parquet(path) as file:
        columns = None if names is None else [*names]
        total = 0
        for batch in file.iter_batches(_AT_ONCE, columns=columns, use_threads=False):
            if names is not None:
                batch = batch.rename_columns([names[name] for name in batch.schema.names])
            size = _size(batch.columns)
            total += size
            _check_size(path, total)
            if size <= _SMALL:
                yield from batch.to_pylist()
                continue
            for place in range(batch.num_rows):
                row = batch.slice(place, 1)
                if _size(row.columns) > LARGEST_ROW:
                    raise InputError(f"{path}: a row holds more than {LARGEST_ROW:,} bytes.")
                yield from row.to_pylist()


def _check_size(path: Path, size: int) -> None:
    most = max(UNPACKED_AT_LEAST, path.stat().st_size * MOST_UNPACKED)
    if size > most:
        raise InputError(
            f"{path} holds more than {most:,} bytes once it is unpacked, which is more than a file "
            "of its size may. Send it as JSON Lines, or in parts."
        )


def _size(arrays: Sequence[Any]) -> int:
    """Return how many bytes some columns have once texts in common are repeated."""
    import pyarrow as pa
    import pyarrow.compute as pc

    total = 0
    waiting = [*arrays]
    while waiting:
        array = waiting.pop()
        kind = array.type
        if isinstance(array, pa.DictionaryArray):
            lengths = pc.cast(pc.binary_length(array.dictionary), pa.int64())
            total += pc.sum(lengths.take(array.indices)).as_py() or 0
            total += 8 * len(array)
        elif pa.types.is_struct(kind):
            waiting += array.flatten()
        elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
            total += 8 * len(array)
            waiting += [array.keys, array.items] if pa.types.is_map(kind) else [array.flatten()]
        else:
            total += array.nbytes
    return total
