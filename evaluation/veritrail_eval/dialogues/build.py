"""Making a file of dialogues with labelled turns from files in any format that a loader reads.

Source: ours (docs/datasets.md).
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from veritrail_eval.dialogues.gold import DialogueGold, LabelledTurn, TurnKey, write_gold
from veritrail_eval.dialogues.loaders.building import DialogueSet
from veritrail_eval.dialogues.loading import DialogueLoader
from veritrail_eval.whole_file import refuse_overwriting
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.dialogue import DialogueLabel

NO_LABEL = "none"
"""What turns without a label are counted under."""


@dataclass(frozen=True, slots=True)
class BuiltDialogues:
    """The result of making a file of dialogues.

    Attributes:
        output: The file that was written.
        format_name: Name of the format that was read.
        dataset: What was written.
    """

    output: Path
    format_name: str
    dataset: DialogueSet

    @property
    def labels(self) -> dict[str, int]:
        """Return how many turns have each label; every label is there."""
        found = Counter(turn.label or NO_LABEL for turn in self.dataset.gold.turns)
        return {label: found[label] for label in (*map(str, DialogueLabel), NO_LABEL)}

    def json_object(self) -> dict[str, Any]:
        """Return what was read, as JSON."""
        turns = self.dataset.gold.turns
        holds = Counter(
            (str(category), holds) for turn in turns for category, holds in turn.holds.items()
        )
        return {
            "output": str(self.output),
            "format": self.format_name,
            "name": self.dataset.name,
            "licence": self.dataset.licence,
            "dialogues": len(self.dataset.gold.dialogues),
            "turns": len(turns),
            "labels": self.labels,
            "holds": {
                category: {"yes": holds[category, True], "no": holds[category, False]}
                for category in sorted({category for category, _ in holds})
            },
            "turns_with_claims": sum(turn.claims is not None for turn in turns),
            "claims": sum(len(turn.claims or ()) for turn in turns),
            "remarks": list(self.dataset.remarks),
        }


@dataclass(frozen=True, slots=True)
class TurnSample:
    """A number of labelled turns that are drawn.

    Attributes:
        count: How many.
        seed: The same seed draws the same turns.
    """

    count: int
    seed: int = 0

    def drawn(self, dataset: DialogueSet) -> DialogueSet:
        """The dialogues with as many labelled turns.

        Dialogues are drawn at random, each with all of its labelled turns, so that what was said
        before is labelled, too; of the last one the first turns are taken, as many as are wanted.

        Raises:
            InputError: There are fewer.

        Source: VISTA 4.1 (samples of 500, 500, 639 and 2,229 turns).
        """
        gold = dataset.gold
        if self.count > len(gold.turns):
            raise InputError(
                f"{dataset.name} has {len(gold.turns):,} labelled turns; --sample {self.count:,} "
                "asks for more."
            )
        by_dialogue = gold.by_dialogue()
        names = sorted(by_dialogue)
        random.Random(f"{self.seed}/turns").shuffle(names)  # noqa: S311  # a sample, no secret
        kept: dict[TurnKey, LabelledTurn] = {}
        for name in names:
            left = self.count - len(kept)
            kept.update((turn.key, turn) for turn in by_dialogue[name][:left])
        dialogues = {turn.dialogue_id for turn in kept.values()}
        return replace(
            dataset,
            gold=DialogueGold(
                {name: one for name, one in gold.dialogues.items() if name in dialogues},
                tuple(turn for turn in gold.turns if turn.key in kept),
            ),
            remarks=(
                *dataset.remarks,
                f"{self.count:,} of {len(gold.turns):,} labelled turns were drawn, seed "
                f"{self.seed}",
            ),
        )


def build_dialogues(
    loader: DialogueLoader,
    path: Path,
    output: Path,
    *,
    skip_bad: bool = False,
    sample: TurnSample | None = None,
) -> BuiltDialogues:
    """Read dialogues with labelled turns, and write them.

    Args:
        loader: Reads them.
        path: A file or a folder.
        output: The file to write; gzipped where its name ends in `.gz`.
        skip_bad: Whether rows that break rules are left out and counted.
        sample: How many labelled turns are drawn; None: all are taken.

    Raises:
        InputError: They cannot be read, or break rules; nothing is written then.
    """
    refuse_overwriting([output], [path])
    dataset = loader.load(path, skip_bad=skip_bad)
    if sample is not None:
        dataset = sample.drawn(dataset)
    write_gold(dataset.gold, output)
    return BuiltDialogues(output, loader.name, dataset)
