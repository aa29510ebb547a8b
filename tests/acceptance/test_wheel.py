"""The wheel holds everything and runs without the checkout."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import PathDistribution, distribution
from pathlib import Path

import pytest
from acceptance.test_readme import assert_shown, blocks
from packaging.requirements import Requirement

from veritrail_graph import cypher

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("api", "cypher", "graph", "verifier")
BESIDES_FILES = {".pyc", ".pyo"}
# Runs several calls of the installed command without its imports for each; gives what each said.
EACH_IN_A_FORK = """
import json, os, sys, tempfile
from veritrail_graph.api.cli.main import main

told = []
for call in json.loads(sys.argv[1]):
    files = [tempfile.TemporaryFile() for _ in range(2)]
    pid = os.fork()
    if not pid:
        for number, file in enumerate(files, 1):
            os.dup2(file.fileno(), number)
        sys.argv = ["veritrail", *call]
        main()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    for file in files:
        file.seek(0)
    told.append([status, *(file.read().decode() for file in files)])
print(json.dumps(told))
"""
pytestmark = [pytest.mark.slow, pytest.mark.engine]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    checked(command, cwd=ROOT)
    (built,) = folder.glob("veritrail_graph-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The `bin` folder of a new environment that holds the wheel and what it declares.

    The packages it declares (with what those declare, and nothing else: no
    tool of ours can stand in for a forgotten dependency) are links to those
    of the environment of the tests: no download, and the checkout is not on
    the path.
    """
    folder = tmp_path_factory.mktemp("outside")
    checked([sys.executable, "-m", "venv", "--without-pip", str(folder)], cwd=folder)
    binaries = folder / ("Scripts" if os.name == "nt" else "bin")
    python = binaries / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    # What is imported is compiled at its first import, which is less than all.
    checked([*install, "--no-compile", "--no-deps", "--no-index", str(wheel)], cwd=folder)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(checked([str(python), "-I", "-c", where], cwd=folder).strip())
    for name in closure(declared(wheel)):
        link(name, packages)
    yield binaries
    shutil.rmtree(folder, ignore_errors=True)


def test_the_wheel_holds_every_file_of_the_packages(wheel: Path) -> None:
    there = {
        f"veritrail_graph/{path.relative_to(ROOT).as_posix()}"
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix not in BESIDES_FILES
    } | {f"veritrail_graph/{name}" for name in ("__init__.py", "integrations.py", "py.typed")}
    there |= {
        f"veritrail_graph/samples/{name}{kind}"
        for name in ("harbour-summary", "graphrag-energy")
        for kind in (".json", ".labels.json", ".recorded.jsonl")
    }
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == there
    assert any(name.endswith(".cypher") for name in held)


