"""Rules of the project that no linter knows."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("api", "cypher", "graph", "verifier")
BESIDE = {"evaluation": "veritrail_eval", "recorder": "veritrail_record"}
"""Distributions beside the product: their folders, and the names that they are imported by."""
LINES = 600
EMPTY_NAMES = {"common", "helpers", "manager", "misc", "util", "utils"}
LONGER_ON_PURPOSE: frozenset[str] = frozenset()
UNLOCKED = {"graphrag"}  # an extra that brings some 150 packages, for its callbacks alone

# Folders of one person's machine, and addresses of package indexes.
NOT_PORTABLE = re.compile(
    r"(?<![\w.~-])(?:/work/(?:main|shared)|/opt/wheels|/root/|/Users/|/home/[a-z])"
    r"|(?:pypi|pythonhosted)\.org|--(?:extra-)?index-url|--find-links|https?://\S+/simple\b"
)
MAYBE_NOT_PORTABLE = (
    *("/work/", "/opt/wheels", "/root/", "/Users/", "/home/", "pypi.org", "pythonhosted.org"),
    *("index-url", "--find-links", "/simple"),
)
"""One of these is in each text that has such a thing; most files have none."""
ALLOWED = {"tests/unit/test_project.py"}  # the patterns themselves

# A Cypher clause followed by what only Cypher has after it.
CYPHER = re.compile(
    r"\b(?:MATCH|MERGE|CREATE)\s*\(\s*\w*\s*[:{)]|\bUNWIND\s+[$\[\w]|\bDETACH\s+DELETE\b"
    r"|\bCREATE\s+(?:INDEX|CONSTRAINT)\b"
)
CLAUSE = re.compile(r"\b(?:MATCH|MERGE|CREATE|UNWIND|DETACH)\b")  # to parse few files only

# First lines of docstrings that are no sentence: "Whether it is read.", "The same, but shorter."
RELATIVE = re.compile(r"\s*(?:(?:What|Whether|How|Where|Who|Which|When|Why)\b|The same\b)")
MAYBE_RELATIVE = re.compile(
    rf"(?:\"\"\"|\'\'\'|\"|\'){RELATIVE.pattern}"
)  # to parse few files only
DESCRIBED = ("api", "cypher", "evaluation/veritrail_eval", "graph", "recorder", "verifier")
"""Folders of which every docstring begins with what a thing does or is."""
ROUTE = re.compile(r"\.(?:get|post|put|patch|delete)\(")
PUBLISHED = {
    *("Change", "Changes", "ClaimsLabelled", "DialoguePage", "DialogueRequest"),
    *("ErrorOrigin", "Health", "Ingested", "IngestedMany", "Limits", "Problem"),
    *("Progress", "ShareWanted", "SideOfClaim", "StudyAnswer", "VerifyRequest"),
    *("VersionDifference", "_root"),
    *("Against", "Agreement", "AppealKind", "AttributionCategory", "ClaimCategory", "ClaimOrigin"),
    *("DialogueLabel", "Difference", "Direction", "Evidence", "EvidenceRole", "Faithfulness"),
    *("Inference", "JobKind", "JudgeName", "LocatedBy", "Origin", "Recheck", "ReviewKind"),
    *("ReviewVerdict", "RevisionOutcome", "Role", "RoundSide", "SentenceOutcome", "SourceMode"),
    *("Speaker", "Spending", "StepRecord", "Termination", "Turn", "TurnCheck", "ValuePlace"),
}
"""What stands in the OpenAPI document, the schema of the process file, or the help."""


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def files() -> list[Path]:
    """The files of the project: those git knows, and new ones it does not ignore."""
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"]
    command += ["--cached", "--others", "--exclude-standard"]
    try:
        told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("git is not installed")
    if told.returncode:
        pytest.skip("not a git checkout")
    return [path for name in told.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_file_names_a_machine_or_a_package_index(files: list[Path]) -> None:
    found = []
    for path in files:
        name = path.relative_to(ROOT).as_posix()
        if name in ALLOWED:
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if not any(part in text for part in MAYBE_NOT_PORTABLE):
            continue
        found += [
            f"{name}:{text.count(chr(10), 0, one.start()) + 1}"
            for one in NOT_PORTABLE.finditer(text)
        ]
    assert not found


def test_no_python_file_is_longer_than_the_limit(files: list[Path]) -> None:
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in files
        if path.suffix == ".py"
    }
    too_long = {name: n for name, n in lengths.items() if n > LINES}
    assert set(too_long) == LONGER_ON_PURPOSE, too_long


def test_every_module_has_a_name_that_says_what_it_does(files: list[Path]) -> None:
    modules = [path for path in files if path.suffix == ".py"]
    assert not [path for path in modules if EMPTY_NAMES & set(path.stem.split("_"))]


def test_cypher_stands_in_cypher_files_only(files: list[Path]) -> None:
    found = [
        f"{path.relative_to(ROOT).as_posix()}:{line}"
        for path in files
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] not in ("tests", "benchmarks")
        if CLAUSE.search(path.read_text(encoding="utf-8"))
        for line, text in strings(path)
        if CYPHER.search(text)
    ]
    assert not found


def test_docstrings_begin_with_what_a_thing_does_or_is(files: list[Path]) -> None:
    found = [
        f"{path.relative_to(ROOT).as_posix()}:{line}: {first}"
        for path in files
        if path.suffix == ".py"
        if path.relative_to(ROOT).as_posix().startswith(tuple(f"{room}/" for room in DESCRIBED))
        for line, first in relative_clauses(path.read_text(encoding="utf-8"))
    ]
    assert not found, "write `Return whether …`, `Yield the …`, `A …` or `The …` in:\n" + "\n".join(
        found
    )


@pytest.mark.parametrize(
    ("docstring", "lines"),
    [
        ("Whether it is read.", [2]),
        ("The same, but shorter.", [2]),
        ("Return whether it is read.", []),
        ("Whoever reads it.", []),
    ],
)
def test_a_relative_clause_is_told_from_a_sentence(docstring: str, lines: list[int]) -> None:
    source = f'def read():\n    """{docstring}"""\n'
    assert [line for line, _ in relative_clauses(source)] == lines


@pytest.mark.parametrize(
    ("text", "is_cypher"),
    [
        ("MATCH (n) RETURN n", True),
        ("MERGE (s:Span {node_id: $id})", True),
        ("UNWIND $rows AS row", True),
        ("CREATE CONSTRAINT key IF NOT EXISTS", True),
        ("no MATCH (see the log)", False),
        ("CREATE a process first", False),
    ],
)
def test_cypher_is_told_from_prose(text: str, *, is_cypher: bool) -> None:
    assert bool(CYPHER.search(text)) is is_cypher


def test_the_version_is_that_of_the_top_changelog_entry(project: dict[str, Any]) -> None:
    entries = re.findall(
        r"^## \[(\d[^\]]*)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert entries[0] == project["project"]["version"]


def test_the_lock_holds_every_declared_dependency(project: dict[str, Any]) -> None:
    locked = dict(
        re.findall(
            r"^([a-z0-9-]+)==(\S+)",
            (ROOT / "requirements.lock").read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    )
    declared = list(project["dependency-groups"]["dev"])
    for part in (project, *map(declaration, BESIDE)):
        declared += part["project"]["dependencies"]
        declared += [each for extra in _extras(part) for each in extra]
    stale = []
    for requirement in map(Requirement, declared):
        if requirement.name == "veritrail-graph":  # it is built here
            continue
        version = locked.get(canonicalize_name(requirement.name))
        if version is None or not requirement.specifier.contains(version, prereleases=True):
            stale.append(f"{requirement}, locked: {version}")
    assert not stale, "run `make lock`"


def test_every_package_folder_is_in_the_wheel_and_checked(project: dict[str, Any]) -> None:
    there = {name for name in PACKAGES if (ROOT / name / "__init__.py").is_file()}
    package = ROOT / "veritrail_graph"
    linked = {
        path.name: path.readlink().as_posix() for path in package.iterdir() if path.is_symlink()
    }
    assert linked == {name: f"../{name}" for name in there}
    tools = project["tool"]
    assert tools["hatch"]["build"]["targets"]["wheel"]["packages"] == ["veritrail_graph"]
    packages = ["veritrail_graph", *BESIDE.values()]
    assert tools["mypy"]["packages"] == tools["importlinter"]["root_packages"] == packages


def test_no_module_imports_a_folder_by_its_bare_name(files: list[Path]) -> None:
    # In a project that has an `api/` of its own, `from api import …` imports that one.
    names = "|".join(PACKAGES)
    bare = re.compile(
        rf"^\s*(?:from (?:{names})(?:\.\S+)? import|import (?:{names})$)", re.MULTILINE
    )
    code = [path for path in files if path.suffix in {".py", ".md", ".ipynb"}]
    found = [path.name for path in code if bare.search(path.read_text(encoding="utf-8"))]
    assert not found


def test_every_distribution_has_one_version_and_the_evaluation_needs_that_of_the_product(
    project: dict[str, Any],
) -> None:
    version = project["project"]["version"]
    assert {declaration(name)["project"]["version"] for name in BESIDE} == {version}
    assert f"veritrail-graph=={version}" in declaration("evaluation")["project"]["dependencies"]


def test_no_file_of_the_product_names_the_package_of_the_evaluation(files: list[Path]) -> None:
    product = (*PACKAGES, "veritrail_graph")
    found = [
        name
        for path in files
        if (name := path.relative_to(ROOT).as_posix()).startswith(tuple(f"{p}/" for p in product))
        if b"veritrail_eval" in path.read_bytes()
    ]
    assert not found


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the strings of a module with their lines, docstrings left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in documentation:
                yield node.lineno, text


def relative_clauses(source: str) -> Iterator[tuple[int, str]]:
    """Yield the first lines of docstrings that are relative clauses, with their line numbers."""
    if MAYBE_RELATIVE.search(source) is None:
        return
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, documented) or getattr(node, "name", "") in PUBLISHED:
            continue
        text = ast.get_docstring(node, clean=False)
        if text is None or RELATIVE.match(text) is None:
            continue
        if any(ROUTE.search(ast.unparse(one)) for one in getattr(node, "decorator_list", ())):
            continue  # its docstring stands in the OpenAPI document
        yield node.body[0].lineno, text.strip().split("\n")[0]


def declaration(name: str) -> dict[str, Any]:
    """Return what a distribution beside the product declares."""
    return tomllib.loads((ROOT / name / "pyproject.toml").read_text(encoding="utf-8"))


def _extras(project: dict[str, Any]) -> list[list[str]]:
    optional: dict[str, list[str]] = project["project"].get("optional-dependencies", {})
    return [each for name, each in optional.items() if name not in UNLOCKED]
