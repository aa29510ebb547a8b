"""What a call may spend from now on, where it says what it may spend in all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from veritrail_graph.api.models import ModelOptions
from veritrail_graph.graph.model import Usage


def limits_left(limits: Mapping[str, Any], used: Usage) -> ModelOptions:
    """What a run may spend from now on, where it is said what it may spend in all."""
    budget, calls = limits.get("budget_usd"), limits.get("max_calls")
    return ModelOptions(
        budget=None if budget is None else max(0.0, budget - (used.cost_usd or 0.0)),
        max_calls=None if calls is None else max(0, calls - used.calls),
    )
