"""RGM-Contradictions: answers of dialogue models that contradict what they said before, or do not.

Source: Sato et al. 2024, "A Large Collection of Model-generated Contradictory Responses for
Consistency-aware Dialogue Systems"; VISTA 7.2 (how many).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import Field

from veritrail_eval.datasets.loaders.building import RowModel
from veritrail_eval.datasets.loaders.detecting import (
    stem_of,
    table_files,
    why_no_tables,
)
from veritrail_eval.dialogues.loaders.building import (
    DialogueBuilding,
    DialogueSet,
    Said,
)
from veritrail_graph.graph.model.dialogue import ClaimCategory

ANNOTATORS, MAJORITY = 3, 2
_KEYS = ("utterances", "speakers", "annotation_target_pair", "contradictory_label_count")
_PLACEHOLDER = re.compile(r"\[\[[^\[\]]*\]\]")


class _Row(RowModel):
    utterances: Annotated[list[str], Field(min_length=2)]
    speakers: list[str]
    annotation_target_pair: Annotated[list[int], Field(min_length=2, max_length=2)]
    rgm_name: str | None = None
    contradictory_label_count: Annotated[int, Field(ge=0, le=ANNOTATORS)]


class RgmLoader:
    """Reads the files that the data set's own script builds."""

    name = "rgm-contradictions"
    description = "RGM-Contradictions: answers that contradict the speaker, and others, 250 of each"
    layout = "indomain_test_MODEL.jsonl and others that build_dataset.py writes, or a folder"
    source = "github.com/shiki-sato/rgm-contradiction, after build_dataset.py"

    def detect(self, path: Path) -> str | None:
        """By its keys."""
        return why_no_tables(path, _KEYS)

    def load(self, path: Path, *, skip_bad: bool = False) -> DialogueSet:
        """Read it; the last speaker is the assistant.

        Raises:
            InputError: It cannot be read; the message names the line and the key.
        """
        building = DialogueBuilding(path, self.name, skip_bad=skip_bad)
        pools: dict[bool, list[tuple[str, str, _Row]]] = {True: [], False: []}
        for table in table_files(path):
            for number, (where, row) in enumerate(building.rows(table, _Row), 1):
                if not _fits(building, row, where):
                    continue
                count = row.contradictory_label_count
                if 0 < count < MAJORITY:
                    building.count(
                        f"answer that {count} of {ANNOTATORS} annotators found contradictory: "
                        "left out"
                    )
                    continue
                pools[count >= MAJORITY].append((f"rgm-{stem_of(table)}-{number}", where, row))
        building.refuse_faults()
        for contradicts, rows in pools.items():
            words = "answer that contradicts" if contradicts else "answer that does not contradict"
            for key, where, row in building.sample(rows, words) if rows else ():
                building.dialogue(key, _said(row, contradicts=contradicts), where)
            if not rows:
                building.count(f"{words}: there is none")
        return building.finish(
            "RGM-Contradictions",
            description="Conversations whose last answer contradicts the speaker, or does not.",
            licence="CC BY 4.0 (contexts); the licence of each model (answers)",
        )


def _fits(building: DialogueBuilding, row: _Row, where: str) -> bool:
    """Return whether a row can be used; what is wrong with it, or left out, is noted."""
    last = len(row.utterances) - 1
    earlier, target = sorted(row.annotation_target_pair)
    if len(row.speakers) != len(row.utterances):
        message = f"has {len(row.speakers)} speakers for {len(row.utterances)} utterances"
        building.fault(where, "speakers", message)
    elif not 0 <= earlier < target == last:
        message = f"must name an earlier utterance and the last one, which is {last}"
        building.fault(where, "annotation_target_pair", message)
    elif _PLACEHOLDER.fullmatch(row.utterances[last].strip()):
        building.count("answer that is not in the file ([[…]]): left out")
    elif row.speakers[earlier] != row.speakers[last]:
        building.count("answer compared with what the other speaker said: left out")
    else:
        return True
    return False


def _said(row: _Row, *, contradicts: bool) -> list[Said]:
    assistant = row.speakers[-1]
    said = [
        Said(text, speaker == assistant)
        for text, speaker in zip(row.utterances[:-1], row.speakers, strict=False)
    ]
    about = {"annotators": row.contradictory_label_count}
    return [
        *said,
        Said(
            row.utterances[-1],
            is_assistant=True,
            holds={ClaimCategory.CONTRADICTED: contradicts},
            metadata={**about, **({"model": row.rgm_name} if row.rgm_name else {})},
        ),
    ]
