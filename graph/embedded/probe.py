"""Asks the driver whether the engine answers, takes the password and opens the database.

Run as a process of its own, which ends with the answer: the driver takes 70 MB of memory, and
the supervisor would keep them as long as the engine runs. It is started together with the
engine, so that loading the driver costs no time.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.lean_imports import keep_imports_lean

keep_imports_lean()

from veritrail_graph.graph.store import Database, DatabaseAddress  # noqa: E402

_PAUSE_SECONDS = 0.05


async def refusal(address: DatabaseAddress, seconds: float) -> str | None:
    """Why the engine refuses a login and a query until the time is over; None when it does not.

    Bolt listens a moment before a new database is there, so a refusal is tried again.
    """
    deadline = time.monotonic() + seconds
    while True:
        database = Database(address, retry_seconds=0)
        try:
            await database.connect()
            await database.read("meta/schema_state")
        except VeriTrailError as error:
            if time.monotonic() > deadline:
                return str(error)
            await asyncio.sleep(_PAUSE_SECONDS)
        else:
            return None
        finally:
            await database.close()


def main() -> None:
    """Read address and patience as a line of JSON, and print the refusal, which may be empty."""
    if line := sys.stdin.readline():
        values = json.loads(line)
        seconds = values.pop("seconds")
        sys.stdout.write(asyncio.run(refusal(DatabaseAddress(**values), seconds)) or "")


if __name__ == "__main__":
    main()
