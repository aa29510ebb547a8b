"""A verification as far as a page needs it: its evidence, and its rounds by their counts.

A round may have read a hundred thousand nodes; those without evidence are only counted.

Source: VeriTrail 3.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from veritrail_graph.graph.model import Verification


@dataclass(frozen=True, slots=True)
class TrailOutline:
    """A verification with what a page needs to know of its walk.

    Attributes:
        verification: The verification. Of the nodes that its rounds read, those without evidence
            may be left out.
        checked: How many nodes a round read, by its number, where some are left out.
    """

    verification: Verification
    checked: Mapping[int, int] = field(default_factory=dict)
