"""How the log of the service is written, and from which weight on."""

from __future__ import annotations

from enum import StrEnum


class LogFormat(StrEnum):
    """How lines are written."""

    JSON = "json"
    TEXT = "text"


class LogLevel(StrEnum):
    """From which weight on lines are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
