"""The environment of the other writers: made once, with pip and Maven, in a folder of its own."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from benchmarks.children import BenchmarkError
from tests.neo4j_server import launcher

HERE = Path(__file__).resolve().parent
REQUIREMENTS, POM = HERE / "requirements.txt", HERE / "pom.xml"
SECONDS = 1_800


@dataclass(frozen=True, slots=True)
class Environment:
    """Where the other writers are.

    Attributes:
        python: Runs them.
        apoc: The folder of the jars that the server loads.
    """

    python: Path
    apoc: Path


def prepare() -> Environment:
    """The environment, made on first use and when a pinned version has changed.

    A folder is marked when it is whole, so a stopped download is never used.

    Raises:
        BenchmarkError: It cannot be made here; the message says what is missing.
    """
    root = launcher.CACHE / "peers"
    root.mkdir(parents=True, exist_ok=True)
    python = root / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    with FileLock(root / "lock"):
        if _is_new(root / "venv", REQUIREMENTS):
            print(f"peers: installing the other writers into {root}, once", flush=True)
            _run([sys.executable, "-m", "venv", str(root / "venv")], "python -m venv")
            _run([str(python), "-m", "pip", "install", "--quiet", "-r", str(REQUIREMENTS)], "pip")
            _mark(root / "venv", REQUIREMENTS)
        if _is_new(root / "apoc", POM):
            mvn = shutil.which("mvn")
            if mvn is None:
                raise BenchmarkError("the other writers need APOC, and Maven (mvn) to fetch it")
            command = [mvn, "-q", "-B", "-f", str(POM), "dependency:copy-dependencies"]
            command += ["-DincludeScope=runtime", f"-DoutputDirectory={root / 'apoc'}"]
            _run(command, "Maven")
            _mark(root / "apoc", POM)
    return Environment(python, root / "apoc")


def _checksum(of: Path) -> str:
    version = "{}.{}".format(*sys.version_info[:2])
    return hashlib.sha256(of.read_bytes() + version.encode()).hexdigest()


def _is_new(folder: Path, of: Path) -> bool:
    """Whether the folder must be made; what is left of another one is removed."""
    mark = folder / "complete"
    if mark.is_file() and mark.read_text(encoding="ascii") == _checksum(of):
        return False
    shutil.rmtree(folder, ignore_errors=True)
    return True


def _mark(folder: Path, of: Path) -> None:
    (folder / "complete").write_text(_checksum(of), encoding="ascii")


def _run(command: list[str], tool: str) -> None:
    why = "the other writers could not be fetched; that needs the network, once"
    try:
        done = subprocess.run(
            command, input="", capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise BenchmarkError(f"{why}: {tool} took more than {SECONDS} s") from None
    if done.returncode:
        raise BenchmarkError(f"{why}. {tool} says:\n{(done.stdout + done.stderr)[-2000:]}")
