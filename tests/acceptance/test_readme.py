"""What README and docs show is so: blocks run, outputs appear, names and links exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.homes import a_home, home_beside
from fakes import warm
from fakes.model_answers import WordReader
from fakes.model_server import ModelServer
from fakes.ports import free_port

from veritrail_graph import cypher
from veritrail_graph.api.cli.app import command

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
TASKS = sorted((ROOT / "docs" / "tasks").glob("*.md"))
PAGES = [
    README,
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
SHELLS = {"sh": "sh", "bash": "bash"}
SECONDS = 120
OWN_SERVER = "http://127.0.0.1:11434/v1"
"""Where the pages say that a reader's own model is."""
QUICK = {"VERITRAIL_DB_HEAP": "256m"}

FENCE = re.compile(r"^```(?P<language>\w*)$")
MARK = re.compile(r"^<!-- (?P<mark>not run|shows): \S.* -->$")
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block, with the mark of the comment on the line above it."""

    line: int
    language: str
    mark: str | None
    text: str
    page: str = "README.md"

    @property
    def place(self) -> str:
        """Where it stands."""
        return f"{self.page}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    mark, start, language, held = None, 0, "", list[str]()
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if start:
            if line == "```":
                yield Block(start, language, mark, "\n".join(held) + "\n", page.name)
                mark, start, held = None, 0, []
            else:
                held.append(line)
        elif fence := FENCE.match(line):
            start, language = number, fence["language"]
        else:
            marked = MARK.match(line)
            mark = marked["mark"] if marked else None


def run(block: Block, folder: Path, **settings: str) -> str:
    """Run a block as a reader would in the folder; gives what it printed."""
    tools = [warm.on_the_path(), str(Path(sys.executable).parent), os.environ["PATH"]]
    done = subprocess.run(
        [SHELLS[block.language], "-eu", "-c", block.text],
        cwd=folder,
        env={**os.environ, **QUICK, "PATH": os.pathsep.join(tools), **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, f"{block.place} ended with {done.returncode}:\n{said}"
    return said


def assert_shown(block: Block, said: str) -> None:
    """Every line of the block is in the output, in this order, whatever the spaces."""
    rest = " ".join(said.split())
    for line in block.text.splitlines():
        wanted = " ".join(line.split())
        if not wanted:
            continue
        _, found, rest = rest.partition(wanted)
        assert found, f"{block.place}: not in the output: {line}\n{said}"


@pytest.fixture(scope="module")
def reader() -> Iterator[Veritrail]:
    """The home of a reader of all these pages, whose engine starts once."""
    with a_home() as veritrail:
        yield veritrail


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.parametrize("page", TASKS, ids=lambda page: page.stem)
def test_the_commands_of_a_task_page_run_and_print_what_they_show(
    tmp_path: Path, reader: Veritrail, page: Path
) -> None:
    """Each reader has keys and jobs of their own, and begins without processes."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    port = str(free_port())  # whatever listens on the reader's may listen here too
    said = ""
    with ModelServer(WordReader()) as server, home_beside(reader) as own:
        for block in blocks(page):
            if block.mark == "shows":
                assert_shown(block, said)
            elif block.mark is None:
                text = block.text.replace("8000", port).replace(OWN_SERVER, server.base_url)
                said = run(replace(block, text=text), tmp_path, VERITRAIL_HOME=str(own.home))
        assert bool(server.requests) is (OWN_SERVER in page.read_text(encoding="utf-8"))


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_shell_blocks_of_the_readme_run_and_print_what_it_shows(
    tmp_path: Path, reader: Veritrail
) -> None:
    """The last of them: README ends with `veritrail db stop`."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")  # as in a clone
    said, ran, shown = "", 0, 0
    # A server on loopback stands in for the reader's model; it is asked under the same name.
    port = str(free_port())  # whatever listens on the reader's may listen here too
    with ModelServer(WordReader()) as server:
        settings = {
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "your-key",
            "VERITRAIL_HOME": str(reader.home),
        }
        for block in blocks(README):
            if block.mark == "shows":
                assert_shown(block, said)
                shown += 1
            elif block.language in SHELLS and block.mark is None:
                text = block.text.replace("8000", port)
                said = run(replace(block, text=text), tmp_path, **settings)
                ran += 1
    assert server.requests
    assert ran >= 7
    assert shown >= 2


@pytest.mark.parametrize("page", [README, *TASKS], ids=lambda page: page.name)
def test_every_block_is_run_shown_or_marked(page: Path) -> None:
    loose = [
        block.line for block in blocks(page) if block.mark is None and block.language not in SHELLS
    ]
    assert not loose


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_make_target_that_is_named_exists(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE))
    assert named <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    targets = [link["target"] for link in LINK.finditer(page.read_text(encoding="utf-8"))]
    files = [target.partition("#")[0] for target in targets if "://" not in target]
    missing = [name for name in files if name and not (page.parent / name).exists()]
    assert not missing


def test_the_readme_leads_to_the_page_of_the_query_library() -> None:
    text = README.read_text(encoding="utf-8")
    assert "`veritrail ask --list`" in text
    assert "](docs/queries.md)" in text
    known = {name.partition("/")[2] for name in cypher.names("queries")}
    named = set(re.findall(r"veritrail ask ([a-z_]+)", text))
    assert named
    assert named <= known


SECOND_NAMES = {
    f"veritrail {name}"
    for name in (
        "ask", "config", "import", "judge estimate", "review", "reviews comment", "reviews label",
        "serve audit", "serve keys",
    )
}  # fmt: skip
"""Commands, or groups of them, whose options the page tells under another name."""


def commands(command: object, name: str) -> Iterator[tuple[str, list[str]]]:
    """Every command with the options that are its own, once: others are second names of it."""
    inner = getattr(command, "commands", None)
    if inner is not None:
        for word, each in inner.items():
            if f"{name} {word}" not in SECOND_NAMES:
                yield from commands(each, f"{name} {word}")
        return
    options = [
        opt
        for parameter in getattr(command, "params", [])
        for opt in parameter.opts
        if opt.startswith("--") and opt != "--help-all"
    ]
    yield name, options


def test_the_page_of_the_command_line_names_every_command_and_option() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    sections = {
        heading[3:].strip(" `"): body
        for heading, body in re.findall(r"^(## .+)\n((?:(?!## ).*\n)*)", page, re.MULTILINE)
    }
    missing = []
    for name, options in commands(command(), "veritrail"):
        body = sections.get(name) or sections.get(name.rpartition(" ")[0], "")
        if name not in sections and name not in body:
            missing.append(name)
        missing += [f"{name} {option}" for option in options if option not in body]
    assert not missing


def test_the_page_of_the_process_file_names_every_kind_of_violation() -> None:
    page = (ROOT / "docs" / "process-file.md").read_text(encoding="utf-8")
    code = [*(ROOT / "graph").glob("*.py")]
    code += (ROOT / "graph" / "importers" / "process_file").glob("*.py")
    kinds = {
        kind
        for path in code
        for kind in re.findall(
            r"(?:Violation\(|return \()\s*\"([a-z_0-9]+)\"", path.read_text(encoding="utf-8")
        )
    }
    assert len(kinds) > 20
    assert not {kind for kind in kinds if f"`{kind}`" not in page}
