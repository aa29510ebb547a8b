"""Settings in which two verifications differ: those that are shown, and those that are folded."""

from __future__ import annotations

from collections.abc import Sequence

from veritrail_graph.graph.comparing import Changed

_JUDGE = ("engine", "model", "verdict_engine")


def folded_settings(settings: Sequence[Changed]) -> tuple[list[Changed], list[Changed]]:
    """The settings that are shown, and those that are folded: they follow from another judge."""
    if not any(one.name in _JUDGE for one in settings):
        return list(settings), []
    shown = [one for one in settings if "." not in one.name]
    return shown, [one for one in settings if "." in one.name]
