"""Write `.env` for docker compose, with new passwords.

    python examples/env_file.py [--file .env]

An existing file is not changed. Only the Python of the machine is needed.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from pathlib import Path

TEXT = """\
# Read by docker compose, and by veritrail when it is called in this folder. Keep it to yourself.
NEO4J_PASSWORD={password}
VERITRAIL_API_KEY={key}

# With this line veritrail in this folder uses the Neo4j of docker compose, not the embedded engine:
# NEO4J_URI=bolt://127.0.0.1:7687

# Memory of Neo4j, and ports on this machine:
# NEO4J_HEAP=1G
# NEO4J_PAGECACHE=512M
# NEO4J_HTTP_PORT=7474
# NEO4J_BOLT_PORT=7687
# VERITRAIL_PORT=8000
"""


def write(path: Path) -> bool:
    """Write the file, for its owner alone; False when there is one already."""
    text = TEXT.format(password=secrets.token_urlsafe(24), key=secrets.token_urlsafe(32))
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    return True


def main() -> int:
    """Write the file that was asked for."""
    parser = argparse.ArgumentParser(description="Write .env with random passwords.")
    parser.add_argument("--file", type=Path, default=Path(".env"))
    path = parser.parse_args().file
    try:
        written = write(path)
    except OSError as error:
        print(f"env: {path} cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    if written:
        print(f"env: wrote {path} with random passwords; next: docker compose up --detach")
    else:
        print(f"env: {path} exists already and was not changed")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
