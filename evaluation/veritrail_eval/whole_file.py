"""Files that are written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from veritrail_graph.api.requests.value_faults import violations_of
from veritrail_graph.graph.errors import InputError

Model = TypeVar("Model", bound=BaseModel)


def make_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing.

    Raises:
        InputError: It cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path} cannot be made: {error.strerror or error}") from None


def read_kept(path: Path, model: type[Model], advice: str) -> Model:
    """Read a JSON file that this program has written.

    Args:
        path: The file.
        model: Its content.
        advice: How to make it anew.

    Raises:
        InputError: It cannot be read, or holds something else; all faults are listed.
    """
    try:
        return model.model_validate_json(path.read_bytes(), strict=False)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValidationError as error:
        raise InputError(f"{path} cannot be read. {advice}", violations_of(error)) from None


def refuse_overwriting(outputs: Iterable[Path], sources: Iterable[Path]) -> None:
    """See that nothing would be written over what it is made from, before anything is done.

    Raises:
        InputError: An output is one of the sources.
    """
    made_from = [path for path in sources if path.exists()]
    for output in outputs:
        if output.exists() and any(output.samefile(path) for path in made_from):
            raise InputError(f"{output} would be written over what it is made from.")


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A draft to write into; at the end of the block it takes the place of a file.

    Args:
        path: The file.

    Yields:
        The draft, in the folder of the file and with its ending.

    Raises:
        InputError: It cannot be written; what was there before is there still.
    """
    draft = path.with_name(f".veritrail-{os.getpid()}.tmp{path.suffix}")
    try:
        yield draft
        draft.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def write_text_whole(path: Path, text: str) -> None:
    """Write a text as UTF-8, with its line breaks as they are.

    Raises:
        InputError: It cannot be written; what was there before is there still.
    """
    with written_whole(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="")


def write_json_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON Lines.

    Raises:
        InputError: It cannot be written; what was there before is there still.
    """
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    write_text_whole(path, text)
