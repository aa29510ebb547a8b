"""The demo with a language model: a few claims verified, what they cost, and one whole trail.

With OPENAI_BASE_URL set, the endpoint there answers; without, a small model on this machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from examples.local_model import MODEL, Unavailable, environment, local_model
from veritrail_graph.api.cli.terminal import VERDICT_STYLE
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.api.show.words import VERDICT_WORDS
from veritrail_graph.graph.model import Verdict

HERE = Path(__file__).resolve().parent
SAMPLE = "harbour-summary.json"
PROCESS = "harbour-model"  # beside what the other demo stores
CLAIMS = "harbour-claims.json"  # with sub-claims, so that no calls go into making them
MOST_CALLS = "40"
FINISHED = (0, 1)  # 1: some verifications ended without a verdict, which is shown
NUMBERS = ("calls", "cached_calls", "input_tokens", "cached_input_tokens", "output_tokens")


def run(out: Console) -> int:
    """Run the demo; the exit status is that of the first command that failed, or 0."""
    started = time.monotonic()
    out.print(Text("VeriTrail Graph, with a language model", "bold"))
    if os.environ.get("OPENAI_BASE_URL"):
        model = os.environ.get("VERITRAIL_MODEL")
        if not model:
            out.print("OPENAI_BASE_URL is set: name the model to ask there in VERITRAIL_MODEL.")
            return 2
        notice = f"The model {model} judges, at the address in OPENAI_BASE_URL."
        out.print(Text(notice, "yellow"))
        status = show(out, os.environ, model)
    else:
        notice = (
            "OPENAI_BASE_URL is not set: SmolLM2-135M judges, on this machine. Its size "
            "is far too small for the task: its verdicts are at chance, no better than a coin; "
            "what you see is that the whole path works, malformed answers included."
        )
        out.print(Text(notice, "bold yellow"))
        out.print(Text("Starting the model (the first time this downloads 127 MB) ...", "dim"))
        try:
            with local_model() as base_url:
                status = show(out, environment(base_url), MODEL)
        except Unavailable as problem:
            out.print(Text(f"No local model: {problem}", "red"))
            return 3
    out.print(Text(f"The demo took {time.monotonic() - started:.0f} s.", "dim"))
    return status


def show(out: Console, settings: Mapping[str, str], model: str) -> int:
    """Verify the claims of the sample; show verdicts, cost and a trail."""
    ingest = ["ingest", f"examples/{SAMPLE}", "--process-id", PROCESS, "--replace"]
    out.print(Text(f"$ veritrail {' '.join(ingest)}", "bold cyan"))
    ingested = command(settings, *ingest, "--json")
    if ingested.returncode:
        return ingested.returncode
    arguments = ["verify", PROCESS, "--claims", f"examples/{CLAIMS}", "--engine", "openai"]
    arguments += ["--model", model, "--q", "1", "--max-calls", MOST_CALLS]
    out.print(Text(f"$ veritrail {' '.join(arguments)}", "bold cyan"))
    out.print(Text("Stages are read backward; q = 1 stops at the first doubt.", "dim"))
    verified = command(settings, *arguments, "--json")
    if verified.returncode not in FINISHED:
        return verified.returncode
    found = json.loads(verified.stdout)["verifications"]
    out.print(verdicts(found))
    out.print()
    out.print(Text("What did it cost?", "bold"))
    out.print(costs(found))
    out.print()
    out.print(Text("What did it read, and what did it find?", "bold"))
    longest = max(found, key=lambda each: (each["verdict"] is not None, len(each["iterations"])))
    trail = ["show", longest["verification_id"]]
    out.print(Text(f"$ veritrail {' '.join(trail)}", "bold cyan"))
    shown = command(settings, *trail)
    out.print(Text(shown.stdout))
    return shown.returncode


def command(settings: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of ours; progress and remarks go to the terminal."""
    return subprocess.run(  # arguments written here
        [sys.executable, "-m", "veritrail_graph.api.cli.main", *arguments],
        cwd=HERE.parent,
        env={**settings},
        stdout=subprocess.PIPE,
        check=False,
        text=True,
        encoding="utf-8",
    )


def verdicts(found: list[dict[str, Any]]) -> Table:
    """Verdicts beside the human labels; where there is none, the status and the reason."""
    claims = json.loads((HERE / CLAIMS).read_text("utf-8"))
    labels = {claim["claim_id"]: Verdict(claim["label"]) for claim in claims}
    table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    for name in ("claim", "label", "verdict"):
        table.add_column(name, no_wrap=True)
    table.add_column("text, and the reason where there is no verdict", ratio=1)
    for each in found:
        label = labels[each["claim_id"]]
        given = each["verdict"] and Verdict(each["verdict"])
        told = Text(VERDICT_WORDS[given], VERDICT_STYLE[given]) if given else each["status"]
        text = Text(one_line(each["claim"]))
        if each["error"]:
            text.append(f"\n{one_line(each['error'])}", "magenta")
        shown = Text(VERDICT_WORDS[label], VERDICT_STYLE[label])
        table.add_row(each["claim_id"], shown, told, text)
    return table


def costs(found: list[dict[str, Any]]) -> Table:
    """Calls and tokens of each claim, and of all."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("claim")
    for name in (*NUMBERS, "cost_usd"):
        table.add_column(name.replace("_", " "), justify="right")
    for each in found:
        table.add_row(each["claim_id"], *_numbers(each["usage"]), _money(each["usage"]))
    every = [each["usage"] for each in found]
    total = {name: sum(usage[name] for usage in every) for name in NUMBERS}
    known = [usage["cost_usd"] for usage in every]
    money = {"cost_usd": None if None in known else sum(known)}
    table.add_section()
    table.add_row("all", *_numbers(total), _money(money))
    return table


def _numbers(usage: Mapping[str, Any]) -> list[str]:
    return [f"{usage[name]:,}" for name in NUMBERS]


def _money(usage: Mapping[str, Any]) -> str:
    cost = usage["cost_usd"]
    return "not known" if cost is None else f"{cost:.4f}"
