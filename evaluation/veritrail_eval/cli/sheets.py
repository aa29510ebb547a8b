"""`veritrail eval sheets`: sheets for annotators, and their labels back into the data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from veritrail_eval.annotation.grouping import Grouping
from veritrail_eval.cli.turn_sheets import read_turns_back, write_turns
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say
from veritrail_graph.graph.errors import InputError

SHOWN_WARNINGS = 20


def sheets(
    dataset: Annotated[
        Path,
        typer.Argument(
            metavar="DATASET", help="A data set, recorded runs with claims, or dialogues."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="PATH", help="The folder of the sheets; else the data set."
        ),
    ],
    annotators: Annotated[
        str, typer.Option(metavar="A,B,…", help="Who labels; each gets every folder.")
    ] = "annotator",
    by: Annotated[
        Grouping,
        typer.Option(help="Claims about one answer, or with the same documents, together."),
    ] = Grouping.QUESTION,
    with_labelled: Annotated[
        bool, typer.Option("--all", help="Claims that have a label get a row, too.")
    ] = False,
    read: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Read sheets that came back, and write a data set."),
    ] = None,
    adjudicate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Decisions: claim_id, label, reason (other_documents, no_majority, misapplied); "
            "of dialogues: dialogue_id, turn_id, claim, label.",
        ),
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="With --read: rows without a label are counted.")
    ] = False,
    proposed: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Of dialogues: claims to begin with, as `dialogue verify --json` prints them.",
        ),
    ] = None,
    embedding: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of dialogues: an embedding model that finds reworded claims in the sheets that "
            "are read, or in a file of labelled turns; default: equal texts alone.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write sheets for annotators, and read their labels back.

    Each annotator gets a folder for each question or document, with claims.xlsx and articles.docx.
    With --read or --adjudicate labels are put into a data set; of dialogues also with --embedding.
    The label that counts is the majority's, else that of a decision; without either it stays open.
    Of dialogues each annotator gets a folder for each dialogue, and keeps, edits, deletes and adds
    the claims of its turns.
    """
    from veritrail_eval.app.datasets import holds_dialogues

    if partial and read is None:
        raise InputError("--partial goes with --read.")
    names = [name.strip() for name in annotators.split(",") if name.strip()]
    if holds_dialogues(dataset):
        if by is not Grouping.QUESTION:
            raise InputError("Sheets of dialogues have a folder for each dialogue; leave out --by.")
        if read is None and adjudicate is None and embedding is None:
            turns = write_turns(dataset, output, names, proposed, with_labelled=with_labelled)
        elif proposed is not None or with_labelled:
            raise InputError("--proposed and --all are for sheets that are written.")
        else:
            turns = read_turns_back(
                dataset, output, read, adjudicate, embedding, is_partial=partial, as_json=as_json
            )
        if as_json:
            print_json(turns)
        return
    for option, given in (("--proposed", proposed), ("--embedding", embedding)):
        if given is not None:
            raise InputError(f"{option} is for dialogues, and {dataset} holds none.")
    if read is None and adjudicate is None:
        document = _write(dataset, output, names, by, with_labelled=with_labelled)
    else:
        document = _read(dataset, output, read, adjudicate, is_partial=partial)
    if as_json:
        print_json(document)


def _remark(text: str) -> None:
    say(text, "yellow")


def _write(
    dataset: Path, output: Path, names: Sequence[str], by: Grouping, *, with_labelled: bool
) -> dict[str, Any]:
    from veritrail_eval.app.datasets import write_sheets

    written = write_sheets(dataset, output, names, by, with_labelled=with_labelled, warn=_remark)
    claims = sum(len(one.claims) for one in written.folders)
    say(
        f"{claims:,} claims in {len(written.folders):,} folder(s) for each of "
        f"{len(written.annotators):,} annotator(s), in {output}.",
        "bold",
    )
    if written.left_out:
        say(f"{written.left_out:,} claim(s) have a label and get no row; see --all.")
    if written.removed:
        say(
            f"{written.removed:,} control character(s) that no such file may hold were left out.",
            "yellow",
        )
    return {
        "directory": str(output),
        "annotators": list(written.annotators),
        "by": by.value,
        "folders": [
            {
                "code": one.code,
                "process_id": one.process_id,
                "question": one.question,
                "claims": len(one.claims),
                "documents": len(one.articles),
            }
            for one in written.folders
        ],
        "claims": claims,
        "left_out": written.left_out,
        "removed_characters": written.removed,
    }


def _read(
    dataset: Path, output: Path, read: Path | None, adjudicate: Path | None, *, is_partial: bool
) -> dict[str, Any]:
    from veritrail_eval.app.datasets import read_sheets

    found = read_sheets(dataset, output, read, adjudicate, is_partial=is_partial, warn=_remark)
    claims = found.claims
    every = [one for claim in claims for one in claim.labels]
    document = {
        "output": str(output),
        "claims": len(claims),
        "labels_read": sum(map(len, found.sheets.labels.values())),
        "unfinished": found.sheets.unfinished,
        "not_understood": sum(one.label.verdict is None for one in every),
        "label_origins": dict(Counter(one.label_origin or "none" for one in claims)),
        "labels": dict(Counter(one.label.value if one.label else "none" for one in claims)),
        "unresolved": [
            {
                "process_id": one.process_id,
                "claim_id": one.claim_id,
                "verdicts": {name.value: count for name, count in counts.items()},
            }
            for one, counts in found.unresolved
        ],
        "warnings": list(found.sheets.warnings),
    }
    _tell(document)
    return document


def _tell(document: Mapping[str, Any]) -> None:
    say(
        f"{document['labels_read']:,} labels read; {document['claims']:,} claims are in "
        f"{document['output']}.",
        "bold",
    )
    for origin, count in document["label_origins"].items():
        say(f"{count:,} claim(s): {'no label yet' if origin == 'none' else origin}")
    if document["not_understood"]:
        say(f"{document['not_understood']:,} label(s) say that the claim is not understood.")
    if document["unfinished"]:
        say(f"{document['unfinished']:,} row(s) have no label yet.", "yellow")
    for warning in document["warnings"][:SHOWN_WARNINGS]:
        say(warning, "yellow")
    more = len(document["warnings"]) - SHOWN_WARNINGS
    if more > 0:
        say(f"… and {more:,} more; --json lists all.", "yellow")
    for one in document["unresolved"][:SHOWN_WARNINGS]:
        counts = ", ".join(f"{count} {name}" for name, count in one["verdicts"].items())
        say(f"{one['claim_id']} has no majority: {counts or 'no label counts'}.", "yellow")
