"""Folders of evaluation runs, as `veritrail eval run` leaves them, with outcomes made by rules."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FS, NFS, INC = "FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED", "INCONCLUSIVE"
Line = dict[str, Any]


@dataclass
class JudgedRun:
    """A run that is written into a folder line by line.

    Attributes:
        folder: The folder.
        datasets: Labels by claim_id, by data set.
        configurations: (id, method, parameters) of each configuration.
        facts: More facts of data sets, by name.
        error_stages: Labelled error stages by claim_id.
    """

    folder: Path
    datasets: Mapping[str, Mapping[str, str]]
    configurations: Sequence[tuple[str, str, Mapping[str, Any]]]
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    error_stages: Mapping[str, list[int]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    name: str = "run"

    def __post_init__(self) -> None:
        """Write `run.json`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "run.json").write_text(
            json.dumps(
                {
                    "format": "veritrail.evaluation/1",
                    "name": self.name,
                    "seed": 0,
                    "configurations": [self._configuration(*one) for one in self.configurations],
                    "datasets": [self._dataset(*one) for one in self.datasets.items()],
                }
            )
        )

    def _configuration(self, name: str, method: str, parameters: Mapping[str, Any]) -> Line:
        label = self.labels.get(name, method)
        values = ", ".join(f"{key} = {value}" for key, value in parameters.items())
        return {
            "configuration_id": name,
            "method": method,
            "label": label,
            "title": f"{label} ({values})",
            "parameters": dict(parameters),
        }

    def _dataset(self, name: str, labels: Mapping[str, str]) -> Line:
        claims = [
            {
                "process_id": "p",
                "claim_id": claim,
                "text": self.texts.get(claim, f"Text of {claim}."),
                "label": label,
                "error_stages": self.error_stages.get(claim),
                "fingerprint": f"f-{claim}",
                "nodes": 40,
            }
            for claim, label in labels.items()
        ]
        facts = {"root_stages": [1], "stage_names": {}, "remarks": [], "left_out": 0}
        return {"name": name, "claims": claims, **facts, **self.facts.get(name, {})}

    def keep(self, *lines: Line) -> None:
        """Append lines to the outcomes."""
        with (self.folder / "outcomes.jsonl").open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)

    def judged(
        self,
        configuration: str,
        verdicts: Mapping[str, str | None],
        dataset: str = "data",
        **more: Any,
    ) -> None:
        """Keep a verdict of a configuration for each claim; None: samples did not agree."""
        self.keep(*(outcome(configuration, c, v, dataset, **more) for c, v in verdicts.items()))


def outcome(
    configuration: str,
    claim: str,
    verdict: str | None,
    dataset: str = "data",
    *,
    fingerprint: str | None = None,
    status: str | None = None,
    usage: Mapping[str, Any] | None = None,
    **more: Any,
) -> Line:
    """A line of the outcomes."""
    return {
        "dataset": dataset,
        "configuration": configuration,
        "fingerprint": fingerprint or f"f-{claim}",
        "outcome": {
            "process_id": "p",
            "claim_id": claim,
            "status": status or ("succeeded" if verdict else "undecided"),
            "verdict": verdict,
            "reason": f"Reasons for {claim}.",
            "usage": dict(usage or {}),
            **more,
        },
    }


def paid(usd: float | None, calls: int = 2, **more: Any) -> dict[str, Any]:
    """What calls of a claim cost."""
    unpriced = calls if usd is None else 0
    return {"calls": calls, "cost_usd": usd, "unpriced_calls": unpriced, **more}


def random_run(folder: Path, seed: int = 0, claims: int = 60) -> JudgedRun:
    """A run with everything that a report can show, drawn at random.

    Args:
        folder: The folder.
        seed: The same seed draws the same.
        claims: How many claims.
    """
    draw = random.Random(seed)
    labels = {f"k{n}": draw.choice((FS, FS, NFS)) for n in range(claims)}
    grid = [
        ("veritrail", {"q": q, "max_sentences": s, "model": "m"}) for q in (1, 3) for s in (20, 40)
    ]
    grid += [(method, {"k": k, "model": "m"}) for method in ("vt_rag", "rag") for k in (5, 15)]
    grid += [("direct", {"engine": "lexical"}), ("minicheck", {"k": 1, "threshold": 0.5})]
    run = JudgedRun(
        folder,
        {"data": labels},
        [(f"{method}-{n}", method, values) for n, (method, values) in enumerate(grid)],
        facts={
            "data": {"left_out": 3, "stage_names": {"1": "chunk", "2": "summary", "3": "final"}}
        },
        error_stages={
            claim: [draw.choice((2, 3))] for claim, label in labels.items() if label == NFS
        },
    )
    for name, method, _ in run.configurations:
        run.keep({"dataset": "data", "configuration": name, "prepared": paid(0.3, 1)})
        run.keep(*_drawn(draw, name, method, labels.items()))
    return run


def _drawn(
    draw: random.Random, name: str, method: str, labels: Iterable[tuple[str, str]]
) -> Iterable[Line]:
    accuracy = draw.uniform(0.6, 0.9)
    for claim, label in labels:
        if draw.random() < 0.05:
            yield outcome(name, claim, None, status=draw.choice(("failed", "undecided")))
            continue
        right = draw.random() < accuracy
        verdict = label if right else (FS if label == NFS else NFS)
        if draw.random() < 0.05:
            verdict = INC
        more: Line = {"usage": {}} if method == "direct" else {"usage": paid(draw.uniform(0, 0.2))}
        if method in ("veritrail", "vt_rag"):
            more |= {"iterations": 2, "nodes_verified": draw.randint(1, 40)}
            more["error_stages"] = [draw.choice((2, 3))] if verdict == NFS else None
        if method in ("rag", "minicheck", "veritrail"):
            more["score"] = round(
                draw.uniform(0.4, 1) if verdict == FS else draw.uniform(0, 0.6), 2
            )
        yield outcome(name, claim, verdict, **more)
