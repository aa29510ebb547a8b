"""`make demo`: `veritrail demo`, or with `--engine openai` the same with a language model."""

from __future__ import annotations

import argparse
import sys

from veritrail_graph.api.cli import demo_steps


def main() -> int:
    """Run the demo; the exit status is that of the first command that failed, or 0."""
    parser = argparse.ArgumentParser(description="Show the product on small examples.")
    parser.add_argument("--engine", choices=["lexical", "openai"], default="lexical")
    if parser.parse_args().engine == "openai":
        from examples import model_demo

        return model_demo.run(demo_steps.out)
    return demo_steps.run()


if __name__ == "__main__":
    sys.exit(main())
