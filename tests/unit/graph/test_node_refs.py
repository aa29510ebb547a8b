"""Nodes as the walk knows them."""

from dataclasses import FrozenInstanceError

import pytest

from veritrail_graph.graph.model.node_ref import NodeRef, Role


def test_nodes_made_from_columns_are_those_made_one_by_one():
    ids, stages, positions, roles = ["a", "b"], [1, 2], [0, 7], [Role.ROOT, Role.TERMINAL]
    made = NodeRef.of_columns(ids, stages, positions, iter(roles))
    assert made == [NodeRef("a", 1, 0, Role.ROOT), NodeRef("b", 2, 7, Role.TERMINAL)]
    assert {made[0], NodeRef("a", 1, 0, Role.ROOT)} == {made[0]}
    assert repr(made[1]) == repr(NodeRef("b", 2, 7, Role.TERMINAL))
    with pytest.raises(FrozenInstanceError):
        made[0].stage = 3
    assert NodeRef.of_columns([], [], [], []) == []
