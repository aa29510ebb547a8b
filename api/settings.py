"""Settings: from options, then the environment, then a `.env` file in the working folder."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs
from dotenv import dotenv_values

from veritrail_graph.graph.errors import InputError


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set from outside.

    Attributes:
        home: Folder of the embedded engine.
        neo4j_uri: A server to use; None: the embedded engine.
        neo4j_username: Its user; None: no authentication.
        neo4j_password: Its password; never shown.
        neo4j_database: Its database; None: the server's default.
        query_seconds: How long a query of the library or of the shell may take.
        connect_seconds: How long to wait for a server that is starting.
        engine: Engine of judgement, as set; see `engine_name`.
        model: Name of the model, if one is set.
        language: Language whose rules split texts into sentences.
        max_node_text: The longest text of a node, in bytes of UTF-8.
        db_idle: Time without a client after which the embedded engine stops.
        db_heap: Heap of the embedded engine, as Java writes it.
        db_jit: How well its Java machine compiles: `full` or `quick`.
        values: All settings as they were found, for those of the models; never shown.
    """

    home: Path
    neo4j_uri: str | None = None
    neo4j_username: str | None = None
    neo4j_password: str | None = field(default=None, repr=False)
    neo4j_database: str | None = None
    query_seconds: float = 60.0
    connect_seconds: float = 5.0
    engine: str | None = None
    model: str | None = None
    language: str = "english"
    max_node_text: int = 10_000_000
    db_idle: str = "10m"
    db_heap: str = "1g"
    db_jit: str = "full"
    values: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None) -> Settings:
        """Read the environment and a `.env` of the working folder; the environment wins.

        Raises:
            InputError: A setting has a value that it cannot have; the message names it.
        """
        values = dict(_from_file(Path(".env")))
        values.update(os.environ if environ is None else environ)
        password = values.get("NEO4J_PASSWORD") or None  # as it is: blanks may be part of it
        values = {key: value.strip() for key, value in values.items() if value.strip()}
        uri = _uri(values)
        username = values.get("NEO4J_USERNAME") or ("neo4j" if password else None)
        home = values.get("VERITRAIL_HOME")
        return cls(
            home=_folder(home) if home else platformdirs.user_data_path("veritrail"),
            neo4j_uri=uri,
            neo4j_username=username,
            neo4j_password=password,
            neo4j_database=values.get("NEO4J_DATABASE"),
            query_seconds=_seconds(values, "VERITRAIL_QUERY_SECONDS", 60.0, least=0.1),
            connect_seconds=_seconds(values, "VERITRAIL_CONNECT_SECONDS", 5.0, least=0.0),
            engine=values.get("VERITRAIL_ENGINE"),
            model=values.get("VERITRAIL_MODEL"),
            language=values.get("VERITRAIL_LANGUAGE", "english").lower(),
            max_node_text=read_size(values, "VERITRAIL_MAX_NODE_TEXT", 10_000_000),
            db_idle=values.get("VERITRAIL_DB_IDLE", "10m"),
            db_heap=values.get("VERITRAIL_DB_HEAP", "1g").lower(),
            db_jit=values.get("VERITRAIL_DB_JIT", "full").lower(),
            values=values,
        )

    def engine_name(self, engine: str | None = None, model: str | None = None) -> str:
        """The engine of judgement: option, setting, `openai` when a model is named, `lexical`.

        A key alone in the environment never makes a call. Whether there is such an engine is
        seen when it is looked up.
        """
        return engine or self.engine or ("openai" if model or self.model else "lexical")


def _from_file(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    try:
        return {key: value for key, value in dotenv_values(path).items() if value is not None}
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path.resolve()} cannot be read: {error}") from None


def _folder(home: str) -> Path:
    try:
        return Path(home).expanduser()
    except RuntimeError:
        message = f"VERITRAIL_HOME={home!r}: the home folder of that user is not known"
        raise InputError(message) from None


_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


def _uri(values: Mapping[str, str]) -> str | None:
    """NEO4J_URI; a fault is named here, before the driver names it in its own ways."""
    uri = values.get("NEO4J_URI")
    if uri is None:
        return None
    wanted = "write it as bolt://host:7687 or neo4j://host:7687"
    try:
        parts = urlsplit(uri)
        is_whole = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise InputError(f"NEO4J_URI={uri!r} is no address; {wanted}") from None
    if parts.username is not None or parts.password is not None:
        raise InputError(
            f"NEO4J_URI holds a user name or password; {wanted}, and set NEO4J_USERNAME and "
            "NEO4J_PASSWORD"
        )
    if parts.scheme in ("http", "https"):
        raise InputError(
            f"NEO4J_URI={uri!r} is an address for a web browser; this program speaks Bolt: "
            f"write it as bolt://{parts.hostname or 'host'}:7687"
        )
    if not is_whole:
        raise InputError(f"NEO4J_URI={uri!r} is no address of a Bolt server; {wanted}")
    return uri


_LONGEST = 86_400.0


def _seconds(values: Mapping[str, str], name: str, default: float, *, least: float) -> float:
    value = values.get(name)
    if value is None:
        return default
    match = re.fullmatch(r"\d+(\.\d+)?", value)
    if match is None or not least <= float(value) <= _LONGEST:
        raise InputError(
            f"{name}={value!r}: must be a number of seconds from {least:g} to {_LONGEST:g}"
        )
    return float(value)


_SIZE_UNITS = {"": 1, "b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000}


def read_size(values: Mapping[str, str], name: str, default: int) -> int:
    """A number of bytes that is set, or a default.

    Raises:
        InputError: It is none.
    """
    value = values.get(name)
    if value is None:
        return default
    match = re.fullmatch(r"(\d+)\s*([a-z]*)", value.lower())
    if match is None or match[2] not in _SIZE_UNITS or int(match[1]) == 0:
        raise InputError(f"{name}={value!r}: must be a number of bytes above 0, or such as 10MB")
    return int(match[1]) * _SIZE_UNITS[match[2]]
