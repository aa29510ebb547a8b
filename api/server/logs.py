"""The log of the service: one line for each thing that happened, on stderr, without secrets.

As JSON, one object a line; or as text, for a person at a terminal. Neither holds a key, a
body, or the text of a query.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import traceback
from datetime import UTC, datetime
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from veritrail_graph.api.server.options import LogFormat, LogLevel
from veritrail_graph.api.settings import Settings

LONGEST = 2_000
"""Characters of one message."""

_OWN = ("veritrail", "uvicorn.error")
_SECRET_NAMES = re.compile(r"(?:KEY|PASSWORD|TOKEN|SECRET)$")
_LEAST_SECRET = 4

# What looks like a secret or says where the database is, from any source.
_PATTERNS = (
    (re.compile(r"vt_([a-z2-7]{8})_[A-Za-z0-9_-]+"), r"vt_\1_***"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[^\s,;\"']+"), r"\1 ***"),
    (re.compile(r"\b(postgres(?:ql)?(?:\+\w+)?|bolt|neo4j)(\+\w+)?://[^\s\"']+"), r"\1\2://***"),
    (re.compile(r"connection to server (?:at|on) .*?(?= failed|$)"), "connection to server"),
)


def start_logs(settings: Settings, form: LogFormat, level: LogLevel) -> None:
    """Send every line of this process to stderr, in one form.

    Args:
        settings: Where the secrets stand that must not be seen.
        form: How lines are written.
        level: The least that is written.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines(form, secrets_of(settings)))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in _OWN:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        # Uvicorn logs every start, stop and request that is no HTTP at this level.
        logger.setLevel(level.value.upper() if name == "veritrail" else logging.ERROR)


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """The values among the settings that no line may hold, the longest first."""
    found = {value for name, value in os.environ.items() if _SECRET_NAMES.search(name)}
    steps = (settings.claims, settings.selection, settings.verdict)
    for own in (settings, *steps, settings.copy_from, settings.copy_to, settings.import_from):
        found |= {str(value) for name, value in own if value and _SECRET_NAMES.search(name.upper())}
    url = settings.jobs_url or ""
    try:
        found.add(urlsplit(url).password or "")
    except ValueError:
        found.add(url)
    return tuple(sorted((one for one in found if len(one) >= _LEAST_SECRET), key=len, reverse=True))


class Lines(logging.Formatter):
    """Writes a record as one line.

    Args:
        form: As JSON or as text.
        secrets: What is shown as `***` everywhere.
    """

    def __init__(self, form: LogFormat, secrets: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._form = form
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _cut(record.getMessage()),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            fields.update(_fault(record.exc_info[1], record.exc_info[2]))
        fields = self._clean(fields)
        return self._text(fields) if self._form is LogFormat.TEXT else json.dumps(fields)

    @staticmethod
    def _text(fields: dict[str, Any]) -> str:
        rest = {k: v for k, v in fields.items() if k not in ("time", "level", "logger", "message")}
        named = [f"{name}={json.dumps(value)}" for name, value in rest.items()]
        # A line break within the message would let somebody write lines of their own.
        message = json.dumps(fields["message"])[1:-1]
        return " ".join([fields["time"], fields["level"].upper(), message, *named])

    def _clean(self, value: Any) -> Any:
        """A value without secrets, at any depth."""
        if isinstance(value, dict):
            return {str(key): self._clean(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self._clean(one) for one in value]
        if value is None or isinstance(value, bool | int | float):
            return value
        text = str(value)
        for secret in self._secrets:
            text = text.replace(secret, "***")
        for pattern, instead in _PATTERNS:
            text = pattern.sub(instead, text)
        return text


def _cut(text: str) -> str:
    """A text that is not too long for a line; the end of a trace says what happened."""
    return text if len(text) <= LONGEST else f"{text[:200]} … {text[-LONGEST + 200 :]}"


def _fault(error: BaseException, trace: TracebackType | None) -> dict[str, Any]:
    """An exception as fields: where it passed, without the values that were there."""
    frames = traceback.extract_tb(trace)
    return {
        "error": _cut(f"{type(error).__name__}: {error}"),
        "trace": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-30:]],
    }
