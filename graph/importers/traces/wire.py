"""Spans and log records in the bytes of an OTLP export request, before any of them is made.

An empty span takes two bytes on the wire and hundreds in memory. So the bytes are walked first:
what is none of them is passed over, and the values are counted.

Source: OpenTelemetry Protocol 1.10, trace.proto, logs.proto; Protocol Buffers, Encoding.
"""

from __future__ import annotations

from collections.abc import Iterator

from veritrail_graph.graph.errors import InputError

MOST_SPANS = 100_000
"""Spans in one export request; exporters send some thousands."""
MOST_VALUES = 1_000_000
"""Spans, events, links, attributes and their values in one request."""

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_FEW = 256_000
"""Bytes; the values of a shorter request are not counted."""
_DEEPEST = 100
_SPAN = bytes([1 << 3 | _LENGTH])
"""The key of the id of a trace, with which a span begins."""
_OF_RECORD = frozenset((1 << 3 | _FIXED64, 2 << 3 | _VARINT, 6 << 3 | _LENGTH, 11 << 3 | _FIXED64))
"""Keys of fields of a log record that no span has: times, severity, attributes."""
_PATH = (1, 2, 2)
"""The numbers of the fields that lead to spans, or log records: of resources, scopes, spans."""
_INNER: dict[str, dict[int, str]] = {
    "span": {9: "attribute", 11: "event", 13: "link"},
    "record": {5: "value", 6: "attribute"},
    "event": {3: "attribute"},
    "link": {4: "attribute"},
    "attribute": {2: "value"},
    "value": {5: "list", 6: "attributes"},
    "list": {1: "value"},
    "attributes": {1: "attribute"},
}
"""The messages in each message, by the numbers of their fields."""


class TooManyValues(InputError):
    """A request holds more than may be in memory at once."""

    code = "too_many_values"


class NotProtobuf(ValueError):
    """Bytes are not as protobuf writes messages."""


def messages_of_spans(data: bytes, most: int = MOST_VALUES) -> Iterator[tuple[bytes, bool]]:
    """Yield the bytes of each span of an export request, or log record, and whether it is this.

    Raises:
        NotProtobuf: The bytes are no such request.
        TooManyValues: It holds too many values.
    """
    count = 0
    for start, end in _spans(data, 0, len(data), _PATH):
        count += 1
        is_record = _is_record(data, start, end)
        if len(data) > _FEW:
            count += _values(data, start, end, most - count, "record" if is_record else "span")
        if count > most:
            raise TooManyValues(
                f"An export request may hold {most:,} values: spans, events, attributes and what "
                "is in them. Let the exporter send fewer spans at once."
            )
        yield data[start:end], is_record


def _is_record(data: bytes, start: int, end: int) -> bool:
    """Return whether a message is a log record: it has a time where a span has its first id."""
    if data[start : min(start + 1, end)] == _SPAN:
        return False
    return any(key in _OF_RECORD for key, _, _ in _fields(data, start, end))


def _spans(data: bytes, start: int, end: int, path: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    for number, begin, stop in _messages(data, start, end):
        if number == path[0] and len(path) == 1:
            yield begin, stop
        elif number == path[0]:
            yield from _spans(data, begin, stop, path[1:])


def _values(data: bytes, start: int, end: int, most: int, kind: str) -> int:
    """Return how many messages are in a span or a record, or more than `most`."""
    count, within = 0, [(_messages(data, start, end), _INNER[kind])]
    while within and count <= most:
        messages, inner = within[-1]
        number, first, last = next(messages, (0, 0, 0))
        if not number:
            within.pop()
        elif number in inner:
            count += 1
            if first < last:
                within.append((_messages(data, first, last), _INNER[inner[number]]))
            if len(within) > _DEEPEST:
                raise NotProtobuf("messages are nested too deeply")
    return count


def _messages(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield the number and the place of each field that may be a message."""
    for key, begin, stop in _fields(data, start, end):
        if key & 7 == _LENGTH:
            yield key >> 3, begin, stop


def _fields(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield the key and the place of each field."""
    at = start
    while at < end:
        key, at = _number(data, at, end)
        kind, begin = key & 7, at
        if kind == _VARINT:
            _, at = _number(data, at, end)
        elif kind == _LENGTH:
            length, begin = _number(data, at, end)
            at = begin + length
            if at > end or not key >> 3:
                raise NotProtobuf("a field ends behind its message")
        elif kind in (_FIXED64, _FIXED32):
            at += 8 if kind == _FIXED64 else 4
        else:
            raise NotProtobuf("a field is of an unknown kind")
        yield key, begin, at
    if at != end:
        raise NotProtobuf("a field ends behind its message")


def _number(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Read a varint; gives it and the place behind it."""
    if at < end and data[at] < 0x80:
        return data[at], at + 1
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise NotProtobuf("a number does not end")
