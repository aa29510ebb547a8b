"""The efforts of reasoning that an option sets, for all steps or step by step."""

from __future__ import annotations

from collections.abc import Mapping

from veritrail_graph.api.settings import Use
from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.models.known_models import Effort


def efforts_of(text: str | None) -> Mapping[Use, str]:
    """Read efforts of reasoning: `low` for all steps, or `low,verdict=high`.

    Args:
        text: Efforts with commas between them, each alone or behind the step that it is for.

    Raises:
        InputError: An effort or a step is named that there is not.
    """
    found: dict[Use, str] = {}
    for part in (text or "").split(",") if text else ():
        step, _, effort = part.strip().lower().rpartition("=")
        if effort not in set(Effort) or (step and step not in set(Use)):
            raise InputError(
                f"Effort {part.strip()!r} is none: name one of {', '.join(Effort)}, for all steps "
                f"or for one of {', '.join(Use)}, as in low,verdict=high."
            )
        if step:
            found[Use(step)] = effort
        else:
            found = dict.fromkeys(Use, effort) | found
    return found
