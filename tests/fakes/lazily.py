"""Names of a module that takes long to import, for a test file that uses them."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_into(names: dict[str, Any], module: str) -> None:
    """Import a module and put its names among others, the globals of a test file.

    Args:
        names: Where the names go. Each worker of a run reads every test file, but few run this
            one; so a fixture of the file calls this, in place of an import at its top.
        module: What is imported.
    """
    found = vars(import_module(module))
    names.update({name: value for name, value in found.items() if not name.startswith("__")})
