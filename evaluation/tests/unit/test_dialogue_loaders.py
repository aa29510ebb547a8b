"""Loaders of other people's dialogues, on small invented files in the same layouts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from eval_fakes.dataset_files import write_csv, write_json, write_lines, write_parquet

from veritrail_eval.dialogues.build import build_dialogues
from veritrail_eval.dialogues.gold import LabelledTurn, read_gold
from veritrail_eval.dialogues.loaders.building import SAMPLE, DialogueSet
from veritrail_eval.dialogues.loading import loader_of
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.dialogue import ClaimCategory, DialogueLabel, Speaker

VERIFIED, UNVERIFIABLE = DialogueLabel.VERIFIED, DialogueLabel.UNVERIFIABLE


def load(path: Path, *, skip_bad: bool = False) -> DialogueSet:
    loader = loader_of(path)
    assert loader is not None
    return loader.load(path, skip_bad=skip_bad)


def labels(found: DialogueSet) -> list[DialogueLabel | None]:
    return [turn.label for turn in found.gold.turns]


def spoken(found: DialogueSet, dialogue_id: str) -> list[tuple[str, str, list[str]]]:
    """Role, text and documents of the turns of a dialogue."""
    dialogue = found.gold.dialogues[dialogue_id]
    texts = {one.document_id: one.text for one in dialogue.documents}
    return [
        (one.role.value[0], one.text, [texts[name] for name in one.documents])
        for one in dialogue.turns
    ]


def faults(path: Path) -> list[str]:
    with pytest.raises(InputError) as error:
        load(path)
    return [str(one) for one in error.value.violations] or [str(error.value)]


# VISTA


def _vista(folder: Path, *, judgement: str = "out of scope") -> Path:
    conversation = [
        {"role": "apprentice", "utterance": "Where is the quay?"},
        {"role": "wizard", "utterance": "Ask me another.", "retrieved_document": "N/A"},
        {"role": "apprentice", "utterance": "How old is it?"},
        {
            "role": "wizard",
            "utterance": "It opened in 1901, and I love it.",
            "retrieved_document": "The quay opened in 1901.",
            "human_claims": [
                {"claim_text": "The quay opened in 1901.", "human_judgement": "verifiable"},
                {"claim_text": "The wizard loves the quay.", "human_judgement": judgement},
            ],
            "original_dataset_label": "faithful",
            "gold_label": "faithful",
            "conversation_id": 7,
            "dataset": "AIS",
            "turn_index": 0,
        },
    ]
    return write_json(folder / "human_eval.json", [conversation])


def test_vista_keeps_the_label_of_the_data_set_beside_the_claims_of_people(tmp_path: Path) -> None:
    found = load(_vista(tmp_path))
    assert spoken(found, "vista-AIS-7") == [
        ("u", "Where is the quay?", []),
        ("a", "Ask me another.", []),
        ("u", "How old is it?", []),
        ("a", "It opened in 1901, and I love it.", ["The quay opened in 1901."]),
    ]
    (turn,) = found.gold.turns
    assert (turn.turn_id, turn.label, turn.consensus) == ("t4", VERIFIED, UNVERIFIABLE)
    assert [one.category for one in turn.claims or ()] == [
        ClaimCategory.VERIFIED,
        ClaimCategory.OUT_OF_SCOPE,
    ]
    assert "gold_label counts claims out of scope" in found.remarks[0]


def test_vista_names_the_claim_that_cannot_be_read(tmp_path: Path) -> None:
    (fault,) = faults(_vista(tmp_path, judgement="perhaps"))
    assert fault.startswith("entry 1, turn 4")
    assert "human_claims" in fault


def test_an_input_file_of_vista_has_labels_alone(tmp_path: Path) -> None:
    turns = [
        {"role": "user", "utterance": "Hi"},
        {"role": "assistant", "utterance": "Ships sing.", "label": "hallucinated"},
    ]
    found = load(write_json(tmp_path / "input.json", [turns, [turns[0]]]))
    assert labels(found) == [UNVERIFIABLE]
    assert found.gold.turns[0].claims is None
    assert found.remarks == ("1 time: conversation without a label: left out",)


# BEGIN


def _begin(folder: Path, *answers: str) -> Path:
    rows = [
        {
            "model_name": "t5",
            "data_source": "wow",
            "knowledge": "The quay opened in 1901.",
            "message": "How old is it?" if number else " ",
            "response": f"answer {number}",
            "begin_label": label,
        }
        for number, label in enumerate(answers)
    ]
    lines = ["\t".join(rows[0]), *("\t".join(row.values()) for row in rows)]
    path = folder / "begin_dev_wow.tsv"
    path.write_text("\r\n".join(lines), encoding="utf-8")
    return path


def test_begin_takes_only_what_is_fully_attributable_as_verified(tmp_path: Path) -> None:
    path = _begin(tmp_path, "Fully attributable", "Not fully attributable", "Generic")
    found = load(path)
    assert labels(found) == [VERIFIED, UNVERIFIABLE, UNVERIFIABLE]
    assert spoken(found, "begin-begin_dev_wow-2") == [
        ("u", "How old is it?", []),
        ("a", "answer 1", ["The quay opened in 1901."]),
    ]
    assert found.remarks == (
        "1 time: answer labelled generic: kept, UNVERIFIABLE",
        "1 time: turn without a word: left out",
    )


def test_begin_reads_the_labels_of_its_first_release(tmp_path: Path) -> None:
    header = "evidence\tprevious turn\tresponse\tgold label\tcoarse label\tfull label set"
    kinds = ("entailment", "contradiction", "hallucination", "off-topic")
    rows = [f"The quay.\tWhat?\tanswer\t{kind}\tx\ty" for kind in kinds]
    path = tmp_path / "dev_05_24_21.tsv"
    path.write_text("\n".join([header, *rows]), encoding="utf-8")
    assert labels(load(path)) == [VERIFIED, UNVERIFIABLE, UNVERIFIABLE, UNVERIFIABLE]


def test_a_bad_row_is_named_with_row_and_column_or_left_out_and_counted(tmp_path: Path) -> None:
    path = _begin(tmp_path, "Fully attributable", "Perhaps")
    (fault,) = faults(path)
    assert fault.startswith("row 3")
    assert "begin_label" in fault
    found = load(path, skip_bad=True)
    assert len(found.gold.turns) == 1
    assert found.remarks[0].startswith("one row is bad and left out; the first: row 3")


# FaithDial


def _utterance(history: list[str], begin: list[str], original: str | None = None) -> dict[str, Any]:
    return {
        "history": history,
        "speaker": "Wizard",
        "knowledge": "The quay opened in 1901.",
        "original_response": original,
        "response": "It opened in 1901.",
        "BEGIN": begin,
        "VRM": ["Disclosure"],
    }


FAITHDIAL = [
    _utterance(["How old is it?"], ["Hallucination", "Entailment"], "I love it, it is from 1901."),
    _utterance(["How old is it?", "It opened in 1901.", "Sure?"], ["Entailment"], ""),
    _utterance(
        ["How old is it?", "It opened in 1901.", "Sure?", "It opened in 1901.", "Thanks"],
        ["Generic"],
    ),
]


def test_faithdial_labels_what_the_wizard_said_before_it_was_edited(tmp_path: Path) -> None:
    found = load(write_json(tmp_path / "test.json", [{"utterances": FAITHDIAL}]))
    assert labels(found) == [UNVERIFIABLE, VERIFIED, UNVERIFIABLE]
    (dialogue_id,) = found.gold.dialogues
    assert [one[:2] for one in spoken(found, dialogue_id)] == [
        ("u", "How old is it?"),
        ("a", "I love it, it is from 1901."),
        ("u", "Sure?"),
        ("a", "It opened in 1901."),
        ("u", "Thanks"),
        ("a", "It opened in 1901."),
    ]
    assert found.remarks == ("1 time: turn labelled Generic: kept, UNVERIFIABLE",)


def test_faithdial_is_the_same_as_a_table_of_turns(tmp_path: Path) -> None:
    rows = [{"dialog_idx": 0, **{k: v for k, v in one.items() if k != "speaker"}}
            for one in FAITHDIAL]  # fmt: skip
    by_turn = load(write_parquet(tmp_path / "faith_dial-test.parquet", rows))
    by_conversation = load(write_json(tmp_path / "test.json", [{"utterances": FAITHDIAL}]))
    assert labels(by_turn) == labels(by_conversation)
    texts = [
        [one.text for dialogue in found.gold.dialogues.values() for one in dialogue.turns]
        for found in (by_turn, by_conversation)
    ]
    assert texts[0] == texts[1]


def test_faithdial_names_the_utterance_whose_label_is_none(tmp_path: Path) -> None:
    bad = [FAITHDIAL[0], {**FAITHDIAL[1], "BEGIN": ["Faithful"]}]
    (fault,) = faults(write_json(tmp_path / "test.json", [{"utterances": bad}]))
    assert fault.startswith("entry 1, utterance 2")
    assert "'Faithful'" in fault


# FADE


def _fade(history: list[str], answer: str, tags: list[str], **more: str) -> dict[str, str]:
    return {
        "": "11",
        "history": repr(history),
        "response": "Ann Ek built it .",
        "speaker": "assistant",
        "knowledge_base": repr({"paths": [["quay", "built_by", "Ann Ek"]], "render": "Ek: quay"}),
        "dialogue_id": "4326",
        "corrupted_response": answer,
        "hallucination_tags": repr(tags),
        **more,
    }


def test_fade_puts_the_answers_of_a_speaker_together_where_they_fit(tmp_path: Path) -> None:
    later = ["Who built it ?", "Ann Ek built it .", "And when ?"]
    rows = [
        _fade(["Who built it ?"], "bo lind built it .", ["B-HALLUC", "L-HALLUC", "O", "O", "O"]),
        _fade(later, "ann ek built it .", ["O"] * 5),
        _fade(["What ?"], "bo built it .", ["U-HALLUC", "O", "O", "O"]),
        _fade(["Hm", "Well"], "ann ek .", ["O"], speaker="user", knowledge_base="{'paths': []}"),
    ]
    found = load(write_csv(tmp_path / "test_observed.csv", rows))
    assert spoken(found, "fade-test_observed-4326-assistant") == [
        ("u", "Who built it ?", []),
        ("a", "bo lind built it .", ["Ek: quay"]),
        ("u", "And when ?", []),
        ("a", "ann ek built it .", ["Ek: quay"]),
    ]
    by_dialogue = {one.dialogue_id: [] for one in found.gold.turns}  # type: ignore[var-annotated]
    for one in found.gold.turns:
        by_dialogue[one.dialogue_id].append(one.label)
    assert by_dialogue == {
        "fade-test_observed-4326-assistant-3": [UNVERIFIABLE],
        "fade-test_observed-4326-assistant": [UNVERIFIABLE, VERIFIED],
        "fade-test_observed-4326-user": [VERIFIED],
    }
    assert found.remarks == (
        "1 time: answer that does not fit into its conversation: a dialogue of its own",
        "1 time: answer without facts of the graph: compared with nothing",
    )


def test_fade_names_the_cell_that_holds_no_list(tmp_path: Path) -> None:
    rows = [_fade(["Who ?"], "ann", ["O"]), _fade(["Who ?"], "ann", [], hallucination_tags="[O")]
    (fault,) = faults(write_csv(tmp_path / "dev_observed.csv", rows))
    assert fault.startswith("row 3")
    assert "hallucination_tags" in fault


# AIS


def _judged(place: str, url: str = "NA", **more: str) -> dict[str, str]:
    return {
        "ex-idx ": place,
        "doc-url": url,
        "doc-url-hash": "NA",
        "model-name": "t5",
        "output": "it opened in 1901",
        "INT": "1",
        "INT & AIS": "1",
        "Flagged": "0",
        "Q1": "Yes",
        "Q2": "Yes",
        "# agree (INT)": "5",
        "# agree (AIS)": "4",
        **more,
    }


WIZARD = [
    {
        "chosen_topic": "Quay",
        "dialog": [
            {"speaker": "0_Wizard", "text": "I know quays.", "checked_sentence": {}},
            {"speaker": "1_Apprentice", "text": "How old is it?"},
            {
                "speaker": "0_Wizard",
                "text": "From 1901.",
                "checked_sentence": {"self_Quay_0": "The quay opened in 1901."},
                "checked_passage": {"self": "Quay"},
            },
        ],
    }
]


def test_ais_joins_its_answers_to_the_conversations_that_they_end(tmp_path: Path) -> None:
    write_json(tmp_path / "test_random_split.json", WIZARD)
    rows = [
        _judged("0:2"),
        _judged("0:2", **{"model-name": "dodeca", "INT": "0", "INT & AIS": "0"}),
        _judged("0:2", **{"model-name": "flagged", "INT & AIS": "0", "Flagged": "1"}),
    ]
    write_csv(tmp_path / "ann_wow.csv", rows)
    asked = {"Conversation_no": 9, "Turn_no": 2, "Context": ["Which quay?", "Norrby's."]}
    write_json(tmp_path / "qrecc_test.json", [{**asked, "Question": "How old is it?"}])
    url = "http://example.org/quay_p1"
    passages = [{"id": "x", "contents": "no"}, {"id": url, "contents": "Opened in 1901."}]
    write_lines(tmp_path / "passages.jsonl", passages)
    write_csv(tmp_path / "ann_qrecc.csv", [_judged("9:2", url, **{"INT & AIS": "0"})])
    found = load(tmp_path)
    assert labels(found) == [VERIFIED, UNVERIFIABLE, UNVERIFIABLE]
    assert spoken(found, "ais-wow-0:2-t5") == [
        ("a", "I know quays.", []),
        ("u", "How old is it?", []),
        ("a", "it opened in 1901", ["Quay\nThe quay opened in 1901."]),
    ]
    assert spoken(found, "ais-qrecc-9:2-t5") == [
        ("u", "Which quay?", []),
        ("a", "Norrby's.", []),
        ("u", "How old is it?", []),
        ("a", "it opened in 1901", ["Opened in 1901."]),
    ]
    assert found.remarks == (
        "1 time: answer that annotators could not interpret: kept, UNVERIFIABLE",
        "1 time: answer whose task annotators flagged as malformed: left out",
    )


def test_ais_says_which_file_it_lacks_and_which_row_has_no_conversation(tmp_path: Path) -> None:
    write_csv(tmp_path / "ann_wow.csv", [_judged("0:2"), _judged("4:1"), _judged("x")])
    (said,) = faults(tmp_path)
    assert "test_random_split.json is not there" in said
    write_json(tmp_path / "test_random_split.json", WIZARD)
    found = faults(tmp_path)
    assert [one.partition(":")[0] for one in found] == [
        "ann_wow.csv, row 4",
        "ann_wow.csv, row 3, column ex-idx",
    ]


# CoCoNot and RGM


def test_coconot_keeps_abstentions_and_answers_and_draws_250_of_each(tmp_path: Path) -> None:
    def row(number: int, category: str, **more: str) -> dict[str, str]:
        return {
            "id": f"r{number}",
            "category": category,
            "subcategory": "s",
            "prompt": "Do",
            **more,
        }

    wanted, not_wanted = "Unsupported requests", "Incomplete requests"
    original = [row(n, wanted, response="I cannot.") for n in range(SAMPLE + 5)]
    original += [row(900, not_wanted, response="I cannot."), row(901, wanted, response="")]
    chosen = [row(1000 + n, wanted, chosen="Here.", rejected="No.") for n in range(3)]
    write_lines(tmp_path / "coconot_train.jsonl", original)
    write_lines(tmp_path / "coconot_pref.jsonl", chosen)
    found = load(tmp_path)
    held = [turn.holds for turn in found.gold.turns]
    assert held.count({ClaimCategory.ABSTENTION: True}) == SAMPLE
    assert held.count({ClaimCategory.ABSTENTION: False}) == 3
    assert not any(dialogue.documents for dialogue in found.gold.dialogues.values())
    assert found.gold == load(tmp_path).gold
    assert found.remarks == (
        "5 times: answer that abstains: not drawn, 250 of 255 were",
        "3 times: answer that complies: all of them are taken, 250 were asked for",
        "1 time: category Incomplete requests: left out",
        "1 time: request without an answer: left out",
    )


def _rgm(count: int, last: str = "I hate dogs.", **more: Any) -> dict[str, Any]:
    return {
        "utterances": ["I love dogs.", "Me too.", last],
        "speakers": ["A", "B", "A"],
        "annotation_target_pair": [0, 2],
        "rgm_name": "opt",
        "contradictory_label_count": count,
        **more,
    }


def test_rgm_takes_the_majority_and_leaves_out_what_is_not_published(tmp_path: Path) -> None:
    rows = [_rgm(3), _rgm(2), _rgm(0, "I do."), _rgm(1), _rgm(2, "[[TBA]]")]
    found = load(write_lines(tmp_path / "indomain_test.jsonl", rows))
    assert [turn.holds for turn in found.gold.turns] == [
        {ClaimCategory.CONTRADICTED: True},
        {ClaimCategory.CONTRADICTED: True},
        {ClaimCategory.CONTRADICTED: False},
    ]
    assert spoken(found, "rgm-indomain_test-1") == [
        ("a", "I love dogs.", []),
        ("u", "Me too.", []),
        ("a", "I hate dogs.", []),
    ]
    assert "1 time: answer that 1 of 3 annotators found contradictory: left out" in found.remarks
    assert "1 time: answer that is not in the file ([[…]]): left out" in found.remarks


@pytest.mark.parametrize(
    ("more", "column"),
    [
        ({"speakers": ["A", "B"]}, "speakers"),
        ({"annotation_target_pair": [0, 1]}, "annotation_target_pair"),
        ({"contradictory_label_count": 4}, "contradictory_label_count"),
    ],
)
def test_rgm_names_the_column_that_is_wrong(
    tmp_path: Path, more: dict[str, Any], column: str
) -> None:
    (fault,) = faults(write_lines(tmp_path / "rgm.jsonl", [_rgm(2, **more)]))
    assert fault.startswith("line 1")
    assert column in fault


# All of them


def test_what_is_built_is_read_again_as_it_was(tmp_path: Path) -> None:
    path, output = _vista(tmp_path), tmp_path / "gold.jsonl.gz"
    loader = loader_of(path, "vista")
    assert loader is not None
    built = build_dialogues(loader, path, output)
    assert read_gold(output) == built.dataset.gold
    facts = built.json_object()
    assert (facts["turns"], facts["claims"]) == (1, 2)
    assert facts["labels"] == {"VERIFIED": 1, "UNVERIFIABLE": 0, "none": 0}
    with pytest.raises(InputError, match="written over"):
        build_dialogues(loader, path, path)


@pytest.mark.parametrize("make", [_vista, lambda folder: _begin(folder, "Generic")])
def test_labelled_turns_are_the_assistants(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    found = load(make(tmp_path))

    def role(turn: LabelledTurn) -> Speaker:
        turns = found.gold.dialogues[turn.dialogue_id].turns
        return next(one.role for one in turns if one.turn_id == turn.turn_id)

    assert {role(turn) for turn in found.gold.turns} == {Speaker.ASSISTANT}


def test_no_loader_takes_what_others_read(tmp_path: Path) -> None:
    assert loader_of(write_json(tmp_path / "x.json", [{"question": "Q", "response": "R"}])) is None
    assert loader_of(tmp_path, "fables") is None
