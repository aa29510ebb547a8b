"""What calls cost, and when that is not known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Usage
from veritrail_graph.verifier.models.prices import Price, price_of, priced, read_table

OPENAI = "https://api.openai.com/v1"
LOCAL = "http://127.0.0.1:11434/v1"


def test_cached_tokens_cost_less_and_reasoning_is_output() -> None:
    usage = Usage(calls=1, input_tokens=1_000, cached_input_tokens=400, output_tokens=50)
    assert Price(2.0, 0.5, 8.0).cost(usage) == pytest.approx(
        (600 * 2.0 + 400 * 0.5 + 50 * 8.0) / 1_000_000
    )


def test_longer_prompts_may_cost_more() -> None:
    price = Price(1.0, 0.1, 10.0, above=((200_000, Price(2.0, 0.2, 20.0)),))
    assert price.cost(Usage(input_tokens=200_000)) == pytest.approx(0.2)
    assert price.cost(Usage(input_tokens=200_001)) == pytest.approx(0.400002)


def test_a_price_that_is_not_known_is_not_nothing() -> None:
    assert priced(Usage(calls=1, input_tokens=5), None) == Usage(
        calls=1, input_tokens=5, cost_usd=None, unpriced_calls=1
    )
    free = priced(Usage(calls=1, input_tokens=5), Price(0.0, 0.0, 0.0))
    assert free.cost_usd == 0.0
    assert free.unpriced_calls == 0


@pytest.mark.parametrize(
    ("model", "address"),
    [
        ("gpt-6-luna", OPENAI),
        ("gpt-6-luna", "https://my-company.openai.azure.com"),
        ("deepseek-chat", "https://api.deepseek.com"),
        ("gpt-6-luna", "https://gateway.example/v1"),
        ("gpt-6-luna-2026-09-22", "https://gateway.example/v1"),
        ("claude-haiku-5-5", "https://gateway.example/v1"),
        ("gemini-3.8-flash", "https://gateway.example/v1"),
    ],
)
def test_known_prices_come_without_a_network(model: str, address: str) -> None:
    """The fixture that refuses connections fails the test when one is tried."""
    price = price_of(model, address)
    assert price is not None
    assert 0 < price.cached_input < price.input < price.output < 1_000


@pytest.mark.parametrize(
    ("model", "address"),
    [
        ("a-model-of-our-own", OPENAI),
        ("llama-3.1-8b-instruct", LOCAL),
        ("deepseek-chat", LOCAL),
        ("gpt-oss-20b", LOCAL),
        ("gemma-3-27b-it", LOCAL),
        ("gpt-6-luna-tuned-by-us", LOCAL),
        ("my-gpt-6-luna", LOCAL),
        ("", LOCAL),
    ],
)
def test_other_prices_are_not_known(model: str, address: str) -> None:
    assert price_of(model, address) is None


def table(tmp_path: Path, content: Any) -> Path:
    path = tmp_path / "prices.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_a_table_of_ones_own_goes_before_all_else(tmp_path: Path) -> None:
    own = read_table(
        table(
            tmp_path,
            {
                "gpt-6-luna": {"input": 1, "output": 2, "cached_input": 0.5},
                "local": {"input": 0, "output": 0.25},
            },
        )
    )
    assert price_of("gpt-6-luna", OPENAI, own) == Price(1.0, 0.5, 2.0)
    assert price_of("local", LOCAL, own) == Price(0.0, 0.0, 0.25)
    assert price_of("other", LOCAL, own) is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot be read"),
        ([], "no JSON object"),
        ({"m": 3}, "expected `input`, `output`"),
        ({"m": {"input": 1}}, "expected `input`, `output`"),
        ({"m": {"input": 1, "output": 2, "inputs": 3}}, "expected `input`, `output`"),
        ({"m": {"input": "1", "output": 2}}, "`input` is '1'"),
        ({"m": {"input": 1, "output": -2}}, "`output` is -2"),
        ({"m": {"input": True, "output": 2}}, "`input` is True"),
        ('{"m": {"input": NaN, "output": 2}}', "`input` is nan"),
        ('{"m": {"input": 1, "output": Infinity}}', "`output` is inf"),
        (f'{{"m": {{"input": {"9" * 400}, "output": 2}}}}', f"`input` is {'9' * 40}…, not"),
        (f'{{"m": {{"input": {"9" * 5000}, "output": 2}}}}', "cannot be read"),
        ({"m": {"input": 1, "output": 1_000_001}}, "from 0 to 1,000,000"),
    ],
)
def test_a_table_that_is_wrong_is_refused_with_the_place(
    tmp_path: Path, content: Any, words: str
) -> None:
    path = table(tmp_path, content)
    with pytest.raises(InputError) as raised:
        read_table(path)
    assert words in str(raised.value)
    assert str(path) in str(raised.value)
