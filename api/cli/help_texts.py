"""Write help: plain names of values, without the types of the library; and examples.

`PROCESS <str>` is `PROCESS`, `--port <int range>` is `--port N`, and a usage line has `PROCESS` and
`[CLAIM]...` in place of `{PROCESS}` and `[[CLAIM]…]...`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import typer

_VALUE = re.compile(r"<(?:list\[)?([^<>\]]+)\]?>")
_ARGUMENT = re.compile(r"[\[{]+([A-Z][A-Z_]*)(?:…|\.\.\.)?[\]}]*+(?:…|\.\.\.)?[\]}]*+(?:\.\.\.)?")
_NUMBER = r"(-?\d+(?:\.[1-9]\d*)?)(?:\.0)?"
_BOUNDS = (
    (re.compile(rf"\b{_NUMBER}<=x<={_NUMBER}(?=[\];])"), r"\1 to \2"),
    (re.compile(rf"\bx>={_NUMBER}(?=[\];])"), r"\1 or more"),
    (re.compile(rf"\bx>{_NUMBER}(?=[\];])"), r"above \1"),
    (re.compile(rf"\bx<={_NUMBER}(?=[\];])"), r"at most \1"),
)
_NAMES = {"str": "TEXT", "int": "N", "float": "N", "path": "PATH", "Path": "PATH"}

_library: Any = typer.Context.__mro__[1]  # the base of every context, by its one public name


class PlainFormatter(_library.formatter_class):  # type: ignore[misc]  # known when it runs
    """Writes help with plain names of values."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write the line of usage.

        Args:
            prog: The command.
            args: What follows it.
            prefix: What comes before it.
        """
        super().write_usage(prog, " ".join(map(usage_of, args.split())), prefix)

    def write_dl(self, rows: Sequence[tuple[str, str]], *args: Any, **more: Any) -> None:
        """Write a list of names with what they are."""
        plain = [(name_of(name), bounds_of(words)) for name, words in rows]
        super().write_dl(plain, *args, **more)


def usage_of(part: str) -> str:
    """A part of a usage line: what is needed by its name, the rest in brackets."""
    found = _ARGUMENT.fullmatch(part)
    if found is None or found[1] in ("OPTIONS", "ARGS"):
        return part
    many = "..." if part.endswith(("...", "…")) else ""
    return f"{found[1]}{many}" if part.startswith("{") else f"[{found[1]}]{many}"


def name_of(name: str) -> str:
    """The name of an argument or option, with its values in plain words."""
    if name.startswith("-"):
        return _VALUE.sub(lambda found: _value_name(found[1]), name)
    argument, _, kind = name.partition(" <")
    if not kind:
        return name
    many = "..." if kind.startswith("list[") or argument.endswith(("…", "...")) else ""
    plain = re.sub(r"[^A-Z_]", "", argument)
    values = kind.removesuffix(">")
    return f"{plain}{many}" + (f" {values}" if "|" in values else "")


def bounds_of(words: str) -> str:
    """Return what an option is, with its bounds in words: `1 to 100` for `1<=x<=100`."""
    for pattern, plain in _BOUNDS:
        words = pattern.sub(plain, words)
    return words


def _value_name(kind: str) -> str:
    return _NAMES.get(kind.removesuffix(" range"), kind)


def write_plainly() -> None:
    """Let every command write its help so."""
    _library.formatter_class = PlainFormatter


EXAMPLES: dict[str, tuple[str, ...]] = {
    "check": (
        "veritrail check --answer answer.txt --sources docs/*.md",
        "veritrail check log.csv traces/ --model gpt-6-luna --budget 1",
    ),
    "ingest": (
        "veritrail ingest library.json",
        "veritrail ingest output/ --answer answer.txt --question 'What changed?'",
        "veritrail ingest traces.json --verify",
    ),
    "verify": (
        "veritrail verify library",
        "veritrail verify library --model gpt-6-luna --budget 1",
        "veritrail verify library --claim 'The repairs cost 310,000 euros.' --add",
        "veritrail verify --resume @last",
    ),
    "estimate": ("veritrail estimate library --model gpt-6-luna",),
    "list": ("veritrail list", "veritrail list library", "veritrail list @last"),
    "show": (
        "veritrail show library cost",
        "veritrail show v-35a9",
        "veritrail show @last",
    ),
    "query": (
        "veritrail query --list",
        "veritrail query error_origin library cost",
        "veritrail query provenance library books --format tree",
        "veritrail query claims library --format csv",
    ),
    "diff": ("veritrail diff v-35a9 v-7c21", "veritrail diff last library"),
    "comment": (
        "veritrail comment library cost 'See page 3 of the annex.'",
        "veritrail comment library cost",
    ),
    "report": (
        "veritrail report library -o library.html",
        "veritrail report library --claim cost -o cost.html",
    ),
    "gate": (
        "veritrail gate library --max-unsupported 2",
        "veritrail gate library --max-rate 0.05 --baseline baseline.json",
        "veritrail gate answer.json --sarif veritrail.sarif",
    ),
    "export": (
        "veritrail export library -o library.json",
        "veritrail export library -o library.graphml",
    ),
    "runs": ("veritrail runs library",),
    "compare": ("veritrail compare library lexical gpt-6-luna --csv compare.csv",),
    "serve": ("veritrail serve --open", "veritrail serve --port 8010 --no-worker"),
    "mcp": ("veritrail mcp --engine lexical", "veritrail mcp --model gpt-6-luna --budget 2"),
    "doctor": ("veritrail doctor", "veritrail doctor --ask", "veritrail doctor traces.json"),
    "completion": ('eval "$(veritrail completion bash)"',),
}
"""By the name of the command."""


def epilog(name: str) -> str | None:
    """The examples of a command, a line each; None where it has none."""
    lines = EXAMPLES.get(name)
    if lines is None:
        return None
    # The command-line library leaves a paragraph behind this character as it is.
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
