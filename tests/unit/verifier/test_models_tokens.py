"""Counting tokens with a tokenizer, and without one."""

from __future__ import annotations

import base64
import importlib.util
import inspect
import json.decoder
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.verifier.models.tokens import counter, estimate

# Tokens of OpenAI's cl100k_base, the more wasteful of its two tokenizers, as counted with it.
COUNTED = [
    ("The harbour was closed for three days because of the storm.", 12),
    ("I am a be to of it as we go up so", 12),
    ("今天天气很好，我们去公园散步吧。", 20),  # noqa: RUF001
    ("今日は天気がいいですね。東京は日本の首都です。", 23),
    ("오늘 날씨가 좋네요. 서울은 대한민국의 수도입니다.", 30),
    ("Сегодня хорошая погода. Москва является столицей России.", 31),
    ("Rechtsschutzversicherungsgesellschaften verfügen darüber.", 17),
    ("1234567890 3.14159 2026-11-21", 16),
    ("👨‍👩‍👧‍👦🏳️‍🌈🚀", 30),
    ('{"a": [1, 2, 3], "bc": {"d": null}}', 20),
]


@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_an_estimate_is_not_too_low_and_not_wild(text: str, tokens: int) -> None:
    assert tokens <= estimate(text) <= 3 * tokens


@given(st.text(max_size=200))
def test_an_estimate_stays_near_the_bytes_of_a_text(text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    assert 0 < estimate(text) <= 1.5 * size + 2


def noise(kind: str) -> str:
    data = random.Random(7).randbytes(3_000)
    return {
        "base64": base64.b64encode(data).decode(),
        "base64 in lines": base64.encodebytes(data).decode(),
        "base32": base64.b32encode(data).decode().lower(),
        "hexadecimal": data.hex(" ", 16),
        "letters": "".join(chr(97 + byte % 26) for byte in data),
        "code": inspect.getsource(json.decoder),
        "table": "\n".join(",".join(str(byte / 7)[:6] for byte in data[:8]) for _ in range(50)),
        "Armenian": "Այսօր եղանակը լավ է, և Երևանը Հայաստանի մայրաքաղաքն է",
        "Greek": "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας και σήμερα έχει ήλιο",  # noqa: RUF001
        "Finnish": "Satama suljettiin kolmeksi päiväksi myrskyn vuoksi. Kaupunginhallitus päätti.",
        "Polish": "Port został zamknięty na trzy dni z powodu sztormu, ogłosił przewodniczący.",
        "Swahili": "Bandari ilifungwa kwa siku tatu kwa sababu ya dhoruba, iliamua jana jioni.",
        "names": "Przewalski met Szczepański and Nguyễn Thị Minh Khai near Llanfairpwllgwyngyll"
        " with Dr Krzysztof Wójcik of Bydgoszcz.",
        "terms": "The compound 2-(4-isobutylphenyl)propanoic acid and N-acetyl-p-aminophenol"
        " inhibit cyclooxygenase in hepatocytes and glomerulonephritis.",
        "signs": "∑_{i=1}^{n} x_i² ≤ ∫₀^∞ f(x)dx ⇒ ∀ε>0 ∃δ: |x−y|<δ",  # noqa: RUF001
        "short words": " ".join("abcdefghijklmnopqrstuvwxyz" * 4),
        "blanks": "a \n  b\t\tc" + " " * 200 + "d\n\n\n\n" + "  e" * 50,
    }[kind]


NOISE = (
    "base64", "base64 in lines", "base32", "hexadecimal", "letters", "code", "table", "Armenian",
    "Greek", "Finnish", "Polish", "Swahili", "names", "terms", "signs", "short words", "blanks",
)  # fmt: skip
PROMPTS = sorted((Path(__file__).resolve().parents[3] / "verifier" / "prompts").glob("*.md"))
A_LINE = 500
"""Bytes up to which a prompt is a sentence or two: a token more or less is a large share of it."""
with_tokenizers = pytest.mark.skipif(
    importlib.util.find_spec("rs_bpe") is None, reason="rs-bpe is not installed"
)


def most(text: str) -> int:
    return max(counter("gpt-4")(text), counter("gpt-4o")(text))


@with_tokenizers
@pytest.mark.parametrize("kind", NOISE)
def test_an_estimate_is_not_too_low_on_what_is_no_prose(kind: str) -> None:
    text = noise(kind)
    assert most(text) <= estimate(text) <= 3 * most(text)


@with_tokenizers
@pytest.mark.parametrize(
    "path", [one for one in PROMPTS if one.stat().st_size > A_LINE], ids=lambda path: path.stem
)
def test_an_estimate_of_english_prose_is_close(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    # A block of examples is no prose: turns of conversations, JSON, names in capitals.
    most_over = 1.5 if "<!-- examples -->" in text else 1.35
    assert most(text) <= estimate(text) <= most_over * most(text)


@with_tokenizers
def test_an_estimate_of_prose_with_something_else_inside_is_not_too_low() -> None:
    prose = PROMPTS[0].read_text(encoding="utf-8")[:600]
    text = prose + noise("base64")[:600] + noise("Finnish") * 3 + prose
    assert most(text) <= estimate(text) <= 1.5 * most(text)


def test_lone_surrogates_are_counted_like_other_characters() -> None:
    assert estimate("\ud800") >= 1


@with_tokenizers
@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_tokens_are_counted_where_the_tokenizer_is_installed(text: str, tokens: int) -> None:
    assert counter("gpt-4")(text) == tokens


@with_tokenizers
@pytest.mark.parametrize("model", ["gpt-5.4-mini", "gpt-6-luna", "openai/gpt-6.1-sol"])
def test_newer_models_of_openai_count_as_gpt_4o_does(model: str) -> None:
    text = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich."
    assert counter(model)(text) == counter("gpt-4o")(text) < counter("gpt-4")(text)
