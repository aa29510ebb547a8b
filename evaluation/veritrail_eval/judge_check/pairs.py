"""Labelled pairs of source texts and a claim: ours, and those that a user brings."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError, Violation, shown
from veritrail_graph.graph.importers.files import DELIMITERS
from veritrail_graph.graph.importers.process_file.reading import NotJson, parse
from veritrail_graph.graph.model import Verdict

LABELS = (Verdict.FULLY_SUPPORTED, Verdict.NOT_FULLY_SUPPORTED)
OWN = "own"
"""The kind of a user's pair that names none."""
MAX_FILE = 100_000_000
_KEYS = ("pair_id", "domain", "kind", "source", "claim", "label", "note")
_NEEDED = ("source", "claim", "label")
_SOURCE_COLUMN = re.compile(r"source(_[1-9]\d*)?")


@dataclass(frozen=True, slots=True)
class Pair:
    """Source texts, a claim about them, and the label of a careful reader.

    Attributes:
        pair_id: Its name, unique in its file.
        source: The texts that count as true; each becomes a node.
        claim: The claim.
        label: Fully Supported or Not Fully Supported.
        kind: What it tries, such as `number` or `role_swap`.
        domain: What it is about.
        note: Why it has this label.
    """

    pair_id: str
    source: tuple[str, ...]
    claim: str
    label: Verdict
    kind: str = OWN
    domain: str = ""
    note: str = ""


def own_pairs() -> tuple[Pair, ...]:
    """The pairs that come with this package."""
    file = resources.files("veritrail_eval.judge_check").joinpath("pairs.jsonl")
    return _checked("pairs.jsonl", _of_lines("pairs.jsonl", file.read_text(encoding="utf-8")))


def read_pairs(path: Path) -> tuple[Pair, ...]:
    """Pairs of a file: CSV or TSV by its name, else JSON Lines.

    Raises:
        InputError: It cannot be read, or a pair breaks a rule; every violation names its line and
            column.
    """
    try:
        if path.stat().st_size > MAX_FILE:
            raise InputError(f"{path} is larger than {MAX_FILE:,} bytes; split it.")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8: byte {error.start} cannot be decoded. Save it as UTF-8."
        ) from None
    if path.suffix.lower() in DELIMITERS:
        return _checked(str(path), _of_table(path, text))
    return _checked(str(path), _of_lines(path.name, text))


def chosen_pairs(
    pairs: Sequence[Pair], kinds: Collection[str] = (), limit: int | None = None
) -> tuple[Pair, ...]:
    """The pairs of some kinds, and of these at most so many, from all kinds and labels alike.

    Args:
        pairs: All pairs.
        kinds: The kinds; none: all.
        limit: The largest number; None: all.

    Returns:
        Pairs in their order in the file; the same call always gives the same.

    Raises:
        InputError: There is no such kind.
    """
    known = list(dict.fromkeys(pair.kind for pair in pairs))
    unknown = next((kind for kind in kinds if kind not in known), None)
    if unknown is not None:
        raise InputError(f"--kind {unknown}: no pair is of this kind. Kinds: {', '.join(known)}.")
    found = [pair for pair in pairs if not kinds or pair.kind in kinds]
    if limit is None or limit >= len(found):
        return tuple(found)
    taken = {pair.pair_id for pair, _ in zip(_spread(found), range(limit), strict=False)}
    return tuple(pair for pair in found if pair.pair_id in taken)


