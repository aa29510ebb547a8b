"""The values of a text: one normal form whichever way they are written, and what rivals them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veritrail_graph.verifier.values import Value, ValueKind, rival, same_matter, values
from veritrail_graph.verifier.values.reading import text_of


def only(text: str) -> Value:
    (value,) = values(text)
    return value


@pytest.mark.parametrize(
    ("texts", "kind", "canonical", "unit"),
    [
        (("1,200 carts", "1.2 thousand carts", "twelve hundred carts"), "figure", "1200", ""),
        (("1'200 men", "1\u2019200 men", "1 200 men", "1\u202f200 men"), "figure", "1200", ""),
        (("1,200,000 crowns", "1\u00a0200\u00a0000 crowns"), "money", "1200000", "CROWN"),
        (("1.200,50 \u20ac", "\u20ac1,200.50", "1200,50 euros"), "money", "1200.5", "EUR"),
        (("12,00,000 rupees", "12 lakh rupees"), "money", "1200000", "INR"),
        (("2,4 Mio. Euro", "2,4 Millionen Euro", "2.4 million euros"), "money", "2400000", "EUR"),
        (
            ("2 Milliarden Euro", "2 milliards euros", "2 miljard euro"),
            "money",
            "2000000000",
            "EUR",
        ),
        (("$3m", "3 million dollars", "US$3,000,000"), "money", "3000000", "USD"),
        (("4,5 percent", "4.5%", "4.50 per cent", "\uff14.\uff15\uff05"), "percent", "4.5", ""),
        (("two percentage points", "2 percentage points"), "figure", "2", "point"),
        (("-5 degrees", "\u22125 degrees", "minus five degrees"), "figure", "-5", "degree"),
        (("5 kg", "5 kilograms", "5,000 g", "5kg"), "figure", "5000", "g"),
        (("90 minutes", "1.5 hours", "one and a half hours"), "figure", "5400", "s"),
        (("25 carts", "twenty-five carts", "\u0662\u0665 carts"), "figure", "25", ""),
        (("half of it", "one half of it")[1:], "figure", "0.5", ""),
        (("two-thirds of it", "2/3 of it"), "figure", "2/3", ""),
        (("2\u00bd miles", "2 1/2 miles", "two and a half miles"), "figure", "2.5", "mile"),
        (("at least 40 cars", "no fewer than 40 cars", "40 or more cars"), "figure", ">=40", ""),
        (("at most 40 cars", "up to 40 cars", "no more than 40 cars"), "figure", "<=40", ""),
        (("more than 40 cars", "over forty cars"), "figure", ">40", ""),
        (("fewer than 40 cars", "under 40 cars"), "figure", "<40", ""),
        (("the 3rd place", "the third place"), "figure", "3", "ordinal"),
        (
            ("3 May 2024", "May 3rd, 2024", "2024-05-03", "03.05.2024", "2024\u5e745\u67083\u65e5"),
            "date",
            "2024-05-03",
            "",
        ),
        (("May 3rd", "3 May", "the 3rd of May"), "date", "--05-03", ""),
        (("in May", "\u4e94\u6708"), "date", "--05", ""),
        (("in 1998", "the 1998 season"), "date", "1998", ""),
        (("9:30 p.m.", "9.30pm", "21:30", "9:30 PM"), "time", "21:30", ""),
        (("at noon", "12 p.m."), "time", "12:00", ""),
        (("4\u4e07\u5143", "4\u842c\u5143"), "money", "40000", "CNY"),
    ],
)
def test_equal_values_have_one_normal_form(
    texts: tuple[str, ...], kind: str, canonical: str, unit: str
) -> None:
    for text in texts:
        value = only(text)
        assert (value.kind, value.canonical, value.unit) == (kind, canonical, unit), text
        assert text[value.start : value.end] == value.surface


@pytest.mark.parametrize(
    ("text", "surfaces"),
    [
        ("COVID-19 spread.", ["COVID"]),
        ("The house [2] of stone [Data: Entities (9)] stands.", []),
        ("No one of them came.", []),
        ("10-12 kg", ["10", "12 kg"]),
        ("He met Ilse Kramer of Graz.", ["Ilse Kramer of Graz"]),
        ("He said: \u201cWe will pay\u201d.", ["We will pay"]),
        ("1,2,3 and version 3.2.1", ["1,2,3", "3.2.1"]),
    ],
)
def test_what_is_a_value_and_what_is_none(text: str, surfaces: list[str]) -> None:
    assert [value.surface for value in values(text)] == surfaces


@pytest.mark.parametrize(
    ("mine", "its", "agrees", "excludes"),
    [
        ("4,5 percent", "45 percent", False, True),
        ("1.200 boats", "1,200 boats", True, False),
        ("1.200 boats", "1.2 boats", True, False),
        ("at least 40 cars", "at most 40 cars", False, True),
        ("40 cars", "at least 40 cars", False, False),
        ("45 cars", "more than 40 cars", False, False),
        ("30 cars", "more than 40 cars", False, True),
        ("about 500 cars", "512 cars", True, False),
        ("5 kg", "5 miles", False, False),
        ("9:30", "9:30 p.m.", True, False),
        ("9:30 a.m.", "9:30 p.m.", False, True),
        ("9:30", "21:30", False, False),
        ("21:30", "9:30", False, False),
        ("9:30 p.m.", "9:30", False, False),
        ("9:30", "09:30", True, False),
        ("09:30", "21:30", False, True),
        ("9:30", "10:30 p.m.", False, True),
        ("21:30", "9:30 in the evening", True, False),
        ("9:30 in the morning", "9:30 at night", False, True),
        ("in May 2024", "3 May 2024", True, False),
        ("3 May 2024", "in May 2024", False, False),
        ("3 May 2024", "in June 2024", False, True),
        ("in 1998", "the 1990s", False, False),
        ("he saw Abara", "he saw John Abara", True, False),
        ("he saw John Abara", "he saw Mary Abara", False, True),
        ("the UN came", "the United Nations came", True, False),
    ],
)
def test_what_one_value_says_of_another(mine: str, its: str, agrees: bool, excludes: bool) -> None:
    assert only(mine).agrees(only(its)) is agrees
    assert only(mine).excludes(only(its)) is excludes


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("The utility used 41 percent less gas.", "It used 37 percent less gas.", "37 percent"),
        ("The utility used 41 percent less gas.", "Of gas it used 41 % less, not 37 %.", None),
        ("The utility used 41 percent less gas.", "Rents rose by 37 percent.", None),
        ("It planted 130,000 trees.", "In spring 310,000 trees were planted.", "310,000"),
        ("It planted 130,000 trees.", "It planted 310,000 flowers.", None),
        ("The vote was on 3 May.", "On 4 May the vote was held.", "4 May"),
        ("Anna Berg led the choir.", "The choir was led by Anna Berg.", None),
        (
            "He said \u201cwe will pay all\u201d.",
            "He said \u201cwe will pay none\u201d.",
            "we will pay none",
        ),
        (
            "\u6e21\u8f6e\u53ef\u8f7d48\u8f86\u6c7d\u8f66\u3002",
            "\u6e21\u8f6e\u53ef\u8f7d42\u8f86\u6c7d\u8f66\u3002",
            "42",
        ),
    ],
)
def test_a_rival_stands_in_the_place_of_a_value(
    claim: str, sentence: str, expected: str | None
) -> None:
    value = values(claim)[-1] if "\u201c" in claim else values(claim)[0]
    found = rival(value, claim, sentence)
    assert (found and found.surface) == expected
    if found is not None:
        assert same_matter(claim, sentence, value)
        assert found.kind is value.kind


def test_a_value_has_its_place_in_the_text_as_given() -> None:
    text = "The so\u00adcial\u00adist \ufb01rm so-\nld \uff11\uff12 boats."
    value = only(text)
    assert (value.kind, value.canonical, value.nouns) == (ValueKind.FIGURE, "12", ("boat",))
    assert text[value.start : value.end] == value.surface == "\uff11\uff12"


@settings(max_examples=50, deadline=None)
@given(
    st.text(
        alphabet="0123456789.,:/-%$ '()[]\u201c\u201dMaypmth\u00bd\u4e94\u6708\u00ad\n", max_size=60
    )
)
def test_any_text_has_values_at_their_places(text: str) -> None:
    for value in values(text):
        assert text[value.start : value.end] == value.surface
        assert value.surface


@pytest.mark.parametrize(
    "part", ["1 ", "1,", "\u201ca ", "A. ", "May 1", "A-", "no more ", "\u00ad-\n"]
)
def test_time_grows_in_proportion_to_the_text(part: str) -> None:
    def taken(times: int) -> float:
        start = time.process_time()
        values(part * times)
        return time.process_time() - start

    taken(100)
    small, large = (min(taken(times) for _ in range(3)) for times in (2_100, 16_800))
    assert large < 24 * small + 0.1, "eight times the text; with the square it would be 64 times"


@pytest.mark.parametrize("text", ["{}/8 of the carts", "1{}/3 carts", "{} 1/2 carts", "half of {}"])
def test_a_figure_of_thousands_of_digits_is_read_and_is_no_fault(text: str) -> None:
    assert values(text.replace("{}", "9" * 5_000))


def test_a_long_text_is_not_read_anew_at_each_look() -> None:
    long = "The ferry Tern carried 48 cars on 3 May 2024. " * 60
    assert text_of(long) is text_of(long)
