"""Making a file of dialogues with labelled turns from files in any format that a loader reads.

Source: ours (docs/datasets.md).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veritrail_eval.dialogues.gold import write_gold
from veritrail_eval.dialogues.loaders.building import DialogueSet
from veritrail_eval.dialogues.loading import DialogueLoader
from veritrail_eval.whole_file import refuse_overwriting
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


def build_dialogues(
    loader: DialogueLoader, path: Path, output: Path, *, skip_bad: bool = False
) -> BuiltDialogues:
    """Read dialogues with labelled turns, and write them.

    Args:
        loader: Reads them.
        path: A file or a folder.
        output: The file to write; gzipped where its name ends in `.gz`.
        skip_bad: Whether rows that break rules are left out and counted.

    Raises:
        InputError: They cannot be read, or break rules; nothing is written then.
    """
    refuse_overwriting([output], [path])
    dataset = loader.load(path, skip_bad=skip_bad)
    write_gold(dataset.gold, output)
    return BuiltDialogues(output, loader.name, dataset)
