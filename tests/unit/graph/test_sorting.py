"""Numbers sorted part by part, and digests in one piece."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.graph import sorting
from veritrail_graph.graph.content_hash import Digests
from veritrail_graph.graph.sorting import sorted_parts


@given(st.integers(1, 2**60), st.data())
def test_parts_one_after_the_other_are_the_numbers_in_their_order(
    end: int, data: st.DataObject
) -> None:
    keys = data.draw(st.lists(st.integers(0, end - 1), max_size=50))
    for most in (0, 500):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sorting, "_MANY", most)
            found = list(sorted_parts(iter(keys), end, len(keys)))
        assert [key for part in found for key in part] == sorted(keys)
        assert len(found) == (1 if most else 16)
        assert all(type(key) is int for part in found for key in part)


def test_digests_are_as_they_were_given() -> None:
    given_ = [bytes([n]) * 32 for n in range(1, 5)]
    digests = Digests(given_[:2])
    digests.append(b"")
    digests.extend(given_[2:])
    expected = [*given_[:2], b"", *given_[2:]]
    assert list(digests) == expected == digests[:]
    assert [digests[n] for n in range(-5, 5)] == expected * 2
    assert (len(digests), digests.tobytes()[:64]) == (5, b"".join(given_[:2]))
    assert Digests(digests) == digests != Digests(given_)
    with pytest.raises(IndexError):
        digests[5]
