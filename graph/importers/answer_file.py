"""The file that an option `--answer FILE` or `--answer FILE#N` names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError, json_fault


def split_option(option: str) -> tuple[Path, int | None]:
    """The file of an option `FILE` or `FILE#N`, and the number of the entry.

    Raises:
        InputError: What stands behind `#` is no number.
    """
    path = Path(option)
    name, mark, number = option.rpartition("#")
    # A file may have `#` in its name: an existing file of that name wins.
    if not mark or not name or path.exists():
        return path, None
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise InputError(f"Answer file {option}: behind `#` the number of an entry is expected.")
    return Path(name), int(number)


def read_text(path: Path) -> str:
    """The text of the file.

    Raises:
        InputError: It cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"Answer file {path}: no such file.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start}).") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from None


def parse_json(path: Path, text: str) -> Any:
    """The JSON value that the text of the file is.

    Raises:
        InputError: It is none.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: {json_fault(error)}.") from None
    except (RecursionError, ValueError):
        raise InputError(
            f"{path}: JSON that is nested too deeply or holds too long a number."
        ) from None


def entries_of(path: Path, number: int | None, document: Any) -> list[tuple[str, Any]]:
    """Return the places and values of the answers in a file that holds one or a list of them.

    Args:
        path: The file.
        number: Which entry of the list was asked for; None: all of them.
        document: What the file holds.

    Raises:
        InputError: The entry is not there, or there is none.
    """
    if not isinstance(document, list):
        if number is not None:
            raise InputError(f"{path}#{number}: the file holds one answer; leave #{number} out.")
        return [(str(path), document)]
    if not document:
        raise InputError(f"{path}: the list is empty; there is no answer in it.")
    found = [(f"{path}#{n}", one) for n, one in enumerate(document)]
    if number is not None and number >= len(found):
        raise InputError(f"{path}#{number}: there is no such entry; there are {len(found)}.")
    return found if number is None else [found[number]]
