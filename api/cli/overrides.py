"""`--set KEY=VALUE` and `--config FILE`, which every command takes, and defaults of options.

A setting counts for this call as if the environment named it; the name of an option of the command
means that option.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError

SET, CONFIG = "--set", "--config"
TAKING = ("check", "verify", "estimate", "attribute", "gate")
"""The commands whose options the file of the project may give defaults: those that judge."""
_NOT_SHARED = ("FILE", "PATH", "DIR", "URL", "GRAPH", "RUN")
"""In how an option names its value: one that is read, written or sent to, or a run of a person."""


def are_in(arguments: Sequence[str]) -> bool:
    """Return whether a call sets something."""
    return any(each.partition("=")[0] in (SET, CONFIG) for each in arguments)


def taken(arguments: Sequence[str]) -> tuple[list[str], list[tuple[str, str]], str | None]:
    """Take the options of all commands out of a call.

    Args:
        arguments: What follows `veritrail`.

    Returns:
        The other arguments, the keys with their values, and the file of the project.

    Raises:
        InputError: One of them has no value.
    """
    left: list[str] = []
    values: list[tuple[str, str]] = []
    config: str | None = None
    rest = iter(arguments)
    for argument in rest:
        name, sign, value = argument.partition("=")
        if argument == "--":
            return [*left, argument, *rest], values, config
        if name not in (SET, CONFIG):
            left.append(argument)
            continue
        given = value if sign else next(rest, "")
        if name == CONFIG:
            config = given
            continue
        key, sign, value = given.partition("=")
        if not sign or not key.strip():
            raise InputError(f"{SET} {given!r}: must be KEY=VALUE")
        values.append((key.strip(), value))
    if config is not None and not Path(config).is_file():
        raise InputError(f"{CONFIG} {config!r}: there is no such file")
    return left, values, config


def set_all(values: Sequence[tuple[str, str]], options: Mapping[str, bool]) -> list[str]:
    """Let settings count for this call.

    Args:
        values: The keys with their values.
        options: The long options of the command, and whether each is a flag.

    Returns:
        What the options of the command among them are called with.

    Raises:
        InputError: There is no such setting and no such option.
    """
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.api.settings.file import environment_name
    from veritrail_graph.api.settings.listing import names

    settings = dict.fromkeys(names(Settings))
    arguments: list[str] = []
    for key, value in values:
        option = f"--{key.replace('_', '-')}"
        if option in options:
            arguments += _typed(option, value, is_flag=options[option])
        elif key.replace("-", "_") in settings:
            os.environ[environment_name(key.replace("-", "_"))] = value
        else:
            known = [*settings, *(each.removeprefix("--") for each in options)]
            near = get_close_matches(key, known, n=1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            if not near and _is_known(key.replace("-", "_")):
                meant = f" It is an option of {', '.join(TAKING)}: give it to one that has it."
            raise InputError(f"{SET} {key}: there is no such setting and no such option.{meant}")
    return arguments


def _typed(option: str, value: str, *, is_flag: bool) -> list[str]:
    if not is_flag:
        return [f"{option}={value}"]
    said = value.strip().lower()
    if said not in ("true", "false", "1", "0"):
        raise InputError(f"{SET} {option.removeprefix('--')}: must be true or false")
    return [option] if said in ("true", "1") else []


def defaults_of(command: Any) -> dict[str, Any]:
    """Return the defaults of a command's options that the file of the project names.

    Args:
        command: The command, or the group of them that is called.

    Raises:
        InputError: The file names an option that no command has, or that no shared file may set.
    """
    from veritrail_graph.api.settings.file import OPTIONS, file_name, options_of_project

    named = options_of_project()
    if not named:
        return {}
    found: dict[str, Any] = {}
    for name, each in getattr(command, "commands", {}).items():
        known = {one.name: one for one in _options(each)} if name in TAKING else {}
        if mine := {key: value for key, value in named.items() if key in known}:
            found[name] = mine
            for key in mine:
                _check_shared(key, known[key])
    for key in named:
        if not any(key in mine for mine in found.values()) and not _is_known(key):
            raise InputError(
                f"{file_name()}: no command that judges ({', '.join(TAKING)}) has the option "
                f"{OPTIONS}.{key}."
            )
    return found


def without_idle(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options without an effort of the project's file where no model answers in words."""
    from veritrail_graph.api.app.engines import any_writes
    from veritrail_graph.api.settings.file import options_of_project

    effort = options.get("effort")
    given = (options.get("engine"), options.get("verdict_engine"))
    engines = [name for name in given if name is not None]
    if effort is None or not engines or any_writes(engines):
        return dict(options)
    is_default = options_of_project().get("effort") == effort
    return {**options, "effort": None if is_default else effort}


def _check_shared(key: str, option: Any) -> None:
    """Refuse a default that leads to a file or an address, which a stranger may have chosen.

    Raises:
        InputError: It does.
    """
    from veritrail_graph.api.settings.file import OPTIONS, file_name

    value = option.metavar or ""
    if any(kind in value for kind in _NOT_SHARED):
        raise InputError(
            f"{file_name()}: {OPTIONS}.{key} names a file, a folder, an address or a run, "
            f"and this file is shared. Give --{key.replace('_', '-')} in the call."
        )


def _is_known(key: str) -> bool:
    """Return whether a command that was not called has an option."""
    from veritrail_graph.api.cli.app import command
    from veritrail_graph.api.cli.options import JUDGING

    if key in JUDGING:
        return True
    return any(key in {one.name for one in _options(command(n).commands[n])} for n in TAKING)


def _options(command: Any) -> Iterator[Any]:
    for parameter in getattr(command, "params", ()):
        if getattr(parameter, "param_type_name", "") == "option":
            yield parameter


def long_options(command: Any) -> dict[str, bool]:
    """Return the long options of a command, and whether each is a flag."""
    return {
        name: bool(getattr(parameter, "is_flag", False))
        for parameter in _options(command)
        for name in parameter.opts
        if name.startswith("--")
    }
