"""One Cypher statement a file, and the strict loader that reads them; no other Cypher exists.

A file opens with its header, one `// key: value` a line:

    // purpose: what the statement does, in one sentence
    // param NAME: TYPE [= DEFAULT] [in BOUNDS] - what it is; bounds: 1..100, or a|b|c
    // column NAME: TYPE - what it is
    // group: the heading it is listed under     (queries of the library only)
    // example: NAME=VALUE …                     (queries of the library only)
    // source: the section of the paper, or "ours"

The loader refuses a file whose header and body differ: a parameter that is declared and
not used, or used and not declared; a column that is declared and not returned, or the
other way round.

`schema.cypher` alone holds several statements, each with its header and ended by a semicolon:
the constraints and indexes of the current schema, named `schema/…` after what they make.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from veritrail_graph.cypher.body import returned_columns, without_strings_and_comments

ROOTS: list[Traversable] = [resources.files(__name__)]
"""Where statements are read from. A test adds a folder with a migration of a future version."""

_MADE_NAME = re.compile(r"\bveritrail_(\w+)")

TYPES = ("string", "integer", "float", "boolean", "list", "map", "any")


class StatementError(ValueError):
    """A .cypher file breaks the rules of its header."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A declared parameter; `default` is None for a required one without default.

    Attributes:
        name: Its name, without the dollar sign.
        type: One of `TYPES`.
        meaning: What it is.
        required: Whether it must be given.
        default: The value when none is given.
        choices: The only values that it takes; empty where any is taken.
        bounds: The least and the greatest value that it takes, or None; of a string the characters
            that it has at least and at most, without blanks around it.
    """

    name: str
    type: str
    meaning: str
    required: bool
    default: Any = None
    choices: tuple[str, ...] = ()
    bounds: tuple[int, int] | None = None

    def fault(self, value: Any) -> str | None:
        """Return what is wrong with a value of the right type, in words, or None."""
        if value is None:
            return None
        if self.choices and value not in self.choices:
            return f"must be one of {', '.join(self.choices)}"
        if self.bounds is None:
            return None
        least, most = self.bounds
        if isinstance(value, str):
            fits = least <= len(value.strip()) <= most
            return None if fits else f"must have from {least} to {most} characters"
        return None if least <= value <= most else f"must be from {least} to {most}"


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A declared column of the result."""

    name: str
    type: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with its header.

    Attributes:
        name: Folder and file without ending, `queries/provenance`.
        purpose: What it does.
        source: The section of the paper that it carries out, or `ours`.
        parameters: In the order of the header.
        columns: In the order of the header, which is that of the RETURN clause.
        group: The heading that it is listed under, for queries of the library.
        example: Parameters of an example call, for queries of the library.
        text: The statement itself, without the header.
    """

    name: str
    purpose: str
    source: str
    parameters: tuple[Parameter, ...]
    columns: tuple[ResultColumn, ...]
    group: str | None
    example: str | None
    text: str

    @property
    def short_name(self) -> str:
        """The name without its folder."""
        return self.name.rsplit("/", 1)[-1]

    @property
    def defaults(self) -> Mapping[str, Any]:
        """Values of the parameters that have a default."""
        return {p.name: p.default for p in self.parameters if not p.required}


@cache
def load(name: str) -> Statement:
    """The statement of a file.

    Args:
        name: Folder and file without ending, `walk/source_nodes`.

    Raises:
        KeyError: There is no such file.
        StatementError: Its header and its body differ.
    """
    if name.startswith("schema/"):
        found = [statement for statement in schema() if statement.name == name]
        if found:
            return found[0]
    for root in ROOTS:
        file = root.joinpath(f"{name}.cypher")
        if re.fullmatch(r"[a-z_]+/[a-z0-9_]+", name) and file.is_file():
            return parse(name, file.read_text(encoding="utf-8"))
    raise KeyError(f"no statement {name!r}")


@cache
def schema() -> tuple[Statement, ...]:
    """The statements that make the constraints and indexes, in the order of the file."""
    content = resources.files(__name__).joinpath("schema.cypher").read_text(encoding="utf-8")
    made = (parse("schema", part.strip()) for part in content.split(";\n") if part.strip())
    return tuple(
        replace(statement, name=f"schema/{_MADE_NAME.findall(statement.text)[0]}")
        for statement in made
    )


def names(folder: str | None = None) -> tuple[str, ...]:
    """Names of all statements, or of those in one folder, sorted."""
    every = [*_files(tuple(ROOTS)), *(statement.name for statement in schema())]
    return tuple(sorted(name for name in every if folder in {None, name.split("/")[0]}))


@cache  # pages ask for a query by name; folders are not read for each of them
def _files(roots: tuple[Traversable, ...]) -> tuple[str, ...]:
    return tuple(
        f"{folder.name}/{file.name.removesuffix('.cypher')}"
        for root in roots
        for folder in root.iterdir()
        if folder.is_dir() and not folder.name.startswith("_")
        for file in folder.iterdir()
        if file.name.endswith(".cypher")
    )


_HEADER_LINE = re.compile(
    r"//\s*(?P<key>purpose|param|column|group|example|source)\b\s*(?P<rest>.*)"
)
_FIELD = re.compile(
    r"(?P<name>[A-Za-z_]\w*)\s*:\s*(?P<type>\w+)"
    r"(?:\s*=\s*(?P<default>\S+))?(?:\s+in\s+(?P<bounds>\S+))?\s+-\s+(?P<meaning>.+)"
)


def parse(name: str, content: str) -> Statement:
    """A statement from the content of its file.

    Raises:
        StatementError: The header is incomplete, or header and body differ.
    """
    header, body = _split(content)
    single: dict[str, str] = {}
    parameters: list[Parameter] = []
    columns: list[ResultColumn] = []
    for line in header:
        match = _HEADER_LINE.fullmatch(line)
        if match is None:
            raise StatementError(f"{name}: header line is not understood: {line}")
        key, rest = match["key"], match["rest"].strip()
        if key == "param":
            parameters.append(_parameter(name, rest))
        elif key == "column":
            columns.append(_column(name, rest))
        elif key in single:
            raise StatementError(f"{name}: header key {key!r} is repeated")
        else:
            single[key] = rest.removeprefix(":").strip()
    for key in ("purpose", "source"):
        if not single.get(key):
            raise StatementError(f"{name}: header key {key!r} is missing")
    statement = Statement(
        name=name,
        purpose=single["purpose"],
        source=single["source"],
        parameters=tuple(parameters),
        columns=tuple(columns),
        group=single.get("group"),
        example=single.get("example"),
        text=body,
    )
    _check(statement)
    return statement


def _split(content: str) -> tuple[list[str], str]:
    lines = content.splitlines()
    end = next((n for n, line in enumerate(lines) if not line.startswith("//")), len(lines))
    return lines[:end], "\n".join(lines[end:]).strip()


def _parameter(name: str, rest: str) -> Parameter:
    match = _field(name, rest)
    default = match["default"]
    value = None if default in {None, "null"} else convert(default, match["type"])
    choices, bounds = _bounds(match["bounds"] or "")
    found = Parameter(
        match["name"], match["type"], match["meaning"], default is None, value, choices, bounds
    )
    if found.fault(value):
        raise StatementError(f"{name}: the default of {found.name} {found.fault(value)}")
    return found


def _bounds(text: str) -> tuple[tuple[str, ...], tuple[int, int] | None]:
    least, range_, most = text.partition("..")
    if range_:
        return (), (int(least), int(most))
    return tuple(text.split("|")) if text else (), None


def _column(name: str, rest: str) -> ResultColumn:
    match = _field(name, rest)
    return ResultColumn(match["name"], match["type"], match["meaning"])


def _field(name: str, rest: str) -> re.Match[str]:
    match = _FIELD.fullmatch(rest)
    if match is None or match["type"] not in TYPES:
        raise StatementError(
            f"{name}: expected 'NAME: TYPE [= DEFAULT] [in BOUNDS] - meaning', got: {rest}"
        )
    return match


def convert(value: str, type_: str) -> Any:
    """A value written as text, as what a parameter of this type takes.

    Raises:
        ValueError: The text is no such value.
    """
    if type_ == "integer":
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", value):
            raise ValueError(f"{value!r} is no integer")
        return int(value)
    if type_ == "float":
        return float(value)
    if type_ == "boolean":
        if value not in {"true", "false"}:
            raise ValueError(f"{value!r} is neither true nor false")
        return value == "true"
    if type_ == "list":
        return [part for part in value.split(",") if part]
    return value


def _check(statement: Statement) -> None:
    code = without_strings_and_comments(statement.text)
    used = set(re.findall(r"\$([A-Za-z_]\w*)", code))
    declared = {parameter.name for parameter in statement.parameters}
    if used != declared:
        odd = ", ".join(sorted(used ^ declared))
        raise StatementError(f"{statement.name}: parameters of header and body differ: {odd}")
    returned = returned_columns(code)
    columns = [column.name for column in statement.columns]
    if returned != columns:
        raise StatementError(
            f"{statement.name}: columns of header {columns} and RETURN {returned} differ"
        )
    if ";" in code:
        raise StatementError(f"{statement.name}: one statement a file, without semicolon")
