"""CoCoNot: requests that a model answered, or did not answer.

Source: Brahman et al. 2024, "The Art of Saying No: Contextual Noncompliance in Language Models";
VISTA 7.1 (which of them, and how many).
"""

from __future__ import annotations

from pathlib import Path

from veritrail_eval.datasets.loaders.building import Filled, RowModel
from veritrail_eval.datasets.loaders.detecting import keys_of, table_files
from veritrail_eval.dialogues.loaders.building import (
    DialogueBuilding,
    DialogueSet,
    Said,
)
from veritrail_graph.graph.model.dialogue import ClaimCategory

LEFT_OUT = ("incomplete", "indeterminate")
"""What categories begin with whose answers correct a request, and abstain from nothing. 7.1, G.3"""
_KEYS = frozenset({"id", "category", "prompt"})


class _Row(RowModel):
    id: Filled
    category: Filled
    prompt: Filled


class _Original(_Row):
    response: str


class _Preference(_Row):
    chosen: str


Found = tuple[str, _Row, str]
"""Place, row and answer."""


class CoCoNotLoader:
    """Reads answers of CoCoNot: of the original set, and those chosen in the preference data."""

    name = "coconot"
    description = "CoCoNot: answers that comply, and answers that abstain, 250 of each"
    layout = "a folder of coconot_train.jsonl (original) and coconot_pref.jsonl, or their parquet"
    source = "huggingface.co/datasets/allenai/coconot; github.com/allenai/noncompliance, data"

    def detect(self, path: Path) -> str | None:
        """By the keys of either set."""
        reason = "no table in the folder"
        for one in table_files(path):
            keys = keys_of(one) or frozenset()
            if keys >= _KEYS and keys & {"response", "chosen"}:
                return None
            reason = f"{one.name} lacks the keys id, category, prompt, or response or chosen"
        return reason

    def load(self, path: Path, *, skip_bad: bool = False) -> DialogueSet:
        """Read it; each row is a dialogue of a request and its answer, without a document.

        Raises:
            InputError: It cannot be read; the message names the row and the key.
        """
        building = DialogueBuilding(path, self.name, skip_bad=skip_bad)
        pools: dict[bool, list[Found]] = {True: [], False: []}
        for table in table_files(path):
            if "chosen" in (keys_of(table) or ()):
                for where, chosen in building.rows(table, _Preference):
                    _pool(building, pools[False], where, chosen, chosen.chosen)
                continue
            for where, original in building.rows(table, _Original):
                _pool(building, pools[True], where, original, original.response)
        building.refuse_faults()
        for abstains, rows in pools.items():
            words = "answer that abstains" if abstains else "answer that complies"
            for where, row, answer in building.sample(rows, words) if rows else ():
                said = [
                    Said(row.prompt, is_assistant=False),
                    Said(
                        answer,
                        is_assistant=True,
                        holds={ClaimCategory.ABSTENTION: abstains},
                        metadata={"category": row.category},
                    ),
                ]
                building.dialogue(f"coconot-{row.id}", said, where)
            if not rows:
                building.count(f"{words}: there is none; see docs/datasets.md for the files")
        return building.finish(
            "CoCoNot",
            description="Requests with answers that comply or abstain; no documents, no history.",
            licence="ODC-BY 1.0 (Hugging Face); MIT (GitHub)",
        )


def _pool(
    building: DialogueBuilding, pool: list[Found], where: str, row: _Row, answer: str
) -> None:
    if row.category.casefold().startswith(LEFT_OUT):
        building.count(f"category {row.category}: left out")
    elif not answer.strip():
        building.count("request without an answer: left out")
    else:
        pool.append((where, row, answer))
