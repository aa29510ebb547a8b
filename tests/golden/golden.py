"""Recorded answers of the product, and how an answer is compared with its record.

`expected/data` holds what other programs read: it changes only with a decision record.
`expected/words` holds help, messages and other prose: it changes when the words do.

``GOLDEN=words pytest tests/golden`` records words anew and still compares data;
``GOLDEN=write`` records both. Look at the diff before you commit it.
"""

from __future__ import annotations

import difflib
import gzip
import json
import os
import re
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

EXPECTED = Path(__file__).with_name("expected")
WRITES = {"write": ("data/", "words/"), "words": ("words/",)}.get(os.environ.get("GOLDEN", ""), ())

_LARGEST_PLAIN = 40_000
_SHOWN_LINES = 60
_RULES = (
    # What a command says when it takes long, on a machine that is busy.
    (re.compile(r"^claims: \d+ of \d+.* left\n", re.MULTILINE), ""),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?UTC|Z|\+00:00)?"), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\d(?= UTC)|(?<=<version> on )\d{4}-\d\d-\d\d"), "<day>"),
    (re.compile(r"(?<=q = \d, )\d{4}-\d\d-\d\d( to \d{4}-\d\d-\d\d)?"), "<day>"),
    (re.compile(r"(127\.0\.0\.1|localhost):\d{4,5}"), r"\1:<port>"),
    (re.compile(r"(in|took|after|about) \d+(\.\d+)? ?(ms|s|seconds)\b"), r"\1 <duration>"),
)
_ID = re.compile(r"\b([a-z]+-)[0-9a-f]{32}\b|\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


@dataclass
class Plain:
    """Replaces what varies between two runs: ids, times, ports, paths, versions, durations.

    Attributes:
        names: Texts that are known to vary, each with the name that replaces it.
    """

    names: dict[str, str] = field(default_factory=dict)

    def text(self, text: str) -> str:
        """The text with a name in place of everything that varies."""
        for found, name in sorted(self.names.items(), key=lambda item: -len(item[0])):
            text = text.replace(found, name)
        text = text.replace(f"veritrail-graph {_version()}", "veritrail-graph <version>")
        for pattern, name in _RULES:
            text = pattern.sub(name, text)
        seen: dict[str, str] = {}

        def numbered(found: re.Match[str]) -> str:
            kind = found[1] or "uuid-"
            number = sum(name.startswith(f"<{kind}") for name in seen.values()) + 1
            return seen.setdefault(found[0], f"<{kind}{number}>")

        return _ID.sub(numbered, text)

    def json(self, value: Any) -> str:
        """A value as indented JSON with sorted keys."""
        return self.text(json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)) + "\n"


@cache
def _version() -> str:
    return metadata.version("veritrail-graph")


def check(name: str, actual: str) -> None:
    """Compare a text with its record.

    Args:
        name: Path of the record under `expected`; a long one is kept compressed.
        actual: The text, without anything that varies.

    Raises:
        AssertionError: They differ; the message is the difference.
    """
    plain, packed = EXPECTED / name, EXPECTED / f"{name}.gz"
    if name.startswith(WRITES):
        _write(plain, packed, actual)
        return
    if packed.exists():
        expected = gzip.decompress(packed.read_bytes()).decode("utf-8")
    else:
        assert plain.exists(), f"there is no record {plain}; GOLDEN=write makes it"
        expected = plain.read_bytes().decode("utf-8")
    if actual == expected:
        return
    __tracebackhide__ = True
    lines = list(
        difflib.unified_diff(
            expected.splitlines(), actual.splitlines(), f"expected/{name}", "actual", "", "", 2, ""
        )
    )
    left = len(lines) - _SHOWN_LINES
    shown = [line[:240] for line in lines[:_SHOWN_LINES]]
    raise AssertionError("\n".join([*shown, f"… {left} more lines"] if left > 0 else shown))


def _write(plain: Path, packed: Path, text: str) -> None:
    plain.parent.mkdir(parents=True, exist_ok=True)
    if len(text) <= _LARGEST_PLAIN:
        plain.write_bytes(text.encode("utf-8"))
        packed.unlink(missing_ok=True)
        return
    plain.unlink(missing_ok=True)
    content = text.encode("utf-8")
    if not packed.exists() or gzip.decompress(packed.read_bytes()) != content:
        packed.write_bytes(gzip.compress(content, mtime=0))
