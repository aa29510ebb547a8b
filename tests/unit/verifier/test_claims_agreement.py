"""Agreement: the majority decides, and one of its wordings goes on."""

from __future__ import annotations

import pytest

from veritrail_graph.verifier.claims.steps import Opinion, agreed


@pytest.mark.parametrize(
    ("sentences", "needed", "goes_on"),
    [
        (["a", "a", "a"], 2, "a"),
        (["a", None, None], 2, None),
        ([None, "a", "b"], 2, "a"),
        (["b", "a", "a"], 2, "a"),
        (["c", "a", "b"], 3, "c"),
        (["c", "a", None], 3, None),
        (["a"], 1, "a"),
        ([None], 1, None),
    ],
)
def test_the_most_frequent_wording_of_a_majority_goes_on(
    sentences: list[str | None], needed: int, goes_on: str | None
) -> None:
    found = agreed([Opinion(sentence, "why") for sentence in sentences], needed)
    assert found == Opinion(goes_on, "" if goes_on else "why")
