"""Sheets handed out: a folder for each annotator and question or document, and a list of them.

Source: VeriTrail B.2.2, B.2.3.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from veritrail_eval.annotation import articles, workbook
from veritrail_eval.annotation.folders import Folder, folders_of
from veritrail_eval.annotation.grouping import Grouping
from veritrail_eval.datasets.model import Dataset
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers.process_file.schema import violations_of
from veritrail_graph.graph.model.noun import Many, Noun, PublicId

FORMAT = "veritrail.sheets/1"
LIST = "sheets.json"
_ANNOTATOR = re.compile(r"[^\W_][\w .@-]{0,62}[\w@-]|[^\W_]")


class HandedFolder(Noun):
    """A folder that was handed out: which claims are in it."""

    code: PublicId
    process_id: PublicId
    claims: Many[PublicId]


class HandedOut(Noun):
    """The list of handed-out folders: `sheets.json` beside the folders of the annotators."""

    format: str
    dataset: str
    annotators: Many[str]


class HandedSheets(HandedOut):
    """Folders of claims that were handed out."""

    by: str
    folders: Many[HandedFolder]


Handed = TypeVar("Handed", bound=HandedOut)


@dataclass(frozen=True, slots=True)
class WrittenSheets:
    """The result of writing sheets.

    Attributes:
        annotators: Who has folders.
        folders: The folders; each annotator has every one.
        left_out: Claims that have a label and need none.
        removed: Characters that no XML may hold, left out of what annotators read.
    """

    annotators: tuple[str, ...]
    folders: tuple[Folder, ...]
    left_out: int
    removed: int


def checked_annotators(names: Sequence[str]) -> tuple[str, ...]:
    """Names of annotators, which are names of folders too.

    Raises:
        InputError: A name is no name of a folder, or two are the same but for case.
    """
    if not names:
        raise InputError("Name at least one annotator.")
    for name in names:
        if not _ANNOTATOR.fullmatch(name):
            raise InputError(
                f"Annotator {shown(name)}: a name has up to 64 letters, digits, spaces and . @ - _ "
                "and begins with a letter or a digit; it is the name of a folder."
            )
    if len({name.casefold() for name in names}) < len(names):
        raise InputError("Two annotators have the same name; their folders would be one.")
    return tuple(names)


def write_sheets(
    dataset: Dataset,
    directory: Path,
    annotators: Sequence[str],
    by: Grouping,
    *,
    with_labelled: bool = False,
) -> WrittenSheets:
    """Write the sheets of the claims that have no label.

    Args:
        dataset: The data set.
        directory: A folder that is not there or empty.
        annotators: Who labels every claim.
        by: Which claims share a folder.
        with_labelled: Claims that have a label get a row, too.

    Raises:
        InputError: Nothing is to be labelled, or the folder holds something; nothing is written.
    """
    names = checked_annotators(annotators)
    claims = [one for one in dataset.claims if with_labelled or one.label is None]
    left_out = len(dataset.claims) - len(claims)
    if not claims:
        reason = (
            f"all {left_out} claim(s) have a label; --all gives them a row, too"
            if left_out
            else "it holds no claim"
        )
        raise InputError(f"{dataset.name}: no claim is to be annotated: {reason}.")
    refuse_filled(directory)
    folders = folders_of(dataset, claims, by)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory, prefix=".sheets-") as made:
            removed = _write(Path(made), directory, folders, names)
            handed = HandedSheets(
                format=FORMAT,
                dataset=dataset.name,
                by=by.value,
                annotators=names,
                folders=tuple(
                    HandedFolder(
                        code=one.code,
                        process_id=one.process_id,
                        claims=tuple(claim.claim_id for claim in one.claims),
                    )
                    for one in folders
                ),
            )
            text = json.dumps(handed.json_object(), ensure_ascii=False, indent=1)
            (directory / LIST).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{directory} cannot be written: {error.strerror or error}") from None
    return WrittenSheets(names, folders, left_out, removed)


def refuse_filled(directory: Path) -> None:
    """See that a folder holds nothing, so that no labels are lost.

    Raises:
        InputError: It holds files, or cannot be looked at.
    """
    try:
        is_filled = any(directory.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{directory}: {error.strerror or error}") from None
    if is_filled:
        raise InputError(
            f"{directory} holds files already. Name another folder, so that no labels are lost; "
            "to read sheets that came back use --read."
        )


def _write(made: Path, directory: Path, folders: Sequence[Folder], names: Sequence[str]) -> int:
    """Make each folder once, then give every annotator a copy of all."""
    removed = 0
    for folder in folders:
        path = made / folder.code
        path.mkdir()
        removed += workbook.write_workbook(folder, path / workbook.FILE)
        removed += articles.write_articles(folder, path / articles.FILE)
    for name in names:
        shutil.copytree(made, directory / name)
    return removed


def read_list(directory: Path) -> HandedSheets:
    """Return what was handed out.

    Raises:
        InputError: The folder lacks the list, or it is none.
    """
    return read_handed(directory, HandedSheets, FORMAT)


def read_handed(directory: Path, model: type[Handed], known: str) -> Handed:
    """The list of what was handed out, of data sets or of dialogues.

    Args:
        directory: The folder that it is in.
        model: What it holds.
        known: The format that it must name.

    Raises:
        InputError: The folder lacks the list, or it is none.
    """
    path = directory / LIST
    try:
        found = json.loads(path.read_bytes())
        named = found.get("format") if isinstance(found, dict) else None
        if isinstance(named, str) and named != known:
            raise InputError(f"{path}: the format is {shown(named)}; known is {known!r}.")
        handed = model.model_validate(found)
    except FileNotFoundError:
        raise InputError(
            f"{path} is not there. It was written with the sheets: put the folders of the "
            "annotators back beside it."
        ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValidationError as error:
        faults = list(violations_of(error, LIST, model))
        raise InputError(f"{path} is no list of sheets.", faults) from None
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not JSON.") from None
    checked_annotators(handed.annotators)
    return handed
