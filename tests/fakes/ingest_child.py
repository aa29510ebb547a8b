"""An ingest in a process of its own, which a test may kill: `python -m fakes.ingest_child`.

It takes address, file and options as JSON on standard input, sends small batches, and writes
a line for every batch that is stored, and at the end the report.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import veritrail_graph.graph.ingest.write as batches
from veritrail_graph.graph.importers.process_file import ProcessFileImporter
from veritrail_graph.graph.importers.registry import ImportOptions
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.store import DatabaseAddress, open_store


async def main(login: dict[str, Any], file: str, replace: bool) -> None:
    batches.BATCH_ROWS = batches.EDGE_BATCH = 60

    def told(what: str, done: int, _total: int) -> None:
        if what in {"nodes", "edges"}:
            print(what, done, flush=True)

    source = ProcessFileImporter().open(Path(file), ImportOptions())
    async with open_store(DatabaseAddress(**login)) as store:
        report = await ingest(store, source, replace=replace, progress=told)
    print("done", report.status, report.resumed, flush=True)


if __name__ == "__main__":
    asyncio.run(main(**json.load(sys.stdin)))
