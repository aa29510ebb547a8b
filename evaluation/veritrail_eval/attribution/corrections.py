"""Corrections of unfaithful sentences by what the corrector saw: outcomes, edits, relative ranks.

The corrections of a sentence by one model in several modes are ranked by outcome, then by edits;
equal ones share a rank, so that the ranks of a mode may sum to more or less than one a sentence.
Where people ranked them, their ranks count in place of these.

Source: Error-tolerant attribution 7, Table 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veritrail_eval.figures.figure import Figure, mean, share, with_reasons
from veritrail_eval.tables import Row, Table, read_table
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, Violation, shown
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.model.attribution import (
    Revision,
    RevisionOutcome,
    SourceMode,
    ranked,
)

COLUMNS = ("id", "mode", "outcome", "edits")
ALL = "all"
"""The model of corrections that name none."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """A correction of a sentence.

    Attributes:
        sentence_id: The sentence.
        model: Who corrected it.
        revision: The mode, the outcome and the edits.
        rank: The rank that people gave it; None: none.
    """

    sentence_id: str
    model: str
    revision: Revision
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class CorrectionScore:
    """The corrections of one model in one mode.

    Attributes:
        model: The model.
        mode: What it saw.
        revisions: The corrections, with ranks where the sentence has one in every mode.
        by_people: Whether people ranked them.
    """

    model: str
    mode: SourceMode
    revisions: Sequence[Revision]
    by_people: bool = False

    def outcome(self, outcome: RevisionOutcome) -> Figure:
        """The share of the corrections with an outcome that have this one."""
        known = [one for one in self.revisions if one.outcome is not None]
        count = sum(one.outcome is outcome for one in known)
        return share(count, len(known), "no correction was verified again")

    def rank(self, rank: int) -> Figure:
        """The share of the ranked corrections that have this rank."""
        placed = [one for one in self.revisions if one.rank is not None]
        count = sum(one.rank == rank for one in placed)
        return share(count, len(placed), "no sentence was corrected in every mode")

    @property
    def edits(self) -> Figure:
        """The mean number of edits."""
        return mean((one.edits for one in self.revisions), "no corrections")

    def as_json(self, ranks: int) -> dict[str, Any]:
        """Every figure, with ranks from 1 to `ranks`; null with a reason where there is none."""
        figures = {one.value: self.outcome(one) for one in RevisionOutcome}
        figures |= {f"rank_{place}": self.rank(place) for place in range(1, ranks + 1)}
        figures["mean_edits"] = self.edits
        document = {
            "model": self.model,
            "mode": self.mode.value,
            "corrections": len(self.revisions),
            "not_verified": sum(one.outcome is None for one in self.revisions),
            "ranked": sum(one.rank is not None for one in self.revisions),
            "ranked_by": "people" if self.by_people else "outcome",
            **{name: one.value for name, one in figures.items()},
        }
        return with_reasons(document, figures)


def scores(corrected: Sequence[Corrected]) -> list[CorrectionScore]:
    """The corrections by model and mode.

    Ranked are sentences that a model corrected in every mode in which it corrected any, with a
    known outcome in each: a mode in which a sentence is missing would else seem better or worse.
    Where people ranked any correction, ranks are theirs alone, of sentences that they ranked in
    every mode.

    Source: Error-tolerant attribution 7, Table 4.
    """
    by_people = any(one.rank is not None for one in corrected)
    by_model: dict[str, dict[str, dict[SourceMode, Revision]]] = {}
    for one in corrected:
        of_sentence = by_model.setdefault(one.model, {}).setdefault(one.sentence_id, {})
        of_sentence[one.revision.mode] = one.revision.replace(rank=one.rank)
    found = []
    for model, sentences in by_model.items():
        modes = [
            mode for mode in SourceMode if any(mode in revised for revised in sentences.values())
        ]
        revisions: dict[SourceMode, list[Revision]] = {mode: [] for mode in modes}
        for revised in sentences.values():
            each: Sequence[Revision] = tuple(revised.values())
            if by_people:
                is_ranked = len(each) == len(modes) and all(one.rank is not None for one in each)
                each = each if is_ranked else [one.replace(rank=None) for one in each]
            elif len(each) == len(modes) and all(one.outcome is not None for one in each):
                each = ranked(each)
            for revision in each:
                revisions[revision.mode].append(revision)
        found += [CorrectionScore(model, mode, revisions[mode], by_people) for mode in modes]
    return found


def read_corrections(paths: Sequence[Path]) -> list[Corrected]:
    """Corrections of files: tables, or what `veritrail attribute --correct --json` prints.

    A table (CSV or JSON Lines) has the columns `id`, `mode`, `outcome` and `edits`, perhaps
    `model`, and `rank`, that which people gave the correction among those of the sentence.

    Raises:
        InputError: A file cannot be read, has faults (all are listed), or a sentence has two
            corrections by one model in one mode.
    """
    found: list[tuple[Path, Corrected]] = []
    tables: list[Table] = []
    rows: list[tuple[Row, Corrected]] = []
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: no such file")
        if _is_run(path):
            found += [(path, one) for one in _documents(path)]
            continue
        table = read_table(path, COLUMNS)
        tables.append(table)
        read = _corrected(table)
        rows += read
        found += [(path, one) for _, one in read]
    _refuse_ranks(rows, [one for _, one in found])
    for table in tables:
        table.check()
    places: dict[tuple[str, str, SourceMode], Path] = {}
    for path, one in found:
        key = (one.model, one.sentence_id, one.revision.mode)
        before = places.setdefault(key, path)
        if before is not path:
            raise InputError(
                f"{path} and {before} both hold the correction of {shown(one.sentence_id)} in "
                f"the mode {one.revision.mode}; keep one."
            )
    if not found:
        raise InputError(f"{paths[0]} holds no corrections.")
    return [one for _, one in found]


def missing_corrections(paths: Sequence[Path]) -> list[str]:
    """Sentences of runs that failed, or whose correction did: `PROCESS/NODE:SENTENCE`.

    Tables name none.
    """
    found: dict[str, None] = {}
    for path in paths:
        for _, document in files.values(path) if _is_run(path) else ():
            for node in _list(document.get("nodes")) if isinstance(document, dict) else []:
                for one in _list(node.get("sentences")) if isinstance(node, dict) else []:
                    if isinstance(one, dict) and one.get("error"):
                        name = f"{node.get('node_id')}:{one.get('sentence')}"
                        found[f"{document.get('process_id')}/{name}"] = None
    return list(found)


def _is_run(path: Path) -> bool:
    """Return whether a file is what `veritrail attribute --json` prints; else it is a table."""
    first = files.first_value(path)
    return isinstance(first, dict) and "nodes" in first


def _corrected(table: Table) -> list[tuple[Row, Corrected]]:
    """The corrections of a table, whose faults are noted in it."""
    found: list[tuple[Row, Corrected]] = []
    seen: Counter[tuple[str, str, SourceMode | None]] = Counter()
    for row in table.rows:
        sentence, model = row.required("id"), row.text("model") or ALL
        row.required("mode")
        mode = row.choice("mode", SourceMode)
        outcome = row.choice("outcome", RevisionOutcome)
        row.required("edits")
        edits = row.number("edits", 0)
        if edits is not None and edits != int(edits):
            row.fault("not_a_number", "edits", "must be a whole number such as 2")
        rank = row.number("rank", 1)
        if rank is not None and rank != int(rank):
            row.fault("not_a_number", "rank", "must be a whole number such as 2")
        seen[model, sentence, mode] += 1
        if mode is not None and seen[model, sentence, mode] > 1:
            row.fault("duplicate", "id", f"{shown(sentence)} has a correction in {mode} already")
        if mode is not None and edits is not None:
            revision = Revision(text="", mode=mode, edits=int(edits), outcome=outcome)
            place = None if rank is None else int(rank)
            found.append((row, Corrected(sentence, model, revision, place)))
    return found


def _refuse_ranks(rows: Sequence[tuple[Row, Corrected]], every: Sequence[Corrected]) -> None:
    """Note ranks by people that no order of a sentence's corrections gives.

    A rank is at most one more than the number of better ones: 1, 1, 3 and 1, 2, 2 are ranks, and
    so is 1, 1, 2 of people who leave out none; 2, 2, 2 and 1, 2, 9 are not. Corrections without
    a rank may be better ones.

    Args:
        rows: The corrections of tables.
        every: All corrections, which say how many modes a model has.
    """
    modes: dict[str, set[SourceMode]] = {}
    ranks: dict[tuple[str, str], dict[SourceMode, int]] = {}
    for one in every:
        modes.setdefault(one.model, set()).add(one.revision.mode)
        if one.rank is not None:
            of_sentence = ranks.setdefault((one.model, one.sentence_id), {})
            of_sentence.setdefault(one.revision.mode, one.rank)
    for row, one in rows:
        if one.rank is None:
            continue
        known = list(ranks[one.model, one.sentence_id].values())
        better = sum(rank < one.rank for rank in known) + len(modes[one.model]) - len(known)
        if one.rank > better + 1:
            message = (
                f"{one.rank} cannot be: at most {counted(better, 'correction')} of "
                f"{shown(one.sentence_id)} can come before it; 1 is the best, and equal ones "
                "share a rank, such as 1, 1, 3"
            )
            row.fault("out_of_range", "rank", message)


def _documents(path: Path) -> list[Corrected]:
    """The revisions of runs; the id of a sentence is `PROCESS/NODE:SENTENCE`."""
    found: list[Corrected] = []
    faults: list[Violation] = []
    for number, document in files.values(path):
        if not isinstance(document, dict):
            faults.append(Violation("unknown_shape", f"line {number}", "must be a run's document"))
            continue
        model = document.get("model")
        for where, sentence_id, values in _revisions(document):
            try:
                revision = Revision.model_validate(values, strict=False)
            except ValueError:
                message = "must be a revision with text, mode, edits and outcome"
                faults.append(Violation("wrong_value", where, message))
                continue
            name = model if isinstance(model, str) and model else ALL
            found.append(Corrected(f"{document.get('process_id')}/{sentence_id}", name, revision))
    if faults:
        count = "a fault" if len(faults) == 1 else f"{len(faults)} faults"
        raise InputError(f"{path} has {count}; nothing was computed.", faults)
    return found


def _revisions(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for place, node in enumerate(_list(document.get("nodes"))):
        if not isinstance(node, dict):
            continue
        for index, sentence in enumerate(_list(node.get("sentences"))):
            if not isinstance(sentence, dict):
                continue
            for number, revision in enumerate(_list(sentence.get("revisions"))):
                where = f"nodes[{place}].sentences[{index}].revisions[{number}]"
                yield where, f"{node.get('node_id')}:{sentence.get('sentence')}", revision


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
