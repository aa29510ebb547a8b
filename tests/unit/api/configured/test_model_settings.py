"""Settings of models: what comes first, what is refused, and that no key is repeated."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from fakes.settings_of import settings_of
from pydantic import ValidationError

from veritrail_graph.api.configured.efforts import efforts_of
from veritrail_graph.api.configured.judge import configure_judge, judge_options
from veritrail_graph.api.configured.models import (
    ModelOptions,
    all_model_settings,
    retirement_warnings,
)
from veritrail_graph.api.jobs.storage.reading import Resumable
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.settings import Settings, Use, model_settings
from veritrail_graph.api.work.runs import held_run
from veritrail_graph.graph.errors import InputError, NotFound
from veritrail_graph.graph.model.job import JobKind
from veritrail_graph.verifier.engines import engine_named
from veritrail_graph.verifier.models.port import NO_TEMPERATURE

STEPS = (Use.CLAIMS, Use.SELECTION, Use.VERDICT)


def of(use: Use = Use.VERDICT, engine: str = "openai", **values: str):
    return model_settings(settings_of({"VERITRAIL_MODEL": "m", **values}), use, engine)


def test_a_step_has_its_own_model_endpoint_key_and_limits() -> None:
    values = {
        "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
        "OPENAI_API_KEY": "sk-first",
        "VERITRAIL_TEMPERATURE": "0.1",
        "VERITRAIL_VERDICT_MODEL": "judge",
        "VERITRAIL_VERDICT_BASE_URL": "http://127.0.0.1:2/v1",
        "VERITRAIL_VERDICT_TEMPERATURE": "none",
        "VERITRAIL_VERDICT_CONTEXT_TOKENS": "9000",
        "VERITRAIL_VERDICT_RPM": "60",
        "VERITRAIL_VERDICT_PRICE": "1,2,0.5",
    }
    judge, reader = of(Use.VERDICT, **values), of(Use.SELECTION, **values)
    assert (judge.model, judge.base_url, judge.api_key) == ("judge", "http://127.0.0.1:2/v1", None)
    assert (judge.temperature, judge.context_tokens, judge.rpm) == (None, 9000, 60)
    assert judge.price == (1.0, 2.0, 0.5)
    assert (reader.model, reader.api_key, reader.temperature) == ("m", "sk-first", 0.1)
    assert reader.price is None


def test_a_model_of_the_command_line_goes_before_every_setting() -> None:
    settings = settings_of({"VERITRAIL_VERDICT_MODEL": "judge", "VERITRAIL_MODEL": "m"})
    found = all_model_settings(settings, "openai", ModelOptions(model="x", claims_model="y"))
    assert [found[use].model for use in (Use.CLAIMS, Use.SELECTION, Use.VERDICT)] == ["y", "x", "x"]


def test_azure_has_names_of_its_own() -> None:
    found = of(
        engine="azure",
        AZURE_OPENAI_ENDPOINT="https://r.openai.azure.com",
        AZURE_OPENAI_API_KEY="k",
        OPENAI_API_KEY="other",
        OPENAI_API_VERSION="2024-10-21",
    )
    assert found.base_url == "https://r.openai.azure.com"
    assert (found.api_key, found.api_version) == ("k", "2024-10-21")


def test_an_effort_is_that_of_all_steps_or_of_one() -> None:
    settings = settings_of({"VERITRAIL_MODEL": "m", "VERITRAIL_VERDICT_REASONING_EFFORT": "High"})
    found = all_model_settings(settings, "openai", ModelOptions())
    assert [found[use].reasoning_effort for use in STEPS] == [None, None, "high"]
    options = ModelOptions(effort="verdict=max, low")
    found = all_model_settings(settings, "openai", options)
    assert [found[use].reasoning_effort for use in STEPS] == ["low", "low", "max"]


@pytest.mark.parametrize("effort", ["hihg", "judge=high", "verdict=", "low,", "=low=high"])
def test_an_effort_or_a_step_that_there_is_not_is_refused_with_those_that_there_are(
    effort: str,
) -> None:
    with pytest.raises(InputError, match="none, minimal, low, medium, high, xhigh, max"):
        efforts_of(effort)
    with pytest.raises(ValidationError):
        VerifyRequest(process_id="p", effort=effort)


def test_a_setting_that_is_no_effort_is_refused() -> None:
    with pytest.raises(InputError, match="VERITRAIL_REASONING_EFFORT='hihg': must be one of none"):
        of(VERITRAIL_REASONING_EFFORT="hihg")


@pytest.mark.parametrize(
    ("model", "effort", "words"),
    [
        ("gpt-6-luna", "low", "gpt-6-luna takes no temperature with the effort low, so several"),
        ("claude-haiku-5-5", None, "claude-haiku-5-5 takes no temperature, so several samples"),
    ],
)
def test_samples_are_refused_before_anything_is_asked_where_a_model_takes_no_temperature(
    model: str, effort: str | None, words: str, tmp_path: Path
) -> None:
    settings = settings_of({"VERITRAIL_HOME": str(tmp_path), "OPENAI_API_KEY": "k"})
    request = VerifyRequest(process_id="p", model=model, effort=effort, samples=3)

    async def configured() -> None:
        async with configure_judge(settings, judge_options(settings, request)):
            pass

    with pytest.raises(InputError, match=words) as raised:
        asyncio.run(configured())
    assert raised.value.code == NO_TEMPERATURE


@pytest.mark.parametrize("engine", ["decisions", "lexical"])
@pytest.mark.parametrize(
    ("given", "code"),
    [({"prompts": "paper"}, "prompts_need_model"), ({"effort": "low"}, "effort_needs_model")],
)
def test_what_is_of_a_model_that_writes_is_refused_where_none_does(
    engine: str, given: dict[str, str], code: str, tmp_path: Path
) -> None:
    values = {
        "VERITRAIL_HOME": str(tmp_path), "OPENAI_API_KEY": "k", "VERITRAIL_DECISIONS_MODEL": "m",
        "VERITRAIL_REASONING_EFFORT": "low",
    }  # fmt: skip

    async def configured(prompts: str | None = None, **more: str) -> None:
        request = VerifyRequest(process_id="p", engine=engine, effort=more.pop("effort", None))
        settings = settings_of({**values, **more})
        async with configure_judge(settings, judge_options(settings, request, prompts=prompts)):
            pass

    words = f"(Prompts are|An effort is) of a model .*, and engine {engine} asks none"
    with pytest.raises(InputError, match=words) as raised:
        asyncio.run(configured(**given))
    assert raised.value.code == code
    asyncio.run(configured())  # the setting of the effort is left alone
    if engine == "decisions":
        asyncio.run(configured(**given, VERITRAIL_CLAIMS_MODEL="gpt-6-luna"))


@pytest.mark.parametrize(("engine", "warnings"), [("openai", 1), ("azure", 0)])
def test_a_model_that_ends_is_warned_of_once_and_a_deployment_is_not(
    engine: str, warnings: int
) -> None:
    chosen = [of(use, engine, VERITRAIL_MODEL="gpt-4-turbo") for use in Use]
    found = retirement_warnings(engine_named(engine), chosen)
    assert len(found) == warnings
    assert all("name gpt-6.1-sol in its place" in words for words in found)


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8000/v1",
        "ftp://host/v1",
        "http://",
        "http://host:0/v1",
        "http://host:99999/v1",
        "http://[::1/v1",
        "http://user:sk-secret@host/v1",
        "http://host/v1?key=sk-secret",
        "http://host/v1#sk-secret",
        "http://host/v1\nsk-secret",
        "http://host/v1\x01",
        "http://höst/v1",
        "http://host/v1/chat/completions",
        "sk-secret",
    ],
)
def test_what_is_no_address_is_refused_and_not_repeated(url: str) -> None:
    for name in ("OPENAI_BASE_URL", "VERITRAIL_VERDICT_BASE_URL"):
        with pytest.raises(InputError, match=name) as refused:
            of(**{name: url})
        assert "sk-secret" not in str(refused.value)


@pytest.mark.parametrize("key", ["sk-1\n2", "sk-ké", "sk 1", "sk-\x7f"])
def test_what_is_no_key_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(InputError, match="OPENAI_API_KEY") as refused:
        of(OPENAI_API_KEY=key)
    assert key not in str(refused.value)
    assert "sk-" not in repr(of(OPENAI_API_KEY="sk-abc"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("VERITRAIL_TEMPERATURE", "hot"),
        ("VERITRAIL_TEMPERATURE", "3"),
        ("VERITRAIL_CONTEXT_TOKENS", "0"),
        ("VERITRAIL_RPM", "-1"),
        ("VERITRAIL_TPM", "1.5"),
        ("VERITRAIL_STRUCTURED", "perhaps"),
        ("VERITRAIL_PRICE", "1"),
        ("VERITRAIL_PRICE", "1,nan"),
        ("VERITRAIL_PRICE", "1e300,1"),
        ("VERITRAIL_PRICE", "1,2,3,4"),
    ],
)
def test_a_wrong_value_is_refused(name: str, value: str) -> None:
    with pytest.raises(InputError, match="price" if "PRICE" in name else name):
        of(**{name: value})


@pytest.mark.parametrize("model", ["", "  "])
def test_an_empty_name_of_a_model_is_refused(model: str) -> None:
    with pytest.raises(InputError, match="empty"):
        model_settings(Settings(), Use.VERDICT, "openai", model=model)


@pytest.mark.parametrize("value", ["0", "-1", "soon"])
def test_times_are_above_zero(value: str) -> None:
    for name in ("CALL_DEADLINE", "ATTEMPT_TIMEOUT", "CLAIM_DEADLINE"):
        with pytest.raises(InputError, match=f"VERITRAIL_{name}='{value}': must be a number"):
            settings_of({f"VERITRAIL_{name}": value})


def left(budget: float | None, calls: int | None) -> Resumable:
    """A job that has spent 0.3 USD and made 40 calls."""
    request = {"budget_usd": budget, "max_calls": calls}
    return Resumable("r-1", "p", JobKind.VERIFICATION, True, False, request, 0.3, 40)


def test_new_limits_of_a_resumed_job_count_from_now_on() -> None:
    assert left(1.0, 100).limits({}) == {}
    assert left(1.0, 100).limits({"budget_usd": 5.0, "price": None}) == {"budget_usd": 5.3}
    assert left(0.3, 40).limits({"budget_usd": 1.0, "max_calls": 7}) == {
        "budget_usd": 1.3,
        "max_calls": 47,
    }


@pytest.mark.parametrize(("budget", "calls"), [(0.3, None), (None, 40)])
def test_a_job_that_has_nothing_left_wants_a_new_limit(budget, calls) -> None:
    with pytest.raises(InputError, match="used up"):
        left(budget, calls).limits({})


def test_a_run_is_held_by_one_at_a_time(tmp_path) -> None:
    settings = Settings(home=tmp_path)
    run = "r-" + "0" * 32
    refused = pytest.raises(InputError, match="another command")
    with held_run(settings, run), refused, held_run(settings, run):
        pass
    with held_run(settings, run):
        pass
    assert list((tmp_path / "runs").iterdir()) == []


@pytest.mark.parametrize("run", ["r-1", "../../x", "r-" + "g" * 32])
def test_what_is_no_run_is_no_file(tmp_path, run: str) -> None:
    with pytest.raises(NotFound), held_run(Settings(home=tmp_path), run):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("model", "address"),
    [
        ("gpt-6-luna", None),
        ("claude-haiku-5-5", "https://api.anthropic.com/v1"),
        ("gemini-3.8-flash", "https://generativelanguage.googleapis.com/v1beta/openai"),
        ("openai/gpt-6-luna", "https://openrouter.ai/api/v1"),
        ("mistral-small-latest", "https://api.mistral.ai/v1"),
    ],
)
def test_the_endpoints_of_the_documentation_have_public_prices(
    model: str, address: str | None
) -> None:
    from veritrail_graph.api.configured.models import price_of
    from veritrail_graph.api.settings import ModelSettings

    price = price_of(ModelSettings(model, base_url=address), {})
    assert price is not None
    assert price.input > 0
