"""The embedded graph engine: ArcadeDB as a child process on loopback, spoken to over Bolt.

A command asks for `running_engine`; the first one starts a supervisor (`supervisor`), which owns
the engine (`process`) and outlives the command; `keeper` takes the engine down when the
supervisor is killed. Nothing of the engine is ever loaded into this process.
"""

from veritrail_graph.graph.embedded.client import (
    begin_engine,
    engine_status,
    running_engine,
    start_engine,
    stop_engine,
)
from veritrail_graph.graph.embedded.settings import (
    STATEMENT_SECONDS,
    EngineSettings,
    EngineStatus,
    parse_duration,
)

__all__ = [
    "STATEMENT_SECONDS",
    "EngineSettings",
    "EngineStatus",
    "begin_engine",
    "engine_status",
    "parse_duration",
    "running_engine",
    "start_engine",
    "stop_engine",
]
