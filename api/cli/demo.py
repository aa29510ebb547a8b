"""`veritrail demo`: the product on two samples, without a key, a server or a file."""

from __future__ import annotations

from veritrail_graph.api.cli.exits import Exit


def demo() -> None:
    """Show on two samples where claims came from and went wrong.

    Both are stored in the graph and verified by comparing words, so verdicts are indicative. They
    stay there for questions of your own.
    """
    from veritrail_graph.api.cli import demo_steps

    if status := demo_steps.run():
        raise Exit(status)
