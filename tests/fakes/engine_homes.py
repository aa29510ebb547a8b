"""Homes for embedded engines of tests, with a start-up cache: Java starts in half the time with it.

The cache is made once for an installed engine, and lies beside the Neo4j of the tests. Each
installation has a folder of its own there: clones may share one folder of downloads, and Java's
cache fits the paths of one engine alone.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from filelock import FileLock
from neo4j_server.launcher import CACHE

from veritrail_graph.graph.embedded import EngineSettings
from veritrail_graph.graph.embedded.folder import EngineFolder
from veritrail_graph.graph.embedded.launch import cache_file, find_runtime
from veritrail_graph.graph.embedded.startup_cache import make_cache
from veritrail_graph.graph.errors import EngineUnavailable


def with_cache(home: Path) -> Path:
    """Put the start-up cache of quick engines into a home, which is made if need be."""
    try:
        runtime = find_runtime()
        installed = hashlib.sha256(os.fsencode(runtime.java)).hexdigest()[:12]
        kept = EngineFolder(CACHE / "engine" / installed)
        kept.prepare()
        settings = EngineSettings(kept.home, heap="256m", jit="quick")
        file = cache_file(runtime, kept, settings)
        with FileLock(kept.home / "cache.lock"):
            if not file.exists():
                # In a thread of its own: asyncio.run works in none where a browser is driven.
                with ThreadPoolExecutor(1) as pool:
                    pool.submit(make_cache, settings).result()
    except EngineUnavailable:  # a test of the engine says so better
        return home
    own = EngineFolder(home)
    own.prepare()
    place = own.root / file.name
    if not place.exists():
        try:
            os.link(file, place)
        except OSError:  # another disk
            shutil.copy2(file, place)
    return home
