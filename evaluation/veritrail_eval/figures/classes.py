"""Several classes: how often each label met each answer, and the figures made of that.

An answer may be missing, because a call failed or could not be read. Such items are in the
column NONE and are no answers: figures are over the items that have one. The paper counts them as
wrong; `with_none` gives these figures, too.

Source: VISTA 6.1, 6.2 (accuracy, macro F1), F (confusion matrices with NONE).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

from veritrail_eval.figures.confusion import ONE_CLASS
from veritrail_eval.figures.figure import Figure, missing, share, with_reasons

NONE = "NONE"
"""The column of items without an answer."""
NO_ITEMS = "nothing is scored"

Outcome: TypeAlias = tuple[str, str | None]
"""The label of an item, and what a method says; None: no answer."""


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """Counts of every pair of label and answer.

    Attributes:
        classes: The names of all classes, in their order.
        counts: How often there is each pair of label and answer.
    """

    classes: Sequence[str]
    counts: Mapping[Outcome, int] = field(default_factory=dict)

    @classmethod
    def of(cls, classes: Sequence[str], outcomes: Iterable[Outcome]) -> Self:
        """The counts of pairs."""
        return cls(classes, Counter(outcomes))

    @property
    def items(self) -> int:
        """Return how many items there are."""
        return sum(self.counts.values())

    @property
    def none(self) -> int:
        """Return how many of them have no answer."""
        return sum(times for (_, answer), times in self.counts.items() if answer is None)

    @property
    def scored(self) -> ClassCounts:
        """The items that have an answer."""
        there = {pair: times for pair, times in self.counts.items() if pair[1] is not None}
        return ClassCounts(self.classes, there)

    def labelled(self, name: str) -> int:
        """Return how many items have this label."""
        return sum(times for (label, _), times in self.counts.items() if label == name)

    def called(self, name: str) -> int:
        """Return how many items have this answer."""
        return sum(times for (_, answer), times in self.counts.items() if answer == name)

    def right(self, name: str) -> int:
        """Return how many items have this label and this answer."""
        return self.counts.get((name, name), 0)

    @property
    def accuracy(self) -> Figure:
        """The share of items whose answer is their label; an item without one is not right."""
        return share(sum(map(self.right, self.classes)), self.items, NO_ITEMS)

    def precision(self, name: str) -> Figure:
        """The share of the items with this answer that have this label."""
        return share(self.right(name), self.called(name), f"nothing is called {name}")

    def recall(self, name: str) -> Figure:
        """The share of the items with this label that have this answer."""
        return share(self.right(name), self.labelled(name), f"nothing has the label {name}")

    def f1(self, name: str) -> Figure:
        """The harmonic mean of precision and recall; 0 for a class that is never right."""
        both = self.labelled(name) + self.called(name)
        return share(2 * self.right(name), both, f"nothing has the label or the answer {name}")

    @property
    def macro_f1(self) -> Figure:
        """The mean of the F1 of all classes that are a label or an answer of any item."""
        if not self.items:
            return missing(NO_ITEMS)
        if sum(self.labelled(name) > 0 for name in self.classes) < 2:
            return missing(ONE_CLASS)
        every = [one.value for one in map(self.f1, self.classes) if one.value is not None]
        return Figure(sum(every) / len(every))

    def figures(self) -> dict[str, Figure]:
        """Accuracy and macro F1."""
        return {"accuracy": self.accuracy, "macro_f1": self.macro_f1}

    def as_json(self) -> dict[str, Any]:
        """Figures over the items with an answer, those with all items, and the matrix."""
        figures, strict = self.scored.figures(), self.figures()
        document = {
            "scored": self.items - self.none,
            **{name: one.value for name, one in figures.items()},
            "f1": {name: self.scored.f1(name).value for name in self.classes},
            "with_none": {name: one.value for name, one in strict.items()},
            "confusion": {
                label: {
                    NONE if answer is None else answer: self.counts.get((label, answer), 0)
                    for answer in (*self.classes, None)
                }
                for label in self.classes
            },
        }
        reasons = {**figures, **{f"with_none.{name}": one for name, one in strict.items()}}
        return with_reasons(document, reasons)
