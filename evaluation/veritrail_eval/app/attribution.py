"""Figures of attributions: how right they are, what became of corrections, how readers did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veritrail_eval.attribution import tables
from veritrail_eval.attribution.reading import read_attributions
from veritrail_graph.graph.errors import InputError, shown

if TYPE_CHECKING:
    from veritrail_eval.attribution.corrections import CorrectionScore
    from veritrail_eval.attribution.linked import LinkAnalysis
    from veritrail_eval.attribution.model import AttributionFile
    from veritrail_eval.attribution.score import AttributionScore
    from veritrail_eval.attribution.study import StudyScore
    from veritrail_eval.figures.options import Resampling

FEW = 3
"""Ids that a note names."""


@dataclass(frozen=True, slots=True)
class ScoredAttributions:
    """The scores of attributions.

    Attributes:
        score: The figures.
        analysis: What faithful and unfaithful sentences rest on, where it was asked for.
        document: All figures as JSON.
        notes: What a person should know before trusting them.
    """

    score: AttributionScore
    analysis: LinkAnalysis | None
    document: dict[str, Any]
    notes: Sequence[str]

    def write(self, folder: Path) -> list[Path]:
        """Write the figures, and those of each sentence, as CSV, and a plot of the analysis.

        Raises:
            InputError: They cannot be written.
        """
        return tables.write_tables(folder, self.score, self.analysis, self.document)


def score_attributions(
    gold: Path,
    predicted: Path,
    how: Resampling,
    *,
    compare: Path | None = None,
    annotators: Sequence[Path] = (),
    sources: Path | None = None,
    unfaithful: bool = False,
    labels: bool = False,
    linked: bool = False,
    with_intervals: bool = False,
) -> ScoredAttributions:
    """Score attributions of sentences to source sentences.

    Raises:
        InputError: A file cannot be used.
    """
    from veritrail_eval.attribution.annotators import agreement_of_annotators
    from veritrail_eval.attribution.judges import label_scores
    from veritrail_eval.attribution.linked import LinkAnalysis, refuse_other_splits
    from veritrail_eval.attribution.score import AttributionScore
    from veritrail_eval.attribution.significance import comparison
    from veritrail_eval.attribution.sources import read_sources

    texts = None if sources is None else read_sources(sources)
    right = read_attributions(gold)
    scored = read_attributions(predicted).named_as(right)
    if not right.sentences:
        raise InputError(f"{gold} holds no sentence with an attribution.")
    found = AttributionScore(right, scored, texts)
    document = found.as_json(how if with_intervals else None)
    if unfaithful:
        document["unfaithful"] = found.on_unfaithful()
    if labels:
        document["labels"] = {
            name: one.as_json() for name, one in label_scores(right, scored).items()
        }
    analysis = None
    if linked and texts is not None:
        refuse_other_splits(gold, right, texts)
        analysis = LinkAnalysis.of(right, texts)
        document["linked"] = analysis.as_json()
    notes = [*_notes_on_gold(right, gold), *_notes(found, gold, predicted)]
    if compare is not None:
        other = AttributionScore(right, read_attributions(compare).named_as(right), texts)
        document["comparison"] = comparison(found, other, how)
        notes += _notes(other, gold, compare)
    if annotators:
        files = [gold, predicted, *annotators]
        if len({str(one) for one in files}) < len(files):
            raise InputError("--annotator: name each file once, GOLD and PREDICTED included.")
        more = [read_attributions(one).named_as(right) for one in annotators]
        named = dict(zip(map(str, files), (right, scored, *more), strict=True))
        document["annotators"] = agreement_of_annotators(named, texts)
    return ScoredAttributions(found, analysis, document, notes)


def compare_corrections(
    files: Sequence[Path], ranks: int, folder: Path | None = None
) -> tuple[list[CorrectionScore], list[str], list[Path]]:
    """Compare corrections by what the corrector saw.

    Returns:
        The figures of each model and mode, the sentences without a correction, the written files.

    Raises:
        InputError: A file cannot be used.
    """
    from veritrail_eval.attribution.corrections import (
        missing_corrections,
        read_corrections,
        scores,
    )

    found, missing = scores(read_corrections(files)), missing_corrections(files)
    written = [] if folder is None else tables.write_corrections(folder, found, ranks)
    return found, missing, written


def score_study(
    answers: Sequence[Path], gold: Path | None = None, folder: Path | None = None
) -> tuple[StudyScore, list[Path]]:
    """Compare readers who saw sources plain and highlighted.

    Returns:
        The figures, and the written files.

    Raises:
        InputError: A file cannot be used.
    """
    from veritrail_eval.attribution.study import read_answers, study_score

    right = None if gold is None else read_attributions(gold)
    found = study_score(read_answers(answers, right), has_gold=gold is not None)
    return found, [] if folder is None else tables.write_study(folder, found)


def _notes_on_gold(right: AttributionFile, gold: Path) -> Iterator[str]:
    yield from right.notes
    if right.failed:
        yield f"{gold}: {_some(right.failed)} failed and are left out."


def _notes(found: AttributionScore, gold: Path, predicted: Path) -> Iterator[str]:
    """Yield what a person should know before trusting the figures."""
    from veritrail_eval.attribution.content_words import unlike_passages

    right, scored = found.gold, found.predicted
    yield from scored.notes
    if found.missing:
        yield (
            f"{predicted} lacks {_some(found.missing)} of {gold}; they count as attributed to "
            f"nothing.{_because_failed(scored, found.missing)}"
        )
    if more := [name for name in scored.sentences if name not in right.sentences]:
        yield f"{predicted}: {_some(more)} are not in {gold} and are left out."
    compared, common = found.categories.sentences, len(right.sentences) - len(found.missing)
    if 0 < compared < common:
        yield (
            f"kappa_categories is over {compared:,} of {common:,} sentences: the others have no "
            f"categories in {gold} or {predicted}."
        )
    if unlike := unlike_passages(right, scored):
        node_id, sentence = unlike[0]
        yield (
            f"{len(unlike)} source sentence(s) have other texts in {gold} and {predicted}, such as "
            f"sentence {sentence} of {shown(node_id)}: the sources were split in another way, so "
            "that precision and recall compare different sentences."
        )


def _some(names: Sequence[str]) -> str:
    first = ", ".join(shown(name) for name in names[:FEW])
    return f"{len(names):,} sentence(s) ({first}{', …' if len(names) > FEW else ''})"


def _because_failed(scored: AttributionFile, missing: list[str]) -> str:
    count = len(set(scored.failed) & set(missing))
    return f" {count:,} of them failed." if count else ""
