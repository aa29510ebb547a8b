"""Result lines: ours, a reference, their ratio, a target, and whether it was met."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Line:
    """One result.

    Attributes:
        name: What was measured.
        ours: Our figure.
        unit: Of `ours` and `reference`.
        reference: What it is held against, None where the target is absolute.
        target: The most that the ratio may be or, without a reference, that `ours` may be;
            None for a figure that is only for information.
        note: More figures, in words.
    """

    name: str
    ours: float
    unit: str = "s"
    reference: float | None = None
    target: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours by the reference."""
        return self.ours / self.reference if self.reference else None

    @property
    def status(self) -> str:
        """`ok`, `MISS`, or `info` where there is no target."""
        if self.target is None:
            return "info"
        figure = self.ours if self.ratio is None else self.ratio
        return "ok" if figure <= self.target else "MISS"


@dataclass(slots=True)
class Report:
    """All results of a run; every line is printed as soon as it is there."""

    lines: list[Line] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    _head_is_out: bool = False

    def add(self, line: Line) -> None:
        """Keep and print a result."""
        if not self._head_is_out:
            print(
                f"{'':4} {'benchmark':<46} {'ours':>10} {'reference':>10} {'ratio':>6} "
                f"{'target':>8}",
                flush=True,
            )
            self._head_is_out = True
        self.lines.append(line)
        ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
        target = "" if line.target is None else f"<= {line.target:g}"
        print(
            f"{line.status:4} {line.name:<46} {_figure(line.ours, line.unit):>10} "
            f"{_figure(line.reference, line.unit):>10} {ratio:>6} {target:>8}"
            f"{'  ' + line.note if line.note else ''}",
            flush=True,
        )

    def fail(self, what: str, why: object) -> None:
        """Keep and print that a benchmark could not run."""
        self.failures.append(f"{what}: {why}")
        print(f"FAIL {self.failures[-1]}", flush=True)

    def summary(self) -> str:
        """One line about the whole run."""
        missed = [line.name for line in self.lines if line.status == "MISS"]
        aimed = [line for line in self.lines if line.status != "info"]
        words = f"{len(aimed) - len(missed)} of {len(aimed)} targets met"
        if missed:
            words += f"; missed: {', '.join(missed)}"
        if self.failures:
            words += f"; {len(self.failures)} benchmark(s) could not run"
        return words

    def save(self, path: Path, about: dict[str, Any]) -> None:
        """Write everything as JSON."""
        lines = [
            {**asdict(line), "ratio": line.ratio, "status": line.status} for line in self.lines
        ]
        content = {**about, "lines": lines, "failures": self.failures}
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def middle(values: Sequence[float]) -> float:
    """The median."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    if unit == "s":
        return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"
    return f"{value:,.0f} {unit}".rstrip()