def _spread(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """All pairs so that each beginning of them is as balanced over kinds and labels as it can be.

    Kinds begin with different pairs of theirs, which are of different domains.
    """
    groups: dict[tuple[str, Verdict], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault((pair.kind, pair.label), []).append(pair)
    kinds = list(dict.fromkeys(pair.kind for pair in pairs))
    turns = [
        (place, (kind, LABELS[(place + turn) % 2]))
        for turn in range(2)
        for place, kind in enumerate(kinds)
    ]
    for number in range(max(map(len, groups.values()), default=0)):
        for place, name in turns:
            group = groups.get(name, [])
            if number < len(group):
                yield group[(number + place) % len(group)]


Record = tuple[str, str, Mapping[str, Any]]
"""The place of a pair in its file, what its keys are called there, and its values."""


def _of_lines(name: str, text: str) -> Iterator[Record | Violation]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{name} line {number}"
        try:
            record = parse(line, number)
        except NotJson as error:
            yield Violation("not_json", where, str(error))
            continue
        if not isinstance(record, dict):
            yield Violation("wrong_type", where, "must be a JSON object with source, claim, label")
            continue
        source = record.get("source")
        yield where, "key", {**record, "source": [source] if isinstance(source, str) else source}


def _of_table(path: Path, text: str) -> Iterator[Record | Violation]:
    delimiter = DELIMITERS[path.suffix.lower()]
    header = text.partition("\n")[0]
    if delimiter == "," and "," not in header and ";" in header:  # as spreadsheets write it
        delimiter = ";"
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        table = [(rows.line_num, row) for row in rows if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise InputError(f"{path} is not CSV: {error} at line {rows.line_num}.") from None
    columns = [name.strip() for name in table[0][1]] if table else []
    _check_columns(path, columns)
    for number, row in table[1:]:
        where = f"{path.name} line {number}"
        if len(row) != len(columns):
            message = f"{len(row)} cells, but there are {len(columns)} columns"
            yield Violation("wrong_columns", where, message)
            continue
        cells = dict(zip(columns, row, strict=True))
        source = [cells[name] for name in columns if _SOURCE_COLUMN.fullmatch(name)]
        rest = {name: cells[name] for name in columns if name in _KEYS and cells[name].strip()}
        more = [one for one in source[1:] if one.strip()]
        yield where, "column", {**rest, "source": [*source[:1], *more]}


def _check_columns(path: Path, columns: Sequence[str]) -> None:
    """See that the first line names the columns.

    Raises:
        InputError: It does not.
    """
    unknown = [one for one in columns if one not in _KEYS and not _SOURCE_COLUMN.fullmatch(one)]
    missing = [name for name in _NEEDED if name not in columns]
    if not unknown and not missing and len(set(columns)) == len(columns):
        return
    named = ", ".join(shown(name) for name in columns) or "nothing"
    raise InputError(
        f"{path}: its first line names {named}. It must name the columns source, claim and label, "
        "and may name pair_id, domain, kind, note and further texts of the source as source_2, "
        "source_3, …, each once."
    )


def _checked(where: str, records: Iterator[Record | Violation]) -> tuple[Pair, ...]:
    violations: list[Violation] = []
    pairs: list[Pair] = []
    places: dict[str, str] = {}
    before: dict[tuple[tuple[str, ...], str], tuple[str, Verdict]] = {}
    for record in records:
        if isinstance(record, Violation):
            violations.append(record)
            continue
        place, _, values = record
        broken = list(_broken(record))
        violations += broken
        if broken:
            continue
        pair = _pair(values, f"p{len(pairs) + 1}")
        first = places.setdefault(pair.pair_id, place)
        if first != place:
            message = f"pair_id {shown(pair.pair_id)} is at {first} already"
            violations.append(Violation("duplicate_pair", place, message))
        texts = tuple(" ".join(text.split()) for text in pair.source)
        other, label = before.setdefault((texts, pair.claim), (place, pair.label))
        if label is not pair.label:
            message = f"has another label than {other}, with the same source and claim; keep one"
            violations.append(Violation("contradiction", place, message))
        elif other != place:
            message = f"has the same source and claim as {other}; keep one"
            violations.append(Violation("duplicate_pair", place, message))
        pairs.append(pair)
    if violations:
        plural = "" if len(violations) == 1 else "s"
        raise InputError(f"{where}: {len(violations)} fault{plural} in pairs.", violations)
    if not pairs:
        raise InputError(f"{where} holds no pair.")
    return tuple(pairs)


def _pair(values: Mapping[str, Any], default_id: str) -> Pair:
    return Pair(
        values.get("pair_id") or default_id,
        tuple(values["source"]),
        " ".join(values["claim"].split()),
        Verdict(values["label"].strip().upper()),
        values.get("kind") or OWN,
        values.get("domain") or "",
        values.get("note") or "",
    )


def _broken(record: Record) -> Iterator[Violation]:
    """Yield what is wrong with a pair; each names its line and its column or key."""
    place, what, values = record

    def at(name: str) -> str:
        return f"{place}, {what} {name}"

    for name in values:
        if name not in _KEYS:
            message = f"is not known; known are {', '.join(_KEYS)}"
            yield Violation("unknown_key", at(shown(name)), message)
    texts = values.get("source")
    if not isinstance(texts, list | tuple) or not texts or not all(map(_is_text, texts)):
        yield Violation("wrong_source", at("source"), "must be a text, or a list of texts")
    if not _is_text(values.get("claim")):
        yield Violation("wrong_claim", at("claim"), "must be a text")
    label = values.get("label")
    if not isinstance(label, str) or label.strip().upper() not in set(LABELS):
        said = shown(label) if isinstance(label, str) else "nothing" if label is None else "no text"
        message = f"is {said}; must be {' or '.join(LABELS)}"
        yield Violation("wrong_label", at("label"), message)
    for name in ("pair_id", "domain", "kind", "note"):
        if not isinstance(values.get(name, ""), str):
            yield Violation("wrong_type", at(name), "must be a text")


def _is_text(value: object) -> bool:
    """Return whether it is a text with something in it that UTF-8 can hold."""
    return isinstance(value, str) and bool(value.strip()) and not _HALF.search(value)


_HALF = re.compile("[\ud800-\udfff]")
