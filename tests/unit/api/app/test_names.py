"""Ids of processes, claims and runs by their first letters."""

from __future__ import annotations

import pytest

from veritrail_graph.api.app.names import only_one, short_names
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


def test_ids_of_hashes_are_shortened_as_far_as_each_names_one_alone() -> None:
    names = [
        "p-219116fb7e6035e4",
        "p-2191aa0b7e6035e4",
        "0194c9f0-0000-7000-8000-000000000001",
        "harbour-summary",
        "a-name-that-somebody-chose",
        "a-name-that-somebody-chose-2",
    ]
    assert short_names(names, 6, 20) == {
        "p-219116fb7e6035e4": "p-21911",
        "p-2191aa0b7e6035e4": "p-2191a",
        "0194c9f0-0000-7000-8000-000000000001": "0194c9",
        "harbour-summary": "harbour-summary",
        "a-name-that-somebody-chose": "a-name-that-somebody-chose",
        "a-name-that-somebody-chose-2": "a-name-that-somebody-chose-",
    }
