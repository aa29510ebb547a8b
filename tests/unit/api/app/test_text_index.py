"""The index of words, queries as it understands them, and excerpts around what was found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from veritrail_graph.api.app.excerpts import excerpt_of, folded, marked
from veritrail_graph.api.app.text_index import TextIndex, match_of


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("dredger", '"dredger"*'),
        ("the dredger ", '"the" "dredger"'),
        ('"the dredger" remov', '"the dredger" "remov"*'),
        ("a OR b", '"a" "OR" "b"*'),
        ('say "', '"say"*'),
        ("text:x NEAR(a) *", '"text:x" "NEAR(a)"*'),
        ("?! - *", None),
        ("dredg\0er", '"dredg" "er"*'),
        ("\0", None),
        ("", None),
    ],
)
def test_a_query_is_words_and_no_language(query: str, wanted: str | None) -> None:
    assert match_of(query) == wanted


def index(folder: Path) -> TextIndex:
    made = TextIndex(folder)
    assert made.take()
    number = made.begin("p")
    made.add(number, "node", [("n1", "The dredger removed Gdańsk's sand."), ("n2", "Sand, sand.")])
    made.add(number, "claim", [("k1", "The dredger is old.")])
    made.finish(number, "stamp 1")
    return made


def names(found: TextIndex, query: str, **more: str) -> set[tuple[str, str]]:
    return {(hit.process_id, hit.name) for hit in found.find(query, **more)}  # type: ignore[arg-type]


def test_all_words_are_needed_whatever_their_case_and_accents(tmp_path: Path) -> None:
    found = index(tmp_path)
    assert names(found, "DREDGER") == {("p", "n1"), ("p", "k1")}
    assert names(found, "dredger sand") == {("p", "n1")}
    assert names(found, "gdansk") == {("p", "n1")}
    assert names(found, '"sand sand"') == {("p", "n2")}
    assert names(found, "dredg") == {("p", "n1"), ("p", "k1")}
    assert names(found, "dredg ") == set()
    assert names(found, "dredger", kind="claim") == {("p", "k1")}
    assert names(found, "dredger", process_id="q") == set()
    assert names(found, "x' OR 1=1 --") == set()
    assert [hit.name for hit in found.find("sand", limit=1)] == ["n2"]
    assert [hit.name for hit in found.find("sand", after=1)] == ["n1"]


def test_what_is_forgotten_is_not_found_and_names_are_not_mixed_up(tmp_path: Path) -> None:
    found = index(tmp_path)
    assert found.stamps() == {"p": "stamp 1"}
    found.forget("p")
    assert names(found, "dredger") == set()
    number = found.begin("q")
    found.add(number, "node", [("other", "Nothing of it.")])
    assert names(found, "dredger") == set()
    assert names(found, "nothing") == {("q", "other")}
    assert found.stamps() == {"q": ""}  # it is not whole yet


def test_a_process_whose_texts_changed_is_read_again(tmp_path: Path) -> None:
    TextIndex(tmp_path).spoil("p")
    assert not (tmp_path / "search.sqlite3").exists(), "no index is made for it"
    found = index(tmp_path)
    found.spoil("q")
    assert found.stamps() == {"p": "stamp 1"}
    found.spoil("p")
    assert found.stamps() == {"p": ""}
    assert names(found, "dredger") == {("p", "n1"), ("p", "k1")}, "it is found meanwhile"


def test_one_program_at_a_time_adds_and_others_cannot_read_the_file(tmp_path: Path) -> None:
    found, other = index(tmp_path), TextIndex(tmp_path)
    assert not other.take()
    assert other.stamps() == {"p": "stamp 1"}
    found.release()
    assert other.take()
    assert (tmp_path / "search.sqlite3").stat().st_mode & 0o077 == 0


HOLDER = """
import sys, time
from pathlib import Path
from veritrail_graph.api.app.text_index import TextIndex

held = TextIndex(Path(sys.argv[1]))
assert held.take()
print("taken", flush=True)
time.sleep(60)
"""


@pytest.mark.slow
def test_the_lock_of_a_program_that_was_killed_is_free_at_once(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"taken\n"
        found = TextIndex(tmp_path)
        is_taken = not found.take()
        child.kill()
    assert is_taken
    assert found.take()
    assert found.take(), "it goes on being it"


def test_a_folded_text_is_as_long_as_it_was() -> None:
    text = "Ä İstanbul ǅ ﬁn ½ ß \U0001d400 ΣΑΣ"
    assert len(folded(text)) == len(text)
    assert folded("GDAŃSK") == "gdansk"
    assert folded("PUMP") == "pump"


def test_an_excerpt_shows_the_first_word_that_was_found() -> None:
    text = "Nothing here. " * 30 + "Then the Dredgér came. " + "More. " * 60
    shown = excerpt_of(text, "dredger")
    assert "the Dredgér came" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) < 260
    assert marked("The <b>Dredgér</b> came.", "dredg") == [
        ("The <b>", False),
        ("Dredgér", True),
        ("</b> came.", False),
    ]
    assert excerpt_of("Short.", "absent") == "Short."


def test_no_word_of_a_process_that_is_removed_stays_in_the_file(tmp_path: Path) -> None:
    found = index(tmp_path)
    number = found.begin("q")
    found.add(number, "node", [("other", "Nothing of it.")])
    found.finish(number, "stamp 2")
    late = found.begin("r")
    found.erase("p")
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("search.sqlite3*"))
    assert b"dredger" not in stored
    assert b"gdansk" not in stored
    found.add(late, "node", [("late", "It was being read when it was removed: dredger.")])
    assert (names(found, "dredger"), found.stamps()) == (set(), {})  # the next search fills it
    assert found.find("it") == []
    number = found.begin("q")
    found.add(number, "node", [("other", "Nothing of it.")])
    assert names(found, "nothing") == {("q", "other")}
