"""Data sets: made from files that people bring, labelled by annotators, cut into sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.evaluation.datasets.dataset_file import write_dataset
from veritrail_graph.evaluation.datasets.loading import load_dataset, load_unlabelled
from veritrail_graph.evaluation.dialogues import sheets as of_dialogues
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.evaluation.annotation.grouping import Grouping
    from veritrail_graph.evaluation.annotation.reading import ReadSheets
    from veritrail_graph.evaluation.annotation.writing import WrittenSheets
    from veritrail_graph.evaluation.attribution.unattributed import Unattributed
    from veritrail_graph.evaluation.datasets.build import Built
    from veritrail_graph.evaluation.datasets.model import LabelledClaim
    from veritrail_graph.evaluation.dialogues.build import BuiltDialogues
    from veritrail_graph.evaluation.dialogues.consensus import Consensus
    from veritrail_graph.evaluation.dialogues.gold import LabelledTurn
    from veritrail_graph.evaluation.dialogues.sheets import WrittenDialogues
    from veritrail_graph.evaluation.dialogues.sheets_back import DialoguesBack
    from veritrail_graph.graph.model import Verdict


def build_dataset(
    source: Path,
    output: Path,
    *,
    format_name: str | None = None,
    skip_bad: bool = False,
    on_process: Callable[[int, int], None] = lambda _done, _of: None,
) -> Built | BuiltDialogues:
    """Make a data set of labelled claims, or of dialogues with labelled turns.

    Raises:
        InputError: The source cannot be used; of no known format, it says why for each.
    """
    from veritrail_graph.evaluation.datasets.build import build_from
    from veritrail_graph.evaluation.datasets.loading import NO_FORMAT
    from veritrail_graph.evaluation.dialogues.build import build_dialogues
    from veritrail_graph.evaluation.dialogues.loading import loader_of, reasons_against

    dialogues = loader_of(source, format_name)
    if dialogues is not None:
        return build_dialogues(dialogues, source, output, skip_bad=skip_bad)
    try:
        return build_from(
            source, output, format_name=format_name, skip_bad=skip_bad, on_process=on_process
        )
    except InputError as error:
        if error.code != NO_FORMAT:
            raise
        raise InputError("\n".join([str(error), *reasons_against(source)])) from None


def known_formats() -> list[dict[str, str]]:
    """The formats of labelled dialogues and of data sets: name, what is read, files, source."""
    from veritrail_graph.evaluation.datasets.loading import loaders
    from veritrail_graph.evaluation.dialogues.loading import loaders as dialogue_loaders

    keys = ("name", "description", "layout", "source")
    every = [*dialogue_loaders(), *loaders()]
    return [{key: getattr(one, key, "") for key in keys} for one in every]


def write_sentences(dataset: Path, output: Path, format_name: str | None = None) -> Unattributed:
    """Write the labelled sentences of a data set as JSON Lines, to be attributed.

    Raises:
        InputError: The data set cannot be read, or the file not be written.
    """
    from veritrail_graph.evaluation.attribution.unattributed import unattributed
    from veritrail_graph.evaluation.whole_file import write_json_lines

    found = unattributed(load_dataset(dataset, format_name=format_name))
    write_json_lines(output, found.lines)
    return found


def holds_dialogues(path: Path) -> bool:
    """Whether a file holds dialogues, and not a data set of claims."""
    return of_dialogues.is_dialogues(path)


def write_sheets(
    dataset: Path,
    output: Path,
    annotators: Sequence[str],
    by: Grouping,
    *,
    with_labelled: bool,
    warn: Callable[[str], None],
) -> WrittenSheets:
    """Write sheets of claims for annotators.

    Raises:
        InputError: The data set cannot be used, or a sheet not be written.
    """
    from veritrail_graph.evaluation.annotation import writing

    loaded = load_unlabelled(dataset)
    for remark in loaded.remarks:
        warn(remark)
    return writing.write_sheets(loaded, output, annotators, by, with_labelled=with_labelled)


@dataclass(frozen=True, slots=True)
class LabelsRead:
    """Labels that came back, and the claims of the data set that was written."""

    sheets: ReadSheets
    claims: Sequence[LabelledClaim]

    @property
    def unresolved(self) -> list[tuple[LabelledClaim, Mapping[Verdict, int]]]:
        """Claims whose labels have no majority, and how many mean each verdict."""
        from veritrail_graph.evaluation.annotation.final_labels import UNRESOLVED, verdict_counts

        return [
            (one, verdict_counts(one.labels))
            for one in self.claims
            if one.label_origin == UNRESOLVED
        ]


def read_sheets(
    dataset: Path,
    output: Path,
    sheets: Path | None,
    decisions: Path | None,
    *,
    is_partial: bool,
    warn: Callable[[str], None],
) -> LabelsRead:
    """Put labels and decisions about claims into a data set.

    Raises:
        InputError: A file cannot be used.
    """
    from veritrail_graph.evaluation.annotation import reading
    from veritrail_graph.evaluation.annotation.final_labels import read_decisions, settled

    loaded = load_unlabelled(dataset)
    for remark in loaded.remarks:
        warn(remark)
    if output.is_dir():
        raise InputError(f"{output} is a folder; name the file of the data set to write.")
    came = reading.ReadSheets()
    if sheets is not None:
        came = reading.read_sheets(loaded, sheets, is_partial=is_partial)
    claims = [reading.with_labels(one, came.labels.get(one.key, ())) for one in loaded.claims]
    decided = {} if decisions is None else read_decisions(decisions, claims)
    final = tuple(settled(one, decided.get(one.key)) for one in claims)
    write_dataset(replace(loaded, claims=final), output)
    return LabelsRead(came, final)


def write_turn_sheets(
    dialogues: Path,
    output: Path,
    annotators: Sequence[str],
    proposed: Path | None,
    *,
    with_labelled: bool,
) -> WrittenDialogues:
    """Write sheets of turns for annotators.

    Raises:
        InputError: A file cannot be used.
    """
    from veritrail_graph.evaluation.dialogues.predicted import read_predicted

    gold = of_dialogues.read_turns(dialogues)
    known = {} if proposed is None else dict(read_predicted(proposed, gold).turns)
    texts = {key: [one.claim for one in turn.claims] for key, turn in known.items()}
    return of_dialogues.write_dialogue_sheets(
        gold, dialogues.name, output, annotators, proposed=texts, with_labelled=with_labelled
    )


@dataclass(frozen=True, slots=True)
class TurnsRead:
    """What annotators said of turns.

    Attributes:
        sheets: What came back.
        found: What they agree on.
        turns: The labelled turns that were written.
    """

    sheets: DialoguesBack
    found: Consensus
    turns: Sequence[LabelledTurn]


def read_turn_sheets(
    dialogues: Path, output: Path, sheets: Path | None, decisions: Path | None, *, is_partial: bool
) -> TurnsRead:
    """Put what annotators said, and decisions, into a file of labelled turns.

    Raises:
        InputError: A file cannot be used, or no turn has a label.
    """
    from veritrail_graph.evaluation.dialogues.consensus import agreed_on, read_turn_decisions
    from veritrail_graph.evaluation.dialogues.gold import DialogueGold, write_gold
    from veritrail_graph.evaluation.dialogues.sheets_back import (
        DialoguesBack,
        read_dialogue_sheets,
        with_annotations,
    )

    if output.is_dir():
        raise InputError(f"{output} is a folder; name the file of labelled turns to write.")
    gold, back = of_dialogues.read_turns(dialogues), DialoguesBack()
    if sheets is not None:
        back = read_dialogue_sheets(gold, sheets, is_partial=is_partial)
    merged = with_annotations(gold, back.labels)
    decided = {} if decisions is None else read_turn_decisions(decisions, merged)
    found = agreed_on(merged, decided)
    said = tuple(
        one
        for one in found.gold.turns
        if one.labels or one.label is not None or one.holds or one.claims is not None
    )
    if not said:
        raise InputError("No turn has a label yet; nothing was written.")
    write_gold(DialogueGold(found.gold.dialogues, said), output)
    return TurnsRead(back, found, said)
