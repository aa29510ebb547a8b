"""Log records of OpenTelemetry that note what a model was given and what it gave.

Such a record is an event of the span that it names. Where that span is no call of a model (a
tracer ended it before, or never made one), or did not come, its records are a call of their own.

Source: OpenTelemetry, semantic conventions for generative AI events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from veritrail_graph.graph.counted import some
from veritrail_graph.graph.errors import shown
from veritrail_graph.graph.importers.files import first_of
from veritrail_graph.graph.importers.traces.calls import CallKind
from veritrail_graph.graph.importers.traces.texts import unfold

Record = dict[str, Any]
"""A record: trace_id, span_id, time, event; `event` is None where it notes nothing of a model."""

_NAMES = ("eventName", "event_name", "event.name")
_MESSAGES = ("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.event.content")
_ENDS = ("gen_ai.choice", "gen_ai.content.completion")
"""Events with what a model wrote: what comes after them belongs to its next call."""
_WHOLE = "gen_ai.client.inference.operation.details"
_OF_TOOL = frozenset(("gen_ai.tool.message", "gen_ai.choice"))
"""The events of the call of a tool: what it was handed, and what it returned."""
_ASIDE = "gen_ai.evaluation."
"""How events begin that say what somebody thought of an answer."""
_SAID_OF_CALL = ("gen_ai.operation.name", "gen_ai.system", "gen_ai.provider.name",
                 "gen_ai.request.model", "gen_ai.response.model")  # fmt: skip
_SESSIONS = ("session.id", "gen_ai.conversation.id")
_MOST_NAMED = 3


def is_record(item: Mapping[str, Any]) -> bool:
    """Return whether what was read of a file is a log record, and no span."""
    return "event" in item


def record_of(
    value: Mapping[str, Any], about: dict[str, Any], body: Any, ids: tuple[str, str], time: int
) -> Record:
    """A record of which the values were read.

    Args:
        value: It, as it is written.
        about: Its attributes.
        body: Its body.
        ids: Those of its trace and its span; empty where it names none.
        time: When it was written, in nanoseconds.
    """
    name = str(first_of(value, _NAMES) or about.get("event.name") or "")
    content = unfold(body) if isinstance(body, str) else body
    is_exchange = isinstance(content, dict) and any(
        isinstance(content.get(side), dict) and "messages" in content[side]
        for side in ("input", "output")
    )
    is_ours = (
        (name.startswith("gen_ai.") and not name.startswith(_ASIDE))
        or is_exchange
        or any(one in about for one in _MESSAGES)
    )
    event = {"name": name or "log record", "attributes": about, "body": body} if is_ours else None
    said = name or (body if isinstance(body, str) else "log record")
    return {"trace_id": ids[0], "span_id": ids[1], "time": time, "event": event, "said": said}


def left_out(records: Sequence[Record]) -> list[str]:
    """A warning about records that note nothing of a model; none where there are none."""
    if not records:
        return []
    names = some((shown(" ".join(one["said"].split())) for one in records), _MOST_NAMED)
    return [
        f"{len(records)} log record(s) that note nothing of what a model was given or gave are "
        f"left out: {names}"
    ]


def without_trace(records: Iterable[Record]) -> list[list[Record]]:
    """Records that name no trace, by the conversation that they name, else by the call."""
    groups: dict[str, list[Record]] = {}
    for one in records:
        said = first_of(one["event"]["attributes"], _SESSIONS)
        groups.setdefault(said if isinstance(said, str) else "", []).append(one)
    alone = _exchanges(groups.pop("", []))
    return [*groups.values(), *alone]


def with_events(
    items: Iterable[dict[str, Any]], kind_of: Callable[[dict[str, Any]], CallKind]
) -> list[dict[str, Any]]:
    """The spans among some items, with what records note of them, and a span for the others.

    Args:
        items: Spans and records of one trace.
        kind_of: The kind of a span: it says whether records may be of what the span did.
    """
    spans: list[dict[str, Any]] = []
    records: dict[str, list[Record]] = {}
    for one in items:
        if not is_record(one):
            spans.append(one)
        elif one["event"] is not None:
            records.setdefault(one["span_id"], []).append(one)
    if not records:
        return spans
    found = []
    for span in spans:
        own = records.pop(span["span_id"], [])
        kind = kind_of(span) if own else CallKind.OTHER
        is_of_tool = kind is CallKind.TOOL and all(one["event"]["name"] in _OF_TOOL for one in own)
        if is_of_tool or kind is CallKind.GENERATION:
            joined = [one["event"] for one in sorted(own, key=_time)]
            span, own = {**span, "events": [*span["events"], *joined]}, []
        elif own:
            whole = [one["event"] for one in own if _is_exchange(one)]
            span = {**span, "events": [*span["events"], *whole]}
            own = [one for one in own if not _is_exchange(one)]
        found.append(span)
        found += _calls(own, span["trace_id"], span["span_id"], span["span_id"])
    for span_id, own in records.items():
        found += _calls(own, own[0]["trace_id"], span_id, None)
    return found


def _is_exchange(record: Record) -> bool:
    """Return whether a record notes both sides of what a span did, whatever that was."""
    return not str(record["event"]["name"]).startswith("gen_ai.")


def _time(record: Record) -> int:
    return int(record["time"])


def _exchanges(records: Iterable[Record]) -> list[list[Record]]:
    """Records by the call of a model that they are of, in the order of time."""
    found: list[list[Record]] = []
    was_end = True
    for one in sorted(records, key=_time):
        name = one["event"]["name"]
        is_end = name in _ENDS
        if not found or name == _WHOLE or (was_end and not is_end):
            found.append([])
        found[-1].append(one)
        was_end = is_end or name == _WHOLE or _is_exchange(one)
    return found


def _calls(
    records: Iterable[Record], trace_id: str, name: str, parent_id: str | None
) -> Iterator[dict[str, Any]]:
    """Yield a span for each call of a model that records note."""
    for number, own in enumerate(_exchanges(records), start=1):
        said = {
            key: one["event"]["attributes"][key]
            for one in own
            for key in _SAID_OF_CALL
            if key in one["event"]["attributes"]
        }
        base = f"{name}/log" if parent_id is not None else name or "log"
        yield {
            "trace_id": trace_id,
            "span_id": base if number == 1 else f"{base}{number}",
            "parent_id": parent_id,
            "name": str(said.get("gen_ai.operation.name", "chat")),
            "start": own[0]["time"],
            "end": own[-1]["time"],
            "attributes": {"gen_ai.operation.name": "chat", **said},
            "events": [one["event"] for one in own],
        }
