"""Help names values in plain words."""

from __future__ import annotations

import pytest

from veritrail_graph.api.cli.help_texts import bounds_of, name_of, usage_of


@pytest.mark.parametrize(
    ("part", "plain"),
    [
        ("{PROCESS}", "PROCESS"),
        ("[PROCESS]", "[PROCESS]"),
        ("{PATH…}...", "PATH..."),
        ("[[CLAIM]…]...", "[CLAIM]..."),
        ("[[PATH…]]...", "[PATH]..."),
        ("{DIALOGUE...}...", "DIALOGUE..."),
        ("[OPTIONS]", "[OPTIONS]"),
        ("[ARGS]...", "[ARGS]..."),
    ],
)
def test_a_usage_line_has_brackets_around_what_may_be_left_out(part: str, plain: str) -> None:
    assert usage_of(part) == plain


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("PROCESS <str>", "PROCESS"),
        ("[PATH…] <list[Path]>", "PATH..."),
        ("SHELL <bash|zsh>", "SHELL bash|zsh"),
        ("--port <int range>", "--port N"),
        ("--format <json|text>", "--format json|text"),
        ("-o, --out <path>", "-o, --out PATH"),
        ("--part <list[str]>", "--part TEXT"),
        ("--budget USD", "--budget USD"),
        ("serve", "serve"),
    ],
)
def test_a_name_has_no_type_of_the_library(name: str, plain: str) -> None:
    assert name_of(name) == plain


@pytest.mark.parametrize(
    ("words", "plain"),
    [
        ("Port.  [default: 8000; 0<=x<=65535]", "Port.  [default: 8000; 0 to 65535]"),
        ("R.  [0.0<=x<=1.0]", "R.  [0 to 1]"),
        ("F.  [-1.0<=x<=0.5]", "F.  [-1 to 0.5]"),
        ("N.  [x>=0; required]", "N.  [0 or more; required]"),
        ("S.  [x>0.0]", "S.  [above 0]"),
        ("A formula x>=1 in words", "A formula x>=1 in words"),
    ],
)
def test_bounds_are_words(words: str, plain: str) -> None:
    assert bounds_of(words) == plain
