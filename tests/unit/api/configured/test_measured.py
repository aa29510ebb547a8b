"""What judge check measured of a judge is kept for its later verdicts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.api.configured.measured import (
    FILE,
    MeasuredJudge,
    judge_name,
    keep_measured,
    measured_of,
    measured_words,
)
from veritrail_graph.api.show.findings import measured_judge_words
from veritrail_graph.graph.model.finding import CheckJudge

LUNA = MeasuredJudge("openai", "gpt-6-luna", 0.86, (0.81, 0.9), 0.98, 240, "2026-11-28", 0.05)


def test_figures_are_kept_for_each_engine_with_its_model(tmp_path: Path) -> None:
    keep_measured(tmp_path, LUNA)
    keep_measured(tmp_path, replace(LUNA, engine="decisions", balanced_accuracy=0.7))
    assert measured_of(tmp_path, LUNA.whose) == LUNA
    assert measured_of(tmp_path, ("openai", "", "")) is None
    assert measured_words(tmp_path, [LUNA.whose, ("nli", "x", "")]) == (
        "gpt-6-luna: balanced accuracy 0.86 (0.81 to 0.90) on 240 labelled pairs, of which it "
        "decides 98 % (judge check of 28 November 2026).",
    )


def test_a_check_says_what_was_measured_of_a_model_and_nothing_of_words() -> None:
    def words(**judge: Any) -> str | None:
        measured = LUNA.json_object()
        return measured_judge_words(CheckJudge(indicative=False, measured=measured, **judge))

    assert words(engine="openai", model="gpt-6-luna") == (
        "gpt-6-luna had a balanced accuracy of 0.86 on 240 labelled pairs, of which it decided "
        "98 % (judge check)."
    )
    assert words(engine="lexical") is None


def test_fewer_pairs_do_not_replace_more(tmp_path: Path) -> None:
    keep_measured(tmp_path, LUNA)
    keep_measured(tmp_path, replace(LUNA, pairs=40, balanced_accuracy=0.5))
    assert measured_of(tmp_path, LUNA.whose) == LUNA
    newer = replace(LUNA, balanced_accuracy=0.84)
    keep_measured(tmp_path, newer)
    assert measured_of(tmp_path, LUNA.whose) == newer


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"judges": [{"engine": "openai"}]}', '{"judges": "x"}', "\x00"]
)
def test_a_damaged_file_is_no_figure(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert measured_of(tmp_path, LUNA.whose) is None
    keep_measured(tmp_path, LUNA)
    assert measured_of(tmp_path, LUNA.whose) == LUNA


def test_figures_of_one_wording_say_nothing_of_another(tmp_path: Path) -> None:
    keep_measured(tmp_path, LUNA)
    second = judge_name("openai", "gpt-6-luna", settings_of_prompts("v2"))
    assert measured_of(tmp_path, judge_name("openai", "gpt-6-luna", settings_of_prompts("v1")))
    assert measured_of(tmp_path, second) is None
    keep_measured(tmp_path, replace(LUNA, balanced_accuracy=0.9, prompts="v2"))
    (words,) = measured_words(tmp_path, [second])
    assert "balanced accuracy 0.90" in words
    assert words.endswith("(judge check of 28 November 2026, prompts v2).")
    assert measured_of(tmp_path, LUNA.whose) == LUNA


def settings_of_prompts(version: str) -> str:
    return json.dumps({"steps": {"verdict": {"prompt": f"verdict.{version}"}}})


def test_the_file_is_read_once_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_measured(tmp_path, LUNA)
    reads: list[str] = []
    read = Path.read_text
    monkeypatch.setattr(
        Path, "read_text", lambda self, *how: reads.append(self.name) or read(self, *how)
    )
    assert [measured_of(tmp_path, LUNA.whose) for _ in range(3)] == [LUNA] * 3
    assert reads == [FILE]
    (tmp_path / FILE).unlink()
    assert measured_of(tmp_path, LUNA.whose) is None
