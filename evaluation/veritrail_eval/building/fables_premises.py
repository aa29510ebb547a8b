"""Premises from FABLES: its faithful claims, and what its annotators quoted and wrote.

Source: VeriTrail B.1.1 (a claim entailed by a faithful claim, or by evidence or comments of the
annotators, which are assumed to be faithful).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from veritrail_eval.building.matching import Premise
from veritrail_eval.datasets.loaders.fables import (
    BookClaim,
    BookSummary,
    FablesLoader,
    comparable_title,
    read_summaries,
)
from veritrail_graph.graph.model import Verdict


def is_fables(path: Path) -> bool:
    """Return whether a path is FABLES, and no table of premises."""
    is_json = path.is_dir() or path.name.removesuffix(".gz").endswith(".json")
    return is_json and FablesLoader().detect(path) is None


def premises_of_fables(path: Path, names: Mapping[str, str | None]) -> list[Premise]:
    """The premises of each book, for the processes that are called as it is.

    Args:
        path: FABLES.json, or the folder that it is in.
        names: The name of each process of the data set, by process_id.

    Returns:
        Premises in the order of the file. Those of a book of which there is no process have its
        title as their process_id.

    Raises:
        InputError: It cannot be read; every fault is named.
    """
    processes: dict[str, list[str]] = {}
    for process_id, name in names.items():
        for title in {comparable_title(process_id), comparable_title(name or "")} - {""}:
            processes.setdefault(title, []).append(process_id)
    found: list[Premise] = []
    for summary in read_summaries(path):
        of_book = processes.get(comparable_title(summary.book), [summary.book])
        for text, evidence, reasoning in _statements(summary):
            found += [
                Premise(len(found) + 1, text, evidence, reasoning, process_id, summary.book)
                for process_id in of_book
            ]
    return found


def _statements(summary: BookSummary) -> Iterator[tuple[str, str, str]]:
    """Premise, evidence and reasoning of the claims, and the comment on the summary as a whole."""
    for claim in summary.claims:
        yield from _of_claim(claim)
    if comment := summary.comment.strip():
        yield comment, "", ""


def _of_claim(claim: BookClaim) -> Iterator[tuple[str, str, str]]:
    """A faithful claim with what was said for it; of another one what was said, without it."""
    quotes, comment = "\n".join(claim.said.quotes), (claim.said.comment or "").strip()
    if claim.label is Verdict.FULLY_SUPPORTED:
        yield claim.text, quotes, comment
    elif comment:
        yield comment, quotes, ""
    elif quotes:
        yield quotes, "", ""
