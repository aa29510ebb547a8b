"""Agreement of several annotators: the means over all pairs, and over all comparisons of them.

Source: Error-tolerant attribution 4.3 (IoU of content words, kappa of categories).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from veritrail_eval.attribution.agreement import CategoryAgreement
from veritrail_eval.attribution.model import AttributionFile
from veritrail_eval.attribution.score import AttributionScore
from veritrail_eval.attribution.sources import Sources
from veritrail_eval.figures.figure import Figure, mean, with_reasons

NO_PAIR = "no two annotators have this figure"


def agreement_of_annotators(
    files: Mapping[str, AttributionFile], sources: Sources | None = None
) -> dict[str, Any]:
    """The agreement of every two annotators on the sentences that both have, and the means.

    Each pair counts as much as another in a mean; `iou_by_comparison` is the mean over all
    comparisons, a pair and a sentence each, so that a pair with more sentences counts for more.

    Args:
        files: The attributions of each annotator, by name, with ids of one kind.
        sources: Texts of source sentences that no file gives.
    """
    pairs = []
    compared: list[float] = []
    found: dict[str, list[Figure]] = {"iou": [], "kappa_categories": [], "kappa_unfaithful": []}
    for first, second in combinations(files, 2):
        one, other = _on_common(files[first], files[second])
        score = AttributionScore(one, other, sources)
        if score.iou.value is not None:
            compared += [value for value in score.ious.values() if value is not None]
        figures = {
            "iou": score.iou,
            "kappa_categories": CategoryAgreement.of(one, other).kappa,
            "kappa_unfaithful": CategoryAgreement.on_unfaithful(one, other).kappa,
        }
        for name, figure in figures.items():
            found[name].append(figure)
        values = {name: figure.value for name, figure in figures.items()}
        pair = {"annotators": [first, second], "sentences": len(one.sentences), **values}
        pairs.append(with_reasons(pair, figures))
    means = {name: _mean(figures) for name, figures in found.items()}
    means["iou_by_comparison"] = mean(compared, NO_PAIR)
    document = {
        "annotators": len(files),
        "comparisons": len(compared),
        **{name: figure.value for name, figure in means.items()},
        "pairs": pairs,
    }
    return with_reasons(document, means)


def _on_common(
    first: AttributionFile, second: AttributionFile
) -> tuple[AttributionFile, AttributionFile]:
    """Both files with the sentences that both have."""
    names = [name for name in first.sentences if name in second.sentences]
    one, other = ({name: file.sentences[name] for name in names} for file in (first, second))
    return replace(first, sentences=one), replace(second, sentences=other)


def _mean(figures: Sequence[Figure]) -> Figure:
    """Return the mean of those that are known."""
    return mean((one.value for one in figures if one.value is not None), NO_PAIR)