def test_everything_loads_from_the_installed_wheel_whatever_lies_beside_it(
    installed: Path, tmp_path: Path
) -> None:
    for name in ("api", "graph", "verifier", "cypher"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong package')")
    code = (
        "import json, sys; from pathlib import Path; sys.path.insert(0, '.'); "
        "from veritrail_graph import Client, Local, cypher; "
        "from veritrail_graph.verifier.prompts import VARIANTS, load_prompts; "
        "from veritrail_graph.verifier.decisions.steps import decision_prompts; "
        "from veritrail_graph.verifier.engines import engine_named, engine_names; "
        "folders = [None, *map(Path, VARIANTS)]; "
        "print(json.dumps([Client.__module__, cypher.__file__, "
        "[cypher.load(n).name for n in cypher.names()], "
        "[p.name for f in folders for p in load_prompts(f).values()] "
        "+ [p.name for p in decision_prompts().values()], "
        "[engine_named(name).name for name in engine_names()]]))"
    )
    told = checked([str(installed / "python"), "-I", "-c", code], cwd=tmp_path)
    client, place, statements, prompts, engines = json.loads(told)
    assert client.startswith("veritrail_graph.api.client")
    assert not Path(place).is_relative_to(ROOT)
    assert statements == list(cypher.names())
    files = (ROOT / "verifier" / "prompts").glob("*.md")
    assert sorted(set(prompts)) == sorted(path.stem for path in files)
    assert engines == ["azure", "decisions", "lexical", "nli", "openai", "recorded"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system copies no process")
def test_without_the_evaluation_its_commands_say_in_a_line_how_to_install_it(
    installed: Path, tmp_path: Path
) -> None:
    script = str(installed / "veritrail")
    done = ended([script, "eval", "run", "matrix.toml", "-o", "out"], tmp_path)
    line = "Error: `veritrail {}` comes with veritrail-eval: pip install veritrail-eval"
    assert (done.returncode, done.stdout, done.stderr.strip()) == (2, "", line.format("eval"))
    calls = [
        ["eval", "--help"], ["judge", "check"], ["judge", "check", "--json"], ["--help"],
        ["judge", "--help"],
    ]  # fmt: skip
    python = [str(installed / "python"), "-I", "-c", EACH_IN_A_FORK, json.dumps(calls)]
    told = json.loads(checked(python, tmp_path))
    assert told[0] == [2, "", f"{line.format('eval')}\n"]
    assert told[1] == [2, "", f"{line.format('judge check')}\n"]
    status, as_json, _ = told[2]
    assert status == 2
    assert "pip install veritrail-eval" in json.loads(as_json)["error"]["message"]
    assert [status for status, _, _ in told[3:]] == [0, 0]
    assert "pip install veritrail-eval" in " ".join(told[3][1].split())
    assert "fetch" in told[4][1]


def test_without_the_evaluation_the_service_serves_its_own_pages(
    installed: Path, tmp_path: Path
) -> None:
    code = (
        "from veritrail_graph.api.server.application import create_app; "
        "from veritrail_graph.api.settings import Settings; "
        "from veritrail_graph.api.page.plugin_pages import links_beside, plugin_routers; "
        "from veritrail_graph.api.page.rendering import warm_up; warm_up(); "
        "create_app(Settings()); "
        "print(plugin_routers(), links_beside('attributions'), links_beside('dialogue'))"
    )
    told = checked([str(installed / "python"), "-I", "-c", code], cwd=tmp_path)
    assert told.split() == ["[]", "[]", "[]"]


@pytest.mark.soak
def test_a_wheel_of_the_source_distribution_is_the_same(
    wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("sdist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)]
    checked(build, cwd=ROOT)  # the source distribution, and the wheel from it
    (again,) = folder.glob("veritrail_graph-*.whl")
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(again) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())


def test_the_demo_shows_verdicts_beside_labels_a_path_an_error_and_words_alone(
    installed: Path, tmp_path: Path
) -> None:
    """Both samples are ingested, verified by recorded answers, and asked about."""
    # Nothing leaves the machine: whatever goes through a proxy meets a closed port.
    closed = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9")
    try:
        told = checked([str(installed / "veritrail-graph"), "demo"], tmp_path, **closed)
    finally:
        stopped = checked([str(installed / "veritrail"), "db", "stop", "--json"], tmp_path)
    assert json.loads(stopped) == {"stopped": True}
    assert told.splitlines()[1] == (
        "47 of 47 verdicts as labelled; 16 of 16 planted errors placed in their step."
    )
    assert max(map(len, told.splitlines())) <= 80
    path = told.split("Where did that come from?")[1]
    places = [path.index(name) for name in ("chunk c02", "summary s02", "summary g1", "final")]
    assert places == sorted(places)
    assert "carried on by g1 and final" in " ".join(told.lower().split())
    by_words = " ".join(told.split("By words alone")[1].split())
    assert re.match(r", .*: \d+ of \d+ verdicts as labelled; for \d+ of the 47 claims", by_words)
    shown = next(one for one in blocks(ROOT / "README.md") if "47 of 47" in one.text)
    assert_shown(shown, told)


def checked(command: list[str], cwd: Path, **settings: str) -> str:
    """Run a command that must succeed; return its standard output."""
    done = ended(command, cwd, **settings)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def ended(command: list[str], cwd: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command outside the checkout."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"VERITRAIL_DB_HEAP": "256m", **settings}
    return subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def declared(wheel: Path) -> list[str]:
    """Return what the wheel declares that it needs."""
    (metadata,) = (
        folder for folder in zipfile.Path(wheel).iterdir() if folder.name.endswith(".dist-info")
    )
    return PathDistribution(metadata).requires or []


def closure(requirements: Iterable[str]) -> set[str]:
    """Return the names of all distributions that some requirements need here."""
    found: set[tuple[str, str]] = set()
    waiting = [(text, "") for text in requirements]
    while waiting:
        text, asked_by = waiting.pop()
        needed = Requirement(text)
        if needed.marker and not needed.marker.evaluate({"extra": asked_by}):
            continue
        for each in {(needed.name, extra) for extra in ("", *needed.extras)} - found:
            found.add(each)
            waiting += [(more, each[1]) for more in distribution(each[0]).requires or []]
    return {name for name, _ in found}


def link(name: str, packages: Path) -> None:
    """Put links to the files of an installed distribution into another environment."""
    files = distribution(name).files or []
    for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
        target = packages / top
        if not target.exists():
            target.symlink_to(Path(str(distribution(name).locate_file(top))).resolve())
