"""`make demo`: `veritrail demo`, or with `--engine openai` the same with a language model."""

from __future__ import annotations

import argparse
import sys

from rich.console import Console

from veritrail_graph.api.cli import demo_steps
from veritrail_graph.api.cli.exits import Exit


def main() -> int:
    """Run the demo; the exit status is that of the first command that failed, or 0."""
    parser = argparse.ArgumentParser(description="Show the product on small examples.")
    parser.add_argument("--engine", choices=["recorded", "openai"], default="recorded")
    if parser.parse_args().engine == "openai":
        from examples import model_demo

        out = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
        return model_demo.run(out)
    try:
        demo_steps.show()
    except Exit as ended:
        return ended.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
