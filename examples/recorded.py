"""Record a small pipeline while it runs: three log entries, a summary of each, and an answer.

    python examples/recorded.py recorded.jsonl

The entries are invented, and the "model" is a function that copies what it reads and makes one
mistake. `--verify` stores the process in the graph and verifies two claims of the answer, without
a language model.
"""

from __future__ import annotations

import argparse

import veritrail_record as vr

ENTRIES = {
    "monday": "The lock was closed for nine hours. Two barges waited below it.",
    "tuesday": "The upper gate was greased. No boat passed after six in the evening.",
    "wednesday": "A swan nested on the weir. The keeper moved the buoys by 14 metres.",
}
CLAIMS = ["The keeper moved the buoys by 41 metres.", "Two barges waited below it."]


@vr.recorded_step(step="summarise", kind="summary", model="copyist", prompt="summary.v1")
def summarise(entry: str) -> str:
    """One sentence of an entry, with two digits swapped where there are two."""
    return entry.split(". ")[1].replace("14", "41")


@vr.recorded_step(step="write", model="copyist", prompt="report.v1")
def write(summaries: list[str]) -> str:
    """The report."""
    return " ".join(summaries)


def main() -> None:
    """Record the pipeline."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", help="the process file to write")
    parser.add_argument("--verify", action="store_true", help="store it and verify two claims")
    options = parser.parse_args()
    with vr.record(
        "Lock log",
        question="What happened at the lock?",
        path=options.path,
        stages={1: "log entry", 2: "summary", 3: "report"},
        claims=CLAIMS,
        verify={"engine": "lexical"} if options.verify else False,
    ) as run:
        for day, entry in ENTRIES.items():
            run.source(entry, kind="entry", metadata={"day": day})
        report = write([summarise(entry) for entry in ENTRIES.values()])
        run.answer(report)
    for trail in run.verifications:
        print(f"{trail.verdict}: {trail.claim}")
        for stage in trail.error_stages:
            places = ", ".join(node.node_id for node in trail.error_nodes)
            print(f"  the error came in at stage {stage}, in {places}")


if __name__ == "__main__":
    main()
