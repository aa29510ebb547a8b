"""Calls that `--help` shows below the options of a command."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "check": (
        "veritrail check --answer answer.txt --sources docs/*.md",
        "veritrail check log.csv --model gpt-4o-mini --budget 1",
    ),
    "ingest": (
        "veritrail ingest library.json",
        "veritrail ingest output/ --answer answer.txt --question 'What changed?'",
        "veritrail ingest traces.json --verify",
    ),
    "verify": (
        "veritrail verify library",
        "veritrail verify library --model gpt-4o-mini --budget 1",
        "veritrail verify library --claim 'The repairs cost 310,000 euros.'",
        "veritrail verify --resume @last",
    ),
    "estimate": ("veritrail estimate library --model gpt-4o-mini",),
    "list": ("veritrail list", "veritrail list library", "veritrail list @last"),
    "show": (
        "veritrail show library cost",
        "veritrail show v-35a9",
        "veritrail show @last",
    ),
    "query": (
        "veritrail query --list",
        "veritrail query error_origin library cost",
        "veritrail query provenance library books --format tree",
        "veritrail query claims library --format csv",
    ),
    "diff": ("veritrail diff v-35a9 v-7c21", "veritrail diff last library"),
    "comment": (
        "veritrail comment library cost 'See page 3 of the annex.'",
        "veritrail comment library cost",
    ),
    "report": (
        "veritrail report library -o library.html",
        "veritrail report library --claim cost -o cost.html",
    ),
    "gate": (
        "veritrail gate library --max-unsupported 2",
        "veritrail gate library --max-rate 0.05 --baseline baseline.json",
        "veritrail gate answer.json --sarif veritrail.sarif",
    ),
    "export": (
        "veritrail export library -o library.json",
        "veritrail export library -o library.graphml",
    ),
    "runs": ("veritrail runs library",),
    "compare": ("veritrail compare library lexical gpt-4o-mini --csv compare.csv",),
    "serve": ("veritrail serve --open", "veritrail serve --port 8010 --no-worker"),
    "mcp": ("veritrail mcp --engine lexical", "veritrail mcp --model gpt-4o-mini --budget 2"),
    "doctor": ("veritrail doctor", "veritrail doctor --ask"),
    "completion": ('eval "$(veritrail completion bash)"',),
}
"""By the name of the command."""


def epilog(name: str) -> str | None:
    """The examples of a command, a line each; None where it has none."""
    lines = EXAMPLES.get(name)
    if lines is None:
        return None
    # The command-line library leaves a paragraph behind this character as it is.
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
