"""The baseline of a gate, `veritrail.baseline/1`: how claims stood when somebody accepted it.

It names claims by id and text and nothing else of the process, so that it can be held against
another run of the same pipeline; it holds no time, so that it changes only when a claim does.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veritrail_graph.api.cli.gating.entries import Entry
from veritrail_graph.api.show.words import State
from veritrail_graph.graph.errors import InputError

FORMAT = "veritrail.baseline/1"
_FAMILY = "veritrail.baseline/"
_HOW = "Write one with: veritrail gate PROCESS --write-baseline FILE"
_LARGEST = 200_000_000
_KINDS: dict[type, str] = {list: "an array", str: "a string"}
_STATES = tuple(state.value for state in State)


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline as its file holds it.

    Attributes:
        process_id: The process that it was made of.
        judges: Who judged then: engines, with their models, and the prompts where not the paper's.
        entries: The claims.
    """

    process_id: str
    judges: tuple[str, ...]
    entries: tuple[Entry, ...]


def baseline_text(process_id: str, judges: Sequence[str], entries: Sequence[Entry]) -> str:
    """A baseline as its file has it: a claim a line, by id, so that two of them compare well."""
    claims = [
        json.dumps(
            {
                "claim_id": entry.claim_id,
                "text": entry.text,
                "state": entry.state.value,
                "error_stages": list(entry.error_stages),
            }
        )
        for entry in sorted(entries, key=lambda one: one.claim_id)
    ]
    head = json.dumps(
        {"format": FORMAT, "process_id": process_id, "judges": sorted(judges)}, indent=2
    )
    body = ",\n    ".join(claims)
    listed = f"[\n    {body}\n  ]" if claims else "[]"
    return f'{head[:-2]},\n  "claims": {listed}\n}}\n'


def read_baseline(path: Path) -> Baseline:
    """Read a baseline.

    Raises:
        InputError: It cannot be read, or is none; says what it is and what to do.
    """
    try:
        text = _text(path)
    except OSError as error:
        raise InputError(
            f"The baseline {path} cannot be read: {error.strerror or error}. {_HOW}"
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"The baseline {path} is not text in UTF-8. {_HOW}") from None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"The baseline {path} is not JSON: {error}. {_HOW}") from None
    try:
        return _parsed(document)
    except InputError as error:
        raise InputError(f"The baseline {path} cannot be used: {error}. {_HOW}") from None


def _text(path: Path) -> str:
    """The content of a file; one that never ends, as a device, is not opened."""
    if not path.is_file() and path.exists():
        raise InputError(f"The baseline {path} is no regular file. {_HOW}")
    with path.open("rb") as file:
        found = file.read(_LARGEST + 1)
    if len(found) > _LARGEST:
        raise InputError(f"The baseline {path} is larger than {_LARGEST:,} bytes. {_HOW}")
    if not found.strip():
        raise InputError(f"The baseline {path} is empty. {_HOW}")
    return found.decode("utf-8")


def _parsed(document: Any) -> Baseline:
    if not isinstance(document, dict) or not isinstance(document.get("format"), str):
        raise InputError(f'it has no "format"; expected "{FORMAT}"')
    found = document["format"]
    if found != FORMAT:
        which = "version" if found.startswith(_FAMILY) else "format"
        raise InputError(f'its {which} is "{found[:80]}"; this version reads "{FORMAT}"')
    claims = _of_type(document, "claims", list, "the document")
    entries = tuple(_entry(one, place) for place, one in enumerate(claims))
    ids = [entry.claim_id for entry in entries]
    name, times = next(iter(Counter(ids).most_common(1)), ("", 0))
    if times > 1:
        raise InputError(f"claim_id {name[:80]!r} is in it {times} times")
    judges = _of_type(document, "judges", list, "the document")
    if not all(isinstance(one, str) for one in judges):
        raise InputError('"judges" must hold strings')
    return Baseline(_of_type(document, "process_id", str, "the document"), tuple(judges), entries)


def _entry(value: Any, place: int) -> Entry:
    where = f"claims[{place}]"
    if not isinstance(value, dict):
        raise InputError(f"{where} is no object")
    state = _of_type(value, "state", str, where)
    if state not in _STATES:
        raise InputError(f"{where}.state is {state[:80]!r}; expected one of {', '.join(_STATES)}")
    stages = _of_type(value, "error_stages", list, where)
    if not all(type(stage) is int and stage >= 0 for stage in stages):
        raise InputError(f"{where}.error_stages must hold integers")
    return Entry(
        _of_type(value, "claim_id", str, where),
        _of_type(value, "text", str, where),
        State(state),
        tuple(stages),
    )


def _of_type(value: dict[str, Any], key: str, kind: type, where: str) -> Any:
    if type(value.get(key)) is not kind:
        raise InputError(f'{where} needs "{key}", {_KINDS[kind]}')
    return value[key]
