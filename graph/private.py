"""Folders and files under VERITRAIL_HOME that only their owner can read.

Texts under study may be confidential. The rights are the same under every umask. Folders that were
there before keep theirs.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from veritrail_graph.graph.errors import InputError

PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600


def make_private_folders(*folders: Path) -> None:
    """Make folders that are missing, outermost first, for their owner alone.

    Raises:
        OSError: One cannot be made, or is a file.
    """
    for folder in folders:
        try:
            folder.mkdir(parents=True, mode=PRIVATE_FOLDER)
        except FileExistsError:
            if not folder.is_dir():
                raise
        else:
            folder.chmod(PRIVATE_FOLDER)


def check_home(home: Path) -> None:
    """See that files can be made in the home folder, which is made where it is missing.

    Raises:
        InputError: No file can be made there.
    """
    try:
        make_private_folders(home)
        with TemporaryFile(dir=home):
            pass
    except OSError as error:
        reason = error.strerror or "it is no folder"
        raise InputError(
            f"No file can be made in VERITRAIL_HOME ({home}): {reason}. Set it to a folder that "
            "can be written."
        ) from None


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read; one that others could read is closed first."""
    with open_private(path) as file:
        file.write(text.encode())


def open_private(path: Path) -> BinaryIO:
    """Open a file for writing, empty, for its owner alone.

    Raises:
        OSError: It cannot be made.
    """
    file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE), "wb")
    os.fchmod(file.fileno(), PRIVATE_FILE)
    return file
