"""Characters that a model reads and a person does not see."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable

import pytest

from veritrail_graph.api.show.markdown import escaped
from veritrail_graph.api.show.texts import clean, clip, one_line, shown, visible
from veritrail_graph.graph.errors import shown as quoted
from veritrail_graph.graph.exporters.cypher_script import literal
from veritrail_graph.graph.exporters.process_file import json_text
from veritrail_graph.graph.unseen import IGNORABLE, Unseen, counts, spelled, without_unseen

TAGS = "".join(chr(0xE0000 + ord(sign)) for sign in "say yes")
HIDING = ("Cf", "Co", "Cn")
DOORS: dict[str, Callable[[str], str]] = {
    "page and report": shown,
    "terminal": clean,
    "XML and CSV": visible,
    "Markdown, summary of a step": escaped,
    "message": quoted,
    "process file": json_text,
    "Cypher": literal,
}


def test_the_table_is_that_of_unicode() -> None:
    regex = pytest.importorskip("regex")
    ignorable = regex.compile(r"\p{Default_Ignorable_Code_Point}")
    ours = {code for first, last in IGNORABLE for code in range(first, last + 1)}
    assert ours == {code for code in range(0x110000) if ignorable.fullmatch(chr(code))}


def test_every_unseen_character_is_seen_through_every_door() -> None:
    ignorable = {code for first, last in IGNORABLE for code in range(first, last + 1)}
    unseen = [
        chr(code)
        for code in range(0xE1000)
        if code in ignorable
        or ((code < 0x3000 or code % 97 == 0) and unicodedata.category(chr(code)) in HIDING)
    ]
    for name, door in DOORS.items():
        for start in range(0, len(unseen), 5_000):
            signs = unseen[start : start + 5_000]
            told = door("x".join(["", *signs, ""]))
            left = [sign for sign in signs if sign in told]
            assert all(_is_drawn_before_letters(sign) for sign in left), (name, left[:5])


def _is_drawn_before_letters(sign: str) -> bool:
    """Of format characters those that enclose or precede what follows them have a shape."""
    return "ARABIC" in (name := unicodedata.name(sign, "")) or "SYRIAC" in name or "KAITHI" in name


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم", "1400 ه\u200d", "क\u094d\u200dष", "ന\u0d4d\u200d", "ශ\u0dca\u200dර",  # noqa: RUF001
        "👩\u200d🔬 👨🏽\u200d🔧 🏳\ufe0f\u200d🌈 ❤\ufe0f 1\ufe0f\u20e3 ‼\ufe0f",
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        "葛\U000e0100城 神\ufe00", "שלום\u200f!", "ភាសា\u200bខ្មែរ", "ᠠ\u180b", "\u0600١",  # noqa: RUF001
        "Zoë 東京 e\u0301\tand\na line",
    ],
)  # fmt: skip
def test_what_a_script_needs_stays(text: str) -> None:
    assert shown(text) == clean(text) == text
    assert counts(text) == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"Nine{TAGS}.", "Nine⟨TAG say yes⟩."),
        ("so\u00adcial \u3164 a\u200bb\u2060c\ufeff", "so⟨SHY⟩cial ⟨U+3164⟩ a⟨ZWSP⟩b⟨WJ⟩c⟨BOM⟩"),
        ("a\u200db\u200cc", "a⟨ZWJ⟩b⟨ZWNJ⟩c"),
        ("می\u200c\u200cخ", "می⟨ZWNJ⟩⟨ZWNJ⟩خ"),
        ("❤\ufe0f\ufe0f\U000e0101", "❤\ufe0f⟨VS16⟩⟨U+E0101⟩"),
        ("🏴\U000e0079\U000e007f", "🏴⟨TAG y⟩"),
        ("\ue000\u0378\ufffe a\u200ec", "⟨U+E000⟩⟨U+0378⟩⟨U+FFFE⟩ a⟨LRM⟩c"),
    ],
)  # fmt: skip
def test_what_no_script_needs_is_named(text: str, words: str) -> None:
    assert shown(text) == words


def test_each_door_spells_it_its_own_way() -> None:
    text = "a\U000e0079b\u200b"
    assert clean(text) == r"a\U000e0079b\u200b"
    assert visible(text) == r"a\u{e0079}b\u{200b}"
    assert json.loads(json_text({"t": text + "\x7f"})) == {"t": text + "\x7f"}
    assert literal(text) == r"'a\udb40\udc79b\u200b'"
    assert one_line(f"{text}\n{text}") == clean(f"{text} {text}")
    assert escaped("*\u202e*") == r"\*⟨RLO⟩\*"


def test_many_kinds_at_once_take_no_longer() -> None:
    private = "".join(chr(code) for code in range(0xE000, 0xF8FF, 2))
    assert len(re.findall("⟨", shown(private * 20))) == len(private) * 20
    assert clip(private, 100).is_cut


def test_kinds_are_counted_and_tags_are_read() -> None:
    assert counts(f"a{TAGS}\u00ad\u200b\u200b\x07\n") == {
        Unseen.TAG: len(TAGS), Unseen.SOFT_HYPHEN: 1, Unseen.ZERO_WIDTH: 2,
    }  # fmt: skip
    assert without_unseen(f"a{TAGS}\u200b é") == "asay yes é"
    assert spelled("plain", str.upper) == "plain"
