"""Names and limits of the process file, for code that must start without importing models.

Source: the contract of process files (docs/process-file.md).
"""

from __future__ import annotations

FORMAT = "veritrail.process/1"
"""The format that a process file names."""

DATASET_FORMAT = "veritrail.dataset/1"
"""The format that a data set names."""

RECORDED = "recorder"
"""The source format of a file that a program wrote while it ran; its last line may be cut off."""

PUBLIC_ID = r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}"
"""A process_id, claim_id or run_id, as a regular expression."""

MAX_NODE_ID = 1_024
MAX_STAGE = 2**31 - 1

MAX_DEPTH = 100
"""Levels of lists and objects in metadata and settings; far less than what a parser bears."""


def is_deeper_than(value: object, levels: int = MAX_DEPTH) -> bool:
    """Return whether lists and objects are nested deeper than a number of levels."""
    layer = [value]
    for _ in range(levels + 1):
        layer = [
            inner
            for outer in layer
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not layer:
            return False
    return True
