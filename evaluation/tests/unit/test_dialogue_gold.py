"""Files of dialogues with labelled turns: what they hold, and how faults are named."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from veritrail_eval.dialogues.build import TurnSample
from veritrail_eval.dialogues.gold import (
    DialogueGold,
    LabelledTurn,
    LabelledTurnClaim,
    TurnAnnotation,
    read_gold,
    write_gold,
)
from veritrail_eval.dialogues.loaders.building import DialogueSet
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.dialogue.file import read_dialogue
from veritrail_graph.graph.model.dialogue import ClaimCategory, DialogueLabel

DIALOGUE = {
    "format": "veritrail.dialogue/1",
    "dialogue_id": "d",
    "documents": [{"document_id": "hours", "text": "The museum is closed on Mondays."}],
    "turns": [
        {"turn_id": "t1", "role": "user", "text": "When are you open?"},
        {"turn_id": "t2", "role": "assistant", "text": "Not on Mondays.", "documents": ["hours"]},
        {"turn_id": "t3", "role": "assistant", "text": "I love trams."},
    ],
}


def turn(**values: Any) -> dict[str, Any]:
    return {"turn": {"dialogue_id": "d", "turn_id": "t2", "label": "VERIFIED", **values}}


def written(folder: Path, *lines: Any) -> Path:
    path = folder / "gold.jsonl"
    texts = (one if isinstance(one, str) else json.dumps(one) for one in lines)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def faults(folder: Path, *lines: Any) -> list[tuple[str, str, str]]:
    with pytest.raises(InputError) as found:
        read_gold(written(folder, *lines))
    return [(one.kind, one.where, one.message) for one in found.value.violations]


@pytest.mark.parametrize("name", ["gold.jsonl", "gold.jsonl.gz"])
def test_what_is_written_is_read_again(name: str, tmp_path: Path) -> None:
    claims = (LabelledTurnClaim(claim="Closed on Mondays.", category=ClaimCategory.VERIFIED),)
    said = TurnAnnotation(annotator="a", label=DialogueLabel.VERIFIED, claims=claims, notes="Ja.")
    turns = (
        LabelledTurn(
            dialogue_id="d", turn_id="t2", label=DialogueLabel.VERIFIED, labels=(said,),
            claims=claims, holds={ClaimCategory.ABSTENTION: False},
        ),
        LabelledTurn(dialogue_id="d", turn_id="t3", claims=()),
    )  # fmt: skip
    gold = DialogueGold(
        {"d": read_gold(written(tmp_path, {"dialogue": DIALOGUE}, turn())).dialogues["d"]}, turns
    )
    path = tmp_path / name
    write_gold(gold, path)
    assert read_gold(path) == gold
    backward = DialogueGold(gold.dialogues, turns[::-1])
    assert backward.by_dialogue() == {"d": list(turns)}


def test_the_label_of_annotators_follows_from_their_claims_and_may_be_another_one() -> None:
    def consensus(*categories: ClaimCategory) -> DialogueLabel | None:
        claims = tuple(LabelledTurnClaim(claim="c", category=one) for one in categories)
        known = LabelledTurn(
            dialogue_id="d", turn_id="t", label=DialogueLabel.VERIFIED, claims=claims
        )
        return known.consensus

    assert consensus(ClaimCategory.VERIFIED) is DialogueLabel.VERIFIED
    assert consensus() is DialogueLabel.VERIFIED
    for category in set(ClaimCategory) - {ClaimCategory.VERIFIED}:
        assert consensus(ClaimCategory.VERIFIED, category) is DialogueLabel.UNVERIFIABLE
    assert LabelledTurn(dialogue_id="d", turn_id="t").consensus is None


def test_every_fault_is_named_with_its_line_and_key(tmp_path: Path) -> None:
    found = faults(
        tmp_path,
        {"dialogue": DIALOGUE},
        turn(),
        turn(),
        turn(turn_id="t3", label="TRUE"),
        {"turn": {"dialogue_id": "d", "label": "VERIFIED"}},
        turn(turn_id="t1"),
        turn(turn_id="t9"),
        turn(dialogue_id="e"),
        turn(turn_id="t3", labl="VERIFIED"),
        turn(turn_id="t3", claims=[{"claim": "c", "category": "FALSE"}]),
        {"turn": {"dialogue_id": "d", "turn_id": "t3"}},
        {"dialogue": DIALOGUE},
        {"dialogue": {**DIALOGUE, "dialogue_id": "f", "turns": []}},
        {"dialogue": {key: one for key, one in DIALOGUE.items() if key != "dialogue_id"}},
        {"claim": {}},
        "[1]",
        "{",
        turn(turn_id="t3", labels=[{"annotator": "a"}, {"annotator": "a"}]),
    )
    by_line = {where.split(":")[0].split()[1]: (kind, message) for kind, where, message in found}
    kinds = {line: kind for line, (kind, _) in by_line.items()}
    assert kinds == {
        "3": "duplicate_turn_id", "4": "unknown_label", "5": "missing_key",
        "6": "not_the_assistants_turn", "7": "unknown_turn", "8": "unknown_dialogue",
        "9": "unknown_key", "10": "unknown_word", "11": "no_label", "12": "duplicate_dialogue_id",
        "13": "no_turns", "14": "missing_key", "15": "unknown_key", "16": "wrong_type",
        "17": "not_json", "18": "duplicate_annotator",
    }  # fmt: skip
    assert [*kinds] == [str(number) for number in range(3, 19)]
    assert "line 2" in by_line["3"][1]
    assert by_line["4"][1] == "label must be one of VERIFIED, UNVERIFIABLE"
    assert "'turn_id'" in by_line["5"][1]
    assert by_line["10"][1].startswith("claims.0.category must be one of VERIFIED, OUT_OF_SCOPE")


def test_a_file_without_labelled_turns_is_refused(tmp_path: Path) -> None:
    assert faults(tmp_path, {"dialogue": DIALOGUE})[0][0] == "no_turns"
    assert faults(tmp_path)[0][0] == "no_turns"
    with pytest.raises(InputError, match="no such file"):
        read_gold(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="is a folder"):
        read_gold(tmp_path)


def test_the_page_shows_a_file_that_is_read(tmp_path: Path) -> None:
    page = Path(__file__).resolve().parents[3] / "docs" / "evaluation-figures.md"
    part = page.read_text(encoding="utf-8").partition("\n## Labelled turns of dialogues\n")[2]
    shown = part.split("```json\n")[1].split("```")[0]
    gold = read_gold(written(tmp_path, *shown.splitlines()))
    assert [one.label for one in gold.turns] == [DialogueLabel.UNVERIFIABLE]
    assert set(LabelledTurn.model_fields) <= set(shown.split('"'))


def test_turns_are_drawn_by_dialogue_and_the_same_with_the_same_seed() -> None:
    dialogues = {
        f"d{number}": read_dialogue({**DIALOGUE, "dialogue_id": f"d{number}"}, "")
        for number in range(9)
    }
    turns = tuple(
        LabelledTurn(dialogue_id=name, turn_id=turn_id, label=DialogueLabel.VERIFIED)
        for name in dialogues
        for turn_id in ("t2", "t3")
    )
    whole = DialogueSet("set", DialogueGold(dialogues, turns), "", "", ())

    def drawn(seed: int, count: int = 7) -> list[tuple[str, str]]:
        found = TurnSample(count, seed).drawn(whole).gold
        assert set(found.dialogues) == {one.dialogue_id for one in found.turns}
        return [one.key for one in found.turns]

    assert len(drawn(0)) == 7
    # Three whole dialogues, and the first turn of a fourth one.
    per_dialogue = Counter(name for name, _ in drawn(0))
    assert sorted(per_dialogue.values()) == [1, 2, 2, 2]
    (cut,) = (name for name, count in per_dialogue.items() if count == 1)
    assert (cut, "t2") in drawn(0)
    assert drawn(1) == drawn(1) != drawn(0)
    with pytest.raises(InputError, match="18 labelled turns"):
        drawn(0, 19)
