"""Carry a verification with the field `confidence` everywhere; a child of `test_one_more_field`.

It reads what it needs from stdin and prints where the field was found.
"""

# ruff: noqa: ASYNC240  # one small file, and nothing beside it
from __future__ import annotations

import asyncio
import io
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from starlette.testclient import TestClient

from veritrail_graph.api.client.answers import Verification as Shown
from veritrail_graph.api.client.answers import read
from veritrail_graph.api.server.application import Way, create_app
from veritrail_graph.api.settings import Settings
from veritrail_graph.api.show import markdown, notebook, plain, report_html, terminal
from veritrail_graph.api.show.trail import facts_of, shown
from veritrail_graph.api.show.trail_view import trail_view
from veritrail_graph.graph.exporters.process_file import write_document
from veritrail_graph.graph.importers.process_file import ProcessFileImporter
from veritrail_graph.graph.importers.registry import ImportOptions
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import Status, Verdict, Verification, trail
from veritrail_graph.graph.store import DatabaseAddress, open_store
from veritrail_graph.graph.store.export import StoredProcess

PROCESS = "one-more-field"
NAME = "v-one-more-field"
DOCUMENT = {
    "format": "veritrail.process/1",
    "process_id": PROCESS,
    "nodes": [{"node_id": "a", "text": "A."}, {"node_id": "t", "text": "T."}],
    "edges": [{"source": "a", "target": "t"}],
    "claims": [{"claim_id": "k", "text": "T.", "node_id": "t"}],
}
CONFIDENCE = "MATCH (v:Verification {verification_id: $v}) RETURN v.confidence"


async def through_the_graph(address: DatabaseAddress, path: Path) -> dict[str, Any]:
    """Write it, read it, export it, and read the export back."""
    found: dict[str, Any] = {}
    async with open_store(address) as store:

        async def take() -> None:
            await ingest(store, ProcessFileImporter().open(path, ImportOptions()))

        path.write_text(json.dumps(DOCUMENT), encoding="utf-8")
        await take()
        (claim,) = await store.claims.all(PROCESS)
        values: dict[str, Any] = {"confidence": "rather calm"}
        made = Verification.of_claim(
            claim, verification_id=NAME, process_id=PROCESS, q=3, engine="lexical", indicative=True,
            created_at="2026-01-01T00:00:00Z", status=Status.SUCCEEDED,
            verdict=Verdict.FULLY_SUPPORTED, **values,
        )  # fmt: skip
        found |= by_each_writer(made)
        await store.trails.write(made)
        found["graph"] = (await store.database.run_text(CONFIDENCE, {"v": NAME}, 1)).rows[0][0]
        found["noun"] = (await store.trails.get(NAME)).json_object()["confidence"]
        parts: list[bytes] = []
        await write_document(store, await StoredProcess.open(store.database, PROCESS), parts.append)
        path.write_bytes(b"".join(parts))
        found["file"] = json.loads(path.read_bytes())["verifications"][0]["confidence"]
        await store.processes.delete(PROCESS)
        await take()
        found["read back"] = (await store.trails.get(NAME)).json_object()["confidence"]
    return found


def by_each_writer(made: Verification) -> dict[str, Any]:
    """Show it as each door does."""
    view = trail_view(made)
    document = shown(view)
    screen = Console(file=io.StringIO(), width=1_000)
    screen.print(terminal.tree(document))
    assert isinstance(screen.file, io.StringIO)
    texts = {
        "terminal": screen.file.getvalue(),
        "Markdown": markdown.text(document),
        "assistants": plain.text(document),
        "notebook": notebook.html(document),
        "report": report_html.html(document),
        "page": " ".join(report_html.line(one.words) for one in facts_of(view)),
    }
    return {name: "rather calm" for name, text in texts.items() if "rather calm" in text}


async def removed(address: DatabaseAddress) -> None:
    """Leave nothing behind in an engine that other tests use."""
    async with open_store(address) as store:
        await store.processes.delete(PROCESS)


def through_the_service(settings: Settings) -> dict[str, Any]:
    """Ask the service for it, and read the answer as the client does."""
    with TestClient(create_app(settings, Way(works=False)), base_url="http://127.0.0.1") as service:
        document = service.get(f"/v1/verifications/{NAME}").json()
    return {
        "REST": document["confidence"],
        "client": read(Shown, document).json_object()["confidence"],
    }


def main() -> None:
    """Read what is asked for, and print what was found."""
    asked = json.load(sys.stdin)
    address = DatabaseAddress(**asked["address"])
    found = asyncio.run(through_the_graph(address, Path(asked["file"])))
    settings = Settings(
        home=Path(asked["home"]), NEO4J_URI=address.uri, NEO4J_USERNAME=address.username,
        NEO4J_PASSWORD=address.password, NEO4J_DATABASE=address.database,
    )  # fmt: skip
    found |= through_the_service(settings)
    asyncio.run(removed(address))
    print(json.dumps({**found, "source": trail.__file__}))


if __name__ == "__main__":
    main()
