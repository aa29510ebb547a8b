"""What `export --format neo4j-csv` writes, imported by the server's own importer."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from fakes.exporting import lines_of, store_nasty
from fakes.processes import process
from neo4j_server import importing, launcher

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.exporters.neo4j_csv import SEPARATOR, write_import
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.store import DatabaseAddress, Store, open_store
from veritrail_graph.graph.store.export import StoredProcess

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def embedded(embedded_address: DatabaseAddress, arun: Any) -> Any:
    manager = open_store(embedded_address)
    yield arun(manager.__aenter__())
    arun(manager.__aexit__(None, None, None))


@pytest.mark.soak
@pytest.mark.slow
def test_an_imported_process_is_the_one_that_was_exported(
    embedded: Store, arun: Any, tmp_path: Path
) -> None:
    name = "t-imported"
    arun(store_nasty(embedded, name))
    stored = arun(StoredProcess.open(embedded.database, name))
    counts = arun(write_import(embedded, stored, tmp_path))
    exported = arun(lines_of(embedded, name))
    arun(embedded.processes.delete(name))
    try:
        with importing.imported(tmp_path) as server:
            address = DatabaseAddress(server.uri, server.username, server.password, server.database)
            arun(_compare(address, name, counts, exported))
    except launcher.Unavailable as missing:
        pytest.skip(f"no real Neo4j: {missing}")


async def _compare(
    address: DatabaseAddress, name: str, counts: dict[str, int], exported: bytes
) -> None:
    async with open_store(address) as store:  # makes the schema that an import does not
        found: Counter[str] = Counter()
        for text in (
            "MATCH (n) UNWIND labels(n) AS name RETURN name, count(*)",
            "MATCH ()-[r]->() RETURN type(r), count(*)",
        ):
            found.update(dict((await store.database.run_text(text, {}, 100)).rows))
        assert {key: number for key, number in found.items() if key in counts} == counts
        assert await lines_of(store, name) == exported
        assert (await store.processes.get(name)).claims == 2
        verified = await store.trails.get(f"v-{name}-1")
        await store.trails.write(verified)
        assert await store.trails.get(f"v-{name}-1") == verified
        await store.processes.delete(name)
        text = "MATCH (n) WHERE NOT n:VeriTrailSchema RETURN count(n)"
        assert (await store.database.run_text(text, {}, 1)).rows[0][0] == 0


def test_a_list_that_the_importer_cannot_read_is_refused(
    store: Store, arun: Any, process_id: str, tmp_path: Path
) -> None:
    terminal = f"t{SEPARATOR}"
    source = process({"a": "A", terminal: "B"}, [("a", terminal)], process_id=process_id)
    arun(ingest(store, source))
    stored = arun(StoredProcess.open(store.database, process_id))
    with pytest.raises(InputError, match="format cypher can hold it"):
        arun(write_import(store, stored, tmp_path))
