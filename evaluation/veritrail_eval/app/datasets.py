"""Data sets: made from files and decisions of people, labelled by annotators, cut into pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_eval.annotation.grouping import Grouping
    from veritrail_eval.annotation.reading import ReadSheets
    from veritrail_eval.annotation.writing import WrittenSheets
    from veritrail_eval.attribution.unattributed import Unattributed
    from veritrail_eval.datasets.build import Built
    from veritrail_eval.datasets.model import LabelledClaim
    from veritrail_eval.dialogues.build import BuiltDialogues
    from veritrail_eval.dialogues.consensus import Consensus
    from veritrail_eval.dialogues.gold import DialogueGold, LabelledTurn
    from veritrail_eval.dialogues.sheets import WrittenDialogues
    from veritrail_eval.dialogues.sheets_back import DialoguesBack
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.model import Usage, Verdict


def build_dataset(
    source: Path,
    output: Path,
    *,
    format_name: str | None = None,
    skip_bad: bool = False,
    sample: int | None = None,
    seed: int = 0,
    questions: Path | None = None,
    on_process: Callable[[int, int], None] = lambda _done, _of: None,
) -> Built | BuiltDialogues:
    """Make a data set of labelled claims, or of dialogues with labelled turns.

    Args:
        source: A file or a folder.
        output: The file to write.
        format_name: The format; None: it is detected.
        skip_bad: Whether bad rows are left out and counted.
        sample: Labelled turns that are drawn; None: all are taken.
        seed: The same seed draws the same turns.
        questions: A table of questions with their documents, which claims are to name.
        on_process: Told how many processes are checked, of how many.

    Raises:
        InputError: The source cannot be used; of no known format, it says why for each.
    """
    from veritrail_eval.building.stories import questions_in, with_documents
    from veritrail_eval.datasets.build import build_from
    from veritrail_eval.datasets.loading import NO_FORMAT
    from veritrail_eval.dialogues.build import TurnSample, build_dialogues
    from veritrail_eval.dialogues.gold import is_gold
    from veritrail_eval.dialogues.loading import loader_of, reasons_against

    about = [] if questions is None else questions_in(questions)
    dialogues = loader_of(source, format_name)
    if dialogues is not None and questions is not None:
        raise InputError(f"--questions is about claims, and {source} holds dialogues.")
    if dialogues is not None:
        drawn = None if sample is None else TurnSample(sample, seed)
        return build_dialogues(dialogues, source, output, skip_bad=skip_bad, sample=drawn)
    if sample is not None and is_gold(source):
        raise InputError(
            f"{source} is a file of labelled turns already; --sample draws while a benchmark is "
            "read: name the benchmark that it was built from."
        )
    if sample is not None and source.exists():
        raise InputError(
            f"--sample draws labelled turns of dialogues, and {source} holds none. Of claims a "
            'matrix draws: sample = { by = "claim", count = 100 } in its [[dataset]].'
        )
    try:
        return build_from(
            source,
            output,
            format_name=format_name,
            skip_bad=skip_bad,
            amend=None if questions is None else partial(with_documents, questions=about),
            on_process=on_process,
        )
    except InputError as error:
        if error.code != NO_FORMAT:
            raise
        raise InputError("\n".join([str(error), *reasons_against(source)])) from None


def known_formats() -> list[dict[str, str]]:
    """The formats of labelled dialogues and of data sets: name, what is read, files, source."""
    from veritrail_eval.datasets.loading import loaders
    from veritrail_eval.dialogues.loading import loaders as dialogue_loaders

    keys = ("name", "description", "layout", "source")
    every = [*dialogue_loaders(), *loaders()]
    return [{key: getattr(one, key, "") for key in keys} for one in every]


def write_sentences(dataset: Path, output: Path, format_name: str | None = None) -> Unattributed:
    """Write the labelled sentences of a data set as JSON Lines, to be attributed.

    Raises:
        InputError: The data set cannot be read, or the file not be written.
    """
    from veritrail_eval.attribution.unattributed import unattributed
    from veritrail_eval.datasets.loading import load_dataset
    from veritrail_eval.whole_file import write_json_lines

    found = unattributed(load_dataset(dataset, format_name=format_name))
    write_json_lines(output, found.lines)
    return found


def named_texts(sources: Sequence[Path]) -> dict[str, str]:
    """The texts of files by the names of the files.

    Raises:
        InputError: One cannot be read, or two have one name.
    """
    from veritrail_graph.graph.importers.plain import read_text

    found: dict[str, str] = {}
    for path in sources:
        if path.stem in found:
            raise InputError(f"{path}: another source is named {path.stem!r}; rename one.")
        found[path.stem] = read_text(path)
    return found


def chunk_texts(
    sources: Sequence[Path], output: Path, size: int, overlap: int, encoding: str
) -> tuple[int, int]:
    """Write texts as chunks, in JSON Lines; give the number of texts and of chunks.

    Raises:
        InputError: A text cannot be read, or the file not be written.
    """
    from veritrail_eval.building.chunks import Encoding, token_chunks
    from veritrail_eval.whole_file import refuse_overwriting, write_json_lines

    refuse_overwriting([output], sources)
    tokenizer, texts = Encoding(encoding), named_texts(sources)
    lines = [
        {
            "document": name,
            "chunk": number,
            "start": one.start,
            "end": one.end,
            "tokens": one.tokens,
            "text": text[one.start : one.end],
        }
        for name, text in texts.items()
        for number, one in enumerate(token_chunks(text, size, overlap, encoding=tokenizer))
    ]
    write_json_lines(output, lines)
    return len(texts), len(lines)


def accept_matches(dataset: Path, accepted: Path, output: Path) -> int:
    """Write a data set with labels of the matches that a person accepted; give their number.

    Raises:
        InputError: A file cannot be used.
    """
    from veritrail_eval.building import matching
    from veritrail_eval.datasets.dataset_file import write_dataset
    from veritrail_eval.datasets.loading import load_unlabelled

    loaded = load_unlabelled(dataset)
    keys = matching.read_accepted(accepted, loaded, as_labels=True)
    write_dataset(replace(loaded, claims=matching.with_matches(loaded, keys)), output)
    return len(keys)


def matches_and_labels(dataset: Path, accepted: Path) -> dict[str, Any]:
    """Return how far labels agree with the matches that a person accepted.

    Raises:
        InputError: A file cannot be used.
    """
    from veritrail_eval.building import matching
    from veritrail_eval.datasets.loading import load_unlabelled

    loaded = load_unlabelled(dataset)
    return matching.alignment(loaded, matching.read_accepted(accepted, loaded))


def list_duplicates(dataset: Path, output: Path) -> tuple[int, int]:
    """Write a table of claims that say nearly the same; give the number of claims and of these.

    Raises:
        InputError: A file cannot be used.
    """
    from veritrail_eval.building.duplicates import write_duplicates
    from veritrail_eval.datasets.loading import load_unlabelled

    loaded = load_unlabelled(dataset)
    return len(loaded.claims), write_duplicates(loaded, output)


def remove_duplicates(dataset: Path, accepted: Path, output: Path) -> tuple[int, int]:
    """Write a data set without the claims that a person marked; give those kept and removed.

    Raises:
        InputError: A file cannot be used.
    """
    from veritrail_eval.building import matching
    from veritrail_eval.datasets.dataset_file import write_dataset
    from veritrail_eval.datasets.loading import load_unlabelled

    loaded = load_unlabelled(dataset)
    keys = matching.read_accepted(accepted, loaded, "remove")
    kept = tuple(one for one in loaded.claims if one.key not in keys)
    write_dataset(replace(loaded, claims=kept), output)
    return len(kept), len(keys)


def keep_questions(table: Path, output: Path, sample: int | None = None, seed: int = 0) -> int:
    """Write a table of the questions that a person kept; give their number.

    Args:
        table: The reviewed table.
        output: The table to write.
        sample: Questions that are drawn, each from another story; None: all are kept.
        seed: The same seed draws the same questions.

    Raises:
        InputError: A file cannot be used, none is kept, or there are fewer stories.
    """
    from veritrail_eval.building.questions import read_kept
    from veritrail_eval.building.review import write_review
    from veritrail_eval.building.stories import drawn

    kept = read_kept(table)
    if sample is not None:
        kept = drawn(kept, sample, seed)
    has_story = any(one.story or one.documents for one in kept)
    columns = ("question", "story", "documents") if has_story else ("question",)
    rows = (one.cells() for one in kept)
    write_review(output, columns, ({name: one[name] for name in columns} for one in rows))
    return len(kept)


def holds_dialogues(path: Path) -> bool:
    """Return whether a file holds dialogues, and not a data set of claims."""
    from veritrail_eval.dialogues.sheets import is_dialogues

    return is_dialogues(path)


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
    from veritrail_eval.annotation import writing
    from veritrail_eval.datasets.loading import load_unlabelled

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
        from veritrail_eval.annotation.final_labels import UNRESOLVED, verdict_counts

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
    from veritrail_eval.annotation import reading
    from veritrail_eval.annotation.final_labels import read_decisions, settled
    from veritrail_eval.datasets.dataset_file import write_dataset
    from veritrail_eval.datasets.loading import load_unlabelled

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
    from veritrail_eval.dialogues import sheets as of_dialogues
    from veritrail_eval.dialogues.predicted import read_predicted

    gold = of_dialogues.read_turns(dialogues)
    known = {} if proposed is None else dict(read_predicted(proposed, gold).turns)
    texts = {key: [one.claim for one in turn.claims] for key, turn in known.items()}
    return of_dialogues.write_dialogue_sheets(
        gold, dialogues.name, output, annotators, proposed=texts, with_labelled=with_labelled
    )


@dataclass(frozen=True, slots=True)
class TurnsRead:
    """The labels of annotators for turns, read from their sheets.

    Attributes:
        sheets: What came back.
        found: What they agree on.
        turns: The labelled turns that were written.
        matching: How claims were found to be the same.
        usage: What that cost.
    """

    sheets: DialoguesBack
    found: Consensus
    turns: Sequence[LabelledTurn]
    matching: str
    usage: Usage


async def read_turn_sheets(
    settings: Settings,
    dialogues: Path,
    output: Path,
    sheets: Path | None,
    decisions: Path | None,
    embedding: str | None = None,
    *,
    is_partial: bool,
) -> TurnsRead:
    """Put what annotators said, and decisions, into a file of labelled turns.

    Args:
        settings: The settings.
        dialogues: The dialogues, or their labelled turns.
        output: The file to write.
        sheets: The folder of the sheets that came back; None: there are none.
        decisions: A table of decisions about claims; None: there is none.
        embedding: The model that finds reworded claims; None: claims of equal text are the same.
        is_partial: Turns that are not finished, and missing files, are counted, and no fault.

    Raises:
        VeriTrailError: A file or the model cannot be used, or no turn has a label.
    """
    from veritrail_eval.app.dialogues import claim_matcher
    from veritrail_eval.app.resources import shared_within
    from veritrail_eval.dialogues import consensus

    _refuse_folder(output)
    back, merged = _annotated(dialogues, sheets, is_partial=is_partial)
    decided = {} if decisions is None else consensus.read_turn_decisions(decisions, merged)
    texts, shared = consensus.annotated_claims(merged), shared_within(None, None)
    matcher, usage = await claim_matcher(settings, embedding, texts, True, shared)
    found = consensus.agreed_on(merged, decided, matcher)
    said = _write_turns(found.gold, output)
    return TurnsRead(back, found, said, matcher.words, usage)


def _refuse_folder(output: Path) -> None:
    if output.is_dir():
        raise InputError(f"{output} is a folder; name the file of labelled turns to write.")


def _annotated(
    dialogues: Path, sheets: Path | None, *, is_partial: bool
) -> tuple[DialoguesBack, DialogueGold]:
    """Return what came back, and the turns with it."""
    from veritrail_eval.dialogues import sheets as of_dialogues
    from veritrail_eval.dialogues.sheets_back import (
        DialoguesBack,
        read_dialogue_sheets,
        with_annotations,
    )

    gold, back = of_dialogues.read_turns(dialogues), DialoguesBack()
    if sheets is not None:
        back = read_dialogue_sheets(gold, sheets, is_partial=is_partial)
    return back, with_annotations(gold, back.labels)


def _write_turns(gold: DialogueGold, output: Path) -> Sequence[LabelledTurn]:
    """Write the turns of which anything is said, and return them."""
    from veritrail_eval.dialogues.gold import write_gold

    said = tuple(
        one
        for one in gold.turns
        if one.labels or one.label is not None or one.holds or one.claims is not None
    )
    if not said:
        raise InputError("No turn has a label yet; nothing was written.")
    write_gold(replace(gold, turns=said), output)
    return said
