"""The form that checks an answer."""

from __future__ import annotations

import pytest

from veritrail_graph.api.page.views.checking import CheckForm
from veritrail_graph.api.requests.check import SourceText
from veritrail_graph.graph.errors import InputError


def test_a_line_of_hyphens_parts_pasted_sources_and_files_stand_behind_them() -> None:
    form = CheckForm.of({"answer": "A.", "sources": "One.\r\n---\r\nTwo -- still.\n ----- \n\n"})
    body = form.body([SourceText(name="three.txt", text="Three.")])
    assert body.sources == ["One.", "Two -- still.", SourceText(name="three.txt", text="Three.")]
    assert body.question is None


def test_everything_that_is_missing_is_named() -> None:
    with pytest.raises(InputError) as refused:
        CheckForm.of({"answer": " ", "sources": "---"}).body([])
    assert [one.where for one in refused.value.violations] == ["answer", "sources"]


def test_too_long_a_question_is_refused_by_its_field() -> None:
    form = CheckForm(answer="A.", sources="B.", question="?" * 10_001)
    with pytest.raises(InputError) as refused:
        form.body([])
    assert [one.where for one in refused.value.violations] == ["question"]


@pytest.mark.parametrize(("claims", "which"), [(0, "answer"), (3, "all")])
def test_claims_that_are_stored_already_are_verified_as_they_are(claims: int, which: str) -> None:
    assert CheckForm(engine="lexical", once="x").verifying(claims).which == which
