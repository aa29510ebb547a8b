"""Texts from outside in files that are no HTML: what hides in them is made visible."""

from __future__ import annotations

import re

# What XML 1.0 cannot hold in any spelling, and what hides in a text or turns it round.
_UNFIT = re.compile(
    "[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
    "|[\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """Text that XML and a terminal can take; what hides or turns it round becomes an escape."""
    return _UNFIT.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", text)
