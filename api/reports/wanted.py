"""States as people name them: on the command line and in addresses."""

from __future__ import annotations

from collections.abc import Iterable

from veritrail_graph.api.reports.material import STATE_OF, State
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict
from veritrail_graph.graph.rules import shown

_NAMES = {state.value: state for state in State} | {
    verdict.value.lower().replace("_", "-"): STATE_OF[verdict] for verdict in Verdict
}


def states_named(names: Iterable[str]) -> tuple[State, ...]:
    """The states with these names; a verdict's own name does as well.

    Raises:
        InputError: There is no such state.
    """
    found: dict[State, None] = {}
    for name in names:
        state = _NAMES.get(name.lower().replace("_", "-"))
        if state is None:
            known = ", ".join(one.value for one in State)
            raise InputError(f"Unknown verdict {shown(name)}. Known: {known}.")
        found[state] = None
    return tuple(found)
