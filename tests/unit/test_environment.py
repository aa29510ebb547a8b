"""What `make setup` and `make demo` install, and when, with a stand-in for Python and pip."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("requirements-runtime.lock", "requirements-clone.lock", "requirements-build.lock")
LOCKS = ("requirements.lock", *PARTS)
BESIDE = ("evaluation", "recorder")
RUNTIME = [" ".join(f"-r {name}" for name in PARTS), "-e ."]
EVERYTHING = ["-r requirements.lock", "-e . -e evaluation -e recorder"]
PYTHON = """#!/bin/sh
case "$*" in
*"-m venv "*) mkdir -p .venv/bin; cp "$0" .venv/bin/python;;
*"pip install"*) printf '%s\\n' "$*" >>installed;;
*examples/demo.py*) echo "the demo runs";;
esac
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in BESIDE:
        (folder / name).mkdir()
    declarations = [f"{name}/pyproject.toml" for name in BESIDE]
    for name in ("Makefile", "pyproject.toml", *declarations, *LOCKS):
        shutil.copy(ROOT / name, folder / name)
    python = folder / "python"
    python.write_text(PYTHON, encoding="utf-8")
    python.chmod(0o755)
    return folder


def make(clone: Path, target: str) -> list[str]:
    """What a target of make installs."""
    (clone / "installed").unlink(missing_ok=True)
    inherited = {name: os.environ[name] for name in os.environ if not name.startswith("MAKE")}
    command = ["make", "--no-print-directory", target, f"PYTHON={clone}/python"]
    done = subprocess.run(
        command, cwd=clone, env=inherited, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert target != "demo" or "the demo runs" in done.stdout
    if not (clone / "installed").exists():
        return []
    calls = (clone / "installed").read_text(encoding="utf-8").splitlines()
    return [re.search(r"(-r|-e) .*", call)[0] for call in calls]  # type: ignore[index]


def test_the_demo_installs_what_the_product_needs_and_setup_the_rest(clone: Path) -> None:
    assert make(clone, "demo") == RUNTIME
    assert make(clone, "demo") == []
    assert make(clone, "setup") == EVERYTHING
    assert make(clone, "setup") == []
    assert make(clone, "demo") == []  # all of it is there


def test_a_changed_lock_is_installed_again_for_the_demo_and_for_setup(clone: Path) -> None:
    make(clone, "demo")
    make(clone, "setup")
    for name in LOCKS:
        with (clone / name).open("a", encoding="utf-8") as file:
            file.write("# changed\n")
    assert make(clone, "demo") == RUNTIME
    assert make(clone, "setup") == EVERYTHING


def test_a_clone_that_was_moved_gets_a_new_environment(clone: Path, tmp_path: Path) -> None:
    make(clone, "demo")
    (clone / ".venv" / "old").touch()
    moved = clone.rename(tmp_path / "moved")
    assert make(moved, "demo") == RUNTIME
    assert not (moved / ".venv" / "old").exists()
    assert make(moved, "setup") == EVERYTHING


def pinned(name: str) -> dict[str, str]:
    """The block of each package of a lock, without comments and markers."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    return {
        block.split("==")[0]: re.sub(r" ;.*?(?= \\)", "", block)
        for block in re.split(r"\n(?=[a-z0-9])", text.strip())
    }


def test_what_a_clone_needs_is_pinned_as_in_the_lock_and_whole() -> None:
    everything = pinned("requirements.lock")
    runtime, clone, build = map(pinned, PARTS)
    assert (clone | build).items() <= everything.items(), "run `make lock`"
    assert "arcadedb" in clone
    assert {"build", "hatchling"} <= build.keys()
    for own, beside in ((clone, runtime), (build, {})):  # what builds stands alone
        needed = [Requirement(one) for name in own for one in metadata.requires(name) or ()]
        asked = {one.name for one in needed if not one.marker or one.marker.evaluate({"extra": ""})}
        assert {one.replace("_", "-") for one in asked} <= own.keys() | beside.keys()
