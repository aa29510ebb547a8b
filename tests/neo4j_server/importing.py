"""A real Neo4j over a store that ``neo4j-admin database import full`` made from files."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neo4j_server import launcher

IMPORT_SECONDS = 120


@contextmanager
def imported(files: Path) -> Iterator[launcher.Server]:
    """Run the command of an export in its folder, then a server over what it made.

    Raises:
        Unavailable: Java or Maven are missing, or the server does not start.
    """
    java, lib = launcher._java(), launcher.fetch()
    home = Path(tempfile.mkdtemp(prefix="veritrail-neo4j-"))
    try:
        (home / "conf").mkdir()
        script = (files / "import.sh").read_text(encoding="utf-8").replace("\\\n", " ")
        program, *arguments = shlex.split(script)
        assert program == "neo4j-admin"
        command = [java, *launcher.JAVA_OPTIONS, "-cp", str(lib / "*")]
        done = subprocess.run(
            [*command, "org.neo4j.cli.AdminTool", *arguments],
            cwd=files,
            env={**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")},
            capture_output=True,
            text=True,
            timeout=IMPORT_SECONDS,
            check=False,
        )
        assert "IMPORT DONE" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]
        watchdog = launcher._launch(java, lib, home, launcher._free_port())
        try:
            yield _server(watchdog, home)
        finally:
            launcher._stop(watchdog)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _server(watchdog: subprocess.Popen[bytes], home: Path) -> launcher.Server:
    port = int(
        next(
            line.rpartition(":")[2]
            for line in (home / "conf" / "neo4j.conf").read_text(encoding="utf-8").splitlines()
            if line.startswith("server.bolt.listen_address")
        )
    )
    server = launcher._first_login(watchdog, home, port)
    if server is None:
        raise launcher.Unavailable(f"Neo4j did not start:\n{launcher._log(home)}")
    return server
