"""Agreement of annotators on claims: Krippendorff's alpha of all, Cohen's kappa of every two.

Source: VeriTrail B.2.2 (alpha over five annotators, by uncertainty); kappa: ADR 0017.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from veritrail_eval.figures.alpha import Level, krippendorff_alpha, unit_of
from veritrail_eval.figures.bootstrap import Interval, intervals
from veritrail_eval.figures.figure import Figure, missing, with_reasons
from veritrail_eval.figures.options import Resampling
from veritrail_graph.graph.agreement import cohen_kappa


@dataclass(frozen=True, slots=True)
class Annotation:
    """The label of one annotator for one claim.

    Attributes:
        claim_id: The claim.
        annotator: Who gave the label.
        label: The label.
        uncertain: Whether the annotator was not sure.
    """

    claim_id: str
    annotator: str
    label: str
    uncertain: bool = False


@dataclass(frozen=True, slots=True)
class AnnotatorAgreement:
    """The agreement of annotators.

    Attributes:
        annotations: The labels; an annotator labels a claim at most once.
        order: The labels that there are; in their order where the level is ordinal.
        level: Whether their order counts.
        knows_uncertainty: Whether it is known which labels are uncertain.
        adjudicated: Claims whose final label a person decided; None: not known.
    """

    annotations: Sequence[Annotation]
    order: Sequence[str]
    level: Level
    knows_uncertainty: bool = False
    adjudicated: frozenset[str] | None = None

    @property
    def annotators(self) -> list[str]:
        """Their names, sorted."""
        return sorted({one.annotator for one in self.annotations})

    def labels(self) -> dict[str, dict[str, str]]:
        """The label of each annotator for each claim."""
        found: dict[str, dict[str, str]] = {}
        for one in self.annotations:
            found.setdefault(one.claim_id, {})[one.annotator] = one.label
        return found

    @property
    def single(self) -> int:
        """Claims with one label, which take no part in any figure."""
        return sum(len(each) < 2 for each in self.labels().values())

    def _units(self) -> list[tuple[tuple[int, int], ...]]:
        places = {label: place for place, label in enumerate(self.order)}
        return [unit_of(map(places.__getitem__, each.values())) for each in self.labels().values()]

    @property
    def alpha(self) -> Figure:
        """Krippendorff's alpha of all annotators."""
        return krippendorff_alpha(Counter(self._units()), self.level)

    def alpha_interval(self, how: Resampling) -> Interval:
        """Return where alpha lies when claims are resampled. Ours, not the paper's."""

        def alpha(drawn: Mapping[tuple[tuple[int, int], ...], int]) -> dict[str, Figure]:
            return {"krippendorff_alpha": krippendorff_alpha(drawn, self.level)}

        return intervals(self._units(), alpha, how)["krippendorff_alpha"]

    def subsets(self) -> dict[str, AnnotatorAgreement]:
        """The claims with and without an uncertain annotator, and those without adjudication.

        Source: VeriTrail B.2.2.
        """
        chosen: dict[str, Collection[str]] = {}
        every = self.labels().keys()
        if self.knows_uncertainty:
            doubted = {one.claim_id for one in self.annotations if one.uncertain}
            chosen["certain"] = every - doubted
            chosen["uncertain"] = every & doubted
        if self.adjudicated is not None:
            chosen["without_adjudicated"] = every - self.adjudicated
        return {
            name: replace(
                self,
                annotations=[one for one in self.annotations if one.claim_id in claims],
                knows_uncertainty=False,
                adjudicated=None,
            )
            for name, claims in chosen.items()
        }

    def kappas(self) -> dict[tuple[str, str], Figure]:
        """Cohen's kappa of every two annotators, over the claims that both labelled."""
        tables: dict[tuple[str, str], Counter[tuple[str, str]]] = {
            pair: Counter() for pair in combinations(self.annotators, 2)
        }
        for each in self.labels().values():
            for pair in combinations(sorted(each), 2):
                tables[pair][each[pair[0]], each[pair[1]]] += 1
        return {pair: _kappa(table) for pair, table in tables.items()}

    def as_json(self, resampling: Resampling | None = None) -> dict[str, Any]:
        """The figures under their keys; with `intervals` where a resampling is given.

        `subsets` is there where it is known which labels are uncertain or adjudicated.
        """
        kappas = {"|".join(pair): kappa for pair, kappa in self.kappas().items()}
        document: dict[str, Any] = {
            "units": len(self.labels()),
            "annotators": len(self.annotators),
            "krippendorff_alpha": self.alpha.value,
            "level": self.level,
            "cohen_kappa": {pair: kappa.value for pair, kappa in kappas.items()},
        }
        if resampling is not None:
            interval = self.alpha_interval(resampling)
            document["intervals"] = {"krippendorff_alpha": interval.as_json()}
            document["undefined_resamples"] = {"krippendorff_alpha": interval.undefined}
        reasons = {f"cohen_kappa.{pair}": kappa for pair, kappa in kappas.items()}
        if subsets := self.subsets():
            alphas = {name: one.alpha for name, one in subsets.items()}
            document["subsets"] = {
                name: {"units": len(one.labels()), "krippendorff_alpha": alphas[name].value}
                for name, one in subsets.items()
            }
            reasons |= {f"subsets.{name}": alpha for name, alpha in alphas.items()}
        return with_reasons(document, {"krippendorff_alpha": self.alpha, **reasons})


def _kappa(table: Mapping[tuple[str, str], int]) -> Figure:
    if not table:
        return missing("no claim in common")
    kappa = cohen_kappa(table)
    return missing("one label only") if kappa is None else Figure(kappa)
