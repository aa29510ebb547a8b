"""`veritrail demo`: the product on two samples, without a key, a server or a file."""

from __future__ import annotations


def demo() -> None:
    """Show on two samples where claims came from and went wrong.

    They are judged by recorded answers of a language model, which come with them; no model is
    asked. Both stay in the graph for questions of your own.
    """
    from veritrail_graph.api.cli import demo_steps

    demo_steps.show()
