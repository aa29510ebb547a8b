"""A report or a dossier as one HTML file: safe, complete, and readable alone."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from fakes.hostile_file import hostile_process
from fakes.judged_files import judged_file

from veritrail_graph.api.show.rendering import text_of
from veritrail_graph.api.show.reports import html as module
from veritrail_graph.api.show.reports.data import ClaimSelection
from veritrail_graph.api.show.reports.html import FileLimits, html_pieces
from veritrail_graph.api.show.reports.sources import FileSource
from veritrail_graph.api.show.words import BY_KIND

OURS = {
    "a", "bdi", "blockquote", "body", "br", "button", "code", "dd", "details", "div", "dl", "dt",
    "em", "fieldset", "figure", "footer", "form", "g", "h1", "h2", "h3", "h4", "head", "header",
    "html", "input", "label", "legend", "li", "main", "mark", "meta", "ol", "p", "path", "pre",
    "rect", "circle", "line", "polyline", "ellipse", "script", "section", "small", "span",
    "strong", "style", "sub", "summary",
    "sup", "svg", "symbol", "table", "tbody", "td", "text", "th", "thead", "time",
    "title", "tr", "tspan", "ul",
    "use",
}  # fmt: skip


class Read(HTMLParser):
    """What an HTML file holds."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.held: dict[str, list[str]] = {"script": [], "style": []}
        self.policy = ""
        self._inside: str | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        found = dict(attrs)
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"] or ""
        is_data = found.get("type") == "application/json"
        if tag in self.held and not is_data:
            self._inside = tag
            self.held[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside is not None:
            self.held[self._inside][-1] += data


def page(path: Path, wanted: ClaimSelection | None = None, *, dossier: bool = False) -> str:
    """The HTML file of a process file."""
    origin = FileSource.read(path, wanted or ClaimSelection())

    async def whole() -> str:
        return "".join([piece async for piece in html_pieces(origin, dossier=dossier)])

    return asyncio.run(whole())


def data_of(text: str) -> Any:
    """The data that a dossier holds."""
    found = re.search(r'<script type="application/json" id="r-data">(.*?)</script>', text, re.S)
    assert found
    return json.loads(found[1])


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A process file with a payload in every field."""
    return Path(hostile_process(tmp_path / "hostile.json"))


@pytest.mark.parametrize("dossier", [False, True])
def test_hostile_texts_stay_texts(hostile: Path, dossier: bool) -> None:
    text = page(hostile, dossier=dossier)
    read = Read(text)
    assert read.tags <= OURS
    for name, value in read.attributes:
        assert not name.startswith("on"), name
        assert name not in {"style", "src", "srcdoc", "background", "formaction"}
        if name == "href":
            assert (value or "").startswith("#")
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


def test_one_script_and_one_style_are_allowed_and_nothing_else(hostile: Path) -> None:
    read = Read(page(hostile))
    assert len(read.held["script"]) == len(read.held["style"]) == 1
    for kind in ("script", "style"):
        digest = hashlib.sha256(read.held[kind][0].encode()).digest()
        assert f"{kind}-src 'sha256-{base64.b64encode(digest).decode()}'" in read.policy
    assert read.policy.startswith("default-src 'none'; ")
    assert "unsafe" not in read.policy
    assert "link" not in read.tags


def test_a_dossier_of_one_claim_holds_its_data_for_machines(hostile: Path) -> None:
    text = page(hostile, ClaimSelection(claim_ids=("k3",)), dossier=True)
    document = data_of(text)
    assert document["kind"] == "dossier"
    assert document["claims"][0]["claim_id"] == "k3"
    assert '<details class="claim' not in text


def test_states_are_told_apart_in_words(tmp_path: Path) -> None:
    claims = [
        ("k1", "One.", "supported", None),
        ("k2", "Two.", "not-supported", 2),
        ("k3", "Three.", "inconclusive", None),
        ("k4", "Four.", "failed", None),
        ("k5", "Five.", "unchecked", None),
    ]
    text = page(Path(judged_file(tmp_path / "states.json", claims)))
    order = re.findall(r'id="c\d"[^>]*>.*?<code>(k\d)</code>', text, re.S)
    assert order == ["k2", "k3", "k4", "k5", "k1"]  # what needs attention comes first
    for kind in ("supported", "not-supported", "inconclusive", "failed", "unchecked"):
        assert text.count(f'class="claim is-{kind}') == 1
    assert "Why it could not be checked" in text
    assert "no usable answer after 6 attempts" in text
    assert "introduced at stage <bdi>2</bdi>" in text


def test_what_does_not_fit_is_counted_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = FileLimits(trails=2, nodes=1, sentences=1, characters=30, routes=1)
    monkeypatch.setattr(module, "REPORT", small)
    claims = [(f"k{n}", f"{n}: {'The ferry is blue. ' * 5}", "supported", None) for n in range(5)]
    text = page(Path(judged_file(tmp_path / "many.json", claims)))
    assert "3 claims are listed without their trails" in text
    assert text.count("its trail is not in this file") == 3
    assert "(68 more characters)" in text
    assert "Whatever is left out is counted" in text


@pytest.mark.parametrize(
    ("states", "said"),
    [
        (("supported",), "Nowhere: every claim of this report is fully supported."),
        (
            ("failed", "unchecked", "unchecked"),
            "No claim of this report has a verdict. 1 claim could not be checked and 2 claims "
            "were not checked: nothing can be said of them.",
        ),
        (
            ("supported", "unchecked"),
            "No claim of this report is known to be not fully supported. 1 claim was not "
            "checked: nothing can be said of it.",
        ),
        (
            ("inconclusive", "inconclusive", "failed"),
            "No claim of this report is known to be not fully supported. 2 claims are "
            "inconclusive and 1 claim could not be checked: nothing can be said of them.",
        ),
        (("not-supported", "failed"), "1 claim could not be checked: nothing can be said of it."),
    ],
)
def test_where_unsupported_content_came_in_is_said_as_far_as_it_is_known(
    tmp_path: Path, states: tuple[str, ...], said: str
) -> None:
    claims = [(f"k{n}", f"Claim {n}.", state, None) for n, state in enumerate(states)]
    text = page(Path(judged_file(tmp_path / "some.json", claims)))
    assert f'<p class="muted">{said}</p>' in text
    assert ("Nowhere" in text) == (states == ("supported",))
    assert ('class="r-stages"' in text) == ("not-supported" in states)


def test_a_mark_has_the_same_line_in_a_file_as_on_the_page() -> None:
    rule = r"\.%s-([a-z-]+) \{ (border-bottom-color[^}]*)\}"
    on_page = dict(re.findall(rule % "u", text_of("process.css")))
    assert set(on_page) == set(BY_KIND)
    assert dict(re.findall(rule % "r", text_of("report.css"))) == on_page


def test_three_hundred_claims_are_written_within_seconds_and_open(tmp_path: Path) -> None:
    states = ("supported", "not-supported", "inconclusive", "failed")
    claims = [
        (f"k{n}", f"Ferry {n} carries {n} people.", states[n % 4], 2 if n % 4 == 1 else None)
        for n in range(300)
    ]
    path = Path(judged_file(tmp_path / "many.json", claims))
    begun = time.process_time()
    text = page(path)
    assert time.process_time() - begun < 3.0
    assert len(text) < 2_400_000
    assert text.count('<details class="claim is-') == 300
