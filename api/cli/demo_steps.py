"""The demo: two processes ingested, their claims verified, provenance and an error located.

It runs the command line just as a person would and shows each command before its outcome.
The graph is the one that `veritrail` uses anyway, so that everything can be asked afterwards.
The samples are part of the package.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from importlib import resources
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from veritrail_graph.api.app.samples import FOLDER, SAMPLES
from veritrail_graph.api.cli.terminal import VERDICT_STYLE
from veritrail_graph.api.views.texts import one_line
from veritrail_graph.api.views.words import VERDICT_WORDS
from veritrail_graph.graph.model import Verdict

out = Console(highlight=False, width=None if sys.stdout.isatty() else 120)


class Ended(Exception):  # not a fault of ours: it was told by the command
    """A command of the demo did not end with 0.

    Attributes:
        status: Its exit status.
    """

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def run() -> int:
    """Run the demo; the exit status is that of the first command that failed, or 0."""
    try:
        _show()
    except Ended as ended:
        return ended.status
    return 0


def _show() -> None:
    started = time.monotonic()
    out.print(Text("VeriTrail Graph: where did that come from, and where did it go wrong?", "bold"))
    out.print(
        Text(
            "No model is asked here: the engine `lexical` compares words, numbers and names, and "
            "its verdicts are indicative only. Where they differ from the labels, you see it.",
            "yellow",
        )
    )
    for sample in SAMPLES:
        name = f"{sample}.json"
        out.print()
        with resources.as_file(FOLDER / name) as path:
            report = veritrail("ingest", str(path), "--replace", shown=f"veritrail ingest {name}")
        stages = ", ".join(f"{count} of stage {stage}" for stage, count in report["stages"].items())
        out.print(Text(f"{report['status']}: {report['nodes']} nodes ({stages})", "dim"))
        # Named, because a model in the environment would be asked otherwise.
        run = veritrail("verify", sample, "--engine", "lexical")
        show_verdicts(sample, run["verifications"])
    out.print()
    show_provenance("harbour-summary", "k01")
    out.print()
    show_error("harbour-summary", "k04")
    out.print()
    out.print(Text("Go on from here:", "bold"))
    for command in (
        "veritrail query impact -p process_id=harbour-summary -p node_id=c02",
        "veritrail query unsupported_claims -p process_id=graphrag-energy",
        'veritrail verify harbour-summary --claim "The ferry Lady Brae carries 24 cars."',
        "veritrail report graphrag-energy --format markdown -o report.md",
        "veritrail db stop",
    ):
        out.print(Text(f"  {command}", "cyan"))
    out.print(Text(f"The demo took {time.monotonic() - started:.0f} s.", "dim"))


def veritrail(*arguments: str, shown: str | None = None) -> dict[str, Any]:
    """Run a command, show it, and give the JSON that it prints."""
    out.print(Text(f"$ {shown or ' '.join(('veritrail', *arguments))}", "bold cyan"))
    done = subprocess.run(  # our own command, its arguments written here
        [sys.executable, "-m", "veritrail_graph.api.cli.main", *arguments, "--json"],
        stdout=subprocess.PIPE,
        check=False,
        text=True,
        encoding="utf-8",
    )
    if done.returncode != 0:
        raise Ended(done.returncode)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def show_verdicts(sample: str, verifications: list[dict[str, Any]]) -> None:
    """The verdicts beside the human labels, and the error stages beside the planted ones."""
    process = json.loads((FOLDER / f"{sample}.json").read_text("utf-8"))
    planted = json.loads((FOLDER / f"{sample}.labels.json").read_text("utf-8"))
    labels = {claim["claim_id"]: claim["label"] for claim in process["claims"]}
    table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    table.add_column("claim", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("stage", no_wrap=True)
    table.add_column("the label says", no_wrap=True)
    table.add_column("text", no_wrap=True, overflow="ellipsis", ratio=1)
    agreed = located = wrong = 0
    for found in verifications:
        claim_id, verdict = found["claim_id"], Verdict(found["verdict"])
        label = Verdict(labels[claim_id])
        agrees = verdict is label
        agreed += agrees
        differs = "" if agrees else VERDICT_WORDS[label]
        if label is Verdict.NOT_FULLY_SUPPORTED:
            wrong += 1
            true_stage = planted[claim_id]["error_stage"]
            is_placed = agrees and found["error_stages"] == [true_stage]
            located += is_placed
            differs = "" if is_placed else f"{differs or 'the same'}, stage {true_stage}"
        table.add_row(
            claim_id,
            Text(VERDICT_WORDS[verdict], VERDICT_STYLE[verdict]),
            ", ".join(map(str, found["error_stages"])),
            Text(differs, "bold magenta") if differs else Text("the same", "dim"),
            Text(one_line(found["claim"])),
        )
    out.print(Text("What it finds (indicative), beside what a person labelled:", "dim"))
    out.print(table)
    out.print(
        Text(
            f"{agreed} of {len(verifications)} verdicts agree with the labels; "
            f"{located} of {wrong} planted errors were found and placed at their stage.",
            "bold",
        )
    )


def show_provenance(process: str, claim: str) -> None:
    """Where a supported claim came from: one path from the source text to the final output."""
    out.print(Text("Where did that come from?", "bold"))
    rows = query("provenance", process, claim)
    path = next((row for row in rows if row["complete"]), None)
    if path is None:
        out.print(Text("No path reaches the source text.", "yellow"))
        return
    tree = Tree(Text("from the source text to the final output", "dim"), guide_style="dim")
    for step in path["path"]:
        branch = tree.add(Text.assemble((step["node_id"], "cyan"), f"  stage {step['stage']}"))
        for sentence in step["sentences"]:
            branch.add(Text(one_line(sentence["text"]), "green"))
    out.print(tree)


def show_error(process: str, claim: str) -> None:
    """Where an unsupported claim went wrong: the node that introduced it and what carried it on."""
    out.print(Text("Where did it go wrong?", "bold"))
    for row in query("error_origin", process, claim):
        tree = Tree(
            Text.assemble(("introduced in ", "red"), (str(row["node_id"]), "bold red"),
                          f"  stage {row['stage']}, step {row['step']}, prompt {row['prompt']}"),
            guide_style="dim",
        )  # fmt: skip
        for sentence in row["sentences"]:
            tree.add(Text(one_line(sentence), "red"))
        tree.add(Text("carried on by " + ", ".join(row["propagated_through"]), "dim"))
        out.print(tree)


def query(name: str, process: str, claim: str) -> list[dict[str, Any]]:
    """Rows of a named query as dictionaries."""
    found = veritrail("query", name, "-p", f"process_id={process}", "-p", f"claim_id={claim}")
    return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]
