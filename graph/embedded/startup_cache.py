"""A cache of the engine's classes, loaded and linked, with which it starts in about half the time.

Java writes it at the end of a run that it watches. That run is one of its own, on an empty folder,
so that the user's engine is neither watched nor delayed and nothing of the user's data is in it. It
is made once for each version of the engine, after an engine that was not needed any more has
stopped. Java itself ignores a cache that does not fit.

Run as `python -m veritrail_graph.graph.embedded.startup_cache SETTINGS`.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from veritrail_graph.graph.embedded.folder import EngineFolder
from veritrail_graph.graph.embedded.launch import cache_file, find_runtime
from veritrail_graph.graph.embedded.process import EngineProcess
from veritrail_graph.graph.embedded.settings import DATABASE, MEBIBYTE, USERNAME, EngineSettings
from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.private import write_private

_MODULE = "veritrail_graph.graph.embedded.startup_cache"
_ROOM = 200 * MEBIBYTE  # the cache has some 40 MB, and as much again while it is made
_PATIENCE = 600.0
_LEAST_PRIORITY = 19


def begin_cache(settings: EngineSettings, folder: EngineFolder) -> None:
    """Make the cache in a process that outlives this one, unless that was tried before.

    A quick engine is for a few short commands: making a cache costs more than it saves them, but
    it uses one that is there.
    """
    if settings.jit != "full":
        return
    with suppress(OSError, VeriTrailError):
        file = cache_file(find_runtime(), folder, settings)
        if file.exists() or _tried(file).exists() or shutil.disk_usage(folder.root).free < _ROOM:
            return
        write_private(_tried(file), "")
        values = {**asdict(settings), "home": str(folder.home)}
        subprocess.Popen(
            [sys.executable, "-P", "-m", _MODULE, json.dumps(values)],
            cwd=folder.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def _tried(file: Path) -> Path:
    return file.with_suffix(".tried")


def make_cache(settings: EngineSettings) -> Path:
    """Run an engine on an empty folder, have Java watch it, and keep what it writes.

    Returns:
        The cache.

    Raises:
        EngineUnavailable: That engine does not start.
    """
    folder = EngineFolder(settings.home)
    file = cache_file(find_runtime(), folder, settings)
    draft = file.with_suffix(".new")
    place = folder.scratch / f"startup-{os.getpid()}"
    watched = EngineFolder(place)
    try:
        watched.prepare()
        own = replace(settings, home=place, stop_timeout=_PATIENCE, start_timeout=_PATIENCE)
        options = (f"-XX:AOTCacheOutput={draft}",)
        engine = EngineProcess(own, watched, on_exit=lambda: None, java_options=options)
        try:
            engine.start()
            engine.wait_ready()
            asyncio.run(_use(f"bolt://127.0.0.1:{engine.bolt_port}", watched.read_password()))
        finally:
            engine.stop()
        for old in folder.root.glob("startup-*.aot"):
            old.unlink(missing_ok=True)
        draft.chmod(0o600)
        draft.replace(file)
    finally:
        shutil.rmtree(place, ignore_errors=True)
        draft.unlink(missing_ok=True)
    return file


_USED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("walk/node", {"process_id": "p", "node_id": "n"}),
    (
        "walk/source_nodes",
        {"rows": [[0, "n"]], "checked": {}, "edges": 9, "with_texts": True, "longest": 9},
    ),
    ("walk/texts", {"process_id": "p", "node_ids": ["n"], "longest": 9}),
    ("walk/candidates", {"process_id": "p", "node_ids": ["n"], "checked": {}}),
)
"""Statements that a first command runs."""


async def _use(uri: str, password: str) -> None:
    """Ask the engine what a first command asks."""
    from veritrail_graph.graph.store import DatabaseAddress, open_store

    async with open_store(DatabaseAddress(uri, USERNAME, password, DATABASE)) as store:
        await store.processes.page(limit=1)
        for name, parameters in _USED:
            await store.database.read(name, **{"process_id": "p", **parameters})
        none: dict[str, Any] = {"process_id": "p", "content_hash": None, "cleared": False}
        await store.database.write("trail/write", rows=[], **none)


def main() -> None:
    """Make the cache with the least priority; a fault leaves the engine as it was."""
    os.umask(0o077)
    with suppress(OSError):
        os.nice(_LEAST_PRIORITY)
    values = json.loads(sys.argv[1])
    with suppress(VeriTrailError, OSError):
        make_cache(EngineSettings(**{**values, "home": Path(values["home"])}))


if __name__ == "__main__":
    main()
