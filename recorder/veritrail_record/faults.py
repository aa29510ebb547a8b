"""Faults of a recording: logged, never raised into the program that is recorded."""

from __future__ import annotations

import logging

LOGGER = logging.getLogger("veritrail.recorder")


class Faults:
    """Logs each kind of fault once.

    Args:
        process_id: The process that is recorded, for the messages.
    """

    def __init__(self, process_id: str) -> None:
        self._process_id = process_id
        self._logged: set[str] = set()

    def log(self, kind: str, message: str, *values: object, trace: bool = False) -> None:
        """Log a fault, unless one of its kind was logged.

        Args:
            kind: What tells it from other faults.
            message: What happened, in the form of `logging`.
            values: The values in the message.
            trace: Whether the exception is shown with it.
        """
        if kind not in self._logged:
            self._logged.add(kind)
            LOGGER.warning(f"{self._process_id}: {message}", *values, exc_info=trace)
