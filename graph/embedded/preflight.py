"""Reasons not to start the engine, found before anything is started."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

import psutil

from veritrail_graph.graph.embedded.folder import EngineFolder
from veritrail_graph.graph.embedded.settings import MEBIBYTE, EngineSettings
from veritrail_graph.graph.errors import EngineUnavailable

DISTRIBUTION = "arcadedb-embedded"
_OTHERWISE = "set NEO4J_URI to use a Neo4j server"
_OLDEST_GLIBC = (2, 34)
# Left off the class path, so that they cannot open a port or an endpoint whatever is configured:
# other wire protocols, the MCP endpoint, the console and the bridge for in-process use.
_UNWANTED_JARS = ("mcp", "postgresw", "redisw", "graphql", "console", "python-bridge")


@dataclass(frozen=True, slots=True)
class Runtime:
    """The engine as the wheel brings it: a Java runtime and the jars to run on it."""

    java: Path
    jars: tuple[Path, ...]


def check_host(settings: EngineSettings, folder: EngineFolder) -> None:
    """Raise `EngineUnavailable`, with what to do about it, when a start would fail or do harm."""
    find_runtime()
    folder.prepare()
    free_disk = shutil.disk_usage(folder.root).free
    if free_disk < settings.min_free_disk:
        raise EngineUnavailable(
            f"the disk of {folder.root} is nearly full: {free_disk // MEBIBYTE} MiB are free and "
            f"the embedded engine asks for {settings.min_free_disk // MEBIBYTE} MiB; make room, "
            f"set VERITRAIL_HOME to a folder on another disk, or {_OTHERWISE}"
        )
    available = available_memory()
    if available < settings.needed_memory:
        raise EngineUnavailable(
            f"too little memory for the embedded engine: {available // MEBIBYTE} MiB are "
            f"available and a heap of {settings.heap} asks for "
            f"{settings.needed_memory // MEBIBYTE} MiB; close other programs, set "
            f"VERITRAIL_DB_HEAP to less (such as 256m), or {_OTHERWISE}"
        )


def find_runtime() -> Runtime:
    """Return the engine's Java runtime and jars.

    The package is looked up, never imported: importing it loads a JVM bridge into this process.

    Raises:
        EngineUnavailable: The wheel is not installed, or a part of it is missing.
    """
    spec = importlib.util.find_spec("arcadedb_embedded")
    if spec is None or not spec.submodule_search_locations:
        libc, version = platform.libc_ver()
        raise EngineUnavailable(
            absent_message(platform.system(), platform.machine(), libc, version)
        )
    root = Path(spec.submodule_search_locations[0])
    java = root / "jre" / "bin" / "java"
    jars = tuple(
        jar
        for jar in sorted((root / "jars").glob("*.jar"))
        if not jar.name.startswith(tuple(f"arcadedb-{part}" for part in _UNWANTED_JARS))
    )
    if platform.system() == "Windows":
        # Not tried there, and its promise of private files rests on POSIX permissions.
        raise EngineUnavailable(
            f"the embedded engine is not supported on Windows; {_OTHERWISE}, or use WSL"
        )
    if not java.is_file() or not jars:
        raise EngineUnavailable(
            f"the package {DISTRIBUTION} in {root} is incomplete; "
            f"`pip install --force-reinstall {DISTRIBUTION}`, or {_OTHERWISE}"
        )
    return Runtime(java, jars)


def absent_message(system: str, machine: str, libc: str, libc_version: str) -> str:
    """Say why the engine's wheel is absent on such a machine, and what to do."""
    if (reason := _unsupported(system, machine, libc, libc_version)) is not None:
        return f"there is no embedded engine for {reason}; {_OTHERWISE}"
    return (
        f"the embedded engine is not installed: `pip install {DISTRIBUTION}` (or reinstall "
        f"veritrail-graph), or {_OTHERWISE}"
    )


def _unsupported(system: str, machine: str, libc: str, libc_version: str) -> str | None:
    if system == "Darwin":
        return None if machine == "arm64" else "Macs with an Intel processor"
    if system != "Linux":
        return system or "this platform"
    if machine not in ("x86_64", "aarch64"):
        return f"Linux on {machine}"
    if libc != "glibc":
        return "Linux without glibc (such as Alpine)"
    version = tuple(int(part) for part in libc_version.split(".")[:2] if part.isdigit())
    if version < _OLDEST_GLIBC:
        return f"Linux with glibc {libc_version} (2.34 or later is needed)"
    return None


def engine_version() -> str | None:
    """Return the version of the engine's wheel, or None when it is not installed."""
    try:
        return importlib.metadata.version(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return None


def available_memory(group: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the bytes that a new process could use, also inside a container with a limit."""
    available = int(psutil.virtual_memory().available)
    try:
        limit = int((group / "memory.max").read_text("ascii"))
        used = int((group / "memory.current").read_text("ascii"))
        counters = (group / "memory.stat").read_text("ascii").splitlines()
        cache = next(int(row.split()[1]) for row in counters if row.startswith("inactive_file "))
    except (OSError, ValueError, StopIteration):  # no cgroup v2, or no limit ("max")
        return available
    return min(available, max(0, limit - used + cache))
