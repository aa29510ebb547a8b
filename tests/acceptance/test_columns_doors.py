"""Tables whose columns have other names, at every door but the command line."""

from __future__ import annotations

import asyncio
import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.test_mcp import assistant_here, text_of
from acceptance.web.test_processes_page import upload
from fakes.service_process import ServiceProcess
from fakes.settings_of import settings_of

from veritrail_graph import Client, Local
from veritrail_graph.api.client import Rejected

pytestmark = pytest.mark.engine

WRONG = "The ferry carries 48 cars."


def row_of(column: str) -> dict[str, str]:
    """A row whose contexts are in a column of that name, so that no other test has its shape."""
    return {column: "The ferry carries 42 cars.", "said": WRONG, "id": uuid.uuid4().hex}


def csv_of(column: str) -> bytes:
    row = row_of(column)
    return f"{','.join(row)}\n{','.join(row.values())}\n".encode()


def test_python_maps_the_columns_of_rows_and_files_and_keeps_the_map(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    mapped = {"contexts": "facts, raw", "answer": "said"}
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps(row_of("facts, raw")), encoding="utf-8")
    with Local(settings_of(veritrail.environment({}))) as here:
        with pytest.raises(Rejected, match=r'`columns=\{"question": NAME') as refused:
            here.check(log)
        assert "--columns" not in str(refused.value)
        with pytest.raises(Rejected, match="no column 'fact' for the contexts"):
            here.check(log, columns="contexts=fact,answer=said")
        with pytest.raises(TypeError, match="columns are those of a table"):
            here.check(WRONG, ["x"], columns=mapped)
        result = here.check([row_of("facts, raw")], columns=mapped)
        again = here.check(log)
        stored = here.ingest(log, format="detect", columns=mapped)
    assert [one.claim for one in result.wrong] == [WRONG]
    assert [one.claim for one in again.wrong] == [WRONG]
    assert any("as they were mapped for an earlier table" in one for one in again.warnings)
    assert (stored.status, stored.nodes) == ("unchanged", 2)


def test_a_service_maps_the_columns_of_files_and_keeps_the_map(
    shared_service: ServiceProcess, tmp_path: Path
) -> None:
    def send(path: str, **query: Any) -> Any:
        return shared_service.post(path, content=csv_of("rest_facts"), params=query)

    table = {"format": "detect", "filename": "log.csv"}
    refused = send("/v1/processes", **table)
    assert (refused.status_code, "?columns=question=NAME" in refused.text) == (422, True)
    wrong = send("/v1/processes", **table, columns="contexts=rest_facts,answer=rest_facts")
    assert (wrong.status_code, "is mapped twice" in wrong.text) == (422, True), wrong.text
    mapped = "contexts=rest_facts,answer=said"
    assert send("/v1/processes", **table, columns=mapped).status_code == 201
    assert send("/v1/processes", **table).status_code == 201  # it is known by now
    checked = send("/v1/check", **table, columns=mapped)
    assert checked.status_code == 202, checked.text
    plain = shared_service.post("/v1/check", json={"answer": "x"}, params={"columns": mapped})
    assert (plain.status_code, "with `format`" in plain.text) == (422, True)
    log = tmp_path / "log.csv"
    log.write_bytes(csv_of("client_facts"))
    with Client(shared_service.url) as client:
        with pytest.raises(Rejected, match=r'`columns=\{"question": NAME'):
            client.ingest_all(log)
        (stored,) = client.ingest_all(
            log, columns={"contexts": "client_facts", "answer": "said"}
        ).processes
        assert stored.nodes == 2


def test_keys_do_not_see_how_other_keys_mapped_a_table(tmp_path: Path) -> None:
    from veritrail_graph.api.app.known_tables import known_tables, remember_columns
    from veritrail_graph.graph.importers.column_map import ColumnMap

    log = tmp_path / "log.csv"
    log.write_bytes(csv_of("facts"))
    mapped = ColumnMap.of("contexts=facts,answer=said")
    remember_columns(tmp_path, [log], mapped, "key-1")

    assert list(known_tables(tmp_path, "key-1").maps) == [frozenset({"facts", "said", "id"})]
    assert not known_tables(tmp_path, "key-2").maps
    assert not known_tables(tmp_path).maps


def test_the_upload_form_maps_columns_and_keeps_what_was_filled_in(
    shared_service: ServiceProcess,
) -> None:
    refused = upload(shared_service, csv_of("page_facts"), "log.csv")
    assert "under the options: question=NAME" in refused.text
    wrong = upload(shared_service, csv_of("page_facts"), "log.csv", columns="contexts=fact")
    assert (wrong.status_code, 'value="contexts=fact"' in wrong.text) == (422, True)
    mapped = "contexts=page_facts,answer=said"
    stored = upload(shared_service, csv_of("page_facts"), "log.csv", columns=mapped)
    assert (stored.status_code, "how=created" in stored.headers["location"]) == (303, True)


def test_an_assistant_checks_a_row_whose_columns_it_names(veritrail: Veritrail) -> None:
    async def work() -> tuple[Any, ...]:
        async with assistant_here(veritrail, "--engine", "lexical") as client:
            row, columns = row_of("mcp_facts"), {"contexts": "mcp_facts", "answer": "said"}
            return (
                await client.call_tool("check", {"row": row}),
                await client.call_tool("check", {"columns": columns, "process_id": "p"}),
                await client.call_tool("check", {"row": row, "columns": columns}),
            )

    refused, alone, checked = asyncio.run(work())
    assert "`columns` names them by their meaning" in text_of(refused)
    assert "are those of a `row`" in text_of(alone)
    assert [one["claim"] for one in checked.structured_content["findings"]] == [WRONG]
