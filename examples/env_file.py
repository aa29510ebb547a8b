"""Write `.env`, and the files of secrets for docker compose, with new passwords.

    python examples/env_file.py [--file .env]

Existing files are not changed; missing files of secrets are made of what `.env` says. Only the
Python of the machine is needed.
"""

from __future__ import annotations

import argparse
import os
import re
import secrets
import sys
from pathlib import Path

TEXT = """\
# Read by docker compose, and by veritrail when it is called in this folder. Keep it to yourself,
# and the folder .secrets, from which the containers take the same password and key.
NEO4J_PASSWORD={password}
VERITRAIL_API_KEY={key}

# With this line veritrail in this folder uses the Neo4j of docker compose, not the embedded engine:
# NEO4J_URI=bolt://127.0.0.1:7687

# Another Neo4j than that of docker-compose.yml, such as the one with long-term support:
# NEO4J_IMAGE=neo4j:5.26.29-community

# Memory of Neo4j, the most memory of both containers, and ports on this machine:
# NEO4J_HEAP=1G
# NEO4J_PAGECACHE=512M
# NEO4J_MEMORY=3G
# VERITRAIL_MEMORY=2G
# NEO4J_HTTP_PORT=7474
# NEO4J_BOLT_PORT=7687
# VERITRAIL_PORT=8000
"""


SECRETS = {
    "neo4j_auth": "neo4j/{NEO4J_PASSWORD}",
    "neo4j_password": "{NEO4J_PASSWORD}",
    "veritrail_api_key": "{VERITRAIL_API_KEY}",
}
"""What a file of `.secrets` holds. The folder is its owner's alone; in it the files can be read by
all, as each container reads them as a user of its own."""


def write(path: Path, text: str, mode: int) -> bool:
    """Write a file; False when there is one already."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        return False
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), mode)
        file.write(text)
    return True


def write_secrets(path: Path) -> None:
    """Write the files of secrets beside a `.env` that are not there.

    Raises:
        ValueError: It has no value for one of them.
    """
    values = dict(re.findall(r"^(\w+)=(.+)$", path.read_text(encoding="utf-8"), re.MULTILINE))
    for name in ("NEO4J_PASSWORD", "VERITRAIL_API_KEY"):
        if name not in values:
            raise ValueError(f"{path} has no {name}: write one into it, or remove the file")
    folder = path.parent / ".secrets"
    folder.mkdir(mode=0o700, exist_ok=True)
    for name, text in SECRETS.items():
        write(folder / name, text.format(**values), 0o444)


def main() -> int:
    """Write what was asked for."""
    parser = argparse.ArgumentParser(description="Write .env and .secrets with random passwords.")
    parser.add_argument("--file", type=Path, default=Path(".env"))
    path = parser.parse_args().file
    text = TEXT.format(password=secrets.token_urlsafe(24), key=secrets.token_urlsafe(32))
    try:
        written = write(path, text, 0o600)
        write_secrets(path)
    except OSError as error:
        print(f"env: {path} cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    except ValueError as error:
        print(f"env: {error}", file=sys.stderr)
        return 2
    if written:
        print(f"env: wrote {path} with random passwords; next: docker compose up --detach")
    else:
        print(f"env: {path} exists already and was not changed")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
