"""What the walk knows of a node: a slotted value, of which it makes a hundred thousand.

Source: VeriTrail 2 (the conceptual framework).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter


class Role(StrEnum):
    """What a node is to its process. Source: VeriTrail 2."""

    ROOT = "root"
    INTERMEDIATE = "intermediate"
    TERMINAL = "terminal"


@dataclass(frozen=True, slots=True)
class NodeRef:
    """A node without its text: what the walk needs to know of it.

    Attributes:
        node_id: The node's id in its process.
        stage: Its place in the generative process (an integer >= 0).
        position: Its place in the input, counted from 0.
        role: Root, intermediate or terminal.
    """

    node_id: str
    stage: int
    position: int
    role: Role

    def __hash__(self) -> int:
        return hash(self.node_id)  # ids differ within a process; frontiers are sets of thousands

    @classmethod
    def named(cls, node_id: str) -> NodeRef:
        """A node of which only the id is known; stage, position and role are placeholders."""
        return cls(node_id, 0, 0, Role.INTERMEDIATE)

    @property
    def is_root(self) -> bool:
        """Whether the node is source material, which a claim is checked against."""
        return self.role is Role.ROOT


frontier_order = attrgetter("stage", "position", "node_id")
"""Sort key of nodes in a frontier: stage, then place in the input, then id."""
