"""What a person reads of reviews: on a terminal and in a report, whatever the texts hold."""

from __future__ import annotations

import io
from typing import Any

import pytest
from fakes.reporting import markdown_of
from fakes.settings_of import settings_of
from fakes.trails import a_trail
from rich.console import Console

from veritrail_graph.api.app import Application
from veritrail_graph.api.cli.trail import trail_tree
from veritrail_graph.api.show.review import (
    agreement_shown,
    agreement_words,
    review_line,
    reviews_shown,
)
from veritrail_graph.api.show.terminal import text, tree
from veritrail_graph.graph.agreement import agreement_of, figures
from veritrail_graph.graph.model import Process, Review, ReviewVerdict, Verdict
from veritrail_graph.graph.model.agreement import AgreementFigures
from veritrail_graph.graph.model.listed import JudgedReview
from veritrail_graph.graph.model.review import reviewed

FS, NFS, INC = Verdict
HOSTILE = "\x1b[31mred\x1b[0m [bold]x[/] <b>&amp;</b> | `tick` \u202e\nnext"
PROCESS = Process(
    process_id="p",
    name="n",
    question=None,
    source_format="f",
    content_hash="h",
    stages={1: 1},
    stage_names={},
    terminals=("t",),
    nodes=1,
    edges=0,
    claims=1,
    warnings=(),
)


def review(number: int, verdict: str, model: Verdict | None = NFS, **other: Any) -> Review:
    facts: dict[str, Any] = {
        "reason": HOSTILE,
        "overrides": "v-1",
        "model_verdict": model,
        "reviewer": "Ada",
        **other,
    }
    created_at = f"2026-01-0{number}T00:00:00.000000Z"
    return Review(
        review_id=f"review-{number}",
        process_id="p",
        claim_id="k1",
        claim="The pier is 80 metres long.",
        verdict=ReviewVerdict(verdict),
        created_at=created_at,
        **facts,
    )


@pytest.fixture
def console() -> Console:
    """A wide terminal without colours."""
    return Console(file=io.StringIO(), width=300, markup=False, highlight=False)


@pytest.fixture
def printed(console: Console) -> io.StringIO:
    """What is printed on it."""
    assert isinstance(console.file, io.StringIO)
    return console.file


def is_clean(text: str) -> bool:
    return not any((char < " " and char != "\n") or char in "\x7f\u202e" for char in text)


def test_a_review_reads_as_one_line(console: Console, printed: io.StringIO) -> None:
    console.print(text(review_line(review(1, "FULLY_SUPPORTED", recorded_by="desk"))))
    told = printed.getvalue()
    assert told.startswith(
        "Ada: Fully Supported (overridden; it was Not Fully Supported), \\x1b[31mred"
    )
    assert "by key desk" in told
    assert is_clean(told)
    assert told.count("\n") == 1


def test_a_trail_tells_of_the_reviews_of_its_claim_and_which_are_of_others(
    console: Console,
    printed: io.StringIO,
) -> None:
    console.print(trail_tree(a_trail()))
    assert "reviews" not in printed.getvalue()
    said = [review(2, "UNCLEAR"), review(1, "NOT_FULLY_SUPPORTED", overrides="v-0")]
    console.print(trail_tree(a_trail(), reviews=said))
    told = printed.getvalue()
    assert "reviews by people" in told
    assert "Unclear (unclear; it was Not Fully Supported)" in told
    assert "(of v-0)" in told
    assert "(of v-1)" not in told
    assert is_clean(told)


def test_a_table_shows_every_review(console: Console, printed: io.StringIO) -> None:
    said = [review(2, "FULLY_SUPPORTED"), review(1, "UNCLEAR", None, verification_id=None)]
    console.print(tree(reviews_shown(said)))
    lines = printed.getvalue().splitlines()[1:]
    assert len(lines) == 3
    assert "overridden" in lines[1]
    assert "unclear, earlier" in lines[2]
    assert is_clean(printed.getvalue())


def test_figures_say_how_little_they_rest_on_and_what_is_not_defined(
    console: Console,
    printed: io.StringIO,
) -> None:
    assert agreement_words(AgreementFigures(**figures([]))) == "nothing to compare yet."
    few = agreement_words(AgreementFigures(**figures([(FS, FS), (FS, NFS), (NFS, NFS)])))
    assert few.startswith("67 % agreed (2 of 3; 95 % certain: ")
    assert "kappa 0.40. These are few" in few
    one = agreement_words(AgreementFigures(**figures([(FS, FS)] * 40)))
    assert "kappa not defined" in one
    assert "few" not in one
    almost = agreement_words(AgreementFigures(**figures([(FS, FS)] * 400 + [(FS, NFS)])))
    assert almost.startswith("over 99 % agreed (400 of 401;")
    found = [
        JudgedReview(review(1, "FULLY_SUPPORTED"), "openai", "m"),
        JudgedReview(review(2, "NOT_FULLY_SUPPORTED", reviewer="Bo"), "openai", "m"),
    ]
    console.print(tree(agreement_shown(agreement_of("p", found))))
    told = printed.getvalue()
    for words in ("reviews 2 of 1 claim", "1 on which reviewers disagree", "Ada and Bo"):
        assert words in told


def test_a_report_shows_people_beside_the_model() -> None:
    trail = a_trail()
    bare = markdown_of(PROCESS, [trail.verified_claim], [trail])
    assert "review" not in bare.lower()
    said = reviewed(
        [review(1, "NOT_FULLY_SUPPORTED", FS), review(2, "UNCLEAR", FS, reviewer="<i>Bo</i>")], FS
    )
    assert said is not None
    told = markdown_of(PROCESS, [trail.verified_claim], [trail], {"k1": said})
    assert "Reviewed by people: 1 (confirmed 0, overridden 0, unclear 1; disputed 1)." in told
    assert "| `k1` | Fully Supported | unclear, disputed |" in told
    assert "**Reviews by people**" in told
    assert "- &lt;i&gt;Bo&lt;/i&gt;: **Unclear** (unclear; it was Fully Supported)" in told
    assert "- `Ada`: **Not Fully Supported** (overridden; it was Fully Supported)" in told
    assert "<b>" not in told
    assert is_clean(told)


def test_who_reviews_is_set_or_else_the_login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "cy")
    for values, name in (({"VERITRAIL_REVIEWER": "Bo"}, "Bo"), ({}, "cy")):
        assert Application(settings_of(values)).reviews.default_reviewer() == name
