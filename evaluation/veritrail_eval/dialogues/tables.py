"""Write and read predictions for labelled turns: a table of turns, and the runs.

Source: ours.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from veritrail_eval.dialogues.gold import DialogueGold, TurnKey
from veritrail_eval.dialogues.predicted import PredictedTurns
from veritrail_eval.dialogues.score import label_of_turn
from veritrail_eval.whole_file import write_text_whole
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.exporters.cells import guarded
from veritrail_graph.graph.model.dialogue import DialogueLabel, DialogueRun

RUN = "evaluation"
"""The run_id of runs that are written: they are of no graph."""


def write_turns(
    folder: Path,
    gold: DialogueGold,
    labels: Mapping[TurnKey, DialogueLabel],
    predicted: Sequence[PredictedTurns],
) -> list[Path]:
    """Write `turns.csv`, and `METHOD.json` for each method.

    The latter are read again as a PREDICTED file.

    Args:
        folder: Where; it is made if need be, and files that were there are replaced.
        gold: The labelled turns.
        labels: Their labels.
        predicted: What methods say.

    Returns:
        The files.

    Raises:
        InputError: They cannot be written.
    """
    texts = {"turns.csv": _table(gold, labels, predicted)}
    for one in predicted:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", one.method)
        texts[f"{name}.json"] = json.dumps(_runs(gold, one), ensure_ascii=False, indent=1) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    for name, text in texts.items():
        write_text_whole(folder / name, text)
    return [folder / name for name in texts]


def _table(
    gold: DialogueGold,
    labels: Mapping[TurnKey, DialogueLabel],
    predicted: Sequence[PredictedTurns],
) -> str:
    """A row a labelled turn; the cell of a turn without an answer says why there is none."""
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    explaining = [one for one in predicted if one.reasons]
    table.writerow(
        ["dialogue_id", "turn_id", "label", *(guarded(one.method) for one in predicted)]
        + [f"{guarded(one.method)} reason" for one in explaining]
    )
    for turn in gold.turns:
        answers = []
        for one in predicted:
            found = one.turns.get(turn.key)
            status = "missing" if found is None else found.status.value
            answers.append(label_of_turn(found) or status)
        reasons = [guarded(one.reasons.get(turn.key, "")) for one in explaining]
        label = labels.get(turn.key, "")
        table.writerow([turn.dialogue_id, guarded(turn.turn_id), label, *answers, *reasons])
    return file.getvalue()


def _runs(gold: DialogueGold, predicted: PredictedTurns) -> dict[str, object]:
    """The runs, as `veritrail dialogue verify --json` prints those of several dialogues."""
    runs = []
    for name, dialogue in gold.dialogues.items():
        keys = [(name, turn.turn_id) for turn in dialogue.turns]
        turns = [predicted.turns[key] for key in keys if key in predicted.turns]
        if turns:
            run = DialogueRun.of_turns(
                turns,
                run_id=RUN,
                dialogue_id=name,
                engine=predicted.engine or predicted.method,
                model=predicted.model,
                indicative=predicted.indicative,
            )
            runs.append(run.json_object())
    return {"dialogues": runs}
