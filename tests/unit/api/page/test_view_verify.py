"""What is filled in before a verification: numbers are read as they are meant, or refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from veritrail_graph.api.page.views.jobs import Filled, request_of
from veritrail_graph.api.requests.verify import MAX_Q
from veritrail_graph.graph.errors import InputError

FILLED = Filled(q="3")


@pytest.mark.parametrize(
    ("text", "dollars"),
    [
        ("", None), ("0", 0.0), ("2", 2.0), ("2.50", 2.5), ("2,50", 2.5), ("2,5", 2.5),
        (".5", 0.5), ("$2.50", 2.5), ("$ 2", 2.0), ("1000", 1000.0), ("0.0001", 0.0001),
    ],
)  # fmt: skip
def test_a_budget_is_read_as_it_is_meant(text: str, dollars: float | None) -> None:
    assert request_of("p", replace(FILLED, budget_usd=text)).budget_usd == dollars


@pytest.mark.parametrize(
    "text",
    [
        "1,000", "1,000.00", "1.000,50", "1_000", "1e3", "nan", "inf", "-1", "+1", "two", "2 50",
        "\u0662", "9" * 400, ".", ",5", "$", "2\n3",
    ],
)  # fmt: skip
def test_a_budget_that_can_be_misread_is_refused(text: str) -> None:
    with pytest.raises(InputError) as refused:
        request_of("p", replace(FILLED, budget_usd=text))
    assert [one.where for one in refused.value.violations] == ["budget_usd"]


@pytest.mark.parametrize(
    ("text", "q"), [("1", 1), ("0000000012", 12), (str(MAX_Q), MAX_Q), ("0" * 30 + "7", 7)]
)
def test_a_whole_number_is_read_whole(text: str, q: int) -> None:
    assert request_of("p", replace(FILLED, q=text)).q == q


@pytest.mark.parametrize("text", ["0", "00", "", "1000001", "9" * 5_000, "1_0", "1.0", "\u00b2"])
def test_what_is_no_whole_number_is_refused(text: str) -> None:
    with pytest.raises(InputError) as refused:
        request_of("p", replace(FILLED, q=text))
    assert [one.where for one in refused.value.violations] == ["q"]


def test_the_form_names_the_engine_that_gives_the_verdicts() -> None:
    assert request_of("p", replace(FILLED, verdict_engine="nli")).verdict_engine == "nli"
    assert request_of("p", FILLED).verdict_engine is None


def test_the_form_asks_for_what_spends_less() -> None:
    filled = replace(FILLED, batch="1", share="8", verdict_model="cheap", escalate_to="strong")
    asked = request_of("p", filled)
    assert (asked.mode, asked.share) == ("batch", 8)
    assert (asked.batch_finish, asked.batch_price_factor) == ("wait", None)
    finished = request_of("p", replace(filled, batch_finish="live", batch_price_factor="0,25"))
    assert (finished.batch_finish, finished.batch_price_factor) == ("live", 0.25)
    assert (asked.verdict_model, asked.escalate_to) == ("cheap", "strong")
    since = request_of("p", replace(FILLED, since=" last ")).since
    assert (since, request_of("p", FILLED).since) == ("last", None)
    assert (request_of("p", FILLED).mode, request_of("p", FILLED).share) == ("live", 1)
    with pytest.raises(InputError) as refused:
        request_of("p", replace(FILLED, share="33"))
    assert [one.where for one in refused.value.violations] == ["share"]
    for wrong in ("2", "half", "-0.5", "1e-3"):
        with pytest.raises(InputError) as refused:
            request_of("p", replace(filled, batch_price_factor=wrong))
        assert [one.where for one in refused.value.violations] == ["batch_price_factor"]
    alone = replace(FILLED, batch_finish="live", batch_price_factor="0.5")
    with pytest.raises(InputError) as refused:
        request_of("p", alone)
    assert [one.where for one in refused.value.violations] == ["batch_finish", "batch_price_factor"]
