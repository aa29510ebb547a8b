"""Ids of processes, claims and runs by their first letters."""

from __future__ import annotations

import pytest

from veritrail_graph.api.app.names import only_one
from veritrail_graph.graph.errors import InputError


def test_the_first_letters_are_enough_where_only_one_id_begins_with_them() -> None:
    assert only_one(["harbour"], "harb", "processes") == "harbour"
    assert only_one(["harbour", "harbour-2"], "harbour", "processes") == "harbour"
    assert only_one([], "harb", "processes") is None
    with pytest.raises(InputError, match="several processes"):
        only_one(["harbour", "harbour-2"], "h", "processes")


def test_an_empty_name_means_none_also_where_there_is_only_one() -> None:
    assert only_one(["harbour"], "", "processes") is None
    assert only_one(["harbour", "energy"], "", "processes") is None
