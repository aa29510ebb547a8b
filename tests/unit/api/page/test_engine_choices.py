"""Which engines a form offers: those that work with the settings, and why others do not."""

from __future__ import annotations

from typing import Any

import pytest

from veritrail_graph.api.app.engines import engine_choices, usual_engine
from veritrail_graph.api.page.pages.starting import broken_engines
from veritrail_graph.api.page.views.job_costs import Cost
from veritrail_graph.api.settings import Settings
from veritrail_graph.api.show.rendering import sorted_figure

OPENAI: dict[str, Any] = {"openai_api_key": "sk-1", "model": "m"}


def settings(**given: Any) -> Settings:
    nothing = dict.fromkeys(("openai_api_key", "openai_base_url", "model", "engine"))
    return Settings.model_validate({**nothing, **given})


def test_engines_that_lack_something_come_last_with_the_reason() -> None:
    choices = engine_choices(settings())
    assert [one.works for one in choices] == sorted((one.works for one in choices), reverse=True)
    told = dict(broken_engines(choices))
    assert told["openai"] == (
        "Engine openai needs a key for api.openai.com, and none is set. "
        "The service needs OPENAI_API_KEY, or OPENAI_BASE_URL of another endpoint."
    )
    assert "address of the resource" in told["azure"]
    assert "VERITRAIL_NLI_MODEL" in told["nli"]
    assert "lexical" not in told


def test_an_endpoint_of_ones_own_needs_no_key() -> None:
    choices = engine_choices(settings(openai_base_url="http://127.0.0.1:9/v1"), ["openai"])
    assert [one.works for one in choices] == [True]


@pytest.mark.parametrize(
    ("given", "usual"),
    [
        ({}, "lexical"),
        (OPENAI, "openai"),
        ({"engine": "openai"}, "lexical"),  # no key
        ({"engine": "openai", "openai_api_key": "sk-1"}, "lexical"),  # no model
        ({"engine": "azure", **OPENAI}, "openai"),
        ({"engine": "lexical", **OPENAI}, "lexical"),
    ],
)
def test_a_form_begins_with_an_engine_that_works(given: dict[str, Any], usual: str) -> None:
    found = settings(**given)
    assert usual_engine(found, engine_choices(found)) == usual


def test_the_least_of_an_estimate_is_never_more_than_the_most() -> None:
    cost = Cost(1, "openai", low={"tokens": 9}, likely={"tokens": 7}, high={"tokens": 20})
    assert [sorted_figure(cost, "tokens", place) for place in range(3)] == [7, 9, 20]
    unpriced = Cost(1, "openai", low={"cost_usd": None}, likely={"cost_usd": 1.0})
    assert sorted_figure(unpriced, "cost_usd", 0) is None
