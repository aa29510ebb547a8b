"""Agreement of several annotators: the means over all pairs of them.

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

    Args:
        files: The attributions of each annotator, by name, with ids of one kind.
        sources: Texts of source sentences that no file gives.
    """
    pairs = []
    found: dict[str, list[Figure]] = {"iou": [], "kappa_categories": [], "kappa_unfaithful": []}
    for first, second in combinations(files, 2):
        one, other = _on_common(files[first], files[second])
        figures = {
            "iou": AttributionScore(one, other, sources).iou,
            "kappa_categories": CategoryAgreement.of(one, other).kappa,
            "kappa_unfaithful": CategoryAgreement.on_unfaithful(one, other).kappa,
        }
        for name, figure in figures.items():
            found[name].append(figure)
        values = {name: figure.value for name, figure in figures.items()}
        pair = {"annotators": [first, second], "sentences": len(one.sentences), **values}
        pairs.append(with_reasons(pair, figures))
    means = {name: _mean(figures) for name, figures in found.items()}
    document = {
        "annotators": len(files),
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
