"""What is said of a matrix with several faults: each of them, once, and nothing untrue."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from veritrail_eval.app.estimate import checked_matrix
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError

HARBOUR = Path(__file__).resolve().parents[3] / "examples/harbour-summary.json"
DATA = f'[[dataset]]\npath = "{HARBOUR.as_posix()}"\n'


def _faults(folder: Path, text: str) -> list[str]:
    path = folder / "m.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError) as raised:
        asyncio.run(checked_matrix(Settings(home=folder / "home"), path))
    return [str(one).removeprefix("m.toml: ") for one in raised.value.violations]


def _thresholds(folder: Path, method: str) -> list[str]:
    text = f'{DATA}[[method]]\nmethod = "{method}"\nthreshold = [-1.5, -0.5, 0.5, 1]\n'
    return [one for one in _faults(folder, text) if "threshold" in one]


def test_a_threshold_is_on_the_scale_of_the_method_s_scores(tmp_path: Path) -> None:
    signed = "method 1 (summac_zs): threshold must be a number from -1 to 1, not -1.5"
    assert _thresholds(tmp_path, "summac_zs") == [signed]
    plain = "method 1 (hhem): threshold must be a number from 0 to 1, not"
    assert _thresholds(tmp_path, "hhem") == [f"{plain} -1.5", f"{plain} -0.5"]


def test_a_fault_of_a_value_that_the_matrix_does_not_give_is_not_told(tmp_path: Path) -> None:
    text = f'{DATA}[[method]]\nmethod = "rag"\nengine = "lexical"\nk = 5\nsamples = 2\n'
    told = [one for one in _faults(tmp_path, f"{text}threshold = 5\n") if "threshold" in one]
    assert told == ["method 1 (rag): threshold 5 cannot be met by 2 sample(s)"]


def test_one_fault_of_a_method_hides_no_other(tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text("{}", "utf-8")
    found = _faults(
        tmp_path,
        f"""
        {DATA}
        sample = {{ by = "book", count = 0 }}
        [[dataset]]
        path = "empty.json"
        [[dataset]]
        name = "again"
        path = "empty.json"
        [[method]]
        method = "minicheck"
        k = 1
        threshold = [1.5, nan]
        documents = "some"
        model = "nowhere/model"
        [[method]]
        method = "rag"
        engine = "lexical"
        k = []
        threshold = 5
        [[method]]
        method = "summac_conv"
        threshold = 2
        documents = "few"
        weights = "gone.json"
        """,
    )
    said = [
        "dataset 1: sample: by must be one of",
        "dataset 1: sample: count must be",
        "dataset 2: ",
        "dataset 3: ",
        "method 1 (minicheck): threshold has the value nan",
        "method 1 (minicheck): threshold must be a number from 0 to 1, not 1.5",
        "method 1 (minicheck): documents must be one or all, not 'some'",
        "method 1 (minicheck): ",
        "method 2 (rag): k is an empty list",
        "method 2 (rag): threshold 5 cannot be met by 1 sample(s)",
        "method 2 (rag): Retrieval needs an embedding model",
        "method 3 (summac_conv): threshold must be a number from 0 to 1, not 2",
        "method 3 (summac_conv): documents must be one or all, not 'few'",
    ]
    assert [one[: len(start)] for one, start in zip(found, said, strict=False)] == said, found
    assert "nowhere/model" in found[7]
    assert any("gone.json" in one for one in found), found
