"""The command line and the environment that the engine is started with."""

from __future__ import annotations

import os
from pathlib import Path

from veritrail_graph.graph.embedded.folder import EngineFolder, write_private
from veritrail_graph.graph.embedded.preflight import Runtime
from veritrail_graph.graph.embedded.settings import DATABASE, MEBIBYTE, USERNAME, EngineSettings

_LONGEST_MESSAGE = 64 * MEBIBYTE
_MAIN_CLASS = "com.arcadedb.server.ArcadeDBServer"
# The child gets these alone: keys of model providers and JAVA_TOOL_OPTIONS are not its business.
_PASSED_ON = ("PATH", "HOME", "TZ")
_LOGGING = """\
handlers = java.util.logging.ConsoleHandler
.level = INFO
io.undertow.level = WARNING
org.xnio.level = WARNING
org.jboss.level = WARNING
java.util.logging.ConsoleHandler.level = INFO
java.util.logging.ConsoleHandler.formatter = java.util.logging.SimpleFormatter
java.util.logging.SimpleFormatter.format = %1$tF %1$tT %4$s %5$s%6$s%n
"""


def engine_command(runtime: Runtime, folder: EngineFolder, settings: EngineSettings) -> list[str]:
    """Return the engine's command line. It names the password's file, never the password."""
    logging = folder.config / "logging.properties"
    write_private(logging, _LOGGING)
    return [
        str(runtime.java),
        *_java_options(folder, logging, settings),
        *(f"-Darcadedb.{key}={value}" for key, value in _engine_settings(folder, settings).items()),
        "-cp",
        os.pathsep.join(str(jar) for jar in runtime.jars),
        _MAIN_CLASS,
    ]


def engine_environment(source: dict[str, str]) -> dict[str, str]:
    """Return the few variables of `source` that a child process of ours is given."""
    passed_on = {name: source[name] for name in _PASSED_ON if name in source}
    # Java reads and writes file names in the encoding of the locale; in "C" it finds no `ü`.
    return {**passed_on, "LC_ALL": "C.UTF-8"}


def _java_options(folder: EngineFolder, logging: Path, settings: EngineSettings) -> list[str]:
    quick = ["-XX:TieredStopAtLevel=1"] if settings.jit == "quick" else []
    return [
        f"-Xmx{settings.heap}",
        *quick,
        "-XX:+UseCompactObjectHeaders",
        # A virtual machine that ran out of memory is in an unknown state; a fresh one recovers
        # everything acknowledged from the log on disk.
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-CreateCoredumpOnCrash",
        f"-XX:ErrorFile={folder.logs / 'crash.log'}",
        # No world-readable counters in /tmp, and no way in for debuggers of other programs.
        "-XX:-UsePerfData",
        "-XX:+DisableAttachMechanism",
        f"-Djava.io.tmpdir={folder.scratch}",
        f"-Djava.util.logging.config.file={logging}",
        "-Djava.awt.headless=true",
        "-Dfile.encoding=UTF-8",
        "-Duser.language=en",
        "--enable-native-access=ALL-UNNAMED",
        "--add-opens=java.base/java.nio.channels.spi=ALL-UNNAMED",
        "--add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED",
    ]


def _engine_settings(folder: EngineFolder, settings: EngineSettings) -> dict[str, str]:
    return {
        "server.name": "veritrail",
        "server.rootPath": str(folder.root),
        "server.databaseDirectory": str(folder.databases),
        "server.configDirectory": str(folder.config),
        "server.backupDirectory": str(folder.backups),
        "server.logsDirectory": str(folder.logs),
        "server.rootPasswordPath": str(folder.password_file),
        "server.defaultDatabases": f"{DATABASE}[{USERNAME}]",
        # `production` would replace error texts by a reference; the engine is the user's own.
        "server.mode": "development",
        # The raw defaults listen on every interface, on well-known ports.
        "server.httpIncomingHost": "127.0.0.1",
        "server.httpIncomingPort": "0",
        "server.httpWorkerThreads": "4",
        "server.plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
        "bolt.host": "127.0.0.1",
        "bolt.port": "0",
        "bolt.defaultDatabase": DATABASE,
        # What is longer than its 16 MiB it refuses, and then it hears nothing any more.
        "bolt.maxMessageSize": str(_LONGEST_MESSAGE),
        "bolt.packstream.maxValueLength": str(_LONGEST_MESSAGE),
        # 2 = fsync at commit; the default does not, and a power cut would take acknowledged work.
        "txWalFlush": "2",
        # It does not honour the time that a client gives a transaction, and goes on with what a
        # client has left; its own limit, in milliseconds, ends that.
        "command.timeout": str(int(settings.statement_seconds * 1000)),
        "opencypher.loadCsv.allowFileUrls": "false",
        "opencypher.loadCsv.allowRemoteUrls": "false",
        "polyglotEngineEnabled": "false",
        "serverMetrics": "false",
        "support.autoRegister": "false",
    }
