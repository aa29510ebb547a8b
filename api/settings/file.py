"""Settings of a project in `veritrail.toml`: behind the environment.

The file is looked for in the working folder, then in those above it; `VERITRAIL_CONFIG` names
another one. Its table `options` holds defaults of options, which the command line reads. A file of
another user counts only where the working folder is that user's, too: in a folder that all may
write to, such as /tmp, anybody could put it there.

Names are those of the environment in small letters, without `VERITRAIL_`; the settings of one step
are a table. The file is meant to be shared, so secrets are refused in it, addresses that a secret
or a text of a process goes to, paths that are written to, and what opens the service to others:
a person who clones a project has not chosen them. The type of a setting says which of these it is
(`Role`).
"""

from __future__ import annotations

import logging
import os
import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from pydantic_settings import PydanticBaseSettingsSource

from veritrail_graph.api.settings.secret_files import roles_of
from veritrail_graph.api.settings.values import Role
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_log = logging.getLogger(__name__)

FILE = "veritrail.toml"
CONFIG = "VERITRAIL_CONFIG"
"""Names the file in the environment."""
OPTIONS = "options"
"""The table of the defaults of options."""

_IS_ADDRESS = re.compile(r"\s*[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SHOWN = ("neo4j_browser",)
"""Addresses that nothing is sent to."""


def project_file() -> Path | None:
    """Return the file of the working folder's project; None: there is none."""
    named = os.environ.get(CONFIG, "").strip()
    if named:
        return Path(named).expanduser()
    here = Path.cwd()
    for folder in (here, *here.parents):
        path = folder / FILE
        if path.is_file() and is_of_user(path):
            return path
    return None


def file_name() -> str:
    """Return what people call the file of the project: its name, or the path that was given."""
    return os.environ.get(CONFIG, "").strip() or FILE


def is_of_user(path: Path) -> bool:
    """Return whether a file of settings is the user's, root's, or of the working folder's owner.

    Any other is named in a warning and not read: the user has not chosen it.
    """
    if not hasattr(os, "getuid"):
        return True
    try:
        owners = {path.lstat().st_uid, path.stat().st_uid}  # also of what a link leads to
        trusted = {os.getuid(), 0, Path().stat().st_uid}
    except OSError:
        return False
    if owners <= trusted:
        return True
    _warn_of_other(path.absolute())
    return False


@cache
def _warn_of_other(path: Path) -> None:
    _log.warning(
        "%s belongs to another user and is not read. If you trust it, name it: --config for %s, "
        "the environment for what .env says.",
        path,
        FILE,
    )


def options_of_project() -> Mapping[str, Any]:
    """Return the defaults of options that the file of the project names.

    Raises:
        InputError: The file cannot be read, or they are no table.
    """
    options = _document(project_file()).get(OPTIONS, {})
    if not isinstance(options, dict):
        raise InputError(f"{file_name()}: {OPTIONS!r} is a table: [{OPTIONS}]")
    return options


def _document(path: Path | None) -> dict[str, Any]:
    """Return what a file says; nothing where there is none."""
    if path is None:
        return {}
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path.absolute()} cannot be read: {error}") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path.absolute()} is no TOML: {error}") from None


class ProjectFile(PydanticBaseSettingsSource):
    """The settings source that reads `veritrail.toml`, as texts that settings are read from."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Nothing: all fields are read at once."""
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        """The values by the names that the settings read.

        Raises:
            InputError: It is no TOML, or holds what is no setting, or what is not to be shared.
        """
        document = _document(project_file())
        document.pop(OPTIONS, None)
        return _read(document, self.settings_cls, "")


def _read(document: dict[str, Any], model: type[BaseModel], place: str) -> dict[str, Any]:
    names = {name_of(name, one): (name, one) for name, one in model.model_fields.items()}
    found: dict[str, Any] = {}
    for key, value in document.items():
        of_file = names.get(key.removesuffix("_file"))
        if key not in names and of_file and Role.SECRET in roles_of(of_file[1]):
            raise _is_secret(place + key)
        if key not in names:
            near = get_close_matches(key, names, n=1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            if not place and not near:
                meant = f" Options of commands stand in the table [{OPTIONS}]."
            raise InputError(f"{file_name()}: there is no setting {place + key!r}.{meant}")
        name, field = names[key]
        roles = roles_of(field)
        if Role.OPENS in roles:
            raise _is_not_shared(place + key, "something that opens the service to others")
        if Role.ADDRESS in roles or (key not in _SHOWN and _is_address(value)):
            raise _is_not_shared(place + key, "an address that keys or texts go to")
        if Role.SECRET in roles:
            raise _is_secret(place + key)
        if Role.WRITTEN in roles:
            raise _is_not_shared(place + key, "a path that is written to")
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            if not isinstance(value, dict):
                raise InputError(f"{file_name()}: {place + key!r} is a table: [{key}]")
            found[str(field.validation_alias or name)] = _read(value, inner, f"{key}.")
        else:
            found[str(field.validation_alias or name)] = _text(value, place + key)
    return found


def _is_address(value: Any) -> bool:
    return isinstance(value, str) and bool(_IS_ADDRESS.match(value))


def _is_secret(name: str) -> InputError:
    return InputError(
        f"{file_name()}: {name!r} is a secret. Put it into the environment or into .env, "
        "which are not shared."
    )


def _is_not_shared(name: str, what: str) -> InputError:
    return InputError(
        f"{file_name()}: {name!r} is {what}, and this file is shared. Set "
        f"{environment_name(name)} in the environment or in .env."
    )


def environment_name(name: str) -> str:
    """The name of a setting in the environment."""
    made = name.replace(".", "_").upper()
    return made if made.startswith(("NEO4J_", "OPENAI_", "AZURE_")) else f"VERITRAIL_{made}"


def name_of(name: str, field: FieldInfo) -> str:
    """The name of a setting in the file."""
    alias = field.validation_alias
    return str(alias).lower().removeprefix("veritrail_") if alias else name


def _text(value: Any, place: str) -> str:
    """A value as the environment would hold it."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
        return ",".join(map(str, value))
    if isinstance(value, str | int | float):
        return str(value)
    raise InputError(f"{file_name()}: {place!r} must be a text, a number, true or false, or a list")
