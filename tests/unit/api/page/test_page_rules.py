"""What holds for every template, script and style sheet of the pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

WEB = Path(__file__).resolve().parents[4] / "api" / "page"
TEMPLATES = sorted((WEB / "templates").rglob("*.html"))
SCRIPTS = sorted((WEB / "static").glob("*.js"))
STYLES = sorted((WEB / "static").glob("*.css"))
LINES = 300
FILES = {"document.html", "report_end.html"}
"""The frame of files to hand on: its style and script stand in it, allowed by their hash."""

# A browser would run it, fetch it, or refuse it under the content security policy.
IN_TEMPLATES = {
    "a style in a tag": re.compile(r"<[^>{]*\sstyle\s*=", re.IGNORECASE),
    "a handler in a tag": re.compile(r"<[^>{]*\son\w+\s*=", re.IGNORECASE),
    "an address that runs": re.compile(r"javascript:", re.IGNORECASE),
    "something from elsewhere": re.compile(
        r"\b(?:src|href|action)\s*=\s*[\"']?(?:https?:)?//", re.IGNORECASE
    ),
    "a name cut off without an ellipsis": re.compile(
        r"(?:model|engine|name|node_id)\)?\[:\d+\]\|shown ?\}\}(?!\{\{ \"…\")"
    ),
    "text that is not escaped": re.compile(r"\|\s*safe\b|autoescape\s+false|Markup\("),
}
IN_PAGES = {
    "a script in the page": re.compile(r"<script(?![^>]*\ssrc=)", re.IGNORECASE),
    "a style sheet in the page": re.compile(r"<style\b", re.IGNORECASE),
}
IN_SCRIPTS = {
    "text read as HTML": re.compile(
        r"\b(?:innerHTML|outerHTML|insertAdjacentHTML)\b|document\.write"
    ),
    "text run as code": re.compile(
        r"\beval\s*\(|new\s+Function|set(?:Timeout|Interval)\s*\(\s*[\"'`]"
    ),
    "something from elsewhere": re.compile(r"[\"'`]https?://(?!www\.w3\.org/)"),
}
IN_STYLES = {"something from elsewhere": re.compile(r"@import|url\(\s*[\"']?(?:https?:)?//")}


def found(path: Path, rules: dict[str, re.Pattern[str]]) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return [
        f"line {text.count(chr(10), 0, hit.start()) + 1}: {what}: {hit.group()}"
        for what, pattern in rules.items()
        for hit in pattern.finditer(text)
    ]


def test_nothing_in_a_template_runs_or_comes_from_elsewhere() -> None:
    assert TEMPLATES
    for path in TEMPLATES:
        rules = IN_TEMPLATES if path.name in FILES else {**IN_TEMPLATES, **IN_PAGES}
        assert found(path, rules) == [], path.name


def test_a_script_reads_no_text_as_html_or_code() -> None:
    assert SCRIPTS
    for path in SCRIPTS:
        assert found(path, IN_SCRIPTS) == [], path.name


def test_a_style_sheet_fetches_nothing_from_elsewhere() -> None:
    assert STYLES
    for path in STYLES:
        assert found(path, IN_STYLES) == [], path.name


def test_no_file_of_the_pages_is_longer_than_the_limit() -> None:
    lengths = {path.name: path.read_text("utf-8").count("\n") for path in TEMPLATES + SCRIPTS}
    assert lengths
    assert {name: lines for name, lines in lengths.items() if lines > LINES} == {}


def test_only_where_two_trails_are_compared_are_they_read_whole() -> None:
    """A whole trail names every node that was read; outlines leave out those without evidence."""
    readers = {
        path.name for path in WEB.rglob("*.py") if "verifications.read(" in path.read_text("utf-8")
    }
    assert readers == {"claim.py"}


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        (IN_TEMPLATES, '<p style="color: red">'),
        (IN_TEMPLATES, '<img onerror="x()">'),
        (IN_TEMPLATES, "{{ text | safe }}"),
        (IN_TEMPLATES, "{{ (one.model or one.engine)[:60]|shown }}"),
        (IN_TEMPLATES, '<a href="//elsewhere">'),
        (IN_PAGES, "<script>x()</script>"),
        (IN_SCRIPTS, "node.innerHTML = text;"),
        (IN_SCRIPTS, 'setTimeout("x()", 1)'),
        (IN_STYLES, "a { background: url(https://elsewhere/x.png) }"),
    ],
    ids=str,
)
def test_what_is_forbidden_is_seen(
    tmp_path: Path, rules: dict[str, re.Pattern[str]], text: str
) -> None:
    path = tmp_path / "x"
    path.write_text(text, encoding="utf-8")
    assert len(found(path, rules)) == 1
