"""The figures that `judge check` measured of judges here, kept so that they stand beside verdicts.

A file of the home folder, one entry for each engine with its model and the wording of its prompts,
read again where it changed. Where something is wrong with it, verdicts are shown without figures.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.judge_mode import with_wording, wording_of_settings
from veritrail_graph.graph.private import PRIVATE_FILE, make_private_folders

FILE, FORMAT = "judges.json", "veritrail.judges/1"

JudgeName = tuple[str, str, str]
"""An engine, or both, its model, and the wording of its prompts; the last two may be empty."""


@dataclass(frozen=True, slots=True)
class MeasuredJudge:
    """The figures of a judge on the labelled pairs of `judge check`.

    Attributes:
        engine: The engine, or both, such as `openai+decisions`.
        model: The model, or all of them.
        balanced_accuracy: The mean share of both labels that it gets right.
        interval: Where that lies with 95 % certainty.
        decided: The share of the pairs that it decides.
        pairs: How many pairs it was asked about.
        measured_on: The day, as in 2026-11-28.
        calibration_error: The expected calibration error of its probabilities; None: it gives none.
        prompts: The wording of its prompts, such as `v2`; empty: that of the paper, or none.
    """

    engine: str
    model: str
    balanced_accuracy: float
    interval: tuple[float, float]
    decided: float
    pairs: int
    measured_on: str
    calibration_error: float | None = None
    prompts: str = ""

    @property
    def whose(self) -> JudgeName:
        """Return whose figures they are."""
        return self.engine, self.model, self.prompts

    def json_object(self) -> dict[str, Any]:
        """The figures as JSON, without whose they are."""
        found = asdict(self) | {"interval": list(self.interval)}
        return {
            name: value
            for name, value in found.items()
            if name not in ("engine", "model", "prompts")
        }

    @property
    def words(self) -> str:
        """Return the same in a sentence."""
        low, high = self.interval
        day = date.fromisoformat(self.measured_on)
        check = with_wording(f"judge check of {day.day} {day:%B %Y}", self.prompts)
        return (
            f"{self.model}: balanced accuracy {self.balanced_accuracy:.2f} ({low:.2f} to "
            f"{high:.2f}) on {self.pairs:,} labelled pairs, of which it decides "
            f"{100 * self.decided:.0f} % ({check})."
        )


def keep_measured(home: Path, measured: MeasuredJudge) -> None:
    """Keep figures in place of older ones of the same judge, unless those rest on more pairs.

    Raises:
        InputError: The file cannot be written.
    """
    every = dict(_every(home))
    key = measured.whose
    if key in every and every[key].pairs > measured.pairs:
        return
    every[key] = measured
    rows = [asdict(one) for _, one in sorted(every.items())]
    path = home / FILE
    beside = path.with_suffix(".new")
    try:
        make_private_folders(home)
        beside.write_text(json.dumps({"format": FORMAT, "judges": rows}, indent=1), "utf-8")
        beside.chmod(PRIVATE_FILE)
        beside.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from None


def measured_of(home: Path, judge: JudgeName) -> MeasuredJudge | None:
    """Return what was measured of a judge here; None: nothing was."""
    return _every(home).get(judge)


def measured_words(home: Path, judges: Iterable[JudgeName]) -> tuple[str, ...]:
    """Return what was measured of judges here, a sentence each, in the order of their names."""
    every = _every(home)
    return tuple(every[name].words for name in sorted(set(judges)) if name in every)


def judge_name(engine: str, model: str | None, settings: str | None) -> JudgeName:
    """Return the name by which a judge with these settings is known here."""
    return engine, model or "", wording_of_settings(settings)


def _every(home: Path) -> Mapping[JudgeName, MeasuredJudge]:
    path = home / FILE
    try:
        found = path.stat()
    except OSError:
        return {}
    return _read(path, found.st_mtime_ns, found.st_size, found.st_ino)


@lru_cache(maxsize=4)
def _read(path: Path, *_state: int) -> Mapping[JudgeName, MeasuredJudge]:
    """Read the file in this state: a page of findings asks for it once for each of them."""
    try:
        rows = json.loads(path.read_text("utf-8"))["judges"]
        found = [MeasuredJudge(**{**row, "interval": tuple(row["interval"])}) for row in rows]
        for one in found:
            one.words  # noqa: B018  # a figure that cannot be said is none
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return {one.whose: one for one in found}
