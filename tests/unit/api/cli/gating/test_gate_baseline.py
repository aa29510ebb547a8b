"""The baseline's file, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.api.cli.gating.baseline import FORMAT, baseline_text, read_baseline
from veritrail_graph.api.cli.gating.entries import Entry
from veritrail_graph.api.show.words import State
from veritrail_graph.graph.errors import InputError

CLAIM = {"claim_id": "k", "text": "A claim.", "state": "supported", "error_stages": []}
WHOLE = {"format": FORMAT, "process_id": "p", "judges": [], "claims": [CLAIM]}


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@given(
    st.lists(
        st.builds(
            Entry,
            claim_id=st.text(st.characters(codec="ascii", categories=["L"]), min_size=1),
            text=st.text(st.characters(codec="utf-8")),
            state=st.sampled_from(State),
            error_stages=st.lists(st.integers(0, 9)).map(tuple),
        ),
        unique_by=lambda one: one.claim_id,
    )
)
def test_a_baseline_reads_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, entries: list[Entry]
) -> None:
    folder = tmp_path_factory.getbasetemp()  # a new one for each example would take most of it
    path = written(folder / "baseline.json", baseline_text("p", ["lexical"], entries))
    found = read_baseline(path)
    assert (found.process_id, found.judges) == ("p", ("lexical",))
    assert found.entries == tuple(sorted(entries, key=lambda one: one.claim_id))


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({**WHOLE, "format": "veritrail.baseline/2"}, "its version is"),
        ({**WHOLE, "format": "veritrail.process/1"}, "its format is"),
        ({"claims": []}, 'it has no "format"'),
        ([], 'it has no "format"'),
        ({**WHOLE, "claims": None}, 'needs "claims", an array'),
        ({**WHOLE, "claims": [{**CLAIM, "state": "fine"}]}, "expected one of supported"),
        ({**WHOLE, "claims": [{**CLAIM, "error_stages": [True]}]}, "must hold integers"),
        ({**WHOLE, "claims": [{**CLAIM, "text": 5}]}, 'claims[0] needs "text", a string'),
        ({**WHOLE, "claims": [CLAIM, CLAIM]}, "is in it 2 times"),
        ({**WHOLE, "claims": ["k"]}, "claims[0] is no object"),
        ({**WHOLE, "judges": [5]}, '"judges" must hold strings'),
    ],
)
def test_what_is_no_baseline_is_refused_in_words(tmp_path: Path, document: Any, why: str) -> None:
    path = written(tmp_path / "b.json", json.dumps(document))
    with pytest.raises(InputError) as refused:
        read_baseline(path)
    assert why in str(refused.value)
    assert str(path) in str(refused.value)
    assert "--write-baseline" in str(refused.value)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"{", "is not JSON"),
        (b"[" * 90_000, "is not JSON"),
        (b"\x89PNG\r\n\x1a\n", "is not text in UTF-8"),
        ("\ud83d".encode("utf-8", "surrogatepass"), "is not text in UTF-8"),
    ],
)
def test_what_is_not_json_is_refused_in_words(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "b.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=why):
        read_baseline(path)


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="there are no devices here")
def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    for path in (Path("/dev/null"), tmp_path):  # as any device: one may never end
        with pytest.raises(InputError, match="is no regular file"):
            read_baseline(path)


def test_a_file_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("veritrail_graph.api.cli.gating.baseline._LARGEST", 10)
    with pytest.raises(InputError, match="larger than 10 bytes"):
        read_baseline(written(tmp_path / "b.json", json.dumps(WHOLE)))
