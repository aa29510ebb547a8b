"""Values of the driver as JSON values, the same from both engines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any

from veritrail_graph.cypher import Statement

Orders = Mapping[frozenset[str], tuple[str, ...]]
"""The order in which maps of these keys are shown."""

_BRACES = re.compile(r"\{([^{}]*)\}")


def orders_of(statement: Statement) -> Orders:
    """The orders that the columns of a header give to the keys of their maps.

    A meaning like `{node_id, sentences: [{sentence, text}]}` gives one order for each pair of
    braces.
    """
    orders: dict[frozenset[str], tuple[str, ...]] = {}
    for column in statement.columns:
        text = column.meaning
        while found := _BRACES.search(text):
            keys = tuple(part.split(":")[0].strip() for part in found[1].split(","))
            orders[frozenset(keys)] = keys
            text = text[: found.start()] + text[found.end() :]
    return orders


def plain(value: Any, orders: Orders | None = None) -> Any:
    """A value of the driver as a JSON value; nodes and relationships by their properties.

    Keys of a map stand in the order that the header of the query gives them, others sorted:
    each engine has an order of its own.
    """
    if isinstance(value, list | tuple):
        return [plain(item, orders) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    items = getattr(value, "items", None)
    if callable(items):
        found = {str(key): item for key, item in items()}
        keys = (orders or {}).get(frozenset(found), tuple(sorted(found)))
        return {key: plain(found[key], orders) for key in keys}
    return str(value)
