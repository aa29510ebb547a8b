"""Addresses in the place of paths, whose login is sent where, and files of answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import Neo4jError

from veritrail_graph.api.configured.graph_connection import import_address
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import registry
from veritrail_graph.graph.importers.neo4j_graph.answers import read_answers
from veritrail_graph.graph.importers.neo4j_graph.shape import CHUNK, COMMUNITY, ENTITY, Held, Shape
from veritrail_graph.graph.importers.registry import ImportOptions, address_of, find_processes
from veritrail_graph.graph.store.faults import named

OURS = {"NEO4J_URI": "bolt://localhost:7687", "NEO4J_USERNAME": "ann", "NEO4J_PASSWORD": "ours"}
THEIRS = {"VERITRAIL_IMPORT_PASSWORD": "theirs"}


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("neo4j://host:7687", "neo4j://host:7687"),
        ("neo4j+ssc://host/db", "neo4j+ssc://host/db"),
        ("bolt+s://[::1]:7687", "bolt+s://[::1]:7687"),
        ("embedded", "embedded"),
        ("bolt://", None),
        ("http://host", None),
        ("a/neo4j://host", None),
        ("embedded/x", None),
    ],
)
def test_an_address_is_told_from_a_path(text: str, address: str | None) -> None:
    assert address_of(Path(text)) == address


def test_a_folder_that_is_called_as_the_engine_is_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "embedded").mkdir()
    assert address_of(Path("embedded")) is None


@pytest.mark.parametrize(
    ("path", "format_name", "problem"),
    [
        ("neo4j://host", "rag", r"neo4j://host: the format rag is read from files and folders"),
        ("a.json", "neo4j", "the format neo4j is read from addresses such as neo4j://"),
        ("bolt:", None, "no such file"),
    ],
)
def test_addresses_and_files_have_formats_of_their_own(
    tmp_path: Path, path: str, format_name: str | None, problem: str
) -> None:
    file = tmp_path / path if path == "a.json" else Path(path)
    with pytest.raises(InputError, match=problem):
        find_processes(file, format_name=format_name)


def test_an_address_is_in_one_format_and_takes_its_options_alone() -> None:
    (found,) = find_processes(Path("neo4j://host/db"))
    assert found.where == "neo4j://host/db"
    with pytest.raises(InputError, match=r"neo4j://host is in the format neo4j.*community_level"):
        find_processes(Path("neo4j://host"), options=ImportOptions(community_level=1))
    readers = [one for one in registry.importers() if getattr(one, "reads_addresses", False)]
    assert [one.name for one in readers] == ["neo4j"]


@pytest.mark.parametrize(
    ("settings", "uri", "found"),
    [
        # The login of the store goes to the store's server, by whatever name of this machine.
        (OURS, "neo4j://127.0.0.1/kg", ("ann", "ours", "kg")),
        (OURS, "bolt://localhost:7687", ("ann", "ours", None)),
        ({**OURS, "NEO4J_DATABASE": "db"}, "bolt://localhost:7687", ("ann", "ours", "db")),
        # And to no other.
        (OURS, "bolt://localhost:7688", (None, None, None)),
        (OURS, "bolt://elsewhere:7687", (None, None, None)),
        ({**OURS, **THEIRS}, "bolt://elsewhere:7687", ("neo4j", "theirs", None)),
        ({**OURS, **THEIRS}, "bolt://localhost:7687", ("neo4j", "theirs", None)),
        ({**THEIRS, "VERITRAIL_IMPORT_DATABASE": "kg"}, "bolt://h", ("neo4j", "theirs", "kg")),
    ],
)
def test_a_login_is_sent_to_its_own_server_alone(
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, str],
    uri: str,
    found: tuple[str | None, ...],
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    address = import_address(Settings(), uri)
    assert (address.username, address.password, address.database) == found
    assert address.uri.count("/") == 2


@pytest.mark.parametrize("own", [OURS, {}], ids=["our server", "another"])
@pytest.mark.parametrize("uri", ["bolt://127.0.0.1/nodb", "bolt://127.0.0.1"])
def test_a_database_that_is_missing_is_looked_for_where_it_was_named(
    monkeypatch: pytest.MonkeyPatch, uri: str, own: dict[str, str]
) -> None:
    for name, value in {**own, "VERITRAIL_IMPORT_DATABASE": "other"}.items():
        monkeypatch.setenv(name, value)
    code = "Neo.ClientError.Database.DatabaseNotFound"
    error = Neo4jError._hydrate_neo4j(code=code, message="none")
    said = str(named(error, import_address(Settings(), uri)))
    assert ("slash of the address" in said) == uri.endswith("nodb")
    assert ("DATABASE" in said) != uri.endswith("nodb")


@pytest.mark.parametrize("uri", ["bolt://ann:hidden@host", "neo4j://ann:hidden@host/db"])
def test_a_login_in_an_address_is_refused_and_not_repeated(uri: str) -> None:
    with pytest.raises(InputError, match="VERITRAIL_IMPORT_PASSWORD") as caught:
        import_address(Settings(), uri)
    assert "hidden" not in str(caught.value)


def a_shape() -> Shape:
    shape = Shape()
    for kind, name in ((CHUNK, "c1"), (ENTITY, "Ada"), (COMMUNITY, "0-1")):
        shape.nodes[name] = Held(name, name, kind, 1, None, "text", {})
        shape.call(kind, name, name)
    return shape


def read(folder: Path, document: Any, entry: str = "", **options: Any) -> Any:
    path = folder / "answer.json"
    text = document if isinstance(document, str) else json.dumps(document)
    path.write_text(text, encoding="utf-8")
    chosen = {"question": None, "answer_id": None, **options}
    return read_answers(f"{path}{entry}", a_shape(), **chosen)


def test_a_list_gives_an_answer_each_and_one_of_it_is_named_by_its_number(tmp_path: Path) -> None:
    entries = [
        {"answer": "One.", "question": "Which?", "chunks": ["c1"]},
        {"answer": "Two.", "entities": ["Ada"], "communities": ["0-1"]},
    ]
    first, second = read(tmp_path, entries)
    assert (first.text, first.question, first.sources) == ("One.", "Which?", ("c1",))
    assert second.sources == ("Ada", "0-1")
    assert first.node_id != second.node_id
    (only,) = read(tmp_path, entries, "#1", question="What else?", answer_id="two")
    assert (only.node_id, only.question) == ("answer:two", "What else?")


@pytest.mark.parametrize(
    ("document", "entry", "problem"),
    [
        ("{", "", "not JSON"),
        ([], "", "the list is empty"),
        (["text"], "", "an answer is an object"),
        ({"answer": " ", "chunks": ["c1"]}, "", "text of the answer"),
        ({"answer": "A.", "chunk": ["c1"]}, "", "chunk is no key of an answer"),
        ({"answer": "A.", "chunks": "c1"}, "", "`chunks` is no list"),
        ({"answer": "A.", "chunks": [None]}, "", "an entry that is no id"),
        ({"answer": "A.", "question": 1, "chunks": ["c1"]}, "", "`question` is no text"),
        ({"answer": "A."}, "", "names no text of the graph"),
        ({"answer": "A.", "chunks": ["c1"]}, "#0", "leave #0 out"),
        ([{"answer": "A.", "chunks": ["c1"]}], "#3", "there are 1"),
        ([{"answer": "A.", "chunks": ["c1"]}] * 2, "", "is the same answer as"),
        ({"answer": "A.", "retriever_result": {}}, "", "holds no list `items`"),
        ({"answer": "A.", "retriever_result": {"items": [{"content": "x"}]}}, "", "no `id`"),
    ],
)
def test_a_file_that_holds_no_answer_says_where_and_why(
    tmp_path: Path, document: Any, entry: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        read(tmp_path, document, entry)
    assert "answer.json" in str(caught.value)


def test_a_text_and_one_question_for_two_answers_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "answer.txt"
    text.write_text("An answer.", encoding="utf-8")
    with pytest.raises(InputError, match="a text does not say what the answer was given"):
        read_answers(str(text), a_shape(), None, None)
    two = [{"answer": one, "chunks": ["c1"]} for one in ("A.", "B.")]
    with pytest.raises(InputError, match="2 answers cannot have one question"):
        read(tmp_path, two, question="Why?")
