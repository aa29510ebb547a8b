"""What comes from outside is bounded while it is read: values, unpacked bytes, broken rules."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest

from veritrail_graph.graph.errors import InputError, InvalidProcess, Violation, Violations
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.parquet import parquet_rows
from veritrail_graph.graph.importers.process_file import reading
from veritrail_graph.graph.importers.registry import find_processes, open_input
from veritrail_graph.graph.ingest.check import survey

MB = 1_000_000


@pytest.mark.parametrize("values", [b"{},", b"[],", b'"",', b'{"a":0},', b"0,"])
def test_a_json_text_of_too_many_values_is_refused_before_they_are_made(values: bytes) -> None:
    text = b"[" + values * (4 * MB // len(values)) + b"0]"
    tracemalloc.start()
    with pytest.raises(reading.TooManyValues, match="more than 100 values"):
        reading.check_values(text, 100)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 16 * MB


@pytest.mark.parametrize("inside", [b"a, b: [c] {d}", b'\\", \\"', b"\\\\", b'\\\\\\",'])
def test_signs_within_a_text_are_no_values(inside: bytes) -> None:
    reading.check_values(b'{"a": "' + inside * (2 * MB // len(inside)) + b'"}', 10)


@pytest.mark.parametrize("format_name", [None, "process", "langfuse", "rag", "agents", "prov"])
def test_a_file_of_empty_objects_is_refused_whatever_its_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_name: str | None
) -> None:
    assert reading.MOST_VALUES == 3_000_000
    monkeypatch.setattr(reading, "MOST_VALUES", 300_000)
    path = tmp_path / "a.json"
    path.write_bytes(b'{"nodes": [' + b"{}," * 400_000 + b'{}], "edges": []}')
    with pytest.raises(InputError) as error:
        _ = [one.open() for one in find_processes(path, format_name=format_name)]
    words = " ".join(map(str, (error.value, *error.value.violations)))
    assert "more than 300,000 values" in words


def test_every_way_to_read_a_packed_file_ends_where_it_grows_too_much(tmp_path: Path) -> None:
    packed = gzip.compress((b" " * 99 + b"\n") * (3 * MB // 100))
    for name in ("a.csv.gz", "a.pb.gz", "a.jsonl.gz", "a.json.gz"):
        path = tmp_path / name
        path.write_bytes(packed)
        with (
            pytest.raises(InputError, match="unpacks to more than 200 times"),
            reading.open_bytes(path) as file,
        ):
            file.read()
    with pytest.raises(InputError):
        list(files.delimited(tmp_path / "a.csv.gz"))


def broken(count: int) -> Violations:
    return Violations(
        Violation(kind, str(number), "is wrong")
        for number in range(count)
        for kind in ("one", "two")
        if kind == "one" or number < 3
    )


def test_of_many_broken_rules_a_thousand_are_kept_of_every_kind_some_and_the_rest_is_counted() -> (
    None
):
    found = broken(5_000)
    listed = found.listed()
    assert (len(found), found.kinds) == (5_003, {"one", "two"})
    assert len(listed) == 1_001
    assert [one.where for one in listed if one.kind == "two"] == ["0", "1", "2"]
    assert str(listed[-1]) == "and 4,003 more of this kind"
    assert len(broken(900).listed()) == 903, "few are all listed"
    assert len(InputError("x", found).violations) == 1_001


def test_reading_ends_where_too_many_rules_are_broken(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [json.dumps({"format": "veritrail.process/1"}), *["{}"] * 150_000]
    path.write_text("\n".join(lines), "utf-8")
    with pytest.raises(InvalidProcess, match="more than 100,001 rules") as error:
        survey(open_input(path))
    assert len(error.value.violations) <= 1_002
    assert str(error.value.violations[-1]).endswith("and maybe more: reading ended here")


def test_one_record_that_breaks_very_many_rules_breaks_one_in_the_answer(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    odd = {f"k{number}": 0 for number in range(100_001)}
    node = {"node_id": "a", "text": "b", **odd}
    path.write_text(
        json.dumps({"format": "veritrail.process/1", "nodes": [node], "edges": []}), "utf-8"
    )
    with pytest.raises(InvalidProcess) as error:
        survey(open_input(path))
    (only,) = error.value.violations
    assert "breaks 100,001 rules" in str(only)


def bomb(path: Path, length: int, rows: int) -> Path:
    """A parquet file of one long text that every cell has in common."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = "a" * length
    table = pa.table(
        {
            "question": ["Why?"] * rows,
            "answer": ["So."] * rows,
            "contexts": pa.array([[text]] * rows, pa.list_(pa.string())),
        }
    )
    pq.write_table(table, path, compression="zstd", dictionary_pagesize_limit=2 * length)
    return path


def test_a_text_that_all_cells_of_a_parquet_file_share_is_in_memory_once(tmp_path: Path) -> None:
    import pyarrow as pa

    path = bomb(tmp_path / "a.parquet", 8 * MB, 100)
    before = pa.total_allocated_bytes()
    with pytest.raises(InputError, match="more than 100,000,000 bytes once it is unpacked"):
        next(parquet_rows(path))
    assert pa.total_allocated_bytes() - before < 20 * MB
    small = bomb(tmp_path / "b.parquet", 1 * MB, 20)
    assert [len(row["contexts"][0]) for row in parquet_rows(small)] == [1 * MB] * 20


def test_a_parquet_file_is_refused_by_what_it_says_of_itself(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"answer": pa.nulls(10_000_001)}), rows)
    with pytest.raises(InputError, match="10,000,001 rows"):
        next(parquet_rows(rows))
    large = bomb(tmp_path / "large.parquet", 110 * MB, 1)
    with pytest.raises(InputError, match="more than 100,000,000 bytes"):
        next(parquet_rows(large))
    with pytest.raises(InputError, match="more than 100,000,000 bytes"):
        _ = [one.open() for one in find_processes(large, format_name="rag")]


def test_a_large_text_may_hold_a_value_for_every_sixteen_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "MOST_VALUES", 1_000)
    reading.check_values(b"[" + b'"twelve letters",' * 100_000 + b"0]")
    with pytest.raises(reading.TooManyValues, match="more than 100,000 values"):
        reading.check_values(b"[" + b'"eight",  ' * 160_000 + b"]")


def test_a_document_that_was_looked_at_is_not_parsed_again(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"resourceSpans": []}', encoding="utf-8")
    seen = files.first_value(path)
    ((_, read),) = files.values(path)
    assert read is seen
    assert next(files.values(path))[1] is not seen  # it is held no longer
