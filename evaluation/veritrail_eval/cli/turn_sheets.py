"""Run `veritrail eval sheets` for dialogues: sheets of turns, and claims back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from veritrail_graph.api.cli.exits import run as run_work
from veritrail_graph.api.cli.terminal import say
from veritrail_graph.api.show.texts import clean, one_line

SHOWN = 20
"""Open claims that are listed."""


def write_turns(
    path: Path,
    output: Path,
    annotators: Sequence[str],
    proposed: Path | None,
    *,
    with_labelled: bool,
) -> dict[str, Any]:
    """Write sheets of turns, and say what was written."""
    from veritrail_eval.app.datasets import write_turn_sheets

    written = write_turn_sheets(path, output, annotators, proposed, with_labelled=with_labelled)
    folders = written.handed.folders
    say(
        f"{written.claims:,} claims of {written.turns:,} turns in {len(folders):,} folder(s) for "
        f"each of {len(annotators):,} annotator(s), in {output}.",
        "bold",
    )
    if written.left_out:
        say(f"{written.left_out:,} turn(s) have labelled claims and get no rows; see --all.")
    if written.removed:
        say(
            f"{written.removed:,} control character(s) that no such file may hold were left out.",
            "yellow",
        )
    return {
        "directory": str(output),
        "annotators": list(written.handed.annotators),
        "folders": [
            {"code": one.code, "dialogue_id": one.dialogue_id, "turns": len(one.turns)}
            for one in folders
        ],
        "turns": written.turns,
        "claims": written.claims,
        "left_out": written.left_out,
        "removed_characters": written.removed,
    }


def read_turns_back(
    path: Path,
    output: Path,
    read: Path | None,
    adjudicate: Path | None,
    embedding: str | None,
    *,
    is_partial: bool,
    as_json: bool,
) -> dict[str, Any]:
    """Put what annotators said into a file of labelled turns, and say what was read."""
    from veritrail_eval.app.datasets import read_turn_sheets
    from veritrail_graph.api.settings import Settings

    reading = read_turn_sheets(
        Settings(), path, output, read, adjudicate, embedding, is_partial=is_partial
    )
    done = run_work(reading, as_json=as_json)
    back, found, said = done.sheets, done.found, done.turns
    document = {
        "output": str(output),
        "turns": len(said),
        "without_labels": len(found.gold.turns) - len(said),
        "annotations_read": sum(map(len, back.labels.values())),
        "unfinished": back.unfinished,
        "turns_with_claims": sum(one.claims is not None for one in said),
        "claims": sum(len(one.claims or ()) for one in said),
        "categories": dict(
            Counter(claim.category.value for one in said for claim in one.claims or ())
        ),
        "matching": done.matching,
        "dropped": found.dropped,
        "unresolved_turns": found.unresolved_turns,
        "unresolved": [
            {
                "dialogue_id": one.key[0],
                "turn_id": one.key[1],
                "claim": one.claim,
                "labels": {category.value: count for category, count in one.counts.items()},
                "named_by_most": one.is_named_by_most,
            }
            for one in found.unresolved
        ],
        "usage": done.usage.json_object(),
    }
    _tell(document)
    return document


def _tell(document: dict[str, Any]) -> None:
    say(
        f"{document['annotations_read']:,} turns of annotators read; {document['turns']:,} turns "
        f"are in {document['output']}, {document['turns_with_claims']:,} of them with "
        f"{document['claims']:,} agreed claims.",
        "bold",
    )
    if document["dropped"]:
        say(f"{document['dropped']:,} claim(s) that half of the annotators or fewer name: left out")
    for name, what in (
        ("unfinished", "turn(s) of annotators are not finished."),
        ("without_labels", "turn(s) have no label yet and are left out."),
    ):
        if document[name]:
            say(f"{document[name]:,} {what}", "yellow")
    if document["unresolved_turns"]:
        say(
            f"{document['unresolved_turns']:,} turn(s) are unresolved: no label follows from what "
            "their annotators agree on, and no figure counts them. Decide with --adjudicate"
            + (
                "; --embedding NAME finds claims in other words."
                if any(not one["named_by_most"] for one in document["unresolved"])
                else "."
            ),
            "yellow",
        )
    for one in document["unresolved"][:SHOWN]:
        counts = ", ".join(f"{count} {name}" for name, count in one["labels"].items())
        claim = one_line(clean(one["claim"]))
        why = "no majority for" if one["named_by_most"] else "not named by most, and not verified:"
        say(f"{one['dialogue_id']}, {one['turn_id']}: {why} {claim!r}: {counts}", "yellow")
    more = len(document["unresolved"]) - SHOWN
    if more > 0:
        say(f"… and {more:,} more; --json lists all.", "yellow")
