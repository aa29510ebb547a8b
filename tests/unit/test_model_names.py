"""No text of the project names a model whose end its maker has announced."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from veritrail_graph.verifier.models.known_models import known_model

ROOT = Path(__file__).resolve().parents[2]
NAME = re.compile(
    r"(?<![\w.-])(?:(?:chat)?gpt-\d|claude-(?=[a-z0-9.-]*\d)[a-z0-9]|gemini-\d|o[134]-(?:mini|pro|pre))"
    r"[\w.-]*+",
)
MAYBE = ("gpt-", "claude-", "gemini-", "o1-", "o3-", "o4-")
NAMED_ON_PURPOSE = {
    "docs/evaluation-paper.md": {"gpt-4o"},  # how the paper's tables are made again
    "docs/benchmarks.md": {"gpt-4.1-mini"},  # figures that were measured once, at its prices
    "recorder/tests/test_graphrag_real.py": {"gpt-4o"},  # the library knows its own names alone
    "tests/unit/test_model_names.py": None,
    # The table itself, and its tests.
    "verifier/models/known_models.py": None,
    "tests/unit/verifier/test_known_models.py": None,
    "tests/unit/verifier/test_models_tokens.py": None,
    "tests/unit/api/configured/test_model_settings.py": {"gpt-4-turbo"},
}
"""Files that may name models that end, with the names; None: any of them."""


def texts() -> dict[str, str]:
    """The texts that git knows, or would take in, by their path."""
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"]
    command += ["--cached", "--others", "--exclude-standard"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if told.returncode:
        pytest.skip("not a git checkout")
    found: dict[str, str] = {}
    for name in filter(None, told.stdout.split("\0")):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            try:
                found[name] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
    return found


def names_in(text: str) -> set[str]:
    """Return the names of models in a text; `gpt-5.*` is none."""
    if not any(part in text for part in MAYBE):
        return set()
    return {
        one[0].rstrip(".-_")
        for one in NAME.finditer(text)
        if text[one.end() : one.end() + 1] != "*"
    }


def test_no_text_names_a_model_whose_end_is_announced() -> None:
    found = {}
    for path, text in texts().items():
        allowed = NAMED_ON_PURPOSE.get(path, set())
        ending = {name for name in names_in(text) if known_model(name).retired is not None}
        if allowed is not None and ending - allowed:
            found[path] = sorted(ending - allowed)
    assert found == {}, "name another model, as `instead` of the table says"


def test_the_list_of_exceptions_is_no_longer_than_it_has_to_be() -> None:
    found = texts()
    for path, names in NAMED_ON_PURPOSE.items():
        assert (names or set()) <= names_in(found[path]), path


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('--model gpt-4o-mini --escalate-to "gpt-4.1"', {"gpt-4o-mini", "gpt-4.1"}),
        ("ask openai/gpt-4o. Then o3-mini, or claude-3-opus-20240229", {
            "gpt-4o", "o3-mini", "claude-3-opus-20240229",
        }),
        ("`gpt-5.*`, `claude-*-5-*`, my-gpt-4o, o3, claude-code", set()),
    ],
)  # fmt: skip
def test_names_are_found_in_texts(text: str, names: set[str]) -> None:
    assert names_in(text) == names
