"""Dialogue files: what becomes of them, and what is refused with its place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from fakes.dialogues import SAMPLE, sample_dialogue

from veritrail_graph.graph.errors import InputError, InvalidProcess
from veritrail_graph.graph.importers.dialogue import FORMAT, process_of, read_dialogue
from veritrail_graph.graph.importers.registry import find_processes, open_input
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Role
from veritrail_graph.graph.model.dialogue import Dialogue, Speaker, Turn


def turns(*said: tuple[str, str, str], **more: Any) -> dict[str, Any]:
    given = [{"turn_id": name, "role": role, "text": text} for name, role, text in said]
    return {"format": FORMAT, "dialogue_id": "d", "turns": given, **more}


GOOD = turns(("a", "user", "Hello?"), ("b", "assistant", "Hello!"))


def kinds(value: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidProcess) as caught:
        read_dialogue(value)
    return [(one.kind, one.where) for one in caught.value.violations]


def test_the_sample_is_detected_and_read(tmp_path: Path) -> None:
    (found,) = find_processes(SAMPLE)
    source = found.open()
    assert source.header.source_format == "dialogue"
    assert source.header.process_id == "lindholm-dialogue"
    packed = tmp_path / "d.json.gz"
    packed.write_bytes(gzip.compress(SAMPLE.read_bytes()))
    assert survey(open_input(packed)).hash == survey(source).hash


def test_each_line_of_json_lines_is_a_dialogue_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    lines = [json.dumps({**GOOD, "dialogue_id": "one"}), json.dumps({**GOOD, "dialogue_id": "two"})]
    path.write_text("\n".join([*lines, '{"format": "veritrail.dialogue/1", "turns": []}']))
    one, two, bad = find_processes(path)
    assert [each.open().header.process_id for each in (one, two)] == ["one", "two"]
    assert bad.where == f"{path}#3"
    with pytest.raises(InvalidProcess, match="#3 breaks one rule of the dialogue format"):
        bad.open()


def test_other_files_are_not_taken_for_dialogues(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    node = {"node_id": "n", "text": "t"}
    path.write_text(json.dumps({"format": "veritrail.process/1", "nodes": [node], "edges": []}))
    assert open_input(path).header.source_format == "veritrail.process/1"
    path.write_text(json.dumps({"turns": 3}))
    with pytest.raises(InputError, match="in no format"):
        open_input(path)


def test_the_format_may_stand_behind_long_turns(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    long = turns(("a", "user", "word " * 2_000), ("b", "assistant", "x"))
    path.write_text(json.dumps({**{key: long[key] for key in ("turns",)}, "format": FORMAT}))
    assert open_input(path).header.source_format == "dialogue"


def test_a_version_that_is_not_known_is_named(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    path.write_text(json.dumps({**GOOD, "format": "veritrail.dialogue/9"}))
    with pytest.raises(InvalidProcess) as caught:
        open_input(path)
    assert [one.kind for one in caught.value.violations] == ["unknown_format"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([], [("wrong_type", "dialogue")]),
        (turns(), [("no_turns", "turns")]),
        ({**GOOD, "turns": 3}, [("wrong_type", "dialogue")]),
        ({**GOOD, "format": "veritrail.dialogue/2"}, [("unknown_format", "format")]),
        ({**GOOD, "speakers": []}, [("unknown_key", "dialogue")]),
        ({**GOOD, "dialogue_id": "a b"}, [("wrong_id", "dialogue")]),
        (turns(("a", "user", "Hello?")), [("no_assistant_turn", "turns")]),
        (turns(("a", "user", "x"), ("b", "assistant", " \n")), [("empty_turn", "turns[1] 'b'")]),
        (turns(("a", "robot", "x"), ("b", "assistant", "y")), [("unknown_role", "turns[0] 'a'")]),
        (
            turns(("a", "user", "x"), ("a", "assistant", "y")),
            [("duplicate_turn_id", "turns[1] 'a'")],
        ),
        (
            turns(("t2", "user", "x"), ("t10", "assistant", "y"), ("t9", "user", "z")),
            [("turn_out_of_order", "turns[2] 't9'")],
        ),
        (
            {**GOOD, "documents": [{"document_id": "x", "text": ""}] * 2},
            [("duplicate_document_id", "documents[1] 'x'")],
        ),
        (
            {**GOOD, "turns": [{**GOOD["turns"][0]}, {**GOOD["turns"][1], "documents": ["x"]}]},
            [("unknown_document", "turns[1] 'b'")],
        ),
        ({**GOOD, "documents": [{"document_id": "x"}]}, [("missing_key", "documents[0] 'x'")]),
        ({**GOOD, "initial_knowledge": ["", "x"]}, [("empty_text", "initial_knowledge[0]")]),
        (
            turns(("a" * 1_001, "user", "x"), ("b", "assistant", "y")),
            [("id_too_long", f"turns[0] '{'a' * 60}")],
        ),
        (turns(("a", "assistant", "\ud800")), [("lone_surrogate", "turns[0] 'a'")]),
    ],
)
def test_what_is_wrong_is_named_with_its_place(value: Any, expected: list[tuple[str, str]]) -> None:
    found = kinds(value)
    assert [kind for kind, _ in found] == [kind for kind, _ in expected]
    assert all(
        where.startswith(begin.rstrip("'")[:20])
        for (_, where), (_, begin) in zip(found, expected, strict=True)
    )


def test_all_violations_are_listed_at_once() -> None:
    value = turns(("t3", "user", ""), ("t1", "oracle", "x"), ("t3", "assistant", "y"), extra=1)
    value["turns"][2]["documents"] = ["nowhere"]
    assert {kind for kind, _ in kinds(value)} == {
        "unknown_key", "empty_turn", "unknown_role", "duplicate_turn_id", "unknown_document",
        "turn_out_of_order",
    }  # fmt: skip


def test_each_violation_stands_at_its_own_turn_also_behind_one_that_cannot_be_read() -> None:
    value = turns(
        ("t1", "oracle", "x"), ("t2", "user", ""), ("t5", "assistant", "y"), ("t4", "user", "z"),
        documents=[{"document_id": "d", "text": "A text."}],
    )  # fmt: skip
    value["turns"][2]["documents"] = ["d", "zz", 7]
    value["initial_knowledge"] = ["", 5]
    found = kinds(value)
    assert set(found) == {
        ("wrong_type", "dialogue"), ("unknown_role", "turns[0] 't1'"),
        ("empty_turn", "turns[1] 't2'"), ("wrong_type", "turns[2] 't5'"),
        ("unknown_document", "turns[2] 't5'"), ("empty_text", "initial_knowledge[0]"),
        ("turn_out_of_order", "turns[3] 't4'"),
    }  # fmt: skip


def test_ids_that_are_no_numbers_alike_may_stand_in_any_order() -> None:
    for names in (("b", "a"), ("u2", "a1"), ("t2", "x")):
        read_dialogue(turns((names[0], "user", "x"), (names[1], "assistant", "y")))


def test_ids_may_be_any_text_and_what_is_known_of_turns_is_kept() -> None:
    value = turns(("😀/1 \u201cx\u201d", "user", "x"), ("b", "assistant", "y"))
    value["turns"][1]["metadata"] = {"model": "m", "page": 3}
    source = process_of(read_dialogue(value))
    found = {one.node_id: one for one in source.records() if hasattr(one, "text")}
    assert "turn/😀/1 \u201cx\u201d" in found
    assert dict(found["turn/b"].metadata) == {"model": "m", "page": 3}


@pytest.mark.parametrize("names", [{}, {"documents": ["x"]}])
def test_documents_that_no_turn_of_the_assistant_names_are_told(names: dict[str, Any]) -> None:
    user, *others = GOOD["turns"]
    assert user["role"] == "user"
    documents = [{"document_id": "x", "text": "A text."}]
    value = {**GOOD, "documents": documents, "turns": [{**user, **names}, *others]}
    (warning,) = process_of(read_dialogue(value)).header.warnings
    assert warning.endswith("nothing is compared with them: 'x'")


def test_documents_that_others_than_the_assistant_name_are_told_to_be_left_out() -> None:
    user, answer = ({**one, "documents": ["x"]} for one in GOOD["turns"])
    documents = [{"document_id": "x", "text": "A text."}]
    value = {**GOOD, "documents": documents, "turns": [user, answer]}
    (warning,) = process_of(read_dialogue(value)).header.warnings
    assert warning == (
        "1 turn of another speaker names documents, which is left out, because only turns of the "
        "assistant are written from documents: 'a'"
    )


def test_two_thousand_turns_make_as_many_edges_as_turns() -> None:
    said = [
        Turn(turn_id=f"t{number}", role=(Speaker.USER, Speaker.ASSISTANT)[number % 2], text="x")
        for number in range(2_000)
    ]
    found = survey(process_of(Dialogue(dialogue_id="d", turns=tuple(said))))
    assert sum(found.topology.in_degrees()) == 1_999
    # Every assistant's turn has all turns before it as ancestors.
    order = {node: place for place, node in enumerate(found.topology.ids)}
    assert order["turn/t1999"] == 1_999
    assert found.roles.count(Role.UNSOURCED) == 1_000


def test_tools_and_systems_are_given_and_inputs_to_the_next_answer() -> None:
    value = turns(
        ("s", "system", "Be kind."), ("u", "user", "Hi"), ("a", "assistant", "One moment."),
        ("t", "tool", "22 degrees"), ("b", "assistant", "It is warm."),
        initial_knowledge=["The assistant is kind."],
    )  # fmt: skip
    found = survey(process_of(read_dialogue(value)))
    roles = dict(zip(found.topology.ids, found.roles, strict=True))
    unsourced = {name for name, role in roles.items() if role is Role.UNSOURCED}
    assert unsourced == {"turn/s", "turn/u", "turn/t"}
    assert not found.warnings  # what is said to a model has no inputs, and lacks none
    edges = {
        (one.source, one.target)
        for one in process_of(read_dialogue(value)).records()
        if hasattr(one, "target")
    }
    assert edges == {
        ("knowledge/0", "turn/a"), ("turn/s", "turn/a"), ("turn/u", "turn/a"),
        ("turn/a", "turn/b"), ("turn/t", "turn/b"),
    }  # fmt: skip


def test_the_sample_survives_a_round_of_json() -> None:
    dialogue = sample_dialogue()
    assert read_dialogue({"format": FORMAT, **dialogue.json_object()}) == dialogue
